//! Facts of known models that their vendors do not say over their APIs: prices, and OpenAI's windows.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::price::{Price, Rates};

/// The day of the table, `YYYY-MM-DD`. Prices change; the user's own entries come first.
pub const TABLE_DATE: &str = "2026-11-30";

/// One line for each model; the head of the file names the columns.
const TABLE: &str = include_str!("catalog/table.tsv");

/// A known model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Known {
    /// What its tokens cost.
    pub price: Price,
    /// The longest prompt, in tokens.
    pub context_window: Option<u64>,
    /// The longest answer, in tokens.
    pub max_output_tokens: Option<u64>,
    /// It reasons before it answers.
    pub reasoning: bool,
    /// It reads images.
    pub images: bool,
}

/// Tokens that the context of a model holds, by the built-in table.
pub fn known_window(model: &str) -> Option<u64> {
    known(model)?.context_window
}

/// Looks a model up by the vendor's name, which may be dated (`-2025-08-07`, `-20250929`), be called
/// the latest, or be headed by a gateway's name for the vendor (`anthropic/`).
pub(crate) fn known(model: &str) -> Option<&'static Known> {
    static MODELS: OnceLock<HashMap<&str, Known>> = OnceLock::new();
    let models = MODELS.get_or_init(|| TABLE.lines().filter_map(line).collect());
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    models.get(name).or_else(|| models.get(undated(name)))
}

/// The name without a date at its end.
fn undated(name: &str) -> &str {
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '@');
    let digits = name[end.len()..].bytes().filter(u8::is_ascii_digit).count();
    // A version such as `-4-5` may stand before the date.
    if digits < 8 {
        return name;
    }
    let mut left = 8;
    let at = name.bytes().rposition(|byte| {
        left -= usize::from(byte.is_ascii_digit());
        left == 0
    });
    name[..at.unwrap_or(name.len())].trim_end_matches(['-', '@'])
}

fn line(line: &'static str) -> Option<(&'static str, Known)> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = line.split('\t');
    let name = fields.next()?;
    let mut rates = || -> Option<Rates> {
        let input = fields.next()?.parse().ok();
        let cache_read = fields.next()?.parse().ok();
        let cache_write = fields.next()?.parse().ok();
        let output = fields.next()?.parse().ok();
        Some(Rates {
            input: input?,
            cache_read,
            cache_write,
            output: output?,
        })
    };
    let base = rates()?;
    let above = fields.next()?.parse().ok();
    let long = {
        let mut next = || fields.next()?.parse().ok();
        let (input, cache_read, cache_write, output) = (next(), next(), next(), next());
        input.zip(output).map(|(input, output)| Rates {
            input,
            cache_read,
            cache_write,
            output,
        })
    };
    let context_window = fields.next()?.parse().ok();
    let max_output_tokens = fields.next()?.parse().ok();
    let flags = fields.next()?;
    let known = Known {
        price: Price {
            rates: base,
            long_prompts: above.zip(long),
        },
        context_window,
        max_output_tokens,
        reasoning: flags.contains('r'),
        images: flags.contains('i'),
    };
    Some((name, known))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        assert!(lines.clone().count() > 40);
        for text in lines {
            let (name, known) = line(text).unwrap_or_else(|| panic!("{text}"));
            assert!(
                known.price.rates.input > 0.0 && known.price.rates.output > 0.0,
                "{name}"
            );
            assert_eq!(
                text.split('\t').nth(5) == Some("-"),
                known.price.long_prompts.is_none()
            );
            assert_eq!(super::known(name), Some(&known));
        }
    }

    #[test]
    fn dated_and_headed_names_are_the_model() {
        let same = [
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("anthropic/claude-opus-5-5", "claude-opus-5-5"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("gpt-5.4-mini-2026-03-17", "gpt-5.4-mini"),
            ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
            ("claude-opus-5-latest", "claude-opus-5"),
        ];
        for (name, model) in same {
            assert_eq!(known(name), Some(known(model).unwrap()), "{name}");
        }
        for unknown in ["qwen3", "gpt-5x", "", "20250929", "-"] {
            assert_eq!(known(unknown), None, "{unknown}");
        }
    }
}
