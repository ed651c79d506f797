//! Reads the lists of models that servers give: one shape, `{"data": [{"id": …}]}`, and many further fields.

use serde_json::{Map, Value};

use super::{Capabilities, ModelInfo};
use crate::price::{Price, Rates};

/// Which program answers, as far as its list tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    LlamaCpp,
    LmStudio,
    Vllm,
    Other,
}

/// The models of a list, without those that only embed.
pub(crate) fn models(answer: &Value) -> Vec<ModelInfo> {
    items(answer)
        .filter(|item| !matches!(text(item, "type"), Some("embeddings" | "embedding")))
        .filter_map(model)
        .collect()
}

/// The server of a list.
pub(crate) fn server(answer: &Value) -> Server {
    let owned_by = items(answer).find_map(|item| text(item, "owned_by"));
    match owned_by {
        Some("llamacpp") => Server::LlamaCpp,
        Some("organization_owner") => Server::LmStudio,
        Some("vllm") => Server::Vllm,
        _ => Server::Other,
    }
}

/// Where the list goes on, for a vendor that gives it in pages.
pub(crate) fn next_page(answer: &Value) -> Option<&str> {
    (answer.get("has_more") == Some(&Value::Bool(true))).then(|| answer.get("last_id")?.as_str())?
}

fn items(answer: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let list = answer.get("data").or_else(|| answer.get("models"));
    let list = list.or(Some(answer)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_object)
}

fn model(item: &Map<String, Value>) -> Option<ModelInfo> {
    let id = text(item, "id")?;
    let number = |path: &str| number(item, path);
    Some(ModelInfo {
        id: id.to_owned(),
        name: text(item, "display_name")
            .or_else(|| text(item, "name"))
            .filter(|name| *name != id)
            .map(str::to_owned),
        // What the server runs with comes before what the model could.
        context_window: number("loaded_context_length")
            .or_else(|| number("meta.n_ctx"))
            .or_else(|| number("max_model_len"))
            .or_else(|| number("max_input_tokens"))
            .or_else(|| number("context_length"))
            .or_else(|| number("context_window"))
            .or_else(|| number("max_context_length"))
            .or_else(|| number("meta.n_ctx_train")),
        max_output_tokens: number("max_tokens")
            .or_else(|| number("top_provider.max_completion_tokens"))
            .or_else(|| number("max_output_tokens")),
        capabilities: capabilities(item),
        loaded: text(item, "state").map(|state| state == "loaded"),
        price: price(item),
    })
}

fn capabilities(item: &Map<String, Value>) -> Capabilities {
    let words = |path: &str| {
        let list = at(item, path).and_then(Value::as_array);
        list.map(|list| list.iter().filter_map(Value::as_str).collect::<Vec<_>>())
    };
    let supported = |path: &str| at(item, path).and_then(Value::as_bool);
    let parameters = words("supported_parameters");
    let takes = |name: &str| parameters.as_ref().map(|all| all.contains(&name));
    let abilities = words("capabilities");
    let inputs = words("architecture.input_modalities");
    // Where the vendor describes a model's thinking, all of its models call tools.
    let described = at(item, "capabilities.thinking").map(|_| true);
    Capabilities {
        tools: takes("tools")
            .or_else(|| abilities.as_ref().map(|all| all.contains(&"tool_use")))
            .or(described),
        parallel_calls: takes("parallel_tool_calls").or(described),
        reasoning: takes("reasoning").or_else(|| supported("capabilities.thinking.supported")),
        images: inputs
            .map(|all| all.contains(&"image"))
            .or_else(|| supported("capabilities.image_input.supported"))
            .or_else(|| {
                text(item, "type")
                    .map(|kind| kind == "vlm")
                    .filter(|is| *is)
            }),
    }
}

/// A price for each token, as text.
fn price(item: &Map<String, Value>) -> Option<Price> {
    let rate = |name: &str| {
        let told = at(item, &format!("pricing.{name}"))?;
        let for_one: f64 = match told {
            Value::String(text) => text.parse().ok()?,
            other => other.as_f64()?,
        };
        (for_one >= 0.0).then_some(for_one * 1e6)
    };
    Some(Price {
        rates: Rates {
            input: rate("prompt")?,
            cache_read: rate("input_cache_read"),
            cache_write: rate("input_cache_write"),
            output: rate("completion")?,
        },
        long_prompts: None,
    })
}

fn text<'a>(item: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    item.get(key).and_then(Value::as_str)
}

fn number(item: &Map<String, Value>, path: &str) -> Option<u64> {
    at(item, path).and_then(Value::as_u64).filter(|n| *n > 0)
}

/// The value at `a.b`.
fn at<'a>(item: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let (head, rest) = path
        .split_once('.')
        .map_or((path, None), |(head, rest)| (head, Some(rest)));
    let value = item.get(head)?;
    match rest {
        None => Some(value),
        Some(rest) => at(value.as_object()?, rest),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn one(item: Value) -> ModelInfo {
        models(&json!({"data": [item]})).remove(0)
    }

    #[test]
    fn anthropic_says_windows_thinking_and_images() {
        let model = one(json!({
            "type": "model", "id": "claude-x", "display_name": "Claude X",
            "max_input_tokens": 1_000_000, "max_tokens": 128_000,
            "capabilities": {"thinking": {"supported": true}, "image_input": {"supported": false}},
        }));
        assert_eq!(model.name.as_deref(), Some("Claude X"));
        assert_eq!(
            (model.context_window, model.max_output_tokens),
            (Some(1_000_000), Some(128_000))
        );
        let can = Capabilities {
            tools: Some(true),
            parallel_calls: Some(true),
            reasoning: Some(true),
            images: Some(false),
        };
        assert_eq!(model.capabilities, can);
    }

    #[test]
    fn gateways_say_prices_and_parameters() {
        let model = one(json!({
            "id": "qwen/qwen3-coder", "name": "Qwen3 Coder", "context_length": 262_144,
            "top_provider": {"max_completion_tokens": 65_536},
            "architecture": {"input_modalities": ["text"]},
            "supported_parameters": ["tools", "temperature"],
            "pricing": {"prompt": "0.00000022", "completion": "0.00000095", "input_cache_read": "0.0000001"},
        }));
        let price = model.price.unwrap();
        assert!(
            (price.rates.input - 0.22).abs() < 1e-9 && (price.rates.output - 0.95).abs() < 1e-9
        );
        assert_eq!(price.rates.cache_write, None);
        assert_eq!(model.capabilities.tools, Some(true));
        assert_eq!(model.capabilities.reasoning, Some(false));
        assert_eq!(model.capabilities.images, Some(false));
        // A price that depends (-1) is none.
        let auto = one(json!({"id": "auto", "pricing": {"prompt": "-1", "completion": "-1"}}));
        assert_eq!(auto.price, None);
    }

    #[test]
    fn local_servers_say_what_they_run_with() {
        let cases = [
            (
                json!({"id": "a", "owned_by": "vllm", "max_model_len": 32_768}),
                32_768,
                Server::Vllm,
            ),
            (
                json!({"id": "a", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}}),
                8192,
                Server::LlamaCpp,
            ),
            (
                json!({"id": "a", "owned_by": "llamacpp", "meta": {"n_ctx": 4096, "n_ctx_train": 8192}}),
                4096,
                Server::LlamaCpp,
            ),
            (
                json!({"id": "a", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4096}),
                4096,
                Server::Other,
            ),
        ];
        for (item, window, program) in cases {
            let answer = json!({"data": [item]});
            assert_eq!(models(&answer)[0].context_window, Some(window), "{answer}");
            assert_eq!(server(&answer), program, "{answer}");
        }
    }

    #[test]
    fn what_is_no_list_of_models_is_empty() {
        for answer in [
            json!(null),
            json!({"data": "x"}),
            json!([1, {"name": "x"}]),
            json!({"data": [{"id": "e", "type": "embeddings"}]}),
        ] {
            assert_eq!(models(&answer), [], "{answer}");
        }
    }
}
