//! The ladder, rung by rung.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use expect_test::expect;
use proptest::prelude::*;

use super::{
    MatchError, Pattern, Search, TextIndex, clip,
    fold::{Folded, fold_line},
    transplant,
};
use crate::rung::MatchRung;

#[test]
fn look_alikes_fold_to_one_spelling() {
    for (text, folded) in [
        ("“a” ‘b’ «c»", "\"a\" 'b' \"c\""),
        ("1–2—3 −4", "1-2-3 -4"),
        ("a\u{a0}b\u{2003}c\u{3000}d", "a b c d"),
        ("a\u{200b}b…", "ab..."),
        ("cafe\u{301} \u{212b}", "café Å"),
        ("漢字🦀", "漢字🦀"),
    ] {
        assert_eq!(fold_line(text), folded);
    }
    assert_eq!(Folded::new("a \t\r\nb \n c ").text, "a\nb\n c ");
}

#[test]
fn only_changed_words_are_carried_over() {
    for (search, replace, found, expected) in [
        (
            "say \"hi\" - now",
            "say \"ho\" - now",
            "say “hi” – now",
            Some("say “ho” – now"),
        ),
        ("\"a\" \"b\"", "\"a\" 'b'", "“a” “b”", Some("“a” 'b'")),
        ("a b", "a new b", "a\u{a0}b", Some("a\u{a0}new b")),
        (
            "\"a\"\nx\n\"b\"\n",
            "\"a\"\n\"c\"\n",
            "“a”  \nx\n“b”\n",
            Some("“a”  \n“c”\n"),
        ),
        (
            "caf\u{e9} x",
            "caf\u{e9} y",
            "cafe\u{301} x",
            Some("cafe\u{301} y"),
        ),
        ("a", "b", "c", None),
    ] {
        assert_eq!(
            transplant(search, replace, found).as_deref(),
            expected,
            "{search:?}"
        );
    }
}

/// The rung and the lines, from 1, of every place.
fn places(text: &str, pattern: &str) -> String {
    let index = TextIndex::new(text);
    let pattern = Pattern {
        lines: pattern.split('\n').collect(),
    };
    match index.find(&pattern, &|_| true) {
        Some(found) => {
            let lines: Vec<_> = found.places.iter().map(|place| place.line + 1).collect();
            format!("{} {lines:?}", found.rung.as_str())
        }
        None => "none".to_owned(),
    }
}

#[test]
fn the_first_rung_that_matches_decides() {
    assert_eq!(places("a\nb\na\nb\n", "a\nb"), "exact [1, 3]");
    assert_eq!(places("a\r\nb\r\n", "a\nb"), "exact [1]");
    assert_eq!(places("a \nb\na\nb\n", "a\nb"), "exact [3]");
    assert_eq!(places("a \nb\n", "a\nb"), "whitespace [1]");
    assert_eq!(places("  a\n\n    b\n", "a\n\n  b"), "indentation [1]");
    assert_eq!(places("\ta\n\t\tb\n", "  a\n  \tb"), "indentation [1]");
    assert_eq!(places("  a\n  b\n", "a\n  b"), "none", "not uniform");
    assert_eq!(places("“a”\n", "\"a\""), "lookalike [1]");
    assert_eq!(places("a\n\nb\n", "\n"), "none");
    assert_eq!(places("", "a"), "none");
}

#[test]
fn overlapping_matches_are_several() {
    let find = |text: &str, search: &str, all| {
        Search::new(search, "x", false, all)
            .find(&TextIndex::new(text))
            .map(|found| found.len())
    };
    assert_eq!(
        find("aaa", "aa", false),
        Err(MatchError::Ambiguous {
            lines: vec![1, 1],
            tolerant: false
        })
    );
    assert_eq!(find("aaa", "aa", true), Ok(1));
    assert_eq!(find("a\nb\r\na\nb", "a\nb", true), Ok(2));
}

#[test]
fn a_replacement_that_cannot_follow_the_shift_is_refused() {
    let err = Search::new("    a\n    b\n", "    a\nc\n", true, false)
        .find(&TextIndex::new("a\nb\n"))
        .unwrap_err();
    assert_eq!(err, MatchError::CannotShift { line: 1 });
    assert_eq!(err.code(), "NO_MATCH");
}

#[test]
fn whole_lines_are_found_among_many_parts_of_lines() {
    let text = format!("{}a\n{}a\n", "aa\n".repeat(3000), "aa\n".repeat(3000));
    let find = |text: &str| {
        Search::new("a\n", "b\n", true, false)
            .find(&TextIndex::new(text))
            .map(|found| found[0].rung)
    };
    assert_eq!(
        find(&text),
        Err(MatchError::Ambiguous {
            lines: vec![3001, 6002],
            tolerant: false
        })
    );
    assert_eq!(find(&text[..3000 * 3 + 2]), Ok(MatchRung::Exact));
}

#[test]
fn messages_stay_short() {
    let line = format!("{}needle{}", "é".repeat(500), "x".repeat(500));
    expect!["…ééééééééééééééééééééééééééééééneedlexxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"]
        .assert_eq(&clip(&line, 1000));
    let err = MatchError::Ambiguous {
        lines: (1..=2000).collect(),
        tolerant: true,
    };
    expect!["has 2000 or more candidate places, lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 1990 more (not exactly, and only one may be meant)"]
        .assert_eq(&err.message());
}

proptest! {
    #[test]
    fn transplanting_an_unchanged_text_changes_nothing(text in "[a “”\"–é\u{200b}\r\n]{0,20}") {
        let search = Folded::new(&text).text;
        prop_assert_eq!(transplant(&search, &search, &text), Some(text));
    }

    #[test]
    fn folding_twice_is_folding_once(text in "[a “”\"–é…\u{200b}\r\n]{0,20}") {
        let folded = Folded::new(&text).text;
        prop_assert_eq!(&Folded::new(&folded).text, &folded);
    }
}
