//! Why a path was refused, in words for people and in a code for programs.

use std::io;
use std::sync::Arc;

/// Why a path was refused before anything was done with it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// The text cannot name a file.
    #[error("{path:?} is not a usable path: {reason}")]
    BadPath {
        /// The path as given.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The path leads out of the workspace, by its text or through a link.
    #[error("{path} is outside the workspace: {reason}")]
    Outside {
        /// The path as given.
        path: String,
        /// How it leaves.
        reason: String,
    },
    /// Nothing may write there, whoever approves it.
    #[error("{path} is protected: {rule}")]
    Protected {
        /// The path.
        path: String,
        /// The rule that protects it.
        rule: String,
    },
    /// A folder on the way is a symbolic link, so a write would land elsewhere.
    #[error("{path} passes through a symbolic link, {link} -> {target}")]
    SymlinkRejected {
        /// The path.
        path: String,
        /// The component that is a link.
        link: String,
        /// What the link says.
        target: String,
    },
    /// The path itself is a symbolic link to something inside the workspace.
    #[error("{path} is a symbolic link, {path} -> {target}")]
    IsSymlink {
        /// The path.
        path: String,
        /// What the link says.
        target: String,
    },
    /// Links that lead to each other.
    #[error("{path} leads through symbolic links that never end")]
    SymlinkLoop {
        /// The path.
        path: String,
    },
    /// A component that should be a folder is something else.
    #[error("{path} cannot exist: {component} is not a folder")]
    NotDirectory {
        /// The path.
        path: String,
        /// The component.
        component: String,
    },
    /// The file system takes it for a path that is spelled in another way.
    #[error(
        "{path} would be the same file or folder as {with}, which differs in case or Unicode form alone"
    )]
    Collision {
        /// The path.
        path: String,
        /// The other spelling: on the disk, or in the same transaction.
        with: String,
    },
    /// The operating system refused a look at it.
    #[error("{path} could not be looked up: {source}")]
    Io {
        /// The path.
        path: String,
        /// The system's reason.
        source: Arc<io::Error>,
    },
}

impl PathError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            PathError::BadPath { .. } => "BAD_PATH",
            PathError::Outside { .. } => "OUTSIDE_WORKSPACE",
            PathError::Protected { .. } => "PROTECTED_PATH",
            PathError::SymlinkRejected { .. } => "SYMLINK_REJECTED",
            PathError::IsSymlink { .. } => "IS_SYMLINK",
            PathError::SymlinkLoop { .. } => "SYMLINK_LOOP",
            PathError::NotDirectory { .. } => "NOT_DIRECTORY",
            PathError::Collision { .. } => "NAME_COLLISION",
            PathError::Io { .. } => "IO",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            PathError::BadPath { .. } => {
                "give a path relative to the workspace root, with `/` between folders"
            }
            PathError::Outside { .. } => {
                "only files inside the workspace can be named, relative to its root"
            }
            PathError::Protected { .. } => {
                "change this file yourself; no approval lifts the protection"
            }
            PathError::SymlinkRejected { .. } | PathError::IsSymlink { .. } => {
                "name the file that the link leads to"
            }
            PathError::SymlinkLoop { .. } => "repair the links first",
            PathError::NotDirectory { .. } => {
                "choose another path, or move the file that is in the way"
            }
            PathError::Collision { .. } => {
                "use the spelling that is there already, or another name"
            }
            PathError::Io { .. } => "check that the folder exists and may be read, then try again",
        }
    }

    /// The path that was refused.
    pub fn path(&self) -> &str {
        match self {
            PathError::BadPath { path, .. }
            | PathError::Outside { path, .. }
            | PathError::Protected { path, .. }
            | PathError::SymlinkRejected { path, .. }
            | PathError::IsSymlink { path, .. }
            | PathError::SymlinkLoop { path }
            | PathError::NotDirectory { path, .. }
            | PathError::Collision { path, .. }
            | PathError::Io { path, .. } => path,
        }
    }

    pub(crate) fn io(path: &str, source: io::Error) -> Self {
        match source
            .raw_os_error()
            .map(rustix::io::Errno::from_raw_os_error)
        {
            Some(rustix::io::Errno::LOOP) => PathError::SymlinkLoop { path: path.into() },
            Some(rustix::io::Errno::NAMETOOLONG) => PathError::BadPath {
                path: path.into(),
                reason: "a name in it is too long".into(),
            },
            _ => PathError::Io {
                path: path.into(),
                source: Arc::new(source),
            },
        }
    }
}
