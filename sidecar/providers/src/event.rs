//! The vocabulary: what a model's answer consists of, the same for every vendor.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ProviderError;

/// One thing that a provider's stream says. Text and reasoning come in pieces, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A piece of the answer.
    Text {
        /// Not empty.
        text: String,
    },
    /// A piece of the model's reasoning.
    Reasoning {
        /// What kind of reasoning text it is.
        kind: ReasoningKind,
        /// May be empty when only `replay` matters.
        text: String,
        /// Opaque block that the vendor wants back, unchanged, with the next request.
        replay: Option<Value>,
    },
    /// The model told its plan, by a call that our own tools do not offer.
    Plan {
        /// The call behind it; it wants a result like any other.
        call: ToolCall,
        /// The whole plan as it stands.
        steps: Vec<PlanStep>,
    },
    /// A tool call has begun to arrive. It may still break off.
    ToolCallStarted {
        /// Unique in the conversation.
        id: String,
        /// Name as far as it is known.
        name: String,
    },
    /// A piece of a call's arguments, as text.
    ToolCallDelta {
        /// The call's id.
        id: String,
        /// Raw JSON text, cut anywhere.
        fragment: String,
    },
    /// A tool call arrived whole. Its arguments may still be unusable: see [`Arguments`].
    ToolCallReady(ToolCall),
    /// The model edits a file by a call that our own tools do not offer.
    Edit {
        /// The call behind it; it wants a result like any other.
        call: ToolCall,
        /// Path as the model wrote it.
        path: String,
        /// What to do.
        op: EditOp,
    },
    /// A block that means nothing to us and that the vendor wants back with the next request, at its
    /// place among the other parts.
    Opaque(OpaqueBlock),
    /// Totals of this answer; sent at most once, never to be added up within one answer.
    Usage(Usage),
    /// Something that the user should know and that did not end the answer.
    Warning(ProviderError),
    /// Something failed. [`Event::Done`] follows.
    Error(ProviderError),
    /// The end. Nothing comes after it.
    Done {
        /// Why it ended.
        reason: StopReason,
    },
}

/// A block of the answer that only the API that sent it understands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpaqueBlock {
    /// Name of that API; no other is sent it.
    pub api: String,
    /// The block, unchanged.
    pub block: Value,
}

/// Kinds of reasoning text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningKind {
    /// The model's own words.
    Raw,
    /// Written for readers by the vendor.
    Summary,
    /// Hidden by the vendor; only the replay block is there.
    Redacted,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// What is to be done.
    pub step: String,
    /// `pending`, `in_progress` or `completed`, as the model says.
    pub status: String,
}

/// What an edit call that is not one of our tools asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditOp {
    /// Replace one place that reads `old` by `new`.
    Replace {
        /// Text to find.
        old: String,
        /// Text to put there.
        new: String,
    },
    /// Create a file.
    Create {
        /// Its lines, each after a `+`: the body of an `*** Add File` section.
        diff: String,
    },
    /// Change a file.
    Update {
        /// Hunks headed by `@@`: the body of an `*** Update File` section.
        diff: String,
    },
    /// Delete a file.
    Delete,
}

/// A whole tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique in the conversation, made so by the adapter: servers reuse their ids.
    pub id: String,
    /// The server's own id, if it sent one.
    pub wire_id: Option<String>,
    /// Name of the tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Arguments,
}

/// A call's arguments. What is not a JSON object is kept as it came and is never run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// A JSON object.
    Json(Map<String, Value>),
    /// Text that is not meant to be JSON: the input of a free-form tool.
    Freeform(String),
    /// Not usable as arguments.
    Invalid {
        /// What is wrong.
        kind: ArgumentsErrorKind,
        /// The text as the model wrote it.
        raw: String,
    },
}

/// What is wrong with a call's arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentsErrorKind {
    /// Cut off: the JSON text ends too early.
    Truncated,
    /// Not JSON.
    InvalidJson,
    /// JSON, but no object (a quoted object, a list, a number).
    NotAnObject,
}

impl Arguments {
    /// Reads a call's argument text. Blank text and `null` mean "no arguments"; nothing else does.
    pub fn parse(raw: &str) -> Self {
        let text = raw.trim();
        if text.is_empty() || text == "null" {
            return Self::Json(Map::new());
        }
        let kind = match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(map)) => return Self::Json(map),
            Ok(_) => ArgumentsErrorKind::NotAnObject,
            Err(error) if error.is_eof() => ArgumentsErrorKind::Truncated,
            Err(_) => ArgumentsErrorKind::InvalidJson,
        };
        Self::Invalid {
            kind,
            raw: raw.to_owned(),
        }
    }

    /// Reads the argument text of a call that the answer's limit may have cut: nothing at all means
    /// then that it was cut before it began, not that there are no arguments.
    pub fn parse_cut(raw: &str) -> Self {
        if raw.trim().is_empty() {
            return Self::Invalid {
                kind: ArgumentsErrorKind::Truncated,
                raw: raw.to_owned(),
            };
        }
        Self::parse(raw)
    }
}

/// Token totals of one answer, as the vendor counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// The whole prompt, cached part included.
    pub input: u64,
    /// Part of `input` that was read from the vendor's cache.
    pub input_cached: u64,
    /// Part of `input` that was written to the vendor's cache.
    pub input_cache_write: u64,
    /// Everything generated, reasoning included.
    pub output: u64,
    /// Part of `output` that was reasoning.
    pub output_reasoning: u64,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model said all that it had to say.
    End,
    /// It waits for the results of its calls.
    ToolCalls,
    /// The limit of output tokens.
    Length,
    /// The vendor's filter.
    ContentFilter,
    /// The model declined; an error event says with which words.
    Refusal,
    /// The vendor paused a long answer; sending it back goes on.
    Pause,
    /// The context window is full.
    ContextLength,
    /// An error event says what.
    Error,
}
