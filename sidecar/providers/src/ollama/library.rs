//! The models of an Ollama server: which there are, which are loaded, and what each can do.

use std::collections::HashMap;

use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::json;

use super::Ollama;
use super::wire::Show;
use crate::base_url::sibling;
use crate::endpoint::{Api, Endpoint};
use crate::{Capabilities, ModelInfo, ProviderError, lenient};

/// Models that are asked about one by one; further ones are only named.
const MAX_SHOWN: usize = 64;

/// Questions at the same time.
const SIDE_BY_SIDE: usize = 4;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Listed {
    #[serde(deserialize_with = "lenient::list")]
    models: Vec<ListedModel>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ListedModel {
    #[serde(deserialize_with = "lenient::text")]
    name: Option<String>,
    /// Of a loaded one: the context that it runs with, in tokens.
    #[serde(deserialize_with = "lenient::count")]
    context_length: Option<u64>,
}

impl Endpoint<Ollama> {
    pub(super) async fn models(&self) -> Result<Vec<ModelInfo>, ProviderError> {
        let tags = self.list("/tags").await?;
        // Old servers do not say which are loaded.
        let loaded = self.list("/ps").await.ok();
        let loaded: Option<HashMap<String, Option<u64>>> = loaded.map(|listed| {
            let models = listed.models.into_iter();
            models
                .filter_map(|model| Some((model.name?, model.context_length)))
                .collect()
        });
        let names = tags.models.into_iter().filter_map(|model| model.name);
        let shown = futures_util::stream::iter(names.enumerate())
            .map(|(at, name)| self.describe(name, at < MAX_SHOWN))
            .buffered(SIDE_BY_SIDE);
        let mut models: Vec<ModelInfo> = shown.collect().await;
        for model in &mut models {
            if let Some(loaded) = &loaded {
                model.loaded = Some(loaded.contains_key(&model.id));
            }
        }
        Ok(models)
    }

    async fn list(&self, path: &str) -> Result<Listed, ProviderError> {
        let url = sibling(&self.link.url, "/chat", path);
        let headers = self.api.headers(self.link.connection.api_key.as_ref());
        let answer = self.link.json(&url, headers, None).await;
        let answer = answer.map_err(|error| self.link.masked(error))?;
        Ok(lenient::from_tree(answer))
    }

    async fn describe(&self, name: String, ask: bool) -> ModelInfo {
        let mut model = ModelInfo::named(name);
        if !ask {
            return model;
        }
        let url = sibling(&self.link.url, "/chat", "/show");
        let headers = self.api.headers(self.link.connection.api_key.as_ref());
        let body = json!({"model": model.id});
        // Without an answer the model is only named.
        if let Ok(answer) = self.link.json(&url, headers, Some(body)).await {
            let show: Show = lenient::from_tree(answer);
            model.context_window = show.context_length();
            let can = |word: &str| {
                let told = !show.capabilities.is_empty();
                told.then(|| show.capabilities.iter().any(|known| known == word))
            };
            model.capabilities = Capabilities {
                tools: can("tools"),
                parallel_calls: None,
                reasoning: can("thinking"),
                images: can("vision"),
            };
        }
        model
    }
}
