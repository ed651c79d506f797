//! The plays that property tests make up. More of them: `PROPTEST_CASES=100000`.

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig {
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn hunks_stay_right_whatever_happens(data in prop::collection::vec(any::<u8>(), 0..300)) {
        super::anchoring(&data);
    }
}
