//! The durable form of a transaction: private types and their codec.
//!
//! ```text
//! transactions/<id>/snapshots    header line, then the texts it refers to; written once, synced once
//! transactions/<id>/log.ndjson   one checked line for each event since (see [`crate::lines`])
//! transactions/<id>/snapshots.N  the same shape, for files that the Nth event added or re-derived
//!
//! snapshots := line(header) text*
//! ```
//!
//! The header holds everything but long texts, which stand after it and are named by offset and
//! length. A hunk's lines are spans of the text before and of the text after, where they are found
//! there; so a transaction of a thousand added files holds each text once.

mod codec;

use std::sync::Arc;

use redline_edits::{HunkId, HunkRecord, OperationKind};
use serde::{Deserialize, Serialize};

use super::file::{Before, Exact, FileState};
use super::model::{Purpose, TransactionMeta};
use super::record::{Applied, SettledFile, SettledHunk};

pub(super) use codec::{Lines, decode, encode};

/// The version that this code writes.
pub(super) const VERSION: u32 = 1;

/// What a transaction never changes, as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredMeta {
    id: String,
    session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
    title: String,
    proposed_by: String,
    created_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rationale: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undo_of: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    redo_of: Option<String>,
}

impl From<&TransactionMeta> for StoredMeta {
    fn from(meta: &TransactionMeta) -> Self {
        let (undo_of, redo_of) = match &meta.purpose {
            Purpose::Proposal => (None, None),
            Purpose::Undo { of } => (Some(of.clone()), None),
            Purpose::Redo { of } => (None, Some(of.clone())),
        };
        Self {
            id: meta.id.clone(),
            session_id: meta.session_id.clone(),
            turn_id: meta.turn_id.clone(),
            title: meta.title.clone(),
            proposed_by: meta.proposed_by.clone(),
            created_at: meta.created_at,
            rationale: meta.rationale.clone(),
            undo_of,
            redo_of,
        }
    }
}

impl From<StoredMeta> for TransactionMeta {
    fn from(stored: StoredMeta) -> Self {
        let purpose = match (stored.undo_of, stored.redo_of) {
            (Some(of), _) => Purpose::Undo { of },
            (None, Some(of)) => Purpose::Redo { of },
            (None, None) => Purpose::Proposal,
        };
        Self {
            id: stored.id,
            session_id: stored.session_id,
            turn_id: stored.turn_id,
            title: stored.title,
            proposed_by: stored.proposed_by,
            created_at: stored.created_at,
            rationale: stored.rationale,
            purpose,
        }
    }
}

/// The header of a `snapshots` file.
#[derive(Debug, Serialize, Deserialize)]
struct StoredHeader {
    version: u32,
    /// Only in the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    meta: Option<StoredMeta>,
    files: Vec<StoredFile>,
    /// Bytes of text after the header, and their hash.
    text_len: usize,
    text_sum: String,
}

/// A text after the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Span {
    at: usize,
    len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredKind {
    Edit,
    Create,
    Delete,
    Rename,
    SetMode,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "was")]
enum StoredBefore {
    Missing,
    Text { text: Span },
    Opaque { revision: String },
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredFile {
    path: String,
    kind: StoredKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    before: StoredBefore,
    /// The text that the hunks are anchored to, when it is not the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    anchor: Option<Span>,
    /// The text with everything in it that was pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<Span>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_state: Option<StoredState>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    bom: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    prune: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unsaved: Vec<HunkId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    undone: Vec<HunkId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exact: Option<Exact>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    applied: Option<String>,
    hunks: Vec<StoredHunk>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredHunk {
    /// Lines of the after text that are the replacement; it is then empty in `record`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    new: Option<(usize, usize)>,
    /// The removed lines stand at the hunk's place in the anchor text, and are empty in `record`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    old: bool,
    #[serde(flatten)]
    record: HunkRecord,
}

/// The state of a file's own operation, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredState {
    Pending,
    Conflict { reason: String },
    Accepted,
    Undone,
    Rejected,
    Withdrawn,
}

impl From<&FileState> for StoredState {
    fn from(state: &FileState) -> Self {
        match state {
            FileState::Pending => Self::Pending,
            FileState::Conflict { reason } => Self::Conflict {
                reason: reason.clone(),
            },
            FileState::Accepted => Self::Accepted,
            FileState::Undone => Self::Undone,
            FileState::Rejected => Self::Rejected,
            FileState::Withdrawn => Self::Withdrawn,
        }
    }
}

impl From<StoredState> for FileState {
    fn from(stored: StoredState) -> Self {
        match stored {
            StoredState::Pending => Self::Pending,
            StoredState::Conflict { reason } => Self::Conflict { reason },
            StoredState::Accepted => Self::Accepted,
            StoredState::Undone => Self::Undone,
            StoredState::Rejected => Self::Rejected,
            StoredState::Withdrawn => Self::Withdrawn,
        }
    }
}

/// A file as the codec sees it: hunks with their lines in `anchor`.
#[derive(Debug, Clone)]
pub(super) struct PlainFile {
    pub(super) path: String,
    pub(super) operation: OperationKind,
    pub(super) before: Before,
    /// The snapshot of `hunks`.
    pub(super) anchor: Arc<str>,
    /// The text with everything in it that is pending.
    pub(super) after: Arc<str>,
    pub(super) own_state: Option<FileState>,
    pub(super) flags: Vec<String>,
    pub(super) mode: Option<u32>,
    pub(super) bom: bool,
    pub(super) prune: Vec<String>,
    pub(super) unsaved: Vec<HunkId>,
    pub(super) undone: Vec<HunkId>,
    pub(super) exact: Option<Exact>,
    pub(super) applied: Option<String>,
    pub(super) hunks: Vec<HunkRecord>,
}

/// A line of `log.ndjson`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub(crate) enum LogLine {
    /// `snapshots.N` holds files that were added or re-derived.
    Grown {
        snapshots: u32,
    },
    Changed {
        path: String,
        hunks: Vec<HunkRecord>,
    },
    Settled {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receipt_id: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hunks: Vec<SettledHunk>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<SettledFile>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        applied: Vec<Applied>,
    },
    Saved {
        path: String,
        hunks: Vec<HunkId>,
    },
    Reopened {
        path: String,
        hunks: Vec<HunkId>,
    },
    Failed {
        message: String,
    },
    Undone {
        by: String,
        hunks: Vec<(String, HunkId)>,
    },
    Redone {
        hunks: Vec<(String, HunkId)>,
    },
}
