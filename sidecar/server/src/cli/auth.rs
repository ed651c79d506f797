//! `redline auth`: the keys of endpoints, in the keyring of the operating system.
//!
//! Owns: how a key is taken and how its state reads. Must not know: how a keyring is spoken to.
//!
//! A key is read from standard input, never from the command line, where every process of the machine could read it.

use std::future::Future;
use std::time::Duration;

use serde_json::json;

use super::{
    Context,
    args::AuthAction,
    secret,
    terminal::{Style, clean},
};
use crate::{
    config::{Config, ProviderConfig, ProviderKind, nearest},
    env::Env,
    failure::{Failure, exit},
    keys::keyring::{Keyring, KeyringError},
};

/// How long the user may take to unlock the keyring.
const PATIENCE: Duration = Duration::from_secs(180);

/// Runs `redline auth`.
pub(crate) fn run(context: &mut Context<'_>, action: Option<AuthAction>) -> Result<i32, Failure> {
    let config = Config::load(&context.paths)?;
    let env = Env::of_process();
    let keyring = Keyring::of(&env);
    match action.unwrap_or(AuthAction::Status) {
        AuthAction::Status => status(context, &config, &env, &keyring),
        AuthAction::Set { provider } => {
            known(&config, &provider)?;
            let key = secret::read(&format!("Key of {}: ", clean(&provider)))?;
            wait(keyring.set(&provider, &key))??;
            renew(context);
            let told = json!({ "provider": provider, "key": "kept" });
            say(
                context,
                &told,
                &format!("the key of {} is kept", clean(&provider)),
            );
            Ok(exit::DONE)
        }
        AuthAction::Remove { provider } => {
            let removed = wait(keyring.remove(&provider))??;
            renew(context);
            let word = if removed { "removed" } else { "absent" };
            let told = json!({ "provider": provider, "key": word });
            let text = match removed {
                true => format!("the key of {} is removed", clean(&provider)),
                false => format!("the keyring has no key of {}", clean(&provider)),
            };
            say(context, &told, &text);
            Ok(exit::DONE)
        }
    }
}

fn say(context: &mut Context<'_>, told: &serde_json::Value, text: &str) {
    match context.terminal.json {
        true => context.terminal.object(told),
        false => context.terminal.say(&format!("{text}\n")),
    }
}

/// Refuses a name that no endpoint has: its key would never be used.
fn known(config: &Config, name: &str) -> Result<(), Failure> {
    if config.providers.contains_key(name) {
        return Ok(());
    }
    let near = nearest(name, config.providers.keys().map(String::as_str))
        .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
    Err(Failure::new(
        "NOT_FOUND",
        format!("no provider {name:?} is configured{near}"),
        format!("add [providers.{name}] to the configuration first"),
    ))
}

fn status(
    context: &mut Context<'_>,
    config: &Config,
    env: &Env,
    keyring: &Keyring,
) -> Result<i32, Failure> {
    let names: Vec<String> = config.providers.keys().cloned().collect();
    let found = wait(keyring.find(&names))?;
    let (kept, state) = match &found {
        Ok(kept) => (kept.clone(), "ready".to_owned()),
        Err(error) => (Default::default(), error.to_string()),
    };
    let states: Vec<(&str, &ProviderConfig, &str)> = config
        .providers
        .iter()
        .map(|(name, provider)| {
            let source = source(provider, env, kept.contains_key(name));
            (name.as_str(), provider, source)
        })
        .collect();
    if context.terminal.json {
        let providers: Vec<_> = states
            .iter()
            .map(|(name, provider, source)| {
                json!({"provider": name, "variable": provider.api_key_env, "source": source})
            })
            .collect();
        let object = json!({"keyring": state, "providers": providers});
        context.terminal.object(&object);
        return Ok(exit::DONE);
    }
    let paint = context.terminal.paint;
    let mut text = format!("keyring: {}\n", clean(&state));
    if let Err(error) = &found {
        paint.push(&mut text, Style::Dim, &format!("  {}\n", error.hint()));
    }
    for (name, provider, source) in &states {
        let told = match (*source, &provider.api_key_env) {
            ("environment", Some(variable)) => format!("key in {variable}"),
            ("missing", Some(variable)) => {
                format!("missing: set {variable}, or run `redline auth set {name}`")
            }
            ("keyring", _) => "key in the keyring".to_owned(),
            _ => "needs no key".to_owned(),
        };
        text.push_str(&clean(&format!("{name}: {told}")));
        text.push('\n');
    }
    context.terminal.say(&text);
    Ok(exit::DONE)
}

/// Where the key of an endpoint comes from.
fn source(provider: &ProviderConfig, env: &Env, is_kept: bool) -> &'static str {
    let variable = provider.api_key_env.as_deref();
    match provider.kind {
        ProviderKind::Replay => "none needed",
        ProviderKind::Api(_) if variable.and_then(|name| env.get(name)).is_some() => "environment",
        ProviderKind::Api(_) if is_kept => "keyring",
        ProviderKind::Api(_) if variable.is_some() => "missing",
        ProviderKind::Api(_) => "none needed",
    }
}

/// Waits for the keyring, which may wait for the user.
fn wait<T>(
    answer: impl Future<Output = Result<T, KeyringError>>,
) -> Result<Result<T, KeyringError>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::internal(error.to_string()))?;
    let answered = runtime.block_on(async { tokio::time::timeout(PATIENCE, answer).await });
    answered.map_err(|_| {
        Failure::new(
            "TIMEOUT",
            "the keyring did not answer",
            "unlock it, then try again",
        )
    })
}

/// Lets a sidecar that runs look again; one that cannot be reached looks when the next client comes.
fn renew(context: &Context<'_>) {
    if context.paths.socket().exists()
        && let Ok(client) = context.client()
    {
        client.close();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeMap;
    use std::path::Path;

    #[test]
    fn the_state_of_every_endpoint_is_told() {
        let text = "[providers.a]\napi = \"anthropic\"\n[providers.o]\napi = \"ollama\"\n[providers.r]\napi = \"replay\"\nfile = \"x\"\n";
        let config = Config::parse(text, Path::new("config.toml")).unwrap();
        let set = Env::from(BTreeMap::from([(
            "ANTHROPIC_API_KEY".to_owned(),
            "k".to_owned(),
        )]));
        let of = |name: &str, env: &Env, kept| source(&config.providers[name], env, kept);
        assert_eq!(of("a", &set, true), "environment");
        assert_eq!(of("a", &Env::default(), true), "keyring");
        assert_eq!(of("a", &Env::default(), false), "missing");
        assert_eq!(of("o", &set, true), "keyring");
        assert_eq!(
            (of("o", &set, false), of("r", &set, true)),
            ("none needed", "none needed")
        );
        let refused = known(&config, "aa").unwrap_err();
        assert!(
            refused.message.contains("did you mean \"a\"?"),
            "{refused:?}"
        );
    }
}
