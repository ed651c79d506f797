//! OpenAI Chat Completions, and every server that is compatible with it.

mod assemble;
mod calls;
mod details;
mod request;
mod server;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::base_url::{self, BaseUrlError};
use crate::endpoint::{Api, Connection, Endpoint};
use crate::model::list::Server;
use crate::provider::EventStream;
use crate::stream::Framing;
use crate::{ChatRequest, ErrorKind, ModelInfo, Provider, ProviderError, Secret};

pub(crate) use assemble::Assembler;
use request::Dialect;

/// Name of this API in configurations.
pub(crate) const NAME: &str = "openai-chat";

/// How to speak to one server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatOptions {
    /// Send reasoning back with the conversation. Some servers want it, some refuse it; a refusal
    /// that says so corrects this by itself.
    pub replay_reasoning: bool,
}

/// A provider over Chat Completions. Cheap to share; one connection pool.
#[derive(Debug)]
pub struct ChatProvider(Arc<Endpoint<Chat>>);

struct Chat {
    stream_options: AtomicBool,
    max_completion_tokens: AtomicBool,
    replay_reasoning: AtomicBool,
    /// Which program answers, once it was asked.
    server: OnceLock<Server>,
}

impl ChatProvider {
    /// Makes a provider; nothing is connected yet.
    ///
    /// # Errors
    ///
    /// [`BaseUrlError`] when the base URL is not one.
    pub fn new(connection: Connection, options: ChatOptions) -> Result<Self, BaseUrlError> {
        let url = base_url::chat_completions(&connection.base_url)?;
        let is_openai = url.host_str() == Some("api.openai.com");
        let api = Chat {
            stream_options: AtomicBool::new(true),
            max_completion_tokens: AtomicBool::new(is_openai),
            replay_reasoning: AtomicBool::new(options.replay_reasoning),
            server: OnceLock::new(),
        };
        Ok(Self(Arc::new(Endpoint::new(connection, url, api))))
    }
}

impl Provider for ChatProvider {
    fn name(&self) -> &str {
        &self.0.link.connection.name
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        self.0.stream(request)
    }

    fn close_idle(&self) {
        self.0.link.close_idle();
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        Box::pin(self.0.models())
    }

    fn count<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<Option<u64>, ProviderError>> {
        Box::pin(self.0.count(request))
    }
}

impl Chat {
    fn dialect(&self) -> Dialect {
        Dialect {
            stream_options: self.stream_options.load(Ordering::Relaxed),
            max_completion_tokens: self.max_completion_tokens.load(Ordering::Relaxed),
            replay_reasoning: self.replay_reasoning.load(Ordering::Relaxed),
        }
    }
}

impl Api for Chat {
    type Assembler = Assembler;

    const FRAMING: Framing = Framing::Sse;

    fn headers(&self, key: Option<&Secret>) -> Vec<(&'static str, Secret)> {
        key.and_then(Secret::bearer).into_iter().collect()
    }

    fn body(&self, request: &ChatRequest) -> Value {
        request::body(request, self.dialect())
    }

    fn learn(&self, refusal: &ProviderError, _: &ChatRequest) -> bool {
        if !matches!(refusal.status, Some(400 | 422)) || refusal.kind != ErrorKind::InvalidRequest {
            return false;
        }
        let dialect = self.dialect();
        if dialect.stream_options && refusal.objects_to("stream_options") {
            self.stream_options.store(false, Ordering::Relaxed);
            return true;
        }
        if !dialect.max_completion_tokens && refusal.objects_to("max_completion_tokens") {
            self.max_completion_tokens.store(true, Ordering::Relaxed);
            return true;
        }
        // One server misses it, another does not want it; either way it is the other of the two.
        if refusal.objects_to("reasoning_content") {
            let other = !dialect.replay_reasoning;
            self.replay_reasoning.store(other, Ordering::Relaxed);
            return true;
        }
        false
    }

    fn assembler(&self, request: &ChatRequest) -> Assembler {
        Assembler::new(request)
    }
}
