//! Why a file could not be read or changed.

use std::io;
use std::sync::Arc;

use crate::boundary::PathError;

/// Why a file could not be read or changed. The file is as it was.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum FsError {
    /// The path was refused.
    #[error(transparent)]
    Path(#[from] PathError),
    /// Nothing has that name.
    #[error("{path} does not exist")]
    NotFound {
        /// The path.
        path: String,
    },
    /// The name is taken.
    #[error("{path} exists already")]
    Exists {
        /// The path.
        path: String,
    },
    /// It is a folder.
    #[error("{path} is a folder")]
    IsDirectory {
        /// The path.
        path: String,
    },
    /// It is neither a file nor a folder.
    #[error("{path} is {what}, not a file")]
    NotAFile {
        /// The path.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// It is larger than what is read.
    #[error("{path} has {len} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The path.
        path: String,
        /// Its length in bytes.
        len: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// It has other names, which would keep the old content.
    #[error("{path} is a hard link, one of {links} names of the same file")]
    HardLinked {
        /// The path.
        path: String,
        /// How many names there are.
        links: u64,
    },
    /// The file is marked read-only, or the folder that holds it cannot be written.
    #[error("{path} is read-only: {why}")]
    ReadOnly {
        /// The file, or the folder that refuses.
        path: String,
        /// What makes it so.
        why: String,
    },
    /// Somebody else changed it meanwhile.
    #[error("{path} was changed by somebody else: {found}")]
    Changed {
        /// The path.
        path: String,
        /// What is there now.
        found: String,
    },
    /// A folder still holds something.
    #[error("the folder {path} is not empty")]
    NotEmpty {
        /// The path.
        path: String,
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

impl FsError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            FsError::Path(error) => error.code(),
            FsError::NotFound { .. } => "NOT_FOUND",
            FsError::Exists { .. } => "EXISTS",
            FsError::IsDirectory { .. } => "IS_DIRECTORY",
            FsError::NotAFile { .. } => "UNSUPPORTED",
            FsError::TooLarge { .. } => "TOO_LARGE",
            FsError::HardLinked { .. } => "HARD_LINKED",
            FsError::ReadOnly { .. } => "READ_ONLY",
            FsError::Changed { .. } => "CONFLICT",
            FsError::NotEmpty { .. } => "EXISTS",
            FsError::Io { .. } => "IO",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            FsError::Path(error) => error.hint(),
            FsError::NotFound { .. } => "check the path; to make a new file, propose a create",
            FsError::Exists { .. } => "propose an edit of it, or choose another path",
            FsError::IsDirectory { .. } => "name a file",
            FsError::NotAFile { .. } => "only regular files can be read and changed",
            FsError::TooLarge { .. } => "change it outside, or raise the limit",
            FsError::HardLinked { .. } => {
                "change it yourself, or break the link first (copy it and move the copy over it)"
            }
            FsError::ReadOnly { .. } => "make it writable first (chmod u+w), then try again",
            FsError::Changed { .. } => "look at the new content and decide again",
            FsError::NotEmpty { .. } => "delete what it holds first",
            FsError::Io { .. } => {
                "nothing was changed; check free space and permissions, then try again"
            }
        }
    }

    /// The path concerned.
    pub fn path(&self) -> &str {
        match self {
            FsError::Path(error) => error.path(),
            FsError::NotFound { path }
            | FsError::Exists { path }
            | FsError::IsDirectory { path }
            | FsError::NotAFile { path, .. }
            | FsError::TooLarge { path, .. }
            | FsError::HardLinked { path, .. }
            | FsError::ReadOnly { path, .. }
            | FsError::Changed { path, .. }
            | FsError::NotEmpty { path }
            | FsError::Io { path, .. } => path,
        }
    }

    /// The error for a refusal by the system while doing `action` with `path`.
    pub(crate) fn io(path: &str, action: &'static str, error: io::Error) -> Self {
        use rustix::io::Errno;
        let path = path.to_owned();
        match error.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::NOENT) => FsError::NotFound { path },
            Some(Errno::EXIST) => FsError::Exists { path },
            Some(Errno::ISDIR) => FsError::IsDirectory { path },
            Some(Errno::NOTEMPTY) => FsError::NotEmpty { path },
            Some(Errno::ROFS) => FsError::ReadOnly {
                path,
                why: "its file system is mounted read-only".into(),
            },
            _ => FsError::Io {
                path,
                action,
                source: Arc::new(error),
            },
        }
    }
}
