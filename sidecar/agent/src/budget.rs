//! Limits of a turn.

use std::time::Duration;

use redline_providers::Usage;
use serde::{Deserialize, Serialize};

/// What a turn may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Model calls.
    pub steps: u32,
    /// Tokens in and out, over all steps, as the provider counts them; `None` is no limit.
    pub tokens: Option<u64>,
    /// Time from the first event.
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: 60,
            tokens: None,
            time: Duration::from_secs(30 * 60),
        }
    }
}

/// The limit that ended a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetLimit {
    /// Model calls.
    Steps,
    /// Tokens.
    Tokens,
    /// Time.
    Time,
}

impl Budget {
    /// The limit that forbids a further step after `steps` steps that used `usage`.
    pub(crate) fn forbids_step(&self, steps: u32, usage: &Usage) -> Option<BudgetLimit> {
        if steps >= self.steps {
            return Some(BudgetLimit::Steps);
        }
        let used = usage.input.saturating_add(usage.output);
        self.tokens
            .filter(|limit| used >= *limit)
            .map(|_| BudgetLimit::Tokens)
    }
}

/// Adds a step's totals to those of the turn: each step is billed by itself.
pub(crate) fn add(total: &mut Usage, step: &Usage) {
    total.input += step.input;
    total.input_cached += step.input_cached;
    total.input_cache_write += step.input_cache_write;
    total.output += step.output;
    total.output_reasoning += step.output_reasoning;
}
