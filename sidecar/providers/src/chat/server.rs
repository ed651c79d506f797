//! What the servers of this API say beside it: their models, and how many tokens a request has.

use serde_json::{Value, json};
use url::Url;

use super::Chat;
use super::request;
use crate::base_url::sibling;
use crate::endpoint::{Api, Endpoint};
use crate::model::list::{self, Server};
use crate::{ChatRequest, ModelInfo, ProviderError, Secret};

impl Endpoint<Chat> {
    /// The models of this server, with what it says of them in its own ways.
    pub(super) async fn models(&self) -> Result<Vec<ModelInfo>, ProviderError> {
        let listed = self.beside("/models");
        let answer = self.link.json(&listed, self.headers(), None).await;
        let answer = answer.map_err(|error| self.link.masked(error))?;
        let mut models = list::models(&answer);
        let server = *self.api.server.get_or_init(|| list::server(&answer));
        // The further questions only add; without an answer the list stands.
        match server {
            Server::LlamaCpp => {
                if let Ok(Some(props)) = self.ask(&self.at_root("/props"), None).await {
                    models.iter_mut().for_each(|model| add_props(model, &props));
                }
            }
            Server::LmStudio => {
                if let Ok(Some(answer)) = self.ask(&self.at_root("/api/v0/models"), None).await {
                    let told = list::models(&answer);
                    if !told.is_empty() {
                        models = told;
                    }
                }
            }
            Server::Vllm | Server::Other => {}
        }
        Ok(models.into_iter().map(ModelInfo::completed).collect())
    }

    /// The tokens of a request's prompt, where the server counts.
    pub(super) async fn count(&self, request: &ChatRequest) -> Result<Option<u64>, ProviderError> {
        if self.api.server.get().is_none() {
            self.models().await?;
        }
        let body = request::body(request, self.api.dialect());
        let (url, body, key) = match self.api.server.get() {
            Some(Server::LlamaCpp) => {
                let url = self.beside("/chat/completions/input_tokens");
                (url, body, "input_tokens")
            }
            Some(Server::Vllm) => {
                let mut counted = json!({"model": body["model"], "messages": body["messages"]});
                if let Some(tools) = body.get("tools") {
                    counted["tools"] = tools.clone();
                }
                (self.at_root("/tokenize"), counted, "count")
            }
            Some(Server::LmStudio | Server::Other) | None => return Ok(None),
        };
        let answer = self.ask(&url, Some(body)).await?;
        Ok(answer.and_then(|answer| answer.get(key)?.as_u64()))
    }

    async fn ask(&self, url: &Url, body: Option<Value>) -> Result<Option<Value>, ProviderError> {
        self.link.json_if_known(url, self.headers(), body).await
    }

    fn headers(&self) -> Vec<(&'static str, Secret)> {
        self.api.headers(self.link.connection.api_key.as_ref())
    }

    /// An address beside the endpoint, under the same version.
    fn beside(&self, path: &str) -> Url {
        sibling(&self.link.url, "/chat/completions", path)
    }

    /// An address above the API's version.
    fn at_root(&self, path: &str) -> Url {
        sibling(&self.link.url, "/v1/chat/completions", path)
    }
}

/// What llama.cpp says of the model that it runs.
fn add_props(model: &mut ModelInfo, props: &Value) {
    let number = |path: &str| {
        props
            .pointer(path)
            .and_then(Value::as_u64)
            .filter(|n| *n > 0)
    };
    let flag = |path: &str| props.pointer(path).and_then(Value::as_bool);
    model.context_window = number("/default_generation_settings/n_ctx").or(model.context_window);
    let can = &mut model.capabilities;
    can.images = flag("/modalities/vision").or(can.images);
    can.tools = flag("/chat_template_caps/supports_tools").or(can.tools);
    can.parallel_calls =
        flag("/chat_template_caps/supports_parallel_tool_calls").or(can.parallel_calls);
}
