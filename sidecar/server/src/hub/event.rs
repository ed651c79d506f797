//! Everything that can wake a hub, in one closed list.
//!
//! Owns: the events, the requests with their reply channels, and the handle that sends them.
//! Must not know: what the hub does with them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use redline_protocol::v1;
use tokio::sync::oneshot;
use tower_lsp::ls_types::{
    CodeAction, CodeActionOrCommand, CodeLens, DocumentDiagnosticReport, InlayHint, Range,
    TextDocumentContentChangeEvent,
};

use super::propose::Answered;
use super::requests::AgentRequest;
use super::turns::TurnNote;
use super::work::Done;
use crate::env::Env;
use crate::failure::Failure;
use crate::lsp::actions::{CommentPlace, ResolveData};
use crate::lsp::outbox::Outbox;
use crate::lsp::profile::ClientProfile;

/// One connection, unique in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClientId(pub(crate) u64);

/// Where the answer to a request goes; dropped unanswered only when the hub itself is gone.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Failure>>;

/// An answer that is put in wire form by whoever asked, from a snapshot: a large one costs the hub's
/// thread nothing.
pub(crate) type Later<T> = Box<dyn FnOnce() -> T + Send>;

/// What wakes a hub.
pub(crate) enum Event {
    /// A client joins.
    Attach {
        client: ClientId,
        profile: Box<ClientProfile>,
        outbox: Outbox,
        env: Arc<Env>,
    },
    /// A client is gone; its documents go with it.
    Detach { client: ClientId },
    /// `textDocument/didOpen`.
    Open {
        client: ClientId,
        uri: String,
        version: i32,
        text: String,
    },
    /// `textDocument/didChange`.
    Change {
        client: ClientId,
        uri: String,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
    },
    /// `textDocument/didSave`.
    Save { client: ClientId, uri: String },
    /// `textDocument/didClose`.
    Close { client: ClientId, uri: String },
    /// A request of a client.
    Ask { client: ClientId, request: Request },
    /// The client's answer to an edit that was sent to it.
    Delivered {
        delivery: u64,
        client: ClientId,
        applied: Result<bool, String>,
    },
    /// The worker has finished something.
    Work(Done),
    /// A turn says something or asks for something.
    Turn(TurnNote),
    /// The process ends.
    Stop,
    /// Something that must not happen happens.
    #[cfg(test)]
    Panic,
}

/// What a client may ask of a hub.
pub(crate) enum Request {
    Status(Reply<Later<v1::StatusResult>>),
    List(
        v1::ListTransactionsParams,
        Reply<Later<v1::ListTransactionsResult>>,
    ),
    Get(String, Reply<Later<v1::Transaction>>),
    Propose(v1::ProposeParams, Reply<Later<Answered>>),
    Decide(Verb, v1::DecideParams, Reply<Later<v1::DecideResult>>),
    Amend(v1::AmendParams, Reply<Later<v1::Transaction>>),
    Split(v1::SplitParams, Reply<Later<v1::Transaction>>),
    ProposeAgain(v1::SplitParams, Reply<Later<v1::Transaction>>),
    KeepMine(v1::SplitParams, Reply<Later<v1::Transaction>>),
    Checkpoints(Reply<v1::CheckpointListResult>),
    Restore(v1::RestoreParams, Reply<v1::RestoreResult>),
    CodeActions {
        uri: String,
        range: Range,
        reply: Reply<Vec<CodeActionOrCommand>>,
    },
    CodeLenses {
        uri: String,
        reply: Reply<Vec<CodeLens>>,
    },
    InlayHints {
        uri: String,
        range: Range,
        reply: Reply<Vec<InlayHint>>,
    },
    /// The diagnostics of a document, unless they are those of the result `previous`.
    Diagnostics {
        uri: String,
        previous: Option<String>,
        reply: Reply<DocumentDiagnosticReport>,
    },
    Resolve {
        action: Box<CodeAction>,
        data: ResolveData,
        reply: Reply<CodeAction>,
    },
    /// A document for a person to read, opened in the client's editor.
    Show(Page, Reply<()>),
    /// Sends the prompt that stands in a comment, and takes the comment out.
    AskComment(CommentPlace, Reply<()>),
    /// What concerns the agent's side.
    Agent(AgentRequest),
    /// The text that the hub holds for a document, with its version: for tests and `redline doctor`.
    DocumentText(String, Reply<(i32, String)>),
}

impl Request {
    /// Answers with a failure, whatever was asked.
    pub(crate) fn refuse(self, failure: &Failure) {
        fn no<T>(reply: Reply<T>, failure: &Failure) {
            // Whoever asked may be gone.
            let _ = reply.send(Err(failure.clone()));
        }
        match self {
            Self::Status(reply) => no(reply, failure),
            Self::List(_, reply) => no(reply, failure),
            Self::Get(_, reply)
            | Self::Amend(_, reply)
            | Self::Split(_, reply)
            | Self::ProposeAgain(_, reply)
            | Self::KeepMine(_, reply) => no(reply, failure),
            Self::Propose(_, reply) => no(reply, failure),
            Self::Decide(_, _, reply) => no(reply, failure),
            Self::Checkpoints(reply) => no(reply, failure),
            Self::Restore(_, reply) => no(reply, failure),
            Self::CodeActions { reply, .. } => no(reply, failure),
            Self::CodeLenses { reply, .. } => no(reply, failure),
            Self::InlayHints { reply, .. } => no(reply, failure),
            Self::Diagnostics { reply, .. } => no(reply, failure),
            Self::Resolve { reply, .. } => no(reply, failure),
            Self::Show(_, reply) => no(reply, failure),
            Self::AskComment(_, reply) => no(reply, failure),
            Self::Agent(request) => request.refuse(failure),
            Self::DocumentText(_, reply) => no(reply, failure),
        }
    }
}

/// A decision on what is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Accept,
    Reject,
    Withdraw,
}

/// A page that a client can be shown.
#[derive(Debug, Clone)]
pub(crate) enum Page {
    /// The diff of a transaction, or of all that is pending.
    Diff(Option<String>),
    /// The three sides of a conflict.
    Sides(v1::SplitParams),
    /// The review document, at a transaction if one is named.
    Review(Option<String>),
    /// The prompt file.
    Prompt,
    /// A file of the workspace at a line, counted from 1.
    Place { path: String, line: u32 },
}

/// Sends events to one hub. Cloning shares it.
#[derive(Clone)]
pub(crate) struct HubHandle {
    inbox: mpsc::Sender<Event>,
    alive: Arc<AtomicBool>,
}

impl HubHandle {
    pub(crate) fn new(inbox: mpsc::Sender<Event>) -> Self {
        Self {
            inbox,
            alive: Arc::new(AtomicBool::new(true)),
        }
    }

    /// Whether the hub still takes events in.
    pub(crate) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::SeqCst)
    }

    /// The hub takes no more events in: whoever comes next needs a new one.
    pub(crate) fn retire(&self) {
        self.alive.store(false, Ordering::SeqCst);
    }

    /// Puts `event` in the hub's queue; `false` when the hub is gone.
    pub(crate) fn send(&self, event: Event) -> bool {
        self.inbox.send(event).is_ok()
    }

    /// Sends a request, at once, and gives the future of its answer.
    pub(crate) fn ask<T, F>(
        &self,
        client: ClientId,
        request: F,
    ) -> impl Future<Output = Result<T, Failure>> + Send + 'static + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(Reply<T>) -> Request,
    {
        let (reply, answer) = oneshot::channel();
        self.send(Event::Ask {
            client,
            request: request(reply),
        });
        async move {
            answer.await.unwrap_or_else(|_| {
                Err(Failure::new(
                    "INTERNAL",
                    "the workspace's hub ended before it answered",
                    "try again: the hub is rebuilt from what is stored",
                ))
            })
        }
    }
}
