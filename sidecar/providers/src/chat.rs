//! OpenAI Chat Completions, and every server that is compatible with it.

mod alias;
mod assemble;
mod calls;
mod think;
mod wire;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use url::Url;

use crate::http::{Body, Http, Post, ReadEnd, Shape, silence};
use crate::provider::{Emitter, EventStream};
use crate::sse;
use crate::{
    BaseUrlError, ChatRequest, ErrorKind, Event, HttpOptions, Message, Provider, ProviderError,
    Secret, StopReason, join_chat_completions,
};

use assemble::{Assembler, End, Progress};

/// How to reach one server.
#[derive(Debug, Clone, Default)]
pub struct ChatOptions {
    /// Name under which the user configured it.
    pub name: String,
    /// As the user typed it: host, prefix, or the whole endpoint.
    pub base_url: String,
    /// Sent as a bearer token; local servers want none.
    pub api_key: Option<Secret>,
    /// Further headers (a gateway's own credentials, an organization).
    pub headers: Vec<(String, Secret)>,
    /// Send reasoning back with the conversation. Some servers want it, some refuse it.
    pub replay_reasoning: bool,
    /// Network and time limits.
    pub http: HttpOptions,
}

/// A provider over Chat Completions. Cheap to share; one connection pool.
pub struct ChatProvider(Arc<Endpoint>);

struct Endpoint {
    options: ChatOptions,
    url: Url,
    http: Http,
    /// Learned from a refusal: this server does not know `stream_options`.
    no_stream_options: AtomicBool,
    /// Known of OpenAI, or learned from a refusal: it wants `max_completion_tokens`.
    max_completion_tokens: AtomicBool,
}

impl ChatProvider {
    /// Makes a provider; nothing is connected yet.
    ///
    /// # Errors
    ///
    /// [`BaseUrlError`] when the base URL is not one.
    pub fn new(options: ChatOptions) -> Result<Self, BaseUrlError> {
        let url = join_chat_completions(&options.base_url)?;
        let is_openai = url.host_str() == Some("api.openai.com");
        let http = Http::new(options.http.clone(), &url);
        Ok(Self(Arc::new(Endpoint {
            options,
            url,
            http,
            no_stream_options: AtomicBool::new(false),
            max_completion_tokens: AtomicBool::new(is_openai),
        })))
    }
}

impl Provider for ChatProvider {
    fn name(&self) -> &str {
        &self.0.options.name
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        let endpoint = Arc::clone(&self.0);
        EventStream::new(|emitter| async move { endpoint.run(request, &emitter).await })
    }
}

impl Endpoint {
    async fn run(&self, request: ChatRequest, emitter: &Emitter) {
        let used_ids: HashSet<String> = request
            .messages
            .iter()
            .flat_map(Message::call_ids)
            .map(str::to_owned)
            .collect();
        match self.open(&request).await {
            Ok((body, shape)) => {
                let mut answer = Assembler::new(used_ids, request.tools);
                let end = self.read(body, shape, &mut answer, emitter).await;
                let mut out = Vec::new();
                answer.finish(end, &mut out);
                self.emit_all(emitter, &mut out).await;
            }
            Err(error) => {
                self.emit(emitter, Event::Error(error)).await;
                self.emit(
                    emitter,
                    Event::Done {
                        reason: StopReason::Error,
                    },
                )
                .await;
            }
        }
    }

    /// Sends the request, and once more without a key that this server refused by name.
    async fn open(&self, request: &ChatRequest) -> Result<(Body, Shape), ProviderError> {
        let mut adapted = false;
        loop {
            let dialect = wire::Dialect {
                stream_options: !self.no_stream_options.load(Ordering::Relaxed),
                max_completion_tokens: self.max_completion_tokens.load(Ordering::Relaxed),
                replay_reasoning: self.options.replay_reasoning,
            };
            let post = Post {
                url: &self.url,
                key: self.options.api_key.as_ref(),
                headers: &self.options.headers,
                body: wire::body(request, dialect),
            };
            match self.http.post(post).await {
                Ok(mut body) => {
                    let shape = body.shape().await?;
                    return Ok((body, shape));
                }
                Err(error) if !adapted && self.learn(&error, dialect) => adapted = true,
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the refusal of a known key as this server's dialect.
    fn learn(&self, error: &ProviderError, dialect: wire::Dialect) -> bool {
        if !matches!(error.status, Some(400 | 422)) || error.kind != ErrorKind::InvalidRequest {
            return false;
        }
        if dialect.stream_options && error.message.contains("stream_options") {
            self.no_stream_options.store(true, Ordering::Relaxed);
            return true;
        }
        if !dialect.max_completion_tokens && error.message.contains("max_completion_tokens") {
            self.max_completion_tokens.store(true, Ordering::Relaxed);
            return true;
        }
        false
    }

    async fn read(
        &self,
        mut body: Body,
        shape: Shape,
        answer: &mut Assembler,
        emitter: &Emitter,
    ) -> End {
        let mut out = Vec::new();
        let mut read = match shape {
            Shape::Json(value) => {
                answer.whole(value, &mut out);
                self.emit_all(emitter, &mut out).await;
                return End::Closed;
            }
            Shape::EventStream(read) => read,
        };
        let mut decoder = sse::Decoder::default();
        let mut data = Vec::new();
        loop {
            if let Err(error) = decoder.push(&read, &mut data) {
                return End::Failed(ProviderError::new(ErrorKind::Protocol, error.to_string()));
            }
            for data in data.drain(..) {
                let progress = answer.data(&data, &mut out);
                self.emit_all(emitter, &mut out).await;
                if progress == Progress::Last {
                    return End::Closed;
                }
            }
            match body.read().await {
                Ok(bytes) => {
                    read.clear();
                    read.extend_from_slice(&bytes);
                }
                Err(ReadEnd::Silent(limit)) => return End::Failed(silence(limit)),
                Err(ReadEnd::Eof | ReadEnd::Broken) => {
                    if let Some(data) = decoder.end() {
                        answer.unclosed(&data, &mut out);
                        self.emit_all(emitter, &mut out).await;
                    }
                    return End::Closed;
                }
            }
        }
    }

    async fn emit_all(&self, emitter: &Emitter, out: &mut Vec<Event>) {
        for event in out.drain(..) {
            self.emit(emitter, event).await;
        }
    }

    /// Hands an event on; what a server echoes of a credential is masked first.
    async fn emit(&self, emitter: &Emitter, event: Event) {
        let event = match event {
            Event::Error(mut error) => {
                let extra = self.options.headers.iter().map(|(_, value)| value);
                for secret in self.options.api_key.iter().chain(extra) {
                    error.message = secret.mask(&error.message);
                }
                Event::Error(error)
            }
            other => other,
        };
        emitter.emit(event).await;
    }
}

impl std::fmt::Debug for ChatProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatProvider")
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}
