//! A folder of fixtures. One that cannot be read is a failed one, never one that is left out.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use redline_providers::Api;
use serde::Deserialize;
use serde_json::{Map, Value};

/// One `NAME.expected.json`.
pub(super) struct Fixture {
    /// File name without its ending.
    pub(super) name: String,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    Body(Box<Body>),
    Conversation(Box<Conversation>),
    BaseUrls(Vec<BaseUrl>),
    Unreadable(String),
}

/// A response with the events that must come of it.
pub(super) struct Body {
    pub(super) api: Api,
    pub(super) bytes: Vec<u8>,
    pub(super) response: Response,
    pub(super) request: Request,
    pub(super) events: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Response {
    pub(super) status: u16,
    #[serde(default)]
    pub(super) headers: Map<String, Value>,
    pub(super) close: Close,
    #[serde(default)]
    pub(super) chunk_cuts: Vec<usize>,
}

/// How the connection ends.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Close {
    Eof,
    Reset,
    /// Nothing more comes, and the connection stays open.
    #[serde(alias = "stall", alias = "open")]
    Hang,
}

/// What the fixture says of the request that its body answers.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Request {
    pub(super) estimated_prompt_tokens: Option<u64>,
}

/// A conversation with the messages that must be made of it.
pub(super) struct Conversation {
    pub(super) api: Api,
    pub(super) history: Vec<Value>,
    pub(super) messages: Value,
}

/// A base URL as typed, and the URL that is asked.
#[derive(Deserialize)]
pub(super) struct BaseUrl {
    api: String,
    base: String,
    url: String,
}

impl BaseUrl {
    pub(super) fn difference(&self) -> Option<String> {
        let got = match api(&self.api) {
            Ok(api) => api
                .endpoint(&self.base)
                .map_or_else(|e| e.to_string(), String::from),
            Err(error) => error.to_string(),
        };
        (got != self.url).then(|| format!("{}: wanted {}, got {got}", self.base, self.url))
    }
}

/// The fixtures of the folders, by name.
pub(super) fn load(folders: &[PathBuf]) -> Result<Vec<Fixture>> {
    let mut fixtures = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(folder)
            .with_context(|| format!("{} cannot be read", folder.display()))?;
        let before = fixtures.len();
        for entry in entries {
            let file = entry?.file_name().to_string_lossy().into_owned();
            if let Some(name) = file.strip_suffix(".expected.json") {
                let kind =
                    read(folder, &file).unwrap_or_else(|e| Kind::Unreadable(format!("{e:#}")));
                let name = name.to_owned();
                fixtures.push(Fixture { name, kind });
            }
        }
        ensure!(
            fixtures.len() > before,
            "{} holds no *.expected.json",
            folder.display()
        );
    }
    fixtures.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(fixtures)
}

fn read(folder: &Path, file: &str) -> Result<Kind> {
    let mut told: Value = serde_json::from_slice(&std::fs::read(folder.join(file))?)?;
    if let Some(cases) = told.get_mut("cases") {
        let cases = serde_json::from_value(cases.take()).context("cases")?;
        return Ok(Kind::BaseUrls(cases));
    }
    let api = api(told["api"].as_str().context("api is missing")?)?;
    if let Some(history) = told.get_mut("history") {
        let history = serde_json::from_value(history.take()).context("history")?;
        let messages = told["request_messages"].take();
        ensure!(messages.is_array(), "request_messages is missing");
        return Ok(Kind::Conversation(Box::new(Conversation {
            api,
            history,
            messages,
        })));
    }
    let name = told["fixture"].as_str().context("fixture is missing")?;
    let bytes = std::fs::read(folder.join(name)).with_context(|| name.to_owned())?;
    let request = match told.get_mut("request").map(Value::take) {
        None => Request::default(),
        Some(request) => serde_json::from_value(request).context("request")?,
    };
    Ok(Kind::Body(Box::new(Body {
        api,
        bytes,
        response: serde_json::from_value(told["response"].take()).context("response")?,
        request,
        events: serde_json::from_value(told["events"].take()).context("events")?,
    })))
}

/// The fixtures name the APIs by their endpoints.
fn api(name: &str) -> Result<Api> {
    Ok(match name {
        "anthropic-messages" => Api::Anthropic,
        "openai-responses" => Api::OpenAiResponses,
        "openai-chat" => Api::OpenAiChat,
        "ollama-chat" => Api::Ollama,
        other => match Api::parse(other) {
            Some(api) => api,
            None => bail!("no adapter for the API {other:?}"),
        },
    })
}
