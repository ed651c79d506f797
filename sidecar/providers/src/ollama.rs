//! Ollama's own API. It says more of a local model than its compatible ones, and takes a context size.

mod assemble;
mod context;
mod library;
mod request;
mod wire;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::base_url::{self, BaseUrlError};
use crate::endpoint::{Api, Connection, Endpoint, Link};
use crate::provider::EventStream;
use crate::stream::Framing;
use crate::{ChatRequest, ErrorKind, ModelInfo, Provider, ProviderError, Secret, count, lenient};

pub(crate) use assemble::Assembler;
use context::Context;
use request::Think;
use wire::Show;

/// Name of this API in configurations.
pub(crate) const NAME: &str = "ollama";

/// How to speak to one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OllamaOptions {
    /// The context to ask for, in tokens; without it, what the conversation needs, up to the model's
    /// window.
    pub num_ctx: Option<u64>,
}

/// A provider over Ollama's own API. Cheap to share; one connection pool.
#[derive(Debug)]
pub struct OllamaProvider(Arc<Endpoint<Ollama>>);

struct Ollama {
    num_ctx: Option<u64>,
    models: Mutex<HashMap<String, Model>>,
}

#[derive(Debug, Clone, Copy)]
struct Model {
    context: Context,
    think: Think,
    /// The server was asked about it.
    is_known: bool,
}

/// How long the question about a model may take; the turn goes on without an answer.
const SHOW_LIMIT: Duration = Duration::from_secs(5);

impl OllamaProvider {
    /// Makes a provider; nothing is connected yet.
    ///
    /// # Errors
    ///
    /// [`BaseUrlError`] when the base URL is not one.
    pub fn new(connection: Connection, options: OllamaOptions) -> Result<Self, BaseUrlError> {
        let url = base_url::ollama_chat(&connection.base_url)?;
        let api = Ollama {
            num_ctx: options.num_ctx,
            models: Mutex::default(),
        };
        Ok(Self(Arc::new(Endpoint::new(connection, url, api))))
    }
}

impl Provider for OllamaProvider {
    fn name(&self) -> &str {
        &self.0.link.connection.name
    }

    fn stream(&self, request: ChatRequest) -> EventStream {
        self.0.stream(request)
    }

    fn close_idle(&self) {
        self.0.link.close_idle();
    }

    /// What the server was asked for is what it reads, whatever the model was made for.
    fn window(&self, model: &str) -> Option<u64> {
        let known = self.0.api.model(model).context;
        self.0.api.num_ctx.or(known.asked)
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        Box::pin(self.0.models())
    }
}

impl Ollama {
    fn model(&self, name: &str) -> Model {
        let models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.get(name).copied().unwrap_or(Model {
            context: Context::default(),
            think: Think::Level,
            is_known: false,
        })
    }

    fn set_model(&self, name: &str, model: Model) {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.insert(name.to_owned(), model);
    }

    /// The context to ask for, in tokens.
    fn num_ctx(&self, request: &ChatRequest) -> u64 {
        self.num_ctx.unwrap_or_else(|| {
            let context = self.model(&request.model).context;
            context.fit(prompt_tokens(request), request.max_output_tokens)
        })
    }
}

fn prompt_tokens(request: &ChatRequest) -> u64 {
    let counted = request.estimated_prompt_tokens;
    counted.unwrap_or_else(|| count::estimate(request))
}

impl Api for Ollama {
    type Assembler = Assembler;

    const FRAMING: Framing = Framing::Lines;

    fn headers(&self, key: Option<&Secret>) -> Vec<(&'static str, Secret)> {
        key.and_then(Secret::bearer).into_iter().collect()
    }

    async fn prepare(&self, link: &Link, request: &ChatRequest) {
        let mut model = self.model(&request.model);
        if !model.is_known {
            let url = base_url::sibling(&link.url, "/chat", "/show");
            let body = json!({"model": request.model});
            let headers = self.headers(link.connection.api_key.as_ref());
            let ask = link.json(&url, headers, Some(body));
            // No answer leaves the model unknown, and the request itself will say what is wrong.
            if let Ok(Ok(answer)) = tokio::time::timeout(SHOW_LIMIT, ask).await {
                let show: Show = lenient::from_tree(answer);
                model.context.window = show.context_length();
                model.context.own = show.num_ctx();
                if !show.capabilities.is_empty()
                    && !show.capabilities.iter().any(|word| word == "thinking")
                {
                    model.think = Think::Never;
                }
                model.is_known = true;
                self.set_model(&request.model, model);
            }
        }
        let asked = Some(self.num_ctx(request));
        if asked != model.context.asked {
            model.context.asked = asked;
            self.set_model(&request.model, model);
        }
    }

    fn body(&self, request: &ChatRequest) -> Value {
        let think = self.model(&request.model).think;
        request::body(request, self.num_ctx(request), think)
    }

    fn learn(&self, refusal: &ProviderError, request: &ChatRequest) -> bool {
        let mut model = self.model(&request.model);
        match refusal.kind {
            // The estimate was too low; the server counted.
            ErrorKind::ContextLength if self.num_ctx.is_none() => {
                let Some(counted) = refusal.prompt_tokens else {
                    return false;
                };
                let fit = model.context.fit(counted, request.max_output_tokens);
                if model.context.asked.is_some_and(|asked| fit <= asked) {
                    return false;
                }
                model.context.asked = Some(fit);
            }
            ErrorKind::InvalidRequest if request.reasoning_effort.is_some() => {
                model.think = match model.think {
                    Think::Level | Think::YesOrNo if refusal.objects_to("support thinking") => {
                        Think::Never
                    }
                    Think::Level if refusal.objects_to("think") => Think::YesOrNo,
                    _ => return false,
                };
            }
            _ => return false,
        }
        self.set_model(&request.model, model);
        true
    }

    fn assembler(&self, request: &ChatRequest) -> Assembler {
        Assembler::new(request, prompt_tokens(request))
    }
}
