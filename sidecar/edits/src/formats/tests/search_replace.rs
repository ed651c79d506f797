//! Search/replace blocks by tables.

use expect_test::expect;

use super::{Format::SearchReplace, check};

#[test]
fn paths_stand_above_blocks_in_many_dresses() {
    let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    let mut input = String::new();
    for path in [
        "src/a.rs",
        "`src/b.rs`",
        "**src/c.rs**",
        "### src/d.rs",
        "src/e.rs:",
        "File: src/f g.rs",
        "In `src/h.rs`, do this:",
        "src/i.rs\n```rust",
        "```rust src/j.rs",
        "src/k.rs\n\n```",
    ] {
        input += &format!("{path}\n{block}```\n\nSome prose without a path\nor more\n\n");
    }
    check(
        SearchReplace,
        &input,
        expect![[r#"
        "src/a.rs" replace lines "a\n" by "b\n"
        "src/b.rs" replace lines "a\n" by "b\n"
        "src/c.rs" replace lines "a\n" by "b\n"
        "src/d.rs" replace lines "a\n" by "b\n"
        "src/e.rs" replace lines "a\n" by "b\n"
        "src/f g.rs" replace lines "a\n" by "b\n"
        "src/h.rs" replace lines "a\n" by "b\n"
        "src/i.rs" replace lines "a\n" by "b\n"
        "src/j.rs" replace lines "a\n" by "b\n"
        "src/k.rs" replace lines "a\n" by "b\n"
    "#]],
    );
}

#[test]
fn a_block_without_a_path_is_of_the_file_before() {
    let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    check(
        SearchReplace,
        &format!("a.txt\n{block}{block}"),
        expect![[r#"
            "a.txt" replace lines "a\n" by "b\n"
            "a.txt" replace lines "a\n" by "b\n"
        "#]],
    );
    check(
        SearchReplace,
        block,
        expect![[r#"
        MALFORMED_PROPOSAL: line 1: no line with a path stands above this block
    "#]],
    );
    check(
        SearchReplace,
        "<<<<<<< SEARCH src/a.rs\na\n=======\nb\n>>>>>>> REPLACE\n",
        expect![[r#"
            "src/a.rs" replace lines "a\n" by "b\n"
        "#]],
    );
}

#[test]
fn markers_may_be_of_another_make() {
    check(
        SearchReplace,
        "a.txt\n------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n",
        expect![[r#"
            "a.txt" replace lines "a\n" by "b\n"
        "#]],
    );
    check(
        SearchReplace,
        "a.txt\n<<<<<<<<< SEARCH\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n=========\nc\n>>>>>>>>> REPLACE\n",
        expect![[r#"
            "a.txt" replace lines "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n" by "c\n"
        "#]],
    );
    check(
        SearchReplace,
        "a.txt\n<<<<<<< SEARCH\na\n======\nb\n>>>>>> REPLACE\n",
        expect![[r#"
            "a.txt" replace lines "a\n" by "b\n"
        "#]],
    );
}

#[test]
fn conflict_markers_in_the_content_are_content() {
    check(
        SearchReplace,
        "a.txt\n<<<<<<< SEARCH\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> branch\n=======\nc\n>>>>>>> REPLACE\n",
        expect![[r#"
            "a.txt" replace lines "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> branch\n" by "c\n"
        "#]],
    );
    check(
        SearchReplace,
        "a.md\n<<<<<<< SEARCH\nTitle\n=======\n=======\nName\n>>>>>>> REPLACE\n",
        expect![[r#"
            "a.md" replace lines "Title\n" by "=======\nName\n" or "Title\n=======\n" by "Name\n"
        "#]],
    );
    check(
        SearchReplace,
        "a.md\n<<<<<<< SEARCH\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> REPLACE\n",
        expect![[r#"
            "a.md" replace lines "<<<<<<< HEAD\na\n" by "b\n"
        "#]],
    );
}

#[test]
fn blocks_that_do_not_end_are_refused() {
    for (input, expected) in [
        (
            "a.txt\n<<<<<<< SEARCH\na\n=======\nb\n",
            expect![[r#"
            INCOMPLETE: line 5: the block of line 2 has no >>>>>>> REPLACE
        "#]],
        ),
        (
            "a.txt\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 4: the block of line 2 has no ======= divider
        "#]],
        ),
        (
            "a.txt\n<<<<<<< SEARCH\na\n=======\nb\na.txt\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
            expect![[r#"
                MALFORMED_PROPOSAL: line 7: a block begins here, but the one of line 2 has not ended
            "#]],
        ),
        (
            "nothing here\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: there is no <<<<<<< SEARCH block
        "#]],
        ),
        (
            "a.txt\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n",
            expect![[r#"
                "a.txt" replace lines "" by ""
            "#]],
        ),
    ] {
        check(SearchReplace, input, expected);
    }
}
