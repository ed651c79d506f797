//! How calls run: side by side or in order, and never with arguments that are not there.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

use redline_agent::{NoLog, NoSteering, TurnEnd};
use redline_tools::{CallContext, Envelope, Schema, Tool, ToolError};
use serde_json::{Map, Value, json};

use crate::support::*;

/// A tool that only ends when two of its calls run at the same time.
struct Meet {
    schema: Schema,
    barrier: Barrier,
}

impl Tool for Meet {
    fn name(&self) -> &str {
        "meet"
    }
    fn description(&self) -> &str {
        "Waits for another."
    }
    fn schema(&self) -> &Schema {
        &self.schema
    }
    fn mutates(&self) -> bool {
        false
    }
    fn call(&self, _: &CallContext<'_>, _: &Map<String, Value>) -> Result<Envelope, ToolError> {
        self.barrier.wait();
        Ok(Envelope::ok("meet", "met", Value::Null))
    }
}

/// A tool that notes its order and fails the test when it is not alone.
struct Alone {
    schema: Schema,
    running: AtomicUsize,
    order: Mutex<Vec<u64>>,
}

impl Tool for Alone {
    fn name(&self) -> &str {
        "alone"
    }
    fn description(&self) -> &str {
        "Must be alone."
    }
    fn schema(&self) -> &Schema {
        &self.schema
    }
    fn mutates(&self) -> bool {
        true
    }
    fn call(
        &self,
        _: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, ToolError> {
        let before = self.running.fetch_add(1, Ordering::SeqCst);
        assert_eq!(before, 0, "two at once");
        std::thread::yield_now();
        self.order
            .lock()
            .unwrap()
            .push(arguments["n"].as_u64().unwrap());
        self.running.fetch_sub(1, Ordering::SeqCst);
        Ok(Envelope::ok("alone", "done", Value::Null))
    }
}

fn any() -> Schema {
    Schema::compile("t", json!({"type": "object"})).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_only_read_run_side_by_side() {
    let view = project();
    let meet = Arc::new(Meet {
        schema: any(),
        barrier: Barrier::new(2),
    });
    let session = session_with(&view, Arc::new(NoSteering), Arc::new(NoLog), vec![meet]);
    let provider = replay(&[
        call("meet", json!({})),
        call("meet", json!({})),
        results(),
        text("ok"),
        ends(),
    ]);
    let (events, end) = run(&session, input(provider)).await;
    assert_eq!(end, TurnEnd::Completed);
    assert_eq!(outline(&events).matches("done meet met").count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_run_in_order_when_one_mutates() {
    let view = project();
    let alone = Arc::new(Alone {
        schema: any(),
        running: AtomicUsize::new(0),
        order: Mutex::default(),
    });
    let session = session_with(
        &view,
        Arc::new(NoSteering),
        Arc::new(NoLog),
        vec![alone.clone()],
    );
    let mut lines: Vec<Value> = (0..20).map(|n| call("alone", json!({ "n": n }))).collect();
    lines.extend([results(), text("ok"), ends()]);
    let (_, end) = run(&session, input(replay(&lines))).await;
    assert_eq!(end, TurnEnd::Completed);
    assert_eq!(*alone.order.lock().unwrap(), (0..20).collect::<Vec<u64>>());
}

fn raw(arguments: &str) -> Value {
    json!({"event": "tool_call", "name": "alone", "arguments_raw": arguments})
}

#[tokio::test]
async fn arguments_that_are_not_there_are_never_run() {
    let view = project();
    let alone = Arc::new(Alone {
        schema: any(),
        running: AtomicUsize::new(0),
        order: Mutex::default(),
    });
    let session = session_with(
        &view,
        Arc::new(NoSteering),
        Arc::new(NoLog),
        vec![alone.clone()],
    );
    let provider = replay(&[
        raw(r#"{"n": 1, "text": "cut of"#),
        raw("{'n': 2}"),
        raw(r#""{\"n\": 3}""#),
        results(),
        raw(r#"{"n": 4}"#),
        results(),
        text("ok"),
        ends(),
    ]);
    let (events, end) = run(&session, input(provider)).await;
    assert_eq!(end, TurnEnd::Completed);
    assert_eq!(*alone.order.lock().unwrap(), [4]);
    let said: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            redline_agent::TurnEventKind::ToolFinished { envelope, .. } => {
                envelope.recovery.error.clone()
            }
            _ => None,
        })
        .map(|error| error.message)
        .collect();
    assert!(
        said[0].contains("cut off")
            && said[1].contains("not JSON")
            && said[2].contains("not a JSON object"),
        "{said:?}"
    );
}

#[tokio::test]
async fn a_model_that_cannot_be_repaired_ends_the_turn() {
    let view = project();
    let mut lines = Vec::new();
    for _ in 0..9 {
        lines.extend([raw("{'n': 1}"), results()]);
    }
    lines.extend([text("never"), ends()]);
    let (events, end) = run(&session(&view), input(replay(&lines))).await;
    let TurnEnd::Failed { error } = end else {
        panic!("{end:?}")
    };
    assert_eq!(error.code.as_str(), "INVALID_ARGUMENTS");
    assert_eq!(
        outline(&events)
            .matches("done alone INVALID_ARGUMENTS")
            .count(),
        4
    );
}

#[tokio::test]
async fn arguments_against_the_schema_and_unknown_tools_go_back_to_the_model() {
    let view = project();
    let provider = replay(&[
        call("workspace_read", json!({"paht": "x"})),
        call("write_file", json!({"path": "x"})),
        results(),
        text("ok"),
        ends(),
    ]);
    let (events, end) = run(&session(&view), input(provider)).await;
    assert_eq!(end, TurnEnd::Completed);
    let outline = outline(&events);
    assert!(
        outline.contains("done workspace_read INVALID_ARGUMENTS"),
        "{outline}"
    );
    assert!(
        outline.contains("done write_file INVALID_ARGUMENTS"),
        "{outline}"
    );
}
