//! Scripts a model and collects what a turn says.

use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use redline_agent::{
    Agent, EventLog, EventSink, Ground, History, LogError, NoSteering, Session, Steering,
    StepContext, StepModel, TurnEnd, TurnEvent, TurnEventKind, TurnInput,
};
use redline_providers::chat::{ChatOptions, ChatProvider};
use redline_providers::replay::{Recording, ReplayProvider};
use redline_providers::{Connection, Provider, RetryPolicy};
use redline_tools::Tool;
use redline_tools::gate::{ClosedGate, Gatekeeper};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::server::{Answer, Close, Server};
use crate::view::FolderView;

/// The project of most tests.
pub fn project() -> Arc<FolderView> {
    Arc::new(FolderView::new(&[
        (
            "src/a.rs",
            "fn a() {\n    one();\n}\n\nfn b() {\n    one();\n}\n",
        ),
        ("src/b.rs", "fn c() {}\n"),
        ("README.md", "# Project\n"),
    ]))
}

/// A provider that plays these lines.
pub fn replay(lines: &[Value]) -> Arc<dyn Provider> {
    let mut text = json!({"replay": "redline/v1"}).to_string();
    for line in lines {
        text.push('\n');
        text.push_str(&line.to_string());
    }
    Arc::new(ReplayProvider::new(
        "replay",
        Recording::parse("test", &text).unwrap(),
    ))
}

/// A recorded call.
pub fn call(tool: &str, arguments: Value) -> Value {
    json!({"event": "tool_call", "name": tool, "arguments": arguments})
}

/// The end of a step that waits for results.
pub fn results() -> Value {
    json!({"event": "done", "reason": "tool_calls"})
}

/// Text and the end of the turn.
pub fn ends() -> Value {
    json!({"event": "done", "reason": "end"})
}

/// A piece of text.
pub fn text(text: &str) -> Value {
    json!({"event": "text", "text": text})
}

/// A session with decisions from `steering`.
pub fn session_with(
    view: &Arc<FolderView>,
    steering: Arc<dyn Steering>,
    log: Arc<dyn EventLog>,
    tools: Vec<Arc<dyn Tool>>,
) -> Arc<Session> {
    gated(view, Arc::new(ClosedGate), steering, log, tools)
}

/// A session behind a gate.
pub fn gated(
    view: &Arc<FolderView>,
    gate: Arc<dyn Gatekeeper>,
    steering: Arc<dyn Steering>,
    log: Arc<dyn EventLog>,
    tools: Vec<Arc<dyn Tool>>,
) -> Arc<Session> {
    let agent = Agent::new("agent", "", tools).unwrap();
    let ground = Ground {
        view: view.clone(),
        gate,
        steering,
        log,
    };
    Arc::new(agent.session("se_1", "", ground, History::default()))
}

/// A plain session.
pub fn session(view: &Arc<FolderView>) -> Arc<Session> {
    session_with(
        view,
        Arc::new(NoSteering),
        Arc::new(redline_agent::NoLog),
        Vec::new(),
    )
}

/// A model of a provider.
pub fn model(provider: Arc<dyn Provider>, name: &str) -> StepModel {
    StepModel::new(provider, name)
}

/// A sink that hands each event on, and the events.
pub fn channel() -> (
    Arc<dyn EventSink>,
    tokio::sync::mpsc::UnboundedReceiver<TurnEvent>,
) {
    let (sender, events) = tokio::sync::mpsc::unbounded_channel();
    let sink = move |frame: Vec<TurnEvent>| {
        for event in frame {
            // A test that has seen enough has dropped the other end.
            let _ = sender.send(event);
        }
    };
    (Arc::new(sink), events)
}

/// Input with retries that do not wait.
pub fn input(provider: Arc<dyn Provider>) -> TurnInput {
    let mut input = TurnInput::new("turn_1", "Go", model(provider, "m"));
    input.retry = RetryPolicy {
        base: std::time::Duration::ZERO,
        ..RetryPolicy::default()
    };
    input
}

/// Runs a turn to its end; its events and its end.
pub async fn run(session: &Arc<Session>, input: TurnInput) -> (Vec<TurnEventKind>, TurnEnd) {
    let (sink, mut events) = channel();
    let end = session
        .run_turn(input, sink, CancellationToken::new())
        .await
        .unwrap();
    let mut all: Vec<TurnEvent> = Vec::new();
    while let Ok(event) = events.try_recv() {
        all.push(event);
    }
    check_order(&all, &end);
    (all.into_iter().map(|event| event.kind).collect(), end)
}

/// What holds for every turn: numbers without gaps, one end, every call ended once.
pub fn check_order(events: &[TurnEvent], end: &TurnEnd) {
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event.seq, at as u64);
    }
    assert!(matches!(events[0].kind, TurnEventKind::Started { .. }));
    let ends: Vec<usize> = (0..events.len())
        .filter(|at| matches!(events[*at].kind, TurnEventKind::Ended { .. }))
        .collect();
    assert_eq!(ends, [events.len() - 1], "one end, the last");
    assert_eq!(
        events.last().unwrap().kind,
        TurnEventKind::Ended { end: end.clone() }
    );
    let mut open = std::collections::BTreeSet::new();
    for event in events {
        match &event.kind {
            TurnEventKind::ToolStarted { call_id, .. } => assert!(open.insert(call_id)),
            TurnEventKind::ToolRunning { call_id, .. } => {
                open.insert(call_id);
            }
            TurnEventKind::ToolCalled { call, .. } => {
                open.insert(&call.id);
            }
            TurnEventKind::ToolFinished { call_id, .. } => {
                assert!(open.remove(call_id), "{call_id}")
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "never ended: {open:?}");
}

/// The events, one line each, text merged.
pub fn outline(events: &[TurnEventKind]) -> String {
    let mut out = String::new();
    let mut said = String::new();
    for event in events {
        if let TurnEventKind::Text { text } = event {
            said.push_str(text);
            continue;
        }
        if !said.is_empty() {
            out.push_str(&format!("text {said:?}\n"));
            said.clear();
        }
        let line = match event {
            TurnEventKind::StepStarted { step, .. } => format!("step {step}"),
            TurnEventKind::ToolRunning { title, .. } => format!("run {title}"),
            TurnEventKind::ToolFinished { tool, envelope, .. } => match envelope.code() {
                Some(code) => format!("done {tool} {code}"),
                None => format!("done {tool} {}", envelope.recovery.state),
            },
            TurnEventKind::ToolStaged { title, .. } => format!("staged {title}"),
            TurnEventKind::Committed { text, .. } => format!("committed {text}"),
            TurnEventKind::Retrying { attempt, error, .. } => {
                format!("retry {attempt} {}", error.message)
            }
            TurnEventKind::Notice { text } => format!("notice {text}"),
            TurnEventKind::Told { .. } => "told".to_owned(),
            TurnEventKind::Plan { steps } => format!("plan {}", steps.len()),
            TurnEventKind::Ended { end } => match end {
                TurnEnd::Failed { error } => {
                    format!("end failed {}: {}", error.code, error.message)
                }
                other => format!("end {}", serde_json::to_string(other).unwrap()),
            },
            TurnEventKind::Started { .. }
            | TurnEventKind::Asked { .. }
            | TurnEventKind::StepEnded { .. }
            | TurnEventKind::Text { .. }
            | TurnEventKind::Reasoning { .. }
            | TurnEventKind::Opaque { .. }
            | TurnEventKind::ToolStarted { .. }
            | TurnEventKind::ToolCalled { .. }
            | TurnEventKind::Usage { .. } => continue,
        };
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// Steps' contexts, one for each step.
pub struct Script(pub Mutex<Vec<StepContext>>);

impl Steering for Script {
    fn before_step(&self) -> BoxFuture<'_, StepContext> {
        let mut all = self.0.lock().unwrap();
        let next = if all.is_empty() {
            StepContext::default()
        } else {
            all.remove(0)
        };
        Box::pin(std::future::ready(next))
    }
}

/// Keeps what it is given.
#[derive(Default)]
pub struct Kept(pub Mutex<Vec<TurnEvent>>);

impl EventLog for Kept {
    fn append(&self, events: &[TurnEvent], _: bool) -> Result<(), LogError> {
        self.0.lock().unwrap().extend_from_slice(events);
        Ok(())
    }
}

/// An answer over a socket.
pub fn answer(status: u16, content_type: &str, body: &str, close: Close) -> Answer {
    Answer {
        status,
        headers: vec![("content-type".to_owned(), content_type.to_owned())],
        pieces: vec![body.as_bytes().to_vec()],
        close,
    }
}

/// A streamed answer with this text, whole.
pub fn says(text: &str) -> Answer {
    let chunk =
        json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]});
    answer(
        200,
        "text/event-stream",
        &format!("data: {chunk}\n\ndata: [DONE]\n\n"),
        Close::Eof,
    )
}

/// A streamed answer with one call.
pub fn calls(id: &str, tool: &str, arguments: &str) -> Answer {
    let call = json!({"index": 0, "id": id, "function": {"name": tool, "arguments": arguments}});
    let chunk = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    answer(
        200,
        "text/event-stream",
        &format!("data: {chunk}\n\ndata: [DONE]\n\n"),
        Close::Eof,
    )
}

/// A provider for a server.
pub fn chat(server: &Server) -> Arc<dyn Provider> {
    let connection = Connection {
        name: "local".to_owned(),
        base_url: server.base.clone(),
        ..Connection::default()
    };
    Arc::new(ChatProvider::new(connection, ChatOptions::default()).unwrap())
}
