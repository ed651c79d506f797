//! Why nothing was undone.

use std::fmt;

use crate::boundary::PathError;
use crate::checkpoint::Refusal;
use crate::effect::FsError;
use crate::store::StoreError;

/// Why nothing was undone.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// There is nothing to undo or redo.
    #[error("there is nothing to {verb}")]
    Nothing {
        /// `undo` or `redo`.
        verb: &'static str,
    },
    /// No commit belongs to that id.
    #[error("{id} changed nothing that could be taken back")]
    Unknown {
        /// The id asked for.
        id: String,
    },
    /// It is undone already, or not undone.
    #[error("{id} is {state}")]
    State {
        /// The id.
        id: String,
        /// `already undone` or `not undone`.
        state: &'static str,
    },
    /// Files changed since; nothing was touched.
    #[error("{}", Refusals(.refusals))]
    Conflict {
        /// Each path in the way.
        refusals: Vec<Refusal>,
    },
    /// A path was refused.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl UndoError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Nothing { .. } => "NOTHING_PENDING",
            Self::Unknown { .. } => "UNKNOWN_TRANSACTION",
            Self::State { .. } => "ALREADY_SETTLED",
            Self::Conflict { .. } => "CONFLICT",
            Self::Fs(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Nothing { .. } => {
                "only what was accepted can be undone, and only what was undone redone"
            }
            Self::Unknown { .. } => "name a turn or a transaction of which something was accepted",
            Self::State { .. } => {
                "`redline redo` puts back what was undone, `redline undo` takes it back"
            }
            Self::Conflict { .. } => {
                "nothing was touched: save or move your changes of these files, or undo by hand"
            }
            Self::Fs(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}

impl From<PathError> for UndoError {
    fn from(error: PathError) -> Self {
        Self::Fs(error.into())
    }
}

struct Refusals<'a>(&'a [Refusal]);

impl fmt::Display for Refusals<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, refusal) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{} {}", refusal.path, refusal.reason)?;
            if let Some(line) = refusal.line {
                write!(f, " (line {line})")?;
            }
        }
        Ok(())
    }
}
