//! Sessions: made, opened, listed, forked, put away.
//!
//! Owns: the conversations that this hub holds, and who takes part in each.
//! Must not know: how a turn runs ([`super::turns`]), or how records are kept (`redline_agent`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use redline_agent::{Decision, History, Past, Recorder, Session, SessionStore};
use redline_protocol::v1::{self, SessionState};
use redline_tools::gate::Mode;
use redline_workspace::{SessionEnv, SessionError, SessionSummary};

use super::compose::Parts;
use super::event::{ClientId, Event, Reply};
use super::ground::SessionHost;
use super::present_agent::{mode_of, mode_word, wire_mode};
use super::turns::{Running, TurnNote};
use super::{Hub, respond};
use crate::env::Env;
use crate::failure::Failure;
use crate::hubs::Model;

/// Sessions whose decisions are kept until they are opened, and decisions of each.
const MOST_UNOPENED: usize = 64;
const MOST_DECISIONS: usize = 256;

/// Sessions in one page of a list, unless it is asked for otherwise.
const PAGE: usize = 100;

/// The sessions that this hub holds.
#[derive(Default)]
pub(crate) struct Sessions {
    pub(super) open: BTreeMap<String, Conversation>,
    /// What was decided on edits of sessions that nobody has opened here since the sidecar began: their next step is
    /// told it.
    unopened: BTreeMap<String, Vec<Decision>>,
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
    pub(super) used: u64,
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
    /// Keeps a decision for the next step of a session, opened or not.
    pub(super) fn decided(&mut self, session: &str, decision: Decision) {
        if let Some(conversation) = self.open.get_mut(session) {
            conversation.decisions.push(decision);
            return;
        }
        if !self.unopened.contains_key(session) && self.unopened.len() >= MOST_UNOPENED {
            return;
        }
        let decisions = self.unopened.entry(session.to_owned()).or_default();
        if decisions.len() < MOST_DECISIONS {
            decisions.push(decision);
        }
    }

    /// What was decided before a session was opened.
    pub(super) fn take_decisions(&mut self, session: &str) -> Vec<Decision> {
        self.unopened.remove(session).unwrap_or_default()
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
        let config = self.config();
        let model = (self.process.models).open(&config, params.model.as_deref(), &keys)?;
        let id = self.new_id("se_");
        let mode = params.mode.map_or_else(|| self.default_mode(), mode_of);
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
        let config = self.config();
        let models = &self.process.models;
        let model = match models.open(&config, Some(&summary.model), &keys) {
            Ok(model) => model,
            Err(_) => models.open(&config, None, &keys)?,
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

pub(super) fn info(
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
