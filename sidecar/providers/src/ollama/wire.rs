//! The JSON of Ollama's own API, as servers really send it: every field optional and nullable.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Usage;
use crate::lenient;

/// One line of a stream, or a whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Line {
    #[serde(deserialize_with = "lenient::object")]
    pub(super) message: Option<Message>,
    #[serde(deserialize_with = "lenient::flag")]
    pub(super) done: bool,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) done_reason: Option<String>,
    #[serde(deserialize_with = "lenient::count")]
    prompt_eval_count: Option<u64>,
    #[serde(deserialize_with = "lenient::count")]
    eval_count: Option<u64>,
    /// Text, or what a proxy puts there; present and not null means that something failed.
    pub(super) error: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) content: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub(super) thinking: Option<String>,
    /// What servers that only speak the API call `thinking`.
    #[serde(deserialize_with = "lenient::text")]
    pub(super) reasoning_content: Option<String>,
    #[serde(deserialize_with = "lenient::list")]
    pub(super) tool_calls: Vec<Call>,
}

/// A call, always whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Call {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient::object")]
    pub(super) function: Option<Function>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function {
    #[serde(deserialize_with = "lenient::text")]
    pub(super) name: Option<String>,
    /// An object; text from servers that only speak the API.
    #[serde(deserialize_with = "lenient::raw_text")]
    pub(super) arguments: Option<String>,
}

impl Line {
    /// The totals; absent and 0 are the same on this wire, so nothing but zeros is no count.
    pub(super) fn usage(&self) -> Option<Usage> {
        let input = self.prompt_eval_count.unwrap_or(0);
        let output = self.eval_count.unwrap_or(0);
        (input > 0 || output > 0).then(|| Usage {
            input,
            output,
            ..Usage::default()
        })
    }
}

/// What `/api/show` says of a model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Show {
    #[serde(deserialize_with = "lenient::object")]
    model_info: Option<Map<String, Value>>,
    #[serde(deserialize_with = "lenient::words")]
    pub(super) capabilities: Vec<String>,
    /// Lines of `name value`, as in a Modelfile.
    #[serde(deserialize_with = "lenient::text")]
    parameters: Option<String>,
}

impl Show {
    /// The longest context that the model was made for, in tokens.
    pub(super) fn context_length(&self) -> Option<u64> {
        let info = self.model_info.as_ref()?;
        let arch = info.get("general.architecture").and_then(Value::as_str);
        let named = arch.and_then(|arch| info.get(&format!("{arch}.context_length")));
        let any = || {
            let found = info
                .iter()
                .find(|(key, _)| key.ends_with(".context_length"));
            found.map(|(_, value)| value)
        };
        named.or_else(any).and_then(Value::as_u64)
    }

    /// The context that the model's own file sets, in tokens.
    pub(super) fn num_ctx(&self) -> Option<u64> {
        self.parameters.as_ref()?.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some("num_ctx")).then(|| words.next()?.parse().ok())?
        })
    }
}
