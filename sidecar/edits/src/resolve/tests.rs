//! Proposals played on a tree in memory.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod files;
mod patches;
mod properties;
mod searches;
mod tree;
mod whole;

use std::{collections::BTreeMap, fmt::Write};

use expect_test::Expect;

use super::*;
use crate::{
    formats::{ParseOptions, detect, parse},
    text,
};

/// A tree of files in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, FileState>,
}

impl Tree {
    /// Files by path and bytes; `-> target` makes a link.
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let mut tree = Self::default();
        for (path, bytes) in files {
            let state = match text::decode(bytes) {
                Ok(decoded) => match decoded.text.strip_prefix("-> ") {
                    Some(target) => FileState::Symlink {
                        target: target.to_owned(),
                    },
                    None => FileState::Text {
                        text: decoded.text,
                        bom: decoded.bom,
                        version: None,
                    },
                },
                Err(text::DecodeError::NotText { .. }) => FileState::Binary {
                    size_bytes: bytes.len() as u64,
                },
                Err(text::DecodeError::Encoding { byte, offset }) => FileState::Undecodable {
                    byte,
                    offset: offset as u64,
                },
                Err(err) => panic!("{err}"),
            };
            tree.files.insert((*path).to_owned(), state);
        }
        tree
    }

    pub(crate) fn of_text(path: &str, text: &str) -> Self {
        Self::new(&[(path, text.as_bytes())])
    }

    fn open(mut self, path: &str, opened: i32) -> Self {
        match self.files.get_mut(path) {
            Some(FileState::Text { version, .. }) => *version = Some(opened),
            other => panic!("{path} is {other:?}"),
        }
        self
    }
}

impl Files for Tree {
    fn read(&self, path: &str) -> Result<FileState, FileError> {
        if let Some(state) = self.files.get(path) {
            return Ok(state.clone());
        }
        let mut above = path.match_indices('/').map(|(at, _)| &path[..at]);
        if above.any(|above| self.files.contains_key(above)) {
            return Err(FileError::new(
                "NOT_DIRECTORY",
                path,
                "choose a path in a folder",
            ));
        }
        let below: Vec<String> = self
            .files
            .keys()
            .filter(|file| {
                file.strip_prefix(path)
                    .is_some_and(|rest| rest.starts_with('/'))
            })
            .cloned()
            .collect();
        Ok(match below.is_empty() {
            true => FileState::Missing,
            false => FileState::Directory { files: below },
        })
    }

    fn similar(&self, path: &str) -> Option<String> {
        let name = path.rsplit('/').next()?;
        self.files
            .keys()
            .find(|file| file.rsplit('/').next() == Some(name))
            .cloned()
    }
}

/// Reads `proposal` in whatever format it is and plays it on `tree`.
pub(crate) fn play(tree: &Tree, proposal: &str) -> Result<Resolved, (String, String)> {
    let format = detect(proposal).expect("a format");
    let proposal = parse(format, proposal, &ParseOptions::default())
        .map_err(|err| (err.code.to_owned(), err.to_string()))?;
    resolve(&proposal, tree).map_err(|err| {
        assert!(!err.hint().is_empty());
        (err.code().to_owned(), err.to_string())
    })
}

fn check(tree: &Tree, proposal: &str, expected: Expect) {
    expected.assert_eq(&render(&play(tree, proposal)));
}

fn render(resolved: &Result<Resolved, (String, String)>) -> String {
    let resolved = match resolved {
        Ok(resolved) => resolved,
        Err((code, message)) => return format!("{code}: {message}\n"),
    };
    let mut out = String::new();
    for flag in &resolved.flags {
        writeln!(out, "! {flag}").unwrap();
    }
    for path in &resolved.incomplete {
        writeln!(out, "! {path} is not complete").unwrap();
    }
    for operation in &resolved.operations {
        let kind = match &operation.kind {
            OperationKind::Edit => "edit".to_owned(),
            OperationKind::Create => "create".to_owned(),
            OperationKind::Delete => "delete".to_owned(),
            OperationKind::Rename { to } => format!("rename to {to}"),
            OperationKind::SetMode { mode } => format!("mode {mode:o}"),
        };
        write!(out, "{}: {kind}", operation.path).unwrap();
        if operation.rung != MatchRung::Exact {
            write!(out, ", {}", operation.rung.as_str()).unwrap();
        }
        if let Some(mode) = operation.mode
            && !matches!(operation.kind, OperationKind::SetMode { .. })
        {
            write!(out, ", mode {mode:o}").unwrap();
        }
        if operation.bom {
            out.push_str(", bom");
        }
        for flag in &operation.flags {
            write!(out, ", {flag}").unwrap();
        }
        out.push('\n');
        if let Some(rationale) = &operation.rationale {
            writeln!(out, "  because {rationale:?}").unwrap();
        }
        match (&operation.before, &operation.after) {
            (Some(before), Some(after)) => {
                let (old, new) = (pieces(before), pieces(after));
                for edit in crate::diff_lines(before, after) {
                    for line in &old[edit.old] {
                        writeln!(out, "  -{line:?}").unwrap();
                    }
                    for line in &new[edit.new] {
                        writeln!(out, "  +{line:?}").unwrap();
                    }
                }
            }
            (Some(before), None) => {
                pieces(before)
                    .iter()
                    .for_each(|line| writeln!(out, "  -{line:?}").unwrap());
            }
            (None, Some(after)) => {
                pieces(after)
                    .iter()
                    .for_each(|line| writeln!(out, "  +{line:?}").unwrap());
            }
            (None, None) => {}
        }
    }
    if out.is_empty() {
        out.push_str("nothing\n");
    }
    out
}

fn pieces(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}
