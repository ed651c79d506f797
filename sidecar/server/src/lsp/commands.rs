//! `workspace/executeCommand`: the product, for clients that know nothing of it.
//!
//! Owns: reading arguments as people and editors write them.
//! Must not know: how anything is carried out.
//!
//! Arguments, all optional: the object of the matching `redline/…` request; or a path and a 1-based
//! line; or a hunk id; for `redline.ask` a sentence.

use redline_protocol::v1::{
    ApprovalDecision, CancelParams, DecideApprovalParams, DecideParams, DecidePlanParams,
    DecideTrustParams, HunkRef, LineRange, ListTrustParams, PlanDecision, PromptParams,
    RestoreDirection, RestoreParams, SetModeParams, SplitParams,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::actions::{CommentPlace, command};
use crate::failure::Failure;
use crate::hub::event::{ClientId, HubHandle, Later, Page, Request, Verb};
use crate::hub::requests::AgentRequest;

/// Runs one command; the answer is what the matching request would answer.
pub(crate) fn execute(
    hub: &HubHandle,
    client: ClientId,
    name: &str,
    arguments: Vec<Value>,
) -> impl Future<Output = Result<Option<Value>, Failure>> + Send + use<> {
    // The request is sent here, before the first await.
    let answer = start(hub, client, name, &arguments);
    async move {
        match answer {
            Ok(answer) => answer.await,
            Err(failure) => Err(failure),
        }
    }
}

type Answer = std::pin::Pin<Box<dyn Future<Output = Result<Option<Value>, Failure>> + Send>>;

fn start(
    hub: &HubHandle,
    client: ClientId,
    name: &str,
    arguments: &[Value],
) -> Result<Answer, Failure> {
    Ok(match name {
        command::ACCEPT => decide(hub, client, Verb::Accept, arguments)?,
        command::REJECT => decide(hub, client, Verb::Reject, arguments)?,
        command::WITHDRAW => {
            let params = one_hunk(name, arguments)?;
            boxed_later(hub.ask(client, |reply| Request::KeepMine(params, reply)))
        }
        command::SPLIT => {
            let params = one_hunk(name, arguments)?;
            boxed_later(hub.ask(client, |reply| Request::Split(params, reply)))
        }
        command::REPROPOSE => {
            let params = one_hunk(name, arguments)?;
            boxed_later(hub.ask(client, |reply| Request::ProposeAgain(params, reply)))
        }
        command::SHOW_SIDES => {
            let params = one_hunk(name, arguments)?;
            boxed(hub.ask(client, |reply| Request::Show(Page::Sides(params), reply)))
        }
        command::SHOW_DIFF => {
            let transaction = decision(name, arguments)?.transaction_id;
            boxed(hub.ask(client, |reply| {
                Request::Show(Page::Diff(transaction), reply)
            }))
        }
        command::REVIEW => {
            let transaction = decision(name, arguments)?.transaction_id;
            boxed(hub.ask(client, |reply| {
                Request::Show(Page::Review(transaction), reply)
            }))
        }
        command::PROMPT => boxed(hub.ask(client, |reply| Request::Show(Page::Prompt, reply))),
        command::OPEN => {
            let place = place(arguments)?;
            boxed(hub.ask(client, |reply| Request::Show(place, reply)))
        }
        command::ASK_COMMENT => {
            let [place] = arguments else {
                return Err(bad_arguments(name, "it belongs to a code action"));
            };
            let place: CommentPlace = read(name, place)?;
            boxed(hub.ask(client, |reply| Request::AskComment(place, reply)))
        }
        command::UNDO => restore(hub, client, RestoreDirection::Undo, arguments),
        command::REDO => restore(hub, client, RestoreDirection::Redo, arguments),
        command::ASK => {
            let params = prompt(arguments)?;
            boxed(hub.ask(client, |reply| {
                Request::Agent(AgentRequest::Prompt(params, reply))
            }))
        }
        command::CANCEL => boxed(hub.ask(client, |reply| {
            Request::Agent(AgentRequest::Cancel(CancelParams::default(), reply))
        })),
        command::APPROVE => approval(hub, client, ApprovalDecision::Approve, arguments)?,
        command::DENY => approval(hub, client, ApprovalDecision::Deny, arguments)?,
        command::ACCEPT_PLAN => plan(hub, client, PlanDecision::Accept, arguments)?,
        command::REJECT_PLAN => plan(hub, client, PlanDecision::Reject, arguments)?,
        command::MODE => {
            let params = mode(arguments)?;
            boxed(hub.ask(client, |reply| {
                Request::Agent(AgentRequest::SetMode(params, reply))
            }))
        }
        command::TRUST => trust(hub, client, arguments)?,
        command::STATUS => boxed_later(hub.ask(client, Request::Status)),
        _ => {
            return Err(Failure::new(
                "UNSUPPORTED",
                format!("`{name}` is no command of Redline"),
                format!("commands are: {}", command::ALL.join(", ")),
            ));
        }
    })
}

fn boxed<T: Serialize + Send + 'static>(
    answer: impl Future<Output = Result<T, Failure>> + Send + 'static,
) -> Answer {
    Box::pin(async move {
        let value = answer.await?;
        serde_json::to_value(value)
            .map(Some)
            .map_err(|error| Failure::internal(error.to_string()))
    })
}

fn boxed_later<T: Serialize + Send + 'static>(
    answer: impl Future<Output = Result<Later<T>, Failure>> + Send + 'static,
) -> Answer {
    boxed(async move { answer.await.map(|later| later()) })
}

fn decide(
    hub: &HubHandle,
    client: ClientId,
    verb: Verb,
    arguments: &[Value],
) -> Result<Answer, Failure> {
    let params = decision("redline.accept", arguments)?;
    Ok(boxed_later(
        hub.ask(client, |reply| Request::Decide(verb, params, reply)),
    ))
}

fn restore(
    hub: &HubHandle,
    client: ClientId,
    direction: RestoreDirection,
    arguments: &[Value],
) -> Answer {
    let id = arguments.first().and_then(Value::as_str).map(str::to_owned);
    boxed(hub.ask(client, |reply| {
        Request::Restore(RestoreParams { id, direction }, reply)
    }))
}

/// The object itself; or an id and a reason; or nothing, for the only one that waits.
fn approval(
    hub: &HubHandle,
    client: ClientId,
    decision: ApprovalDecision,
    arguments: &[Value],
) -> Result<Answer, Failure> {
    let name = match decision {
        ApprovalDecision::Approve => command::APPROVE,
        ApprovalDecision::Deny => command::DENY,
    };
    let text = |at: usize| arguments.get(at).and_then(Value::as_str).map(str::to_owned);
    let params = match arguments {
        [object @ Value::Object(_)] => DecideApprovalParams {
            // The command's name decides, whatever else the object says.
            decision,
            ..read(name, object)?
        },
        [] | [Value::Null] | [Value::String(_), ..] => DecideApprovalParams {
            approval_id: text(0),
            decision,
            reason: text(1),
        },
        _ => return Err(bad_arguments(name, "give an object, an id, or nothing")),
    };
    Ok(boxed(hub.ask(client, |reply| {
        Request::Agent(AgentRequest::DecideApproval(params, reply))
    })))
}

/// The object itself; or an id and a reason; or nothing, for the only one that waits.
fn plan(
    hub: &HubHandle,
    client: ClientId,
    decision: PlanDecision,
    arguments: &[Value],
) -> Result<Answer, Failure> {
    let name = match decision {
        PlanDecision::Accept => command::ACCEPT_PLAN,
        PlanDecision::Reject => command::REJECT_PLAN,
    };
    let text = |at: usize| arguments.get(at).and_then(Value::as_str).map(str::to_owned);
    let params = match arguments {
        [object @ Value::Object(_)] => DecidePlanParams {
            decision,
            ..read(name, object)?
        },
        [] | [Value::Null] | [Value::String(_), ..] => DecidePlanParams {
            plan_id: text(0),
            revision: None,
            decision,
            reason: text(1),
        },
        _ => return Err(bad_arguments(name, "give an object, an id, or nothing")),
    };
    Ok(boxed(hub.ask(client, |reply| {
        Request::Agent(AgentRequest::DecidePlan(params, reply))
    })))
}

/// The object itself, or the word for a mode.
fn mode(arguments: &[Value]) -> Result<SetModeParams, Failure> {
    match arguments {
        [object @ Value::Object(_)] => read(command::MODE, object),
        [word @ Value::String(_)] => Ok(SetModeParams {
            session_id: None,
            mode_id: read(command::MODE, word)?,
        }),
        _ => Err(bad_arguments(
            command::MODE,
            "name a mode: manual, plan or auto",
        )),
    }
}

/// The object itself, or nothing: to see what asks. Trust is never given by a command that names nothing.
fn trust(hub: &HubHandle, client: ClientId, arguments: &[Value]) -> Result<Answer, Failure> {
    let params: DecideTrustParams = match arguments {
        [] | [Value::Null] => {
            return Ok(boxed(hub.ask(client, |reply| {
                Request::Agent(AgentRequest::ListTrust(ListTrustParams::default(), reply))
            })));
        }
        [object @ Value::Object(_)] => read(command::TRUST, object)?,
        _ => return Err(bad_arguments(command::TRUST, "give an object, or nothing")),
    };
    if params.items.is_empty() && !params.revoke {
        return Err(bad_arguments(
            command::TRUST,
            "name what you trust, in items",
        ));
    }
    Ok(boxed(hub.ask(client, |reply| {
        Request::Agent(AgentRequest::DecideTrust(params, reply))
    })))
}

/// The object itself; or `path, line`; or an id of a transaction or a hunk; or nothing.
fn decision(name: &str, arguments: &[Value]) -> Result<DecideParams, Failure> {
    match arguments {
        [] | [Value::Null] => Ok(DecideParams::default()),
        [object @ Value::Object(_)] => read(name, object),
        [Value::String(id)] if id.starts_with("tx_") => Ok(DecideParams {
            transaction_id: Some(id.clone()),
            ..DecideParams::default()
        }),
        [Value::String(id)] if id.starts_with("h_") => Ok(DecideParams {
            hunks: vec![HunkRef {
                id: id.clone(),
                revision: None,
            }],
            ..DecideParams::default()
        }),
        [Value::String(path), line] => {
            let line = line
                .as_u64()
                .or_else(|| line.as_str().and_then(|line| line.parse().ok()))
                .and_then(|line| u32::try_from(line).ok())
                .ok_or_else(|| bad_arguments(name, "the line must be a number, counted from 1"))?;
            Ok(DecideParams {
                lines: vec![LineRange {
                    path: path.clone(),
                    start: line,
                    end: line,
                }],
                ..DecideParams::default()
            })
        }
        _ => Err(bad_arguments(
            name,
            "give an object, a path and a line, an id, or nothing",
        )),
    }
}

/// `{"path", "line"}`, or both one after the other; lines count from 1.
fn place(arguments: &[Value]) -> Result<Page, Failure> {
    let (path, line) = match arguments {
        [object @ Value::Object(_)] => (object.get("path"), object.get("line")),
        [path, line] => (Some(path), Some(line)),
        _ => (None, None),
    };
    let line = line.and_then(Value::as_u64);
    match (
        path.and_then(Value::as_str),
        line.and_then(|line| line.try_into().ok()),
    ) {
        (Some(path), Some(line)) => Ok(Page::Place {
            path: path.to_owned(),
            line,
        }),
        _ => Err(bad_arguments(command::OPEN, "give a path and a line")),
    }
}

fn one_hunk(name: &str, arguments: &[Value]) -> Result<SplitParams, Failure> {
    let params = decision(name, arguments)?;
    let hunk = params
        .hunks
        .into_iter()
        .next()
        .ok_or_else(|| bad_arguments(name, "name one hunk"))?;
    Ok(SplitParams {
        transaction_id: params.transaction_id,
        hunk,
    })
}

fn prompt(arguments: &[Value]) -> Result<PromptParams, Failure> {
    match arguments {
        [object @ Value::Object(_)] => read(command::ASK, object),
        [Value::String(text), ..] => {
            let words: Vec<&str> = arguments.iter().filter_map(Value::as_str).collect();
            let text = if words.len() == arguments.len() {
                words.join(" ")
            } else {
                text.clone()
            };
            Ok(PromptParams {
                text,
                ..PromptParams::default()
            })
        }
        _ => Err(bad_arguments(command::ASK, "say what you want, as a text")),
    }
}

fn read<T: DeserializeOwned>(name: &str, value: &Value) -> Result<T, Failure> {
    serde_json::from_value(value.clone()).map_err(|error| bad_arguments(name, &error.to_string()))
}

fn bad_arguments(name: &str, why: &str) -> Failure {
    Failure::new(
        "INVALID_ARGUMENTS",
        format!("`{name}`: {why}"),
        "the README lists what each command takes",
    )
}
