//! What a parser says when it gives up.

use crate::text::DecodeError;

/// Why an input is no proposal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    /// The stable code: `MALFORMED_PROPOSAL`, `INCOMPLETE`, `UNSUPPORTED`, `NOT_TEXT`, `ENCODING`,
    /// `TOO_LARGE`.
    pub code: &'static str,
    /// The line of the input, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl ParseError {
    pub(super) fn malformed(
        line: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self::coded("MALFORMED_PROPOSAL", line, message, hint)
    }

    pub(super) fn incomplete(line: usize, message: impl Into<String>) -> Self {
        Self::coded(
            "INCOMPLETE",
            line,
            message,
            "the proposal was cut off: send it again, whole",
        )
    }

    pub(super) fn coded(
        code: &'static str,
        line: usize,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code,
            line: line.max(1),
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub(super) fn undecodable(bytes: &[u8], err: &DecodeError) -> Self {
        let offset = match err {
            DecodeError::NotText { offset } | DecodeError::Encoding { offset, .. } => *offset,
            DecodeError::TooLarge { .. } => 0,
        };
        let line = 1 + memchr::memchr_iter(b'\n', &bytes[..offset]).count();
        Self::coded(
            err.code(),
            line,
            format!("the proposal is {err}"),
            "send the proposal as UTF-8 text",
        )
    }

    pub(super) fn unknown_format(input: &str) -> Self {
        let (line, hint) = match input.lines().position(|line| !line.trim().is_empty()) {
            Some(idx) => (
                idx + 1,
                "send a unified diff, a *** Begin Patch, <<<<<<< SEARCH blocks or JSON edits",
            ),
            None => (1, "the input is empty: pipe a proposal in or name a file"),
        };
        Self::malformed(line, "this is none of the edit formats", hint)
    }
}
