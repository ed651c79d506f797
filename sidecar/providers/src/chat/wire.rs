//! The JSON of Chat Completions, as servers really send it: every field optional and nullable.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::history;
use crate::lenient;
use crate::{Arguments, AssistantPart, ChatRequest, Message, ToolChoice, Usage};

/// One chunk of a stream, or a whole answer (`message` in place of `delta`).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    #[serde(deserialize_with = "lenient::list")]
    pub(super) choices: Vec<Choice>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) usage: Option<WireUsage>,
    /// Any shape; present and not null means that something failed.
    pub(super) error: Value,
    /// Old vLLM puts the error at the top: `object` is `error`.
    #[serde(deserialize_with = "lenient::text")]
    pub(super) object: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    #[serde(deserialize_with = "lenient::int")]
    pub(super) index: Option<i64>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) delta: Option<Delta>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) message: Option<Delta>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    pub(super) content: Content,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) reasoning_content: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) reasoning: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) refusal: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) tool_calls: Vec<CallFragment>,
    /// The one call of the API's first version.
    #[serde(deserialize_with = "lenient::object")]
    pub(super) function_call: Option<FunctionFragment>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallFragment {
    #[serde(deserialize_with = "lenient::int")]
    pub(super) index: Option<i64>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) function: Option<FunctionFragment>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionFragment {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "lenient::raw_text")]
    pub(super) arguments: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(deserialize_with = "lenient::count")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::object")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(deserialize_with = "lenient::object")]
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "lenient::count")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    #[serde(deserialize_with = "lenient::count")]
    reasoning_tokens: Option<u64>,
}

impl WireUsage {
    /// `None` for an object that counts nothing.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.prompt_tokens.or(self.completion_tokens)?;
        let prompt = self.prompt_tokens_details.as_ref();
        Some(Usage {
            input: self.prompt_tokens.unwrap_or(0),
            input_cached: prompt
                .and_then(|details| details.cached_tokens)
                .unwrap_or(0),
            input_cache_write: prompt
                .and_then(|details| details.cache_write_tokens)
                .unwrap_or(0),
            output: self.completion_tokens.unwrap_or(0),
            output_reasoning: self
                .completion_tokens_details
                .as_ref()
                .and_then(|details| details.reasoning_tokens)
                .unwrap_or(0),
        })
    }
}

/// `content`: a string, or a list of parts of which some are thoughts.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) reasoning: String,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Content;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("text or parts")
            }
            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content {
                    text: text.to_owned(),
                    reasoning: String::new(),
                })
            }
            fn visit_unit<E>(self) -> Result<Content, E> {
                Ok(Content::default())
            }
            fn visit_bool<E>(self, _: bool) -> Result<Content, E> {
                Ok(Content::default())
            }
            fn visit_i64<E>(self, number: i64) -> Result<Content, E> {
                Ok(Content {
                    text: number.to_string(),
                    reasoning: String::new(),
                })
            }
            fn visit_u64<E>(self, number: u64) -> Result<Content, E> {
                Ok(Content {
                    text: number.to_string(),
                    reasoning: String::new(),
                })
            }
            fn visit_f64<E>(self, number: f64) -> Result<Content, E> {
                Ok(Content {
                    text: number.to_string(),
                    reasoning: String::new(),
                })
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Content, A::Error> {
                let mut content = Content::default();
                while let Some(part) = seq.next_element::<Value>()? {
                    content.part(&part);
                }
                Ok(content)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Content, A::Error> {
                let part = Value::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let mut content = Content::default();
                content.part(&part);
                Ok(content)
            }
        }
        from.deserialize_any(Visitor)
    }
}

impl Content {
    fn part(&mut self, part: &Value) {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
        if matches!(kind, "thinking" | "reasoning") {
            for key in ["thinking", "reasoning", "text"] {
                if let Some(inner) = part.get(key) {
                    collect_text(inner, &mut self.reasoning);
                    return;
                }
            }
        } else {
            collect_text(part, &mut self.text);
        }
    }
}

/// Text inside a string, a `{"text": …}`, or a list of them.
fn collect_text(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(text),
        Value::Array(parts) => parts.iter().for_each(|part| collect_text(part, out)),
        Value::Object(map) => {
            if let Some(text) = map.get("text") {
                collect_text(text, out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

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

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Value>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
}

/// Writes the request body.
pub(super) fn body(request: &ChatRequest, dialect: Dialect) -> Vec<u8> {
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            }})
        })
        .collect();
    let tool_choice = match &request.tool_choice {
        // Absent means auto, and some servers refuse the key.
        ToolChoice::Auto => None,
        _ if tools.is_empty() => None,
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Named(name) => Some(json!({"type": "function", "function": {"name": name}})),
    };
    let limit = request.max_output_tokens;
    let body = Body {
        model: &request.model,
        messages: messages(request, dialect),
        stream: true,
        stream_options: dialect
            .stream_options
            .then(|| json!({"include_usage": true})),
        tools,
        tool_choice,
        max_tokens: limit.filter(|_| !dialect.max_completion_tokens),
        max_completion_tokens: limit.filter(|_| dialect.max_completion_tokens),
        reasoning_effort: request.reasoning_effort.as_deref(),
    };
    // A tree of strings and numbers always serializes.
    serde_json::to_vec(&body).unwrap_or_default()
}

fn messages(request: &ChatRequest, dialect: Dialect) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    if !request.system.trim().is_empty() {
        out.push(json!({"role": "system", "content": request.system}));
    }
    // Text of the user that is not yet a message: chat templates refuse two of one role in a row.
    let mut user = String::new();
    for message in history::repaired(&request.messages) {
        match message {
            Message::User { text } | Message::Note { text } => {
                if !user.is_empty() {
                    user.push_str("\n\n");
                }
                user.push_str(&text);
            }
            Message::Assistant { parts } => {
                flush(&mut user, &mut out);
                out.push(assistant(&parts, dialect));
            }
            Message::ToolResult {
                call_id, content, ..
            } => {
                out.push(json!({"role": "tool", "tool_call_id": call_id, "content": content}));
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

fn assistant(parts: &[AssistantPart], dialect: Dialect) -> Value {
    let mut text = String::new();
    let mut reasoning = String::new();
    let mut calls = Vec::new();
    for part in parts {
        match part {
            AssistantPart::Text(piece) => text.push_str(piece),
            AssistantPart::Reasoning { text, .. } => reasoning.push_str(text),
            AssistantPart::ToolCall(call) => calls.push(json!({
                "id": call.id, "type": "function",
                "function": {"name": call.name, "arguments": arguments(&call.arguments)},
            })),
        }
    }
    let content = if text.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        json!(text)
    };
    let mut message = json!({"role": "assistant", "content": content});
    if dialect.replay_reasoning && !reasoning.is_empty() {
        message["reasoning_content"] = json!(reasoning);
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    message
}

/// What a model is shown again of arguments that were not usable, in characters.
const MAX_INVALID: usize = 2000;

/// Servers parse a call's arguments again for their templates: what was no object is wrapped in one.
fn arguments(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Json(map) => serde_json::to_string(map).unwrap_or_else(|_| "{}".to_owned()),
        Arguments::Invalid { raw, .. } => {
            let shown: String = raw.chars().take(MAX_INVALID).collect();
            json!({"invalid_arguments": shown}).to_string()
        }
    }
}
