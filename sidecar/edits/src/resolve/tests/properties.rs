//! Resolution by properties.

use proptest::prelude::*;
use similar::TextDiff;

use super::{Tree, play};
use crate::positions::{Encoding, LineCol};
use crate::{
    matching::{Pattern, TextIndex},
    proposal::{Change, ChangeKind, LineHunk, PatchLine, Proposal, TextEdit},
    resolve::{OperationKind, Resolved, resolve},
    rung::MatchRung,
    text::normalize_line_endings,
};

/// Lines that are often alike, so that places are often ambiguous.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => Just("a"), 4 => Just("b"), 2 => Just("  a"), 2 => Just(""), 1 => Just("a "),
        1 => Just("“q”"), 1 => Just("\"q\""), 1 => Just("-- x"), 1 => Just("++ y"), 1 => Just("c\rd"),
    ];
    let ending = prop_oneof![6 => Just("\n"), 1 => Just("\r\n")];
    let lines = prop::collection::vec((line, ending), 0..14);
    (lines, any::<bool>()).prop_map(|(lines, last)| {
        let mut text: String = lines.iter().flat_map(|(line, end)| [*line, *end]).collect();
        if !last {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    })
}

/// What `similar` and no code of ours makes of two texts with LF endings.
fn unified(old: &str, new: &str, context: usize) -> String {
    let lines = |text| -> Vec<&str> { str::split_inclusive(text, '\n').collect() };
    TextDiff::configure()
        .newline_terminated(true)
        .diff_slices(&lines(old), &lines(new))
        .unified_diff()
        .context_radius(context)
        .header("a/x", "b/x")
        .to_string()
}

fn after(resolved: &Resolved) -> &str {
    resolved.operations[0].after.as_deref().unwrap_or_default()
}

proptest! {
    #[test]
    fn the_diff_of_two_texts_gives_the_second(old in text(), new in text(), context in 0..4_usize) {
        // Line endings are the file's own, so the diff is one of contents.
        let (old_lf, new_lf) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
        prop_assume!(old_lf != new_lf);
        let diff = unified(&old_lf, &new_lf, context);
        let resolved = play(&Tree::of_text("x", &old), &diff);
        let resolved = match resolved {
            Ok(resolved) => resolved,
            Err(err) => return Err(TestCaseError::fail(format!("{err:?} for\n{diff}"))),
        };
        prop_assert_eq!(&*normalize_line_endings(after(&resolved)), new_lf);
        prop_assert_eq!(resolved.operations[0].rung, MatchRung::Exact);
        // Lines that stay keep their endings.
        prop_assert_eq!(resolved.operations[0].before.as_deref(), Some(old.as_str()));
    }

    #[test]
    fn without_line_numbers_it_gives_the_second_or_says_that_it_is_ambiguous(
        old in text(), new in text(), context in 1..4_usize
    ) {
        let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
        // This format has no word for a last newline.
        prop_assume!(old.trim_end_matches('\n') != new.trim_end_matches('\n'));
        let mut patch = String::from("*** Begin Patch\n*** Update File: x\n");
        for line in unified(&old, &new, context).lines().skip(2).filter(|line| !line.starts_with('\\')) {
            patch += if line.starts_with("@@") { "@@" } else { line };
            patch += "\n";
        }
        patch += "*** End Patch\n";
        match play(&Tree::of_text("x", &old), &patch) {
            Ok(resolved) => prop_assert_eq!(
                after(&resolved).trim_end_matches('\n'), new.trim_end_matches('\n'), "{}", patch
            ),
            // A lone CR at the end of a line is no part of a line.
            Err((code, message)) => prop_assert!(
                code == "AMBIGUOUS_MATCH" || code == "NO_MATCH" && patch.contains('\r')
                    || code == "ALREADY_APPLIED",
                "{code}: {message} for\n{patch}"
            ),
        }
    }

    #[test]
    fn the_index_finds_what_a_plain_search_finds(text in text(), wanted in text()) {
        let index = TextIndex::new(&text);
        let lines = |text: &str| -> Vec<String> {
            text.split_inclusive('\n').map(|line| line.trim_end_matches('\n').trim_end_matches('\r').to_owned()).collect()
        };
        let (have, want) = (lines(&text), lines(&wanted));
        prop_assume!(!want.is_empty());
        let pattern = Pattern { lines: want.iter().map(String::as_str).collect() };
        let plain: Vec<usize> = (0..have.len().saturating_sub(want.len() - 1))
            .filter(|start| have[*start..].starts_with(&want))
            .collect();
        prop_assert_eq!(index.find_exact(&pattern), plain.clone());
        for line in 0..have.len() {
            prop_assert_eq!(index.is_at(&pattern, line), plain.contains(&line));
        }
    }

    #[test]
    fn an_exact_search_is_plain_replacement(
        head in text(), search in "[ab\n]{1,6}", tail in text(), replace in "[xy\n]{0,6}"
    ) {
        let text = format!("{head}{search}{tail}").replace("\r\n", "\n");
        let proposal = Proposal::new(vec![Change::replace("x", search.clone(), replace.clone())]);
        let starts = (0..text.len()).filter(|at| text.as_bytes()[*at..].starts_with(search.as_bytes()));
        match (resolve(&proposal, &Tree::of_text("x", &text)), starts.count()) {
            (Ok(_), 1) if search == replace => {}
            (Ok(resolved), 1) => prop_assert_eq!(after(&resolved), text.replacen(&search, &replace, 1)),
            (Err(err), n) => {
                prop_assert!(n > 1, "{err}");
                prop_assert_eq!(err.code(), "AMBIGUOUS_MATCH");
            }
            (Ok(_), n) => prop_assert!(false, "{n} places and no error"),
        }
    }

    #[test]
    fn spans_are_where_the_new_lines_are(
        text in text(), edits in prop::collection::vec((0..16_u32, 0..16_u32, "[xy\n]{0,5}"), 1..5)
    ) {
        let mut proposal = Proposal::default();
        for (idx, (start, end, new_text)) in edits.iter().enumerate() {
            let (start, end) = (LineCol::new(*start.min(end), 0), LineCol::new(*start.max(end), 0));
            let edit = TextEdit { start, end, new_text: new_text.clone() };
            let kind = ChangeKind::TextEdits { encoding: Encoding::Utf8, version: None, edits: vec![edit] };
            let mut change = Change::new("x", kind);
            change.rationale = Some(idx.to_string());
            proposal.changes.push(change);
        }
        let Ok(resolved) = resolve(&proposal, &Tree::of_text("x", &text)) else { return Ok(()) };
        for operation in &resolved.operations {
            let n_lines = operation.after.as_deref().unwrap_or_default().split_inclusive('\n').count();
            let mut last = 0;
            for span in &operation.spans {
                prop_assert!(span.lines.start >= last && span.lines.start <= span.lines.end);
                prop_assert!(span.lines.end <= n_lines, "{:?} of {n_lines}", span);
                last = span.lines.start;
            }
        }
    }

    #[test]
    fn any_hunks_on_any_text_give_a_text_or_an_error(
        text in text(),
        hunks in prop::collection::vec(
            (prop::collection::vec((0..3_u8, text_line()), 0..5), prop::option::of(0..12_usize),
             prop::option::of(text_line()), any::<[bool; 3]>(), 0..3_usize), 0..4)
    ) {
        let hunks = hunks.into_iter().map(|(lines, old_start, anchor, flags, loose)| {
            let mut hunk = LineHunk {
                old_start,
                anchors: anchor.into_iter().collect(),
                lines: lines.into_iter().map(|(kind, line)| match kind {
                    0 => PatchLine::Context(line),
                    1 => PatchLine::Removed(line),
                    _ => PatchLine::Added(line),
                }).collect(),
                at_end: flags[0],
                old_lacks_newline: flags[1],
                new_lacks_newline: flags[2],
                ..LineHunk::default()
            };
            for _ in 0..loose {
                hunk.push_line("");
            }
            hunk
        }).collect();
        let change = Change::new("x", ChangeKind::Patch { hunks, deletes: false });
        if let Ok(resolved) = resolve(&Proposal::new(vec![change]), &Tree::of_text("x", &text)) {
            for operation in resolved.operations {
                prop_assert_eq!(operation.kind, OperationKind::Edit);
                prop_assert_ne!(operation.before, operation.after);
            }
        }
    }
}

fn text_line() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "  a", "", "a ", "\"q\"", "“q”", "new"])
        .prop_map(str::to_owned)
}
