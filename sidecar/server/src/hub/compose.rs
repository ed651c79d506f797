//! A session, composed: the agent, its tools, and what they stand on in this workspace.
//!
//! Owns: what a conversation is made of. Must not know: who takes part in one, or how a turn runs.

use std::collections::BTreeSet;
use std::sync::Arc;

use redline_agent::{Agent, AgentError, Ground, History, Recorder, SessionStore};
use redline_tools::gate::{Mode, SessionGate};
use redline_tools::{SchemaError, Tool, WorkspaceCommand, WorkspaceNotes, WorkspacePlan};
use redline_workspace::SessionEnv;

use super::Hub;
use super::event::{ClientId, Event};
use super::ground::{HostParts, SessionHost};
use super::sessions::Conversation;
use super::steps::HubSteering;
use super::turns::TurnNote;
use super::view::SessionView;
use crate::env::Env;
use crate::failure::Failure;
use crate::hubs::Model;

/// What the product's own agent is told about itself.
const INSTRUCTION: &str = "You are Redline's coding agent. You change files only by proposing edits, \
    which the user reviews hunk by hunk.";

/// The id of the product's own agent, for its private store.
pub(super) const AGENT: &str = "redline";

/// What a session is composed of.
pub(super) struct Parts {
    pub(super) recorder: Recorder,
    pub(super) history: History,
    pub(super) model: Model,
    pub(super) mode: Mode,
    pub(super) env: SessionEnv,
    pub(super) keys: Arc<Env>,
}

impl Hub {
    /// Composes a session and holds it.
    pub(super) fn converse(&mut self, parts: Parts) -> Result<(), Failure> {
        let Parts {
            recorder,
            history,
            model,
            mode,
            env,
            keys,
        } = parts;
        let id = recorder.summary().id;
        let host = Arc::new(SessionHost::new(self.host_parts(&keys)));
        let gate = Arc::new(SessionGate::new(
            &self.workspace,
            Arc::new(crate::clock::NewIds),
            host.clone(),
        ));
        let agent = self
            .agent(&host)
            .map_err(|error| Failure::internal(error.to_string()))?;
        let recorder = Arc::new(recorder);
        let ground = Ground {
            view: Arc::new(SessionView::new(
                self.handle.clone(),
                self.workspace.root().clone(),
                id.clone(),
            )),
            gate: gate.clone(),
            steering: Arc::new(HubSteering::new(
                self.handle.clone(),
                id.clone(),
                host.clone(),
                gate,
                self.project_files.clone(),
                self.workspace.notes(),
            )),
            log: recorder.clone(),
        };
        let about = format!("The project's folder is {}.", self.root.display());
        let session = agent.session(id.clone(), &about, ground, history);
        let own = self.transactions.values();
        let own = own.filter(|transaction| transaction.meta().session_id == id);
        let transactions = own.map(|transaction| transaction.id().to_owned());
        let conversation = Conversation {
            members: BTreeSet::new(),
            client: ClientId(0),
            session: Arc::new(session),
            recorder,
            host,
            model,
            mode,
            env,
            keys,
            transactions: transactions.collect(),
            running: None,
            decisions: self.sessions.take_decisions(&id),
            shown: None,
            used: 0,
        };
        self.sessions.open.insert(id, conversation);
        Ok(())
    }

    /// The product's agent, with the tools that stand on this workspace.
    fn agent(&self, host: &Arc<SessionHost>) -> Result<Agent, AgentError> {
        let plans = self.workspace.plans().clone();
        let hub = self.handle.clone();
        let changed = move |id: &str| match plans.get(id) {
            Ok(plan) => {
                hub.send(Event::Turn(TurnNote::Plan(Box::new(plan))));
            }
            Err(error) => tracing::warn!(%error, "a changed plan could not be read"),
        };
        let tools = || -> Result<Vec<Arc<dyn Tool>>, SchemaError> {
            let plans = self.workspace.plans().clone();
            let ids = Arc::new(crate::clock::NewIds);
            Ok(vec![
                Arc::new(WorkspaceCommand::new(host.clone())?),
                Arc::new(WorkspacePlan::new(plans, ids, Arc::new(changed))?),
                Arc::new(WorkspaceNotes::new(self.workspace.notes())?),
            ])
        };
        Agent::new(AGENT, INSTRUCTION, tools()?)
    }

    /// The kept sessions of this workspace.
    pub(super) fn session_store(&self) -> SessionStore {
        let sessions = self
            .process
            .private
            .sessions(AGENT, &self.workspace.root().id());
        SessionStore::new(sessions, Arc::new(crate::clock::now_ms))
    }

    /// What the sessions of this hub share.
    fn host_parts(&self, keys: &Env) -> HostParts {
        HostParts {
            hub: self.handle.clone(),
            workspace_id: self.workspace.root().id(),
            approvals: self.workspace.approvals().clone(),
            jobs: self.kept_jobs.clone(),
            digest_key: self.digest_key,
            secrets: self.process.models.secrets(&self.config(), keys),
        }
    }
}
