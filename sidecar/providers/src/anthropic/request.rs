//! From a conversation to the body of a Messages request.

use serde_json::{Map, Value, json};

use crate::history::{WireIds, arguments_object, repaired, wire_name};
use crate::{AssistantPart, ChatRequest, Message, ToolChoice};

/// What of the request a server or a model may not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Let the model think as it sees fit, and show a summary of it.
    pub(super) thinking: bool,
    /// Ask for an effort.
    pub(super) effort: bool,
    /// Mark the conversation for the vendor's cache.
    pub(super) cache: bool,
    /// The most tokens that the model may be asked to generate, where it said so.
    pub(super) max_tokens: Option<u64>,
}

/// The limit of generated tokens where the caller sets none: this API wants one always.
const DEFAULT_MAX_TOKENS: u64 = 32_000;

/// Makes the request's body. Sampling keys are never in it: newer versions and models refuse them.
pub(super) fn body(request: &ChatRequest, dialect: Dialect) -> Value {
    let mut body = counted(request, dialect);
    let wanted = request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    body["max_tokens"] = json!(wanted.min(dialect.max_tokens.unwrap_or(u64::MAX)));
    body["stream"] = json!(true);
    body
}

/// The part of the body that its count of tokens depends on.
pub(super) fn counted(request: &ChatRequest, dialect: Dialect) -> Value {
    let mut body = json!({"model": request.model, "messages": messages(request)});
    if !request.system.trim().is_empty() {
        body["system"] = json!(request.system);
    }
    let mut forced = false;
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"name": tool.name, "description": tool.description, "input_schema": tool.parameters})
        });
        body["tools"] = tools.collect();
        let choice = match &request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::Required => Some(json!({"type": "any"})),
            ToolChoice::None => Some(json!({"type": "none"})),
            ToolChoice::Named(name) => Some(json!({"type": "tool", "name": name})),
        };
        if let Some(choice) = choice {
            forced = choice["type"] != "none";
            body["tool_choice"] = choice;
        }
    }
    // A model that thinks cannot be forced to call a tool.
    if dialect.thinking && !forced {
        body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
    }
    if let Some(effort) = request.reasoning_effort.as_ref().filter(|_| dialect.effort) {
        body["output_config"] = json!({"effort": effort});
    }
    if dialect.cache {
        body["cache_control"] = json!({"type": "ephemeral"});
    }
    body
}

/// The `messages` of the request: roles in turn, results first in the message after their calls.
fn messages(request: &ChatRequest) -> Vec<Value> {
    let history = repaired(&request.messages);
    let ids = WireIds::of_conversation(&history);
    let mut out: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &history {
        let (role, content) = match message {
            Message::User { text } | Message::Note { text } => {
                ("user", vec![json!({"type": "text", "text": text})])
            }
            Message::Assistant { parts } => {
                let blocks = parts.iter().filter_map(|part| block(part, &ids));
                ("assistant", blocks.collect())
            }
            Message::ToolResult {
                call_id,
                content,
                is_error,
                ..
            } => ("user", vec![result(ids.get(call_id), content, *is_error)]),
        };
        match out.last_mut() {
            Some((last, blocks)) if *last == role => blocks.extend(content),
            _ if content.is_empty() => {}
            _ => out.push((role, content)),
        }
    }
    out.into_iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect()
}

/// `None` for what this API does not take: reasoning without its block, another vendor's block.
fn block(part: &AssistantPart, ids: &WireIds) -> Option<Value> {
    match part {
        AssistantPart::Text(text) => Some(json!({"type": "text", "text": text})),
        AssistantPart::Reasoning { replay, .. } => replay
            .clone()
            .filter(|block| matches!(kind(block), "thinking" | "redacted_thinking")),
        AssistantPart::ToolCall(call) => Some(json!({
            "type": "tool_use", "id": ids.get(&call.id), "name": wire_name(&call.name),
            "input": arguments_object(&call.arguments),
        })),
        AssistantPart::Opaque(opaque) => (opaque.api == super::NAME).then(|| opaque.block.clone()),
    }
}

fn kind(block: &Value) -> &str {
    block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn result(id: &str, content: &str, is_error: bool) -> Value {
    let mut block = Map::new();
    block.insert("type".to_owned(), json!("tool_result"));
    block.insert("tool_use_id".to_owned(), json!(id));
    block.insert("content".to_owned(), json!(content));
    if is_error {
        block.insert("is_error".to_owned(), json!(true));
    }
    Value::Object(block)
}
