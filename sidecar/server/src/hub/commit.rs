//! The hub's side of a commit: the editor is one of its participants.
//!
//! Owns: the queue of commits (one at a time), sending edits to editors, and believing the text rather
//! than the answer.
//! Must not know: how files are staged and renamed; `redline_workspace` does that on the worker.
//!
//! ```text
//! accept ─ prepare (worker) ─ deliver (editors) ─ finish (worker) ─ answer
//!                 │ conflict          │ refused, silent      │ failed
//!                 └ answer            └ reverse, abort       └ reverse, answer
//! ```
//!
//! An edit has arrived when its hunk's own range reads its text; the set says so
//! ([`HunkEvent::Applied`]). A stale edit is anchored and sent again: three times, two seconds in all.
//! It is sent again only when the text has moved on or the client has refused it: an editor that holds its
//! `didChange` back (Neovim does, for 150 ms) would apply a second one on top of the first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use redline_agent::Verdict;
use redline_edits::{HunkId, HunkSet, HunkState, TextChange};
use redline_protocol::v1;
use redline_workspace::{
    CommitError, CommitRequest, Committed, Delivery, OpenDocument, Prepared, Record, prepare,
};

use super::documents::Copy;
use super::event::{ClientId, Later, Reply};
use super::offers::workspace_edit;
use super::work::Done;
use super::{Hub, derive, present, respond};
use crate::failure::Failure;
use crate::lsp::outbox::Message;

/// How long all attempts at one delivery may take.
const DELIVERY_LIMIT: Duration = Duration::from_secs(2);
/// How often it is looked whether an edit has to be sent again.
const ATTEMPT_STEP: Duration = Duration::from_millis(50);
/// How long a text that moves on is given before the edit is sent for it.
const ATTEMPT_PACE: Duration = Duration::from_millis(150);
/// How often an edit is sent.
const ATTEMPTS: u32 = 3;

/// The commits of a hub: one under way, others waiting.
#[derive(Default)]
pub(crate) struct Commits {
    current: Option<InFlight>,
    queue: VecDeque<Order>,
    next_delivery: u64,
    /// A refresh of the current one is due then.
    due: Option<Instant>,
}

impl Commits {
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }
}

/// A commit that was asked for.
pub(crate) struct Order {
    pub(crate) client: ClientId,
    pub(crate) request: CommitRequest,
    pub(crate) reply: CommitReply,
    /// The editor has made the change already: it took an edit that it was offered.
    pub(crate) arrived: bool,
}

impl Order {
    fn transaction_id(&self) -> &str {
        self.request.transaction.id()
    }
}

/// Who waits for a commit.
pub(crate) enum CommitReply {
    /// A decision, answered with the files at these paths, or all.
    Decide(Reply<Later<v1::DecideResult>>, Option<BTreeSet<String>>),
    Restore(Reply<v1::RestoreResult>, String),
    /// The decision was made in the editor; nobody waits for an answer.
    Nobody,
}

impl CommitReply {
    pub(crate) fn refuse(self, failure: Failure) {
        match self {
            Self::Decide(reply, _) => respond(reply, Err(failure)),
            Self::Restore(reply, _) => respond(reply, Err(failure)),
            Self::Nobody => {
                tracing::warn!(
                    code = failure.code,
                    "a decision made in an editor was not recorded"
                );
            }
        }
    }
}

struct InFlight {
    order: Order,
    /// Absent while the worker has it.
    prepared: Option<Box<Prepared>>,
    targets: Vec<Target>,
    started: Instant,
    attempt: u32,
    /// Deliveries of the present attempt that the client has not answered.
    unanswered: Vec<u64>,
    /// What a client said when it refused.
    refusal: Option<String>,
    /// The present attempt was refused by a client.
    refused: bool,
}

/// One document that must come to read the accepted text.
#[derive(Debug, Clone)]
struct Target {
    client: ClientId,
    path: String,
    hunks: Vec<HunkId>,
    /// Only a target of the decider can fail the commit.
    required: bool,
    arrived: bool,
    /// Version of the document that the edit was last sent for.
    sent: Option<i32>,
}

/// A commit has come to its next stage.
pub(crate) enum Stage {
    Prepared(Result<Box<Prepared>, CommitError>),
    Finished(Result<Box<Committed>, CommitError>),
}

impl Hub {
    /// Queues a commit; it starts when no other is under way.
    pub(super) fn order(&mut self, order: Order) {
        self.commits.queue.push_back(order);
        self.next_commit();
    }

    fn next_commit(&mut self) {
        if self.commits.current.is_some() {
            return;
        }
        let Some(mut order) = self.commits.queue.pop_front() else {
            return;
        };
        // What was typed while it waited counts, unless the change is there already.
        if !order.arrived {
            self.renew(&mut order);
        }
        let request = order.request.clone();
        self.commits.current = Some(InFlight {
            order,
            prepared: None,
            targets: Vec::new(),
            started: Instant::now(),
            attempt: 0,
            unanswered: Vec::new(),
            refusal: None,
            refused: false,
        });
        let workspace = self.workspace.clone();
        let own = vec![request.transaction.id().to_owned()];
        self.worker.run_on("prepare", own, move || {
            let prepared = prepare(&workspace, &request).map(Box::new);
            Some(Done::Commit(Box::new(Stage::Prepared(prepared))))
        });
    }

    /// Brings the transaction and the open documents of a request up to now.
    fn renew(&mut self, order: &mut Order) {
        let id = order.request.transaction.id().to_owned();
        if self.transactions.contains_key(&id) {
            self.lead(&id, Some(order.client));
            if let Some(transaction) = self.transactions.get(&id) {
                order.request.transaction = transaction.clone();
            }
        }
        let (documents, elsewhere) = self.open_documents(order.client);
        order.request.documents = documents;
        order.request.unsaved_elsewhere = elsewhere;
    }

    /// The copies that a commit by `client` goes to, and paths with other, unsaved copies.
    pub(super) fn open_documents(&self, client: ClientId) -> (Vec<OpenDocument>, Vec<String>) {
        let mut documents = Vec::new();
        let mut elsewhere = Vec::new();
        for path in self.documents.paths() {
            let Some(leading) = self.documents.leading(path, Some(client)) else {
                continue;
            };
            documents.push(OpenDocument {
                path: path.to_owned(),
                text: leading.rope.clone(),
                version: leading.version,
                dirty: leading.dirty,
            });
            let others = self.documents.of(path).iter();
            if others
                .filter(|copy| copy.client != leading.client)
                .any(|copy| copy.dirty)
            {
                elsewhere.push(path.to_owned());
            }
        }
        (documents, elsewhere)
    }

    pub(super) fn commit_stage(&mut self, stage: Stage) {
        match stage {
            Stage::Prepared(Ok(prepared)) => self.deliver(prepared),
            Stage::Prepared(Err(error)) => self.commit_failed(&error),
            Stage::Finished(Ok(committed)) => self.committed(*committed),
            Stage::Finished(Err(error)) => {
                self.take_back_deliveries();
                self.commit_failed(&error);
            }
        }
    }

    fn deliver(&mut self, prepared: Box<Prepared>) {
        let Some(mut current) = self.commits.current.take() else {
            return;
        };
        let client = current.order.client;
        let deliveries = if current.order.arrived {
            &[][..]
        } else {
            prepared.deliveries()
        };
        for delivery in deliveries {
            let leading = self
                .documents
                .leading(&delivery.path, Some(client))
                .map(|copy| copy.client);
            for copy in self.documents.of_mut(&delivery.path) {
                let required = Some(copy.client) == leading;
                if !required && copy.rope != delivery.before {
                    continue;
                }
                let set = delivery_set(&current.order, copy, delivery);
                let Some(set) = set else { continue };
                set.expect(&delivery.hunks);
                current.targets.push(Target {
                    client: copy.client,
                    path: delivery.path.clone(),
                    hunks: delivery.hunks.clone(),
                    required,
                    arrived: false,
                    sent: None,
                });
            }
        }
        current.started = Instant::now();
        current.prepared = Some(prepared);
        self.commits.current = Some(current);
        if self.all_arrived() {
            self.finish_commit();
        } else {
            self.send_deliveries();
        }
    }

    /// Sends the edits of all targets that have not arrived, anchored on the text as it is now.
    fn send_deliveries(&mut self) {
        let Some(mut current) = self.commits.current.take() else {
            return;
        };
        current.attempt += 1;
        current.unanswered.clear();
        let again = std::mem::take(&mut current.refused);
        let set_id = current.order.transaction_id().to_owned();
        let mut lost = None;
        let mut by_client: BTreeMap<ClientId, Vec<(&Copy, Vec<TextChange>)>> = BTreeMap::new();
        for target in current.targets.iter_mut().filter(|target| !target.arrived) {
            let copy = self.documents.get(&target.path, target.client);
            let version = copy.map(|copy| copy.version);
            if version.is_some() && version == target.sent && !again {
                continue;
            }
            target.sent = version;
            let edits = copy
                .and_then(|copy| Some((copy, copy.sets.get(&set_id)?)))
                .map(|(copy, set)| (copy, set.edits_for(&copy.rope, &target.hunks)));
            match edits {
                Some((copy, Ok(edits))) => {
                    by_client
                        .entry(target.client)
                        .or_default()
                        .push((copy, edits));
                }
                Some((_, Err(error))) if target.required => {
                    lost = Some(Failure::new(error.code(), error.to_string(), error.hint()));
                }
                None if target.required => {
                    lost = Some(Failure::new(
                        "CLIENT_GONE",
                        format!("{} was closed before the edit arrived", target.path),
                        "accept again",
                    ));
                }
                _ => {}
            }
        }
        for (client, documents) in by_client {
            let Some(attached) = self.clients.get(&client) else {
                continue;
            };
            if !attached.profile.apply_edit {
                let required = |target: &&Target| target.client == client && target.required;
                if let Some(target) = current.targets.iter().find(required) {
                    lost = Some(Failure::new(
                        "CLIENT_REFUSED",
                        format!(
                            "{} is open in {}, which takes no edits from a server",
                            target.path, attached.profile.name
                        ),
                        "use its code action, or close the document and accept again",
                    ));
                }
                continue;
            }
            self.commits.next_delivery += 1;
            let delivery = self.commits.next_delivery;
            current.unanswered.push(delivery);
            attached.outbox.push(Message::ApplyEdit {
                hub: self.handle.clone(),
                delivery,
                label: "Redline: accept".to_owned(),
                edit: workspace_edit(&documents, attached.profile.document_changes),
            });
        }
        self.commits.due = Some(Instant::now() + ATTEMPT_STEP);
        self.commits.current = Some(current);
        if let Some(failure) = lost {
            self.abort_commit(failure);
        }
    }

    /// The client has answered; what counts is the text, so only a refusal means anything.
    pub(super) fn delivered(
        &mut self,
        delivery: u64,
        _client: ClientId,
        applied: Result<bool, String>,
    ) {
        let Some(current) = &mut self.commits.current else {
            return;
        };
        if !current.unanswered.contains(&delivery) {
            return;
        }
        current.unanswered.retain(|&waiting| waiting != delivery);
        match applied {
            // The change may come after the answer.
            Ok(true) => {}
            Ok(false) => {
                current.refusal = Some("the editor did not apply the edit".to_owned());
                current.refused = true;
            }
            Err(message) => {
                current.refusal = Some(message);
                current.refused = true;
            }
        }
    }

    /// Whether a target that waits reads another text than the edit was sent for, or was refused.
    fn must_send_again(&self, current: &InFlight) -> bool {
        current.refused
            || current.targets.iter().any(|target| {
                let copy = self.documents.get(&target.path, target.client);
                !target.arrived && copy.map(|copy| copy.version) != target.sent
            })
    }

    pub(super) fn commits_tick(&mut self, now: Instant) {
        if self.commits.due.is_none_or(|due| due > now) {
            return;
        }
        self.commits.due = None;
        let Some(current) = &self.commits.current else {
            return;
        };
        if current.prepared.is_none() {
            return;
        }
        let elapsed = current.started.elapsed();
        let spent = current.attempt >= ATTEMPTS;
        let over = elapsed >= DELIVERY_LIMIT || (spent && current.refused);
        if !over {
            // Somebody who types makes a new version each time: not all attempts at once.
            let early = !current.refused && elapsed < ATTEMPT_PACE * current.attempt;
            if spent || early || !self.must_send_again(current) {
                self.commits.due = Some(now + ATTEMPT_STEP);
            } else {
                self.send_deliveries();
            }
            return;
        }
        let path = current
            .targets
            .iter()
            .find(|target| target.required && !target.arrived)
            .map_or_else(String::new, |target| target.path.clone());
        let failure = match &current.refusal {
            Some(said) => Failure::new(
                "CLIENT_REFUSED",
                format!(
                    "{path}: the edit did not arrive in the editor ({said}); nothing was changed"
                ),
                "accept again; if it stays so, save and reopen the document",
            ),
            None => Failure::new(
                "CLIENT_TIMEOUT",
                format!(
                    "{path}: the edit did not arrive in the editor in time; nothing was changed"
                ),
                "accept again when the editor answers",
            ),
        };
        self.abort_commit(failure);
    }

    /// Notes that hunks now read their text in a client's copy. Says whether the commit waits for them.
    pub(super) fn arrived(
        &mut self,
        client: ClientId,
        path: &str,
        set: &str,
        hunk: &HunkId,
    ) -> bool {
        let Some(current) = &mut self.commits.current else {
            return false;
        };
        if current.order.transaction_id() != set {
            return false;
        }
        let Some(copy) = self.documents.get(path, client) else {
            return false;
        };
        let Some(hunks) = copy.sets.get(set) else {
            return false;
        };
        let mut ours = false;
        for target in &mut current.targets {
            if target.client == client && target.path == path && target.hunks.contains(hunk) {
                ours = true;
                target.arrived = target.hunks.iter().all(|id| {
                    hunks
                        .get(id)
                        .is_some_and(|hunk| matches!(hunk.state, HunkState::Accepted { .. }))
                });
            }
        }
        if ours && self.all_arrived() {
            self.finish_commit();
        }
        ours
    }

    fn all_arrived(&self) -> bool {
        self.commits.current.as_ref().is_some_and(|current| {
            current.prepared.is_some()
                && current
                    .targets
                    .iter()
                    .all(|target| target.arrived || !target.required)
        })
    }

    fn finish_commit(&mut self) {
        let Some(prepared) = self
            .commits
            .current
            .as_mut()
            .and_then(|current| current.prepared.take())
        else {
            return;
        };
        self.commits.due = None;
        let own = vec![prepared.receipt().transaction_id.clone()];
        self.worker.run_on("commit", own, move || {
            let mut prepared = prepared;
            let finished = prepared
                .delivered()
                .and_then(|()| prepared.finish())
                .map(Box::new);
            Some(Done::Commit(Box::new(Stage::Finished(finished))))
        });
    }

    fn committed(&mut self, committed: Committed) {
        let Some(current) = self.commits.current.take() else {
            return;
        };
        self.commits.due = None;
        let order = current.order;
        let id = order.transaction_id().to_owned();
        if self.transactions.contains_key(&id) {
            self.lead(&id, Some(order.client));
            if let Some(transaction) = self.transactions.get_mut(&id) {
                transaction.absorb(&committed);
            }
            for (path, hunk) in self.hunks_of(&order) {
                self.steer(&id, &path, &hunk, Verdict::Accepted, None);
            }
            self.spread(&id);
        } else {
            // An undo or redo: its hunks lay over the copies for the delivery alone.
            for target in &current.targets {
                for copy in self.documents.of_mut(&target.path) {
                    copy.put(&id, None);
                }
            }
        }
        for (concerned, record) in &committed.concerns {
            self.concerned(concerned, record);
        }
        if !committed.warnings.is_empty() {
            self.notices.extend(committed.warnings.iter().cloned());
            let workspace = self.workspace.clone();
            self.worker.run("recover", move || {
                for recovery in workspace.recover() {
                    tracing::info!(message = recovery.message, "recovered");
                }
                None
            });
        }
        let receipt = present::receipt(&committed.receipt);
        match order.reply {
            CommitReply::Decide(reply, paths) => {
                respond(reply, self.decided(&id, receipt, paths));
            }
            CommitReply::Restore(reply, id) => respond(
                reply,
                Ok(v1::RestoreResult {
                    id,
                    paths: receipt
                        .written
                        .iter()
                        .chain(&receipt.unsaved)
                        .cloned()
                        .collect(),
                    receipt,
                }),
            ),
            CommitReply::Nobody => {}
        }
        self.forget_old();
        self.next_commit();
    }

    fn hunks_of(&self, order: &Order) -> Vec<(String, HunkId)> {
        let transaction = &order.request.transaction;
        order
            .request
            .selection
            .hunks()
            .filter_map(|hunk| Some((transaction.file_of(hunk)?.path.clone(), hunk.clone())))
            .collect()
    }

    /// Takes what has arrived out of the editors again; what the user typed since stays.
    fn take_back_deliveries(&mut self) {
        let Some(current) = &self.commits.current else {
            return;
        };
        let id = current.order.transaction_id();
        for target in &current.targets {
            let Some(copy) = self.documents.get(&target.path, target.client) else {
                continue;
            };
            let Some(set) = copy.sets.get(id) else {
                continue;
            };
            let arrived: Vec<HunkId> = target
                .hunks
                .iter()
                .filter(|hunk| {
                    set.get(hunk)
                        .is_some_and(|hunk| matches!(hunk.state, HunkState::Accepted { .. }))
                })
                .cloned()
                .collect();
            // Lines that were changed since are the user's now; they stay.
            let Ok(edits) = set.edits_for_undo(&copy.rope, &arrived) else {
                continue;
            };
            if edits.is_empty() {
                continue;
            }
            if let Some(client) = self.clients.get(&target.client) {
                client.outbox.push(Message::ApplyEdit {
                    hub: self.handle.clone(),
                    delivery: 0,
                    label: "Redline: take back".to_owned(),
                    edit: workspace_edit(&[(copy, edits)], client.profile.document_changes),
                });
            }
        }
    }

    fn stop_expecting(&mut self, current: &InFlight) {
        let id = current.order.transaction_id();
        let is_known = self.transactions.contains_key(id);
        for target in &current.targets {
            for copy in self.documents.of_mut(&target.path) {
                if copy.client != target.client {
                    continue;
                }
                if !is_known {
                    copy.put(id, None);
                } else if let Some(set) = copy.sets.get_mut(id) {
                    set.expect_no_more(&target.hunks);
                }
            }
        }
    }

    /// A client has gone; a delivery that waits for it fails at once.
    pub(super) fn commit_client_gone(&mut self, client: ClientId) {
        let waits = self.commits.current.as_ref().is_some_and(|current| {
            current.prepared.is_some()
                && current
                    .targets
                    .iter()
                    .any(|target| target.required && !target.arrived && target.client == client)
        });
        if waits {
            self.abort_commit(Failure::new(
                "CLIENT_GONE",
                "the editor went away before the edit arrived; nothing was changed",
                "accept again",
            ));
        }
    }

    /// A disk job panicked; whoever waits for it is told, and the next start recovers.
    pub(super) fn commit_job_failed(&mut self, what: &'static str) {
        if matches!(what, "prepare" | "commit") {
            self.fail_current(Failure::internal(format!(
                "the {what} failed inside Redline"
            )));
        }
    }

    fn commit_failed(&mut self, error: &CommitError) {
        if matches!(error, CommitError::Failed { .. })
            && let Some(current) = &self.commits.current
            && let Some(transaction) = self.transactions.get_mut(current.order.transaction_id())
        {
            // The store says so already; what is shown must agree with it.
            transaction.apply(&Record::Failed {
                message: error.to_string(),
            });
            self.stale.transaction(current.order.transaction_id());
        }
        self.fail_current(Failure::new(error.code(), error.to_string(), error.hint()));
    }

    /// Drops what was staged, and takes out of editors what has arrived there.
    fn abort_commit(&mut self, failure: Failure) {
        self.take_back_deliveries();
        if let Some(prepared) = self
            .commits
            .current
            .as_mut()
            .and_then(|current| current.prepared.take())
        {
            let why = failure.message.clone();
            self.worker.run("abort", move || {
                if let Err(error) = prepared.abort(&why) {
                    tracing::error!(%error, "a commit could not be dropped; the next start does it");
                }
                None
            });
        }
        self.fail_current(failure);
    }

    fn fail_current(&mut self, failure: Failure) {
        self.commits.due = None;
        let Some(current) = self.commits.current.take() else {
            return;
        };
        self.stop_expecting(&current);
        current.order.reply.refuse(failure);
        self.next_commit();
    }
}

/// The hunks that a delivery applies, laid over one copy.
fn delivery_set<'c>(
    order: &Order,
    copy: &'c mut Copy,
    delivery: &Delivery,
) -> Option<&'c mut HunkSet> {
    let id = order.transaction_id();
    if !copy.sets.contains_key(id) {
        let file = order.request.transaction.file(&delivery.path)?;
        let set = derive(file, &copy.rope);
        copy.put(id, Some(set));
    }
    copy.sets.get_mut(id)
}
