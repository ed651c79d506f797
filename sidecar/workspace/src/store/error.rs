//! Why the durable store could not be used.

use std::io;
use std::sync::Arc;

/// Why the durable store could not be used.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A store that this user neither made nor trusted. It is left alone.
    #[error("{path} was not made here by you, so nothing in it is used")]
    Unsealed {
        /// Its path, relative to the root.
        path: String,
    },
    /// A sealed store, where an unsealed one was meant.
    #[error("{path} is in use and trusted")]
    Sealed {
        /// Its path.
        path: String,
    },
    /// A symbolic link in the store.
    #[error("{path} is a symbolic link, to {target}; the store follows none")]
    Symlink {
        /// Its path.
        path: String,
        /// What it says.
        target: String,
    },
    /// Something else where a folder should be.
    #[error("{path} is not a folder")]
    NotAFolder {
        /// Its path.
        path: String,
    },
    /// A name that the store does not use.
    #[error("{path:?} is no name for something in the store: {reason}")]
    BadPath {
        /// The name as given.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Nothing is there.
    #[error("{path} does not exist")]
    NotFound {
        /// Its path.
        path: String,
    },
    /// Something is there already.
    #[error("{path} exists already")]
    Exists {
        /// Its path.
        path: String,
    },
    /// A file that does not say what it should.
    #[error("{path} is damaged: {reason}")]
    Corrupt {
        /// Its path.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// A store that is larger than what can be trusted as a whole.
    #[error("{path} holds more than can be looked through")]
    TooLarge {
        /// Its path.
        path: String,
    },
    /// Somebody else has held the lock for too long.
    #[error("{path} is held by {holder}, waited {waited_ms} ms")]
    Locked {
        /// The lock's path.
        path: String,
        /// Who holds it, as they said.
        holder: String,
        /// How long we waited.
        waited_ms: u64,
    },
    /// The operating system refused.
    #[error("{path}: {action} failed: {source}")]
    Io {
        /// The path.
        path: String,
        /// What was tried.
        action: &'static str,
        /// The system's reason.
        source: Arc<io::Error>,
    },
}

impl StoreError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            StoreError::Unsealed { .. } => "STORE_UNSEALED",
            StoreError::Sealed { .. } | StoreError::Exists { .. } => "EXISTS",
            StoreError::Symlink { .. } => "SYMLINK_REJECTED",
            StoreError::NotAFolder { .. } => "NOT_DIRECTORY",
            StoreError::BadPath { .. } => "BAD_PATH",
            StoreError::NotFound { .. } => "NOT_FOUND",
            StoreError::Corrupt { .. } => "STORE_CORRUPT",
            StoreError::TooLarge { .. } => "TOO_LARGE",
            StoreError::Locked { .. } => "TIMEOUT",
            StoreError::Io { .. } => "IO",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            StoreError::Unsealed { .. } => {
                "it may have come with a clone, or the project was moved: move it away (mv .agentic .agentic.unsealed) \
                 or trust it (redline trust), then try again"
            }
            StoreError::Sealed { .. } => "nothing needs to be done",
            StoreError::Symlink { .. } | StoreError::NotAFolder { .. } => {
                "move it out of the way, then try again"
            }
            StoreError::BadPath { .. } => "use letters, digits, `.`, `_` and `-`",
            StoreError::NotFound { .. } => "check the id",
            StoreError::Exists { .. } => "choose another id",
            StoreError::Corrupt { .. } => "it is set aside as *.corrupt; the rest keeps working",
            StoreError::TooLarge { .. } => "move it away: mv .agentic .agentic.unsealed",
            StoreError::Locked { .. } => "wait until they are done, or end that process",
            StoreError::Io { .. } => "check free space and permissions of .agentic, then try again",
        }
    }
}
