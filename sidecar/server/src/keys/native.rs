//! The Keychain of macOS and the Credential Manager of Windows.

use std::collections::BTreeMap;

use keyring::{Entry, Error};

use super::{Keyring, KeyringError};

const SERVICE: &str = "redline";

impl From<Error> for KeyringError {
    fn from(error: Error) -> Self {
        match error {
            Error::NoStorageAccess(_) => Self::Locked,
            Error::NoDefaultStore => Self::Unavailable {
                reason: error.to_string(),
            },
            other => Self::Refused {
                reason: other.to_string(),
            },
        }
    }
}

/// Asks off the runtime's threads: the system may ask the user.
async fn ask<T: Send + 'static>(
    question: impl FnOnce() -> Result<T, KeyringError> + Send + 'static,
) -> Result<T, KeyringError> {
    let answer = tokio::task::spawn_blocking(question).await;
    answer.unwrap_or_else(|error| {
        Err(KeyringError::Refused {
            reason: error.to_string(),
        })
    })
}

pub(super) async fn find(
    _: &Keyring,
    providers: &[String],
) -> Result<BTreeMap<String, String>, KeyringError> {
    let providers = providers.to_vec();
    ask(move || {
        let mut keys = BTreeMap::new();
        for provider in providers {
            match Entry::new(SERVICE, &provider)?.get_password() {
                Ok(key) => drop(keys.insert(provider, key)),
                Err(Error::NoEntry) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(keys)
    })
    .await
}

pub(super) async fn set(_: &Keyring, provider: &str, key: &str) -> Result<(), KeyringError> {
    let (provider, key) = (provider.to_owned(), key.to_owned());
    ask(move || Ok(Entry::new(SERVICE, &provider)?.set_password(&key)?)).await
}

pub(super) async fn remove(_: &Keyring, provider: &str) -> Result<bool, KeyringError> {
    let provider = provider.to_owned();
    ask(
        move || match Entry::new(SERVICE, &provider)?.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(error.into()),
        },
    )
    .await
}
