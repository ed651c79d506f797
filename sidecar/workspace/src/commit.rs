//! The commit: what was accepted is applied, all of it or nothing, with editors as participants.
//!
//! 1. [`prepare`]: under the lock every path is admitted again and every hunk anchored on today's
//!    text; a conflict ends it with nothing touched. The plan and its receipt are made durable, the
//!    new bytes of closed files staged and synced, `prepared` journaled. The lock is released if
//!    open documents take part.
//! 2. The caller delivers [`Prepared::deliveries`] to the editor and says so: [`Prepared::delivered`]
//!    journals it. Recovery goes back before that record and forward after it.
//! 3. [`Prepared::finish`]: under the lock everything is compared again, names change, folders are
//!    synced, files read back; `committed` is journaled and the receipt completed. A failure takes
//!    back what was done, in reverse, verified by hash.
//! 4. Or [`Prepared::abort`]: what was staged is dropped, everything stays pending.
//!
//! **Invariant:** nothing here cleans up on unwinding: a panic leaves what a killed process leaves,
//! and [`recover`] deals with both.
//! **Invariant:** a file that somebody else changed is never overwritten, neither forward nor back.

mod conflict;
mod draft;
mod error;
mod finish;
mod plan;
mod prepare;
mod recover;
mod step;
mod undoing;

use redline_edits::TextChange;
use ropey::Rope;
use serde::{Deserialize, Serialize};

pub use conflict::ConflictReport;
pub use error::CommitError;
pub use finish::Committed;
pub use prepare::{Prepared, prepare};
pub(crate) use recover::recover;
pub use recover::{Recovery, RecoveryAction};

use crate::read::Entry;
use crate::transaction::{Selection, Transaction};

/// What a file is: kind, content and mode. Files with equal fingerprints are the same to us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fingerprint {
    /// It is a symbolic link, and `revision` is of its target.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) symlink: bool,
    /// blake3 of the bytes.
    pub(crate) revision: String,
    /// Permission bits.
    pub(crate) mode: u32,
}

impl Fingerprint {
    /// That of a symbolic link.
    pub(crate) fn of_link(target: &str) -> Self {
        Self {
            symlink: true,
            revision: crate::revision::revision(target.as_bytes()),
            mode: 0o777,
        }
    }

    /// Whether kind and content are the same; the mode may differ.
    pub(crate) fn same_content(&self, other: &Self) -> bool {
        self.symlink == other.symlink && self.revision == other.revision
    }
}

/// What is at a path; a symbolic link counts as a file whose content is its target.
pub(crate) fn fingerprint(entry: &Entry) -> Option<Fingerprint> {
    match entry {
        Entry::Missing => None,
        Entry::File(file) => Some(Fingerprint {
            symlink: false,
            revision: file.revision(),
            mode: file.stat.mode,
        }),
        Entry::Symlink { target } => Some(Fingerprint::of_link(target)),
        // Something that we never make: no fingerprint of ours is equal to it.
        Entry::Directory | Entry::Special { .. } | Entry::TooLarge { .. } => Some(Fingerprint {
            symlink: false,
            revision: String::new(),
            mode: 0,
        }),
    }
}

/// A document that the deciding client has open.
#[derive(Debug, Clone)]
pub struct OpenDocument {
    /// Path from the workspace root.
    pub path: String,
    /// Its text.
    pub text: Rope,
    /// The editor's version of it.
    pub version: i32,
    /// It has changes that are not saved.
    pub dirty: bool,
}

/// What is to be committed, and on whose word.
#[derive(Debug, Clone)]
pub struct CommitRequest {
    /// The transaction as it was when the decision was made.
    pub transaction: Transaction,
    /// What of it.
    pub selection: Selection,
    /// Documents open at the client whose copy the commit goes to.
    pub documents: Vec<OpenDocument>,
    /// Documents that are open elsewhere in this hub with changes that are not saved.
    pub unsaved_elsewhere: Vec<String>,
    /// Who decided: `cli`, `neovim`, `policy`, …
    pub decided_by: String,
    /// Unix seconds.
    pub decided_at: u64,
    /// A fresh `rc_…`.
    pub receipt_id: String,
    /// The id under which this hub publishes its unsaved documents.
    pub hub_id: String,
}

/// Edits that the caller is to deliver to the editor between [`prepare`] and [`Prepared::finish`].
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// Path from the workspace root.
    pub path: String,
    /// The version that the edits count in.
    pub version: i32,
    /// The text that they count in.
    pub before: Rope,
    /// Sorted, not overlapping; bytes of `before`.
    pub edits: Vec<TextChange>,
    /// The hunks that they apply, in the same order.
    pub hunks: Vec<redline_edits::HunkId>,
    /// The text with the edits in it.
    pub after: Rope,
}

/// Applies sorted edits to `text`.
pub(crate) fn play(text: &Rope, edits: &[TextChange]) -> String {
    let mut out = String::with_capacity(text.len_bytes());
    let mut at = 0;
    for edit in edits {
        push_slice(text, at..edit.range.start, &mut out);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    push_slice(text, at..text.len_bytes(), &mut out);
    out
}

fn push_slice(text: &Rope, range: std::ops::Range<usize>, out: &mut String) {
    for chunk in text.byte_slice(range).chunks() {
        out.push_str(chunk);
    }
}
