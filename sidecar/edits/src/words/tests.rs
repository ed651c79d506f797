//! Tables and properties of word diffs.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;

use super::*;

fn changed<'a>(text: &'a str, ranges: &[Range<usize>]) -> Vec<&'a str> {
    ranges.iter().map(|range| &text[range.clone()]).collect()
}

#[test]
fn only_the_words_that_differ() {
    let (old, new) = (
        "let total = price * count;\n",
        "let total = price * amount + tax;\n",
    );
    let diff = diff_words(old, new);
    assert_eq!(changed(old, &diff.old), ["count"]);
    assert_eq!(changed(new, &diff.new), ["amount + tax"]);
    assert_eq!(diff_words("same\n", "same\n"), WordDiff::default());
    assert_eq!(diff_words("", "new\n").new, std::slice::from_ref(&(0..4)));
}

proptest! {
    #[test]
    fn what_is_left_is_the_same_on_both_sides(old in "[ab é_.\n]{0,30}", new in "[ab é_.\n]{0,30}") {
        let diff = diff_words(&old, &new);
        let rest = |text: &str, ranges: &[Range<usize>]| -> String {
            let mut rest = String::new();
            let mut at = 0;
            for range in ranges {
                rest += &text[at..range.start];
                at = range.end;
            }
            // Blanks between changed words are shown as changed.
            (rest + &text[at..]).replace(' ', "")
        };
        prop_assert_eq!(rest(&old, &diff.old), rest(&new, &diff.new));
    }
}
