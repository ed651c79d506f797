//! The transaction as a whole: identity, files, state.

use std::collections::BTreeMap;
use std::sync::Arc;

use redline_edits::{HunkId, HunkState};

use super::file::{FileReview, FileState};
use crate::receipt::Action;

/// Why a transaction exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// Somebody proposes a change.
    Proposal,
    /// It takes back what another one (or a turn) did.
    Undo {
        /// The checkpoint: a turn or transaction id.
        of: String,
    },
    /// It puts back what an undo took.
    Redo {
        /// The checkpoint: a turn or transaction id.
        of: String,
    },
}

impl Purpose {
    /// What committing a part of such a transaction is called in its receipt.
    pub fn action(&self) -> Action {
        match self {
            Self::Proposal => Action::Accept,
            Self::Undo { .. } => Action::Undo,
            Self::Redo { .. } => Action::Redo,
        }
    }

    /// The checkpoint that an undo or redo is about.
    pub fn of(&self) -> Option<&str> {
        match self {
            Self::Proposal => None,
            Self::Undo { of } | Self::Redo { of } => Some(of),
        }
    }
}

/// What never changes about a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionMeta {
    /// `tx_…`.
    pub id: String,
    /// The session whose proposed texts it belongs to; an outside proposal is a session of its own.
    pub session_id: String,
    /// The turn that makes it, if one does.
    pub turn_id: Option<String>,
    /// Short name for lists.
    pub title: String,
    /// Who proposes.
    pub proposed_by: String,
    /// Unix seconds.
    pub created_at: u64,
    /// Why, for the whole of it.
    pub rationale: Option<String>,
    /// Proposal, undo or redo.
    pub purpose: Purpose,
}

impl TransactionMeta {
    /// The id under which its checkpoint is kept: the turn's, or its own.
    pub fn checkpoint_id(&self) -> &str {
        self.turn_id.as_deref().unwrap_or(&self.id)
    }
}

/// What befell the transaction as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fate {
    /// Nothing out of the ordinary.
    #[default]
    Live,
    /// The last commit failed and was taken back.
    Failed {
        /// One sentence naming the path.
        message: String,
    },
    /// What had been committed was undone.
    Undone {
        /// The undo's transaction.
        by: String,
    },
}

/// Where a transaction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransactionState {
    /// Something in it waits for a decision.
    Pending,
    /// All that was accepted is applied, and nothing waits.
    Committed,
    /// Everything in it was rejected or withdrawn.
    Rejected,
    /// Nothing waits but conflicts.
    Conflicted,
    /// The last commit failed and was taken back.
    Failed,
    /// What had been committed was undone.
    Undone,
}

impl TransactionState {
    /// The name used on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Committed => "committed",
            Self::Rejected => "rejected",
            Self::Conflicted => "conflicted",
            Self::Failed => "failed",
            Self::Undone => "undone",
        }
    }
}

/// A set of operations under review together.
#[derive(Debug, Clone)]
pub struct Transaction {
    pub(super) meta: Arc<TransactionMeta>,
    pub(super) revision: u64,
    pub(super) files: Vec<Arc<FileReview>>,
    pub(super) by_path: Arc<BTreeMap<String, usize>>,
    pub(super) fate: Fate,
    pub(super) incomplete: bool,
    /// For an undo or a redo that is not stored yet: how many entries the checkpoint had when it was worked out.
    pub(crate) worked_out_on: Option<usize>,
}

impl Transaction {
    /// A transaction of `files`, in the order proposed.
    pub(super) fn from_files(meta: TransactionMeta, files: Vec<FileReview>) -> Self {
        let by_path = files
            .iter()
            .enumerate()
            .map(|(at, file)| (file.path.clone(), at))
            .collect();
        Self {
            meta: Arc::new(meta),
            revision: 1,
            files: files.into_iter().map(Arc::new).collect(),
            by_path: Arc::new(by_path),
            fate: Fate::Live,
            incomplete: false,
            worked_out_on: None,
        }
    }

    /// `tx_…`.
    pub fn id(&self) -> &str {
        &self.meta.id
    }

    /// What never changes about it.
    pub fn meta(&self) -> &TransactionMeta {
        &self.meta
    }

    /// Grows with every change of the transaction.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// What befell it as a whole.
    pub fn fate(&self) -> &Fate {
        &self.fate
    }

    /// Whether a call that adds to it is still arriving; nothing in it can be accepted till then.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Says whether a call that adds to it is still arriving.
    pub fn set_incomplete(&mut self, incomplete: bool) {
        if self.incomplete != incomplete {
            self.incomplete = incomplete;
            self.revision += 1;
        }
    }

    /// Its files, in the order proposed.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &FileReview> {
        self.files.iter().map(Arc::as_ref)
    }

    /// The file at `path` (for a rename: its path before).
    pub fn file(&self, path: &str) -> Option<&FileReview> {
        self.by_path.get(path).map(|&at| self.files[at].as_ref())
    }

    /// The file at `path`, to move its anchors. Copies it if a snapshot still looks at it.
    pub fn file_mut(&mut self, path: &str) -> Option<&mut FileReview> {
        let at = *self.by_path.get(path)?;
        Some(Arc::make_mut(&mut self.files[at]))
    }

    /// The file that holds hunk `id`.
    pub fn file_of(&self, id: &HunkId) -> Option<&FileReview> {
        self.files().find(|file| file.hunks.get(id).is_some())
    }

    /// Marks a change that a client must see.
    pub fn touch(&mut self) {
        self.revision += 1;
    }

    /// Where it stands; derived from its hunks, its files' own operations and its fate.
    pub fn state(&self) -> TransactionState {
        let mut totals = Totals::default();
        for file in self.files() {
            totals.add(file);
        }
        match &self.fate {
            Fate::Failed { .. } if totals.pending + totals.conflicts > 0 => {
                TransactionState::Failed
            }
            _ if totals.pending > 0 => TransactionState::Pending,
            _ if totals.conflicts > 0 => TransactionState::Conflicted,
            Fate::Undone { .. } => TransactionState::Undone,
            _ if totals.accepted > 0 || self.files.is_empty() => TransactionState::Committed,
            _ if totals.undone > 0 => TransactionState::Undone,
            _ => TransactionState::Rejected,
        }
    }

    /// Whether nothing in it waits for a decision, conflicts included.
    pub fn is_settled(&self) -> bool {
        self.files().all(FileReview::is_settled)
    }

    /// Whether any of its hunks was accepted in an open document that is not saved.
    pub fn has_unsaved(&self) -> bool {
        self.files().any(|file| !file.unsaved.is_empty())
    }

    /// Counts by state.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for file in self.files() {
            totals.add(file);
        }
        totals
    }
}

/// Counts of decisions: hunks, and operations of files that have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Waiting.
    pub pending: usize,
    /// In conflict.
    pub conflicts: usize,
    /// Accepted and still so.
    pub accepted: usize,
    /// Accepted, then undone.
    pub undone: usize,
    /// Rejected or withdrawn.
    pub rejected: usize,
}

impl Totals {
    fn add(&mut self, file: &FileReview) {
        for hunk in file.hunks.iter() {
            match &hunk.state {
                HunkState::Pending => self.pending += 1,
                HunkState::Conflict(_) => self.conflicts += 1,
                HunkState::Accepted { .. } => self.accepted += 1,
                HunkState::Rejected | HunkState::Withdrawn if file.undone.contains(&hunk.id) => {
                    self.undone += 1;
                }
                HunkState::Rejected | HunkState::Withdrawn => self.rejected += 1,
            }
        }
        match file.operation_state() {
            None => {}
            Some(FileState::Pending) => self.pending += 1,
            Some(FileState::Conflict { .. }) => self.conflicts += 1,
            Some(FileState::Accepted) => self.accepted += 1,
            Some(FileState::Undone) => self.undone += 1,
            Some(FileState::Rejected | FileState::Withdrawn) => self.rejected += 1,
        }
    }
}
