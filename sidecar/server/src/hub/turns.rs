//! Turns: a model at work in this workspace.
//!
//! Owns: starting and stopping turns, what their clients are told, and how they end.
//! Must not know: how a model is asked; `redline_agent` runs the loop, on the runtime's threads.
//!
//! The turn's own tasks reach the hub only by [`TurnNote`]s; the hub never waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;

use redline_agent::{AutoCommit, StepContext, TurnEnd, TurnEvent, TurnEventKind, TurnInput};
use redline_protocol::v1;
use redline_tools::{Proposed, ToolError, ViewProposal};
use redline_workspace::{Approval, Plan};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tower_lsp::ls_types::{MessageType, ProgressToken};

use super::auto_commit::CommitWanted;
use super::event::{ClientId, Event, Reply};
use super::jobs::Began;
use super::joining::Rejoined;
use super::sessions::{Opened, Then, busy};
use super::updates::{self, Narrator};
use super::view::Overlay;
use super::{Hub, respond};
use crate::failure::Failure;
use crate::lsp::outbox::{Message, Progress};
use crate::project::Reading;

/// What a turn, or a task beside it, tells the hub or asks of it.
pub(crate) enum TurnNote {
    /// The overlay of a session's view, for a tool.
    Overlay {
        session: String,
        reply: SyncSender<Overlay>,
    },
    /// Documents that editors hold unsaved, for a tool.
    Unsaved { reply: SyncSender<Vec<String>> },
    /// An edit call's operations.
    Propose {
        session: String,
        proposal: Box<ViewProposal>,
        reply: SyncSender<Result<Proposed, ToolError>>,
    },
    /// What the next step is to be told.
    Step {
        session: String,
        /// The project's own files, as they are at this step.
        reading: Option<Reading>,
        reply: oneshot::Sender<StepContext>,
    },
    /// Tell when this approval or plan no longer waits.
    Wait {
        id: String,
        reply: oneshot::Sender<()>,
    },
    /// What committing the turn's own edits would be.
    CommitWanted {
        session: String,
        reply: oneshot::Sender<Option<CommitWanted>>,
    },
    /// Commit the turn's own edits: the policy lets it.
    Commit {
        session: String,
        transaction_id: String,
        reply: oneshot::Sender<AutoCommit>,
    },
    /// An approval was asked for, used or changed.
    Approval(Arc<Approval>),
    /// A plan was proposed, decided or changed.
    Plan(Box<Plan>),
    /// Events, in order.
    Said {
        session: String,
        events: Vec<TurnEvent>,
    },
    /// A session was opened from the disk.
    Opened(Box<Opened>),
    /// A session that is open here was read again.
    Read(Box<Rejoined>),
    /// A job has started.
    JobBegan(Box<Began>),
    /// A job has said something.
    Job(String),
}

/// A turn that runs.
pub(super) struct Running {
    pub(super) turn_id: String,
    /// Its prompt, in one line.
    pub(super) title: String,
    pub(super) cancel: CancellationToken,
    token: ProgressToken,
    pub(super) narrator: Narrator,
    /// The transaction that this turn grows, once there is one.
    pub(super) transaction: Option<String>,
}

/// Counts the turns under way in this process; dropped when one has ended, however it did.
struct Active(Arc<AtomicUsize>);

impl Active {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(count))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Hub {
    pub(super) fn prompt(
        &mut self,
        client: ClientId,
        mut params: v1::PromptParams,
        reply: Reply<v1::PromptResult>,
    ) {
        let id = match self.session_of(client, params.session_id.take()) {
            Ok(id) => id,
            Err(failure) => return respond(reply, Err(failure)),
        };
        params.session_id = Some(id.clone());
        if !self.sessions.open.contains_key(&id) {
            return self.open_session(client, id, Then::Prompt(params, reply));
        }
        self.read_prompt(client, id, params, reply);
    }

    /// The session that a prompt goes to: the one named, the client's current one, or a new one.
    fn session_of(&mut self, client: ClientId, named: Option<String>) -> Result<String, Failure> {
        match named.or_else(|| self.sessions.current(client).cloned()) {
            Some(id) => Ok(id),
            None => self.begin_session(client, v1::NewSessionParams::default()),
        }
    }

    /// Starts a turn with a prompt that is all for the model.
    pub(super) fn start_turn(
        &mut self,
        client: ClientId,
        session_id: &str,
        text: String,
        place: Option<&v1::PromptContext>,
    ) -> Result<v1::PromptResult, Failure> {
        let context = self.prompt_context(client, place);
        let budget = self.config().budget;
        let turn_id = self.new_id("turn_");
        let hub = self.handle.clone();
        let active = Active::new(&self.active_turns);
        let conversation = self
            .sessions
            .open
            .get_mut(session_id)
            .ok_or_else(|| super::sessions::unknown_session(session_id))?;
        if conversation.running.is_some() {
            return Err(busy(session_id));
        }
        let cancel = CancellationToken::new();
        let title = title_of(&text);
        let mut input = TurnInput::new(turn_id.clone(), text, conversation.model.step());
        input.context = context;
        input.budget = budget;
        let token = ProgressToken::String(format!("redline/{turn_id}"));
        conversation.running = Some(Running {
            turn_id: turn_id.clone(),
            title,
            cancel: cancel.clone(),
            token: token.clone(),
            narrator: Narrator::new(turn_id.clone()),
            transaction: None,
        });
        if let Some(learning) = self.process.models.learn(&conversation.model) {
            self.runtime.spawn(learning);
        }
        let session = Arc::clone(&conversation.session);
        let mode = conversation.mode;
        let of = session_id.to_owned();
        let sink = Arc::new(move |events: Vec<TurnEvent>| {
            let session = of.clone();
            hub.send(Event::Turn(TurnNote::Said { session, events }));
        });
        self.runtime.spawn(async move {
            let _active = active;
            if let Err(busy) = session.run_turn(input, sink, cancel).await {
                tracing::error!(%busy, "a turn could not start");
            }
        });
        self.sessions.join(session_id, client);
        let title = format!("Redline ({mode})");
        let step = Progress::Begin { title };
        self.tell(client, Message::Progress { token, step });
        Ok(v1::PromptResult {
            session_id: session_id.to_owned(),
            turn_id,
            message: None,
        })
    }

    pub(super) fn cancel(&mut self, client: ClientId, params: &v1::CancelParams, reply: Reply<()>) {
        for (id, conversation) in &self.sessions.open {
            let Some(running) = &conversation.running else {
                continue;
            };
            let is_wanted = match (&params.session_id, &params.turn_id) {
                (Some(session), _) if session != id => false,
                (_, Some(turn)) => *turn == running.turn_id,
                (Some(_), None) => true,
                (None, None) => conversation.members.contains(&client),
            };
            if is_wanted {
                running.cancel.cancel();
            }
        }
        respond(reply, Ok(()));
    }

    pub(super) fn turn_note(&mut self, note: TurnNote) {
        match note {
            // A tool or a turn that was stopped does not listen any more; its answers are dropped.
            TurnNote::Overlay { session, reply } => {
                let _ = reply.send(self.overlay(Some(&session)));
            }
            TurnNote::Unsaved { reply } => {
                let _ = reply.send(self.documents.unsaved());
            }
            TurnNote::Propose {
                session,
                proposal,
                reply,
            } => self.propose_in_turn(&session, *proposal, reply),
            TurnNote::Step {
                session,
                reading,
                reply,
            } => {
                if let Some(reading) = reading {
                    self.take_reading(reading);
                }
                let _ = reply.send(self.step_context(&session));
            }
            TurnNote::Wait { id, reply } => self.wait_for(id, reply),
            TurnNote::CommitWanted { session, reply } => {
                let _ = reply.send(self.commit_wanted(&session));
            }
            TurnNote::Commit {
                session,
                transaction_id,
                reply,
            } => self.auto_commit(&session, transaction_id, reply),
            TurnNote::Approval(approval) => self.approval_changed(approval),
            TurnNote::Plan(plan) => self.plan_changed(*plan),
            TurnNote::Said { session, events } => self.said(&session, &events),
            TurnNote::Opened(opened) => self.opened(*opened),
            TurnNote::Read(rejoined) => self.rejoined(*rejoined),
            TurnNote::JobBegan(began) => self.job_began(*began),
            TurnNote::Job(id) => self.job_said(&id),
        }
    }

    fn said(&mut self, session: &str, events: &[TurnEvent]) {
        let Some(conversation) = self.sessions.open.get_mut(session) else {
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
        let mut activity = Vec::new();
        for event in events {
            match &event.kind {
                TurnEventKind::ToolRunning { title, .. } => activity.push(title.clone()),
                TurnEventKind::ToolStaged { title, .. } => {
                    activity.push(format!("waits for you: {title}"));
                }
                TurnEventKind::Ended { end } => {
                    ended = Some(end.clone());
                    if let Some(id) = &transaction {
                        shown.push(v1::SessionUpdate::Transaction {
                            transaction_id: id.clone(),
                        });
                    }
                }
                _ => {}
            }
            updates::join(&mut shown, running.narrator.tell(event));
        }
        if let Some(last) = events.last() {
            conversation.shown = Some((last.turn_id.clone(), last.seq));
        }
        for message in activity {
            let (token, step) = (token.clone(), Progress::Report { message });
            self.tell(client, Message::Progress { token, step });
        }
        if !shown.is_empty() {
            self.tell_members(session, Some(&turn_id), &shown);
        }
        if let Some(end) = ended {
            self.turn_ended(session, token, transaction.as_deref(), &end);
        }
    }

    fn turn_ended(
        &mut self,
        session: &str,
        token: ProgressToken,
        transaction: Option<&str>,
        end: &TurnEnd,
    ) {
        let Some(conversation) = self.sessions.open.get_mut(session) else {
            return;
        };
        let client = conversation.client;
        if let Some(running) = conversation.running.take() {
            self.withdraw_approvals(running.turn_id);
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
        let message = text.clone();
        let step = Progress::End { message };
        self.tell(client, Message::Progress { token, step });
        let draws = self.clients.get(&client);
        if !draws.is_some_and(|each| each.profile.session) {
            let text = format!("Redline: {text}");
            self.tell(client, Message::Show { level, text });
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

/// The first line of a prompt, short enough for a list.
fn title_of(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or_default().chars().take(80).collect()
}
