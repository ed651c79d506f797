//! The anchors beside a slow list of ranges.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::ops::Range;

use proptest::prelude::*;

use super::Anchors;

/// The same in a plain list.
#[derive(Clone)]
struct Plain(Vec<Range<usize>>);

impl Plain {
    fn sorted(mut ranges: Vec<Range<usize>>) -> Self {
        ranges.sort_by_key(|range| range.start);
        Self(ranges)
    }

    fn first_from(&self, offset: usize) -> usize {
        self.0
            .iter()
            .position(|range| range.start >= offset)
            .unwrap_or(self.0.len())
    }

    fn reaching(&self, limit: usize, offset: usize) -> Vec<usize> {
        (0..limit.min(self.0.len()))
            .filter(|&slot| self.0[slot].end >= offset)
            .collect()
    }
}

fn ranges() -> impl Strategy<Value = Vec<Range<usize>>> {
    prop::collection::vec((0..500_usize, 0..30_usize), 0..70).prop_map(|ranges| {
        ranges
            .into_iter()
            .map(|(start, len)| start..start + len)
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_tree_says_what_a_list_says(
        ranges in ranges(),
        changes in prop::collection::vec((0..600_usize, 0..50_usize, any::<bool>()), 0..40),
    ) {
        let mut plain = Plain::sorted(ranges);
        let mut tree = Anchors::new((0..).zip(plain.0.iter().cloned()));
        for (offset, by, is_shift) in changes {
            let slot = plain.first_from(offset);
            prop_assert_eq!(tree.first_from(offset), slot);
            for limit in [slot, plain.0.len()] {
                prop_assert_eq!(tree.reaching(limit, offset), plain.reaching(limit, offset));
            }
            if is_shift {
                tree.shift_from(slot, by as i64);
                for range in &mut plain.0[slot..] {
                    *range = range.start + by..range.end + by;
                }
            } else if slot < plain.0.len() {
                let range = plain.0[slot].start..plain.0[slot].start + by;
                tree.set(slot, &[(slot as u32, range.clone())]);
                plain.0[slot] = range;
            }
            let seen: Vec<Range<usize>> = tree.iter().map(|(_, range)| range).collect();
            prop_assert_eq!(&seen, &plain.0);
        }
    }
}

#[test]
fn shifts_left_come_back() {
    let mut tree = Anchors::new([(0, 10..12), (1, 20..20), (2, 30..35)]);
    tree.shift_from(1, 100);
    tree.shift_from(1, -100);
    tree.shift_from(2, -5);
    let seen: Vec<_> = tree.iter().collect();
    assert_eq!(seen, [(0, 10..12), (1, 20..20), (2, 25..30)]);
    assert_eq!(Anchors::default().first_from(0), 0);
    assert_eq!(Anchors::new([]).len(), 0);
}
