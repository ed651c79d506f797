//! One conversation: sent by the real adapter, compared with what the server heard.

use anyhow::{Context, Result, bail, ensure};
use futures_util::StreamExt;
use redline_providers::{
    Api, ApiOptions, Arguments, AssistantPart, ChatRequest, Connection, Event, Message, ToolCall,
};
use serde_json::{Map, Value};

use super::fixture::Conversation;
use super::server::{Answer, Close, Server};

pub(super) async fn play(conversation: &Conversation) -> Vec<String> {
    match sent(conversation).await {
        Ok(messages) if messages == conversation.messages => Vec::new(),
        Ok(messages) => vec![format!("wanted {}, sent {messages}", conversation.messages)],
        Err(error) => vec![format!("{error:#}")],
    }
}

/// The messages that the server heard.
async fn sent(conversation: &Conversation) -> Result<Value> {
    let api = conversation.api;
    let path = api.endpoint("http://h")?.path().to_owned();
    let refusal = Answer {
        status: 500,
        headers: Vec::new(),
        pieces: Vec::new(),
        close: Close::Eof,
    };
    let server = Server::routes(vec![(&path, vec![refusal])]).await;
    let connection = Connection {
        name: "fixture".to_owned(),
        base_url: server.base.clone(),
        ..Connection::default()
    };
    let provider = api.open(connection, ApiOptions::default())?;
    let _: Vec<Event> = provider.stream(request(conversation)?).collect().await;
    let heard = server.requests().await;
    let request = heard.iter().find(|request| request.head.contains(&path));
    let body = &request.context("nothing was sent")?.body;
    let key = match api {
        Api::OpenAiResponses => "input",
        Api::Anthropic | Api::OpenAiChat | Api::Ollama => "messages",
    };
    Ok(body[key].clone())
}

fn request(conversation: &Conversation) -> Result<ChatRequest> {
    let mut request = ChatRequest {
        model: "m".to_owned(),
        ..ChatRequest::default()
    };
    let mut names = Map::new();
    for message in &conversation.history {
        let message = message.as_object().context("a message is an object")?;
        let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("role") {
            "system" => text("text").clone_into(&mut request.system),
            "user" => request.messages.push(Message::User {
                text: text("text").to_owned(),
            }),
            "assistant" => {
                let parts = assistant(message)?;
                for part in &parts {
                    if let AssistantPart::ToolCall(call) = part {
                        names.insert(call.id.clone(), Value::String(call.name.clone()));
                    }
                }
                request.messages.push(Message::Assistant { parts });
            }
            "tool" => {
                let id = text("id");
                let name = names.get(id).and_then(Value::as_str).unwrap_or_default();
                request.messages.push(Message::ToolResult {
                    call_id: id.to_owned(),
                    name: name.to_owned(),
                    content: text("text").to_owned(),
                    is_error: message.get("is_error") == Some(&Value::Bool(true)),
                });
            }
            other => bail!("the role {other:?} is not known"),
        }
    }
    Ok(request)
}

/// Reasoning, then text, then calls.
fn assistant(message: &Map<String, Value>) -> Result<Vec<AssistantPart>> {
    let known = ["role", "reasoning", "text", "tool_calls"];
    if let Some(key) = message.keys().find(|key| !known.contains(&key.as_str())) {
        bail!("{key:?} of an answer is not known");
    }
    let list = |key: &str| {
        let list = message.get(key).and_then(Value::as_array);
        list.into_iter().flatten()
    };
    let mut parts: Vec<AssistantPart> = list("reasoning").map(reasoning).collect();
    if let Some(text) = message.get("text").and_then(Value::as_str) {
        parts.push(AssistantPart::Text(text.to_owned()));
    }
    for call in list("tool_calls") {
        let id = call["id"].as_str().context("a call has no id")?;
        ensure!(call["name"].is_string(), "a call has no name");
        let arguments = match &call["arguments"] {
            Value::Object(map) => Arguments::Json(map.clone()),
            Value::String(raw) => Arguments::parse(raw),
            Value::Null => Arguments::parse(""),
            other => Arguments::parse(&other.to_string()),
        };
        parts.push(AssistantPart::ToolCall(ToolCall {
            id: id.to_owned(),
            wire_id: Some(id.to_owned()),
            name: call["name"].as_str().unwrap_or_default().to_owned(),
            arguments,
        }));
    }
    Ok(parts)
}

/// A block to send back, or plain text.
fn reasoning(block: &Value) -> AssistantPart {
    let (text, replay) = match block {
        Value::String(text) => (text.as_str(), None),
        block => {
            let text = block.get("thinking").or_else(|| block.get("text"));
            (
                text.and_then(Value::as_str).unwrap_or_default(),
                Some(block.clone()),
            )
        }
    };
    AssistantPart::Reasoning {
        text: text.to_owned(),
        replay,
    }
}
