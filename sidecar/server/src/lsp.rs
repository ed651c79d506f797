//! The LSP face: one connection, from bytes to events of a hub and back.
//!
//! Owns: everything that is LSP. Must not know: how a decision is carried out.
//!
//! - [`transport`]: the loop between the byte stream and the framework's service
//! - `face`: the language server that one client sees
//! - `profile`: what one client can do
//! - `outbox`, `client`: what waits for a client, and its sending
//! - `actions`, `diagnostics`, `lenses`, `commands`: hunks in plain LSP; `files`: operations of whole files;
//!   `approvals`, `plans`: what waits for a yes; `comments`: prompts that stand in a comment
//! - `review`: code actions on the review document
//! - `written`: large results, past the framework

pub(crate) mod actions;
pub(crate) mod approvals;
pub(crate) mod client;
pub(crate) mod commands;
pub(crate) mod comments;
pub(crate) mod diagnostics;
pub(crate) mod face;
pub(crate) mod files;
pub(crate) mod lenses;
pub(crate) mod outbox;
pub(crate) mod plans;
pub(crate) mod profile;
pub(crate) mod review;
pub mod transport;
mod written;

use std::sync::Arc;

use redline_protocol::v1::method;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_lsp::LspService;
use tower_lsp::ls_types::InitializeParams;

use crate::hubs::{Hubs, Origin};
use face::Face;
use transport::ExitReason;

/// Serves one client over `reader` and `writer` until it exits or its stream ends.
pub async fn serve_connection<R, W>(
    hubs: Arc<Hubs>,
    reader: R,
    writer: W,
    origin: Origin,
) -> ExitReason
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let outbox = outbox::Outbox::default();
    let closed = outbox.closed();
    let id = hubs.next_client();
    let (service, socket) = LspService::build(|client| Face::new(id, hubs, client, outbox, origin))
        .custom_method(method::STATUS, Face::status)
        .custom_method(method::TRANSACTION_LIST, Face::list)
        .custom_method(method::TRANSACTION_GET, Face::get)
        .custom_method(method::TRANSACTION_PROPOSE, Face::propose)
        .custom_method(method::TRANSACTION_ACCEPT, Face::accept)
        .custom_method(method::TRANSACTION_REJECT, Face::reject)
        .custom_method(method::TRANSACTION_AMEND, Face::amend)
        .custom_method(method::TRANSACTION_SPLIT, Face::split)
        .custom_method(method::TRANSACTION_REPROPOSE, Face::repropose)
        .custom_method(method::CHECKPOINT_LIST, Face::checkpoints)
        .custom_method(method::CHECKPOINT_RESTORE, Face::restore)
        .custom_method(method::SESSION_NEW, Face::new_session)
        .custom_method(method::SESSION_LOAD, Face::load_session)
        .custom_method(method::SESSION_LIST, Face::list_sessions)
        .custom_method(method::SESSION_FORK, Face::fork_session)
        .custom_method(method::SESSION_ARCHIVE, Face::archive_session)
        .custom_method(method::SESSION_PROMPT, Face::prompt)
        .custom_method(method::SESSION_CANCEL, Face::cancel)
        .custom_method(method::SESSION_SET_MODE, Face::set_mode)
        .custom_method(method::SESSION_SET_MODEL, Face::set_model)
        .custom_method(method::TURN_EXPORT, Face::export_turn)
        .custom_method(method::APPROVAL_LIST, Face::list_approvals)
        .custom_method(method::APPROVAL_DECIDE, Face::decide_approval)
        .custom_method(method::PLAN_LIST, Face::list_plans)
        .custom_method(method::PLAN_DECIDE, Face::decide_plan)
        .custom_method(method::JOB_LIST, Face::list_jobs)
        .custom_method(method::JOB_OUTPUT, Face::job_output)
        .custom_method(method::JOB_CANCEL, Face::cancel_job)
        .custom_method(method::MODEL_LIST, Face::list_models)
        .custom_method(method::ENV_LIST, Face::list_env)
        .custom_method(method::ENV_PATCH, Face::patch_env)
        .custom_method(method::TRUST_LIST, Face::list_trust)
        .custom_method(method::TRUST_DECIDE, Face::decide_trust)
        .custom_method("window/workDoneProgress/cancel", Face::stop)
        .custom_method("redline/document/text", Face::document_text)
        .finish();
    transport::serve(service, socket, reader, writer, closed).await
}

/// URIs of the client's folders; `rootUri` only where it names no folders.
#[expect(deprecated, reason = "older clients name their root in no other way")]
fn roots(params: &InitializeParams) -> Vec<String> {
    let folders = params.workspace_folders.as_deref().unwrap_or_default();
    if folders.is_empty() {
        params
            .root_uri
            .iter()
            .map(|uri| uri.as_str().to_owned())
            .collect()
    } else {
        folders
            .iter()
            .map(|folder| folder.uri.as_str().to_owned())
            .collect()
    }
}
