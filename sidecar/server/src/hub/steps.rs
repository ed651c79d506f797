//! Between the steps of a turn: what the user decided, and what the next step reads and runs with.
//!
//! Owns: the session's view of the workspace (open documents over the disk, its pending edits over both), the
//! decisions that the model is told, and the moment at which a change of mode, model or env counts.
//! Must not know: how a turn runs.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use redline_agent::{AutoCommit, Decision, Memory, PendingHunk, Steering, StepContext, Verdict};
use redline_edits::{HunkId, HunkState};
use redline_tools::gate::{GateHost, Mode, SessionGate, Standing, Verdict as Ruling, Workflow};
use redline_workspace::{Approval, NoteName, Notes, Transaction};
use tokio::sync::oneshot;

use super::Hub;
use super::event::{ClientId, Event, HubHandle};
use super::ground::{SessionHost, StepFacts};
use super::turns::TurnNote;
use super::view::{Overlaid, Overlay};
use crate::project::ProjectFiles;

/// Asks the hub, from the tasks of a turn.
pub(super) struct HubSteering {
    hub: HubHandle,
    session: String,
    host: Arc<SessionHost>,
    gate: Arc<SessionGate>,
    files: ProjectFiles,
    notes: Notes,
}

impl HubSteering {
    pub(super) fn new(
        hub: HubHandle,
        session: String,
        host: Arc<SessionHost>,
        gate: Arc<SessionGate>,
        files: ProjectFiles,
        notes: Notes,
    ) -> Self {
        Self {
            hub,
            session,
            host,
            gate,
            files,
            notes,
        }
    }

    /// Sends a note with a place for its answer; none comes from a hub that is gone.
    async fn ask<T>(&self, note: impl FnOnce(String, oneshot::Sender<T>) -> TurnNote) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.hub
            .send(Event::Turn(note(self.session.clone(), reply)));
        answer.await.ok()
    }

    /// Commits the turn's own edits when the policy lets a commit run unasked.
    async fn commit(&self) -> Option<AutoCommit> {
        if self.host.mode() == Mode::Manual {
            return None;
        }
        let operation = self
            .ask(|session, reply| TurnNote::CommitWanted { session, reply })
            .await??;
        let gate = Arc::clone(&self.gate);
        let transaction_id = operation.transaction_id;
        // It looks at paths, which blocks.
        let judged = tokio::task::spawn_blocking(move || {
            let answer = gate.judge(&operation.operation, Standing::Unasked);
            answer.decision.verdict
        });
        match judged.await {
            Ok(Ruling::Allow) => {
                self.ask(|session, reply| TurnNote::Commit {
                    session,
                    transaction_id,
                    reply,
                })
                .await
            }
            _ => None,
        }
    }
}

impl Steering for HubSteering {
    fn before_step(&self) -> BoxFuture<'_, StepContext> {
        let files = self.files.clone();
        async move {
            // What came with the project may have changed under the turn: what is not trusted any more does not count.
            let reading = tokio::task::spawn_blocking(move || files.read()).await.ok();
            let context = self.ask(|session, reply| TurnNote::Step {
                session,
                reading,
                reply,
            });
            context.await.unwrap_or_default()
        }
        .boxed()
    }

    fn memory(&self) -> BoxFuture<'_, Memory> {
        let notes = self.notes.clone();
        // Reading blocks. A store that is not the user's own says nothing.
        let read = tokio::task::spawn_blocking(move || Memory {
            text: match notes.read(&NoteName::Memory) {
                Ok(memory) => memory.map(|memory| memory.text).unwrap_or_default(),
                Err(error) => {
                    tracing::info!(%error, "the memory was not read");
                    String::new()
                }
            },
            notes: notes.list().unwrap_or_default(),
        });
        async move { read.await.unwrap_or_default() }.boxed()
    }

    fn decided<'a>(&'a self, id: &'a str) -> BoxFuture<'a, ()> {
        let decided = self.ask(|_, reply| TurnNote::Wait {
            id: id.to_owned(),
            reply,
        });
        async move {
            // A hub that is gone cannot be asked: the call is tried again, and says what became of it.
            decided.await.unwrap_or_default();
        }
        .boxed()
    }

    fn commit_edits(&self) -> BoxFuture<'_, Option<AutoCommit>> {
        self.commit().boxed()
    }
}

impl Hub {
    /// What lies over the disk: open documents, and the pending edits of a session.
    pub(super) fn overlay(&self, session: Option<&str>) -> Overlay {
        let conversation = session.and_then(|id| self.sessions.open.get(id));
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

    /// What the next step is told and runs with. From here on until the next one nothing of it changes.
    pub(super) fn step_context(&mut self, session: &str) -> StepContext {
        let policy = Arc::new(self.config().permissions.policy());
        let plan = self.plans.of_session(session);
        let waiting = self.approvals.of_session(session);
        let granted = self.approvals.granted_to(session);
        let Some(conversation) = self.sessions.open.get_mut(session) else {
            return StepContext::default();
        };
        let running = conversation.running.as_ref();
        let turn_id = running.map(|running| running.turn_id.as_str());
        let is_waited = |approval: &&Arc<Approval>| Some(approval.turn.as_str()) == turn_id;
        let (waiting, left): (Vec<_>, Vec<_>) = waiting.iter().partition(is_waited);
        // What was granted to the turn itself, it is about to use.
        let granted = granted.iter().filter(|approval| !is_waited(approval));
        let workflow = Workflow {
            mode: conversation.mode,
            ceiling: policy.ceiling,
            plan: plan.as_deref(),
            waiting: waiting.into_iter().map(named).collect(),
            left: left.into_iter().map(named).collect(),
            granted: granted.map(named).collect(),
            ..Workflow::default()
        };
        let hints = workflow.to_text();
        conversation.host.begin_step(StepFacts {
            mode: conversation.mode,
            env: conversation.env.snapshot(),
            policy,
            title: conversation
                .running
                .as_ref()
                .map(|running| running.title.clone()),
        });
        let decisions = std::mem::take(&mut conversation.decisions);
        let model = conversation.model.step();
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
            hints: Some(hints),
            model: Some(model),
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
        let Some(transaction) = self.transactions.get(transaction) else {
            return;
        };
        let session = transaction.meta().session_id.clone();
        let Some(file) = transaction.file(path) else {
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
        self.sessions.decided(&session, decision);
    }

    /// The running turn of a session and the transaction that it grows.
    pub(super) fn turn_of(&self, session: &str) -> Option<(String, Option<String>)> {
        let running = self.sessions.open.get(session)?.running.as_ref()?;
        Some((running.turn_id.clone(), running.transaction.clone()))
    }

    /// The transactions of a session, oldest first.
    pub(super) fn transactions_of(&self, session: &str) -> Vec<String> {
        self.sessions
            .open
            .get(session)
            .map(|conversation| conversation.transactions.clone())
            .unwrap_or_default()
    }

    /// Remembers the transaction that a session's running turn grows.
    pub(super) fn turn_transaction(&mut self, session: &str, id: &str) {
        let Some(conversation) = self.sessions.open.get_mut(session) else {
            return;
        };
        if !conversation.transactions.iter().any(|own| own == id) {
            conversation.transactions.push(id.to_owned());
        }
        if let Some(running) = &mut conversation.running {
            running.transaction = Some(id.to_owned());
        }
    }
}

/// An approval as hints name it: its id and summary.
fn named(approval: &Arc<Approval>) -> (&str, &str) {
    (&approval.id, &approval.shown.summary)
}

fn gone(text: &ropey::Rope) -> Overlaid {
    Overlaid {
        text: text.clone(),
        version: None,
        sets: Vec::new(),
        gone: true,
    }
}
