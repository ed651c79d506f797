//! The language server that one client sees.
//!
//! Owns: the mapping of LSP and `redline/…` messages to events of hubs, and which hub a document
//! belongs to.
//! Must not know: transactions or hunks; handlers send and await, nothing else.
//!
//! Invariant: a handler sends to its hub before its first await, so the order in which a client spoke
//! is the order in which its hub hears.

mod agent;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use redline_protocol::v1;
use serde::Serialize;
use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::ls_types::{
    CodeAction, CodeActionKind, CodeActionOptions, CodeActionParams, CodeActionProviderCapability,
    CodeActionResponse, CodeLens, CodeLensOptions, CodeLensParams, DiagnosticOptions,
    DiagnosticServerCapabilities, DidChangeTextDocumentParams, DidChangeWorkspaceFoldersParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DidSaveTextDocumentParams,
    DocumentDiagnosticParams, DocumentDiagnosticReportResult, ExecuteCommandOptions,
    ExecuteCommandParams, InitializeParams, InitializeResult, InitializedParams, InlayHint,
    InlayHintParams, LSPAny, OneOf, ProgressToken, SaveOptions, ServerCapabilities, ServerInfo,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri, WorkDoneProgressCancelParams,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use tower_lsp::{Client, LanguageServer};

use super::actions::{ResolveData, command};
use super::commands;
use super::outbox::Outbox;
use super::profile::ClientProfile;
use super::written::Written;
use crate::env::Env;
use crate::failure::Failure;
use crate::hub::event::{ClientId, Event, HubHandle, Later, Reply, Request, Verb};
use crate::hub::requests::AgentRequest;
use crate::hubs::{Hubs, Origin};

/// One client's server.
pub(crate) struct Face {
    id: ClientId,
    hubs: Arc<Hubs>,
    client: Client,
    outbox: Outbox,
    env: Arc<Env>,
    job: Option<String>,
    profile: OnceLock<ClientProfile>,
    routes: Mutex<Routes>,
}

/// Which hub serves which document.
#[derive(Default)]
struct Routes {
    /// Attached hubs; the first is the one that requests without a document go to.
    attached: Vec<HubHandle>,
    roots: Vec<(std::path::PathBuf, HubHandle)>,
    documents: HashMap<String, HubHandle>,
}

impl Face {
    pub(crate) fn new(
        id: ClientId,
        hubs: Arc<Hubs>,
        client: Client,
        outbox: Outbox,
        origin: Origin,
    ) -> Self {
        Self {
            id,
            hubs,
            client,
            outbox,
            env: Arc::new(origin.env),
            job: origin.job,
            profile: OnceLock::new(),
            routes: Mutex::default(),
        }
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Attaches this client to the hub of the project that `root` lies in.
    fn attach(&self, root: &std::path::Path) -> std::result::Result<HubHandle, Failure> {
        let mut routes = self.routes();
        if let Some((_, hub)) = routes.roots.iter().find(|(known, _)| known == root) {
            return Ok(hub.clone());
        }
        let hub = self.hubs.hub(root)?;
        let Some(profile) = self.profile.get() else {
            return Err(Failure::internal("a request came before `initialize`"));
        };
        hub.send(Event::Attach {
            client: self.id,
            profile: Box::new(profile.clone()),
            outbox: self.outbox.clone(),
            env: Arc::clone(&self.env),
        });
        routes.roots.push((root.to_owned(), hub.clone()));
        routes.attached.push(hub.clone());
        Ok(hub)
    }

    /// The hub of a document: the deepest root above it, else the project that it lies in.
    fn route(&self, uri: &str) -> std::result::Result<HubHandle, Failure> {
        {
            let routes = self.routes();
            if let Some(hub) = routes.documents.get(uri) {
                return Ok(hub.clone());
            }
        }
        let path = self.hubs.path_of(uri)?;
        if let Some(root) = self.hubs.root_of_page(&path) {
            return self.attach(&root);
        }
        let known = {
            let routes = self.routes();
            routes
                .roots
                .iter()
                .filter(|(root, _)| path.starts_with(root))
                .max_by_key(|(root, _)| root.as_os_str().len())
                .map(|(_, hub)| hub.clone())
        };
        match known {
            Some(hub) => Ok(hub),
            None => self.attach(&self.hubs.project_of(&path)),
        }
    }

    /// The hub for requests that name no document.
    fn main_hub(&self) -> Result<HubHandle> {
        self.routes().attached.first().cloned().ok_or_else(|| {
            Failure::new(
                "NOT_FOUND",
                "no workspace is open in this client",
                "open a folder, or a file that lies in one",
            )
            .to_jsonrpc()
        })
    }

    async fn ask<T: Send + 'static>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T> {
        let answer = self.main_hub()?.ask(self.id, request);
        answer.await.map_err(|failure| failure.to_jsonrpc())
    }

    fn notify(&self, uri: &Uri, event: impl FnOnce(ClientId, String) -> Event) {
        let uri = uri.as_str().to_owned();
        match self.route(&uri) {
            Ok(hub) => {
                hub.send(event(self.id, uri));
            }
            Err(failure) => tracing::debug!(code = failure.code, "a document is not ours"),
        }
    }

    /// Asks for what may be large: it is put together and written down here, off the hub's thread.
    async fn ask_large<T: Serialize + 'static>(
        &self,
        request: impl FnOnce(Reply<Later<T>>) -> Request,
    ) -> Result<Written> {
        let answer = self.ask(request).await?;
        Written::of(&answer())
    }

    pub(crate) async fn status(&self, _params: v1::StatusParams) -> Result<Written> {
        self.ask_large(Request::Status).await
    }

    pub(crate) async fn list(&self, params: v1::ListTransactionsParams) -> Result<Written> {
        self.ask_large(|reply| Request::List(params, reply)).await
    }

    pub(crate) async fn get(&self, params: v1::GetTransactionParams) -> Result<Written> {
        self.ask_large(|reply| Request::Get(params.transaction_id, reply))
            .await
    }

    pub(crate) async fn propose(&self, params: v1::ProposeParams) -> Result<Written> {
        self.ask_large(|reply| Request::Propose(params, reply))
            .await
    }

    pub(crate) async fn accept(&self, params: v1::DecideParams) -> Result<Written> {
        self.ask_large(|reply| Request::Decide(Verb::Accept, params, reply))
            .await
    }

    pub(crate) async fn reject(&self, params: v1::DecideParams) -> Result<Written> {
        let verb = if params.withdraw {
            Verb::Withdraw
        } else {
            Verb::Reject
        };
        self.ask_large(|reply| Request::Decide(verb, params, reply))
            .await
    }

    pub(crate) async fn amend(&self, params: v1::AmendParams) -> Result<Written> {
        self.ask_large(|reply| Request::Amend(params, reply)).await
    }

    pub(crate) async fn split(&self, params: v1::SplitParams) -> Result<Written> {
        self.ask_large(|reply| Request::Split(params, reply)).await
    }

    pub(crate) async fn repropose(&self, params: v1::ReproposeParams) -> Result<Written> {
        let params = v1::SplitParams {
            transaction_id: params.transaction_id,
            hunk: params.hunk,
        };
        self.ask_large(|reply| Request::ProposeAgain(params, reply))
            .await
    }

    pub(crate) async fn checkpoints(
        &self,
        _params: v1::CheckpointListParams,
    ) -> Result<v1::CheckpointListResult> {
        self.ask(Request::Checkpoints).await
    }

    pub(crate) async fn restore(&self, params: v1::RestoreParams) -> Result<v1::RestoreResult> {
        self.ask(|reply| Request::Restore(params, reply)).await
    }

    /// `window/workDoneProgress/cancel`: the client's stop button.
    pub(crate) async fn stop(&self, params: WorkDoneProgressCancelParams) {
        let ProgressToken::String(token) = params.token else {
            return;
        };
        let Some(turn_id) = token.strip_prefix("redline/").map(str::to_owned) else {
            return;
        };
        let params = v1::CancelParams {
            turn_id: Some(turn_id),
            ..v1::CancelParams::default()
        };
        let answer = self.ask(|reply| Request::Agent(AgentRequest::Cancel(params, reply)));
        // There is nobody to tell: a turn that is over cannot be cancelled.
        let _ = answer.await;
    }

    /// What the server holds for a document: `{"textDocument": {"uri"}}` -> `{"version", "text"}`.
    pub(crate) async fn document_text(&self, params: Value) -> Result<Value> {
        let uri = params
            .get("textDocument")
            .unwrap_or(&params)
            .get("uri")
            .and_then(Value::as_str)
            .ok_or_else(|| Error::invalid_params("`textDocument.uri` is missing"))?
            .to_owned();
        let hub = self.route(&uri).map_err(|failure| failure.to_jsonrpc())?;
        let (version, text) = hub
            .ask(self.id, |reply| Request::DocumentText(uri, reply))
            .await
            .map_err(|failure| failure.to_jsonrpc())?;
        Ok(serde_json::json!({"version": version, "text": text}))
    }
}

impl Drop for Face {
    fn drop(&mut self) {
        self.outbox.close();
        for hub in &self.routes().attached {
            hub.send(Event::Detach { client: self.id });
        }
        self.hubs.released();
    }
}

impl LanguageServer for Face {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let profile = ClientProfile {
            job: self.job.clone(),
            ..ClientProfile::read(&params)
        };
        let encoding = profile.encoding_kind();
        let plain = profile.is_plain();
        let (lenses, hints) = (plain && profile.lenses, plain && profile.hints);
        let pulls = plain && profile.pulls_diagnostics;
        // `initialize` comes once: the framework refuses a second one.
        let _ = self.profile.set(profile);
        for root in super::roots(&params) {
            match self.hubs.path_of(&root) {
                Ok(path) => {
                    self.attach(&path).map_err(|failure| failure.to_jsonrpc())?;
                }
                Err(failure) => tracing::warn!(code = failure.code, "a folder is not a local one"),
            }
        }
        Ok(InitializeResult {
            capabilities: ServerCapabilities {
                position_encoding: Some(encoding),
                text_document_sync: Some(TextDocumentSyncCapability::Options(
                    TextDocumentSyncOptions {
                        open_close: Some(true),
                        change: Some(TextDocumentSyncKind::INCREMENTAL),
                        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions {
                            include_text: Some(false),
                        })),
                        ..TextDocumentSyncOptions::default()
                    },
                )),
                code_action_provider: Some(CodeActionProviderCapability::Options(
                    CodeActionOptions {
                        code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
                        resolve_provider: Some(true),
                        ..CodeActionOptions::default()
                    },
                )),
                code_lens_provider: lenses.then_some(CodeLensOptions {
                    resolve_provider: Some(false),
                }),
                inlay_hint_provider: hints.then_some(OneOf::Left(true)),
                diagnostic_provider: pulls.then(|| {
                    DiagnosticServerCapabilities::Options(DiagnosticOptions {
                        identifier: Some("redline".to_owned()),
                        inter_file_dependencies: true,
                        workspace_diagnostics: false,
                        ..DiagnosticOptions::default()
                    })
                }),
                execute_command_provider: Some(ExecuteCommandOptions {
                    commands: command::ALL.map(str::to_owned).to_vec(),
                    ..ExecuteCommandOptions::default()
                }),
                workspace: Some(WorkspaceServerCapabilities {
                    workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                        supported: Some(true),
                        change_notifications: Some(OneOf::Left(true)),
                    }),
                    ..WorkspaceServerCapabilities::default()
                }),
                experimental: Some(serde_json::json!({"redline": {"version": 1}})),
                ..ServerCapabilities::default()
            },
            server_info: Some(ServerInfo {
                name: "redline".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
            ..InitializeResult::default()
        })
    }

    async fn initialized(&self, _: InitializedParams) {
        // The framework drops what is sent before this point.
        tokio::spawn(super::client::drain(
            self.client.clone(),
            self.outbox.clone(),
            self.id,
        ));
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        let document = params.text_document;
        let uri = document.uri.as_str().to_owned();
        match self.route(&uri) {
            Ok(hub) => {
                self.routes().documents.insert(uri.clone(), hub.clone());
                hub.send(Event::Open {
                    client: self.id,
                    uri,
                    version: document.version,
                    text: document.text,
                });
            }
            Err(failure) => tracing::debug!(code = failure.code, "a document is not ours"),
        }
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.notify(&params.text_document.uri, |client, uri| Event::Change {
            client,
            uri,
            version: params.text_document.version,
            changes: params.content_changes,
        });
    }

    async fn did_save(&self, params: DidSaveTextDocumentParams) {
        self.notify(&params.text_document.uri, |client, uri| Event::Save {
            client,
            uri,
        });
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.notify(&params.text_document.uri, |client, uri| Event::Close {
            client,
            uri,
        });
        self.routes()
            .documents
            .remove(params.text_document.uri.as_str());
    }

    async fn did_change_workspace_folders(&self, params: DidChangeWorkspaceFoldersParams) {
        for folder in params.event.added {
            let attached = self
                .hubs
                .path_of(folder.uri.as_str())
                .and_then(|path| self.attach(&path));
            if let Err(failure) = attached {
                tracing::warn!(code = failure.code, "a folder could not be opened");
            }
        }
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let wanted = params.context.only.as_ref().is_none_or(|only| {
            only.iter()
                .any(|kind| kind.as_str().is_empty() || kind.as_str().starts_with("quickfix"))
        });
        if !wanted {
            return Ok(None);
        }
        let uri = params.text_document.uri.as_str().to_owned();
        let hub = self.route(&uri).map_err(|failure| failure.to_jsonrpc())?;
        let answer = hub.ask(self.id, |reply| Request::CodeActions {
            uri,
            range: params.range,
            reply,
        });
        let actions = answer.await.map_err(|failure| failure.to_jsonrpc())?;
        Ok((!actions.is_empty()).then_some(actions))
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        let uri = params.text_document.uri.as_str().to_owned();
        let hub = self.route(&uri).map_err(|failure| failure.to_jsonrpc())?;
        let answer = hub.ask(self.id, |reply| Request::CodeLenses { uri, reply });
        answer
            .await
            .map(Some)
            .map_err(|failure| failure.to_jsonrpc())
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        let uri = params.text_document.uri.as_str().to_owned();
        let hub = self.route(&uri).map_err(|failure| failure.to_jsonrpc())?;
        let range = params.range;
        let answer = hub.ask(self.id, |reply| Request::InlayHints { uri, range, reply });
        answer
            .await
            .map(Some)
            .map_err(|failure| failure.to_jsonrpc())
    }

    async fn diagnostic(
        &self,
        params: DocumentDiagnosticParams,
    ) -> Result<DocumentDiagnosticReportResult> {
        let uri = params.text_document.uri.as_str().to_owned();
        let hub = self.route(&uri).map_err(|failure| failure.to_jsonrpc())?;
        let previous = params.previous_result_id;
        let answer = hub.ask(self.id, |reply| Request::Diagnostics {
            uri,
            previous,
            reply,
        });
        let report = answer.await.map_err(|failure| failure.to_jsonrpc())?;
        Ok(report.into())
    }

    async fn code_action_resolve(&self, action: CodeAction) -> Result<CodeAction> {
        let data = action
            .data
            .clone()
            .and_then(|data| serde_json::from_value::<ResolveData>(data).ok());
        // Some editors resolve every action, also those that have nothing to resolve.
        let Some(data) = data else {
            return Ok(action);
        };
        let hub = self
            .route(&data.uri)
            .map_err(|failure| failure.to_jsonrpc())?;
        hub.ask(self.id, |reply| Request::Resolve {
            action: Box::new(action),
            data,
            reply,
        })
        .await
        .map_err(|failure| failure.to_jsonrpc())
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<LSPAny>> {
        let hub = self.main_hub()?;
        commands::execute(&hub, self.id, &params.command, params.arguments)
            .await
            .map_err(|failure| {
                self.outbox.push(super::outbox::Message::Show {
                    level: tower_lsp::ls_types::MessageType::ERROR,
                    text: format!("{}: {}\n{}", failure.code, failure.message, failure.hint)
                        .trim_end()
                        .to_owned(),
                });
                failure.to_jsonrpc()
            })
    }
}
