//! The keyring of the operating system: the Secret Service on Linux and the BSDs, the Keychain on macOS, the Credential
//! Manager on Windows.
//!
//! Owns: speaking to it, and what its refusals mean. Must not know: which keys matter to whom.
//!
//! An entry has the attributes `application` = `redline` and `provider` = the name of a `[providers.NAME]` table.

use std::collections::BTreeMap;

use crate::env::Env;
use crate::failure::Failure;

/// Why a keyring could not be used. Never with a key in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyringError {
    /// Nobody serves one in this session.
    #[error("there is no keyring in this session ({reason})")]
    Unavailable {
        /// What the system said.
        reason: String,
    },
    /// It is locked, and nobody was asked, or said no.
    #[error("the keyring is locked")]
    Locked,
    /// It refused something else.
    #[error("the keyring refused: {reason}")]
    Refused {
        /// What it said.
        reason: String,
    },
    /// This binary was built without it.
    #[error("this build of Redline cannot speak to keyrings")]
    #[cfg_attr(feature = "keyring", expect(dead_code, reason = "this build can"))]
    NotBuilt,
}

impl KeyringError {
    /// What to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => {
                "start a Secret Service (GNOME Keyring, KWallet, KeePassXC) in your session, or set the key in the \
                 environment where your editor is started"
            }
            Self::Locked => "unlock it, then try again; or set the key in the environment",
            Self::Refused { .. } => "look at the keyring with its own program",
            Self::NotBuilt => {
                "build with the feature `keyring`, or set the key in the environment where your editor is started"
            }
        }
    }

    /// Which code it has at the edge.
    fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } | Self::NotBuilt => "UNSUPPORTED",
            Self::Locked => "NOT_ALLOWED",
            Self::Refused { .. } => "IO",
        }
    }
}

impl From<KeyringError> for Failure {
    fn from(error: KeyringError) -> Self {
        Failure::new(error.code(), error.to_string(), error.hint())
    }
}

/// One user's keyring.
#[derive(Debug, Clone)]
pub(crate) struct Keyring {
    /// Where the session's bus is.
    #[cfg_attr(
        not(feature = "keyring"),
        expect(dead_code, reason = "nobody speaks to it")
    )]
    bus: Option<String>,
}

impl Keyring {
    /// The one of the session that `env` belongs to.
    pub(crate) fn of(env: &Env) -> Self {
        let told = env.get("DBUS_SESSION_BUS_ADDRESS").map(str::to_owned);
        let usual = || Some(format!("unix:path={}/bus", env.get("XDG_RUNTIME_DIR")?));
        Self {
            bus: told.or_else(usual),
        }
    }

    /// The keys of these providers, of those that have one. Nobody is asked anything.
    pub(crate) async fn find(
        &self,
        providers: &[String],
    ) -> Result<BTreeMap<String, String>, KeyringError> {
        backend::find(self, providers).await
    }

    /// Keeps a key, in the place of the one before. The user may be asked to unlock the keyring.
    pub(crate) async fn set(&self, provider: &str, key: &str) -> Result<(), KeyringError> {
        backend::set(self, provider, key).await
    }

    /// Forgets a key; false when there was none. The user may be asked to unlock the keyring.
    pub(crate) async fn remove(&self, provider: &str) -> Result<bool, KeyringError> {
        backend::remove(self, provider).await
    }
}

#[cfg(not(feature = "keyring"))]
mod backend {
    use super::{BTreeMap, Keyring, KeyringError};

    pub(super) async fn find(
        _: &Keyring,
        _: &[String],
    ) -> Result<BTreeMap<String, String>, KeyringError> {
        Err(KeyringError::NotBuilt)
    }

    pub(super) async fn set(_: &Keyring, _: &str, _: &str) -> Result<(), KeyringError> {
        Err(KeyringError::NotBuilt)
    }

    pub(super) async fn remove(_: &Keyring, _: &str) -> Result<bool, KeyringError> {
        Err(KeyringError::NotBuilt)
    }
}

#[cfg(all(feature = "keyring", any(target_os = "macos", windows)))]
#[path = "native.rs"]
mod backend;

#[cfg(all(feature = "keyring", not(any(target_os = "macos", windows))))]
#[path = "secret_service.rs"]
mod backend;
