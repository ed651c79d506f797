//! What went wrong, at the edge: one code, one sentence, one hint, one exit code.
//!
//! Owns: the error that every request to a hub answers with, and its JSON-RPC form.
//! Must not know: where an error came from; the lower crates' errors are turned into it where they
//! are met.

use serde_json::json;
use tower_lsp::jsonrpc::{Error, ErrorCode};

/// A refused or failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
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

    /// The exit code that the CLI ends with.
    pub fn exit(&self) -> i32 {
        match self.code.as_str() {
            "CONFLICT" => exit::CONFLICT,
            "APPROVAL_REQUIRED" => exit::APPROVAL,
            "PROVIDER" => exit::PROVIDER,
            "CANCELLED" => exit::CANCELLED,
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
