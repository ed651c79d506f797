//! The pure text engine: what a text is, what a proposal says, where it applies, and how what is
//! pending stays in place while the text changes.
//!
//! Owns text decoding and identity, positions in the three encodings, the edit formats, the
//! matching ladder, the resolution of a proposal against a tree of files, diffs, hunks, anchors and
//! the three-way merge. Files are read through [`Files`], which the caller implements.
//!
//! **Invariant:** a value in, a value out: no clock, no async, no file access of its own.
//! **Invariant:** a place is never guessed: what matches in two places is an error that names both.
//! **Invariant:** what is pending is never part of the user's text.
//!
//! | module | subject |
//! | --- | --- |
//! | `text` | decoding, revisions, line endings |
//! | `positions` | line and column to byte, and back |
//! | `formats` | search/replace, unified diff, `*** Begin Patch`, JSON edits: parsed to one form |
//! | `proposal` | that form: ordered changes over a tree |
//! | `matching`, `lines`, `splice` | the ladder: exact, white space, indentation, look-alikes |
//! | `resolve` | plays a proposal on a virtual tree, all or nothing |
//! | `diff`, `words`, `linewise` | what differs between two texts |
//! | `hunk`, `hunk_set`, `anchors` | pending changes and their places |
//! | `merge` | three texts into one |

mod anchors;
#[cfg(any(test, feature = "checks"))]
pub mod checks;
mod diff;
mod formats;
mod hunk;
mod hunk_set;
mod lines;
mod linewise;
mod matching;
mod merge;
mod positions;
mod proposal;
mod resolve;
mod rung;
mod splice;
mod text;
mod words;

pub use diff::{LineEdit, diff_lines};
pub use formats::{Format, ParseError, ParseOptions, detect, parse, parse_bytes};
pub use hunk::{
    ConflictInfo, ConflictSides, Hunk, HunkError, HunkEvent, HunkId, HunkState, Origin, Provenance,
    TextChange,
};
pub use hunk_set::{Accepted, HunkRecord, HunkSet, Proposed, Reads, RestoreError, Selection};
pub use merge::{Merge, MergePart, merge3};
pub use positions::{Encoding, LineCol, PositionError, to_byte, to_byte_strict, to_line_col};
pub use proposal::{Change, ChangeKind, LineHunk, PatchLine, Proposal, TextEdit};
pub use resolve::{
    EditSpan, FileError, FileState, Files, Operation, OperationKind, ResolveError, Resolved,
    normalize_path, resolve,
};
pub use rung::MatchRung;
pub use text::{
    DEFAULT_SIZE_LIMIT_BYTES, DecodeError, Decoded, Revision, adapt_line_endings, decode,
    decode_with_limit, revision, text_revision,
};
pub use words::{WordDiff, diff_words};
