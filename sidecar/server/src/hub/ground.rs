//! What a session's tools stand on: its mode, its env and the user's policy, as its present step has them.
//!
//! Owns: the values that tools and the gate read from worker threads while the hub goes on. The hub sets them
//! between steps, so nothing changes in the middle of one.
//! Must not know: how the hub decides.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use redline_tools::CommandHost;
use redline_tools::gate::{GateHost, Mode, Policy};
use redline_workspace::{Approvals, EnvSnapshot, Jobs};

use super::event::{Event, HubHandle};
use super::turns::TurnNote;

/// What a step runs with.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepFacts {
    pub(crate) mode: Mode,
    pub(crate) env: Arc<EnvSnapshot>,
    pub(crate) policy: Arc<Policy>,
    /// The prompt of the turn, in one line.
    pub(crate) title: Option<String>,
}

/// The side of a session that worker threads ask.
pub(crate) struct SessionHost {
    pub(crate) hub: HubHandle,
    pub(crate) workspace_id: String,
    pub(crate) approvals: Approvals,
    pub(crate) jobs: Jobs,
    pub(crate) digest_key: [u8; 32],
    /// Keys of providers, by the names of their variables.
    pub(crate) secrets: BTreeMap<String, String>,
    facts: Mutex<StepFacts>,
}

impl SessionHost {
    pub(crate) fn new(parts: HostParts) -> Self {
        Self {
            hub: parts.hub,
            workspace_id: parts.workspace_id,
            approvals: parts.approvals,
            jobs: parts.jobs,
            digest_key: parts.digest_key,
            secrets: parts.secrets,
            facts: Mutex::default(),
        }
    }

    fn facts(&self) -> MutexGuard<'_, StepFacts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the next step runs with.
    pub(crate) fn begin_step(&self, facts: StepFacts) {
        *self.facts() = facts;
    }
}

/// What the sessions of one hub share.
pub(crate) struct HostParts {
    pub(crate) hub: HubHandle,
    pub(crate) workspace_id: String,
    pub(crate) approvals: Approvals,
    pub(crate) jobs: Jobs,
    pub(crate) digest_key: [u8; 32],
    pub(crate) secrets: BTreeMap<String, String>,
}

impl GateHost for SessionHost {
    fn mode(&self) -> Mode {
        self.facts().mode
    }

    fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.facts().policy)
    }

    fn changed(&self, approval: &str) {
        match self.approvals.get(approval) {
            Ok(approval) => {
                self.hub.send(Event::Turn(TurnNote::Approval(approval)));
            }
            Err(error) => tracing::warn!(%error, "a changed approval could not be read"),
        }
    }
}

impl CommandHost for SessionHost {
    fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    fn workspace_id(&self) -> &str {
        &self.workspace_id
    }

    fn env(&self) -> Arc<EnvSnapshot> {
        Arc::clone(&self.facts().env)
    }

    fn digest_key(&self) -> [u8; 32] {
        self.digest_key
    }

    fn secrets(&self) -> Vec<(String, String)> {
        let secrets = self.secrets.iter();
        secrets
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    fn turn_title(&self) -> Option<String> {
        self.facts().title.clone()
    }

    fn unsaved(&self) -> Vec<String> {
        let (reply, unsaved) = mpsc::sync_channel(1);
        self.hub.send(Event::Turn(TurnNote::Unsaved { reply }));
        // A hub that is gone holds no documents.
        unsaved.recv().unwrap_or_default()
    }
}
