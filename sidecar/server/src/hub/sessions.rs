//! Sessions: made, loaded, listed, forked, put away; their mode and their model.
//!
//! Owns: the conversations that this hub holds, and who takes part in each.
//! Must not know: how a turn runs ([`super::turns`]), or how records are kept (`redline_agent`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use redline_agent::{
    Agent, AgentError, Decision, Ground, History, Past, Recorder, Session, SessionStore, TurnEvent,
};
use redline_protocol::v1::{self, SessionState, SessionUpdate};
use redline_tools::gate::{Mode, SessionGate};
use redline_tools::{SchemaError, Tool, WorkspaceCommand, WorkspaceNotes, WorkspacePlan};
use redline_workspace::{SessionEnv, SessionError, SessionSummary};

use super::event::{ClientId, Event, Reply};
use super::ground::{HostParts, SessionHost};
use super::present_agent::{mode_of, mode_word, wire_mode};
use super::steps::HubSteering;
use super::turns::{Running, TurnNote};
use super::updates::{self, Narrator};
use super::view::SessionView;
use super::{Hub, respond};
use crate::env::Env;
use crate::failure::Failure;
use crate::hubs::Model;
use crate::lsp::outbox::Message;

/// What the product's own agent is told about itself.
const INSTRUCTION: &str = "You are Redline's coding agent. You change files only by proposing edits, \
    which the user reviews hunk by hunk.";

/// The id of the product's own agent, for its private store.
pub(super) const AGENT: &str = "redline";

/// The name under which the workspace's mode is kept.
pub(super) const MODE: &str = "mode";

/// Sessions in one page of a list, unless it is asked for otherwise.
const PAGE: usize = 100;

/// The sessions that this hub holds.
#[derive(Default)]
pub(crate) struct Sessions {
    pub(super) open: BTreeMap<String, Conversation>,
    /// Counts the uses of sessions, to know which was used last.
    uses: u64,
}

/// One session, and what the hub keeps for it.
pub(super) struct Conversation {
    /// Who takes part: made, loaded or prompted it. A turn goes on without them.
    pub(super) members: BTreeSet<ClientId>,
    /// Whose documents its tools read first, and who is asked.
    pub(super) client: ClientId,
    pub(super) session: Arc<Session>,
    pub(super) recorder: Arc<Recorder>,
    pub(super) host: Arc<SessionHost>,
    /// From the next step on.
    pub(super) model: Model,
    /// From the next step on.
    pub(super) mode: Mode,
    /// From the next step on.
    pub(super) env: SessionEnv,
    /// The environment that keys are read from.
    pub(super) keys: Arc<Env>,
    /// Transactions of this session, oldest first.
    pub(super) transactions: Vec<String>,
    pub(super) running: Option<Running>,
    pub(super) decisions: Vec<Decision>,
    /// The last event that members were told: the turn, and its number there.
    pub(super) shown: Option<(String, u64)>,
    used: u64,
}

/// What a session is composed of.
struct Parts {
    recorder: Recorder,
    history: History,
    model: Model,
    mode: Mode,
    env: SessionEnv,
    keys: Arc<Env>,
}

/// A session that was read from the disk, and what is to be done with it.
pub(crate) struct Opened {
    client: ClientId,
    outcome: Result<(Recorder, Past), SessionError>,
    then: Then,
}

/// What a session was opened for.
pub(crate) enum Then {
    Load(v1::LoadSessionParams, Reply<v1::LoadSessionResult>),
    Prompt(v1::PromptParams, Reply<v1::PromptResult>),
    Fork(Reply<v1::NewSessionResult>),
}

impl Then {
    fn refuse(self, failure: Failure) {
        match self {
            Self::Load(_, reply) => respond(reply, Err(failure)),
            Self::Prompt(_, reply) => respond(reply, Err(failure)),
            Self::Fork(reply) => respond(reply, Err(failure)),
        }
    }
}

impl Sessions {
    /// The session that a transaction belongs to.
    pub(super) fn of_transaction(&mut self, id: &str) -> Option<&mut Conversation> {
        self.open
            .values_mut()
            .find(|conversation| conversation.transactions.iter().any(|own| own == id))
    }

    /// The session that a client used last.
    pub(super) fn current(&self, client: ClientId) -> Option<&String> {
        let own =
            |(_, conversation): &(&String, &Conversation)| conversation.members.contains(&client);
        let last = self.open.iter().filter(own);
        last.max_by_key(|(_, conversation)| conversation.used)
            .map(|(id, _)| id)
    }

    /// Takes a client into a session, which it uses now.
    pub(super) fn join(&mut self, id: &str, client: ClientId) {
        self.uses += 1;
        if let Some(conversation) = self.open.get_mut(id) {
            conversation.members.insert(client);
            conversation.client = client;
            conversation.used = self.uses;
        }
    }

    /// A client is gone; turns go on without it.
    pub(super) fn leave(&mut self, client: ClientId) {
        for conversation in self.open.values_mut() {
            conversation.members.remove(&client);
        }
    }

    /// A client has come; it takes part in what runs and has lost its own, as after a restart of its editor.
    pub(super) fn adopt(&mut self, client: ClientId) {
        for conversation in self.open.values_mut() {
            if conversation.running.is_some() && conversation.members.is_empty() {
                conversation.members.insert(client);
                conversation.client = client;
            }
        }
    }
}

impl Hub {
    pub(super) fn new_session(
        &mut self,
        client: ClientId,
        params: v1::NewSessionParams,
        reply: Reply<v1::NewSessionResult>,
    ) {
        let made = self
            .begin_session(client, params)
            .map(|session_id| v1::NewSessionResult { session_id });
        respond(reply, made);
    }

    pub(super) fn begin_session(
        &mut self,
        client: ClientId,
        params: v1::NewSessionParams,
    ) -> Result<String, Failure> {
        let keys = match &params.env {
            Some(named) => Arc::new(Env::from(named.clone())),
            None => self.env_of(client),
        };
        let model = self.process.models.open(params.model.as_deref(), &keys)?;
        let id = self.new_id("se_");
        let mode = params.mode.map_or(self.default_mode, mode_of);
        let recorder = self
            .session_store()
            .create(&id, &model.id(), mode_word(mode))
            .map_err(session_failure)?;
        let env = self.session_env(client, params.env);
        self.converse(Parts {
            recorder,
            history: History::default(),
            model,
            mode,
            env,
            keys,
        })?;
        self.sessions.join(&id, client);
        Ok(id)
    }

    /// Composes a session and holds it.
    fn converse(&mut self, parts: Parts) -> Result<(), Failure> {
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
            decisions: Vec::new(),
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

    /// Reads sessions off the hub's thread, and answers.
    fn answer_from_store<T: Send + 'static>(
        &self,
        reply: Reply<T>,
        read: impl FnOnce(&SessionStore) -> Result<T, Failure> + Send + 'static,
    ) {
        let store = self.session_store();
        self.runtime
            .spawn_blocking(move || respond(reply, read(&store)));
    }

    pub(super) fn list_sessions(
        &self,
        params: v1::ListSessionsParams,
        reply: Reply<v1::ListSessionsResult>,
    ) {
        let cwd = self.root.display().to_string();
        let states = self.states();
        self.answer_from_store(reply, move |store| {
            let all = store.list(params.archived).map_err(session_failure)?;
            let limit = params
                .limit
                .map_or(PAGE, |limit| limit.clamp(1, 10_000) as usize);
            // Sessions are used while somebody turns the pages: the next one begins after what was shown.
            let begin = match &params.cursor {
                Some(last) => all
                    .iter()
                    .position(|each| each.id == *last)
                    .map_or(0, |at| at + 1),
                None => 0,
            };
            let page = all.get(begin..).unwrap_or_default();
            let shown = page.iter().take(limit);
            let next = (page.len() > limit).then(|| page[limit - 1].id.clone());
            let sessions = shown.map(|summary| {
                let state = states.get(&summary.id).copied().unwrap_or_default();
                info(summary, state, &cwd, params.archived)
            });
            Ok(v1::ListSessionsResult {
                sessions: sessions.collect(),
                next_cursor: next,
            })
        });
    }

    /// What the sessions that this hub holds do now.
    fn states(&self) -> BTreeMap<String, SessionState> {
        let open = self.sessions.open.iter();
        open.map(|(id, conversation)| (id.clone(), conversation.state()))
            .collect()
    }

    pub(super) fn load_session(
        &mut self,
        client: ClientId,
        params: v1::LoadSessionParams,
        reply: Reply<v1::LoadSessionResult>,
    ) {
        if !self.sessions.open.contains_key(&params.session_id) {
            let id = params.session_id.clone();
            return self.open_session(client, id, Then::Load(params, reply));
        }
        self.read_again(client, params, reply);
    }

    /// Reads a session that is open here, off the hub's thread.
    fn read_again(
        &self,
        client: ClientId,
        params: v1::LoadSessionParams,
        reply: Reply<v1::LoadSessionResult>,
    ) {
        let store = self.session_store();
        let hub = self.handle.clone();
        self.runtime.spawn_blocking(move || {
            let past = store.read(&params.session_id);
            hub.send(Event::Turn(TurnNote::Read(Box::new(Rejoined {
                client,
                params,
                past,
                reply,
            }))));
        });
    }

    /// Opens a session from the disk, off the hub's thread.
    pub(super) fn open_session(&self, client: ClientId, id: String, then: Then) {
        let store = self.session_store();
        let hub = self.handle.clone();
        self.runtime.spawn_blocking(move || {
            let outcome = store.open(&id);
            hub.send(Event::Turn(TurnNote::Opened(Box::new(Opened {
                client,
                outcome,
                then,
            }))));
        });
    }

    pub(super) fn fork_session(
        &self,
        client: ClientId,
        params: v1::ForkSessionParams,
        reply: Reply<v1::NewSessionResult>,
    ) {
        let store = self.session_store();
        let hub = self.handle.clone();
        let new_id = self.new_id("se_");
        self.runtime.spawn_blocking(move || {
            let outcome = store.fork(&params.session_id, params.turn_id.as_deref(), &new_id);
            hub.send(Event::Turn(TurnNote::Opened(Box::new(Opened {
                client,
                outcome,
                then: Then::Fork(reply),
            }))));
        });
    }

    /// Takes in a session that was opened, and goes on with what it was opened for.
    pub(super) fn opened(&mut self, opened: Opened) {
        let Opened {
            client,
            outcome,
            then,
        } = opened;
        let (recorder, past) = match outcome {
            Ok(opened) => opened,
            Err(error) => return then.refuse(session_failure(error)),
        };
        let id = past.summary.id.clone();
        // Two requests may have opened it at once; the lock let one through, and this is it.
        if let Err(failure) = self.take_up(client, recorder, &past) {
            return then.refuse(failure);
        }
        self.sessions.join(&id, client);
        match then {
            Then::Load(params, reply) => self.loaded(client, &params, &past, reply),
            Then::Prompt(params, reply) => self.prompt(client, params, reply),
            Then::Fork(reply) => respond(reply, Ok(v1::NewSessionResult { session_id: id })),
        }
    }

    fn take_up(
        &mut self,
        client: ClientId,
        recorder: Recorder,
        past: &Past,
    ) -> Result<(), Failure> {
        let summary = &past.summary;
        // The model that it had may be gone from the configuration; the conversation is not.
        let keys = self.env_of(client);
        let model = match self.process.models.open(Some(&summary.model), &keys) {
            Ok(model) => model,
            Err(_) => self.process.models.open(None, &keys)?,
        };
        let mode = summary.mode.parse().unwrap_or_default();
        let env = self.session_env(client, None);
        let history = past.history.clone();
        self.converse(Parts {
            recorder,
            history,
            model,
            mode,
            env,
            keys,
        })
    }

    fn loaded(
        &mut self,
        client: ClientId,
        params: &v1::LoadSessionParams,
        past: &Past,
        reply: Reply<v1::LoadSessionResult>,
    ) {
        if params.replay.unwrap_or(true) {
            self.replay(client, &params.session_id, past);
        }
        let cwd = self.root.display().to_string();
        let state = self.sessions.open.get(&params.session_id);
        let state = state.map_or(SessionState::Idle, Conversation::state);
        let session = info(&past.summary, state, &cwd, false);
        let repaired = past.repaired.clone();
        respond(reply, Ok(v1::LoadSessionResult { session, repaired }));
    }

    /// A client joins a session that is open here already.
    pub(super) fn rejoined(&mut self, rejoined: Rejoined) {
        let Rejoined {
            client,
            params,
            past,
            reply,
        } = rejoined;
        let mut past = match past {
            Ok(past) => past,
            // Never prompted, so never written: there is nothing to replay.
            Err(SessionError::NotFound { .. }) => self.unwritten(&params.session_id),
            Err(error) => return respond(reply, Err(session_failure(error))),
        };
        // What members were told is told again from the record, and the rest as it comes: nothing twice, nothing
        // left out. While it was read more may have been told, and then it is read once more.
        let open = self.sessions.open.get(&params.session_id);
        if let Some((turn, seq)) = open.and_then(|open| open.shown.clone()) {
            let is_last = |event: &TurnEvent| event.turn_id == turn && event.seq == seq;
            match past.events.iter().rposition(is_last) {
                Some(last) => past.events.truncate(last + 1),
                None => return self.read_again(client, params, reply),
            }
        }
        self.sessions.join(&params.session_id, client);
        self.loaded(client, &params, &past, reply);
    }

    fn unwritten(&self, id: &str) -> Past {
        let conversation = self.sessions.open.get(id);
        Past {
            summary: conversation
                .map(|conversation| conversation.recorder.summary())
                .unwrap_or_default(),
            events: Vec::new(),
            history: History::default(),
            repaired: None,
        }
    }

    /// Sends a client all that happened before, in the order in which it happened.
    fn replay(&self, client: ClientId, session_id: &str, past: &Past) {
        let takes = |client: &super::Client| client.profile.session;
        if !self.clients.get(&client).is_some_and(takes) {
            return;
        }
        let turns = past.events.chunk_by(|a, b| a.turn_id == b.turn_id);
        for turn in turns {
            let turn_id = turn[0].turn_id.clone();
            let mut narrator = Narrator::new(turn_id.clone());
            let mut told = Vec::new();
            for event in turn {
                updates::join(&mut told, narrator.tell(event));
            }
            self.tell_session(client, session_id, Some(turn_id), told);
        }
        let conversation = self.sessions.open.get(session_id);
        let mut now = vec![SessionUpdate::ReplayComplete {}];
        if let Some(conversation) = conversation {
            now.push(SessionUpdate::CurrentModeUpdate {
                current_mode_id: wire_mode(conversation.mode),
            });
            now.push(SessionUpdate::CurrentModelUpdate {
                current_model_id: conversation.model.id(),
            });
        }
        self.tell_session(client, session_id, None, now);
    }

    fn tell_session(
        &self,
        client: ClientId,
        session_id: &str,
        turn_id: Option<String>,
        updates: Vec<SessionUpdate>,
    ) {
        let session_id = session_id.to_owned();
        self.tell(
            client,
            Message::Session(v1::SessionUpdateNotification {
                session_id,
                turn_id,
                updates,
            }),
        );
    }

    /// Tells all who take part in a session, and draw it.
    pub(super) fn tell_members(
        &self,
        session_id: &str,
        turn_id: Option<&str>,
        updates: &[SessionUpdate],
    ) {
        let Some(conversation) = self.sessions.open.get(session_id) else {
            return;
        };
        for &member in &conversation.members {
            let draws = self.clients.get(&member);
            if draws.is_some_and(|client| client.profile.session) {
                let turn_id = turn_id.map(str::to_owned);
                self.tell_session(member, session_id, turn_id, updates.to_vec());
            }
        }
    }

    pub(super) fn archive_session(
        &mut self,
        params: v1::ArchiveSessionParams,
        reply: Reply<v1::SessionInfo>,
    ) {
        let archived = params.archived.unwrap_or(true);
        let open = self.sessions.open.get(&params.session_id);
        if open.is_some_and(|conversation| conversation.running.is_some()) {
            return respond(reply, Err(busy(&params.session_id)));
        }
        let recorder = open.map(|conversation| conversation.recorder.clone());
        let cwd = self.root.display().to_string();
        self.answer_from_store(reply, move |store| {
            let summary = store.archive(&params.session_id, archived);
            let summary = summary.map_err(session_failure)?;
            if let Some(recorder) = recorder {
                recorder.moved(archived);
            }
            Ok(info(&summary, SessionState::Idle, &cwd, archived))
        });
    }

    pub(super) fn set_mode(
        &mut self,
        client: ClientId,
        params: &v1::SetModeParams,
        reply: Reply<v1::SetModeResult>,
    ) {
        let mode = mode_of(params.mode_id);
        let changed = match &params.session_id {
            _ if self.may_answer(client).is_err() => self.may_answer(client),
            Some(id) if !self.sessions.open.contains_key(id) => Err(unknown_session(id)),
            Some(id) => {
                self.change_mode(&id.clone(), mode);
                Ok(())
            }
            None => {
                self.set_default_mode(mode);
                let all: Vec<String> = self.sessions.open.keys().cloned().collect();
                all.iter().for_each(|id| self.change_mode(id, mode));
                Ok(())
            }
        };
        let mode_id = params.mode_id;
        respond(reply, changed.map(|()| v1::SetModeResult { mode_id }));
    }

    /// The mode that new sessions begin with, also after a restart.
    fn set_default_mode(&mut self, mode: Mode) {
        self.default_mode = mode;
        let private = self.process.private.clone();
        let workspace = self.workspace.root().id();
        self.runtime.spawn_blocking(move || {
            if let Err(error) = private.choose(AGENT, &workspace, MODE, mode_word(mode)) {
                tracing::warn!(%error, "the mode was not kept");
            }
        });
    }

    /// What the sessions of this hub share.
    fn host_parts(&self, keys: &Env) -> HostParts {
        HostParts {
            hub: self.handle.clone(),
            workspace_id: self.workspace.root().id(),
            approvals: self.workspace.approvals().clone(),
            jobs: self.kept_jobs.clone(),
            digest_key: self.digest_key,
            secrets: self.process.models.secrets(keys),
        }
    }

    /// The mode of a session, from its next step on.
    pub(super) fn change_mode(&mut self, id: &str, mode: Mode) {
        let Some(conversation) = self.sessions.open.get_mut(id) else {
            return;
        };
        conversation.mode = mode;
        let recorder = conversation.recorder.clone();
        self.keep("mode", move || recorder.set_mode(mode_word(mode)));
        let current_mode_id = wire_mode(mode);
        let update = SessionUpdate::CurrentModeUpdate { current_mode_id };
        self.tell_members(id, None, &[update]);
    }

    pub(super) fn set_model(
        &mut self,
        client: ClientId,
        params: v1::SetModelParams,
        reply: Reply<v1::SetModelResult>,
    ) {
        let changed = self.change_model(client, params);
        respond(reply, changed);
    }

    fn change_model(
        &mut self,
        client: ClientId,
        params: v1::SetModelParams,
    ) -> Result<v1::SetModelResult, Failure> {
        let current = self.sessions.current(client).cloned();
        let id = params.session_id.or(current).ok_or_else(|| {
            Failure::new(
                "NOT_FOUND",
                "this client has no session yet",
                "begin one with a prompt, or name one",
            )
        })?;
        let conversation = self
            .sessions
            .open
            .get_mut(&id)
            .ok_or_else(|| unknown_session(&id))?;
        let open = self
            .process
            .models
            .open(Some(&params.model_id), &conversation.keys);
        let model = open?;
        let model_id = model.id();
        conversation.model = model;
        let recorder = conversation.recorder.clone();
        let kept = model_id.clone();
        self.keep("model", move || recorder.set_model(&kept));
        let current_model_id = model_id.clone();
        let update = SessionUpdate::CurrentModelUpdate { current_model_id };
        self.tell_members(&id, None, &[update]);
        Ok(v1::SetModelResult {
            session_id: id,
            model_id,
        })
    }

    /// Keeps something of a session, off the hub's thread; it is in force already.
    fn keep(
        &self,
        what: &'static str,
        write: impl FnOnce() -> Result<(), SessionError> + Send + 'static,
    ) {
        self.runtime.spawn_blocking(move || {
            if let Err(error) = write() {
                tracing::warn!(%error, what, "a session's change was not kept");
            }
        });
    }

    pub(super) fn list_models(&self, client: ClientId, reply: Reply<v1::ListModelsResult>) {
        let models = self.process.models.list(&self.env_of(client));
        self.runtime
            .spawn(async move { respond(reply, Ok(models.await)) });
    }

    pub(super) fn export_turn(
        &self,
        params: v1::ExportTurnParams,
        reply: Reply<v1::ExportTurnResult>,
    ) {
        self.answer_from_store(reply, move |store| {
            let content = store.export(&params.turn_id).map_err(session_failure)?;
            Ok(v1::ExportTurnResult { content })
        });
    }
}

/// A session that is open here, read again for a client that joins it.
pub(crate) struct Rejoined {
    client: ClientId,
    params: v1::LoadSessionParams,
    past: Result<Past, SessionError>,
    reply: Reply<v1::LoadSessionResult>,
}

impl Conversation {
    /// What it does now.
    pub(super) fn state(&self) -> SessionState {
        match &self.running {
            None => SessionState::Idle,
            Some(running) if running.narrator.waits() => SessionState::RequiresAction,
            Some(_) => SessionState::Running,
        }
    }
}

fn info(
    summary: &SessionSummary,
    state: SessionState,
    cwd: &str,
    archived: bool,
) -> v1::SessionInfo {
    v1::SessionInfo {
        session_id: summary.id.clone(),
        cwd: cwd.to_owned(),
        title: summary.title.clone(),
        model: summary.model.clone(),
        mode: wire_mode(summary.mode.parse().unwrap_or_default()),
        state,
        created_at: summary.created_at,
        updated_at: summary.updated_at,
        turns: summary.turns,
        archived,
    }
}

pub(super) fn session_failure(error: SessionError) -> Failure {
    Failure::new(error.code(), error.to_string(), error.hint())
}

pub(super) fn unknown_session(id: &str) -> Failure {
    session_failure(SessionError::NotFound { id: id.to_owned() })
}

pub(super) fn busy(id: &str) -> Failure {
    Failure::new(
        "BUSY",
        format!("a turn of {id} is running"),
        "wait for its end, or cancel it",
    )
}
