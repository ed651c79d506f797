//! One file's part of a diff, and the changes that it means.

use super::{
    super::{ParseOptions, error::ParseError},
    name,
};
use crate::proposal::{Change, ChangeKind, LineHunk, PatchLine};

/// One file's headers and hunks as they stand in the diff.
pub(super) struct FileDiff<'a> {
    /// The first line of it, from 1.
    line: usize,
    pub(super) names_line: usize,
    pub(super) git_names: Option<&'a str>,
    pub(super) old_name: Option<&'a str>,
    pub(super) new_name: Option<&'a str>,
    /// The text of a new file, as far as it was read without hunks.
    pub(super) text: String,
    pub(super) hunks: Vec<LineHunk>,
    pub(super) flags: Vec<&'static str>,
    moved: Option<Moved>,
    from: Option<String>,
    to: Option<String>,
    old_mode: Option<u32>,
    new_mode: Option<u32>,
    created: bool,
    deleted: bool,
    binary: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Moved {
    Rename,
    Copy,
}

impl<'a> FileDiff<'a> {
    pub(super) fn new(line: usize) -> Self {
        Self {
            line,
            names_line: line,
            git_names: None,
            old_name: None,
            new_name: None,
            text: String::new(),
            hunks: Vec::new(),
            flags: Vec::new(),
            moved: None,
            from: None,
            to: None,
            old_mode: None,
            new_mode: None,
            created: false,
            deleted: false,
            binary: false,
        }
    }

    /// Whether the headers say that there was no such file.
    pub(super) fn is_new(&self) -> bool {
        self.created || self.old_name.is_some_and(|old| name::read(old).is_none())
    }

    /// Takes one extended header line; false when it is none.
    pub(super) fn take_extended(&mut self, line: &str, number: usize) -> Result<bool, ParseError> {
        if line == "GIT binary patch" {
            return Err(ParseError::coded(
                "UNSUPPORTED",
                number,
                format!("{} is a binary patch", self.shown_name()),
                "leave binary files out of the diff, or delete or rename them as a whole",
            ));
        }
        if line.starts_with("Binary files ") && line.ends_with(" differ") {
            self.binary = true;
            return Ok(true);
        }
        if let Some(mode) = line.strip_prefix("old mode ") {
            self.old_mode = Some(self.mode(mode, number)?);
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.new_mode = Some(self.mode(mode, number)?);
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.new_mode = Some(self.mode(mode, number)?);
            self.created = true;
        } else if let Some(mode) = line.strip_prefix("deleted file mode ") {
            self.mode(mode, number)?;
            self.deleted = true;
        } else if let Some(path) = line.strip_prefix("rename from ") {
            (self.moved, self.from) = (Some(Moved::Rename), name::read(path));
        } else if let Some(path) = line.strip_prefix("rename to ") {
            (self.moved, self.to) = (Some(Moved::Rename), name::read(path));
        } else if let Some(path) = line.strip_prefix("copy from ") {
            (self.moved, self.from) = (Some(Moved::Copy), name::read(path));
        } else if let Some(path) = line.strip_prefix("copy to ") {
            (self.moved, self.to) = (Some(Moved::Copy), name::read(path));
        } else {
            return Ok(["index ", "similarity index ", "dissimilarity index "]
                .iter()
                .any(|word| line.starts_with(word)));
        }
        Ok(true)
    }

    fn mode(&self, mode: &str, number: usize) -> Result<u32, ParseError> {
        let mode = mode.trim();
        let kind = match (u32::from_str_radix(mode, 8), mode) {
            (Ok(bits), _) if bits & 0o170_000 == 0o100_000 => return Ok(bits & 0o777),
            (_, "120000") => "a symbolic link",
            (_, "160000") => "a submodule",
            _ => {
                return Err(ParseError::malformed(
                    number,
                    format!("{mode:?} is no file mode"),
                    "git writes 100644 or 100755",
                ));
            }
        };
        Err(ParseError::coded(
            "UNSUPPORTED",
            number,
            format!("{} is {kind}", self.shown_name()),
            "only regular files can be proposed: leave it out of the diff",
        ))
    }

    /// A name for messages, while not all headers are read.
    fn shown_name(&self) -> String {
        let names = self.git_names.and_then(name::read_git);
        let stripped = names.and_then(|(old, new)| {
            let (old, new) = name::strip_prefixes(Some(&old), Some(&new));
            new.or(old)
        });
        self.to
            .clone()
            .or(stripped)
            .unwrap_or_else(|| "the file".to_owned())
    }

    /// What this file's part means.
    pub(super) fn into_changes(
        mut self,
        options: &ParseOptions,
    ) -> Result<Vec<Change>, ParseError> {
        let (old, new) = self.paths(options)?;
        if self.binary && !self.deleted {
            return Err(ParseError::coded(
                "NOT_TEXT",
                self.line,
                format!(
                    "{} differs as a binary file",
                    new.or(old).unwrap_or_default()
                ),
                "leave binary files out of the diff, or delete or rename them as a whole",
            ));
        }
        let mut changes = Vec::new();
        match (old, new) {
            (None, None) => {
                return Err(ParseError::malformed(
                    self.line,
                    "this part names no file",
                    "name the file in --- and +++ lines",
                ));
            }
            (None, Some(path)) => changes.push(self.creation(path)?),
            (Some(path), None) => changes.push(self.deletion(path)),
            (Some(old), Some(new)) => self.edit(old, new, &mut changes)?,
        }
        if let Some(change) = changes.first_mut() {
            change.flags = self.flags;
        }
        Ok(changes)
    }

    /// The two sides' paths; `None` is no file.
    fn paths(
        &self,
        options: &ParseOptions,
    ) -> Result<(Option<String>, Option<String>), ParseError> {
        let (old, new) = match (self.old_name, self.new_name, self.git_names) {
            (Some(old), Some(new), _) => (name::read(old), name::read(new)),
            (_, _, Some(names)) => match name::read_git(names) {
                Some((old, new)) => (Some(old), Some(new)),
                None if self.moved.is_some() => (None, None),
                None => {
                    return Err(ParseError::malformed(
                        self.line,
                        "the two names of this line cannot be told apart",
                        "name the file in --- and +++ lines",
                    ));
                }
            },
            _ => (None, None),
        };
        let (old, new) = (
            if self.created { None } else { old },
            if self.deleted { None } else { new },
        );
        let (mut old, mut new) = match options.strip {
            None | Some(1) => name::strip_prefixes(old.as_deref(), new.as_deref()),
            Some(count) => {
                let side = |name: Option<String>| {
                    name.map(|name| {
                        name::strip(&name, count).map(str::to_owned).ok_or_else(|| {
                            ParseError::malformed(
                                self.names_line,
                                format!("{name:?} has fewer than {count} leading components"),
                                "choose a smaller --strip",
                            )
                        })
                    })
                    .transpose()
                };
                (side(old)?, side(new)?)
            }
        };
        // The names of renames carry no prefix.
        if self.moved.is_some() {
            if self.from.is_none() || self.to.is_none() {
                return Err(ParseError::malformed(
                    self.line,
                    "a rename or copy needs both its from and its to line",
                    "write rename from PATH and rename to PATH",
                ));
            }
            (old, new) = (self.from.clone(), self.to.clone());
        }
        Ok((old, new))
    }

    fn creation(&mut self, path: String) -> Result<Change, ParseError> {
        let mut text = std::mem::take(&mut self.text);
        for hunk in &self.hunks {
            for line in &hunk.lines {
                match line {
                    PatchLine::Added(line) => {
                        text.push_str(line);
                        text.push('\n');
                    }
                    PatchLine::Context(line) if line.is_empty() => {}
                    PatchLine::Context(_) | PatchLine::Removed(_) => {
                        return Err(ParseError::malformed(
                            hunk.line,
                            format!("{path} is new, and its hunk has lines that were there before"),
                            "a new file has added lines only; to edit one, name it in both headers",
                        ));
                    }
                }
            }
            if hunk.new_lacks_newline {
                text.pop();
            }
        }
        let mut change = Change::create(path, text);
        change.mode = self.new_mode;
        Ok(change)
    }

    fn deletion(&mut self, path: String) -> Change {
        if self.hunks.is_empty() {
            return Change::delete(path);
        }
        Change::new(
            path,
            ChangeKind::Patch {
                hunks: std::mem::take(&mut self.hunks),
                deletes: true,
            },
        )
    }

    fn edit(
        &mut self,
        old: String,
        new: String,
        changes: &mut Vec<Change>,
    ) -> Result<(), ParseError> {
        let path = match self.moved {
            Some(Moved::Rename) => {
                if old != new {
                    changes.push(Change::rename(old, new.clone()));
                }
                new
            }
            Some(Moved::Copy) => {
                changes.push(Change::new(old, ChangeKind::Copy { to: new.clone() }));
                new
            }
            None => one_path(old, new, self.names_line)?,
        };
        if self.moved.is_none() && self.hunks.is_empty() && self.new_mode.is_none() {
            return Err(ParseError::malformed(
                self.line,
                format!("the diff of {path} has no hunk"),
                "write @@ -LINE,COUNT +LINE,COUNT @@ and the lines under it",
            ));
        }
        let hunks = std::mem::take(&mut self.hunks);
        if !hunks.is_empty() {
            let kind = ChangeKind::Patch {
                hunks,
                deletes: false,
            };
            changes.push(Change::new(path.clone(), kind));
        }
        match (self.old_mode, self.new_mode) {
            (Some(old_mode), Some(mode)) if old_mode != mode => {
                changes.push(Change::new(path.clone(), ChangeKind::SetMode { mode }));
            }
            _ => {}
        }
        Ok(())
    }
}

/// The one file that two names mean, where there is no rename: `x` and `x.orig` are `x`.
fn one_path(old: String, new: String, line: usize) -> Result<String, ParseError> {
    if old == new {
        return Ok(new);
    }
    for suffix in [".orig", ".old", ".bak", "~"] {
        if old.strip_suffix(suffix) == Some(&new) {
            return Ok(new);
        }
        if new.strip_suffix(".new") == Some(&old) {
            return Ok(old);
        }
    }
    Err(ParseError::malformed(
        line,
        format!("the headers name two files, {old:?} and {new:?}"),
        "name the same file in both, or say rename from and rename to under a diff --git line",
    ))
}
