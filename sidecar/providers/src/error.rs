//! Failures of a provider: one set of kinds for all vendors, with the facts that a retry needs.

mod classify;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use classify::{Answer, from_body, html_title, in_stream};

/// A failed model call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// One sentence for people, in the vendor's words where it has some; without credentials.
    pub message: String,
    /// Asking again, unchanged, may succeed.
    pub retryable: bool,
    /// How long the vendor asks to wait.
    pub retry_after: Option<Duration>,
    /// HTTP status, or the code that the vendor put in its place.
    pub status: Option<u16>,
    /// Something of the answer had been shown already.
    pub partial: bool,
    /// Size of the refused prompt in tokens, where the vendor tells it.
    pub prompt_tokens: Option<u64>,
    /// Size of the context in tokens, where the vendor tells it.
    pub context_size: Option<u64>,
    /// The vendor's own word for it: an error code, or the subject of a refusal.
    pub code: Option<Box<str>>,
    /// The part of the request that the vendor objects to, where it names one.
    pub param: Option<Box<str>>,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The credential is missing, wrong, or not allowed to do this.
    Auth,
    /// Out of credit, or a spending limit was reached. Waiting does not help.
    Quota,
    /// Too many requests or tokens for now.
    RateLimit,
    /// The vendor is too busy, or still loading the model.
    Overloaded,
    /// The prompt does not fit in the context window.
    ContextLength,
    /// The vendor cut the prompt silently.
    ContextTruncated,
    /// The vendor does not accept the request as it is.
    InvalidRequest,
    /// No such model or address.
    NotFound,
    /// The model declined.
    Refusal,
    /// The vendor failed, or cannot be reached.
    Server,
    /// The stream broke off.
    StreamInterrupted,
    /// The answer held nothing.
    EmptyResponse,
    /// The answer is not what the API promises.
    Protocol,
    /// Nothing came for too long.
    Timeout,
    /// The user stopped it.
    Cancelled,
}

impl ErrorKind {
    /// Whether asking again, unchanged, may succeed.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimit
            | Self::Overloaded
            | Self::Server
            | Self::StreamInterrupted
            | Self::EmptyResponse
            | Self::Timeout => true,
            Self::Auth
            | Self::Quota
            | Self::ContextLength
            | Self::ContextTruncated
            | Self::InvalidRequest
            | Self::NotFound
            | Self::Refusal
            | Self::Protocol
            | Self::Cancelled => false,
        }
    }

    /// The name used in stored and shown data.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::Quota => "quota",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::ContextLength => "context_length",
            Self::ContextTruncated => "context_truncated",
            Self::InvalidRequest => "invalid_request",
            Self::NotFound => "not_found",
            Self::Refusal => "refusal",
            Self::Server => "server",
            Self::StreamInterrupted => "stream_interrupted",
            Self::EmptyResponse => "empty_response",
            Self::Protocol => "protocol",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
        }
    }

    /// What the user can do about it, in one sentence.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Auth => {
                "Check the variable that `api_key_env` names and that the key may use this model."
            }
            Self::Quota => "Check the credit and the spending limits of the account.",
            Self::RateLimit => "Wait a little and ask again, or use another model.",
            Self::Overloaded => "Wait a little and ask again, or use another model.",
            Self::ContextLength => "Start a new session, or ask with a smaller selection.",
            Self::ContextTruncated => "Give the server a larger context, or start a new session.",
            Self::InvalidRequest => "Check the model's name and whether the server supports tools.",
            Self::NotFound => "Check `base_url` and the model's name.",
            Self::Refusal => "Ask in other words, or use another model.",
            Self::Server => {
                "Check that `base_url` is right and that the server runs, then ask again."
            }
            Self::StreamInterrupted => "What was shown is kept; ask again to go on.",
            Self::EmptyResponse => {
                "The prompt may be too long for the server's context, or the model has no tool support."
            }
            Self::Protocol => {
                "Check that `base_url` names an API of the configured kind, and what stands between."
            }
            Self::Timeout => "Check that the server runs; a local model may still be loading.",
            Self::Cancelled => "Ask again to go on.",
        }
    }
}

impl ProviderError {
    /// Makes an error with the facts that its kind implies.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            retryable: kind.is_retryable(),
            retry_after: None,
            status: None,
            partial: false,
            prompt_tokens: None,
            context_size: None,
            code: None,
            param: None,
        }
    }

    /// Whether the vendor names `key` of the request as what it does not accept.
    pub(crate) fn objects_to(&self, key: &str) -> bool {
        let named = |param: &str| {
            let rest = param.strip_prefix(key);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.param.as_deref().is_some_and(named) || self.message.contains(key)
    }
}
