//! Adapters that were made, kept for the next turn.
//!
//! Owns: which of them are still right. Must not know: how one is made.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use redline_providers::{Api, ApiOptions, Connection, Provider};

use crate::failure::Failure;

/// What an adapter is made of.
#[derive(Clone, PartialEq)]
pub(super) struct Parts {
    pub(super) api: Api,
    pub(super) connection: Connection,
    pub(super) options: ApiOptions,
}

/// One adapter for each name. It holds connections, and what its server was seen to refuse.
#[derive(Default)]
pub(super) struct Opened(Mutex<HashMap<String, Adapter>>);

struct Adapter {
    parts: Parts,
    provider: Arc<dyn Provider>,
}

impl Opened {
    /// The adapter that was made of the same parts, else a new one; nothing is connected yet.
    pub(super) fn get(&self, parts: Parts) -> Result<Arc<dyn Provider>, Failure> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(adapter) = opened.get(&parts.connection.name)
            && adapter.parts == parts
        {
            return Ok(Arc::clone(&adapter.provider));
        }
        let provider = parts.open()?;
        let name = parts.connection.name.clone();
        let adapter = Adapter {
            parts,
            provider: Arc::clone(&provider),
        };
        opened.insert(name, adapter);
        Ok(provider)
    }
}

impl Parts {
    /// Makes an adapter; nothing is connected yet.
    pub(super) fn open(&self) -> Result<Arc<dyn Provider>, Failure> {
        let made = self.api.open(self.connection.clone(), self.options.clone());
        made.map_err(|error| {
            Failure::new("INVALID_ARGUMENTS", error.to_string(), "correct base_url")
        })
    }
}
