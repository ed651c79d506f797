//! Sending what an outbox holds to its client.
//!
//! Owns: requests to the client, each in a task of its own with a time-out.
//! Must not know: why anything is sent.

use std::time::Duration;

use redline_protocol::v1;
use tower_lsp::Client;
use tower_lsp::ls_types::{
    ApplyWorkspaceEditParams, MessageActionItem, MessageType, PublishDiagnosticsParams,
    ShowDocumentParams, Uri, WorkDoneProgress, WorkDoneProgressBegin, WorkDoneProgressEnd,
    WorkDoneProgressReport, notification, request,
};

use super::outbox::{Message, Outbox, Progress, Refresh, Subject};
use crate::failure::Failure;
use crate::hub::event::{ClientId, Event, HubHandle, Request};
use crate::hub::requests::AgentRequest;

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

struct ApprovalChanged;

impl notification::Notification for ApprovalChanged {
    type Params = v1::ApprovalChangedNotification;
    const METHOD: &'static str = v1::method::APPROVAL_CHANGED;
}

struct PlanChanged;

impl notification::Notification for PlanChanged {
    type Params = v1::PlanChangedNotification;
    const METHOD: &'static str = v1::method::PLAN_CHANGED;
}

struct JobChanged;

impl notification::Notification for JobChanged {
    type Params = v1::JobChangedNotification;
    const METHOD: &'static str = v1::method::JOB_CHANGED;
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
            Message::Refresh(what) => {
                tokio::spawn(refresh(client.clone(), what));
            }
            Message::Changed(change) => client.send_notification::<Changed>(change).await,
            Message::Session(update) => client.send_notification::<SessionUpdate>(update).await,
            Message::Approvals(change) => {
                client.send_notification::<ApprovalChanged>(change).await;
            }
            Message::Plans(change) => client.send_notification::<PlanChanged>(change).await,
            Message::Job(change) => client.send_notification::<JobChanged>(change).await,
            Message::Ask { hub, about, text } => {
                tokio::spawn(ask(client.clone(), hub, id, about, text, outbox.clone()));
            }
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

/// Has the client ask again for what it shows.
async fn refresh(client: Client, what: Refresh) {
    let diagnostics = async {
        if what.diagnostics {
            timely(client.workspace_diagnostic_refresh()).await?;
        }
        Ok::<(), String>(())
    };
    let lenses = async {
        if what.lenses {
            timely(client.code_lens_refresh()).await?;
        }
        Ok(())
    };
    let hints = async {
        if what.hints {
            timely(client.inlay_hint_refresh()).await?;
        }
        Ok(())
    };
    // All at once: a client that is slow with one may be quick with another.
    if let Err(error) = tokio::try_join!(diagnostics, lenses, hints) {
        tracing::debug!(error, "a client did not ask again");
    }
}

/// What the user can answer: yes and no.
fn answers(about: &Subject) -> [&'static str; 2] {
    match about {
        Subject::Approval(_) => ["Approve", "Deny"],
        Subject::Plan(..) => ["Accept", "Reject"],
    }
}

/// Asks for a decision. There is no time-out: a person takes their time, and may decide elsewhere.
async fn ask(
    client: Client,
    hub: HubHandle,
    id: ClientId,
    about: Subject,
    text: String,
    outbox: Outbox,
) {
    let [yes, no] = answers(&about);
    let actions = [yes, no].map(|title| MessageActionItem {
        title: title.to_owned(),
        properties: std::collections::HashMap::new(),
    });
    let question = format!("Redline: {text}");
    let answer =
        client.show_message_request(MessageType::WARNING, question, Some(actions.to_vec()));
    let answer = tokio::select! {
        answer = answer => answer,
        () = outbox.closed().cancelled_owned() => return,
    };
    let Ok(Some(chosen)) = answer else { return };
    // Anything but the two titles, as a closed message, is no answer.
    let is_yes = match chosen.title.as_str() {
        title if title == yes => true,
        title if title == no => false,
        _ => return,
    };
    if let Err(failure) = decide(&hub, id, about, is_yes).await {
        let text = format!("{}: {}", failure.code, failure.message);
        client.show_message(MessageType::INFO, text).await;
    }
}

async fn decide(hub: &HubHandle, id: ClientId, about: Subject, yes: bool) -> Result<(), Failure> {
    match about {
        Subject::Approval(approval) => {
            let params = v1::DecideApprovalParams {
                approval_id: Some(approval),
                decision: match yes {
                    true => v1::ApprovalDecision::Approve,
                    false => v1::ApprovalDecision::Deny,
                },
                reason: None,
            };
            let decided = hub.ask(id, |reply| {
                Request::Agent(AgentRequest::DecideApproval(params, reply))
            });
            decided.await.map(drop)
        }
        Subject::Plan(plan, revision) => {
            let params = v1::DecidePlanParams {
                plan_id: Some(plan),
                revision: Some(revision),
                decision: match yes {
                    true => v1::PlanDecision::Accept,
                    false => v1::PlanDecision::Reject,
                },
                reason: None,
            };
            let decided = hub.ask(id, |reply| {
                Request::Agent(AgentRequest::DecidePlan(params, reply))
            });
            decided.await.map(drop)
        }
    }
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
    if !matches!(&shown, Ok(true)) {
        tracing::debug!(?shown, "a document was not shown");
        let text = format!("Redline: open {}", path.display());
        client.show_message(MessageType::INFO, text).await;
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
