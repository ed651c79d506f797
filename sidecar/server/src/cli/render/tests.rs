//! What a terminal is shown, at 80 columns and with colours.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use expect_test::expect;
use redline_protocol::v1::Conflict;

/// A pending hunk for tests of this module and others.
pub(crate) fn hunk(id: &str, start_line: u32) -> Hunk {
    Hunk {
        id: id.to_owned(),
        revision: 1,
        state: HunkState::Pending,
        index: 1,
        start_line,
        removed: vec!["let x = 1;".to_owned()],
        added: vec!["let y = 1;".to_owned(), "drop(y);".to_owned()],
        no_newline_at_end: false,
        rationale: None,
        matched: MatchRung::Exact,
        amended: false,
        unsaved: false,
        incomplete: false,
        conflict: None,
    }
}

pub(crate) fn file(path: &str, operation: OperationKind, hunks: Vec<Hunk>) -> FileChange {
    FileChange {
        path: path.to_owned(),
        uri: format!("file:///{path}"),
        operation,
        new_path: None,
        mode: None,
        state: HunkState::Pending,
        revision: 1,
        flags: Vec::new(),
        hunks,
    }
}

pub(crate) fn transaction(files: Vec<FileChange>) -> Transaction {
    Transaction {
        id: "tx_1".to_owned(),
        revision: 3,
        state: TransactionState::Pending,
        title: "Rename x".to_owned(),
        proposed_by: "codex".to_owned(),
        created_at: 0,
        turn_id: None,
        rationale: Some("x says nothing".to_owned()),
        files,
    }
}

/// A transaction of one hunk.
fn one(hunk: &Hunk) -> Transaction {
    transaction(vec![file("a", OperationKind::Edit, vec![hunk.clone()])])
}

fn plain() -> Renderer {
    Renderer {
        paint: Paint::new(false),
        width: 80,
    }
}

#[test]
fn a_transaction_reads_as_a_diff_with_its_reasons() {
    let mut one = hunk("h_1", 12);
    one.rationale = Some("y is what the rest calls it".to_owned());
    one.matched = MatchRung::Whitespace;
    let mut gone = file("old.rs", OperationKind::Delete, Vec::new());
    gone.flags = vec!["binary".to_owned()];
    let transaction = transaction(vec![file("src/a.rs", OperationKind::Edit, vec![one]), gone]);
    expect![[r#"
        Rename x
        pending · 2 files · 1 hunk · +2 −1 · by codex
        tx_1
        │ x says nothing

        src/a.rs · edit · 1 hunk · +2 −1
        @@ 12 @@ 1/1 +2 −1 · found ignoring white space h_1
        │ y is what the rest calls it
        -let x = 1;
        +let y = 1;
        +drop(y);

        old.rs · delete · binary
    "#]]
    .assert_eq(&plain().transaction(&transaction));
}

#[test]
fn what_is_decided_already_counts_apart() {
    let mut decided = hunk("h_1", 12);
    decided.state = HunkState::Accepted;
    let mut contested = hunk("h_3", 40);
    contested.state = HunkState::Conflict;
    let hunks = vec![decided, hunk("h_2", 20), contested];
    let part = transaction(vec![file("a", OperationKind::Edit, hunks)]);
    expect!["2 left"].assert_eq(plain().heading(&part).split(" · ").nth(4).unwrap());
    let first = plain().file(&part.files[0]);
    expect!["a · edit · 3 hunks · +6 −3 · 2 left\n"].assert_eq(&first);
}

#[test]
fn color_marks_the_words_that_differ() {
    let renderer = Renderer {
        paint: Paint::new(true),
        width: 80,
    };
    let lines = renderer.changed_lines(&hunk("h", 1), Extent::Preview);
    assert_eq!(
        lines[0].text,
        "\x1b[31m-let \x1b[0m\x1b[31;7mx\x1b[0m\x1b[31m = 1;\x1b[0m"
    );
    let added = &lines[1].text;
    assert!(added.contains("\x1b[32;7my\x1b[0m"), "{added:?}");
}

#[test]
fn a_conflict_shows_three_sides() {
    let mut hunk = hunk("h_1", 3);
    hunk.state = HunkState::Conflict;
    hunk.conflict = Some(Conflict {
        reason: "line 3 was changed".to_owned(),
        base: vec!["a".to_owned()],
        current: vec!["b".to_owned()],
        proposed: vec!["c".to_owned()],
    });
    expect![[r#"
        @@ 3 @@ 1/1 +2 −1 · conflict h_1
        ! conflict: line 3 was changed
          written against:
         a
          stands there now:
        -b
          proposed:
        +c
    "#]]
    .assert_eq(&plain().hunk(&one(&hunk), &hunk, None, Extent::Whole));
}

#[test]
fn a_long_hunk_is_cut_with_a_count_and_context_stands_around() {
    let mut long = hunk("h_1", 3);
    long.added = (0..60).map(|n| n.to_string()).collect();
    let context = Context {
        before: vec!["before".to_owned()],
        after: vec!["after".to_owned()],
    };
    let text = plain().hunk(&one(&long), &long, Some(&context), Extent::Preview);
    assert!(text.contains("\n before\n-let x = 1;\n+0\n"), "{text}");
    assert!(text.ends_with("… 23 more lines (p shows all)\n"), "{text}");
    let text = plain().hunk(&one(&long), &long, Some(&context), Extent::Whole);
    assert!(text.ends_with("+59\n after\n"), "{text}");
}

#[test]
fn text_of_a_project_commands_no_terminal() {
    let mut hunk = hunk("h", 1);
    hunk.added = vec!["\x1b]0;owned\x07".to_owned()];
    hunk.rationale = Some("\x1b[2J".to_owned());
    let mut file = file("a\x1b[1m", OperationKind::Edit, vec![hunk]);
    file.flags = vec!["\x1b".to_owned()];
    let mut transaction = transaction(vec![file]);
    transaction.title = "\x1b".to_owned();
    transaction.proposed_by = "\x1b".to_owned();
    assert!(!plain().transaction(&transaction).contains('\x1b'));
}

#[test]
fn a_preview_shows_a_few_rows_of_a_long_line_where_it_changes() {
    let mut long = hunk("h_1", 3);
    let text = |word: &str| format!("{}{word}{}", "same ".repeat(400), "tail ".repeat(400));
    (long.removed, long.added) = (vec![text("old")], vec![text("new")]);
    let shown = plain().hunk(&one(&long), &long, None, Extent::Preview);
    let lines: Vec<&str> = shown.lines().collect();
    for (line, word) in [(lines[1], "old"), (lines[2], "new")] {
        assert!(line.contains(word) && line.width() <= 3 * 80, "{line}");
        assert!(line[1..].starts_with('…') && line.ends_with('…'), "{line}");
    }
    assert_eq!(lines[3], "… long lines are cut (p shows all)");
    let whole = plain().hunk(&one(&long), &long, None, Extent::Whole);
    assert!(whole.contains(&text("new")) && !whole.contains('…'));
}

#[test]
fn a_narrow_terminal_goes_without_the_id() {
    let narrow = Renderer {
        width: 24,
        ..plain()
    };
    let line = narrow.hunk_line(&hunk("h_01HZXTESTTESTTEST", 3), 2);
    assert_eq!(line, "@@ 3 @@ 1/2 +2 −1\n");
}
