//! Diffs by tables, and by applying them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// Draws the edits of two texts as in a diff without context.
fn draw(old: &str, new: &str) -> String {
    let diff = diff_with_offsets(old, new);
    let mut drawn = String::new();
    for edit in &diff.edits {
        drawn += &format!("@ {} {}\n", edit.old.start, edit.new.start);
        for (sign, text) in [
            ('-', &old[diff.old_bytes(edit)]),
            ('+', &new[diff.new_bytes(edit)]),
        ] {
            for line in text.split_inclusive('\n') {
                drawn += &format!("{sign}{}", line.replace('\r', "\\r"));
                if !line.ends_with('\n') {
                    drawn += "\\\n";
                }
            }
        }
    }
    drawn
}

fn check(old: &str, new: &str, expected: Expect) {
    expected.assert_eq(&draw(old, new));
}

#[test]
fn changes_apart_stay_apart() {
    check(
        "a\nb\nc\n",
        "A\nb\nC\n",
        expect![[r#"
            @ 0 0
            -a
            +A
            @ 2 2
            -c
            +C
        "#]],
    );
}

#[test]
fn line_endings_are_no_change() {
    check("a\r\nb\nc\r\n", "a\nb\r\nc\n", expect![""]);
    check(
        "a\rb\n",
        "ab\n",
        expect![[r#"
        @ 0 0
        -a\rb
        +ab
    "#]],
    );
}

#[test]
fn a_last_line_without_ending_is_another_line() {
    check(
        "a\nb",
        "a\nb\n",
        expect![[r#"
        @ 1 1
        -b\
        +b
    "#]],
    );
    check(
        "a",
        "a\nb",
        expect![[r#"
        @ 0 0
        -a\
        +a
        +b\
    "#]],
    );
    check(
        "a\nb\n",
        "a\nb",
        expect![[r#"
        @ 1 1
        -b
        +b\
    "#]],
    );
}

#[test]
fn empty_texts() {
    check("", "", expect![""]);
    check(
        "",
        "a\n",
        expect![[r#"
        @ 0 0
        +a
    "#]],
    );
    check(
        "a\nb\n",
        "",
        expect![[r#"
        @ 0 0
        -a
        -b
    "#]],
    );
    check(
        "",
        "\n",
        expect![[r#"
        @ 0 0
        +
    "#]],
    );
}

#[test]
fn an_added_function_is_shown_whole() {
    check(
        "fn a() {\n    one();\n}\n\nfn c() {\n    three();\n}\n",
        "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n\nfn c() {\n    three();\n}\n",
        expect![[r#"
            @ 4 4
            +fn b() {
            +    two();
            +}
            +
        "#]],
    );
}

#[test]
fn an_added_arm_keeps_its_braces() {
    check(
        "match x {\n    A => {\n        a();\n    }\n}\n",
        "match x {\n    A => {\n        a();\n    }\n    B => {\n        b();\n    }\n}\n",
        expect![[r#"
            @ 4 4
            +    B => {
            +        b();
            +    }
        "#]],
    );
}

#[test]
fn what_slides_together_is_one_change() {
    // Two insertions around one line that is like them are one block.
    check(
        "x\na\ny\n",
        "x\na\nb\na\nb\na\ny\n",
        expect![[r#"
            @ 2 2
            +b
            +a
            +b
            +a
        "#]],
    );
}

/// The length of a longest common subsequence, by the textbook.
fn lcs(old: &[&str], new: &[&str]) -> usize {
    let mut row = vec![0; new.len() + 1];
    for a in old {
        let mut diagonal = 0;
        for (j, b) in new.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if a == b {
                diagonal + 1
            } else {
                above.max(row[j])
            };
            diagonal = above;
        }
    }
    row[new.len()]
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Applies edits to `old`, taking from `new` only what they say.
fn apply(edits: &[LineEdit], old: &str, new: &str) -> String {
    let (old, new) = (lines(old), lines(new));
    let mut text = String::new();
    let mut at = 0;
    for edit in edits {
        text += &old[at..edit.old.start].concat();
        text += &new[edit.new.clone()].concat();
        at = edit.old.end;
    }
    text + &old[at..].concat()
}

fn check_shape(edits: &[LineEdit], old: &str, new: &str) {
    let (old, new) = (lines(old), lines(new));
    let (mut i, mut j) = (0, 0);
    for (n, edit) in edits.iter().enumerate() {
        assert!(!edit.old.is_empty() || !edit.new.is_empty());
        assert_eq!(
            edit.old.start - i,
            edit.new.start - j,
            "runs between edits are equal"
        );
        assert!(n == 0 || edit.old.start > i, "a line lies between edits");
        assert_eq!(old[i..edit.old.start], new[j..edit.new.start]);
        if !edit.old.is_empty() && !edit.new.is_empty() {
            assert_ne!(old[edit.old.start], new[edit.new.start], "trimmed above");
            assert_ne!(
                old[edit.old.end - 1],
                new[edit.new.end - 1],
                "trimmed below"
            );
        }
        (i, j) = (edit.old.end, edit.new.end);
    }
    assert_eq!(old[i..], new[j..]);
}

/// Texts of few kinds of lines, so that much is alike.
fn text(kinds: &'static str, max: usize) -> impl Strategy<Value = String> {
    let line = prop::sample::select(kinds.chars().collect::<Vec<char>>());
    (prop::collection::vec(line, 0..max), any::<bool>()).prop_map(|(lines, ended)| {
        let mut text: String = lines
            .iter()
            .map(|line| format!("{line}\n").replace("_\n", "\n"))
            .collect();
        if !ended {
            text.pop();
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn applying_a_diff_gives_the_new_text(old in text("ab_{}", 30), new in text("ab_{}", 30)) {
        let edits = diff_lines(&old, &new);
        prop_assert_eq!(apply(&edits, &old, &new), new);
    }

    #[test]
    fn a_diff_is_minimal_and_well_formed(old in text("abc_", 40), new in text("abc_", 40)) {
        let edits = diff_lines(&old, &new);
        check_shape(&edits, &old, &new);
        let (old, new) = (lines(&old), lines(&new));
        let removed: usize = edits.iter().map(|edit| edit.old.len()).sum();
        // Joining what touches may take in lines that both have, never lose one.
        let ids: Vec<LineEdit> = {
            let mut known = Vec::new();
            let mut number = |line: &&str| {
                let at = known.iter().position(|seen| seen == line).unwrap_or_else(|| {
                    known.push(line.to_string());
                    known.len() - 1
                });
                at as u32
            };
            let old: Vec<u32> = old.iter().map(&mut number).collect();
            let new: Vec<u32> = new.iter().map(&mut number).collect();
            diff_ids(&old, &new)
        };
        let raw: usize = ids.iter().map(|edit| edit.old.len()).sum();
        prop_assert_eq!(old.len() - raw, lcs(&old, &new));
        prop_assert!(removed >= raw);
    }

    #[test]
    fn endings_do_not_matter(old in text("abc_", 20), new in text("abc_", 20)) {
        let windows = |text: &str| text.replace('\n', "\r\n");
        // A last line without LF has no ending to differ in.
        let plain = diff_lines(&old, &new);
        prop_assert_eq!(&diff_lines(&windows(&old), &new), &plain);
        prop_assert_eq!(&diff_lines(&old, &windows(&new)), &plain);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn large_texts_are_cut_at_what_is_unique(
        seed in prop::collection::vec((0..3000_usize, 0..4_u8), 0..60),
    ) {
        let old: Vec<String> = (0..3000).map(|i| match i % 3 {
            0 => format!("line {i}\n"),
            1 => "{\n".to_owned(),
            _ => "}\n".to_owned(),
        }).collect();
        let mut new = old.clone();
        for (at, kind) in seed {
            let at = at.min(new.len() - 1);
            match kind {
                0 => new[at] = format!("changed {at}\n"),
                1 => drop(new.remove(at)),
                2 => new.insert(at, "}\n".to_owned()),
                _ => new.swap(at, at / 2),
            }
        }
        let (old, new) = (old.concat(), new.concat());
        let edits = diff_lines(&old, &new);
        check_shape(&edits, &old, &new);
        prop_assert_eq!(apply(&edits, &old, &new), new);
    }
}

#[test]
fn work_is_bounded_for_texts_of_two_kinds_of_lines() {
    let mut state = 7_u64;
    let mut text = || -> String {
        (0..6000)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                ["a\n", "b\n"][(state >> 40) as usize % 2]
            })
            .collect()
    };
    let (old, new) = (text(), text());
    let edits = diff_lines(&old, &new);
    check_shape(&edits, &old, &new);
    assert_eq!(apply(&edits, &old, &new), new);
}
