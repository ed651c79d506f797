//! `agentic-workspace/v1`: what every tool returns.
//!
//! The order of the fields is part of the contract: what a later step needs to recover stands
//! first, bulk last, so that a cut result still says the important things.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{ErrorCode, ToolError};

/// The name of the contract.
pub const PROTOCOL: &str = "agentic-workspace/v1";

/// The result of one call. Serializes in the order of the fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// [`PROTOCOL`].
    pub protocol: String,
    /// Name of the tool.
    pub tool: String,
    /// How it went.
    pub status: Status,
    /// What it takes to go on from here.
    pub recovery: Recovery,
    /// What must outlive a summary of the conversation, and what need not.
    pub retention: Retention,
    /// The result itself.
    pub data: Value,
}

/// How a call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It did what it was asked.
    Ok,
    /// It waits for the user.
    PendingApproval,
    /// It failed; nothing was changed.
    Error,
}

/// What it takes to go on after this call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// Ids of what the call made or met: transactions, hunks, files with their revisions.
    pub ids: Map<String, Value>,
    /// One word: `read`, `pending`, `unchanged`, `refused`, …
    pub state: String,
    /// The exact call that goes on, where there is one: the rest of a cut result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Value>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
}

/// An error as it is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorInfo {
    /// The code.
    pub code: ErrorCode,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// Advice for whoever shortens a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Retention {
    /// Stable facts to keep.
    pub facts: Map<String, Value>,
    /// JSON pointers to what may be dropped.
    pub omit_when_summarizing: Vec<String>,
}

impl Envelope {
    /// A call that did what it was asked.
    pub fn ok(tool: &str, state: &str, data: Value) -> Self {
        Self {
            protocol: PROTOCOL.to_owned(),
            tool: tool.to_owned(),
            status: Status::Ok,
            recovery: Recovery {
                state: state.to_owned(),
                ..Recovery::default()
            },
            retention: Retention::default(),
            data,
        }
    }

    /// A call that failed.
    pub fn error(tool: &str, error: ToolError) -> Self {
        let mut envelope = Self::ok(
            tool,
            "refused",
            error.details.map_or(Value::Null, |details| *details),
        );
        envelope.status = Status::Error;
        envelope.recovery.error = Some(ErrorInfo {
            code: error.code,
            message: error.message,
            hint: error.hint,
        });
        envelope
    }

    /// Adds an id to `recovery.ids`.
    #[must_use]
    pub fn with_id(mut self, name: &str, id: impl Into<Value>) -> Self {
        self.recovery.ids.insert(name.to_owned(), id.into());
        self
    }

    /// Adds a fact to `retention.facts`.
    #[must_use]
    pub fn with_fact(mut self, name: &str, fact: impl Into<Value>) -> Self {
        self.retention.facts.insert(name.to_owned(), fact.into());
        self
    }

    /// Names a part of `data` that a summary may drop, as a JSON pointer from the envelope.
    #[must_use]
    pub fn omitting(mut self, pointer: &str) -> Self {
        self.retention
            .omit_when_summarizing
            .push(pointer.to_owned());
        self
    }

    /// Names the call that goes on.
    #[must_use]
    pub fn resuming(mut self, call: Value) -> Self {
        self.recovery.resume = Some(call);
        self
    }

    /// The code of a failed call.
    pub fn code(&self) -> Option<ErrorCode> {
        self.recovery.error.as_ref().map(|error| error.code)
    }

    /// The envelope as a model reads it.
    pub fn to_text(&self) -> String {
        // Strings, numbers and maps with string keys always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn fields_stand_in_the_order_of_the_contract() {
        let ok = Envelope::ok("workspace_read", "read", json!({"text": "…"}))
            .with_id("revision", "ab")
            .with_fact("path", "a.rs")
            .omitting("/data/text")
            .resuming(
                json!({"tool": "workspace_read", "arguments": {"path": "a.rs", "start_line": 9}}),
            );
        expect![[r#"{"protocol":"agentic-workspace/v1","tool":"workspace_read","status":"ok","recovery":{"ids":{"revision":"ab"},"state":"read","resume":{"tool":"workspace_read","arguments":{"path":"a.rs","start_line":9}}},"retention":{"facts":{"path":"a.rs"},"omit_when_summarizing":["/data/text"]},"data":{"text":"…"}}"#]]
        .assert_eq(&ok.to_text());

        let failed = Envelope::error(
            "workspace_edit",
            ToolError::new(ErrorCode::NoMatch, "a.rs: not there")
                .with_details(json!({"nearest": [3]})),
        );
        expect![[r#"{"protocol":"agentic-workspace/v1","tool":"workspace_edit","status":"error","recovery":{"ids":{},"state":"refused","error":{"code":"NO_MATCH","message":"a.rs: not there","hint":"Read the file again and copy the lines exactly as they stand there."}},"retention":{"facts":{},"omit_when_summarizing":[]},"data":{"nearest":[3]}}"#]]
        .assert_eq(&failed.to_text());
        assert_eq!(
            serde_json::from_str::<Envelope>(&failed.to_text()).unwrap(),
            failed
        );
    }
}
