//! The Secret Service over the session's bus.
//!
//! Source: the Secret Service API, <https://specifications.freedesktop.org/secret-service/latest/>.

use std::collections::{BTreeMap, HashMap};

use secret_service::{EncryptionType, Error, Item, SecretService};
use zbus::connection::Builder;

use super::{Keyring, KeyringError};

const APPLICATION: &str = "redline";

impl From<Error> for KeyringError {
    fn from(error: Error) -> Self {
        match error {
            Error::Unavailable => Self::Unavailable {
                reason: "no Secret Service".to_owned(),
            },
            Error::Locked | Error::Prompt | Error::PromptDisconnected => Self::Locked,
            other => Self::Refused {
                reason: other.to_string(),
            },
        }
    }
}

async fn connect(keyring: &Keyring) -> Result<SecretService<'static>, KeyringError> {
    let unavailable = |reason: String| KeyringError::Unavailable { reason };
    let address = keyring.bus.as_deref();
    let address = address.ok_or_else(|| unavailable("no session bus".to_owned()))?;
    let bus = async { Builder::address(address)?.build().await };
    let bus = bus.await.map_err(|error| unavailable(error.to_string()))?;
    let service = SecretService::connect_with_existing(EncryptionType::Dh, bus).await;
    // A bus on which nobody offers it is no fault of anybody.
    service.map_err(|error| match error {
        Error::Zbus(error) => unavailable(error.to_string()),
        Error::ZbusFdo(error) => unavailable(error.to_string()),
        other => other.into(),
    })
}

fn attributes(provider: &str) -> HashMap<&str, &str> {
    HashMap::from([("application", APPLICATION), ("provider", provider)])
}

pub(super) async fn find(
    keyring: &Keyring,
    providers: &[String],
) -> Result<BTreeMap<String, String>, KeyringError> {
    let service = connect(keyring).await?;
    let mut keys = BTreeMap::new();
    let mut is_locked = false;
    for provider in providers {
        let found = service.search_items(attributes(provider)).await?;
        is_locked |= found.unlocked.is_empty() && !found.locked.is_empty();
        let Some(item) = found.unlocked.first() else {
            continue;
        };
        if let Some(key) = secret(item).await? {
            keys.insert(provider.clone(), key);
        }
    }
    match keys.is_empty() && is_locked {
        true => Err(KeyringError::Locked),
        false => Ok(keys),
    }
}

/// What an item holds; none when it is no text.
async fn secret(item: &Item<'_>) -> Result<Option<String>, KeyringError> {
    let bytes = item.get_secret().await?;
    Ok(String::from_utf8(bytes).ok().filter(|key| !key.is_empty()))
}

pub(super) async fn set(keyring: &Keyring, provider: &str, key: &str) -> Result<(), KeyringError> {
    let service = connect(keyring).await?;
    let collection = match service.get_any_collection().await {
        Ok(collection) => collection,
        Err(Error::NoResult) => service.create_collection("Login", "default").await?,
        Err(error) => return Err(error.into()),
    };
    if collection.is_locked().await? {
        collection.unlock().await?;
    }
    let label = format!("Redline: key of {provider}");
    let kept = collection.create_item(
        &label,
        attributes(provider),
        key.as_bytes(),
        true,
        "text/plain",
    );
    kept.await?;
    Ok(())
}

pub(super) async fn remove(keyring: &Keyring, provider: &str) -> Result<bool, KeyringError> {
    let service = connect(keyring).await?;
    let found = service.search_items(attributes(provider)).await?;
    for item in &found.locked {
        item.unlock().await?;
    }
    let items = found.unlocked.iter().chain(&found.locked);
    let mut is_removed = false;
    for item in items {
        item.delete().await?;
        is_removed = true;
    }
    Ok(is_removed)
}
