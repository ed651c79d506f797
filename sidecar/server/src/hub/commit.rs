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
//! [`deliver`] holds the middle.

mod deliver;

use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

use redline_agent::Verdict;
use redline_protocol::v1;
use redline_workspace::{
    CommitError, CommitRequest, Committed, OpenDocument, Prepared, Record, prepare,
};

use super::event::{ClientId, Later, Reply};
use super::work::Done;
use super::{Hub, present, respond};
use crate::failure::Failure;
use deliver::Target;

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
            for (path, hunk) in order.request.selection.placed() {
                self.steer(&id, path, hunk, Verdict::Accepted, None);
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
