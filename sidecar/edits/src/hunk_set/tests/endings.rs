//! Line endings, and the end of the text.

use expect_test::expect;

use super::*;

#[test]
fn windows_endings_change_nothing_and_are_kept() {
    let mut desk = Desk::new("a\r\nb\r\nc\r\n");
    desk.propose("a\nB\nB2\nc\n");
    desk.check(expect![[r#"
        h1@1 1..2 pending "b\n" -> "B\nB2\n"
    "#]]);
    let changes = desk
        .set
        .edits_for(&desk.text, &[HunkId::new("h1")])
        .unwrap();
    assert_eq!(
        changes,
        [TextChange {
            range: 3..6,
            text: "B\r\nB2\r\n".to_owned()
        }]
    );
    assert!(
        desk.change(0..desk.text.len_bytes(), "a\nb\nc\n")
            .is_empty()
    );
    desk.check(expect![[r#"
        h1@1 1..2 pending "b\n" -> "B\nB2\n"
    "#]]);
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "a\nB\nB2\nc\n");
}

#[test]
fn mixed_endings_and_a_lone_return_are_kept() {
    let mut desk = Desk::new("load 10\rload 20\r\nbeta\ngamma\r\ndelta\n");
    desk.propose("load 10\rload 20\r\nbeta\nGAMMA\ndelta\n");
    desk.accept("h1");
    assert_eq!(
        desk.text.to_string(),
        "load 10\rload 20\r\nbeta\nGAMMA\r\ndelta\n"
    );
}

#[test]
fn the_end_of_a_file_without_newline() {
    let mut desk = Desk::new("a\nb");
    desk.propose("a\nb\nc");
    desk.check(expect![[r#"
        h1@1 1..1 pending "b" -> "b\nc"
    "#]]);
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "a\nb\nc");

    let mut desk = Desk::new("a\n");
    desk.propose("a\nb");
    desk.check(expect![[r#"
        h1@1 1..1 pending "" -> "b"
    "#]]);
    // Lines typed behind need an end of the line before them.
    desk.propose("a\nb\nc\n");
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "a\nb\nc\n");
}

#[test]
fn taking_the_last_newline_away_needs_the_last_line() {
    let mut desk = Desk::new("a\nb\n");
    desk.propose("a\nb");
    desk.edit("b\n", "b\nc\n");
    desk.check(expect![[r#"
        h1@1 1..3 conflict "b\n" -> "b" (line 3 was inserted)
    "#]]);
}

#[test]
fn a_line_that_loses_its_newline_holds_up_what_follows() {
    let mut desk = Desk::new("a\nb\n");
    desk.propose("a\nb\nc\n");
    desk.edit("b\n", "b");
    desk.check(expect![[r#"
        h1@1 1..1 conflict "" -> "c\n" (line 2 changed)
    "#]]);
    desk.edit("b", "b\n");
    desk.check(expect![[r#"
        h1@1 2..2 pending "" -> "c\n"
    "#]]);
}

#[test]
fn empty_files_and_whole_files() {
    let mut desk = Desk::new("");
    desk.propose("new\nfile\n");
    desk.check(expect![[r#"
        h1@1 0..0 pending "" -> "new\nfile\n"
    "#]]);
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "new\nfile\n");
    desk.propose("");
    desk.check(expect![[r#"
        h1@1 0..2 accepted "" -> "new\nfile\n"
        h2@1 0..2 pending "new\nfile\n" -> ""
    "#]]);
    desk.accept("h2");
    assert_eq!(desk.text.to_string(), "");

    let mut desk = Desk::new("one line");
    desk.propose("another line");
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "another line");
}
