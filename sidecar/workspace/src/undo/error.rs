//! Why nothing was undone.

use std::fmt;

use super::{Direction, Undo};
use crate::boundary::PathError;
use crate::checkpoint::Refusal;
use crate::effect::FsError;
use crate::store::StoreError;

/// Why nothing was undone.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// There is nothing to undo or redo.
    #[error("there is nothing to {}", .direction.as_str())]
    Nothing {
        /// Which way.
        direction: Direction,
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
    /// Files changed since; nothing was touched, and a person has to look.
    #[error(
        "{}; nothing was changed, and the {} waits for review as {transaction}",
        Refusals(.refusals),
        .direction.as_str()
    )]
    Conflict {
        /// Which way.
        direction: Direction,
        /// The transaction that does it, under review.
        transaction: String,
        /// Each path in the way.
        refusals: Vec<Refusal>,
    },
    /// It met conflicts before, and waits for its reviewer.
    #[error("the {} of {of} waits for review as {transaction}", .direction.as_str())]
    UnderReview {
        /// Which way.
        direction: Direction,
        /// The turn or transaction.
        of: String,
        /// The transaction under review.
        transaction: String,
    },
    /// More was accepted of it, or it was undone, while this was worked out; nothing was touched.
    #[error("{id} went on while this was worked out")]
    Moved {
        /// The turn or transaction.
        id: String,
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
            Self::Conflict { .. } | Self::UnderReview { .. } => "CONFLICT",
            Self::Moved { .. } => "STALE_VERSION",
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
            Self::Conflict { .. } | Self::UnderReview { .. } => {
                "`redline review` and every editor show it: settle its conflicts, then accept the rest; rejecting it leaves everything as it is"
            }
            Self::Moved { .. } => "try again",
            Self::Fs(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}

impl From<&Undo> for UndoError {
    /// What is said of an undo that was put under review.
    fn from(undo: &Undo) -> Self {
        Self::Conflict {
            direction: undo.direction,
            transaction: undo.transaction.id().to_owned(),
            refusals: undo.refusals.clone(),
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
