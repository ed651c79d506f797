//! One approval: what was asked, what was shown, what was said, what became of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ApprovalError;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct NewApproval {
    /// `approval_…`, new.
    pub id: String,
    /// Hash of the operation.
    pub operation: String,
    /// Id of the session.
    pub session: String,
    /// Id of the turn.
    pub turn: String,
    /// Id of the call that waits.
    pub call_id: String,
    /// What the user is shown.
    pub shown: Shown,
    /// The exact call that is run once they said yes: `{"tool", "arguments"}`.
    pub resume: Value,
    /// How long the question, and the answer to it, hold from now on.
    pub lifetime_ms: u64,
}

/// What a person reads before they decide. It is kept as it was shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Name of the tool.
    pub tool: String,
    /// Kind of mutation.
    pub kind: String,
    /// How much it may lose.
    pub class: String,
    /// One line.
    pub summary: String,
    /// Program and arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// The file that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Folder that it runs in, from the root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// What it would write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Hosts that it would reach.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The files on the disk that it is about, with their revisions: see [`crate::named_files()`]. When one of them changes, what
    /// was shown is no longer what would run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Why the user is asked.
    pub why: String,
}

/// An approval as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// `approval_…`.
    pub id: String,
    /// What became of it; see [`Approval::state_at`] for what it is now.
    pub state: ApprovalState,
    /// Hash of the operation.
    pub operation: String,
    /// Id of the session.
    pub session: String,
    /// Id of the turn.
    pub turn: String,
    /// Id of the call that waits.
    pub call_id: String,
    /// What the user was shown.
    pub shown: Shown,
    /// The exact call that is run once they said yes.
    pub resume: Value,
    /// When it was asked for.
    pub asked_at_ms: u64,
    /// When it lapses.
    pub expires_at_ms: u64,
    /// The decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<Decided>,
    /// When its state last changed.
    pub changed_at_ms: u64,
    /// Why it is void.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What becomes of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    /// Nobody has decided.
    Waiting,
    /// Yes; it can be used once.
    Approved,
    /// No.
    Denied,
    /// It is being used, or was when its process died.
    Claimed,
    /// It was used.
    Spent,
    /// What it was for has changed.
    Void,
    /// Nobody waits for it any more.
    Withdrawn,
    /// Nobody decided, or used it, in time. Told, never stored.
    Expired,
}

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Yes or no.
    pub voice: Voice,
    /// Who, and from where, as they are told to others: `ann in nvim`.
    pub by: String,
    /// When.
    pub at_ms: u64,
    /// Why, in the user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// It may run, once.
    Yes,
    /// It may not, in this turn.
    No,
}

impl NewApproval {
    pub(super) fn at(self, now_ms: u64) -> Approval {
        Approval {
            id: self.id,
            state: ApprovalState::Waiting,
            operation: self.operation,
            session: self.session,
            turn: self.turn,
            call_id: self.call_id,
            shown: self.shown,
            resume: self.resume,
            asked_at_ms: now_ms,
            expires_at_ms: now_ms.saturating_add(self.lifetime_ms),
            decided: None,
            changed_at_ms: now_ms,
            note: None,
        }
    }
}

impl Approval {
    /// What it is at this moment.
    pub fn state_at(&self, now_ms: u64) -> ApprovalState {
        let lapses = matches!(self.state, ApprovalState::Waiting | ApprovalState::Approved);
        match lapses && now_ms >= self.expires_at_ms {
            true => ApprovalState::Expired,
            false => self.state,
        }
    }

    pub(super) fn must_wait(&self, now_ms: u64) -> Result<(), ApprovalError> {
        if let Some(decided) = &self.decided {
            return Err(ApprovalError::Decided {
                id: self.id.clone(),
                decided: decided.clone(),
                state: self.state_at(now_ms),
            });
        }
        match self.state_at(now_ms) {
            ApprovalState::Waiting => Ok(()),
            ApprovalState::Expired => Err(ApprovalError::Expired {
                id: self.id.clone(),
                at_ms: self.expires_at_ms,
            }),
            state => Err(ApprovalError::NotUsable {
                id: self.id.clone(),
                state,
            }),
        }
    }

    pub(super) fn settle(&mut self, state: ApprovalState, now_ms: u64) {
        self.state = state;
        self.changed_at_ms = now_ms;
    }

    pub(super) fn make_void(&mut self, now_ms: u64, changed: &[String]) {
        self.settle(ApprovalState::Void, now_ms);
        self.note = Some(match changed {
            [] => "the operation is another one now".to_owned(),
            changed => format!("changed: {}", changed.join(", ")),
        });
    }

    /// What the journal keeps of a change.
    pub(super) fn journaled(&self) -> Value {
        let mut record = json!({"id": self.id, "state": self.state, "operation": self.operation});
        match self.state {
            ApprovalState::Waiting => {
                record["turn"] = json!(self.turn);
                record["shown"] = json!(self.shown);
            }
            ApprovalState::Approved | ApprovalState::Denied => {
                record["decided"] = json!(self.decided)
            }
            ApprovalState::Void => record["note"] = json!(self.note),
            _ => {}
        }
        record
    }
}

impl ApprovalState {
    /// Whether nothing more will become of it.
    pub fn is_settled(self) -> bool {
        !matches!(self, Self::Waiting | Self::Approved | Self::Claimed)
    }

    /// The word for it on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Approved => "approved",
            Self::Denied => "denied",
            Self::Claimed => "claimed",
            Self::Spent => "spent",
            Self::Void => "void",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
        }
    }
}
