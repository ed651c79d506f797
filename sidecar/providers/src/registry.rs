//! What the configured endpoints offer, whether they answer and take their credentials; and which local
//! servers run at their usual ports.
//!
//! Everything here is a question over the network: bounded in time, several at once, and over when its
//! future is dropped. Nothing is remembered.

mod local;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;

use crate::{ErrorKind, ModelInfo, Provider, ProviderError};

pub use local::{LOCAL_SERVERS, LocalKind, LocalServer, local_servers};

/// An endpoint to ask.
#[derive(Clone)]
pub struct Candidate {
    /// How to ask it; its name is the endpoint's.
    pub provider: Arc<dyn Provider>,
    /// The name of the variable that should hold its key and does not.
    pub missing_key: Option<String>,
}

/// How an endpoint stands.
#[derive(Debug, Clone, PartialEq)]
pub struct EndpointStatus {
    /// Its name in the configuration.
    pub name: String,
    /// The state of its credential.
    pub credential: Credential,
    /// Its models, or why it did not say.
    pub models: Result<Vec<ModelInfo>, ProviderError>,
}

/// The state of a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// It is there, or none is needed; the endpoint did not object.
    Ready,
    /// This variable is not set.
    Missing(String),
    /// The endpoint does not take it.
    Rejected,
}

impl std::fmt::Display for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ready => f.write_str("ready"),
            Self::Missing(name) => write!(f, "missing {name}"),
            Self::Rejected => f.write_str("rejected"),
        }
    }
}

impl EndpointStatus {
    /// Whether anything answered, be it with a refusal.
    pub fn is_reachable(&self) -> bool {
        match &self.models {
            Ok(_) => true,
            Err(error) => error.status.is_some(),
        }
    }
}

/// Limits of a survey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For each endpoint.
    pub time: Duration,
    /// Endpoints asked at the same time.
    pub side_by_side: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            side_by_side: 8,
        }
    }
}

/// Asks each endpoint for its models, in the order of `candidates`. One whose key is missing is not
/// asked.
pub async fn survey(candidates: Vec<Candidate>, limits: Limits) -> Vec<EndpointStatus> {
    futures_util::stream::iter(candidates)
        .map(|candidate| status(candidate, limits.time))
        .buffered(limits.side_by_side.max(1))
        .collect()
        .await
}

async fn status(candidate: Candidate, limit: Duration) -> EndpointStatus {
    let name = candidate.provider.name().to_owned();
    if let Some(variable) = candidate.missing_key {
        let error = ProviderError::new(ErrorKind::Auth, format!("{variable} is not set"));
        return EndpointStatus {
            name,
            credential: Credential::Missing(variable),
            models: Err(error),
        };
    }
    let asked = tokio::time::timeout(limit, candidate.provider.models()).await;
    let models = asked.unwrap_or_else(|_| Err(crate::http::silence(limit)));
    let credential = match &models {
        Err(error) if error.kind == ErrorKind::Auth => Credential::Rejected,
        Ok(_) | Err(_) => Credential::Ready,
    };
    EndpointStatus {
        name,
        credential,
        models,
    }
}
