//! What went wrong, at the edge: one code, one sentence, one hint, one exit code.
//!
//! Owns: the error that every request to a hub answers with, and its JSON-RPC form.
//! Must not know: where an error came from; the lower crates' errors are turned into it where they
//! are met.

use serde::Serialize;
use serde_json::{Value, json};
use tower_lsp::jsonrpc::{Error, ErrorCode};

/// A refused or failed request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Failure {
    /// `SCREAMING_SNAKE`, from the product's list of codes.
    pub code: String,
    /// What happened, with the path or id.
    pub message: String,
    /// What to do; may be empty.
    pub hint: String,
}

/// Exit codes of the CLI.
pub mod exit {
    /// Done.
    pub const DONE: i32 = 0;
    /// Refused or failed.
    pub const FAILED: i32 = 1;
    /// Wrong usage.
    pub const USAGE: i32 = 2;
    /// A conflict needs a person.
    pub const CONFLICT: i32 = 3;
    /// An approval is needed.
    pub const APPROVAL: i32 = 4;
    /// The provider failed.
    pub const PROVIDER: i32 = 5;
    /// Cancelled.
    pub const CANCELLED: i32 = 130;
}

impl Failure {
    /// A failure with its hint.
    pub fn new(code: &str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// A fault of Redline's own.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(
            "INTERNAL",
            message,
            "run `redline doctor` and report what it prints",
        )
    }

    /// What was asked for makes no sense.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new("INVALID_ARGUMENTS", message, hint)
    }

    /// An operation of the system failed; `doing` says which, with its path.
    pub fn io(doing: impl std::fmt::Display, error: &std::io::Error) -> Self {
        Self::new("IO", format!("{doing}: {error}"), "")
    }

    /// Reads the error object of a response, as [`to_jsonrpc`](Self::to_jsonrpc) writes it.
    pub fn from_jsonrpc(error: &Value) -> Self {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let data = error.get("data");
        Self {
            code: text(data.and_then(|data| data.get("code")))
                .unwrap_or_else(|| "INTERNAL".to_owned()),
            message: text(error.get("message"))
                .unwrap_or_else(|| "the sidecar gave no reason".to_owned()),
            hint: text(data.and_then(|data| data.get("hint"))).unwrap_or_default(),
        }
    }

    /// The exit code that the CLI ends with.
    pub fn exit(&self) -> i32 {
        match self.code.as_str() {
            "CONFLICT" => exit::CONFLICT,
            "APPROVAL_REQUIRED" => exit::APPROVAL,
            "PROVIDER" => exit::PROVIDER,
            "CANCELLED" => exit::CANCELLED,
            "INVALID_ARGUMENTS" => exit::USAGE,
            _ => exit::FAILED,
        }
    }

    /// The JSON-RPC form: `data` is `{"code", "hint", "exit"}`.
    pub fn to_jsonrpc(&self) -> Error {
        let code = match self.code.as_str() {
            "STALE_HUNK" | "STALE_VERSION" => ErrorCode::ContentModified,
            "CANCELLED" => ErrorCode::RequestCancelled,
            "INTERNAL" => ErrorCode::InternalError,
            "INVALID_ARGUMENTS" => ErrorCode::InvalidParams,
            // LSP's RequestFailed: syntactically right, and refused.
            _ => ErrorCode::ServerError(-32803),
        };
        Error {
            code,
            message: self.message.clone().into(),
            data: Some(json!({"code": self.code, "hint": self.hint, "exit": self.exit()})),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn a_failure_survives_the_wire() {
        let failure = Failure::new("AMBIGUOUS_MATCH", "two places match", "add context");
        let error = serde_json::to_value(failure.to_jsonrpc()).unwrap();
        assert_eq!(Failure::from_jsonrpc(&error), failure);
    }

    #[test]
    fn an_error_without_data_is_internal() {
        let failure = Failure::from_jsonrpc(&json!({"code": -32603, "message": "boom"}));
        assert_eq!(
            (failure.code.as_str(), failure.exit()),
            ("INTERNAL", exit::FAILED)
        );
    }

    #[test]
    fn exit_codes_follow_from_error_codes() {
        for (code, expected) in [
            ("CONFLICT", exit::CONFLICT),
            ("APPROVAL_REQUIRED", exit::APPROVAL),
            ("PROVIDER", exit::PROVIDER),
            ("CANCELLED", exit::CANCELLED),
            ("INVALID_ARGUMENTS", exit::USAGE),
            ("NO_MATCH", exit::FAILED),
        ] {
            assert_eq!(Failure::new(code, "", "").exit(), expected, "{code}");
        }
    }
}
