//! Search and replace: places, and what is refused.

use expect_test::expect;

use super::{Tree, check};

#[test]
fn a_search_with_two_matches_names_both() {
    check(
        &Tree::of_text(
            "services.yaml",
            "staging:\n  replicas: 1\n  tls: off\nlive:\n  replicas: 1\n  tls: off\n",
        ),
        r#"{"edits": [{"path": "services.yaml", "search": "  tls: off\n", "replace": "  tls: on\n"}]}"#,
        expect![[r#"
            AMBIGUOUS_MATCH: services.yaml: the search has 2 matches, lines 3 and 6
        "#]],
    );
}

#[test]
fn replace_all_takes_every_match() {
    check(
        &Tree::of_text("a.txt", "x = 1\ny = 2\nx = 1\n"),
        r#"{"path": "a.txt", "old_string": "x = 1", "new_string": "x = 3", "replace_all": true}"#,
        expect![[r#"
            a.txt: edit
              -"x = 1\n"
              +"x = 3\n"
              -"x = 1\n"
              +"x = 3\n"
        "#]],
    );
}

#[test]
fn replacement_text_is_literal() {
    check(
        &Tree::of_text("start.sh", "#!/bin/sh\nPIDFILE=old\nexec app\n"),
        r#"{"edits": [{"path": "start.sh", "search": "PIDFILE=old", "replace": "PIDFILE=$$ $& $1 $` $' \\1"}]}"#,
        expect![[r#"
            start.sh: edit
              -"PIDFILE=old\n"
              +"PIDFILE=$$ $& $1 $` $' \\1\n"
        "#]],
    );
}

#[test]
fn a_uniform_shift_is_followed() {
    check(
        &Tree::of_text(
            "cart.py",
            "class Cart:\n    def total(self):\n        amount = 0\n        for row in self.rows:\n            amount += row.price\n        return amount\n",
        ),
        "cart.py\n<<<<<<< SEARCH\namount = 0\nfor row in self.rows:\n    amount += row.price\n=======\namount = Decimal(0)\n\nfor row in self.rows:\n    amount += row.price * row.qty\n>>>>>>> REPLACE\n",
        expect![[r#"
            cart.py: edit, indentation, inexact:indentation
              -"        amount = 0\n"
              +"        amount = Decimal(0)\n"
              +"\n"
              -"            amount += row.price\n"
              +"            amount += row.price * row.qty\n"
        "#]],
    );
}

#[test]
fn a_block_that_differs_inside_is_refused() {
    check(
        &Tree::of_text(
            "limits.toml",
            "[limits]\nconnect = 5\nread = 30\nwrite = 10\nidle = 60\n[end]\n",
        ),
        "limits.toml\n<<<<<<< SEARCH\n[limits]\nconnect = 5\nread = 99\nwrite = 10\nidle = 60\n[end]\n=======\n[limits]\nconnect = 8\nread = 99\nwrite = 10\nidle = 60\n[end]\n>>>>>>> REPLACE\n",
        expect![[r#"
            NO_MATCH: limits.toml: the search matches no place: the nearest block starts at line 1, and line 3 differs (it is "read = 30", the search has "read = 99")
        "#]],
    );
}

#[test]
fn a_file_keeps_its_own_quotes() {
    check(
        &Tree::of_text(
            "letter.md",
            "The sign read, “Closed on Mondays.” Nobody minded.\n",
        ),
        r#"{"edits": [{"path": "letter.md", "search": "The sign read, \"Closed on Mondays.\"", "replace": "The sign read, \"Closed on Tuesdays.\""}]}"#,
        expect![[r#"
            letter.md: edit, lookalike, inexact:quotes
              -"The sign read, “Closed on Mondays.” Nobody minded.\n"
              +"The sign read, “Closed on Tuesdays.” Nobody minded.\n"
        "#]],
    );
    check(
        &Tree::of_text("a.md", "one\u{a0}two – “three”\nnext\n"),
        "a.md\n<<<<<<< SEARCH\none two - \"three\"\n=======\none two - \"four\"\nmore\n>>>>>>> REPLACE\n",
        expect![[r#"
            a.md: edit, lookalike, inexact:spaces, inexact:dashes, inexact:quotes
              -"one\u{a0}two – “three”\n"
              +"one\u{a0}two – “four”\n"
              +"more\n"
        "#]],
    );
    check(
        &Tree::of_text("a.md", "cafe\u{301} “x”\ncafe\u{301} ”x“\n"),
        r#"{"path": "a.md", "search": "café \"x\"", "replace": "café \"y\""}"#,
        expect![[r#"
            AMBIGUOUS_MATCH: a.md: the search has 2 candidate places, lines 1 and 2 (not exactly, and only one may be meant)
        "#]],
    );
}

#[test]
fn a_look_alike_that_cannot_be_matched_is_named() {
    check(
        &Tree::of_text("a.md", "say “hello” there\n"),
        r#"{"path": "a.md", "search": "say \"hello\" here", "replace": "x"}"#,
        expect![[r#"
            NO_MATCH: a.md: the search matches no place: the nearest block starts at line 1, and line 1 differs (it is "say “hello” there", the search has "say \"hello\" here"; U+201C where the search has U+0022)
        "#]],
    );
}

#[test]
fn only_the_word_changes_in_a_file_with_mixed_endings() {
    check(
        &Tree::of_text("log.txt", "load 10\rload 20\r\nbeta\ngamma\r\ndelta\n"),
        r#"{"edits": [{"path": "log.txt", "search": "gamma", "replace": "GAMMA"}]}"#,
        expect![[r#"
            log.txt: edit, mixed_eol
              -"gamma\r\n"
              +"GAMMA\r\n"
        "#]],
    );
}

#[test]
fn a_search_over_lines_finds_crlf_ones() {
    check(
        &Tree::of_text("a.txt", "a\r\nb\r\nc\r\n"),
        r#"{"path": "a.txt", "search": "a\nb", "replace": "a\nx\nb"}"#,
        expect![[r#"
            a.txt: edit
              +"x\r\n"
        "#]],
    );
    check(
        &Tree::of_text("a.txt", "a\r\nb\r\nc\r\n"),
        "a.txt\n<<<<<<< SEARCH\nb\n=======\nx\ny\n>>>>>>> REPLACE\n",
        expect![[r#"
            a.txt: edit
              -"b\r\n"
              +"x\r\n"
              +"y\r\n"
        "#]],
    );
}

#[test]
fn a_file_without_a_last_newline_stays_so() {
    check(
        &Tree::of_text("a.txt", "a\nb"),
        "a.txt\n<<<<<<< SEARCH\nb\n=======\nc\nd\n>>>>>>> REPLACE\n",
        expect![[r#"
            a.txt: edit
              -"b"
              +"c\n"
              +"d"
        "#]],
    );
}

#[test]
fn trailing_white_space_is_forgiven_once() {
    check(
        &Tree::of_text("a.txt", "a  \nb\t\nc\n"),
        "a.txt\n<<<<<<< SEARCH\na\nb\n=======\na\nB\n>>>>>>> REPLACE\n",
        expect![[r#"
            a.txt: edit, whitespace, inexact:whitespace
              -"b\t\n"
              +"B\n"
        "#]],
    );
    check(
        &Tree::of_text("a.txt", "a \nb\na\t\nb\n"),
        "a.txt\n<<<<<<< SEARCH\na\nb\n=======\na\nB\n>>>>>>> REPLACE\n",
        expect![[r#"
            AMBIGUOUS_MATCH: a.txt: the search has 2 candidate places, lines 1 and 3 (not exactly, and only one may be meant)
        "#]],
    );
}

#[test]
fn edits_see_what_earlier_ones_made() {
    check(
        &Tree::of_text("a.txt", "one\n"),
        r#"{"path": "a.txt", "edits": [{"old_text": "one", "new_text": "two", "reason": "first"}, {"old_text": "two", "new_text": "three\nfour"}]}"#,
        expect![[r#"
            a.txt: edit
              because "first"
              -"one\n"
              +"three\n"
              +"four\n"
        "#]],
    );
}

#[test]
fn an_empty_search_makes_a_file_and_never_touches_one_with_text() {
    let proposal = "a.txt\n<<<<<<< SEARCH\n=======\nhello\n>>>>>>> REPLACE\n";
    check(
        &Tree::default(),
        proposal,
        expect![[r#"
        a.txt: create
          +"hello\n"
    "#]],
    );
    check(
        &Tree::of_text("a.txt", ""),
        proposal,
        expect![[r#"
        a.txt: edit
          +"hello\n"
    "#]],
    );
    check(
        &Tree::of_text("a.txt", "x\n"),
        proposal,
        expect![[r#"
        MALFORMED_PROPOSAL: a.txt: the search is empty, and the file has text already
    "#]],
    );
}

#[test]
fn an_edit_that_changes_nothing_says_so() {
    check(
        &Tree::of_text("a.txt", "x\n"),
        r#"{"path": "a.txt", "search": "x", "replace": "x"}"#,
        expect![[r#"
            ! no_change
        "#]],
    );
}

#[test]
fn an_edit_that_is_there_already_says_so() {
    check(
        &Tree::of_text("a.txt", "timeout = 30\n"),
        r#"{"path": "a.txt", "search": "timeout = 10", "replace": "timeout = 30"}"#,
        expect![[r#"
            ALREADY_APPLIED: a.txt: the search is applied already: line 1 reads as it should afterwards
        "#]],
    );
}

#[test]
fn a_divider_in_the_content_is_settled_by_the_file() {
    check(
        &Tree::of_text("a.md", "Title\n=======\ntext\n"),
        "a.md\n<<<<<<< SEARCH\nTitle\n=======\ntext\n=======\nTitle\n=======\nother\n>>>>>>> REPLACE\n",
        expect![[r#"
            a.md: edit
              -"text\n"
              +"other\n"
        "#]],
    );
}

#[test]
fn a_stand_in_for_real_lines_is_refused() {
    check(
        &Tree::of_text(
            "a.rs",
            "fn a() {\n    one();\n    two();\n    three();\n}\n",
        ),
        "a.rs\n<<<<<<< SEARCH\nfn a() {\n    one();\n    two();\n    three();\n}\n=======\nfn a() {\n    zero();\n    // ... existing code ...\n}\n>>>>>>> REPLACE\n",
        expect![[r#"
            PLACEHOLDER: a.rs: line 2 of the replacement (// ... existing code ...) stands in for real lines: 3 base lines would be removed
        "#]],
    );
}

#[test]
fn odd_quotations_get_a_hint_of_their_own() {
    use crate::{Change, Proposal, resolve};
    let hint = |search: &str| {
        let proposal = Proposal::new(vec![Change::replace("a.txt", search, "x")]);
        let tree = Tree::of_text("a.txt", "fn a() {\n    b();\n}\n");
        resolve(&proposal, &tree).unwrap_err().hint().to_owned()
    };
    expect!["the searched text stands in for lines with “...”: quote them in full"]
        .assert_eq(&hint("fn a() {\n    ...\n}"));
    expect!["the searched lines begin with line numbers: quote them without"]
        .assert_eq(&hint("1\tfn a() {\n2\t    b();\n"));
    expect!["read the file again and quote it exactly"].assert_eq(&hint("fn b() {"));
}
