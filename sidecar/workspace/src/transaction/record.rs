//! Records: what happens to a transaction after its proposal, one small value for each event.
//!
//! A record is made by a method of [`Transaction`](super::Transaction) or by a finished commit,
//! appended to the transaction's log, and played again when the transaction is loaded. Its size
//! follows what it settles, never the transaction it belongs to.

use redline_edits::{HunkId, HunkRecord};
use serde::{Deserialize, Serialize};

use super::file::{FileReview, FileState};

/// How a hunk, or a file's own operation, was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// It was applied.
    Accepted,
    /// Its text was applied to an open document, which nobody has saved yet.
    AcceptedUnsaved,
    /// The user had made the change himself.
    ByHand,
    /// The user refused it.
    Rejected,
    /// Its agent took it back, or the user kept what stands there.
    Withdrawn,
}

impl Settlement {
    /// The state of a file's own operation after it.
    pub(super) fn file_state(self) -> FileState {
        match self {
            Self::Accepted | Self::AcceptedUnsaved | Self::ByHand => FileState::Accepted,
            Self::Rejected => FileState::Rejected,
            Self::Withdrawn => FileState::Withdrawn,
        }
    }
}

/// One hunk's settlement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledHunk {
    /// The file.
    pub path: String,
    /// The hunk.
    pub id: HunkId,
    /// How.
    pub how: Settlement,
}

/// The settlement of a file's own operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledFile {
    /// The file.
    pub path: String,
    /// How.
    pub how: Settlement,
}

/// What a commit left at a path: the text that the checkpoint's chain of changes leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The file.
    pub path: String,
    /// Text revision.
    pub revision: String,
}

/// What an undo or redo of one transaction means for those that it concerns: the record of each, by id.
pub type Concerns = Vec<(String, Record)>;

/// One event in the life of a transaction.
#[derive(Debug, Clone)]
pub enum Record {
    /// Files were added, or changed in a way that re-derives their hunks. Each as it is now.
    Grown(Vec<FileReview>),
    /// Hunks of one file changed, or are new (a split): amended text, another revision, another state.
    Changed {
        /// The file.
        path: String,
        /// The hunks as they are now.
        hunks: Vec<HunkRecord>,
    },
    /// Hunks or operations were settled together.
    Settled {
        /// The receipt of the decision, if somebody decided.
        receipt_id: Option<String>,
        /// Hunks.
        hunks: Vec<SettledHunk>,
        /// Files' own operations.
        files: Vec<SettledFile>,
        /// Texts that a commit left.
        applied: Vec<Applied>,
    },
    /// An open document was saved with these hunks in it.
    Saved {
        /// The file.
        path: String,
        /// Hunks that are on disk now.
        hunks: Vec<HunkId>,
    },
    /// Accepted hunks wait again: their text went away by the editor's own undo, or was never saved.
    Reopened {
        /// The file.
        path: String,
        /// The hunks.
        hunks: Vec<HunkId>,
    },
    /// The last commit failed and was taken back.
    Failed {
        /// One sentence naming the path.
        message: String,
    },
    /// All that was accepted was taken back.
    Undone {
        /// The undo's transaction.
        by: String,
        /// The hunks, with their paths.
        hunks: Vec<(String, HunkId)>,
    },
    /// All that was undone was put back.
    Redone {
        /// The hunks, with their paths.
        hunks: Vec<(String, HunkId)>,
    },
}
