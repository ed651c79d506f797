//! The plays that property tests make up.
//!
//! An ordinary run plays the same sessions each time, so that it judges the change at hand; the search for new
//! ones is `PROPTEST_CASES=100000`, with fresh seeds.
#![allow(clippy::disallowed_methods)]

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn seed() -> RngSeed {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => RngSeed::Random,
        None => RngSeed::Fixed(1),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        max_shrink_iters: 20_000,
        failure_persistence: None,
        rng_seed: seed(),
        ..ProptestConfig::default()
    })]

    #[test]
    fn hunks_stay_right_whatever_happens(data in prop::collection::vec(any::<u8>(), 0..300)) {
        super::anchoring(&data);
    }
}
