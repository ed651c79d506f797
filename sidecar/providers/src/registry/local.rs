//! Model servers on this machine, found by asking their usual ports.
//!
//! Other programs use the same ports, so a server counts only when it says something that only it says.

use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;
use serde_json::Value;
use url::Url;

use crate::endpoint::Link;
use crate::model::list::{self, Server};
use crate::{Api, Connection, HttpOptions, Timeouts};

/// A kind of local server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocalKind {
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// llama.cpp's `llama-server`.
    LlamaCpp,
    /// vLLM.
    Vllm,
}

/// The kinds and their usual ports.
pub const LOCAL_SERVERS: [(LocalKind, u16); 4] = [
    (LocalKind::Ollama, 11434),
    (LocalKind::LmStudio, 1234),
    (LocalKind::LlamaCpp, 8080),
    (LocalKind::Vllm, 8000),
];

/// A server that answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LocalServer {
    /// What it is.
    pub kind: LocalKind,
    /// For a configuration.
    pub base_url: String,
}

/// How long a port may take. Nothing listens on most, and that is known at once.
const LIMIT: Duration = Duration::from_secs(2);

impl LocalKind {
    /// The API that it is best asked over.
    pub fn api(self) -> Api {
        match self {
            Self::Ollama => Api::Ollama,
            Self::LmStudio | Self::LlamaCpp | Self::Vllm => Api::OpenAiChat,
        }
    }

    /// The name for a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::LmStudio => "lm-studio",
            Self::LlamaCpp => "llama-cpp",
            Self::Vllm => "vllm",
        }
    }

    /// Where it says what it is.
    fn path(self) -> &'static str {
        match self {
            Self::Ollama => "/api/version",
            Self::LmStudio => "/api/v0/models",
            Self::LlamaCpp => "/props",
            Self::Vllm => "/v1/models",
        }
    }

    fn is(self, answer: &Value) -> bool {
        let first = || answer.get("data")?.get(0)?.as_object();
        match self {
            Self::Ollama => answer.get("version").is_some_and(Value::is_string),
            Self::LmStudio => first().is_some_and(|model| model.contains_key("state")),
            Self::LlamaCpp => answer.get("default_generation_settings").is_some(),
            Self::Vllm => list::server(answer) == Server::Vllm,
        }
    }
}

/// Asks these ports of the loopback interface, all at once.
pub async fn local_servers(ports: &[(LocalKind, u16)]) -> Vec<LocalServer> {
    let asked = ports.iter().map(|(kind, port)| ask(*kind, *port));
    join_all(asked).await.into_iter().flatten().collect()
}

async fn ask(kind: LocalKind, port: u16) -> Option<LocalServer> {
    let base = format!("http://127.0.0.1:{port}");
    let url = Url::parse(&format!("{base}{}", kind.path())).ok()?;
    let connection = Connection {
        name: kind.name().to_owned(),
        base_url: base.clone(),
        http: HttpOptions {
            timeouts: Timeouts {
                connect: LIMIT,
                first_byte: LIMIT,
                idle: LIMIT,
            },
            ..HttpOptions::default()
        },
        ..Connection::default()
    };
    let link = Link::new(connection, url.clone());
    let asked = tokio::time::timeout(LIMIT, link.json(&url, Vec::new(), None)).await;
    let answer = asked.ok()?.ok()?;
    kind.is(&answer).then_some(LocalServer {
        kind,
        base_url: base,
    })
}
