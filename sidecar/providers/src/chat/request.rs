//! From a conversation to the body of a Chat Completions request.

use serde_json::{Value, json};

use super::details::Returned;
use crate::history::{WireIds, arguments_text, repaired, wire_name};
use crate::{AssistantPart, ChatRequest, Message, ToolChoice};

/// What differs between servers of this API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Ask for usage; some old servers refuse the key.
    pub(super) stream_options: bool,
    /// OpenAI's reasoning models refuse `max_tokens`; nearly all other servers know only that.
    pub(super) max_completion_tokens: bool,
    /// Send reasoning back: some servers want it, some refuse it.
    pub(super) replay_reasoning: bool,
}

/// Makes the request's body.
pub(super) fn body(request: &ChatRequest, dialect: Dialect) -> Value {
    let mut body = json!({
        "model": request.model,
        "messages": messages(request, dialect),
        "stream": true,
    });
    if dialect.stream_options {
        body["stream_options"] = json!({"include_usage": true});
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        });
        body["tools"] = tools.collect();
        match &request.tool_choice {
            // Absent means auto, and some servers refuse the key.
            ToolChoice::Auto => {}
            ToolChoice::Required => body["tool_choice"] = json!("required"),
            ToolChoice::None => body["tool_choice"] = json!("none"),
            ToolChoice::Named(name) => {
                body["tool_choice"] = json!({"type": "function", "function": {"name": name}});
            }
        }
    }
    if let Some(limit) = request.max_output_tokens {
        let key = if dialect.max_completion_tokens {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        body[key] = json!(limit);
    }
    if let Some(effort) = &request.reasoning_effort {
        body["reasoning_effort"] = json!(effort);
    }
    body
}

/// The `messages` of the request.
fn messages(request: &ChatRequest, dialect: Dialect) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    if !request.system.trim().is_empty() {
        out.push(json!({"role": "system", "content": request.system}));
    }
    let history = repaired(&request.messages);
    let ids = WireIds::of_each_answer(&history);
    // Text of the user that is not yet a message: chat templates refuse two of one role in a row.
    let mut user = String::new();
    for message in &history {
        match message {
            Message::User { text } | Message::Note { text } => {
                if !user.is_empty() {
                    user.push_str("\n\n");
                }
                user.push_str(text);
            }
            Message::Assistant { parts } => {
                flush(&mut user, &mut out);
                out.extend(assistant(parts, &ids, dialect));
            }
            Message::ToolResult {
                call_id, content, ..
            } => {
                let id = ids.get(call_id);
                out.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
            }
        }
    }
    flush(&mut user, &mut out);
    out
}

fn flush(user: &mut String, out: &mut Vec<Value>) {
    if !user.is_empty() {
        out.push(json!({"role": "user", "content": std::mem::take(user)}));
    }
}

/// `None` for an answer of which nothing is left that this API can say.
fn assistant(parts: &[AssistantPart], ids: &WireIds, dialect: Dialect) -> Option<Value> {
    let mut text = String::new();
    let mut reasoning = String::new();
    let mut calls = Vec::new();
    let mut returned = Returned::default();
    for part in parts {
        if let AssistantPart::Opaque(block) = part {
            returned.push(block);
        }
    }
    for part in parts {
        match part {
            AssistantPart::Text(piece) => text.push_str(piece),
            AssistantPart::Reasoning { text, .. } => reasoning.push_str(text),
            AssistantPart::ToolCall(call) => {
                let mut wire = json!({
                    "id": ids.get(&call.id), "type": "function",
                    "function": {"name": wire_name(&call.name), "arguments": arguments_text(&call.arguments)},
                });
                returned.add_to_call(&call.id, &mut wire);
                calls.push(wire);
            }
            // Taken in above: it belongs to the whole answer, or to a call.
            AssistantPart::Opaque(_) => {}
        }
    }
    let replayed = dialect.replay_reasoning && !reasoning.is_empty();
    if text.is_empty() && calls.is_empty() && !replayed {
        return None;
    }
    let content = if text.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        json!(text)
    };
    let mut message = json!({"role": "assistant", "content": content});
    if replayed {
        message["reasoning_content"] = json!(reasoning);
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    returned.add_to_message(&mut message);
    Some(message)
}
