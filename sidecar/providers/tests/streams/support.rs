//! Answers of servers, and requests to them.

use futures_util::StreamExt;
use redline_providers::{
    Api, ApiOptions, ChatRequest, Connection, Event, Message, Provider, Secret, StopReason,
};
use serde_json::Value;
use std::sync::Arc;

use crate::server::{Answer, Close, Server};

pub const KEY: &str = "sk-canary-0123456789";

pub fn connection(server: &Server) -> Connection {
    Connection {
        name: "test".to_owned(),
        base_url: server.base.clone(),
        api_key: Some(Secret::new(KEY)),
        ..Connection::default()
    }
}

pub fn provider(server: &Server, api: Api) -> Arc<dyn Provider> {
    api.open(connection(server), ApiOptions::default()).unwrap()
}

pub fn request(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        model: "m".to_owned(),
        messages,
        ..ChatRequest::default()
    }
}

pub fn user(text: &str) -> Message {
    Message::User {
        text: text.to_owned(),
    }
}

pub fn answer(status: u16, kind: &str, body: &str, close: Close) -> Answer {
    Answer {
        status,
        headers: vec![("content-type".to_owned(), kind.to_owned())],
        pieces: vec![body.as_bytes().to_vec()],
        close,
    }
}

pub fn json_answer(status: u16, body: &Value) -> Answer {
    answer(status, "application/json", &body.to_string(), Close::Eof)
}

/// Asks and returns the reason of the end.
pub async fn ends(provider: &dyn Provider, request: ChatRequest) -> StopReason {
    let events: Vec<Event> = provider.stream(request).collect().await;
    match events.last() {
        Some(Event::Done { reason }) => *reason,
        other => panic!("{other:?}"),
    }
}
