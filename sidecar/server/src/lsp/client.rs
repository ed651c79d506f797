//! Sending what an outbox holds to its client.
//!
//! Owns: requests to the client, each in a task of its own with a time-out.
//! Must not know: why anything is sent.

use std::time::Duration;

use redline_protocol::v1;
use tower_lsp::Client;
use tower_lsp::ls_types::{
    ApplyWorkspaceEditParams, PublishDiagnosticsParams, ShowDocumentParams, Uri, WorkDoneProgress,
    WorkDoneProgressBegin, WorkDoneProgressEnd, WorkDoneProgressReport, notification, request,
};

use super::outbox::{Message, Outbox, Progress};
use crate::hub::event::{ClientId, Event, HubHandle};

/// How long a client may take to answer before it counts as gone silent.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

struct Changed;

impl notification::Notification for Changed {
    type Params = v1::TransactionChangedNotification;
    const METHOD: &'static str = v1::method::TRANSACTION_CHANGED;
}

struct SessionUpdate;

impl notification::Notification for SessionUpdate {
    type Params = v1::SessionUpdateNotification;
    const METHOD: &'static str = v1::method::SESSION_UPDATE;
}

/// Sends until the outbox is closed.
pub(crate) async fn drain(client: Client, outbox: Outbox, id: ClientId) {
    while let Some(message) = outbox.next().await {
        match message {
            Message::Diagnostics {
                uri,
                version,
                diagnostics,
            } => {
                let Ok(uri) = uri.parse() else { continue };
                client
                    .send_notification::<notification::PublishDiagnostics>(
                        PublishDiagnosticsParams {
                            uri,
                            diagnostics,
                            version,
                        },
                    )
                    .await;
            }
            Message::Changed(change) => client.send_notification::<Changed>(change).await,
            Message::Session(update) => client.send_notification::<SessionUpdate>(update).await,
            Message::ApplyEdit {
                hub,
                delivery,
                label,
                edit,
            } => {
                let params = ApplyWorkspaceEditParams {
                    label: Some(label),
                    edit,
                };
                tokio::spawn(deliver(client.clone(), hub, id, delivery, params));
            }
            Message::ShowDocument { path, line } => {
                tokio::spawn(show_document(client.clone(), path, line));
            }
            Message::Show { level, text } => client.show_message(level, text).await,
            Message::Progress { token, step } => {
                if matches!(step, Progress::Begin { .. })
                    && timely(client.create_work_done_progress(token.clone()))
                        .await
                        .is_err()
                {
                    continue;
                }
                client
                    .send_notification::<notification::Progress>(
                        tower_lsp::ls_types::ProgressParams {
                            token,
                            value: tower_lsp::ls_types::ProgressParamsValue::WorkDone(progress(
                                step,
                            )),
                        },
                    )
                    .await;
            }
        }
    }
}

async fn timely<T>(
    answer: impl Future<Output = tower_lsp::jsonrpc::Result<T>>,
) -> Result<T, String> {
    match tokio::time::timeout(ANSWER_TIMEOUT, answer).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.message.into_owned()),
        Err(_) => Err("no answer in time".to_owned()),
    }
}

async fn deliver(
    client: Client,
    hub: HubHandle,
    id: ClientId,
    delivery: u64,
    params: ApplyWorkspaceEditParams,
) {
    let answer = timely(client.send_request::<request::ApplyWorkspaceEdit>(params)).await;
    hub.send(Event::Delivered {
        delivery,
        client: id,
        applied: answer.map(|answer| answer.applied),
    });
}

async fn show_document(client: Client, path: std::path::PathBuf, line: Option<u32>) {
    let Some(uri) = Uri::from_file_path(&path) else {
        return;
    };
    let selection = line.map(|line| {
        let at = tower_lsp::ls_types::Position::new(line, 0);
        tower_lsp::ls_types::Range::new(at, at)
    });
    let shown = timely(client.show_document(ShowDocumentParams {
        uri,
        external: Some(false),
        take_focus: Some(true),
        selection,
    }))
    .await;
    if let Err(error) = shown {
        tracing::debug!(error, "a document was not shown");
    }
}

fn progress(step: Progress) -> WorkDoneProgress {
    match step {
        Progress::Begin { title } => WorkDoneProgress::Begin(WorkDoneProgressBegin {
            title,
            cancellable: Some(true),
            ..WorkDoneProgressBegin::default()
        }),
        Progress::Report { message } => WorkDoneProgress::Report(WorkDoneProgressReport {
            message: Some(message),
            ..WorkDoneProgressReport::default()
        }),
        Progress::End { message } => WorkDoneProgress::End(WorkDoneProgressEnd {
            message: Some(message),
        }),
    }
}
