//! Why a commit did not happen.

use super::conflict::ConflictReport;
use crate::effect::FsError;
use crate::store::StoreError;

/// Why a commit did not happen. The files are as they were, unless the message says otherwise.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Texts changed against what is to be applied; nothing was touched.
    #[error("{}", conflict_words(.conflicts))]
    Conflict {
        /// Each conflict, with its three sides.
        conflicts: Vec<ConflictReport>,
    },
    /// Something is still arriving.
    #[error("{what} is not complete, so nothing of it can be accepted yet")]
    Incomplete {
        /// The transaction or path.
        what: String,
    },
    /// An open document has changes that the commit would lose or bypass.
    #[error("{document} has unsaved changes{}, so {path} was left alone", in_another(*.elsewhere))]
    DirtyBuffer {
        /// The path of the operation.
        path: String,
        /// The document.
        document: String,
        /// It is open in another process.
        elsewhere: bool,
    },
    /// The decision is no longer about what is there.
    #[error("{what} has changed since it was shown")]
    Stale {
        /// The hunk or path.
        what: String,
    },
    /// The undo or redo was worked out on what does not stand any more; nothing was touched.
    #[error("{of} went on since this was worked out")]
    Outdated {
        /// The turn or transaction that it is about.
        of: String,
    },
    /// A path was refused or could not be staged; nothing was touched.
    #[error("{source}; nothing was changed")]
    Refused {
        /// Why.
        #[source]
        source: FsError,
    },
    /// The store refused; nothing was touched.
    #[error("{source}; nothing was changed")]
    Store {
        /// Why.
        #[source]
        source: StoreError,
    },
    /// The commit failed half way and was taken back.
    #[error("{path}: {message}; {}", rolled_back(.left))]
    Failed {
        /// The path (or store file) that failed.
        path: String,
        /// What failed.
        message: String,
        /// The error code of the failure.
        code: &'static str,
        /// What could not be put back, each with the reason. Empty: everything was, verified by hash.
        left: Vec<String>,
    },
}

impl CommitError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => "CONFLICT",
            Self::Incomplete { .. } => "INCOMPLETE",
            Self::DirtyBuffer { .. } => "DIRTY_BUFFER",
            Self::Stale { .. } => "STALE_HUNK",
            Self::Outdated { .. } => "STALE_VERSION",
            Self::Refused { source } => source.code(),
            Self::Store { source } => source.code(),
            Self::Failed { code, .. } => code,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => {
                "look at the three sides, then propose it again, keep yours, or amend it"
            }
            Self::Incomplete { .. } => "wait until the call has arrived",
            Self::DirtyBuffer { .. } => "save or discard that document, then accept again",
            Self::Stale { .. } => "look at it as it is now, then decide again",
            Self::Outdated { .. } => {
                "ask for the undo or redo again; it takes the place of this one"
            }
            Self::Refused { source } => source.hint(),
            Self::Store { source } => source.hint(),
            Self::Failed { left, .. } if left.is_empty() => {
                "everything is as it was; remove the cause, then accept again"
            }
            Self::Failed { .. } => "look at the files named, then run `redline status`",
        }
    }
}

impl From<FsError> for CommitError {
    fn from(source: FsError) -> Self {
        Self::Refused { source }
    }
}

impl From<StoreError> for CommitError {
    fn from(source: StoreError) -> Self {
        Self::Store { source }
    }
}

impl From<crate::boundary::PathError> for CommitError {
    fn from(source: crate::boundary::PathError) -> Self {
        Self::Refused {
            source: source.into(),
        }
    }
}

fn in_another(elsewhere: bool) -> &'static str {
    if elsewhere { " in another editor" } else { "" }
}

fn rolled_back(left: &[String]) -> String {
    if left.is_empty() {
        return "rolled back, every file verified".into();
    }
    format!("rolled back, except: {}", left.join("; "))
}

fn conflict_words(conflicts: &[ConflictReport]) -> String {
    let words: Vec<String> = conflicts.iter().map(ToString::to_string).collect();
    words.join("; ")
}
