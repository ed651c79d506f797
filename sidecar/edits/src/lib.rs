//! The pure text engine: diffs, hunks, and how hunks stay in place while a text changes.
//!
//! **Invariant:** a value in, a value out: no clock, no async, no file access of its own.
//! **Invariant:** what is pending is never part of the user's text.

mod anchors;
mod diff;
mod endings;
mod hunk;
mod hunk_set;
mod linewise;
mod merge;
mod rung;
mod words;

pub use diff::{LineEdit, diff_lines};
pub use endings::adapt_line_endings;
pub use hunk::{
    ConflictInfo, ConflictSides, Hunk, HunkError, HunkEvent, HunkId, HunkState, Origin, Provenance,
    TextChange,
};
pub use hunk_set::{Accepted, HunkRecord, HunkSet, Proposed, Reads, RestoreError, Selection};
pub use merge::{Merge, MergePart, merge3};
pub use rung::MatchRung;
pub use words::{WordDiff, diff_words};
