//! The JSON of the Responses API's stream, as servers really send it: every field optional and nullable.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Usage;
use crate::lenient;

/// One event of a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct StreamEvent {
    #[serde(rename = "type", deserialize_with = "lenient::text")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) item_id: Option<String>,
    #[serde(deserialize_with = "lenient::int")]
    pub(super) output_index: Option<i64>,
    #[serde(deserialize_with = "lenient::int")]
    pub(super) summary_index: Option<i64>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) delta: Option<String>,
    /// What a `.done` event repeats: text, arguments, free-form input or a refusal.
    #[serde(deserialize_with = "lenient::text")]
    pub(super) text: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) refusal: Option<String>,
    #[serde(deserialize_with = "lenient::raw_text")]
    pub(super) arguments: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) input: Option<String>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) item: Option<Map<String, Value>>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) response: Option<Response>,
    /// Any shape; present and not null means that something failed.
    pub(super) error: Value,
}

/// The whole response, in the events that begin and end a stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) status: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) output: Vec<Map<String, Value>>,
    pub(super) error: Value,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) incomplete_details: Option<IncompleteDetails>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) usage: Option<WireUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct IncompleteDetails {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) reason: Option<String>,
}

/// Totals: `input_tokens` holds the cached ones, `output_tokens` the reasoning.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(deserialize_with = "lenient::count")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::object")]
    input_tokens_details: Option<InputDetails>,
    #[serde(deserialize_with = "lenient::count")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::object")]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    #[serde(deserialize_with = "lenient::count")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "lenient::count")]
    reasoning_tokens: Option<u64>,
}

impl WireUsage {
    /// `None` for an object that counts nothing.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.input_tokens.or(self.output_tokens)?;
        let input = self.input_tokens_details.as_ref();
        let output = self.output_tokens_details.as_ref();
        Some(Usage {
            input: self.input_tokens.unwrap_or(0),
            input_cached: input.and_then(|input| input.cached_tokens).unwrap_or(0),
            input_cache_write: input
                .and_then(|input| input.cache_write_tokens)
                .unwrap_or(0),
            output: self.output_tokens.unwrap_or(0),
            output_reasoning: output
                .and_then(|output| output.reasoning_tokens)
                .unwrap_or(0),
        })
    }
}

/// A text field of an item; an empty one is absent.
pub(super) fn text<'a>(item: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    item.get(key)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

/// The texts of a list of parts under `key`, with the parts' types.
pub(super) fn parts<'a>(
    item: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = (&'a str, &'a Map<String, Value>)> {
    let list = item.get(key).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .map(|part| (text(part, "type").unwrap_or_default(), part))
}
