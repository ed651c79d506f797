//! What is known of models beside what their answers say: what their tokens cost, how many they read.
//!
//! Owns: remembering what endpoints told, and asking one once where neither the user nor the built-in table knows.
//! Must not know: how an endpoint is asked, or what a fact is used for.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use redline_agent::ModelFacts;
use redline_providers::{ModelInfo, PriceBook, Provider, known_window};

use crate::config::Config;
use crate::hubs::Model;

/// How long an endpoint may take to say what it has.
const PATIENCE: Duration = Duration::from_secs(10);

/// What endpoints told. Cloning shares it.
#[derive(Clone, Default)]
pub(super) struct Told(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    /// By `PROVIDER/MODEL`.
    models: HashMap<String, ModelInfo>,
    /// Providers that were asked.
    asked: BTreeSet<String>,
}

impl Told {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what an endpoint said it has.
    pub(super) fn note(&self, provider: &str, models: &[ModelInfo]) {
        let mut known = self.known();
        for info in models {
            known
                .models
                .insert(format!("{provider}/{}", info.id), info.clone());
        }
    }

    /// The facts of a model, looked up whenever they are asked for: its context may grow, its price become known.
    pub(super) fn facts_of(
        &self,
        config: &Config,
        provider: &Arc<dyn Provider>,
        model: &str,
    ) -> Arc<dyn Fn() -> ModelFacts + Send + Sync> {
        let own = config.prices.clone().into_iter().collect();
        let (told, provider, model) = (self.clone(), Arc::clone(provider), model.to_owned());
        let prices = PriceBook::new(own);
        Arc::new(move || {
            let info = told.of(provider.name(), &model);
            let mut book = prices.clone();
            if let Some(price) = info.as_ref().and_then(|info| info.price) {
                book.note(provider.name(), &model, price);
            }
            ModelFacts {
                price: book.price(provider.name(), &model),
                window: provider
                    .window(&model)
                    .or(info.and_then(|info| info.context_window))
                    .or_else(|| known_window(&model)),
            }
        })
    }

    fn of(&self, provider: &str, model: &str) -> Option<ModelInfo> {
        let name = format!("{provider}/{model}");
        self.known().models.get(&name).cloned()
    }

    /// Asks the endpoint of a model what it has, where something is not known and it was not asked yet.
    pub(super) fn learn(&self, model: &Model) -> Option<BoxFuture<'static, ()>> {
        let facts = (model.facts)();
        if facts.window.is_some() && facts.price.is_some() {
            return None;
        }
        let provider = Arc::clone(&model.provider);
        let name = provider.name().to_owned();
        if !self.known().asked.insert(name.clone()) {
            return None;
        }
        let told = self.clone();
        Some(Box::pin(async move {
            match tokio::time::timeout(PATIENCE, provider.models()).await {
                Ok(Ok(models)) => told.note(&name, &models),
                // Another turn asks again.
                Ok(Err(_)) | Err(_) => drop(told.known().asked.remove(&name)),
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use redline_providers::{Api, ApiOptions, Connection};
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::path::Path;

    /// An endpoint that lists one model with its context and its prices, to `n` who ask.
    fn endpoint(n: usize) -> (String, std::thread::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let served = std::thread::spawn(move || {
            for _ in 0..n {
                let (mut stream, _) = listener.accept().unwrap();
                let mut head = [0; 4096];
                assert!(stream.read(&mut head).unwrap() > 0);
                let body = r#"{"data": [{"id": "own", "context_length": 4096, "pricing": {"prompt": "0.000003", "completion": "0.000006"}}]}"#;
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                stream
                    .write_all(format!("{head}{body}").as_bytes())
                    .unwrap();
            }
        });
        (url, served)
    }

    fn model(told: &Told, config: &Config, url: &str, name: &str) -> Model {
        let connection = Connection {
            name: "local".to_owned(),
            base_url: url.to_owned(),
            ..Connection::default()
        };
        let provider = Api::parse("openai-chat")
            .unwrap()
            .open(connection, ApiOptions::default())
            .unwrap();
        Model {
            facts: told.facts_of(config, &provider, name),
            provider,
            name: name.to_owned(),
        }
    }

    #[tokio::test]
    async fn an_endpoint_is_asked_once_for_what_nobody_knows() {
        let (url, served) = endpoint(1);
        let (told, config) = (Told::default(), Config::default());
        let own = model(&told, &config, &url, "own");
        assert_eq!((own.facts)(), ModelFacts::default(), "unknown, not 0");
        told.learn(&own).unwrap().await;
        served.join().unwrap();
        let facts = (own.facts)();
        assert_eq!(facts.window, Some(4096));
        assert!((facts.price.unwrap().rates.output - 6.0).abs() < 1e-9);
        assert!(told.learn(&model(&told, &config, &url, "other")).is_none());
        // What the user wrote comes first, and what everybody knows is not asked for.
        let text = "[prices.\"local/own\"]\ninput = 1\noutput = 2\n";
        let config = Config::parse(text, Path::new("config.toml")).unwrap();
        let priced = (model(&told, &config, &url, "own").facts)();
        assert!((priced.price.unwrap().rates.output - 2.0).abs() < 1e-9);
        let known = model(&Told::default(), &config, &url, "gpt-4o");
        assert_eq!((known.facts)().window, Some(128_000));
        assert!(Told::default().learn(&known).is_none());
    }

    #[tokio::test]
    async fn one_that_does_not_answer_is_asked_again_by_a_later_turn() {
        let (told, config) = (Told::default(), Config::default());
        let gone = model(&told, &config, "http://127.0.0.1:9/v1", "own");
        told.learn(&gone).unwrap().await;
        assert_eq!((gone.facts)(), ModelFacts::default());
        assert!(told.learn(&gone).is_some());
    }
}
