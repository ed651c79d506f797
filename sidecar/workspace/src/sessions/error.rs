//! Why a session could not be listed, read or written.

use std::io;
use std::path::Path;

use crate::private::PrivateError;

/// Why a session could not be listed, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// No session has this id.
    #[error("there is no {id}")]
    NotFound {
        /// The id.
        id: String,
    },
    /// Two sessions of one id.
    #[error("there is a session {id} already")]
    Exists {
        /// The id.
        id: String,
    },
    /// What was given is no session's id.
    #[error("{id:?} is no id of a session")]
    BadId {
        /// The id.
        id: String,
    },
    /// Another process writes it.
    #[error("session {id} is open in another process")]
    Busy {
        /// The id.
        id: String,
    },
    /// A line that is whole but not of this version.
    #[error("{path} line {line}: {message}")]
    Format {
        /// The file.
        path: String,
        /// From 1.
        line: usize,
        /// What the decoder says.
        message: String,
    },
    /// The private store refused.
    #[error(transparent)]
    Private(#[from] PrivateError),
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
}

impl SessionError {
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.display().to_string(),
            source,
        }
    }

    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            SessionError::NotFound { .. } => "NOT_FOUND",
            SessionError::Exists { .. } => "EXISTS",
            SessionError::BadId { .. } => "INVALID_ARGUMENTS",
            SessionError::Busy { .. } => "BUSY",
            SessionError::Format { .. } => "STORE_CORRUPT",
            SessionError::Private(error) => error.code(),
            SessionError::Io { .. } => "IO",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            SessionError::NotFound { .. } | SessionError::BadId { .. } => {
                "`redline sessions` lists them"
            }
            SessionError::Exists { .. } => "rename or remove one of both files",
            SessionError::Busy { .. } => "go on with it there, or end that process",
            SessionError::Format { .. } => "it was written by another version; use that one",
            SessionError::Private(error) => error.hint(),
            SessionError::Io { .. } => "check free space and permissions of the state folder",
        }
    }
}
