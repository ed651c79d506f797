//! What an answer cost. A model without a price costs an unknown amount, never nothing.

use std::collections::HashMap;

use crate::{Usage, catalog};

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Of the prompt, beside the cache.
    pub input: f64,
    /// Of the prompt's part that was read from the cache; the input's rate when it is not sold apart.
    pub cache_read: Option<f64>,
    /// Of the part that was written to the cache; the input's rate when it is not sold apart.
    pub cache_write: Option<f64>,
    /// Of everything generated.
    pub output: f64,
}

/// The price of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// The usual rates.
    pub rates: Rates,
    /// Rates of the whole request when its prompt has more tokens than this.
    pub long_prompts: Option<(u64, Rates)>,
}

impl Price {
    /// Returns what an answer cost, in US dollars.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let rates = match &self.long_prompts {
            Some((above, rates)) if usage.input > *above => rates,
            _ => &self.rates,
        };
        let cached = usage.input_cached.min(usage.input);
        let written = usage.input_cache_write.min(usage.input - cached);
        let beside = usage.input - cached - written;
        millions(beside) * rates.input
            + millions(cached) * rates.cache_read.unwrap_or(rates.input)
            + millions(written) * rates.cache_write.unwrap_or(rates.input)
            + millions(usage.output) * rates.output
    }
}

#[expect(clippy::cast_precision_loss, reason = "no answer has 2^53 tokens")]
fn millions(tokens: u64) -> f64 {
    tokens as f64 / 1e6
}

/// Prices of models: the user's own, those that endpoints told, then the built-in table's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceBook {
    /// By `PROVIDER/MODEL`.
    own: HashMap<String, Price>,
    told: HashMap<String, Price>,
}

impl PriceBook {
    /// A book with the user's own prices, by `PROVIDER/MODEL`.
    pub fn new(own: HashMap<String, Price>) -> Self {
        Self {
            own,
            told: HashMap::new(),
        }
    }

    /// Notes what an endpoint said of its model's price.
    pub fn note(&mut self, provider: &str, model: &str, price: Price) {
        self.told.insert(format!("{provider}/{model}"), price);
    }

    /// The price of a model; `None` is unknown.
    pub fn price(&self, provider: &str, model: &str) -> Option<Price> {
        let name = format!("{provider}/{model}");
        let found = self.own.get(&name).or_else(|| self.told.get(&name));
        let known = || catalog::known(model).map(|known| known.price);
        found.copied().or_else(known)
    }

    /// What an answer cost in US dollars; `None` is unknown.
    pub fn cost(&self, provider: &str, model: &str, usage: &Usage) -> Option<f64> {
        Some(self.price(provider, model)?.cost(usage))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn usage(input: u64, cached: u64, written: u64, output: u64) -> Usage {
        Usage {
            input,
            input_cached: cached,
            input_cache_write: written,
            output,
            output_reasoning: output / 2,
        }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn each_part_of_the_prompt_is_counted_once() {
        let book = PriceBook::default();
        // 1M input in all: 0.5M cached at 0.2, 0.25M written at 5, 0.25M beside at 4; 0.1M out at 20.
        let cost = book.cost(
            "claude",
            "claude-opus-5-5",
            &usage(1_000_000, 500_000, 250_000, 100_000),
        );
        assert!(close(cost.unwrap(), 0.1 + 1.25 + 1.0 + 2.0), "{cost:?}");
        // Counts that contradict each other cost no less than nothing.
        let odd = book
            .cost("claude", "claude-opus-5-5", &usage(10, 20, 30, 0))
            .unwrap();
        assert!(odd > 0.0);
    }

    #[test]
    fn a_long_prompt_changes_the_rates_of_the_whole_request() {
        let price = catalog::known("gpt-6.1-sol").unwrap().price;
        assert!(close(price.cost(&usage(272_000, 0, 0, 0)), 0.272 * 2.0));
        assert!(close(
            price.cost(&usage(272_001, 0, 0, 1_000_000)),
            0.272_001 * 4.0 + 15.0
        ));
    }

    #[test]
    fn the_users_own_price_comes_first_and_none_is_unknown() {
        let rates = Rates {
            input: 1.0,
            cache_read: None,
            cache_write: None,
            output: 2.0,
        };
        let own = Price {
            rates,
            long_prompts: None,
        };
        let mut book = PriceBook::new(HashMap::from([("mine/gpt-5".to_owned(), own)]));
        assert_eq!(book.price("mine", "gpt-5"), Some(own));
        assert_ne!(book.price("openai", "gpt-5"), Some(own));
        assert_eq!(book.cost("mine", "qwen3", &usage(5, 0, 0, 5)), None);
        book.note("mine", "qwen3", own);
        assert!(close(
            book.cost("mine", "qwen3", &usage(1_000_000, 1_000_000, 0, 0))
                .unwrap(),
            1.0
        ));
    }
}
