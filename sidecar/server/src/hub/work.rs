//! The hub's disk work, on a thread of its own.
//!
//! Owns: the worker thread and the closed list of what it can report.
//! Must not know: the hub's state; a job gets what it needs and reports what it found.
//!
//! Jobs run one after another in the order given, so what a hub writes reaches the disk in the order
//! in which it was decided.

use std::sync::mpsc;
use std::thread::JoinHandle;

use redline_workspace::{Follower, Transaction, Transactions, Workspace};

use super::event::{Event, HubHandle};
use crate::failure::Failure;

/// What the worker reports. Each variant says which job it ends.
pub(crate) enum Done {
    /// A proposal was read, matched and stored.
    Proposed(Box<super::propose::Proposed>),
    /// Records were stored.
    Stored(Box<super::store::Stored>),
    /// Texts of closed files were read again.
    Refreshed(Box<super::refresh::Refreshed>),
    /// A commit has come to its next stage.
    Commit(Box<super::commit::Stage>),
    /// An undo or redo was worked out.
    Restored(Box<super::restore::Restored>),
    /// Another process made or changed these.
    Others(Vec<Transaction>),
    /// An approval was decided, or was not.
    Approval(Box<super::approvals::Decided>),
    /// Approvals that are no longer as the hub knew them.
    Approvals(Vec<std::sync::Arc<redline_workspace::Approval>>),
    /// A plan was decided, or was not.
    Plan(Box<super::plans::Decided>),
    /// What a prompt decided was carried out.
    Directed(Box<super::prompts::Directed>),
    /// The review document was put together.
    Review(std::sync::Arc<super::pages::review::Review>),
    /// The project's own files were read.
    Project(Box<super::trust::Looked>),
    /// The user decided on files of the project.
    Trust(Box<super::trust::TrustDecided>),
    /// A job panicked; `what` says which.
    Failed { what: &'static str },
}

struct Job {
    what: &'static str,
    /// Transactions that the job itself writes.
    own: Vec<String>,
    work: Box<dyn FnOnce() -> Option<Done> + Send>,
}

/// The worker thread. Dropping it lets the queued jobs end first.
pub(crate) struct Worker {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread; reports go to `hub`.
    ///
    /// After each job it looks whether another process has written to the journal.
    pub(crate) fn start(hub: HubHandle, workspace: Workspace) -> Result<Self, Failure> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let thread = std::thread::Builder::new()
            .name("hub-disk".to_owned())
            .spawn(move || {
                let mut follower = None;
                for job in queue {
                    let Job { what, own, work } = job;
                    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) {
                        Ok(Some(done)) => {
                            hub.send(Event::Work(done));
                        }
                        Ok(None) => {}
                        Err(_) => {
                            tracing::error!(what, "a disk job panicked");
                            hub.send(Event::Work(Done::Failed { what }));
                        }
                    }
                    let others = others(&workspace, &mut follower, &own);
                    if !others.is_empty() {
                        hub.send(Event::Work(Done::Others(others)));
                    }
                }
            })
            .map_err(|error| Failure::internal(error.to_string()))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Queues a job that writes nothing; `what` names it in the log.
    pub(crate) fn run(
        &self,
        what: &'static str,
        job: impl FnOnce() -> Option<Done> + Send + 'static,
    ) {
        self.run_on(what, Vec::new(), job);
    }

    /// Queues a job that writes to the transactions `own`.
    pub(crate) fn run_on(
        &self,
        what: &'static str,
        own: Vec<String>,
        job: impl FnOnce() -> Option<Done> + Send + 'static,
    ) {
        if let Some(jobs) = &self.jobs {
            // The thread ends only after this sender is dropped.
            let _ = jobs.send(Job {
                what,
                own,
                work: Box::new(job),
            });
        }
    }
}

/// Transactions that other processes have changed since the last look.
fn others(
    workspace: &Workspace,
    follower: &mut Option<Follower>,
    own: &[String],
) -> Vec<Transaction> {
    let records = match follower {
        Some(follower) => follower.poll(),
        None => {
            // What was there when the hub began is loaded already.
            *follower = workspace
                .journal()
                .last_seq()
                .ok()
                .map(|seq| workspace.journal().follow(seq));
            return Vec::new();
        }
    };
    let records = records.unwrap_or_else(|error| {
        tracing::warn!(%error, "the journal could not be followed");
        Vec::new()
    });
    Transactions::changed_in(&records)
        .into_iter()
        .filter(|id| !own.contains(id))
        .filter_map(|id| match workspace.transactions().load(&id) {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, id, "a transaction of another process could not be read");
                None
            }
        })
        .collect()
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
