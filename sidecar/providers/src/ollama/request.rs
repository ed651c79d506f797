//! From a conversation to the body of a chat request.

use serde_json::{Value, json};

use crate::history::{WireIds, arguments_object, repaired, wire_name};
use crate::{AssistantPart, ChatRequest, Message, ToolChoice};

/// How the model is asked to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Think {
    /// In the caller's word where that is a level, else only yes or no.
    Level,
    /// Only yes or no: an older server.
    YesOrNo,
    /// Not at all: the model cannot.
    Never,
}

/// Makes the request's body.
pub(super) fn body(request: &ChatRequest, num_ctx: u64, think: Think) -> Value {
    let mut body = json!({
        "model": request.model,
        "messages": messages(request),
        "stream": true,
        // An error in place of a conversation whose beginning is gone; old servers pass over it.
        "truncate": false,
        "shift": false,
    });
    let tools = offered(request);
    if !tools.is_empty() {
        body["tools"] = Value::Array(tools);
    }
    if let Some(think) = thinking(request.reasoning_effort.as_deref(), think) {
        body["think"] = think;
    }
    body["options"] = json!({"num_ctx": num_ctx});
    if let Some(limit) = request.max_output_tokens {
        body["options"]["num_predict"] = json!(limit);
    }
    body
}

/// This API cannot be told to call a tool, only which there are.
fn offered(request: &ChatRequest) -> Vec<Value> {
    let wanted = |name: &str| match &request.tool_choice {
        ToolChoice::Auto | ToolChoice::Required => true,
        ToolChoice::None => false,
        ToolChoice::Named(only) => only == name,
    };
    let tools = request.tools.iter().filter(|tool| wanted(&tool.name));
    tools
        .map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        })
        .collect()
}

fn thinking(effort: Option<&str>, think: Think) -> Option<Value> {
    match (effort?, think) {
        (_, Think::Never) => None,
        ("none" | "off" | "false", _) => Some(json!(false)),
        (level @ ("low" | "medium" | "high" | "max"), Think::Level) => Some(json!(level)),
        _ => Some(json!(true)),
    }
}

/// The `messages` of the request.
fn messages(request: &ChatRequest) -> Vec<Value> {
    let mut out = Vec::new();
    if !request.system.trim().is_empty() {
        out.push(json!({"role": "system", "content": request.system}));
    }
    let history = repaired(&request.messages);
    let ids = WireIds::of_each_answer(&history);
    for message in &history {
        match message {
            Message::User { text } | Message::Note { text } => {
                out.push(json!({"role": "user", "content": text}));
            }
            Message::Assistant { parts } => out.extend(assistant(parts, &ids)),
            Message::ToolResult {
                call_id,
                name,
                content,
                ..
            } => out.push(json!({
                "role": "tool", "tool_name": wire_name(name),
                "tool_call_id": ids.get(call_id), "content": content,
            })),
        }
    }
    out
}

/// `None` for an answer of which nothing is left that this API can say.
fn assistant(parts: &[AssistantPart], ids: &WireIds) -> Option<Value> {
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    for part in parts {
        match part {
            AssistantPart::Text(piece) => text.push_str(piece),
            AssistantPart::Reasoning { text, .. } => thinking.push_str(text),
            AssistantPart::ToolCall(call) => calls.push(json!({
                "id": ids.get(&call.id),
                "function": {"name": wire_name(&call.name), "arguments": arguments_object(&call.arguments)},
            })),
            AssistantPart::Opaque(_) => {}
        }
    }
    if text.is_empty() && thinking.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !thinking.is_empty() {
        message["thinking"] = json!(thinking);
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    Some(message)
}
