//! Events in the fixtures' vocabulary: adjacent text and reasoning joined, the progress of calls left out.

use redline_providers::{
    Arguments, ArgumentsErrorKind, EditOp, ErrorKind, Event, PlanStep, ProviderError, ToolCall,
};
use serde_json::{Map, Value, json};

/// Writes events as the fixtures do.
pub(super) fn normalized(events: Vec<Event>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for event in events.into_iter().filter_map(written) {
        match out.last_mut() {
            Some(last) if continues(last, &event) => join(last, event),
            _ => out.push(event),
        }
    }
    out
}

fn written(event: Event) -> Option<Value> {
    Some(match event {
        Event::Text { text } => json!({"event": "text", "text": text}),
        Event::Reasoning { kind, text, replay } => {
            let mut value = json!({"event": "reasoning", "kind": kind, "text": text});
            if let Some(replay) = replay {
                value["replay"] = replay;
            }
            value
        }
        Event::Plan { steps, .. } => plan(&steps),
        Event::ToolCallReady(call) => tool_call(call),
        Event::Edit { call, path, op } => edit(&call, &path, op),
        Event::Usage(usage) => tagged("usage", json!(usage)),
        Event::Error(error) | Event::Warning(error) => self::error(&error),
        Event::Done { reason } => json!({"event": "stop", "reason": reason}),
        Event::ToolCallStarted { .. } | Event::ToolCallDelta { .. } | Event::Opaque(_) => {
            return None;
        }
    })
}

/// Whether `event` is more of what `last` began. The block to send back ends a piece of reasoning.
fn continues(last: &Value, event: &Value) -> bool {
    let joins = matches!(event["event"].as_str(), Some("text" | "reasoning"));
    joins
        && last["event"] == event["event"]
        && last["kind"] == event["kind"]
        && last.get("replay").is_none()
}

fn join(last: &mut Value, event: Value) {
    let text = |value: &Value| value["text"].as_str().unwrap_or_default().to_owned();
    last["text"] = json!(text(last) + &text(&event));
    if let Some(replay) = event.get("replay") {
        last["replay"] = replay.clone();
    }
}

fn plan(steps: &[PlanStep]) -> Value {
    json!({"event": "plan", "steps": steps})
}

fn tool_call(call: ToolCall) -> Value {
    let mut value = json!({"event": "tool-call", "id": call.id, "name": call.name});
    match call.arguments {
        Arguments::Json(map) => value["arguments"] = Value::Object(map),
        Arguments::Freeform(input) => {
            value["arguments"] = Value::Null;
            value["input"] = json!(input);
            value["freeform"] = json!(true);
        }
        Arguments::Invalid { kind, raw } => {
            value["arguments"] = Value::Null;
            let kind = match kind {
                ArgumentsErrorKind::Truncated => "truncated",
                ArgumentsErrorKind::InvalidJson => "invalid_json",
                ArgumentsErrorKind::NotAnObject => "not_an_object",
            };
            value["arguments_error"] = json!({"kind": kind, "raw": raw});
        }
    }
    value
}

fn edit(call: &ToolCall, path: &str, op: EditOp) -> Value {
    let (name, rest) = match op {
        EditOp::Replace { old, new } => ("replace", json!({"old": old, "new": new})),
        EditOp::Create { diff } => ("create_file", json!({"diff": diff})),
        EditOp::Update { diff } => ("update_file", json!({"diff": diff})),
        EditOp::Delete => ("delete_file", json!({})),
    };
    let mut value = json!({"event": "edit", "id": call.id, "op": name, "path": path});
    merge(&mut value, rest);
    value
}

fn error(error: &ProviderError) -> Value {
    let mut map = Map::new();
    map.insert("event".to_owned(), json!("error"));
    map.insert("kind".to_owned(), json!(error.kind.as_str()));
    map.insert("message".to_owned(), json!(error.message));
    map.insert("retryable".to_owned(), json!(error.retryable));
    let wait = error.retry_after.map(|wait| wait.as_millis());
    let wait = wait.and_then(|wait| u64::try_from(wait).ok());
    map.insert("retry_after_ms".to_owned(), json!(wait));
    let numbers = [
        ("status", error.status.map(u64::from)),
        ("prompt_tokens", error.prompt_tokens),
        ("context_size", error.context_size),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            map.insert(name.to_owned(), json!(number));
        }
    }
    if error.kind == ErrorKind::Refusal
        && let Some(category) = &error.code
    {
        map.insert("category".to_owned(), json!(category));
    }
    if error.partial {
        map.insert("partial".to_owned(), json!(true));
    }
    Value::Object(map)
}

fn tagged(name: &str, value: Value) -> Value {
    let mut tagged = json!({"event": name});
    merge(&mut tagged, value);
    tagged
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}
