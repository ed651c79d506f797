//! Why a proposal cannot be resolved.

use super::FileError;
use crate::{matching::MatchError, positions::PositionError};

/// The first change that cannot be played, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The boundary refuses the path, or reading failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// An edit, a rename or a delete of what is not there.
    #[error("{path} does not exist{}", suggestion(.similar))]
    NotFound {
        /// The path as the proposal has it.
        path: String,
        /// A path of the proposal's tree with a similar name, never used in its place.
        similar: Option<String>,
    },
    /// A create, rename or copy onto what is there.
    #[error("{path} exists already")]
    Exists {
        /// The path.
        path: String,
    },
    /// A file operation on a folder.
    #[error("{path} is a folder{}", holding(.n_files))]
    IsDirectory {
        /// The path.
        path: String,
        /// How many files are in it.
        n_files: usize,
    },
    /// A path below a file.
    #[error("{path} cannot be: {parent} is a file, not a folder")]
    NotDirectory {
        /// The path.
        path: String,
        /// The file above it.
        parent: String,
    },
    /// A text edit through a link that leads to no file of the workspace.
    #[error("{path} -> {target} is a symbolic link {why}")]
    Symlink {
        /// `IS_SYMLINK`, `SYMLINK_LOOP` or `SYMLINK_REJECTED`.
        code: &'static str,
        /// The link.
        path: String,
        /// What it says.
        target: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A text edit of a file with a NUL.
    #[error("{path} is a binary file ({size_bytes} bytes) and cannot be edited as text")]
    NotText {
        /// The path.
        path: String,
        /// Its size.
        size_bytes: u64,
    },
    /// A text edit of a file that is not UTF-8.
    #[error("{path} is not UTF-8: byte 0x{byte:02X} at offset {offset}")]
    Encoding {
        /// The path.
        path: String,
        /// The first byte that does not decode.
        byte: u8,
        /// Its offset, in bytes.
        offset: u64,
    },
    /// A text edit of a file above the limit.
    #[error("{path} is too large to be edited: {size_bytes} bytes, the limit is {limit_bytes}")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        size_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// A search or a hunk without exactly one place.
    #[error("{path}: {subject} {message}")]
    Match {
        /// `AMBIGUOUS_MATCH`, `NO_MATCH` or `ALREADY_APPLIED`.
        code: &'static str,
        /// The path.
        path: String,
        /// What was looked for: `the search`, `hunk 2`.
        subject: String,
        /// What came of it, with line numbers.
        message: String,
        /// What to do.
        hint: &'static str,
    },
    /// A position that is not in the text.
    #[error("{path}: edit {edit}: {source}")]
    Position {
        /// The path.
        path: String,
        /// The edit, from 1.
        edit: usize,
        /// What is wrong with it.
        #[source]
        source: PositionError,
    },
    /// A range whose end is before its start.
    #[error("{path}: edit {edit}: the range {range} is reversed")]
    ReversedRange {
        /// The path.
        path: String,
        /// The edit, from 1.
        edit: usize,
        /// The range as the proposal has it.
        range: String,
    },
    /// Two edits of one text that touch the same characters, or two hunks the same lines.
    #[error("{path}: {first} and {second} overlap at line {line}")]
    Overlapping {
        /// The path.
        path: String,
        /// One of them.
        first: String,
        /// The other.
        second: String,
        /// Where, from 1.
        line: usize,
    },
    /// Positions made for another version of the document.
    #[error("{}", stale(.path, *.proposed, *.current))]
    StaleVersion {
        /// The path.
        path: String,
        /// The version of the proposal.
        proposed: i32,
        /// The version of the open document; `None` when it is not open.
        current: Option<i32>,
    },
    /// A comment that stands in for real lines.
    #[error(
        "{path}: line {line} of the {what} ({text}) stands in for real lines: {n_removed} base lines \
         would be removed"
    )]
    Placeholder {
        /// The path.
        path: String,
        /// The line, from 1.
        line: usize,
        /// `proposal`, or `replacement of hunk 2`.
        what: String,
        /// The line itself, clipped.
        text: String,
        /// How many lines of the file would vanish there.
        n_removed: usize,
    },
    /// A whole file whose base is not today's text, and both changed the same lines.
    #[error("{path} has changed since the proposal was made: line {line} was changed in both")]
    Conflict {
        /// The path.
        path: String,
        /// Of today's text, from 1.
        line: usize,
    },
    /// A change that contradicts itself or an earlier one.
    #[error("{path}: {message}")]
    Malformed {
        /// The path.
        path: String,
        /// What is wrong.
        message: String,
        /// What to do.
        hint: &'static str,
    },
    /// A hunk that names a line which does not exist and has no text to look for.
    #[error("{path}: hunk {hunk} adds lines after line {line}, but the file has {n_lines}")]
    OutOfRange {
        /// The path.
        path: String,
        /// The hunk, from 1.
        hunk: usize,
        /// The line it names.
        line: usize,
        /// Lines of the file.
        n_lines: usize,
    },
    /// Something that is understood and cannot be done.
    #[error("{path}: {message}")]
    Unsupported {
        /// The path.
        path: String,
        /// What.
        message: String,
    },
}

impl ResolveError {
    pub(super) fn matching(path: &str, subject: impl Into<String>, err: &MatchError) -> Self {
        Self::Match {
            code: err.code(),
            path: path.to_owned(),
            subject: subject.into(),
            message: err.message(),
            hint: err.hint(),
        }
    }

    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::File(err) => err.code,
            Self::NotFound { .. } => "NOT_FOUND",
            Self::Exists { .. } => "EXISTS",
            Self::IsDirectory { .. } => "IS_DIRECTORY",
            Self::NotDirectory { .. } => "NOT_DIRECTORY",
            Self::Symlink { code, .. } | Self::Match { code, .. } => code,
            Self::NotText { .. } => "NOT_TEXT",
            Self::Encoding { .. } => "ENCODING",
            Self::TooLarge { .. } => "TOO_LARGE",
            Self::Position { source, .. } => source.code(),
            Self::ReversedRange { .. } => "INVALID_POSITION",
            Self::Overlapping { .. } => "OVERLAPPING_EDITS",
            Self::StaleVersion { .. } => "STALE_VERSION",
            Self::Placeholder { .. } => "PLACEHOLDER",
            Self::Conflict { .. } => "CONFLICT",
            Self::Malformed { .. } => "MALFORMED_PROPOSAL",
            Self::OutOfRange { .. } => "OUT_OF_RANGE",
            Self::Unsupported { .. } => "UNSUPPORTED",
        }
    }

    /// What to do.
    pub fn hint(&self) -> &str {
        match self {
            Self::File(err) => &err.hint,
            Self::NotFound { .. } => "check the path; to make a new file, propose its whole text",
            Self::Exists { .. } => "edit it, or delete it first, or choose another path",
            Self::IsDirectory { .. } => "name its files, or ask for a recursive delete or a rename",
            Self::NotDirectory { .. } => "choose a path in a folder",
            Self::Symlink { .. } => "name the file itself",
            Self::NotText { .. } | Self::Encoding { .. } => {
                "delete or rename it as a whole, or convert it to UTF-8 first"
            }
            Self::TooLarge { .. } => "edit it with another program",
            Self::Match { hint, .. } | Self::Malformed { hint, .. } => hint,
            Self::Position { .. } => "count lines and columns from 0 in the encoding that is named",
            Self::ReversedRange { .. } => "put the smaller position first",
            Self::Overlapping { .. } => "make one edit of the two",
            Self::StaleVersion { .. } => "read the document again and make the edit for its text",
            Self::Placeholder { .. } => {
                "send all lines of the file, or only the changed ones as search/replace"
            }
            Self::Conflict { .. } => "read the file again and make the change on today's text",
            Self::OutOfRange { .. } => "give the hunk context lines to be found by",
            Self::Unsupported { .. } => "do it in two proposals",
        }
    }
}

fn suggestion(similar: &Option<String>) -> String {
    match similar {
        Some(path) => format!(" (there is a {path})"),
        None => String::new(),
    }
}

fn holding(n_files: &usize) -> String {
    match n_files {
        1 => " with 1 file".to_owned(),
        n => format!(" with {n} files"),
    }
}

fn stale(path: &str, proposed: i32, current: Option<i32>) -> String {
    match current {
        Some(current) => format!(
            "{path}: the edit was made for version {proposed}, the open document is at version \
             {current}"
        ),
        None => format!(
            "{path}: the edit was made for version {proposed} of an open document, and none is open"
        ),
    }
}
