//! What a row did, as it was seen from outside.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Difference;
use super::play::Stage;
use super::world::Snapshot;
use crate::client::RpcError;
use crate::editor::Document;

/// When something showed; earlier is fine, later is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum When {
    Propose,
    Accept,
    Undo,
    Run,
}

impl When {
    pub(super) fn named(name: &str) -> Option<When> {
        match name {
            "propose" => Some(When::Propose),
            "accept" | "reject" => Some(When::Accept),
            "undo" | "redo" | "restore" => Some(When::Undo),
            "run" => Some(When::Run),
            _ => None,
        }
    }
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub when: When,
    /// Names that fit; one of them has to be the expected one.
    pub outcomes: Vec<&'static str>,
    /// Redline's code, when it was an error.
    pub code: String,
}

impl Event {
    pub(super) fn ok(when: When, outcomes: &[&'static str]) -> Event {
        Event {
            when,
            outcomes: outcomes.to_vec(),
            code: String::new(),
        }
    }

    pub(super) fn error(when: When, error: &RpcError) -> Event {
        Event::coded(when, error.kind())
    }

    pub(super) fn coded(when: When, code: &str) -> Event {
        let outcomes = match code {
            "CONFLICT" => vec!["conflict"],
            "APPROVAL_REQUIRED" => vec!["needs_confirmation", "error"],
            _ => vec!["error"],
        };
        Event {
            when,
            outcomes,
            code: code.to_owned(),
        }
    }

    pub(super) fn show(&self) -> String {
        let mut text = format!("{} at {:?}", self.outcomes.join(" or "), self.when);
        if !self.code.is_empty() {
            text.push_str(&format!(" ({})", self.code));
        }
        text
    }
}

/// The state right after a step of the action.
pub(super) struct State {
    pub after_action: usize,
    pub snapshot: Snapshot,
    pub documents: BTreeMap<String, Document>,
}

/// All of it.
pub(super) struct Observed {
    pub stage: Arc<Stage>,
    pub events: Vec<Event>,
    pub before: Snapshot,
    pub after: Snapshot,
    pub documents_before: BTreeMap<String, Document>,
    pub documents_after: BTreeMap<String, Document>,
    pub states: Vec<State>,
    pub flags: BTreeSet<String>,
    /// Everything that was said: errors, hints, conflicts, recovery.
    pub messages: String,
    pub wall: Duration,
    pub checkpoint: Duration,
    pub client_requests: BTreeMap<String, usize>,
    /// Params of every `workspace/applyEdit`.
    pub emitted: Vec<Value>,
    pub path: Option<String>,
    pub state_growth_bytes: u64,
    pub resident_growth_bytes: u64,
    pub preview_bytes: u64,
    /// What is wrong whatever the case expects: a mirror that differs, a file seen half written.
    pub always: Vec<Difference>,
    /// `.git` may be compared: no step of the action runs git.
    pub compare_git: bool,
}
