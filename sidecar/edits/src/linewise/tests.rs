//! Lines of a rope by tables.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use ropey::Rope;

use super::*;

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "\n", "\r\n", "\r", "a", "é", "\u{2028}", "\r\r\n", "bc",
        ]),
        0..40,
    )
    .prop_map(|pieces| pieces.concat())
}

/// The plain way: split at LF, drop CRs before it.
fn plain_lf(text: &str) -> String {
    let mut text = text.to_owned();
    while text.contains("\r\n") {
        text = text.replace("\r\n", "\n");
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_end_at_lf_only(text in text()) {
        let rope = Rope::from_str(&text);
        for at in 0..=text.len() {
            if !text.is_char_boundary(at) {
                continue;
            }
            let start = text[..at].rfind('\n').map_or(0, |lf| lf + 1);
            let next = text[at..].find('\n').map_or(text.len(), |lf| at + lf + 1);
            prop_assert_eq!(line_start(&rope, at), start);
            prop_assert_eq!(next_line_start(&rope, at), next);
        }
        let offsets = line_offsets(&text);
        prop_assert_eq!(offsets.len() - 1, line_count(&text));
        prop_assert_eq!(line_count(&text), text.split_inclusive('\n').count());
    }

    #[test]
    fn reading_ignores_endings(text in text(), from in 0..8_usize, to in 0..8_usize) {
        let rope = Rope::from_str(&text);
        let offsets = line_offsets(&text);
        let last = offsets.len() - 1;
        let (from, to) = (from.min(last), to.min(last));
        let range = offsets[from.min(to)]..offsets[from.max(to)];
        let expected = plain_lf(&text[range.clone()]);
        prop_assert_eq!(&*lf(&text[range.clone()]), &expected);
        prop_assert_eq!(slice_lf(&rope, range.clone()), expected.clone());
        prop_assert!(reads(&rope, range.clone(), &expected));
        prop_assert_eq!(reads_from(&rope, range.start, &expected), Some(range.end));
        prop_assert_eq!(reads_until(&rope, range.end, &expected), Some(range.start));
        let other = format!("z{expected}");
        prop_assert!(!reads(&rope, range.clone(), &other));
        prop_assert!(reads_from(&rope, range.start, &other).is_none());
        if !expected.is_empty() {
            prop_assert!(!reads(&rope, range.clone(), &expected[..expected.char_indices().last().unwrap().0]));
        }
    }
}

#[test]
fn a_line_without_lf_must_end_the_text() {
    let rope = Rope::from_str("ab\nabc");
    assert_eq!(reads_from(&rope, 0, "ab\n"), Some(3));
    assert_eq!(reads_from(&rope, 3, "ab"), None);
    assert_eq!(reads_from(&rope, 3, "abc"), Some(6));
    assert_eq!(reads_until(&rope, 0, ""), Some(0));
    assert_eq!(reads_until(&rope, 0, "a\n"), None);
}
