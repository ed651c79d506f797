//! Anthropic Messages, and every server that is compatible with it.

mod assemble;
mod blocks;
mod request;
mod wire;

use std::collections::HashMap;
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
pub(crate) const NAME: &str = "anthropic";

/// The version of the API that is asked for when none is configured: the one that gateways and
/// compatible servers know.
pub const DEFAULT_VERSION: &str = "2023-06-01";

/// How to speak to one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnthropicOptions {
    /// The API's version, a date; [`DEFAULT_VERSION`] when there is none. Nothing that is sent or read
    /// differs between the versions that are live.
    pub version: Option<String>,
}

/// A provider over the Messages API. Cheap to share; one connection pool.
#[derive(Debug)]
pub struct AnthropicProvider(Arc<Endpoint<Messages>>);

struct Messages {
    version: String,
    /// What each model was seen to refuse.
    dialects: Mutex<HashMap<String, Dialect>>,
}

impl AnthropicProvider {
    /// Makes a provider; nothing is connected yet.
    ///
    /// # Errors
    ///
    /// [`BaseUrlError`] when the base URL is not one.
    pub fn new(connection: Connection, options: AnthropicOptions) -> Result<Self, BaseUrlError> {
        let url = base_url::messages(&connection.base_url)?;
        let version = options
            .version
            .unwrap_or_else(|| DEFAULT_VERSION.to_owned());
        let api = Messages {
            version,
            dialects: Mutex::default(),
        };
        Ok(Self(Arc::new(Endpoint::new(connection, url, api))))
    }
}

impl Provider for AnthropicProvider {
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
        Box::pin(self.0.anthropic_models())
    }

    fn count<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<Option<u64>, ProviderError>> {
        Box::pin(self.0.anthropic_count(request))
    }
}

/// Pages of the list of models that are asked for at most.
const MAX_PAGES: usize = 10;

impl Endpoint<Messages> {
    async fn anthropic_models(&self) -> Result<Vec<ModelInfo>, ProviderError> {
        let url = base_url::sibling(&self.link.url, "/messages", "/models");
        let mut models = Vec::new();
        let mut after: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut page = url.clone();
            page.query_pairs_mut().append_pair("limit", "1000");
            if let Some(after) = &after {
                page.query_pairs_mut().append_pair("after_id", after);
            }
            let headers = self.api.headers(self.link.connection.api_key.as_ref());
            let asked = self.link.json(&page, headers, None).await;
            let answer = asked.map_err(|error| self.link.masked(error))?;
            models.extend(list::models(&answer).into_iter().map(ModelInfo::completed));
            after = list::next_page(&answer).map(str::to_owned);
            if after.is_none() {
                break;
            }
        }
        Ok(models)
    }

    async fn anthropic_count(&self, request: &ChatRequest) -> Result<Option<u64>, ProviderError> {
        let url = base_url::sibling(&self.link.url, "/messages", "/messages/count_tokens");
        let headers = self.api.headers(self.link.connection.api_key.as_ref());
        let body = request::counted(request, self.api.dialect(&request.model));
        let answer = self.link.json_if_known(&url, headers, Some(body)).await?;
        Ok(answer.and_then(|answer| answer.get("input_tokens")?.as_u64()))
    }
}

impl Messages {
    fn dialect(&self, model: &str) -> Dialect {
        let dialects = self.dialects.lock().unwrap_or_else(PoisonError::into_inner);
        dialects.get(model).copied().unwrap_or(Dialect {
            thinking: true,
            effort: true,
            cache: true,
            max_tokens: None,
        })
    }

    fn set_dialect(&self, model: &str, dialect: Dialect) {
        let mut dialects = self.dialects.lock().unwrap_or_else(PoisonError::into_inner);
        dialects.insert(model.to_owned(), dialect);
    }
}

impl Api for Messages {
    type Assembler = Assembler;

    const FRAMING: Framing = Framing::Sse;

    fn headers(&self, key: Option<&Secret>) -> Vec<(&'static str, Secret)> {
        let mut headers = vec![("anthropic-version", Secret::new(self.version.clone()))];
        headers.extend(
            key.filter(|key| !key.is_empty())
                .map(|key| ("x-api-key", key.clone())),
        );
        headers
    }

    fn body(&self, request: &ChatRequest) -> Value {
        request::body(request, self.dialect(&request.model))
    }

    fn learn(&self, refusal: &ProviderError, request: &ChatRequest) -> bool {
        if !matches!(refusal.status, Some(400 | 422)) || refusal.kind != ErrorKind::InvalidRequest {
            return false;
        }
        let mut dialect = self.dialect(&request.model);
        if let Some(most) = most_tokens(&refusal.message).filter(|most| {
            let wanted = dialect.max_tokens.unwrap_or(u64::MAX);
            *most < wanted
        }) {
            dialect.max_tokens = Some(most);
        } else if dialect.cache && refusal.objects_to("cache_control") {
            dialect.cache = false;
        } else if dialect.effort
            && request.reasoning_effort.is_some()
            && (refusal.objects_to("output_config") || refusal.objects_to("effort"))
        {
            dialect.effort = false;
        } else if dialect.thinking
            && (refusal.objects_to("thinking") || refusal.objects_to("adaptive"))
        {
            dialect.thinking = false;
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

/// Reads the limit out of `max_tokens: 32000 > 8192, which is the maximum allowed …`.
fn most_tokens(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once("max_tokens: ")?;
    let (_, rest) = rest.split_once('>')?;
    let digits: String = rest
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok().filter(|most| *most > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_a_model_is_read_from_its_refusal() {
        let refusal =
            "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m";
        assert_eq!(most_tokens(refusal), Some(8192));
        assert_eq!(most_tokens("max_tokens: must be positive"), None);
    }
}
