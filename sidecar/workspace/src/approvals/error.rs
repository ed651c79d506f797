//! Why an approval could not be decided or used.

use super::{ApprovalState, Decided, Voice};
use crate::store::StoreError;

/// Why an approval could not be decided or used.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// There is none of that id.
    #[error("there is no approval {id}")]
    Unknown {
        /// The id as given.
        id: String,
    },
    /// Somebody was faster.
    #[error("{id} was {} by {} before, and is {} now", said(decided.voice), decided.by, state.as_str())]
    Decided {
        /// The approval.
        id: String,
        /// Who, what and when.
        decided: Decided,
        /// What it is now.
        state: ApprovalState,
    },
    /// Nobody decided in time.
    #[error("{id} lapsed before it was decided")]
    Expired {
        /// The approval.
        id: String,
        /// When, in milliseconds since 1970.
        at_ms: u64,
    },
    /// What it was for has changed.
    #[error("{id} is void: {}", told(changed))]
    Stale {
        /// The approval.
        id: String,
        /// The files that changed; empty when it was something else of the operation.
        changed: Vec<String>,
    },
    /// It is not in a state to be used so.
    #[error("{id} is {}, and cannot be used", state.as_str())]
    NotUsable {
        /// The approval.
        id: String,
        /// What it is.
        state: ApprovalState,
    },
    /// The store could not be used.
    #[error(transparent)]
    Store(StoreError),
}

impl ApprovalError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "NOT_FOUND",
            Self::Decided { .. } => "ALREADY_SETTLED",
            Self::Expired { .. } | Self::Stale { .. } => "APPROVAL_STALE",
            Self::NotUsable { state, .. } => match state {
                ApprovalState::Waiting => "APPROVAL_REQUIRED",
                ApprovalState::Denied => "APPROVAL_DENIED",
                ApprovalState::Void | ApprovalState::Expired => "APPROVAL_STALE",
                _ => "ALREADY_SETTLED",
            },
            Self::Store(error) => error.code(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "`redline approvals` lists those that there are",
            Self::Decided { .. } => "nothing needs to be done; a new call asks anew",
            Self::Expired { .. } | Self::Stale { .. } => {
                "the call has to be made again, and is then shown as it is now"
            }
            Self::NotUsable { .. } => "make the call again: it asks for an approval of its own",
            Self::Store(error) => error.hint(),
        }
    }
}

fn said(voice: Voice) -> &'static str {
    match voice {
        Voice::Yes => "approved",
        Voice::No => "denied",
    }
}

fn told(changed: &[String]) -> String {
    match changed {
        [] => "the operation is no longer the one that was shown".to_owned(),
        [one] => format!("{one} changed since it was shown"),
        several => format!("{} changed since they were shown", several.join(", ")),
    }
}
