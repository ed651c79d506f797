//! Runs the calls of one step, and waits for the user where one has to be asked.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use redline_providers::{Arguments, ArgumentsErrorKind, EditOp};
use redline_tools::{CallContext, Envelope, ErrorCode, Status, Tool, ToolError};
use serde_json::{Map, Value, json};

use super::Turn;
use super::events::Events;
use super::step::Call;
use crate::{TurnEnd, TurnEventKind};

/// Calls of one step that run at the same time.
const SIDE_BY_SIDE: usize = 8;

/// How long a call that already runs may take to end once the turn was stopped.
const STOP_GRACE: Duration = Duration::from_millis(100);

/// The edit tool, under which edits by other names run.
const EDIT_TOOL: &str = "workspace_edit";

/// A call, checked as far as it can be without running it.
struct Prepared {
    call_id: String,
    tool: String,
    title: String,
    /// `Err` is the answer to a call that cannot run.
    arguments: Result<Map<String, Value>, Box<Envelope>>,
}

/// What has become of a call.
enum Outcome {
    /// It ended; with the end of the turn, if that came meanwhile.
    Done(Envelope, Option<TurnEnd>),
    /// It waits for the user to decide on an approval or a plan.
    Staged { waits: Waits, envelope: Envelope },
    /// The user has decided; the call carries it out.
    Decided { waits: Waits },
}

/// What a call waits for, and the call that goes on once it is decided.
enum Waits {
    /// The very call, which carries the decision out.
    Approval(String),
    /// Another call of the same tool, which tells what was decided.
    Plan {
        id: String,
        arguments: Map<String, Value>,
    },
}

impl Waits {
    fn of(envelope: &Envelope) -> Option<Self> {
        if envelope.status != Status::PendingApproval {
            return None;
        }
        let recovery = &envelope.recovery;
        let id = |name: &str| Some(recovery.ids.get(name)?.as_str()?.to_owned());
        if let Some(approval) = id("approval") {
            return Some(Self::Approval(approval));
        }
        let arguments = recovery.resume.as_ref()?.get("arguments")?.as_object()?;
        Some(Self::Plan {
            id: id("plan")?,
            arguments: arguments.clone(),
        })
    }

    fn id(&self) -> &str {
        match self {
            Self::Approval(id) | Self::Plan { id, .. } => id,
        }
    }
}

impl Turn<'_> {
    /// Runs `calls`: side by side when none mutates, else one after the other.
    ///
    /// Returns whether every one of them had arguments that cannot be used. `Err` when the turn was
    /// stopped; each call has ended in an event then too.
    pub(super) async fn run_calls(
        &self,
        calls: Vec<Call>,
        events: &mut Events,
    ) -> Result<bool, TurnEnd> {
        // What a call does must not be on the disk before the call is in the record.
        events.recorded().await;
        let prepared: Vec<Prepared> = calls.into_iter().map(prepare).collect();
        let tools = &self.session.tools;
        let one_by_one = prepared
            .iter()
            .any(|call| tools.get(&call.tool).is_some_and(Tool::mutates));
        let width = if one_by_one { 1 } else { SIDE_BY_SIDE };
        let mut all_bad = true;
        let mut stopped = None;
        let mut waiting = prepared.iter().enumerate();
        let mut work = FuturesUnordered::new();
        loop {
            while work.len() < width
                && let Some((at, call)) = waiting.next()
            {
                if stopped.is_none() && tools.get(&call.tool).is_some_and(Tool::reads_disk) {
                    stopped = self.commit_edits(events).await.err();
                }
                events.emit(running(call));
                work.push(self.run_call(at, call, None).boxed());
            }
            let Some((at, outcome)) = work.next().await else {
                break;
            };
            let call = &prepared[at];
            match outcome {
                Outcome::Done(envelope, end) => {
                    stopped = stopped.or(end);
                    all_bad &= envelope.code() == Some(ErrorCode::InvalidArguments);
                    events.emit(finished(call, envelope));
                }
                Outcome::Staged { waits, envelope } => {
                    events.emit(staged(call, waits.id(), envelope));
                    work.push(self.decision(at, waits).boxed());
                }
                Outcome::Decided { waits } => {
                    events.emit(running(call));
                    events.recorded().await;
                    work.push(self.run_call(at, call, Some(waits)).boxed());
                }
            }
        }
        match stopped {
            Some(end) => Err(end),
            None => Ok(all_bad),
        }
    }

    /// Waits for the user's decision.
    async fn decision(&self, at: usize, waits: Waits) -> (usize, Outcome) {
        let began = tokio::time::Instant::now();
        let outcome = tokio::select! {
            biased;
            end = self.stop.cancelled() => {
                let error = ToolError::new(
                    ErrorCode::Cancelled,
                    "the turn was stopped while this call waited for the user",
                );
                Outcome::Done(Envelope::error("", error), Some(end))
            }
            () = self.session.steering.decided(waits.id()) => Outcome::Decided { waits },
        };
        self.stop.put_off(began.elapsed());
        (at, outcome)
    }

    /// Runs the call at place `at`; `decided` is what it waited for.
    async fn run_call(
        &self,
        at: usize,
        call: &Prepared,
        decided: Option<Waits>,
    ) -> (usize, Outcome) {
        let arguments = match &call.arguments {
            Ok(arguments) => arguments.clone(),
            Err(envelope) => return (at, Outcome::Done((**envelope).clone(), None)),
        };
        let (arguments, resumes) = match decided {
            None => (arguments, None),
            Some(Waits::Approval(id)) => (arguments, Some(id)),
            Some(Waits::Plan { arguments, .. }) => (arguments, None),
        };
        let session = Arc::clone(self.session);
        let (call_id, tool) = (call.call_id.clone(), call.tool.clone());
        let turn_id = self.input.turn_id.clone();
        let stopped = Arc::clone(&self.stopped);
        let mut work = tokio::task::spawn_blocking(move || {
            let context = CallContext {
                view: session.view.as_ref(),
                gate: session.gate.as_ref(),
                session: &session.id,
                turn: &turn_id,
                call_id: &call_id,
                resumes: resumes.as_deref(),
                admitted: None,
                cancel: &stopped,
            };
            session.tools.run(&context, &tool, &arguments)
        });
        let (joined, end) = tokio::select! {
            biased;
            joined = &mut work => (Some(joined), None),
            end = self.stop.wait() => {
                self.stopped.store(true, Ordering::Relaxed);
                let joined = tokio::time::timeout(STOP_GRACE, &mut work).await.ok();
                (joined, Some(end))
            }
        };
        let envelope = match joined {
            Some(Ok(envelope)) => envelope,
            Some(Err(error)) => Envelope::error(
                &call.tool,
                ToolError::new(
                    ErrorCode::Internal,
                    format!("the call's thread ended: {error}"),
                ),
            ),
            None => Envelope::error(
                &call.tool,
                ToolError::new(
                    ErrorCode::Cancelled,
                    "the turn was stopped while this call ran",
                )
                .with_hint("It may still have taken effect: look before you repeat it."),
            ),
        };
        let outcome = match Waits::of(&envelope) {
            Some(waits) if end.is_none() => Outcome::Staged { waits, envelope },
            _ => Outcome::Done(envelope, end),
        };
        (at, outcome)
    }
}

fn staged(call: &Prepared, waits_for: &str, envelope: Envelope) -> TurnEventKind {
    let data = &envelope.data;
    let summary = data.get("summary").or_else(|| data.get("title"));
    let summary = summary.and_then(Value::as_str);
    TurnEventKind::ToolStaged {
        call_id: call.call_id.clone(),
        tool: call.tool.clone(),
        title: summary.unwrap_or(&call.title).to_owned(),
        waits_for: waits_for.to_owned(),
        envelope: Box::new(envelope),
    }
}

fn finished(call: &Prepared, mut envelope: Envelope) -> TurnEventKind {
    envelope.tool.clone_from(&call.tool);
    TurnEventKind::ToolFinished {
        call_id: call.call_id.clone(),
        tool: call.tool.clone(),
        title: call.title.clone(),
        status: envelope.status.into(),
        envelope: Box::new(envelope),
    }
}

fn prepare(call: Call) -> Prepared {
    let (call_id, tool, arguments) = match call {
        Call::Tool(call) => {
            let arguments = match call.arguments {
                Arguments::Json(map) => Ok(map),
                // No tool of ours is free-form.
                Arguments::Freeform(_) => {
                    Err(unusable(&call.name, ArgumentsErrorKind::NotAnObject))
                }
                Arguments::Invalid { kind, .. } => Err(unusable(&call.name, kind)),
            };
            (call.id, call.name, arguments)
        }
        Call::Edit { call, path, op } => {
            (call.id, EDIT_TOOL.to_owned(), Ok(edit_arguments(&path, op)))
        }
        Call::Plan(call) => {
            let shown = Envelope::ok(&call.name, "shown", json!("The user sees the plan."));
            (call.id, call.name, Err(shown))
        }
    };
    Prepared {
        title: title(&tool, arguments.as_ref().ok()),
        call_id,
        tool,
        arguments: arguments.map_err(Box::new),
    }
}

/// An edit by another product's name, as our own edit tool takes it.
fn edit_arguments(path: &str, op: EditOp) -> Map<String, Value> {
    let section = |head: &str, body: &str| {
        let mut text = format!("*** Begin Patch\n*** {head} File: {path}\n{body}");
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str("*** End Patch\n");
        ("patch", json!(text))
    };
    let (key, value) = match op {
        EditOp::Replace { old, new } => (
            "edits",
            json!([{"path": path, "search": old, "replace": new}]),
        ),
        EditOp::Create { diff } => section("Add", &diff),
        EditOp::Update { diff } => section("Update", &diff),
        EditOp::Delete => section("Delete", ""),
    };
    Map::from_iter([(key.to_owned(), value)])
}

/// The answer to a call whose arguments did not arrive as an object. It is never run.
fn unusable(tool: &str, kind: ArgumentsErrorKind) -> Envelope {
    let (message, hint) = match kind {
        ArgumentsErrorKind::Truncated => (
            "the arguments were cut off before their end, so the call was not run",
            "Call it again; if it is long, split it into several smaller calls.",
        ),
        ArgumentsErrorKind::InvalidJson => (
            "the arguments are not JSON, so the call was not run",
            "Call it again with one JSON object: double quotes, escaped line breaks, no trailing comma.",
        ),
        ArgumentsErrorKind::NotAnObject => (
            "the arguments are not a JSON object, so the call was not run",
            "Call it again with a JSON object of named arguments, not a string or a list.",
        ),
    };
    Envelope::error(
        tool,
        ToolError::new(ErrorCode::InvalidArguments, message).with_hint(hint),
    )
}

fn running(call: &Prepared) -> TurnEventKind {
    TurnEventKind::ToolRunning {
        call_id: call.call_id.clone(),
        tool: call.tool.clone(),
        title: call.title.clone(),
        arguments: match &call.arguments {
            Ok(map) => Value::Object(map.clone()),
            Err(_) => Value::Null,
        },
    }
}

/// One line for people: `read src/main.rs:10`.
fn title(tool: &str, arguments: Option<&Map<String, Value>>) -> String {
    let argument = |key: &str| arguments.and_then(|map| map.get(key));
    let text = |key: &str| {
        argument(key)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let verb = tool.strip_prefix("workspace_").unwrap_or(tool);
    let line = match tool {
        "workspace_read" => match (text("path"), argument("start_line").and_then(Value::as_u64)) {
            (Some(path), Some(line)) => format!("{verb} {path}:{line}"),
            (Some(path), None) => format!("{verb} {path}"),
            (None, _) => verb.to_owned(),
        },
        "workspace_search" => match (text("pattern"), text("path")) {
            (Some(pattern), Some(path)) => format!("{verb} {pattern:?} in {path}"),
            (Some(pattern), None) => format!("{verb} {pattern:?}"),
            (None, _) => verb.to_owned(),
        },
        "workspace_command" => match (text("action"), text("program")) {
            (Some("run" | "start"), Some(program)) => command_line(program, argument("arguments")),
            (Some(action), _) => format!("{verb} {action}"),
            (None, _) => verb.to_owned(),
        },
        "workspace_edit" => match edited(argument("edits")) {
            paths if paths.is_empty() => verb.to_owned(),
            paths => format!("{verb} {}", paths.join(", ")),
        },
        _ => match text("path") {
            Some(path) => format!("{verb} {path}"),
            None => verb.to_owned(),
        },
    };
    line.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(120)
        .collect()
}

/// A program and its arguments as one line; words with white space are set apart.
fn command_line(program: &str, arguments: Option<&Value>) -> String {
    let arguments = arguments.and_then(Value::as_array).into_iter().flatten();
    let words = std::iter::once(program).chain(arguments.filter_map(Value::as_str));
    let shown = words.map(|word| {
        let is_plain = !word.is_empty() && !word.contains(char::is_whitespace);
        match is_plain {
            true => word.to_owned(),
            false => format!("'{word}'"),
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn edited(edits: Option<&Value>) -> Vec<&str> {
    let mut paths: Vec<&str> = edits
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|edit| edit.get("path").and_then(Value::as_str))
        .collect();
    paths.dedup();
    paths
}
