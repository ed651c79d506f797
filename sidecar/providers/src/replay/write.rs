//! Writes a recording: the other direction of the format.

use serde_json::{Map, Value, json};

use super::format::{PatchOp, VERSION};
use crate::{Arguments, EditOp, Event, OpaqueBlock, StopReason};

/// One step to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedStep {
    /// What the model said, without the end.
    pub events: Vec<Event>,
    /// How it ended.
    pub reason: StopReason,
}

/// Writes one turn as a recording that plays the same events.
///
/// Pieces of calls are left out, since a whole call follows; ids are kept.
pub fn write(prompt: &str, steps: &[RecordedStep]) -> String {
    let mut text = String::new();
    let mut push = |line: Value| {
        text.push_str(&line.to_string());
        text.push('\n');
    };
    push(json!({ "replay": VERSION }));
    push(json!({"event": "prompt", "text": prompt}));
    for step in steps {
        step.events.iter().filter_map(line).for_each(&mut push);
        push(json!({"event": "done", "reason": step.reason}));
    }
    text
}

fn line(event: &Event) -> Option<Value> {
    Some(match event {
        Event::Text { text } => json!({"event": "text", "text": text}),
        Event::Reasoning { kind, text, replay } => with(
            json!({"event": "reasoning", "text": text, "kind": kind}),
            "replay",
            replay.clone(),
        ),
        Event::ToolCallReady(call) => {
            let (key, value) = match &call.arguments {
                Arguments::Json(map) => ("arguments", Value::Object(map.clone())),
                Arguments::Freeform(input) => ("input", json!(input)),
                Arguments::Invalid { raw, .. } => ("arguments_raw", json!(raw)),
            };
            with(
                json!({"event": "tool_call", "id": call.id, "name": call.name}),
                key,
                Some(value),
            )
        }
        Event::Plan { call, steps } => json!({"event": "plan", "id": call.id, "steps": steps}),
        Event::Edit { call, path, op } => {
            let edit = json!({"event": "edit", "id": call.id, "path": path});
            match op {
                EditOp::Replace { old, new } => {
                    with(with(edit, "old", Some(json!(old))), "new", Some(json!(new)))
                }
                EditOp::Create { diff } => patch(edit, PatchOp::Create, Some(diff)),
                EditOp::Update { diff } => patch(edit, PatchOp::Update, Some(diff)),
                EditOp::Delete => patch(edit, PatchOp::Delete, None),
            }
        }
        Event::Opaque(OpaqueBlock { api, block }) => {
            json!({"event": "opaque", "api": api, "block": block})
        }
        Event::Usage(usage) => {
            let mut line = json!({"event": "usage"});
            if let (Value::Object(line), Ok(Value::Object(totals))) =
                (&mut line, serde_json::to_value(usage))
            {
                line.extend(totals);
            }
            line
        }
        Event::Error(error) => {
            let waits = error.retry_after.map(|wait| json!(wait.as_millis()));
            let line = json!({
                "event": "error", "kind": error.kind, "message": error.message,
                "retryable": error.retryable,
            });
            with(line, "retry_after_ms", waits)
        }
        Event::Warning(warning) => {
            json!({"event": "warning", "kind": warning.kind, "message": warning.message})
        }
        Event::ToolCallStarted { .. } | Event::ToolCallDelta { .. } | Event::Done { .. } => {
            return None;
        }
    })
}

fn patch(edit: Value, op: PatchOp, diff: Option<&String>) -> Value {
    let edit = with(edit, "op", Some(json!(op)));
    with(edit, "diff", diff.map(|diff| json!(diff)))
}

fn with(mut line: Value, key: &str, value: Option<Value>) -> Value {
    let map: Option<&mut Map<String, Value>> = line.as_object_mut();
    if let (Some(map), Some(value)) = (map, value) {
        map.insert(key.to_owned(), value);
    }
    line
}
