//! One file of a transaction: what would happen to it, its hunks, and the text they lie over.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use redline_edits::{Hunk, HunkEvent, HunkId, HunkSet, HunkState, OperationKind};
use ropey::Rope;
use serde::{Deserialize, Serialize};

use crate::commit::Fingerprint;

/// Where a file's own operation stands (creating or deleting an empty or binary file, renaming, set-mode).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// Waits for a decision.
    Pending,
    /// It can no longer be done as proposed.
    Conflict {
        /// One sentence: what changed.
        reason: String,
    },
    /// Done.
    Accepted,
    /// Done, then taken back.
    Undone,
    /// Rejected by the user.
    Rejected,
    /// Withdrawn.
    Withdrawn,
}

impl FileState {
    /// Whether a decision is still open.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Pending | Self::Conflict { .. })
    }
}

/// Where a hunk stands, with what the hunk set itself does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Waits for a decision.
    Pending,
    /// Its base lines changed.
    Conflict,
    /// Accepted and applied.
    Accepted {
        /// Its text stands in an open document that was not saved since.
        unsaved: bool,
        /// The user had made the change himself.
        by_hand: bool,
    },
    /// Accepted, then taken back by an undo.
    Undone,
    /// Rejected by the user.
    Rejected,
    /// Withdrawn by its agent, or because the user kept what stands there.
    Withdrawn,
}

/// What stood at a path when the operation was proposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Missing,
    /// A text (without byte order mark).
    Text(Arc<str>),
    /// Something that is not text; known by its revision alone, since its bytes are kept when it goes.
    Opaque {
        /// blake3 of the bytes, or of a symbolic link's target.
        revision: String,
    },
}

/// One file of a transaction.
#[derive(Debug, Clone)]
pub struct FileReview {
    /// Path from the workspace root; for a rename the path before.
    pub path: String,
    /// What would happen to it.
    pub operation: OperationKind,
    /// What stood there when it was proposed. Never changes.
    pub before: Before,
    /// Facts a reviewer must see: `overwrite`, `recounted`, `inexact:indentation`, …
    pub flags: Vec<String>,
    /// The mode that it is to have, where the proposal gives one.
    pub mode: Option<u32>,
    /// A file that it creates is to begin with a byte order mark.
    pub bom: bool,
    /// The text that the hunks are anchored to: the path as it stands, without what is pending.
    pub text: Rope,
    /// Its hunks, settled ones included.
    pub hunks: HunkSet,
    /// Grows with every change of the file's own operation.
    pub revision: u64,
    /// Hunks accepted into an open document that was not saved since.
    pub unsaved: BTreeSet<HunkId>,
    /// Hunks that were accepted and then undone.
    pub undone: BTreeSet<HunkId>,
    /// Folders to remove when the change leaves them empty; outermost first.
    pub prune: Vec<String>,
    /// For an undo: the kept file that it puts back, byte for byte.
    pub(crate) exact: Option<Exact>,
    /// Text revision of what our last commit left here, while the checkpoint can tell it.
    pub(crate) applied: Option<String>,
    pub(super) own_state: Option<FileState>,
    /// The anchors have moved since the proposal.
    pub(super) moved: bool,
}

/// A kept file that an undo puts back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exact {
    /// What must be there today, so that putting back is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) now: Option<Fingerprint>,
    /// The checkpoint that keeps it.
    pub(crate) checkpoint_id: String,
    /// Its name there.
    pub(crate) name: String,
    /// What it is.
    pub(crate) fingerprint: Fingerprint,
    /// The target, when it is a symbolic link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
}

impl FileReview {
    /// The state of the file's own operation; none when its hunks are all there is to decide.
    pub fn operation_state(&self) -> Option<&FileState> {
        self.own_state.as_ref()
    }

    /// Says where the file's own operation stands.
    pub(crate) fn set_operation_state(&mut self, state: FileState) {
        self.own_state = Some(state);
        self.revision += 1;
    }

    /// Makes today's text the one that the store keeps for the hunks. Do it whenever the file is stored as a whole:
    /// later records of single hunks count in that text.
    pub(crate) fn take_snapshot(&mut self) {
        self.hunks.take_snapshot(&self.text);
    }

    /// The target of a rename.
    pub fn new_path(&self) -> Option<&str> {
        match &self.operation {
            OperationKind::Rename { to } => Some(to),
            OperationKind::Edit
            | OperationKind::Create
            | OperationKind::Delete
            | OperationKind::SetMode { .. } => None,
        }
    }

    /// Where it is now: its new path once a rename was done.
    pub fn current_path(&self) -> &str {
        match (&self.own_state, self.new_path()) {
            (Some(FileState::Accepted), Some(to)) => to,
            _ => &self.path,
        }
    }

    /// Whether the anchors have moved since the proposal: the flag `reanchored`.
    pub fn is_reanchored(&self) -> bool {
        self.moved
    }

    /// Whether nothing in it waits for a decision.
    pub fn is_settled(&self) -> bool {
        let own_waits = self.own_state.as_ref().is_some_and(FileState::is_open);
        !own_waits && self.hunks.iter().all(|hunk| !hunk.state.is_open())
    }

    /// Where `hunk` stands.
    pub fn standing(&self, hunk: &Hunk) -> Standing {
        match &hunk.state {
            HunkState::Pending => Standing::Pending,
            HunkState::Conflict(_) => Standing::Conflict,
            HunkState::Rejected | HunkState::Withdrawn if self.undone.contains(&hunk.id) => {
                Standing::Undone
            }
            HunkState::Accepted { by_hand } => Standing::Accepted {
                unsaved: self.unsaved.contains(&hunk.id),
                by_hand: *by_hand,
            },
            HunkState::Rejected => Standing::Rejected,
            HunkState::Withdrawn => Standing::Withdrawn,
        }
    }

    /// The 1-based first line of `id` in today's text; for an insertion the line before which it goes.
    pub fn start_line(&self, id: &HunkId) -> Option<usize> {
        let start = self.hunks.range(id)?.start.min(self.text.len_bytes());
        Some(line_of(&self.text, start) + 1)
    }

    /// All hunks by place, each with its [`FileReview::start_line`]. Costs one pass over the text.
    pub fn hunks_by_line(&self) -> Vec<(usize, &Hunk)> {
        let (mut line, mut at) = (1, 0);
        let mut placed = Vec::with_capacity(self.hunks.len());
        for (hunk, range) in self.hunks.placed() {
            let start = range.start.min(self.text.len_bytes());
            if start > at {
                line += line_feeds(&self.text, at..start);
                at = start;
            }
            placed.push((line, hunk));
        }
        placed
    }

    /// Moves the anchors over one change of the text: the keystroke path.
    pub fn change(
        &mut self,
        range: Range<usize>,
        inserted: &str,
        after: &Rope,
        events: &mut Vec<HunkEvent>,
    ) {
        self.hunks
            .change(&self.text, range, inserted, after, events);
        self.text = after.clone();
        self.moved = true;
    }

    /// Moves the anchors onto `now`, whatever happened in between. Says what became of the hunks.
    ///
    /// Costs a diff when the text is another one, a comparison of text when it is not.
    pub fn reanchor(&mut self, now: &Rope) -> Vec<HunkEvent> {
        if self.text == *now {
            return Vec::new();
        }
        let events = self.hunks.rebase(&self.text, now);
        self.text = now.clone();
        self.moved = true;
        events
    }
}

/// The line of `byte`, counting line feeds alone.
pub(crate) fn line_of(text: &Rope, byte: usize) -> usize {
    line_feeds(text, 0..byte)
}

fn line_feeds(text: &Rope, bytes: Range<usize>) -> usize {
    text.byte_slice(bytes)
        .chunks()
        .map(|chunk| memchr::memchr_iter(b'\n', chunk.as_bytes()).count())
        .sum()
}
