//! Plays a proposal on a virtual tree: all or nothing.
//!
//! Owns the meaning of every change, the order in which changes see each other, and the net
//! operations that a review is made of: one for each path. Knows neither disk nor editor: it reads
//! through [`Files`], once for each path.
//!
//! **Invariant:** nothing is resolved in part: an error leaves no operation.
//! **Invariant:** a path is what the proposal says; a similar name is named in an error and never
//! used.

mod edited;
mod error;
mod files;
mod net;
mod node;
mod patch;
mod paths;
mod placeholder;
mod replace;
mod text_edits;
mod tree;
mod write;

use std::ops::Range;

use self::{edited::Edited, tree::Tree};
pub use self::{
    error::ResolveError,
    files::{FileError, FileState, Files},
    paths::normalize_path,
};
use crate::{
    proposal::{Change, ChangeKind, Proposal},
    rung::MatchRung,
};

/// A proposal, resolved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Resolved {
    /// One for each path, in the order in which the proposal first names them. Empty when the
    /// proposal changes nothing.
    pub operations: Vec<Operation>,
    /// Paths whose text is still being received: the proposal can be shown and not accepted.
    pub incomplete: Vec<String>,
    /// What the reviewer must see about the whole: `no_change` when a change changes nothing.
    pub flags: Vec<String>,
    /// Why, for all of it.
    pub rationale: Option<String>,
}

/// The net change of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The path as it is before the operation (for a create: as it will be).
    pub path: String,
    /// What happens to it.
    pub kind: OperationKind,
    /// The text before, without a byte order mark; `None` when there is no file, or no text.
    pub before: Option<String>,
    /// The text after, with the file's own line endings; `None` when there will be no file, or
    /// no text.
    pub after: Option<String>,
    /// Whether the file has a byte order mark, or is to have one.
    pub bom: bool,
    /// Another mode for the file, where the proposal gives one.
    pub mode: Option<u32>,
    /// The reasons given for changes of this path, in order, without repeats.
    pub rationale: Option<String>,
    /// The worst rung that any of its changes used.
    pub rung: MatchRung,
    /// Where in `after` each change is, in order of place.
    pub spans: Vec<EditSpan>,
    /// What the reviewer must see: `offset`, `recounted`, `reanchored`, `overwrite`,
    /// `inexact:quotes`, `mixed_eol`, `binary`, …
    pub flags: Vec<String>,
}

/// What an [`Operation`] does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationKind {
    /// Another text.
    Edit,
    /// A new file.
    Create,
    /// No such file any more.
    Delete,
    /// Another path, perhaps with another text.
    Rename {
        /// The new path.
        to: String,
    },
    /// Another mode and the same text.
    SetMode {
        /// Permission bits.
        mode: u32,
    },
}

/// The lines that one change made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditSpan {
    /// Lines of the text after, from 0; empty where lines were only removed.
    pub lines: Range<usize>,
    /// How its place was found.
    pub rung: MatchRung,
    /// Why.
    pub rationale: Option<String>,
}

/// Plays `proposal` on `files`.
///
/// # Errors
///
/// The first change that cannot be played. Nothing has been changed then: `files` is only read.
pub fn resolve(proposal: &Proposal, files: &dyn Files) -> Result<Resolved, ResolveError> {
    let mut player = Player {
        tree: Tree::new(files),
        literal: proposal.literal,
        incomplete: Vec::new(),
        no_change: false,
    };
    for change in &proposal.changes {
        player.play(change)?;
    }
    let Player {
        tree,
        mut incomplete,
        no_change,
        ..
    } = player;
    let operations = net::operations(tree)?;
    if proposal.incomplete && incomplete.is_empty() {
        incomplete.extend(operations.last().map(|operation| operation.path.clone()));
    }
    Ok(Resolved {
        operations,
        incomplete,
        flags: no_change
            .then(|| "no_change".to_owned())
            .into_iter()
            .collect(),
        rationale: proposal.rationale.clone(),
    })
}

struct Player<'f> {
    tree: Tree<'f>,
    literal: bool,
    incomplete: Vec<String>,
    no_change: bool,
}

impl Player<'_> {
    fn play(&mut self, change: &Change) -> Result<(), ResolveError> {
        let path = self.tree.admit(&change.path)?;
        let touched = match &change.kind {
            ChangeKind::Replace {
                search,
                replace,
                replace_all,
                whole_lines,
                other_readings,
            } => {
                let readings = replace::Readings {
                    first: (search, replace),
                    others: other_readings,
                    whole_lines: *whole_lines,
                    all: *replace_all,
                };
                if search.is_empty() && self.tree.is_absent_or_empty(&path)? {
                    self.write(&path, replace, None)?
                } else {
                    let literal = self.literal;
                    self.edit(&path, change, |text, path| {
                        readings.resolve(text, path, literal)
                    })?
                }
            }
            ChangeKind::Patch { hunks, deletes } => {
                let literal = self.literal;
                let path = self.edit(&path, change, |text, path| {
                    patch::resolve(hunks, text, path, literal)
                })?;
                if *deletes {
                    self.tree.delete_emptied(&path)?;
                }
                path
            }
            ChangeKind::Write {
                text,
                base_text,
                complete,
            } => {
                if !complete {
                    self.incomplete.push(path.clone());
                }
                self.write(&path, text, base_text.as_deref())?
            }
            ChangeKind::TextEdits {
                encoding,
                version,
                edits,
            } => {
                self.tree.check_version(&path, *version)?;
                self.edit(&path, change, |text, path| {
                    text_edits::resolve(edits, *encoding, text, path)
                })?
            }
            ChangeKind::Create {
                text,
                overwrite,
                ignore_if_exists,
            } => {
                self.tree
                    .create(&path, text, *overwrite, *ignore_if_exists)?;
                path
            }
            ChangeKind::Copy { to } => {
                let to = self.tree.admit(to)?;
                self.tree.copy(&path, &to)?;
                to
            }
            ChangeKind::Delete {
                recursive,
                ignore_if_missing,
            } => {
                self.tree.delete(&path, *recursive, *ignore_if_missing)?;
                path
            }
            ChangeKind::Rename {
                to,
                overwrite,
                ignore_if_exists,
            } => {
                let to = self.tree.admit(to)?;
                self.tree
                    .rename(&path, &to, *overwrite, *ignore_if_exists)?;
                to
            }
            ChangeKind::SetMode { mode } => {
                self.tree.set_mode(&path, *mode)?;
                path
            }
        };
        self.tree.note(&touched, change);
        Ok(())
    }

    /// Edits the text at `path` in place; gives the path of the file behind it.
    fn edit(
        &mut self,
        path: &str,
        change: &Change,
        how: impl FnOnce(&str, &str) -> Result<Edited, ResolveError>,
    ) -> Result<String, ResolveError> {
        let path = self.tree.follow(path)?;
        let file = self.tree.text_mut(&path)?;
        let edited = how(file.text.as_str(), &path)?;
        self.no_change |= edited.is_unchanged();
        file.apply(edited, change.rationale.as_deref());
        Ok(path)
    }

    /// Gives the file at `path` this text, creating it where it is missing.
    fn write(
        &mut self,
        path: &str,
        text: &str,
        base_text: Option<&str>,
    ) -> Result<String, ResolveError> {
        if self.tree.is_missing(path)? {
            self.tree.create(path, text, false, false)?;
            return Ok(path.to_owned());
        }
        let path = self.tree.follow(path)?;
        let literal = self.literal;
        let file = self.tree.text_mut(&path)?;
        let written = write::resolve(text, base_text, file.text.as_str(), &path, literal)?;
        self.no_change |= written.text == file.text;
        file.rewrite(written);
        Ok(path)
    }
}

#[cfg(test)]
mod tests;
