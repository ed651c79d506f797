//! What a turn's answers took: tokens, context, money.
//!
//! A vendor's totals are of one answer, and each answer is billed by itself: the turn's are their sum, and none is counted
//! twice. Where a vendor says nothing the tokens are counted or estimated, and it is said; a cost that is not known makes
//! every sum that it belongs to unknown, never smaller.

use redline_providers::{Price, Usage};

use crate::TurnEventKind;

/// Bytes of an answer to a token, where nobody counts.
const BYTES_PER_TOKEN: u64 = 4;

/// The share of a model's context from which on it is said to be nearly full, in percent.
const NEARLY_FULL: u64 = 80;

/// What is known of a model beside what its answers say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ModelFacts {
    /// What its tokens cost; none is unknown.
    pub price: Option<Price>,
    /// Tokens that its context holds; none is unknown.
    pub window: Option<u64>,
}

/// One model call, as far as it is metered.
#[derive(Debug, Default)]
pub(crate) struct Call {
    /// `PROVIDER/MODEL`.
    pub(crate) model: String,
    /// The prompt by the provider's own estimate, in tokens; none for one that reads nothing.
    pub(crate) estimate: Option<u64>,
    /// The prompt as the endpoint counts it, where it was asked.
    pub(crate) counted: Option<u64>,
    /// What the vendor told; nothing but zeros when it did not.
    pub(crate) told: Usage,
    /// Bytes of the answer.
    pub(crate) answer_bytes: u64,
}

/// Adds up a turn.
#[derive(Debug)]
pub(crate) struct Meter {
    total: Usage,
    is_estimated: bool,
    /// US dollars; none once something of it is unknown.
    cost: Option<f64>,
    /// Of the session's earlier turns.
    cost_before: Option<f64>,
    /// Model, estimate and true count of the last prompt that was counted.
    last: Option<(String, u64, u64)>,
    is_full_told: bool,
}

impl Meter {
    /// The meter of a turn, after turns that cost `cost_before` US dollars.
    pub(crate) fn new(cost_before: Option<f64>) -> Self {
        Self {
            total: Usage::default(),
            is_estimated: false,
            cost: Some(0.0),
            cost_before,
            last: None,
            is_full_told: false,
        }
    }

    /// Tokens in and out so far.
    pub(crate) fn tokens(&self) -> u64 {
        self.total.input.saturating_add(self.total.output)
    }

    /// US dollars so far; none is unknown.
    pub(crate) fn cost(&self) -> Option<f64> {
        self.cost
    }

    /// The prompt that comes next, in tokens: the last one as it was counted, and what is new as it is estimated.
    pub(crate) fn expect(&self, model: &str, estimate: Option<u64>) -> Option<u64> {
        let estimate = estimate?;
        let grown = self.last.as_ref().filter(|(last, ..)| last == model);
        let grown = grown.map(|(_, then, counted)| counted + estimate.saturating_sub(*then));
        Some(grown.unwrap_or(0).max(estimate))
    }

    /// Whether a call needs the endpoint's count, since its answer told none.
    pub(crate) fn wants_count(call: &Call) -> bool {
        call.told == Usage::default() && call.estimate.is_some()
    }

    /// Takes a call in, and says what is to be told of it.
    pub(crate) fn take(&mut self, call: &Call, facts: ModelFacts) -> Vec<TurnEventKind> {
        let is_told = call.told != Usage::default();
        let step = match (is_told, call.counted.or(call.estimate)) {
            (true, _) => call.told,
            (false, Some(input)) => Usage {
                input,
                output: call.answer_bytes.div_ceil(BYTES_PER_TOKEN),
                ..Usage::default()
            },
            // A recording: nothing was read, and nobody is paid.
            (false, None) => return Vec::new(),
        };
        self.is_estimated |= !is_told;
        add(&mut self.total, &step);
        let cost = facts.price.map(|price| price.cost(&step));
        self.cost = self.cost.zip(cost).map(|(so_far, cost)| so_far + cost);
        let counted = call.counted.or(is_told.then_some(step.input));
        if let (Some(estimate), Some(counted)) = (call.estimate, counted) {
            self.last = Some((call.model.clone(), estimate, counted));
        }
        let used = step.input.saturating_add(step.output);
        let mut told = vec![TurnEventKind::Usage {
            step,
            turn: self.total,
            used: Some(used),
            size: facts.window,
            turn_cost: self.cost,
            session_cost: self
                .cost
                .zip(self.cost_before)
                .map(|(turn, before)| before + turn),
            estimated: self.is_estimated,
        }];
        told.extend(self.nearly_full(used, facts.window));
        told
    }

    /// Says once a turn that the model's context fills up.
    fn nearly_full(&mut self, used: u64, window: Option<u64>) -> Option<TurnEventKind> {
        let window = window.filter(|window| *window > 0)?;
        let percent = used.saturating_mul(100) / window;
        if percent < NEARLY_FULL || self.is_full_told {
            return None;
        }
        self.is_full_told = true;
        let text = format!(
            "The conversation takes {used} of the {window} tokens that the model's context holds; begin a new one soon."
        );
        Some(TurnEventKind::Notice { text })
    }
}

fn add(total: &mut Usage, step: &Usage) {
    total.input += step.input;
    total.input_cached += step.input_cached;
    total.input_cache_write += step.input_cache_write;
    total.output += step.output;
    total.output_reasoning += step.output_reasoning;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use redline_providers::Rates;

    fn facts(window: Option<u64>) -> ModelFacts {
        let rates = Rates {
            input: 1.0,
            cache_read: Some(0.5),
            cache_write: None,
            output: 10.0,
        };
        ModelFacts {
            price: Some(Price {
                rates,
                long_prompts: None,
            }),
            window,
        }
    }

    fn told(input: u64, cached: u64, output: u64) -> Call {
        Call {
            model: "p/m".to_owned(),
            estimate: Some(input / 2),
            told: Usage {
                input,
                input_cached: cached,
                output,
                ..Usage::default()
            },
            ..Call::default()
        }
    }

    /// Turn totals, cost of turn and session, and whether they are estimates.
    fn usage(told: &[TurnEventKind]) -> (Usage, Option<f64>, Option<f64>, bool) {
        let Some(TurnEventKind::Usage {
            turn,
            turn_cost,
            session_cost,
            estimated,
            ..
        }) = told.first()
        else {
            panic!("{told:?}")
        };
        (*turn, *turn_cost, *session_cost, *estimated)
    }

    fn near(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-9)
    }

    #[test]
    fn each_answer_counts_once_and_costs_what_its_parts_cost() {
        let mut meter = Meter::new(Some(1.0));
        meter.take(&told(1_000_000, 0, 100_000), facts(None));
        let now = meter.take(&told(2_000_000, 1_000_000, 0), facts(None));
        let (turn, turn_cost, session_cost, estimated) = usage(&now);
        assert_eq!(
            (turn.input, turn.input_cached, turn.output),
            (3_000_000, 1_000_000, 100_000)
        );
        assert!(near(turn_cost, 2.0 + 1.5), "{turn_cost:?}");
        assert!(near(session_cost, 4.5), "{session_cost:?}");
        assert!(!estimated);
        assert_eq!(meter.tokens(), 3_100_000);
    }

    #[test]
    fn what_is_unknown_makes_the_sum_unknown_and_never_zero() {
        let mut meter = Meter::new(Some(0.0));
        meter.take(&told(10, 0, 10), facts(None));
        let now = meter.take(&told(10, 0, 10), ModelFacts::default());
        assert_eq!((usage(&now).1, usage(&now).2), (None, None));
        // Known again, it still lacks what was unknown.
        assert_eq!(usage(&meter.take(&told(10, 0, 10), facts(None))).1, None);
        let mut after_unknown = Meter::new(None);
        let now = after_unknown.take(&told(10, 0, 10), facts(None));
        assert!(usage(&now).1.is_some() && usage(&now).2.is_none());
    }

    #[test]
    fn a_vendor_that_says_nothing_is_estimated_and_it_is_said() {
        let silent = Call {
            model: "p/m".to_owned(),
            estimate: Some(1000),
            answer_bytes: 41,
            ..Call::default()
        };
        assert!(Meter::wants_count(&silent) && !Meter::wants_count(&told(1, 0, 0)));
        let mut meter = Meter::new(Some(0.0));
        let (turn, _, _, estimated) = usage(&meter.take(&silent, facts(None)));
        assert_eq!((turn.input, turn.output, estimated), (1000, 11, true));
        let counted = Call {
            counted: Some(1234),
            ..silent
        };
        let (turn, _, _, estimated) = usage(&meter.take(&counted, facts(None)));
        assert_eq!(
            (turn.input, estimated),
            (2234, true),
            "the answer is not counted"
        );
        // A recording reads nothing.
        assert!(meter.take(&Call::default(), facts(None)).is_empty());
    }

    #[test]
    fn the_next_prompt_is_the_last_as_it_was_counted_and_what_is_new() {
        let mut meter = Meter::new(Some(0.0));
        assert_eq!(meter.expect("p/m", None), None);
        assert_eq!(meter.expect("p/m", Some(500)), Some(500));
        meter.take(&told(1000, 0, 10), facts(None));
        assert_eq!(meter.expect("p/m", Some(600)), Some(1100));
        assert_eq!(meter.expect("p/other", Some(600)), Some(600));
        // A server that cut the prompt does not make the next look small.
        let mut cut = told(100, 0, 10);
        cut.estimate = Some(5000);
        meter.take(&cut, facts(None));
        assert_eq!(meter.expect("p/m", Some(5100)), Some(5100));
    }

    #[test]
    fn a_context_that_fills_up_is_said_once() {
        let mut meter = Meter::new(Some(0.0));
        let is_notice = |told: &[TurnEventKind]| {
            told.iter()
                .any(|event| matches!(event, TurnEventKind::Notice { .. }))
        };
        assert!(!is_notice(&meter.take(&told(79, 0, 0), facts(Some(100)))));
        assert!(is_notice(&meter.take(&told(75, 0, 5), facts(Some(100)))));
        assert!(!is_notice(&meter.take(&told(90, 0, 5), facts(Some(100)))));
        assert!(!is_notice(&meter.take(&told(90, 0, 5), facts(None))));
    }
}
