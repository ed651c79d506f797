//! A failed call, with what a model needs to do better.

use serde_json::Value;

use crate::ErrorCode;

/// Longest message, in characters.
const MAX_MESSAGE: usize = 900;

/// Why a tool call failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    /// The code.
    pub code: ErrorCode,
    /// What happened, with which path, line or id.
    pub message: String,
    /// What to do; the code's own hint when nothing better is known.
    pub hint: String,
    /// Facts to act on: the lines of the matches, the nearest lines.
    pub details: Option<Box<Value>>,
}

impl ToolError {
    /// Makes an error with the code's own hint.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(MAX_MESSAGE) {
            // What is quoted in it may be as long as a hostile call made it.
            message.truncate(end);
            message.push('…');
        }
        Self {
            code,
            message,
            hint: code.hint().to_owned(),
            details: None,
        }
    }

    /// Makes an error from a lower crate's code text; an unknown one becomes `INTERNAL` and is named.
    pub fn from_code(code: &str, message: impl Into<String>) -> Self {
        match code.parse() {
            Ok(code) => Self::new(code, message),
            Err(_) => Self::new(ErrorCode::Internal, format!("{code}: {}", message.into())),
        }
    }

    /// Replaces the hint, unless `hint` is blank.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        if !hint.trim().is_empty() {
            self.hint = hint;
        }
        self
    }

    /// Adds facts to act on.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }
}

/// `text`, without its middle when it is longer than `most` bytes.
pub(crate) fn shortened(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let (mut head, mut tail) = (most * 2 / 3, text.len() - most / 3);
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    format!("{} … {}", &text[..head], &text[tail..])
}
