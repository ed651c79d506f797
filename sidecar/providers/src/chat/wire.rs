//! The JSON of Chat Completions, as servers really send it: every field optional and nullable.

use serde::Deserialize;
use serde_json::Value;

use crate::Usage;
use crate::lenient;

/// One chunk of a stream, or a whole answer (`message` in place of `delta`).
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    #[serde(deserialize_with = "lenient::list")]
    pub(super) choices: Vec<Choice>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) usage: Option<WireUsage>,
    /// Any shape; present and not null means that something failed.
    pub(super) error: Value,
    /// Old vLLM puts the error at the top: `object` is `error`.
    #[serde(deserialize_with = "lenient::text")]
    pub(super) object: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    #[serde(deserialize_with = "lenient::int")]
    pub(super) index: Option<i64>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) delta: Option<Delta>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) message: Option<Delta>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    pub(super) content: Content,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) reasoning_content: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) reasoning: Option<String>,
    /// Pieces of blocks that OpenRouter wants back.
    #[serde(deserialize_with = "lenient::list")]
    pub(super) reasoning_details: Vec<Value>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) refusal: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) tool_calls: Vec<CallFragment>,
    /// The one call of the API's first version.
    #[serde(deserialize_with = "lenient::object")]
    pub(super) function_call: Option<FunctionFragment>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CallFragment {
    #[serde(deserialize_with = "lenient::int")]
    pub(super) index: Option<i64>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) function: Option<FunctionFragment>,
    /// Any shape; Gemini's thought signature is in it, and is wanted back.
    pub(super) extra_content: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionFragment {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "lenient::raw_text")]
    pub(super) arguments: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WireUsage {
    #[serde(deserialize_with = "lenient::count")]
    prompt_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    completion_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::object")]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(deserialize_with = "lenient::object")]
    completion_tokens_details: Option<CompletionDetails>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(deserialize_with = "lenient::count")]
    cached_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    #[serde(deserialize_with = "lenient::count")]
    reasoning_tokens: Option<u64>,
}

impl Chunk {
    /// Whether it says, in any of the ways that servers use, that something failed.
    pub(super) fn says_error(&self) -> bool {
        !self.error.is_null() || self.object.as_deref() == Some("error")
    }
}

impl WireUsage {
    /// `None` for an object that counts nothing.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.prompt_tokens.or(self.completion_tokens)?;
        let prompt = self.prompt_tokens_details.as_ref();
        Some(Usage {
            input: self.prompt_tokens.unwrap_or(0),
            input_cached: prompt
                .and_then(|details| details.cached_tokens)
                .unwrap_or(0),
            input_cache_write: prompt
                .and_then(|details| details.cache_write_tokens)
                .unwrap_or(0),
            output: self.completion_tokens.unwrap_or(0),
            output_reasoning: self
                .completion_tokens_details
                .as_ref()
                .and_then(|details| details.reasoning_tokens)
                .unwrap_or(0),
        })
    }
}

/// `content`: a string, or a list of parts of which some are thoughts.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) text: String,
    pub(super) reasoning: String,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Content;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("text or parts")
            }
            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(Content {
                    text: text.to_owned(),
                    reasoning: String::new(),
                })
            }
            fn visit_unit<E>(self) -> Result<Content, E> {
                Ok(Content::default())
            }
            fn visit_bool<E>(self, _: bool) -> Result<Content, E> {
                Ok(Content::default())
            }
            fn visit_i64<E>(self, number: i64) -> Result<Content, E> {
                Ok(Content {
                    text: number.to_string(),
                    reasoning: String::new(),
                })
            }
            fn visit_u64<E>(self, number: u64) -> Result<Content, E> {
                Ok(Content {
                    text: number.to_string(),
                    reasoning: String::new(),
                })
            }
            fn visit_f64<E>(self, number: f64) -> Result<Content, E> {
                Ok(Content {
                    text: number.to_string(),
                    reasoning: String::new(),
                })
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut seq: A,
            ) -> Result<Content, A::Error> {
                let mut content = Content::default();
                while let Some(part) = seq.next_element::<Value>()? {
                    content.part(&part);
                }
                Ok(content)
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Content, A::Error> {
                let part = Value::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                let mut content = Content::default();
                content.part(&part);
                Ok(content)
            }
        }
        from.deserialize_any(Visitor)
    }
}

impl Content {
    fn part(&mut self, part: &Value) {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
        if matches!(kind, "thinking" | "reasoning") {
            for key in ["thinking", "reasoning", "text"] {
                if let Some(inner) = part.get(key) {
                    collect_text(inner, &mut self.reasoning);
                    return;
                }
            }
        } else {
            collect_text(part, &mut self.text);
        }
    }
}

/// Text inside a string, a `{"text": …}`, or a list of them.
fn collect_text(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => out.push_str(text),
        Value::Array(parts) => parts.iter().for_each(|part| collect_text(part, out)),
        Value::Object(map) => {
            if let Some(text) = map.get("text") {
                collect_text(text, out);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
