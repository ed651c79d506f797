//! OpenAI Responses, and every server that is compatible with it.

mod assemble;
mod call;
mod items;
mod request;
mod wire;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::base_url::{self, BaseUrlError};
use crate::endpoint::{Api, Connection, Endpoint};
use crate::model::list;
use crate::provider::EventStream;
use crate::stream::Framing;
use crate::{ChatRequest, ErrorKind, ModelInfo, Provider, ProviderError, Secret};

pub(crate) use assemble::Assembler;
use request::Dialect;

/// Name of this API in configurations and in [`crate::OpaqueBlock`].
pub(crate) const NAME: &str = "openai-responses";

/// A provider over the Responses API. Cheap to share; one connection pool.
#[derive(Debug)]
pub struct ResponsesProvider(Arc<Endpoint<Responses>>);

#[derive(Default)]
struct Responses {
    /// What each model was seen to refuse.
    dialects: Mutex<HashMap<String, Dialect>>,
}

impl ResponsesProvider {
    /// Makes a provider; nothing is connected yet.
    ///
    /// # Errors
    ///
    /// [`BaseUrlError`] when the base URL is not one.
    pub fn new(connection: Connection) -> Result<Self, BaseUrlError> {
        let url = base_url::responses(&connection.base_url)?;
        let api = Responses::default();
        Ok(Self(Arc::new(Endpoint::new(connection, url, api))))
    }
}

impl Provider for ResponsesProvider {
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
        Box::pin(self.0.listed_models())
    }

    fn count<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<Option<u64>, ProviderError>> {
        Box::pin(self.0.counted(request))
    }
}

impl Endpoint<Responses> {
    async fn listed_models(&self) -> Result<Vec<ModelInfo>, ProviderError> {
        let url = base_url::sibling(&self.link.url, "/responses", "/models");
        let headers = self.api.headers(self.link.connection.api_key.as_ref());
        let asked = self.link.json(&url, headers, None).await;
        let answer = asked.map_err(|error| self.link.masked(error))?;
        let models = list::models(&answer).into_iter();
        Ok(models.map(ModelInfo::completed).collect())
    }

    async fn counted(&self, request: &ChatRequest) -> Result<Option<u64>, ProviderError> {
        let url = base_url::sibling(&self.link.url, "/responses", "/responses/input_tokens");
        let headers = self.api.headers(self.link.connection.api_key.as_ref());
        let body = request::counted(request, &self.api.dialect(&request.model));
        let answer = self.link.json_if_known(&url, headers, Some(body)).await?;
        Ok(answer.and_then(|answer| answer.get("input_tokens")?.as_u64()))
    }
}

impl Responses {
    fn dialect(&self, model: &str) -> Dialect {
        let dialects = self.dialects.lock().unwrap_or_else(PoisonError::into_inner);
        dialects.get(model).cloned().unwrap_or(Dialect {
            summary: true,
            effort: true,
            encrypted: true,
            refused_items: HashSet::new(),
        })
    }

    fn set_dialect(&self, model: &str, dialect: Dialect) {
        let mut dialects = self.dialects.lock().unwrap_or_else(PoisonError::into_inner);
        dialects.insert(model.to_owned(), dialect);
    }
}

impl Api for Responses {
    type Assembler = Assembler;

    const FRAMING: Framing = Framing::Sse;

    fn headers(&self, key: Option<&Secret>) -> Vec<(&'static str, Secret)> {
        key.and_then(Secret::bearer).into_iter().collect()
    }

    fn body(&self, request: &ChatRequest) -> Value {
        request::body(request, &self.dialect(&request.model))
    }

    fn learn(&self, refusal: &ProviderError, request: &ChatRequest) -> bool {
        let mut dialect = self.dialect(&request.model);
        if refuses_reasoning(refusal) {
            let before = dialect.refused_items.len();
            dialect
                .refused_items
                .extend(request::reasoning_ids(request));
            if dialect.refused_items.len() == before {
                return false;
            }
        } else if !matches!(refusal.status, Some(400 | 422))
            || refusal.kind != ErrorKind::InvalidRequest
        {
            return false;
        } else if dialect.summary && refusal.objects_to("reasoning.summary") {
            dialect.summary = false;
        } else if dialect.effort
            && request.reasoning_effort.is_some()
            && refusal.objects_to("reasoning.effort")
        {
            dialect.effort = false;
        } else if dialect.encrypted
            && (refusal.objects_to("include") || refusal.objects_to("ncrypted content"))
        {
            dialect.encrypted = false;
        } else if (dialect.summary || dialect.effort) && refusal.objects_to("reasoning") {
            (dialect.summary, dialect.effort) = (false, false);
        } else {
            return false;
        }
        self.set_dialect(&request.model, dialect);
        true
    }

    fn assembler(&self, request: &ChatRequest) -> Assembler {
        Assembler::new(request)
    }
}

/// Whether the vendor does not take reasoning items back: it cannot decrypt one, does not know it, or
/// misses what it led to.
fn refuses_reasoning(refusal: &ProviderError) -> bool {
    let says = |words: &str| refusal.message.contains(words);
    matches!(refusal.status, Some(400 | 404))
        && (refusal.code.as_deref() == Some("invalid_encrypted_content")
            || (says("Item with id") && says("not found"))
            || says("without its required following item"))
}
