//! Keys of the user's endpoints that the keyring of the operating system holds.
//!
//! Owns: which keys are looked for, and the ones that were found, for every hub of this process.
//! Must not know: how a keyring is spoken to ([`keyring`]), or what a key is used for.
//!
//! Only the user's own configuration says what is looked for: no project makes a key be read. A key from the environment comes
//! first. Nothing here asks the user anything; what is locked stays so, and is said.

pub(crate) mod keyring;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::config::{Config, ProviderConfig, ProviderKind};
use crate::env::Env;
use keyring::{Keyring, KeyringError};

/// How long a client waits for the keyring before it goes on without.
const PATIENCE: Duration = Duration::from_secs(2);

/// The keys that were found last.
#[derive(Default)]
pub(crate) struct Keys(Mutex<Found>);

#[derive(Default)]
struct Found {
    /// By the name of the provider.
    keys: BTreeMap<String, String>,
    trouble: Option<String>,
}

impl Keys {
    fn found(&self) -> MutexGuard<'_, Found> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The key of the endpoint `name`: from the environment, else from the keyring.
    pub(crate) fn of(&self, name: &str, provider: &ProviderConfig, env: &Env) -> Option<String> {
        let variable = provider.api_key_env.as_deref();
        let told = variable.and_then(|variable| env.get(variable));
        told.map(str::to_owned)
            .or_else(|| self.found().keys.get(name).cloned())
    }

    /// All that are known for these endpoints, by the names of their variables, else of the endpoints.
    pub(crate) fn all(&self, config: &Config, env: &Env) -> BTreeMap<String, String> {
        let providers = config.providers.iter();
        let known = providers.filter_map(|(name, provider)| {
            let key = self.of(name, provider, env)?;
            let shown = provider.api_key_env.as_ref().unwrap_or(name);
            Some((shown.clone(), key))
        });
        known.collect()
    }

    /// Why the keyring gave nothing, when something was looked for in it.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.found().trouble.clone()
    }

    /// Looks again, in the keyring that `env` leads to, for what `env` itself does not have.
    pub(crate) async fn renew(&self, config: &Config, env: &Env) {
        let wanted = wanted(config, env);
        if wanted.is_empty() {
            *self.found() = Found::default();
            return;
        }
        let keyring = Keyring::of(env);
        let looked = tokio::time::timeout(PATIENCE, keyring.find(&wanted)).await;
        let mut found = self.found();
        match looked {
            Ok(Ok(keys)) => {
                found.keys = keys;
                found.trouble = None;
            }
            // A machine without one is no trouble: keys come from the environment there.
            Ok(Err(KeyringError::Unavailable { .. } | KeyringError::NotBuilt)) => {
                *found = Found::default();
            }
            // What was found before still holds.
            Ok(Err(error)) => found.trouble = Some(format!("{error}: {}", error.hint())),
            Err(_) => found.trouble = Some("the keyring does not answer".to_owned()),
        }
    }
}

/// Endpoints whose keys are looked for: those that take one, and whose variable is not set.
fn wanted(config: &Config, env: &Env) -> Vec<String> {
    let providers = config.providers.iter();
    let without = providers.filter(|(_, provider)| {
        let variable = provider.api_key_env.as_deref();
        matches!(provider.kind, ProviderKind::Api(_))
            && variable.and_then(|name| env.get(name)).is_none()
    });
    without.map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::path::Path;

    fn config() -> Config {
        let text = "[providers.a]\napi = \"anthropic\"\n[providers.b]\napi = \"ollama\"\n[providers.r]\napi = \"replay\"\nfile = \"x\"\n";
        Config::parse(text, Path::new("config.toml")).unwrap()
    }

    #[test]
    fn the_environment_comes_first_and_recordings_need_no_key() {
        let config = config();
        let set = BTreeMap::from([("ANTHROPIC_API_KEY".to_owned(), "env".to_owned())]);
        let env = Env::from(set);
        assert_eq!(wanted(&config, &Env::default()), ["a", "b"]);
        assert_eq!(wanted(&config, &env), ["b"]);
        let keys = Keys::default();
        let held = [("a", "held"), ("b", "held too")];
        keys.found().keys = held
            .iter()
            .map(|(name, key)| ((*name).to_owned(), (*key).to_owned()))
            .collect();
        let of = |name: &str, env: &Env| keys.of(name, &config.providers[name], env).unwrap();
        assert_eq!(
            (of("a", &env), of("b", &env)),
            ("env".into(), "held too".into())
        );
        assert_eq!(of("a", &Env::default()), "held");
        // All are masked, whatever they are called.
        let all = keys.all(&config, &Env::default());
        let names: Vec<&str> = all.keys().map(String::as_str).collect();
        assert_eq!(names, ["ANTHROPIC_API_KEY", "b"]);
    }

    #[tokio::test]
    async fn a_machine_without_a_keyring_is_no_trouble() {
        let keys = Keys::default();
        keys.renew(&config(), &Env::default()).await;
        assert_eq!(keys.trouble(), None);
    }
}
