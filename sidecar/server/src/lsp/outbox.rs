//! What the hub has for one client and has not yet been sent.
//!
//! Owns: merging. State (diagnostics of a document, hunks of a document, counts) is kept newest
//! only, text of a turn is joined, so a client that reads slowly costs no growing queue.
//! Must not know: how anything is sent.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::hub::event::HubHandle;
use redline_protocol::v1;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tower_lsp::ls_types::{Diagnostic, MessageType, ProgressToken, WorkspaceEdit};

/// Something to be sent, in no promised order between kinds.
pub(crate) enum Message {
    /// Diagnostics of one document.
    Diagnostics {
        uri: String,
        version: Option<i32>,
        diagnostics: Vec<Diagnostic>,
    },
    /// The client is to ask again for what it shows.
    Refresh(Refresh),
    /// Hunks of documents, for a client that draws them.
    Changed(v1::TransactionChangedNotification),
    /// Events of a turn.
    Session(v1::SessionUpdateNotification),
    /// An edit that must arrive in the client's documents; the answer goes back under `delivery`.
    ApplyEdit {
        hub: HubHandle,
        delivery: u64,
        label: String,
        edit: WorkspaceEdit,
    },
    /// Approvals that are new or changed.
    Approvals(v1::ApprovalChangedNotification),
    /// Plans that are new or changed.
    Plans(v1::PlanChangedNotification),
    /// A job that changed, or said something.
    Job(v1::JobChangedNotification),
    /// A question; its answer goes to `hub`.
    Ask {
        hub: HubHandle,
        about: Subject,
        text: String,
    },
    /// A document to open.
    ShowDocument {
        path: std::path::PathBuf,
        line: Option<u32>,
    },
    /// A sentence for the user.
    Show { level: MessageType, text: String },
    /// Progress of a turn.
    Progress {
        token: ProgressToken,
        step: Progress,
    },
}

/// What a client is to ask for again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Refresh {
    pub(crate) diagnostics: bool,
    pub(crate) lenses: bool,
    pub(crate) hints: bool,
}

/// What a question is about.
#[derive(Debug, Clone)]
pub(crate) enum Subject {
    Approval(String),
    /// A plan, with the revision that was shown.
    Plan(String, u64),
}

/// One step of a progress report.
#[derive(Debug, Clone)]
pub(crate) enum Progress {
    Begin { title: String },
    Report { message: String },
    End { message: String },
}

/// Most output of one job that waits, in bytes.
const MAX_OUTPUT: usize = 64 << 10;

/// Most one-off messages kept; the oldest reports go first.
const MAX_EVENTS: usize = 4096;

#[derive(Default)]
struct State {
    diagnostics: BTreeMap<String, (Option<i32>, Vec<Diagnostic>)>,
    hunks: BTreeMap<String, v1::DocumentHunks>,
    transactions: BTreeSet<String>,
    counts: Option<v1::Counts>,
    refresh: Refresh,
    events: VecDeque<Message>,
}

/// The queue between a hub and one connection. Cloning shares it.
#[derive(Clone, Default)]
pub(crate) struct Outbox {
    state: Arc<Mutex<State>>,
    filled: Arc<Notify>,
    closed: CancellationToken,
}

impl Outbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the diagnostics of `uri` that wait.
    pub(crate) fn diagnostics(
        &self,
        uri: &str,
        version: Option<i32>,
        diagnostics: Vec<Diagnostic>,
    ) {
        self.state()
            .diagnostics
            .insert(uri.to_owned(), (version, diagnostics));
        self.filled.notify_one();
    }

    /// Has the client ask again; what it has not been told yet is told once.
    pub(crate) fn refresh(&self, what: Refresh) {
        let mut state = self.state();
        let known = state.refresh;
        state.refresh = Refresh {
            diagnostics: known.diagnostics || what.diagnostics,
            lenses: known.lenses || what.lenses,
            hints: known.hints || what.hints,
        };
        drop(state);
        self.filled.notify_one();
    }

    /// Replaces the hunks that wait, document by document.
    pub(crate) fn changed(&self, change: v1::TransactionChangedNotification) {
        let mut state = self.state();
        state.transactions.extend(change.transaction_ids);
        for document in change.documents {
            state.hunks.insert(document.uri.clone(), document);
        }
        state.counts = Some(change.counts);
        drop(state);
        self.filled.notify_one();
    }

    /// Queues a one-off message; session updates of one turn are joined.
    pub(crate) fn push(&self, message: Message) {
        let mut state = self.state();
        if let Some(message) = merge(&mut state.events, message) {
            if state.events.len() >= MAX_EVENTS {
                let report = state.events.iter().position(|event| {
                    matches!(
                        event,
                        Message::Progress {
                            step: Progress::Report { .. },
                            ..
                        } | Message::Show { .. }
                    )
                });
                if let Some(report) = report {
                    state.events.remove(report);
                }
            }
            state.events.push_back(message);
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Ends the connection: by the client's own end, or because its hub is gone.
    pub(crate) fn close(&self) {
        self.closed.cancel();
    }

    /// Cancelled when the connection must end.
    pub(crate) fn closed(&self) -> CancellationToken {
        self.closed.clone()
    }

    /// Waits for the next message; `None` after [`close`](Self::close).
    pub(crate) async fn next(&self) -> Option<Message> {
        loop {
            {
                let mut state = self.state();
                if let Some(message) = take(&mut state) {
                    return Some(message);
                }
            }
            tokio::select! {
                () = self.filled.notified() => {}
                () = self.closed.cancelled() => return None,
            }
        }
    }
}

/// Edits first (a person waits for them), then state, then the rest.
fn take(state: &mut State) -> Option<Message> {
    if let Some(edit) = state
        .events
        .iter()
        .position(|event| matches!(event, Message::ApplyEdit { .. }))
    {
        return state.events.remove(edit);
    }
    if state.counts.is_some() {
        return Some(Message::Changed(v1::TransactionChangedNotification {
            transaction_ids: std::mem::take(&mut state.transactions)
                .into_iter()
                .collect(),
            documents: std::mem::take(&mut state.hunks).into_values().collect(),
            counts: state.counts.take().unwrap_or_default(),
        }));
    }
    if state.refresh != Refresh::default() {
        return Some(Message::Refresh(std::mem::take(&mut state.refresh)));
    }
    if let Some((uri, (version, diagnostics))) = state.diagnostics.pop_first() {
        return Some(Message::Diagnostics {
            uri,
            version,
            diagnostics,
        });
    }
    state.events.pop_front()
}

/// Adds a message to one that waits, where they are of one thing; else gives it back.
fn merge(waiting: &mut VecDeque<Message>, message: Message) -> Option<Message> {
    match message {
        Message::Session(new) => {
            let last = waiting.iter_mut().rev().find_map(|each| match each {
                Message::Session(last) if last.session_id == new.session_id => Some(last),
                _ => None,
            });
            match last.filter(|last| last.turn_id == new.turn_id) {
                Some(last) => {
                    crate::hub::updates::join(&mut last.updates, new.updates);
                    None
                }
                None => Some(Message::Session(new)),
            }
        }
        Message::Approvals(new) => {
            let last = waiting.iter_mut().find_map(|each| match each {
                Message::Approvals(last) => Some(last),
                _ => None,
            });
            let Some(last) = last else {
                return Some(Message::Approvals(new));
            };
            last.waiting = new.waiting;
            for approval in new.approvals {
                last.approvals.retain(|each| each.id != approval.id);
                last.approvals.push(approval);
            }
            None
        }
        Message::Plans(new) => {
            let last = waiting.iter_mut().find_map(|each| match each {
                Message::Plans(last) => Some(last),
                _ => None,
            });
            let Some(last) = last else {
                return Some(Message::Plans(new));
            };
            for plan in new.plans {
                last.plans.retain(|each| each.id != plan.id);
                last.plans.push(plan);
            }
            None
        }
        Message::Job(new) => {
            let last = waiting.iter_mut().find_map(|each| match each {
                Message::Job(last) if last.job.id == new.job.id => Some(last),
                _ => None,
            });
            match last {
                Some(last) => {
                    join_output(last, new);
                    None
                }
                None => Some(Message::Job(new)),
            }
        }
        other => Some(other),
    }
}

/// Joins what a job said; of what a slow reader has not taken only the end is kept.
fn join_output(last: &mut v1::JobChangedNotification, new: v1::JobChangedNotification) {
    last.job = new.job;
    let Some(more) = new.output else { return };
    let text = last.output.get_or_insert_default();
    if text.is_empty() {
        last.offset = new.offset;
    }
    text.push_str(&more);
    if text.len() <= MAX_OUTPUT {
        return;
    }
    let mut cut = text.len() - MAX_OUTPUT;
    while !text.is_char_boundary(cut) {
        cut += 1;
    }
    text.drain(..cut);
    // What is shown is not byte for byte what came; where its end lies is what counts.
    let end = last.job.output_bytes;
    last.offset = Some(end.saturating_sub(text.len() as u64));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use redline_protocol::v1::{ContentBlock, Job, JobState, SessionUpdate};

    use super::*;

    fn said(turn: &str, text: &str) -> Message {
        Message::Session(v1::SessionUpdateNotification {
            session_id: "se_1".to_owned(),
            turn_id: Some(turn.to_owned()),
            updates: vec![SessionUpdate::AgentMessageChunk {
                message_id: turn.to_owned(),
                content: ContentBlock::Text {
                    text: text.to_owned(),
                },
            }],
        })
    }

    fn output(text: &str, total: u64) -> Message {
        Message::Job(v1::JobChangedNotification {
            job: Job {
                id: "job_1".to_owned(),
                session_id: None,
                tool_call_id: None,
                command: vec!["make".to_owned()],
                cwd: String::new(),
                state: JobState::Running,
                exit_code: None,
                signal: None,
                started_at: 1,
                ended_at: None,
                output_bytes: total,
                sandbox: "none".to_owned(),
            },
            output: Some(text.to_owned()),
            offset: Some(total - text.len() as u64),
        })
    }

    #[tokio::test]
    async fn what_nobody_reads_is_one_message_for_each_turn_and_job() {
        let outbox = Outbox::default();
        for n in 0..100_000_u64 {
            outbox.push(said("turn_1", "word "));
            outbox.push(output("0123456789", (n + 1) * 10));
        }
        outbox.push(said("turn_2", "next"));
        assert_eq!(outbox.state().events.len(), 3);
        let Some(Message::Session(first)) = outbox.next().await else {
            panic!("the first turn comes first");
        };
        assert_eq!(first.updates.len(), 1);
        let Some(Message::Job(job)) = outbox.next().await else {
            panic!("then the job");
        };
        // The end of the output, and where it lies.
        assert_eq!(job.output.unwrap().len(), MAX_OUTPUT);
        assert_eq!(job.offset, Some(1_000_000 - MAX_OUTPUT as u64));
        let Some(Message::Session(second)) = outbox.next().await else {
            panic!("then the next turn");
        };
        assert_eq!(second.turn_id.as_deref(), Some("turn_2"));
    }
}
