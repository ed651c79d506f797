//! The stored form of a checkpoint: `checkpoints/<id>/checkpoint.ndjson`, checked lines.
//!
//! ```text
//! file   := header entry*
//! entry  := change          one path, by one commit or one command
//!         | review          an undo or redo of what stands before this line waits for its reviewer
//!         | undone          everything before this line was taken back
//!         | redone          the changes since it was undone have put it back
//! ```
//!
//! Full contents are kept as files beside it (`kept/`), and only where the chain of changes does
//! not give them: at the first change of a path, and where somebody else changed it in between.
//! From there on a change is its line edits, so a turn of ten thousand small commits to one file
//! keeps one copy of that file.

use serde::{Deserialize, Serialize};

use crate::changes::Observed;
use crate::commit::Fingerprint;

/// The version that this code writes.
pub(crate) const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub(crate) version: u32,
    /// The turn or transaction that it belongs to.
    pub(crate) id: String,
    /// Short name for lists.
    pub(crate) title: String,
    /// For the checkpoint of an undo: what it took back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undo_of: Option<String>,
}

/// A line after the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "entry")]
pub(crate) enum Entry {
    /// One commit changed one path.
    Change(Box<Change>),
    /// Taking it back, or putting it back, met conflicts and waits for its reviewer.
    Review {
        /// The transaction under review.
        by: String,
        /// Unix seconds.
        at: u64,
    },
    /// Everything before this line was taken back.
    Undone {
        /// The undo's transaction and checkpoint id.
        by: String,
        /// Unix seconds.
        at: u64,
    },
    /// The changes since it was undone have put it back.
    Redone {
        /// The redo's transaction.
        by: String,
        /// Unix seconds.
        at: u64,
    },
}

/// One path, changed by one commit or by one command (then both ids are the job's).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    /// The commit.
    pub(crate) receipt_id: String,
    /// Unix seconds.
    pub(crate) at: u64,
    /// The transaction that was committed.
    pub(crate) transaction_id: String,
    /// The path before.
    pub(crate) path: String,
    /// What was done.
    pub(crate) what: What,
    /// Line edits in order, when the content is text and changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) edits: Vec<Edit>,
    /// The content before, as a name in `kept/`; absent when the chain gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<String>,
    /// Folders that were made for it, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) made: Vec<String>,
    /// A command was there when it changed; whether the command made the change is not certain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) observed: Option<Observed>,
}

/// What was done to a path, with its identity before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum What {
    /// Its bytes on disk, or its mode, changed.
    Disk {
        before: Fingerprint,
        after: Fingerprint,
    },
    /// It was created.
    Created { after: Fingerprint },
    /// It was deleted.
    Deleted { before: Fingerprint },
    /// It was renamed, and perhaps edited.
    Renamed {
        to: String,
        before: Fingerprint,
        after: Fingerprint,
    },
    /// The text of an open document changed; the revisions are of texts.
    Document { before: String, after: String },
}

impl What {
    /// The revision of what it left there; None when nothing is there.
    pub(crate) fn revision_after(&self) -> Option<&str> {
        match self {
            Self::Disk { after, .. } | Self::Created { after } | Self::Renamed { after, .. } => {
                Some(&after.revision)
            }
            Self::Document { after, .. } => Some(after),
            Self::Deleted { .. } => None,
        }
    }
}

/// One line edit, in the text before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    /// First byte that goes, in the text before the change (without byte order mark).
    pub(crate) at: usize,
    /// The text that goes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) removed: String,
    /// The text that comes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) added: String,
}

/// Plays `edits` on `before`. None when they do not fit it.
pub(crate) fn apply(before: &str, edits: &[Edit]) -> Option<String> {
    let mut after = String::with_capacity(before.len());
    let mut at = 0;
    for edit in edits {
        after.push_str(before.get(at..edit.at)?);
        let end = edit.at.checked_add(edit.removed.len())?;
        if before.get(edit.at..end)? != edit.removed {
            return None;
        }
        after.push_str(&edit.added);
        at = end;
    }
    after.push_str(before.get(at..)?);
    Some(after)
}
