//! What a tree of files is to the resolver.

use super::paths;

/// The files that a proposal is about: open documents over the disk, or any other view.
pub trait Files {
    /// Admits a path of a proposal and gives its one spelling.
    ///
    /// Two spellings of one file must give the same string, since changes find each other by it.
    /// The default knows no root, so it refuses what is absolute: an implementation with a root
    /// also maps `file:` URIs and absolute paths inside the root.
    ///
    /// # Errors
    ///
    /// `OUTSIDE_WORKSPACE`, `BAD_PATH`, and whatever else the boundary refuses.
    fn admit(&self, path: &str) -> Result<String, FileError> {
        paths::normalize_path(path)
    }

    /// Reads what is at an admitted path; symbolic links are reported, not followed.
    ///
    /// # Errors
    ///
    /// What the boundary refuses, and what the system does.
    fn read(&self, path: &str) -> Result<FileState, FileError>;

    /// A path with a similar name, to be suggested when `path` does not exist.
    ///
    /// It is only ever shown. The default suggests nothing.
    fn similar(&self, path: &str) -> Option<String> {
        let _ = path;
        None
    }
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileState {
    /// Nothing.
    Missing,
    /// A text.
    Text {
        /// Without its byte order mark.
        text: String,
        /// Whether it has one.
        bom: bool,
        /// The version of the open document; `None` when it is not open.
        version: Option<i32>,
    },
    /// A file with a NUL.
    Binary {
        /// Its size.
        size_bytes: u64,
    },
    /// A file that is not UTF-8.
    Undecodable {
        /// The first byte that does not decode.
        byte: u8,
        /// Its offset, in bytes.
        offset: u64,
    },
    /// A file above the limit.
    TooLarge {
        /// Its size.
        size_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// A folder.
    Directory {
        /// All files below it, as admitted paths.
        files: Vec<String>,
    },
    /// A symbolic link.
    Symlink {
        /// What the link says, relative to its own folder or absolute.
        target: String,
    },
}

/// A refusal or a failure of the tree, passed through as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FileError {
    /// The stable code.
    pub code: &'static str,
    /// What happened, with the path.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl FileError {
    /// Makes an error.
    pub fn new(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: hint.into(),
        }
    }
}
