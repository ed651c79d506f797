//! Turns: a model at work in this workspace.
//!
//! Owns: sessions and their running turns, what their clients are told, and what the next step is told
//! of the user's decisions.
//! Must not know: how a model is asked; `redline_agent` runs the loop, on the runtime's threads.
//!
//! The turn's own tasks reach the hub only by [`TurnNote`]s; the hub never waits for them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use redline_agent::{
    Agent, Decision, Document, Ground, History, PendingHunk, PromptContext, Selection, Session,
    SessionStore, Steering, StepContext, StepModel, TurnEnd, TurnEvent, TurnEventKind, TurnInput,
    Verdict, excerpt,
};
use redline_edits::{HunkId, HunkState};
use redline_protocol::v1;
use redline_tools::gate::ClosedGate;
use redline_tools::{Proposed, ToolError, ViewProposal};
use redline_workspace::{SessionError, Transaction};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tower_lsp::ls_types::{MessageType, ProgressToken};

use super::event::{ClientId, Event, HubHandle, Reply};
use super::updates::Narrator;
use super::view::{Overlaid, Overlay, SessionView};
use super::{Hub, respond, updates};
use crate::env::Env;
use crate::failure::Failure;
use crate::hubs::Model;
use crate::lsp::outbox::{Message, Progress};

/// What the product's own agent is told about itself.
const INSTRUCTION: &str = "You are Redline's coding agent. You change files only by proposing edits, \
    which the user reviews hunk by hunk.";

/// The id of the product's own agent, for its private store.
const AGENT: &str = "redline";

/// Bytes of the open document that a prompt carries.
const EXCERPT_BYTES: usize = 6000;

/// What a turn tells the hub, or asks of it.
pub(crate) enum TurnNote {
    /// The overlay of a session's view, for a tool.
    Overlay {
        session: String,
        reply: SyncSender<Overlay>,
    },
    /// An edit call's operations.
    Propose {
        session: String,
        proposal: Box<ViewProposal>,
        reply: SyncSender<Result<Proposed, ToolError>>,
    },
    /// What the next step is to be told.
    Step {
        session: String,
        reply: oneshot::Sender<StepContext>,
    },
    /// Events, in order.
    Said {
        session: String,
        events: Vec<TurnEvent>,
    },
}

/// The sessions of a hub.
pub(crate) struct Turns {
    sessions: BTreeMap<String, Conversation>,
    /// Turns under way in this process.
    active: Arc<AtomicUsize>,
}

/// One session, and what the hub keeps for it.
struct Conversation {
    /// Who began it; a turn goes on without them.
    client: ClientId,
    session: Arc<Session>,
    model: Model,
    /// Transactions of this session, oldest first.
    transactions: Vec<String>,
    running: Option<Running>,
    decisions: Vec<Decision>,
}

struct Running {
    turn_id: String,
    cancel: CancellationToken,
    token: ProgressToken,
    narrator: Narrator,
    /// The transaction that this turn grows, once there is one.
    transaction: Option<String>,
}

impl Turns {
    pub(crate) fn new(active: Arc<AtomicUsize>) -> Self {
        Self {
            sessions: BTreeMap::new(),
            active,
        }
    }

    /// The session that a transaction belongs to.
    fn of_transaction(&mut self, id: &str) -> Option<&mut Conversation> {
        self.sessions
            .values_mut()
            .find(|conversation| conversation.transactions.iter().any(|own| own == id))
    }
}

/// Asks the hub for the user's decisions before each step.
struct HubSteering {
    hub: HubHandle,
    session: String,
}

impl Steering for HubSteering {
    fn before_step(&self) -> BoxFuture<'_, StepContext> {
        let (reply, answer) = oneshot::channel();
        self.hub.send(Event::Turn(TurnNote::Step {
            session: self.session.clone(),
            reply,
        }));
        async move { answer.await.unwrap_or_default() }.boxed()
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

    fn begin_session(
        &mut self,
        client: ClientId,
        params: v1::NewSessionParams,
    ) -> Result<String, Failure> {
        let env = match params.env {
            Some(named) => Arc::new(Env::from(named)),
            None => self.env_of(client),
        };
        let model = self.process.models.open(params.model.as_deref(), &env)?;
        let agent = Agent::new(AGENT, INSTRUCTION, Vec::new())
            .map_err(|error| Failure::internal(error.to_string()))?;
        let id = self.new_id("se_");
        let view = SessionView::new(
            self.handle.clone(),
            self.workspace.root().clone(),
            id.clone(),
        );
        let steering = HubSteering {
            hub: self.handle.clone(),
            session: id.clone(),
        };
        let about = format!("The project's folder is {}.", self.root.display());
        let model_id = format!("{}/{}", model.provider.name(), model.name);
        let recorder = self
            .session_store()
            .create(&id, &model_id, "manual")
            .map_err(session_failure)?;
        let ground = Ground {
            view: Arc::new(view),
            gate: Arc::new(ClosedGate),
            steering: Arc::new(steering),
            log: Arc::new(recorder),
        };
        let session = agent.session(id.clone(), &about, ground, History::default());
        self.turns.sessions.insert(
            id.clone(),
            Conversation {
                client,
                session: Arc::new(session),
                model,
                transactions: Vec::new(),
                running: None,
                decisions: Vec::new(),
            },
        );
        Ok(id)
    }

    pub(super) fn prompt(
        &mut self,
        client: ClientId,
        params: v1::PromptParams,
        reply: Reply<v1::PromptResult>,
    ) {
        let started = self.start_turn(client, params);
        respond(reply, started);
    }

    fn start_turn(
        &mut self,
        client: ClientId,
        params: v1::PromptParams,
    ) -> Result<v1::PromptResult, Failure> {
        let (text, linked) = prompt_text(&params);
        if text.trim().is_empty() {
            return Err(Failure::new(
                "INVALID_ARGUMENTS",
                "the prompt is empty",
                "say what you want to be changed",
            ));
        }
        let session_id = match &params.session_id {
            Some(id) => id.clone(),
            None => match self.current_session(client) {
                Some(id) => id,
                None => self.begin_session(client, v1::NewSessionParams::default())?,
            },
        };
        let place = params.context.or(linked);
        let context = self.prompt_context(client, place.as_ref());
        let turn_id = self.new_id("turn_");
        let hub = self.handle.clone();
        let active = Arc::clone(&self.turns.active);
        let conversation = self.turns.sessions.get_mut(&session_id).ok_or_else(|| {
            Failure::new(
                "NOT_FOUND",
                format!("there is no session {session_id}"),
                "leave it out to begin one",
            )
        })?;
        if conversation.running.is_some() {
            return Err(Failure::new(
                "INVALID_ARGUMENTS",
                "a turn of this session is running",
                "wait for its end, or cancel it",
            ));
        }
        let cancel = CancellationToken::new();
        let mut input = TurnInput::new(
            turn_id.clone(),
            text,
            StepModel {
                provider: Arc::clone(&conversation.model.provider),
                name: conversation.model.name.clone(),
            },
        );
        input.context = context;
        let token = ProgressToken::String(format!("redline/{turn_id}"));
        conversation.client = client;
        conversation.running = Some(Running {
            turn_id: turn_id.clone(),
            cancel: cancel.clone(),
            token: token.clone(),
            narrator: Narrator::new(turn_id.clone()),
            transaction: None,
        });
        active.fetch_add(1, Ordering::SeqCst);
        let session = Arc::clone(&conversation.session);
        let of = session_id.clone();
        let sink = Arc::new(move |events: Vec<TurnEvent>| {
            let session = of.clone();
            hub.send(Event::Turn(TurnNote::Said { session, events }));
        });
        self.runtime.spawn(async move {
            if let Err(busy) = session.run_turn(input, sink, cancel).await {
                tracing::error!(%busy, "a turn could not start");
            }
            active.fetch_sub(1, Ordering::SeqCst);
        });
        self.tell(
            client,
            Message::Progress {
                token,
                step: Progress::Begin {
                    title: "Redline".to_owned(),
                },
            },
        );
        Ok(v1::PromptResult {
            session_id,
            turn_id,
            message: None,
        })
    }

    /// The kept sessions of this workspace.
    fn session_store(&self) -> SessionStore {
        let sessions = self
            .process
            .private
            .sessions(AGENT, &self.workspace.root().id());
        SessionStore::new(sessions, Arc::new(crate::clock::now_ms))
    }

    fn current_session(&self, client: ClientId) -> Option<String> {
        self.turns
            .sessions
            .iter()
            .rev()
            .find(|(_, conversation)| conversation.client == client)
            .map(|(id, _)| id.clone())
    }

    pub(super) fn cancel(&mut self, client: ClientId, params: &v1::CancelParams, reply: Reply<()>) {
        let wanted = |id: &str, conversation: &Conversation| match &params.session_id {
            Some(session) => session == id,
            None => conversation.client == client,
        };
        for (id, conversation) in &self.turns.sessions {
            if let Some(running) = &conversation.running
                && wanted(id, conversation)
            {
                running.cancel.cancel();
            }
        }
        respond(reply, Ok(()));
    }

    fn prompt_context(&self, client: ClientId, place: Option<&v1::PromptContext>) -> PromptContext {
        let mut context = PromptContext {
            open_paths: self.documents.paths().map(str::to_owned).collect(),
            ..PromptContext::default()
        };
        let Some(place) = place else { return context };
        let Some(path) = self.path_of(&place.uri) else {
            return context;
        };
        let Some(copy) = self.documents.leading(&path, Some(client)) else {
            return context;
        };
        context.open_paths.retain(|open| *open != path);
        let text = copy.rope.to_string();
        let line = place.range.map_or(0, |range| range.start.line as usize);
        let (start_line, shown, total_lines) = excerpt(&text, line + 1, EXCERPT_BYTES);
        context.document = Some(Document {
            path: path.clone(),
            cursor_line: line + 1,
            start_line,
            total_lines,
            text: shown,
        });
        if let Some(range) = place.range
            && range.start != range.end
        {
            let byte = |at: v1::Position| {
                let at = redline_edits::LineCol {
                    line: at.line,
                    character: at.character,
                };
                redline_edits::to_byte(&copy.rope, at, copy.encoding)
            };
            let (start, end) = (byte(range.start), byte(range.end));
            let ends_before = range.end.character == 0 && range.end.line > range.start.line;
            context.selection = Some(Selection {
                path,
                start_line: line + 1,
                end_line: range.end.line as usize + usize::from(!ends_before),
                text: text
                    .get(start..end.max(start))
                    .unwrap_or_default()
                    .to_owned(),
            });
        }
        context
    }

    pub(super) fn turn_note(&mut self, note: TurnNote) {
        match note {
            // A tool that was cancelled has stopped listening; its answers are dropped.
            TurnNote::Overlay { session, reply } => {
                let _ = reply.send(self.overlay(Some(&session)));
            }
            TurnNote::Propose {
                session,
                proposal,
                reply,
            } => self.propose_in_turn(&session, *proposal, reply),
            TurnNote::Step { session, reply } => {
                let _ = reply.send(self.step_context(&session));
            }
            TurnNote::Said { session, events } => self.said(&session, &events),
        }
    }

    /// What lies over the disk: open documents, and the pending edits of a session.
    pub(super) fn overlay(&self, session: Option<&str>) -> Overlay {
        let conversation = session.and_then(|id| self.turns.sessions.get(id));
        let client = conversation.map(|conversation| conversation.client);
        let mut overlay = Overlay::new();
        for path in self.documents.paths() {
            if let Some(copy) = self.documents.leading(path, client) {
                overlay.insert(
                    path.to_owned(),
                    Overlaid {
                        text: copy.rope.clone(),
                        version: Some(copy.version),
                        sets: Vec::new(),
                        gone: false,
                    },
                );
            }
        }
        let own = conversation.map_or(&[][..], |conversation| &conversation.transactions);
        for transaction in own.iter().filter_map(|id| self.transactions.get(id)) {
            self.overlay_transaction(transaction, client, &mut overlay);
        }
        overlay
    }

    fn overlay_transaction(
        &self,
        transaction: &Transaction,
        client: Option<ClientId>,
        overlay: &mut Overlay,
    ) {
        for file in transaction.files().filter(|file| !file.is_settled()) {
            let open = self.documents.leading(&file.path, client);
            let (text, set) =
                match open.and_then(|copy| Some((&copy.rope, copy.sets.get(transaction.id())?))) {
                    Some((text, set)) => (text.clone(), set.clone()),
                    None => (file.text.clone(), file.hunks.clone()),
                };
            let version = open.map(|copy| copy.version);
            let path = match file.new_path() {
                Some(to) => {
                    overlay.insert(file.path.clone(), gone(&text));
                    to.to_owned()
                }
                None => file.path.clone(),
            };
            if file.operation == redline_edits::OperationKind::Delete && !file.is_settled() {
                overlay.insert(path, gone(&text));
                continue;
            }
            let entry = overlay.entry(path).or_insert_with(|| Overlaid {
                text,
                version,
                sets: Vec::new(),
                gone: false,
            });
            entry.sets.push(set);
        }
    }

    fn step_context(&mut self, session: &str) -> StepContext {
        let Some(conversation) = self.turns.sessions.get_mut(session) else {
            return StepContext::default();
        };
        let decisions = std::mem::take(&mut conversation.decisions);
        let own = conversation.transactions.clone();
        let mut pending = Vec::new();
        for transaction in own.iter().filter_map(|id| self.transactions.get(id)) {
            for file in transaction.files() {
                for hunk in file
                    .hunks
                    .iter()
                    .filter(|hunk| hunk.state == HunkState::Pending)
                {
                    pending.push(PendingHunk {
                        path: file.path.clone(),
                        line: file.start_line(&hunk.id).unwrap_or(1),
                        removed: hunk.removed.lines().count(),
                        added: hunk.replacement.lines().count(),
                        rationale: hunk.rationales().first().map(|&reason| reason.to_owned()),
                    });
                }
            }
        }
        StepContext {
            decisions,
            pending,
            ..StepContext::default()
        }
    }

    /// Keeps what was decided on a turn's hunk for the turn's next step.
    pub(super) fn steer(
        &mut self,
        transaction: &str,
        path: &str,
        hunk: &HunkId,
        verdict: Verdict,
        reason: Option<&str>,
    ) {
        // Most come from outside, and then nobody is to be told.
        let Some(conversation) = self.turns.of_transaction(transaction) else {
            return;
        };
        let Some(file) = self
            .transactions
            .get(transaction)
            .and_then(|found| found.file(path))
        else {
            return;
        };
        let Some(found) = file.hunks.get(hunk) else {
            return;
        };
        let decision = Decision {
            path: path.to_owned(),
            line: file.start_line(hunk).unwrap_or(1),
            verdict,
            reason: reason.map(str::to_owned),
            rationale: found.rationales().first().map(|&reason| reason.to_owned()),
            removed: found.removed.clone(),
            added: found.agent_text().to_owned(),
            amended: found.amended.as_ref().map(|_| found.replacement.clone()),
        };
        conversation.decisions.push(decision);
    }

    /// The running turn of a session and the transaction that it grows.
    pub(super) fn turn_of(&self, session: &str) -> Option<(String, Option<String>)> {
        let running = self.turns.sessions.get(session)?.running.as_ref()?;
        Some((running.turn_id.clone(), running.transaction.clone()))
    }

    /// The transactions of a session, oldest first.
    pub(super) fn transactions_of(&self, session: &str) -> Vec<String> {
        self.turns
            .sessions
            .get(session)
            .map(|conversation| conversation.transactions.clone())
            .unwrap_or_default()
    }

    /// Remembers the transaction that a session's running turn grows.
    pub(super) fn turn_transaction(&mut self, session: &str, id: &str) {
        let Some(conversation) = self.turns.sessions.get_mut(session) else {
            return;
        };
        if !conversation.transactions.iter().any(|own| own == id) {
            conversation.transactions.push(id.to_owned());
        }
        if let Some(running) = &mut conversation.running {
            running.transaction = Some(id.to_owned());
        }
    }

    fn said(&mut self, session: &str, events: &[TurnEvent]) {
        let Some(conversation) = self.turns.sessions.get_mut(session) else {
            return;
        };
        let client = conversation.client;
        let Some(running) = &mut conversation.running else {
            return;
        };
        let (turn_id, token) = (running.turn_id.clone(), running.token.clone());
        let transaction = running.transaction.clone();
        let mut shown: Vec<v1::SessionUpdate> = Vec::new();
        let mut ended = None;
        let mut running_calls = Vec::new();
        for event in events {
            if let TurnEventKind::ToolRunning { title, .. } = &event.kind {
                running_calls.push(title.clone());
            }
            if let TurnEventKind::Ended { end } = &event.kind {
                ended = Some(end.clone());
                if let Some(id) = &transaction {
                    shown.push(v1::SessionUpdate::Transaction {
                        transaction_id: id.clone(),
                    });
                }
            }
            updates::join(&mut shown, running.narrator.tell(event));
        }
        for message in running_calls {
            let step = Progress::Report { message };
            self.tell(
                client,
                Message::Progress {
                    token: token.clone(),
                    step,
                },
            );
        }
        if self
            .clients
            .get(&client)
            .is_some_and(|each| each.profile.session)
            && !shown.is_empty()
        {
            self.tell(
                client,
                Message::Session(v1::SessionUpdateNotification {
                    session_id: session.to_owned(),
                    turn_id: Some(turn_id),
                    updates: shown,
                }),
            );
        }
        if let Some(end) = ended {
            self.turn_ended(session, client, token, transaction.as_deref(), &end);
        }
    }

    fn turn_ended(
        &mut self,
        session: &str,
        client: ClientId,
        token: ProgressToken,
        transaction: Option<&str>,
        end: &TurnEnd,
    ) {
        if let Some(conversation) = self.turns.sessions.get_mut(session) {
            conversation.running = None;
        }
        let pending = transaction
            .and_then(|id| self.transactions.get(id))
            .map(|transaction| transaction.totals().pending);
        let (level, text) = match (end, pending) {
            (TurnEnd::Completed, Some(n)) if n > 0 => (
                MessageType::INFO,
                match n {
                    1 => "1 change waits for you".to_owned(),
                    n => format!("{n} changes wait for you"),
                },
            ),
            (TurnEnd::Completed, _) => (MessageType::INFO, "done, nothing to review".to_owned()),
            (TurnEnd::Cancelled, _) => (MessageType::INFO, "stopped".to_owned()),
            (TurnEnd::Budget { .. }, _) => (
                MessageType::WARNING,
                "stopped: the turn's budget is used up".to_owned(),
            ),
            (TurnEnd::Interrupted, _) => (MessageType::WARNING, "interrupted".to_owned()),
            (TurnEnd::Failed { error }, _) => (MessageType::ERROR, error.message.clone()),
        };
        self.tell(
            client,
            Message::Progress {
                token,
                step: Progress::End {
                    message: text.clone(),
                },
            },
        );
        let draws = self
            .clients
            .get(&client)
            .is_some_and(|each| each.profile.session);
        if !draws {
            self.tell(
                client,
                Message::Show {
                    level,
                    text: format!("Redline: {text}"),
                },
            );
        }
    }

    /// Sends a message to a client, if it is there and takes such messages.
    pub(super) fn tell(&self, client: ClientId, message: Message) {
        let Some(client) = self.clients.get(&client) else {
            return;
        };
        if matches!(message, Message::Progress { .. }) && !client.profile.progress {
            return;
        }
        client.outbox.push(message);
    }
}

/// The text of a prompt, and the first document that its blocks link.
fn prompt_text(params: &v1::PromptParams) -> (String, Option<v1::PromptContext>) {
    let mut texts = Vec::new();
    let mut linked = None;
    for block in &params.prompt {
        match block {
            v1::ContentBlock::Text { text } => texts.push(text.as_str()),
            v1::ContentBlock::ResourceLink { uri, .. } => {
                linked.get_or_insert_with(|| v1::PromptContext {
                    uri: uri.clone(),
                    range: None,
                });
            }
        }
    }
    texts.push(&params.text);
    texts.retain(|text| !text.trim().is_empty());
    (texts.join("\n\n"), linked)
}

fn gone(text: &ropey::Rope) -> Overlaid {
    Overlaid {
        text: text.clone(),
        version: None,
        sets: Vec::new(),
        gone: true,
    }
}

fn session_failure(error: SessionError) -> Failure {
    Failure::new(error.code(), error.to_string(), error.hint())
}
