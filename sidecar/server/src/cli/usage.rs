//! What a turn took, for people and for `--json`.
//!
//! Owns: the words. Must not know: where the numbers come from. What is not known is said to be so, and is never 0.

use redline_protocol::v1::{Cost, UsageUpdate};
use serde_json::{Value, json};

/// What the turn took; what is not known is null.
pub(crate) fn json(usage: &UsageUpdate) -> Value {
    let amount = |cost: &Option<Cost>| cost.as_ref().map(|cost| cost.amount);
    json!({
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "estimated": usage.estimated,
        "cost_usd": amount(&usage.turn_cost),
        "session_cost_usd": amount(&usage.cost),
        "context_used": usage.used,
        "context_size": usage.size,
    })
}

/// The same in one line, for people.
pub(crate) fn line(usage: &UsageUpdate) -> String {
    let about = if usage.estimated { "about " } else { "" };
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    let cost = match &usage.turn_cost {
        Some(cost) => format!("${:.4}", cost.amount),
        None => "cost unknown".to_owned(),
    };
    let context = match (usage.used, usage.size) {
        (Some(used), Some(size)) => format!(" · context {used} of {size}"),
        _ => String::new(),
    };
    format!("{about}{input} tokens in, {output} out · {cost}{context}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_null_and_said() {
        let mut usage = UsageUpdate {
            input_tokens: 1200,
            output_tokens: 30,
            estimated: true,
            ..UsageUpdate::default()
        };
        assert_eq!(line(&usage), "about 1200 tokens in, 30 out · cost unknown");
        let shape = super::json(&usage);
        assert_eq!(
            (&shape["cost_usd"], &shape["context_size"]),
            (&Value::Null, &Value::Null)
        );
        usage.turn_cost = Some(Cost {
            amount: 0.012_34,
            currency: "USD".to_owned(),
        });
        (usage.used, usage.size, usage.estimated) = (Some(1230), Some(8192), false);
        assert_eq!(
            line(&usage),
            "1200 tokens in, 30 out · $0.0123 · context 1230 of 8192"
        );
        assert_eq!(super::json(&usage)["cost_usd"], json!(0.012_34));
    }
}
