//! The edit formats, each by tables; and any bytes to all of them.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod apply_patch;
mod json;
mod search_replace;
mod total;
mod unified_diff;

use std::fmt::Write;

use expect_test::{Expect, expect};

use super::*;
use crate::proposal::{Change, ChangeKind, LineHunk, PatchLine};

fn check(format: Format, input: &str, expected: Expect) {
    check_with(&ParseOptions::default(), format, input, expected);
}

fn check_with(options: &ParseOptions, format: Format, input: &str, expected: Expect) {
    let seen = match parse(format, input, options) {
        Ok(proposal) => render(&proposal),
        Err(err) => {
            assert!(!err.hint.is_empty());
            format!("{}: {err}\n", err.code)
        }
    };
    expected.assert_eq(&seen);
}

/// A proposal as a few plain lines.
fn render(proposal: &Proposal) -> String {
    let mut out = String::new();
    if let Some(rationale) = &proposal.rationale {
        writeln!(out, "because {rationale:?}").unwrap();
    }
    if proposal.incomplete {
        out.push_str("incomplete\n");
    }
    for change in &proposal.changes {
        render_change(change, &mut out);
    }
    out
}

fn render_change(change: &Change, out: &mut String) {
    write!(out, "{:?} ", change.path).unwrap();
    match &change.kind {
        ChangeKind::Replace {
            search,
            replace,
            replace_all,
            whole_lines,
            other_readings,
        } => {
            let all = if *replace_all { " all" } else { "" };
            let lines = if *whole_lines { " lines" } else { "" };
            write!(out, "replace{all}{lines} {search:?} by {replace:?}").unwrap();
            for (search, replace) in other_readings {
                write!(out, " or {search:?} by {replace:?}").unwrap();
            }
        }
        ChangeKind::Patch { hunks, deletes } => {
            write!(out, "patch{}", if *deletes { " to nothing" } else { "" }).unwrap();
            hunks.iter().for_each(|hunk| render_hunk(hunk, out));
        }
        ChangeKind::Write {
            text,
            base_text,
            complete,
        } => {
            write!(out, "write {text:?}").unwrap();
            if let Some(base) = base_text {
                write!(out, " against {base:?}").unwrap();
            }
            if !complete {
                out.push_str(" incomplete");
            }
        }
        ChangeKind::TextEdits {
            encoding,
            version,
            edits,
        } => {
            write!(out, "{encoding} edits of version {version:?}").unwrap();
            for edit in edits {
                write!(out, " {}-{} {:?}", edit.start, edit.end, edit.new_text).unwrap();
            }
        }
        other => write!(out, "{other:?}").unwrap(),
    }
    if let Some(mode) = change.mode {
        write!(out, ", mode {mode:o}").unwrap();
    }
    for flag in &change.flags {
        write!(out, ", {flag}").unwrap();
    }
    if let Some(rationale) = &change.rationale {
        write!(out, " because {rationale:?}").unwrap();
    }
    out.push('\n');
}

fn render_hunk(hunk: &LineHunk, out: &mut String) {
    write!(out, "\n  line {}", hunk.line).unwrap();
    if let Some(start) = hunk.old_start {
        write!(out, " at {start}").unwrap();
    }
    for anchor in &hunk.anchors {
        write!(out, " after {anchor:?}").unwrap();
    }
    for (flag, name) in [
        (hunk.at_end, " at end"),
        (hunk.old_lacks_newline, " old lacks newline"),
        (hunk.new_lacks_newline, " new lacks newline"),
    ] {
        out.push_str(if flag { name } else { "" });
    }
    if hunk.loose_tail > 0 {
        write!(out, " loose {}", hunk.loose_tail).unwrap();
    }
    for line in &hunk.lines {
        let (sign, line) = match line {
            PatchLine::Context(line) => (' ', line),
            PatchLine::Removed(line) => ('-', line),
            PatchLine::Added(line) => ('+', line),
        };
        write!(out, " {:?}", format!("{sign}{line}")).unwrap();
    }
}

#[test]
fn the_first_sure_line_tells_the_format() {
    let mut seen = String::new();
    for input in [
        "",
        "hello",
        "*** Begin Patch\n",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF\n",
        "a.txt\n<<<<<<< SEARCH\n",
        "a.txt\n<<<<<<< HEAD\n",
        "a.txt\n------- SEARCH\n",
        "diff --git a/x b/x\n",
        "--- a/x\n+++ b/x\n",
        "--- a\n",
        "From 123 Mon Sep 17\nSubject: x\n---\n x | 2 +-\n\ndiff --git a/x b/x\n",
        "{\"edits\": []}",
        "\u{FEFF} [{\"path\": \"x\"}]",
        "```json\n{\"path\": 1}\n```\n",
        "```diff\n--- x\n+++ x\n```\n",
        "{ x }",
        "[x] done",
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+<<<<<<< SEARCH\n",
        "@@ -1 +1 @@\n-a\n+b\n",
    ] {
        let format = detect(input).map_or("none", Format::as_str);
        writeln!(seen, "{input:?} {format}").unwrap();
    }
    expect![[r#"
        "" none
        "hello" none
        "*** Begin Patch\n" apply-patch
        "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF\n" apply-patch
        "a.txt\n<<<<<<< SEARCH\n" search-replace
        "a.txt\n<<<<<<< HEAD\n" none
        "a.txt\n------- SEARCH\n" search-replace
        "diff --git a/x b/x\n" unified-diff
        "--- a/x\n+++ b/x\n" unified-diff
        "--- a\n" none
        "From 123 Mon Sep 17\nSubject: x\n---\n x | 2 +-\n\ndiff --git a/x b/x\n" unified-diff
        "{\"edits\": []}" json
        "\u{feff} [{\"path\": \"x\"}]" json
        "```json\n{\"path\": 1}\n```\n" json
        "```diff\n--- x\n+++ x\n```\n" unified-diff
        "{ x }" none
        "[x] done" none
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+<<<<<<< SEARCH\n" unified-diff
        "@@ -1 +1 @@\n-a\n+b\n" unified-diff
    "#]]
    .assert_eq(&seen);
}

#[test]
fn bytes_that_are_no_text_are_refused_by_line() {
    let fail = |bytes: &[u8]| {
        let err = parse_bytes(None, bytes, &ParseOptions::default()).unwrap_err();
        format!("{}: {err}; {}", err.code, err.hint)
    };
    expect!["ENCODING: line 3: the proposal is not UTF-8 (byte 0xFF at offset 4); send the proposal as UTF-8 text"].assert_eq(&fail(b"a\nb\n\xFFc"));
    expect!["NOT_TEXT: line 1: the proposal is binary content (a NUL byte at offset 1); send the proposal as UTF-8 text"].assert_eq(&fail(b"a\0"));
    expect!["MALFORMED_PROPOSAL: line 3: this is none of the edit formats; send a unified diff, a *** Begin Patch, <<<<<<< SEARCH blocks or JSON edits"].assert_eq(&fail(b"\n\nhello"));
    expect!["MALFORMED_PROPOSAL: line 1: this is none of the edit formats; the input is empty: pipe a proposal in or name a file"].assert_eq(&fail(b""));
}

#[test]
fn names_of_formats_are_read_with_either_dash() {
    assert_eq!("apply_patch".parse(), Ok(Format::ApplyPatch));
    assert_eq!("json".parse(), Ok(Format::Json));
    assert!(
        "yaml"
            .parse::<Format>()
            .unwrap_err()
            .contains("unified-diff")
    );
}
