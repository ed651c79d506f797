//! One plan, and why it could not be decided or changed.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::approvals::{Decided, Voice};
use crate::store::StoreError;

/// What is proposed.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPlan {
    /// `plan_…`, new.
    pub id: String,
    /// Id of the session.
    pub session: String,
    /// Id of the turn.
    pub turn: String,
    /// One line.
    pub title: String,
    /// What is to be done, in order.
    pub steps: Vec<String>,
    /// The agent's own words on it, in Markdown; may be empty.
    pub body: String,
    /// What it would let through.
    pub scope: PlanScope,
}

/// What a plan lets through, and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanScope {
    /// Kinds of mutation: `transaction`, `command`, …
    pub kinds: Vec<String>,
    /// Globs of paths, from the workspace's root.
    #[serde(default)]
    pub paths: Vec<String>,
    /// First tokens of command lines.
    #[serde(default)]
    pub commands: Vec<Vec<String>>,
    /// Hosts.
    #[serde(default)]
    pub hosts: Vec<String>,
}

/// A plan as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// `plan_…`.
    pub id: String,
    /// What became of it.
    pub state: PlanState,
    /// Counts its changes: a decision names the one that was read.
    pub revision: u64,
    /// Id of the session.
    pub session: String,
    /// Id of the turn that proposed it.
    pub turn: String,
    /// One line.
    pub title: String,
    /// What is to be done, in order.
    pub steps: Vec<PlanStep>,
    /// The agent's own words.
    pub body: String,
    /// What it lets through once it is approved.
    pub scope: PlanScope,
    /// When it was proposed.
    pub proposed_at_ms: u64,
    /// When it last changed.
    pub changed_at_ms: u64,
    /// The decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// One line.
    pub text: String,
    /// It is done, says the agent.
    pub done: bool,
}

/// What becomes of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    /// It waits for the user.
    Proposed,
    /// It lets its scope through.
    Approved,
    /// The user said no.
    Rejected,
    /// Its work is done.
    Completed,
    /// Another one took its place.
    Superseded,
}

/// A plan whose record is not the one that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDamage {
    /// The plan.
    pub id: String,
    /// Where its folder is now.
    pub aside: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Why a plan could not be decided or changed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There is none of that id.
    #[error("there is no plan {id}")]
    Unknown {
        /// The id as given.
        id: String,
    },
    /// Somebody was faster.
    #[error("{id} was {} by {} before, and is {} now", match decided.voice { Voice::Yes => "approved", Voice::No => "rejected" }, decided.by, state.as_str())]
    Decided {
        /// The plan.
        id: String,
        /// Who, what and when.
        decided: Decided,
        /// What it is now.
        state: PlanState,
    },
    /// It has changed since it was read.
    #[error("{id} has changed since it was shown")]
    Stale {
        /// The plan.
        id: String,
    },
    /// It is in no state for that.
    #[error("{id} is {}", state.as_str())]
    NotOpen {
        /// The plan.
        id: String,
        /// What it is.
        state: PlanState,
    },
    /// It has no such step.
    #[error("{id} has {count} steps; there is no step {number}")]
    NoStep {
        /// The plan.
        id: String,
        /// The number as given.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// Its record is damaged or forged.
    #[error("{id} cannot be used: {reason}")]
    Damaged {
        /// The plan.
        id: String,
        /// What is wrong.
        reason: String,
    },
    /// The store could not be used.
    #[error(transparent)]
    Store(StoreError),
}

impl PlanError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "NOT_FOUND",
            Self::Decided { .. } | Self::NotOpen { .. } => "ALREADY_SETTLED",
            Self::Stale { .. } => "APPROVAL_STALE",
            Self::NoStep { .. } => "OUT_OF_RANGE",
            Self::Damaged { .. } => "STORE_CORRUPT",
            Self::Store(error) => error.code(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "list the plans to see their ids",
            Self::Decided { .. } => {
                "nothing needs to be done; further work needs a plan of its own"
            }
            Self::NotOpen { .. } => {
                "only a proposed plan is decided, and only an approved one completed"
            }
            Self::Stale { .. } => "read it again, and decide on it as it is now",
            Self::NoStep { .. } => "steps are counted from 1",
            Self::Damaged { .. } => "it is set aside; propose the plan again",
            Self::Store(error) => error.hint(),
        }
    }
}

impl NewPlan {
    pub(super) fn at(self, now_ms: u64) -> Plan {
        let step = |text| PlanStep { text, done: false };
        Plan {
            id: self.id,
            state: PlanState::Proposed,
            revision: 0,
            session: self.session,
            turn: self.turn,
            title: self.title,
            steps: self.steps.into_iter().map(step).collect(),
            body: self.body,
            scope: self.scope,
            proposed_at_ms: now_ms,
            changed_at_ms: now_ms,
            decided: None,
        }
    }
}

impl Plan {
    /// What the journal keeps of a change.
    pub(super) fn journaled(&self) -> Value {
        let mut record = json!({"id": self.id, "state": self.state, "revision": self.revision});
        if let Some(decided) = &self.decided {
            record["decided"] = json!(decided);
        }
        if self.state == PlanState::Proposed {
            record["title"] = json!(self.title);
            record["scope"] = json!(self.scope);
        }
        record
    }
}

impl PlanState {
    /// Whether nothing more will become of it.
    pub fn is_settled(self) -> bool {
        !matches!(self, Self::Proposed | Self::Approved)
    }

    /// The word for it on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Completed => "completed",
            Self::Superseded => "superseded",
        }
    }
}
