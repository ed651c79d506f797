//! From a conversation to the body of a Responses request. Nothing is stored with the vendor, so
//! whatever it needs back goes along.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use crate::history::{WireIds, arguments_text, repaired, wire_name};
use crate::{Arguments, AssistantPart, ChatRequest, Message, ToolChoice};

/// What of the request a server or a model may not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Ask for a summary of the reasoning.
    pub(super) summary: bool,
    /// Ask for an effort.
    pub(super) effort: bool,
    /// Ask for the reasoning's encrypted content.
    pub(super) encrypted: bool,
    /// Reasoning items that the vendor did not take back.
    pub(super) refused_items: HashSet<String>,
}

/// Makes the request's body.
pub(super) fn body(request: &ChatRequest, dialect: &Dialect) -> Value {
    let mut body = counted(request, dialect);
    body["stream"] = json!(true);
    body["store"] = json!(false);
    if dialect.encrypted {
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    if let Some(limit) = request.max_output_tokens {
        body["max_output_tokens"] = json!(limit);
    }
    body
}

/// The part of the body that its count of tokens depends on.
pub(super) fn counted(request: &ChatRequest, dialect: &Dialect) -> Value {
    let mut body = json!({"model": request.model, "input": input(request, dialect)});
    if !request.system.trim().is_empty() {
        body["instructions"] = json!(request.system);
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            // Without the word the API tries to be strict, and refuses schemas that are free.
            json!({
                "type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.parameters, "strict": false,
            })
        });
        body["tools"] = tools.collect();
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::Required => body["tool_choice"] = json!("required"),
            ToolChoice::None => body["tool_choice"] = json!("none"),
            ToolChoice::Named(name) => {
                body["tool_choice"] = json!({"type": "function", "name": name});
            }
        }
    }
    let mut reasoning = Map::new();
    if let Some(effort) = request.reasoning_effort.as_ref().filter(|_| dialect.effort) {
        reasoning.insert("effort".to_owned(), json!(effort));
    }
    if dialect.summary {
        reasoning.insert("summary".to_owned(), json!("auto"));
    }
    if !reasoning.is_empty() {
        body["reasoning"] = Value::Object(reasoning);
    }
    body
}

/// The ids of the reasoning items that a request sends back.
pub(super) fn reasoning_ids(request: &ChatRequest) -> impl Iterator<Item = String> + '_ {
    let parts = request.messages.iter().flat_map(|message| match message {
        Message::Assistant { parts } => parts.as_slice(),
        Message::User { .. } | Message::Note { .. } | Message::ToolResult { .. } => &[],
    });
    parts.filter_map(|part| match part {
        AssistantPart::Reasoning {
            replay: Some(item), ..
        } => Some(item.get("id")?.as_str()?.to_owned()),
        _ => None,
    })
}

/// The `input` of the request.
fn input(request: &ChatRequest, dialect: &Dialect) -> Vec<Value> {
    let history = repaired(&request.messages);
    let ids = WireIds::of_conversation(&history);
    let mut freeform = HashMap::new();
    let mut out = Vec::new();
    for message in &history {
        match message {
            Message::User { text } | Message::Note { text } => out.push(json!({
                "type": "message", "role": "user",
                "content": [{"type": "input_text", "text": text}],
            })),
            Message::Assistant { parts } => {
                for part in parts {
                    if let AssistantPart::ToolCall(call) = part {
                        let is_free = matches!(call.arguments, Arguments::Freeform(_));
                        freeform.insert(call.id.as_str(), is_free);
                    }
                }
                assistant(parts, &ids, dialect, &mut out);
            }
            Message::ToolResult {
                call_id, content, ..
            } => {
                let is_free = freeform.get(call_id.as_str()) == Some(&true);
                let kind = if is_free {
                    "custom_tool_call_output"
                } else {
                    "function_call_output"
                };
                out.push(json!({"type": kind, "call_id": ids.get(call_id), "output": content}));
            }
        }
    }
    out
}

fn assistant(parts: &[AssistantPart], ids: &WireIds, dialect: &Dialect, out: &mut Vec<Value>) {
    let begin = out.len();
    let mut phase = None;
    for part in parts {
        match part {
            AssistantPart::Text(text) => {
                let mut message = json!({
                    "type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": text}],
                });
                if let Some(phase) = phase.take() {
                    message["phase"] = phase;
                }
                out.push(message);
            }
            AssistantPart::Reasoning { replay, .. } => {
                out.extend(replay.as_ref().and_then(|item| reasoning(item, dialect)));
            }
            AssistantPart::ToolCall(call) => {
                let (id, name) = (ids.get(&call.id), wire_name(&call.name));
                out.push(match &call.arguments {
                    Arguments::Freeform(input) => json!({
                        "type": "custom_tool_call", "call_id": id, "name": name, "input": input,
                    }),
                    arguments => json!({
                        "type": "function_call", "call_id": id, "name": name,
                        "arguments": arguments_text(arguments),
                    }),
                });
            }
            AssistantPart::Opaque(opaque) if opaque.api == super::NAME => {
                match opaque.block.get("phase") {
                    Some(told) => phase = Some(told.clone()),
                    None => out.push(opaque.block.clone()),
                }
            }
            AssistantPart::Opaque(_) => {}
        }
    }
    // Reasoning that led to nothing is refused: the answer was cut right after it.
    while out.len() > begin && out.last().is_some_and(|item| item["type"] == "reasoning") {
        out.pop();
    }
}

/// A reasoning item as it came; `None` when the vendor would not know it again.
fn reasoning(item: &Value, dialect: &Dialect) -> Option<Value> {
    let item = item.as_object()?;
    let text = |key: &str| item.get(key).and_then(Value::as_str);
    let is_whole = text("type") == Some("reasoning")
        && text("encrypted_content").is_some_and(|content| !content.is_empty());
    if !is_whole || text("id").is_some_and(|id| dialect.refused_items.contains(id)) {
        return None;
    }
    let mut item = item.clone();
    item.retain(|_, value| !value.is_null());
    item.entry("summary").or_insert_with(|| json!([]));
    Some(Value::Object(item))
}
