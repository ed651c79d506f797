//! Limits of a turn.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::usage::Meter;

/// What a turn may use up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Model calls.
    pub steps: u32,
    /// Tokens in and out, over all steps, as the provider counts them; `None` is no limit.
    pub tokens: Option<u64>,
    /// US dollars over all steps; `None` is no limit. It holds only for models whose price is known.
    pub cost: Option<f64>,
    /// Time from the first event.
    pub time: Duration,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: 60,
            tokens: None,
            cost: None,
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
    /// Money.
    Cost,
    /// Time.
    Time,
}

impl Budget {
    /// The limit that forbids a further step after `steps` steps that used what `meter` has.
    pub(crate) fn forbids_step(&self, steps: u32, meter: &Meter) -> Option<BudgetLimit> {
        if steps >= self.steps {
            return Some(BudgetLimit::Steps);
        }
        if self.tokens.is_some_and(|limit| meter.tokens() >= limit) {
            return Some(BudgetLimit::Tokens);
        }
        let spent = self.cost.zip(meter.cost());
        spent
            .filter(|(limit, cost)| cost >= limit)
            .map(|_| BudgetLimit::Cost)
    }
}
