//! Models: from what the user configured to a provider that can be asked.
//!
//! Owns: the choice of an adapter, reading its key from the session's environment, and the
//! recording that is played when nothing is configured.
//! Must not know: sessions and turns.

mod facts;
mod list;
mod opened;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use redline_protocol::v1;
use redline_providers::registry::{LOCAL_SERVERS, LocalKind};
use redline_providers::replay::{Recording, ReplayProvider};
use redline_providers::{Api, ApiOptions, ChatRequest, Connection, HttpOptions, Secret};

use crate::config::{BUILT_IN_MODEL, Config, ModelRef, ProviderConfig, ProviderKind};
use crate::env::Env;
use crate::failure::Failure;
use crate::hubs::{Model, Models};
use crate::keys::Keys;
use facts::Told;
use opened::{Opened, Parts};

/// The recording that is built in: it shows the product with no key and no network.
const BUILT_IN: &str = include_str!("../demo/recording.jsonl");

/// The models that a configuration names.
pub(crate) struct ConfiguredModels {
    keys: Arc<Keys>,
    opened: Opened,
    told: Told,
}

impl ConfiguredModels {
    /// Models whose keys are among `keys`, where the environment does not have them.
    pub(crate) fn new(keys: Arc<Keys>) -> Self {
        Self {
            keys,
            opened: Opened::default(),
            told: Told::default(),
        }
    }
}

impl Models for ConfiguredModels {
    fn open(&self, config: &Config, wanted: Option<&str>, env: &Env) -> Result<Model, Failure> {
        let model = open(config, wanted, env, &self.keys, &self.opened)?;
        // The name that a recording is given says nothing of what it costs.
        let is_recorded = model.provider.estimate(&ChatRequest::default()).is_none();
        Ok(match is_recorded {
            true => model,
            false => Model {
                facts: self.told.facts_of(config, &model.provider, &model.name),
                ..model
            },
        })
    }

    fn list(&self, config: Arc<Config>, env: &Env) -> BoxFuture<'static, v1::ListModelsResult> {
        let (keys, told) = (Arc::clone(&self.keys), self.told.clone());
        Box::pin(list::list(config, env.clone(), keys, told))
    }

    fn learn(&self, model: &Model) -> Option<BoxFuture<'static, ()>> {
        self.told.learn(model)
    }

    fn secrets(&self, config: &Config, env: &Env) -> BTreeMap<String, String> {
        self.keys.all(config, env)
    }
}

/// Opens the model named `wanted` (`PROVIDER/MODEL`), else the configured one, else the built-in.
///
/// # Errors
///
/// A failure that names the setting, when it does not lead to a model.
fn open(
    config: &Config,
    wanted: Option<&str>,
    env: &Env,
    keys: &Keys,
    opened: &Opened,
) -> Result<Model, Failure> {
    if let Some(fault) = &config.fault {
        return Err(fault.clone());
    }
    let chosen = match wanted {
        Some(name) if name != BUILT_IN_MODEL => Some(ModelRef::parse(name).ok_or_else(|| {
            Failure::new(
                "INVALID_ARGUMENTS",
                format!("`{name}` is not PROVIDER/MODEL"),
                "name a provider of the configuration, a slash, and its model",
            )
        })?),
        Some(_) => None,
        None => config.model.clone(),
    };
    let Some(chosen) = chosen else {
        return built_in();
    };
    let Some(provider) = config.providers.get(&chosen.provider) else {
        // A local server at its usual port needs no configuration.
        let server = LOCAL_SERVERS
            .iter()
            .find(|(kind, _)| kind.name() == chosen.provider);
        let (kind, port) = server.ok_or_else(|| {
            Failure::new(
                "NOT_FOUND",
                format!("no provider `{}` is configured", chosen.provider),
                format!("add [providers.{}] to the configuration", chosen.provider),
            )
        })?;
        let base_url = local_base_url(*kind, *port);
        let connection = connection(&chosen.provider, &base_url, None, env);
        let parts = Parts {
            api: kind.api(),
            connection,
            options: ApiOptions::default(),
        };
        return Ok(Model::new(opened.get(parts)?, chosen.model.clone()));
    };
    match provider.kind {
        ProviderKind::Api(api) => Ok(Model::new(
            opened.get(endpoint(env, keys, &chosen, api, provider)?)?,
            chosen.model.clone(),
        )),
        ProviderKind::Replay => replay(&chosen, provider),
    }
}

fn built_in() -> Result<Model, Failure> {
    let recording = Recording::parse("the built-in recording", BUILT_IN)
        .map_err(|error| Failure::internal(error.to_string()))?;
    Ok(Model::new(
        Arc::new(ReplayProvider::new("replay", recording)),
        "demo".to_owned(),
    ))
}

fn endpoint(
    env: &Env,
    keys: &Keys,
    chosen: &ModelRef,
    api: Api,
    provider: &ProviderConfig,
) -> Result<Parts, Failure> {
    let configured = provider.base_url.as_deref();
    let base_url = configured.or(api.default_base_url()).ok_or_else(|| {
        Failure::new(
            "INVALID_ARGUMENTS",
            format!("provider `{}` has no base_url", chosen.provider),
            "set base_url to where it answers, such as http://127.0.0.1:1234/v1",
        )
    })?;
    let api_key = keys.of(&chosen.provider, provider, env);
    if let (None, Some(name)) = (&api_key, &provider.api_key_env) {
        let provider = &chosen.provider;
        return Err(Failure::new(
            "PROVIDER",
            format!("the key of `{provider}` is missing: {name} is not set, and no keyring has it"),
            format!(
                "set {name} where your editor or this command is started, or run `redline auth set {provider}`"
            ),
        ));
    }
    let api_key = api_key.map(Secret::new);
    let mut connection = connection(&chosen.provider, base_url, api_key, env);
    let timeouts = &mut connection.http.timeouts;
    if let Some(seconds) = provider.first_byte_seconds {
        timeouts.first_byte = Duration::from_secs(seconds);
    }
    if let Some(seconds) = provider.idle_seconds {
        timeouts.idle = Duration::from_secs(seconds);
    }
    Ok(Parts {
        api,
        connection,
        options: options(provider),
    })
}

fn options(provider: &ProviderConfig) -> ApiOptions {
    ApiOptions {
        version: provider.version.clone(),
        num_ctx: provider.num_ctx,
        ..ApiOptions::default()
    }
}

/// Where a local server of this kind answers requests of models.
fn local_base_url(kind: LocalKind, port: u16) -> String {
    match kind.api() {
        Api::Ollama => format!("http://127.0.0.1:{port}"),
        _ => format!("http://127.0.0.1:{port}/v1"),
    }
}

/// How the endpoint `name` is reached; proxies are those of the environment.
fn connection(name: &str, base_url: &str, api_key: Option<Secret>, env: &Env) -> Connection {
    let owned = |name: &str| env.get(name).map(str::to_owned);
    // As curl reads them: lower case first, and for http only lower case, since a web server sets the
    // other one from a header.
    let proxy = |lower: &str, upper: &str| owned(lower).or_else(|| owned(upper));
    Connection {
        name: name.to_owned(),
        base_url: base_url.to_owned(),
        api_key,
        http: HttpOptions {
            http_proxy: owned("http_proxy"),
            https_proxy: proxy("https_proxy", "HTTPS_PROXY"),
            no_proxy: proxy("no_proxy", "NO_PROXY"),
            ..HttpOptions::default()
        },
        ..Connection::default()
    }
}

fn replay(chosen: &ModelRef, provider: &ProviderConfig) -> Result<Model, Failure> {
    let file = provider.file.as_ref().ok_or_else(|| {
        Failure::new(
            "INVALID_ARGUMENTS",
            format!("provider `{}` has no file", chosen.provider),
            "set file to the recording that it plays",
        )
    })?;
    let text = read_recording(file).map_err(|error| {
        Failure::new(
            "IO",
            format!("{} could not be read: {error}", file.display()),
            "correct `file` in the configuration",
        )
    })?;
    let recording = Recording::parse(&file.display().to_string(), &text).map_err(|error| {
        Failure::new(
            "INVALID_ARGUMENTS",
            error.to_string(),
            "correct the recording",
        )
    })?;
    Ok(Model::new(
        Arc::new(ReplayProvider::new(chosen.provider.clone(), recording)),
        chosen.model.clone(),
    ))
}

/// The recording is the user's own file, named in the user's own configuration.
#[expect(clippy::disallowed_methods, reason = "no file of a workspace")]
fn read_recording(file: &std::path::Path) -> std::io::Result<String> {
    std::fs::read_to_string(file)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use std::collections::BTreeMap;
    use std::path::Path;

    #[test]
    fn the_key_comes_from_the_environment_of_the_session() {
        let text = r#"
            model = "local/m"
            [providers.local]
            api = "openai-chat"
            base_url = "http://127.0.0.1:1/v1"
            api_key_env = "SESSION_KEY"
        "#;
        let config = Config::parse(text, Path::new("config.toml")).unwrap();
        let (keys, opened) = (Keys::default(), Opened::default());
        let missing = open(&config, None, &Env::default(), &keys, &opened)
            .err()
            .unwrap();
        assert_eq!(missing.code, "PROVIDER");
        assert!(missing.message.contains("SESSION_KEY"), "{missing:?}");
        let named = BTreeMap::from([("SESSION_KEY".to_owned(), "k".to_owned())]);
        let env = Env::from(named);
        let first = open(&config, None, &env, &keys, &opened).unwrap();
        assert_eq!(first.name, "m");
        // What it learned and its connections serve the next turn; another key is another adapter.
        let second = open(&config, None, &env, &keys, &opened).unwrap();
        assert!(Arc::ptr_eq(&first.provider, &second.provider));
        let other = BTreeMap::from([("SESSION_KEY".to_owned(), "l".to_owned())]);
        let third = open(&config, None, &Env::from(other), &keys, &opened).unwrap();
        assert!(!Arc::ptr_eq(&first.provider, &third.provider));
    }
}
