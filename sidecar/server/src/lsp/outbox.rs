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

/// One step of a progress report.
#[derive(Debug, Clone)]
pub(crate) enum Progress {
    Begin { title: String },
    Report { message: String },
    End { message: String },
}

/// Most one-off messages kept; the oldest reports go first.
const MAX_EVENTS: usize = 4096;

#[derive(Default)]
struct State {
    diagnostics: BTreeMap<String, (Option<i32>, Vec<Diagnostic>)>,
    hunks: BTreeMap<String, v1::DocumentHunks>,
    transactions: BTreeSet<String>,
    counts: Option<v1::Counts>,
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
        let message = match (message, state.events.back_mut()) {
            (Message::Session(new), Some(Message::Session(last)))
                if last.session_id == new.session_id && last.turn_id == new.turn_id =>
            {
                crate::hub::updates::join(&mut last.updates, new.updates);
                None
            }
            (message, _) => Some(message),
        };
        if let Some(message) = message {
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
    if let Some((uri, (version, diagnostics))) = state.diagnostics.pop_first() {
        return Some(Message::Diagnostics {
            uri,
            version,
            diagnostics,
        });
    }
    state.events.pop_front()
}
