//! `redline models`: what can be named, whether it answers, and what is known of it.
//!
//! Owns: which endpoints are asked, and the list that comes of it. Must not know: how an endpoint is asked.

use std::sync::Arc;

use redline_protocol::v1;
use redline_providers::registry::{
    Candidate, Credential, EndpointStatus, LOCAL_SERVERS, Limits, LocalServer, local_servers,
    survey,
};
use redline_providers::{ApiOptions, ModelInfo, Secret};

use super::facts::Told;
use super::opened::Parts;
use super::{connection, options};
use crate::config::{BUILT_IN_MODEL, Config, ProviderKind};
use crate::env::Env;
use crate::keys::Keys;

/// Asks every configured endpoint, and the local servers that run at their usual ports.
pub(super) async fn list(
    config: Arc<Config>,
    env: Env,
    keys: Arc<Keys>,
    told: Told,
) -> v1::ListModelsResult {
    let mut listed = Listed {
        configured: config.model_name(),
        models: Vec::new(),
        notices: Vec::new(),
    };
    listed.recorded(BUILT_IN_MODEL);
    let mut candidates = Vec::new();
    for name in config.providers.keys() {
        candidates.extend(listed.candidate(&config, name, &env, &keys));
    }
    let (mut asked, found) = tokio::join!(
        survey(candidates, Limits::default()),
        local_servers(&LOCAL_SERVERS)
    );
    let unnamed = |server: &LocalServer| !config.providers.contains_key(server.kind.name());
    let found = found.iter().filter(|server| unnamed(server));
    let local = found.filter_map(|server| listed.local(server, &env));
    let local: Vec<Candidate> = local.collect();
    asked.extend(survey(local, Limits::default()).await);
    for endpoint in asked {
        if let Ok(models) = &endpoint.models {
            told.note(&endpoint.name, models);
        }
        listed.take(endpoint);
    }
    listed.finish()
}

struct Listed {
    configured: String,
    models: Vec<v1::Model>,
    notices: Vec<String>,
}

impl Listed {
    fn candidate(
        &mut self,
        config: &Config,
        name: &str,
        env: &Env,
        keys: &Keys,
    ) -> Option<Candidate> {
        let provider = config.providers.get(name)?;
        let ProviderKind::Api(api) = provider.kind else {
            let recorded = match &config.model {
                Some(model) if model.provider == name => model.to_string(),
                _ => format!("{name}/recorded"),
            };
            self.recorded(&recorded);
            return None;
        };
        let variable = provider.api_key_env.as_deref();
        let key = keys.of(name, provider, env);
        let missing = variable.filter(|_| key.is_none()).map(str::to_owned);
        let base_url = provider.base_url.as_deref().or(api.default_base_url());
        let key = key.map(Secret::new);
        let parts = Parts {
            api,
            connection: connection(name, base_url?, key, env),
            options: options(provider),
        };
        self.open(&parts, missing)
    }

    fn local(&mut self, server: &LocalServer, env: &Env) -> Option<Candidate> {
        let port = LOCAL_SERVERS
            .iter()
            .find(|(kind, _)| *kind == server.kind)?
            .1;
        let base_url = super::local_base_url(server.kind, port);
        let name = server.kind.name();
        self.notices
            .push(format!("{name} answers at {}", server.base_url));
        let parts = Parts {
            api: server.kind.api(),
            connection: connection(name, &base_url, None, env),
            options: ApiOptions::default(),
        };
        self.open(&parts, None)
    }

    fn open(&mut self, parts: &Parts, missing_key: Option<String>) -> Option<Candidate> {
        match parts.open() {
            Ok(provider) => Some(Candidate {
                provider,
                missing_key,
            }),
            Err(failure) => {
                self.notices.push(failure.message);
                None
            }
        }
    }

    /// A recording: it needs no endpoint.
    fn recorded(&mut self, id: &str) {
        let mut model = self.model(id, "recorded");
        model.reachable = Some(true);
        model.tools = Some(true);
        self.models.push(model);
    }

    fn model(&self, id: &str, name: &str) -> v1::Model {
        v1::Model {
            id: id.to_owned(),
            name: name.to_owned(),
            configured: id == self.configured,
            credentials: Credential::Ready.to_string(),
            reachable: None,
            context_window: None,
            tools: None,
            reasoning: None,
            images: None,
            parallel_calls: None,
        }
    }

    fn take(&mut self, endpoint: EndpointStatus) {
        let reachable = match endpoint.credential {
            // It was not asked.
            Credential::Missing(_) => None,
            _ => Some(endpoint.is_reachable()),
        };
        let credentials = endpoint.credential.to_string();
        match endpoint.models {
            Ok(models) => {
                for info in models {
                    let mut model = self.described(&endpoint.name, &info);
                    model.reachable = reachable;
                    model.credentials.clone_from(&credentials);
                    self.models.push(model);
                }
            }
            Err(error) => {
                self.notices.push(format!("{}: {error}", endpoint.name));
                self.unanswered(&endpoint.name, reachable, &credentials);
            }
        }
    }

    fn described(&self, provider: &str, info: &ModelInfo) -> v1::Model {
        let name = info.name.as_deref().unwrap_or(&info.id);
        v1::Model {
            context_window: info.context_window,
            tools: info.capabilities.tools,
            reasoning: info.capabilities.reasoning,
            images: info.capabilities.images,
            parallel_calls: info.capabilities.parallel_calls,
            ..self.model(&format!("{provider}/{}", info.id), name)
        }
    }

    /// The configured model of an endpoint that did not say what it has.
    fn unanswered(&mut self, provider: &str, reachable: Option<bool>, credentials: &str) {
        let configured = self.configured.clone();
        let Some((name, model)) = configured.split_once('/') else {
            return;
        };
        if name == provider {
            let mut model = self.model(&configured, model);
            model.reachable = reachable;
            credentials.clone_into(&mut model.credentials);
            self.models.push(model);
        }
    }

    fn finish(mut self) -> v1::ListModelsResult {
        self.models.sort_by_key(|model| !model.configured);
        v1::ListModelsResult {
            models: self.models,
            notices: self.notices,
        }
    }
}
