//! The JSON of the Messages API's stream, as servers really send it: every field optional and nullable.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Usage;
use crate::lenient;

/// One event of a stream; also a whole answer, whose fields stand at the top.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamEvent {
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "lenient::int")]
    pub(super) index: Option<i64>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) message: Option<Message>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) content_block: Option<Map<String, Value>>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) delta: Option<Delta>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) usage: Option<WireUsage>,
    /// Any shape; present and not null means that something failed.
    pub(super) error: Value,
}

/// What a stream begins with, and an answer that came whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    #[serde(deserialize_with = "lenient::list")]
    pub(super) content: Vec<Map<String, Value>>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) stop_reason: Option<String>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) stop_details: Option<StopDetails>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) usage: Option<WireUsage>,
}

/// A piece of a block, or (in `message_delta`) of the message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) text: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) thinking: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) signature: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) partial_json: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) stop_reason: Option<String>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) stop_details: Option<StopDetails>,
}

/// Why the model declined.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StopDetails {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) category: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) explanation: Option<String>,
}

/// Counts so far. Each event that has some replaces those that it has, and adds to none.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(deserialize_with = "lenient::count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::object")]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "lenient::count")]
    thinking_tokens: Option<u64>,
}

impl WireUsage {
    /// Takes over what `newer` counts.
    pub(super) fn update(&mut self, newer: Self) {
        self.input_tokens = newer.input_tokens.or(self.input_tokens);
        self.cache_creation_input_tokens = newer
            .cache_creation_input_tokens
            .or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = newer
            .cache_read_input_tokens
            .or(self.cache_read_input_tokens);
        self.output_tokens = newer.output_tokens.or(self.output_tokens);
        self.output_tokens_details = newer.output_tokens_details.or(self.output_tokens_details);
    }

    /// The totals; `None` when nothing was counted. The vendor's `input_tokens` are those beside the
    /// cache.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.input_tokens.or(self.output_tokens)?;
        let cached = self.cache_read_input_tokens.unwrap_or(0);
        let written = self.cache_creation_input_tokens.unwrap_or(0);
        let beside = self.input_tokens.unwrap_or(0);
        Some(Usage {
            input: beside.saturating_add(cached).saturating_add(written),
            input_cached: cached,
            input_cache_write: written,
            output: self.output_tokens.unwrap_or(0),
            output_reasoning: self
                .output_tokens_details
                .and_then(|details| details.thinking_tokens)
                .unwrap_or(0),
        })
    }
}
