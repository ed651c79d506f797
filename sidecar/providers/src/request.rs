//! What is asked of a model: the conversation, the tools on offer, the limits.

use serde_json::Value;

use crate::{ErrorKind, OpaqueBlock, ToolCall};

/// One model call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatRequest {
    /// The vendor's name of the model.
    pub model: String,
    /// The system prompt; may be empty.
    pub system: String,
    /// The conversation, oldest first. Adapters repair it ([`crate::history`]) before they send it.
    pub messages: Vec<Message>,
    /// Tools on offer.
    pub tools: Vec<ToolSpec>,
    /// Whether the model may, must or must not call tools.
    pub tool_choice: ToolChoice,
    /// Limit of generated tokens; `None` leaves it to the server.
    pub max_output_tokens: Option<u64>,
    /// How hard to think, in the vendor's own word (`low`, `high`, …).
    pub reasoning_effort: Option<String>,
    /// The caller's count of the whole prompt in tokens, to notice a server that silently read less.
    pub estimated_prompt_tokens: Option<u64>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// A prompt of the user. Begins a turn.
    User {
        /// The prompt with its context.
        text: String,
    },
    /// Something that the model is told in the middle of a turn: decisions of the user, repairs.
    Note {
        /// What it is told.
        text: String,
    },
    /// What the model answered in one step.
    Assistant {
        /// In the order of the answer.
        parts: Vec<AssistantPart>,
    },
    /// The result of one call.
    ToolResult {
        /// [`ToolCall::id`] of the call.
        call_id: String,
        /// Name of the tool.
        name: String,
        /// What the tool said.
        content: String,
        /// The tool failed.
        is_error: bool,
    },
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AssistantPart {
    /// Text.
    Text(String),
    /// Reasoning, with the block that the vendor wants back.
    Reasoning {
        /// The reasoning as text.
        text: String,
        /// Opaque; of the vendor that made it, and only for that vendor.
        replay: Option<Value>,
    },
    /// A tool call.
    ToolCall(ToolCall),
    /// A block that only the vendor understands ([`crate::Event::Opaque`]). Like a reasoning's
    /// `replay` it is for the model that made it: the caller leaves both out for another one.
    Opaque(OpaqueBlock),
}

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// `[a-zA-Z0-9_-]{1,64}`.
    pub name: String,
    /// When to use it, and how.
    pub description: String,
    /// JSON schema of the arguments object.
    pub parameters: Value,
}

/// Whether the model may call tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// It decides.
    #[default]
    Auto,
    /// It must call one.
    Required,
    /// It must not.
    None,
    /// It must call this one.
    Named(String),
}

impl Message {
    /// Ids of the calls that this message makes.
    pub fn call_ids(&self) -> impl Iterator<Item = &str> {
        let parts = match self {
            Self::Assistant { parts } => parts.as_slice(),
            Self::User { .. } | Self::Note { .. } | Self::ToolResult { .. } => &[],
        };
        parts.iter().filter_map(|part| match part {
            AssistantPart::ToolCall(call) => Some(call.id.as_str()),
            AssistantPart::Text(_) | AssistantPart::Reasoning { .. } | AssistantPart::Opaque(_) => {
                None
            }
        })
    }
}

impl ErrorKind {
    /// Whether a smaller request could succeed where this one did not.
    pub fn wants_smaller_request(self) -> bool {
        matches!(self, Self::ContextLength | Self::ContextTruncated)
    }
}
