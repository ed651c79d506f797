//! Hunks as diagnostics, for clients that do not draw them.
//!
//! Owns: where a hunk's diagnostic stands and what it says.
//! Must not know: the hub; a value in, a value out.
//!
//! Placement follows what editors really show: one line, from column 0, on the last removed line or
//! on the line before an insertion; severity Hint, so counts and pickers stay the language's own.

use redline_protocol::v1::{DocumentHunk, HunkState};
use tower_lsp::ls_types::{
    Diagnostic, DiagnosticSeverity, DiagnosticTag, NumberOrString, Position, Range,
};

/// The source that every diagnostic of ours names.
pub(crate) const SOURCE: &str = "redline";

/// Most lines of a hunk's text in one message.
const MAX_LINES: usize = 40;
/// Most characters of one such line.
const MAX_LINE_CHARS: usize = 400;

/// The diagnostic of one hunk, or `None` when it is settled.
///
/// `line_length` gives the length of a zero-based line in the client's encoding.
pub(crate) fn diagnostic(
    shown: &DocumentHunk,
    line_length: impl Fn(u32) -> u32,
) -> Option<Diagnostic> {
    let hunk = &shown.hunk;
    let (code, message) = match hunk.state {
        HunkState::Pending => ("hunk", pending_message(shown)),
        HunkState::Conflict => ("conflict", conflict_message(shown)),
        HunkState::Accepted | HunkState::Rejected | HunkState::Withdrawn => return None,
    };
    let line = anchor_line(shown);
    let only_removal =
        hunk.state == HunkState::Pending && hunk.added.is_empty() && hunk.removed.len() == 1;
    Some(Diagnostic {
        range: Range::new(
            Position::new(line, 0),
            Position::new(line, line_length(line).max(1)),
        ),
        severity: Some(DiagnosticSeverity::HINT),
        code: Some(NumberOrString::String(code.to_owned())),
        source: Some(SOURCE.to_owned()),
        message,
        // The tag dims the line, which reads well only for a line that simply goes.
        tags: only_removal.then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..Diagnostic::default()
    })
}

/// The line that a hunk is shown at: its last base line, or the line before an insertion.
pub(crate) fn anchor_line(shown: &DocumentHunk) -> u32 {
    let Range { start, end } = lsp_range(shown);
    if end.line > start.line || end.character > start.character {
        if end.character == 0 && end.line > start.line {
            end.line - 1
        } else {
            end.line
        }
    } else {
        start.line.saturating_sub(1)
    }
}

fn lsp_range(shown: &DocumentHunk) -> Range {
    let position = |at: redline_protocol::v1::Position| Position::new(at.line, at.character);
    Range::new(position(shown.range.start), position(shown.range.end))
}

/// `3/4 −28..29 +4 · why`.
pub(crate) fn summary(shown: &DocumentHunk) -> String {
    let hunk = &shown.hunk;
    let mut text = format!("{}/{}", hunk.index, shown.total);
    let first = hunk.start_line as usize;
    match hunk.removed.len() {
        0 => {}
        1 => text.push_str(&format!(" −{first}")),
        n => text.push_str(&format!(" −{first}..{}", first + n - 1)),
    }
    if !hunk.added.is_empty() {
        text.push_str(&format!(" +{}", hunk.added.len()));
    }
    if hunk.amended {
        text.push_str(" amended");
    }
    if hunk.incomplete {
        text.push_str(" still arriving");
    }
    if let Some(rationale) = one_line(hunk.rationale.as_deref()) {
        text.push_str(" · ");
        text.push_str(&rationale);
    }
    text
}

fn pending_message(shown: &DocumentHunk) -> String {
    let mut text = format!("redline {}", summary(shown));
    push_lines(&mut text, "+ ", &shown.hunk.added);
    text
}

fn conflict_message(shown: &DocumentHunk) -> String {
    let hunk = &shown.hunk;
    let reason = hunk
        .conflict
        .as_ref()
        .map_or("its base lines changed", |conflict| {
            conflict.reason.as_str()
        });
    let mut text = format!("Conflict {}/{} · {reason}", hunk.index, shown.total);
    push_lines(&mut text, "+ ", &hunk.added);
    text
}

fn push_lines(text: &mut String, sign: &str, lines: &[String]) {
    for line in lines.iter().take(MAX_LINES) {
        text.push('\n');
        text.push_str(sign);
        text.extend(line.chars().take(MAX_LINE_CHARS));
        if line.chars().nth(MAX_LINE_CHARS).is_some() {
            text.push('…');
        }
    }
    if lines.len() > MAX_LINES {
        text.push_str(&format!("\n… {} more", lines.len() - MAX_LINES));
    }
}

/// The first line of a rationale that says anything.
pub(crate) fn one_line(text: Option<&str>) -> Option<String> {
    text?
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(|line| line.chars().filter(|c| !c.is_control()).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use expect_test::{Expect, expect};
    use redline_protocol::v1::{Conflict, Hunk, MatchRung, Position, Range};

    use super::*;

    /// A pending hunk over zero-based lines `first..last` of a document.
    pub(crate) fn shown(first: u32, last: u32, removed: &[&str], added: &[&str]) -> DocumentHunk {
        let own = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
        let at = |line| Position { line, character: 0 };
        DocumentHunk {
            transaction_id: "tx_1".to_owned(),
            total: 4,
            range: Range {
                start: at(first),
                end: at(last),
            },
            hunk: Hunk {
                id: "h_3".to_owned(),
                revision: 2,
                state: HunkState::Pending,
                index: 3,
                start_line: first + 1,
                removed: own(removed),
                added: own(added),
                no_newline_at_end: false,
                rationale: Some("use one reader\nfor all".to_owned()),
                matched: MatchRung::Exact,
                amended: false,
                unsaved: false,
                incomplete: false,
                conflict: None,
            },
        }
    }

    fn check(shown: &DocumentHunk, expected: &Expect) {
        let found = diagnostic(shown, |_| 12).unwrap();
        let Range { start, end } = Range {
            start: Position {
                line: found.range.start.line,
                character: found.range.start.character,
            },
            end: Position {
                line: found.range.end.line,
                character: found.range.end.character,
            },
        };
        expected.assert_eq(&format!(
            "{}:{}-{}:{} {:?}\n{}\n",
            start.line, start.character, end.line, end.character, found.tags, found.message
        ));
    }

    #[test]
    fn a_replacement_stands_on_its_last_removed_line() {
        check(
            &shown(27, 29, &["a", "b"], &["x", "y", "z"]),
            &expect![[r#"
                28:0-28:12 None
                redline 3/4 −28..29 +3 · use one reader
                + x
                + y
                + z
            "#]],
        );
    }

    #[test]
    fn an_insertion_stands_on_the_line_before() {
        check(
            &shown(5, 5, &[], &["new"]),
            &expect![[r#"
                4:0-4:12 None
                redline 3/4 +1 · use one reader
                + new
            "#]],
        );
        check(
            &shown(0, 0, &[], &["first"]),
            &expect![[r#"
                0:0-0:12 None
                redline 3/4 +1 · use one reader
                + first
            "#]],
        );
    }

    #[test]
    fn a_line_that_only_goes_is_dimmed() {
        check(
            &shown(5, 6, &["gone"], &[]),
            &expect![[r#"
                5:0-5:12 Some([Unnecessary])
                redline 3/4 −6 · use one reader
            "#]],
        );
    }

    #[test]
    fn a_conflict_says_what_changed() {
        let mut conflict = shown(7, 8, &["old"], &["new"]);
        conflict.hunk.state = HunkState::Conflict;
        conflict.hunk.conflict = Some(Conflict {
            reason: "line 8 changed".to_owned(),
            base: vec![],
            current: vec![],
            proposed: vec![],
        });
        check(
            &conflict,
            &expect![[r#"
                7:0-7:12 None
                Conflict 3/4 · line 8 changed
                + new
            "#]],
        );
    }

    #[test]
    fn long_hunks_are_cut() {
        let lines = vec!["x"; 100];
        let found = diagnostic(&shown(0, 0, &[], &lines), |_| 0).unwrap();
        assert!(found.message.ends_with("\n… 60 more"));
    }

    #[test]
    fn settled_hunks_are_not_shown() {
        let mut settled = shown(0, 1, &["a"], &["b"]);
        settled.hunk.state = HunkState::Accepted;
        assert_eq!(diagnostic(&settled, |_| 0), None);
    }
}
