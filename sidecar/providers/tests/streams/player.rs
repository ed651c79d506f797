//! Plays a fixture through the real adapter and puts what came into the fixtures' own vocabulary.

use std::path::{Path, PathBuf};

use futures_util::StreamExt;
use redline_providers::chat::{ChatOptions, ChatProvider};
use redline_providers::{
    Arguments, ArgumentsErrorKind, ChatRequest, EditOp, Event, Message, Provider, ProviderError,
    ToolCall,
};
use serde_json::{Map, Value, json};

use crate::server::{Answer, Close, Server, headers};

/// A response body with what must come of it.
pub struct Fixture {
    /// File name without `.expected.json`.
    pub name: String,
    /// The response's body.
    pub body: Vec<u8>,
    /// The whole `.expected.json`.
    pub expected: Value,
}

/// Reads the fixtures of `folder` that have a response.
pub fn fixtures(folder: &Path) -> Vec<Fixture> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(".expected.json"))
        .filter_map(|path| {
            let expected: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let body = expected.get("fixture")?.as_str()?;
            Some(Fixture {
                name: path
                    .file_name()?
                    .to_string_lossy()
                    .replace(".expected.json", ""),
                body: std::fs::read(folder.join(body)).unwrap(),
                expected,
            })
        })
        .collect()
}

/// How a body is cut into reads.
#[derive(Debug, Clone, Copy)]
pub enum Cuts {
    /// One read.
    Whole,
    /// Where the fixture says.
    Stated,
    /// Pieces of this many bytes.
    Every(usize),
    /// At random, from this seed.
    Random(u64),
}

impl Fixture {
    fn pieces(&self, cuts: Cuts) -> Vec<Vec<u8>> {
        let len = self.body.len();
        let mut at: Vec<usize> = match cuts {
            Cuts::Whole => vec![],
            Cuts::Stated => self.expected["response"]["chunk_cuts"]
                .as_array()
                .unwrap()
                .iter()
                .map(|cut| usize::try_from(cut.as_u64().unwrap()).unwrap())
                .collect(),
            Cuts::Every(step) => (step..len).step_by(step).collect(),
            Cuts::Random(seed) => random_cuts(seed, len),
        };
        at.push(len);
        let mut start = 0;
        at.into_iter()
            .map(|end| self.body[std::mem::replace(&mut start, end)..end].to_vec())
            .collect()
    }

    /// Serves the body cut so, and returns the coalesced events.
    pub async fn play(&self, cuts: Cuts) -> Vec<Value> {
        let response = &self.expected["response"];
        let answer = Answer {
            status: u16::try_from(response["status"].as_u64().unwrap()).unwrap(),
            headers: headers(response["headers"].as_object().unwrap()),
            pieces: self.pieces(cuts),
            close: match response["close"].as_str().unwrap() {
                "eof" => Close::Eof,
                "reset" => Close::Reset,
                other => panic!("close: {other}"),
            },
        };
        let server = Server::start(vec![answer]).await;
        let options = ChatOptions {
            base_url: server.base.clone(),
            ..ChatOptions::default()
        };
        let provider = ChatProvider::new(options).unwrap();
        let request = ChatRequest {
            model: "m".to_owned(),
            messages: vec![Message::User {
                text: "go".to_owned(),
            }],
            ..ChatRequest::default()
        };
        normalized(provider.stream(request).collect().await)
    }

    /// The expected events, with a text that is only described by its length filled in from the body.
    pub fn wanted(&self) -> Vec<Value> {
        let mut events = self.expected["events"].as_array().unwrap().clone();
        for event in &mut events {
            if event.get("text_len").is_some() {
                let text = whole_text(&self.body);
                assert_eq!(text.len(), event["text_len"].as_u64().unwrap() as usize);
                *event = json!({"event": "text", "text": text});
            }
        }
        events
    }
}

/// All `content` of a well-formed stream with one chunk on each `data:` line.
fn whole_text(body: &[u8]) -> String {
    String::from_utf8_lossy(body)
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter_map(|data| serde_json::from_str::<Value>(data).ok())
        .filter_map(|chunk| {
            chunk
                .pointer("/choices/0/delta/content")?
                .as_str()
                .map(str::to_owned)
        })
        .collect()
}

/// Cut points from a small generator: the same seed cuts the same way.
fn random_cuts(seed: u64, len: usize) -> Vec<usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let largest = 1 + next(if len > 65_536 { 65_536 } else { 40 });
    let mut cuts = Vec::new();
    let mut at = 0;
    loop {
        at += 1 + next(largest);
        if at >= len {
            return cuts;
        }
        cuts.push(at);
    }
}

/// Coalesces adjacent text and reasoning, drops the progress of calls, and writes the rest as the
/// fixtures do.
fn normalized(events: Vec<Event>) -> Vec<Value> {
    let mut out: Vec<Value> = Vec::new();
    for event in events {
        let value = match event {
            Event::Text { text } => json!({"event": "text", "text": text}),
            Event::Reasoning { kind, text, .. } => {
                json!({"event": "reasoning", "kind": serde_json::to_value(kind).unwrap(), "text": text})
            }
            Event::Plan { steps, .. } => {
                json!({"event": "plan", "steps": serde_json::to_value(steps).unwrap()})
            }
            Event::ToolCallStarted { .. } | Event::ToolCallDelta { .. } => continue,
            Event::ToolCallReady(call) => tool_call(&call),
            Event::Edit {
                call,
                path,
                op: EditOp::Replace { old, new },
            } => json!({
                "event": "edit", "id": call.id, "op": "replace", "path": path, "old": old, "new": new,
            }),
            Event::Usage(usage) => {
                let mut value = json!({"event": "usage"});
                merge(&mut value, serde_json::to_value(usage).unwrap());
                value
            }
            Event::Error(error) => self::error(&error),
            Event::Done { reason } => {
                json!({"event": "stop", "reason": serde_json::to_value(reason).unwrap()})
            }
        };
        if let Some(last) = out.last_mut()
            && matches!(value["event"].as_str(), Some("text" | "reasoning"))
            && last["event"] == value["event"]
            && last["kind"] == value["kind"]
        {
            let joined =
                last["text"].as_str().unwrap().to_owned() + value["text"].as_str().unwrap();
            last["text"] = json!(joined);
        } else {
            out.push(value);
        }
    }
    out
}

fn tool_call(call: &ToolCall) -> Value {
    let mut value = json!({"event": "tool-call", "id": call.id, "name": call.name});
    match &call.arguments {
        Arguments::Json(map) => value["arguments"] = Value::Object(map.clone()),
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

fn error(error: &ProviderError) -> Value {
    let mut map = Map::new();
    map.insert("event".to_owned(), json!("error"));
    map.insert("kind".to_owned(), json!(error.kind.as_str()));
    map.insert("message".to_owned(), json!(error.message));
    map.insert("retryable".to_owned(), json!(error.retryable));
    let wait = error
        .retry_after
        .map(|wait| u64::try_from(wait.as_millis()).unwrap());
    map.insert("retry_after_ms".to_owned(), json!(wait));
    for (name, number) in [
        ("status", error.status.map(u64::from)),
        ("prompt_tokens", error.prompt_tokens),
        ("context_size", error.context_size),
    ] {
        if let Some(number) = number {
            map.insert(name.to_owned(), json!(number));
        }
    }
    if error.partial {
        map.insert("partial".to_owned(), json!(true));
    }
    Value::Object(map)
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}
