//! Lines of a proposal that stand in for lines of the file: `// ... rest unchanged ...`.
//!
//! An ellipsis is legal text in many languages, so one is only taken for a stand-in when it is a
//! comment (or a line of its own where that means nothing), is new, and stands where several lines
//! vanish.

use super::ResolveError;
use crate::{diff::diff_lines, lines::LineIndex, matching::clip, splice::Splice};

/// Fewer vanishing lines than this are an edit, whatever the comment says.
const MIN_REMOVED_LINES: usize = 2;

/// Checks replacements in a text; lines are counted within one.
pub(super) fn check_splices(
    splices: &[Splice],
    text: &str,
    path: &str,
    what: &str,
) -> Result<(), ResolveError> {
    splices
        .iter()
        .try_for_each(|splice| check(&text[splice.range.clone()], &splice.text, path, what))
}

/// Checks a whole text against the one that it replaces.
pub(super) fn check_whole(base: &str, text: &str, path: &str) -> Result<(), ResolveError> {
    check(base, text, path, "proposal")
}

fn check(base: &str, text: &str, path: &str, what: &str) -> Result<(), ResolveError> {
    // A cheap look first: most texts have no such line.
    if !text.lines().any(is_elision) {
        return Ok(());
    }
    let (old, new) = (LineIndex::new(base), LineIndex::new(text));
    for edit in diff_lines(base, text) {
        let n_removed = edit.old.len();
        let Some(line) = edit.new.clone().find(|idx| is_elision(new.content(*idx))) else {
            continue;
        };
        let text = new.content(line);
        let is_moved = edit
            .old
            .clone()
            .any(|idx| old.content(idx).trim() == text.trim());
        if n_removed < MIN_REMOVED_LINES || is_moved || is_legal(text, path) {
            continue;
        }
        return Err(ResolveError::Placeholder {
            path: path.to_owned(),
            line: line + 1,
            what: what.to_owned(),
            text: clip(text.trim(), 0),
            n_removed,
        });
    }
    Ok(())
}

/// Where a bare ellipsis is a statement (Python) or a document end (YAML).
fn is_legal(line: &str, path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension {
        "py" | "pyi" => line.trim() == "...",
        "yml" | "yaml" => line == "...",
        _ => false,
    }
}

/// Whether a line reads like "the rest stays as it is".
fn is_elision(line: &str) -> bool {
    let line = line.trim();
    if line.len() > 160 {
        return false;
    }
    if matches!(
        line,
        "..." | "…" | "[...]" | "[…]" | "(...)" | "<...>" | "...,"
    ) {
        return true;
    }
    let Some(comment) = comment(line) else {
        return false;
    };
    let comment = comment.trim().to_lowercase();
    let dotted = comment.contains("...") || comment.contains('…');
    let bare = comment.trim_matches(['.', '…', ' ', '[', ']', '(', ')']);
    if dotted && bare.is_empty() {
        return true;
    }
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| comment.contains(phrase));
    const KEEPING: [&str; 13] = [
        "existing",
        "unchanged",
        "rest of",
        "the rest",
        "remain",
        "same as",
        "previous",
        "omitted",
        "as before",
        "other ",
        "more ",
        "original",
        "keep",
    ];
    const PLAIN: [&str; 12] = [
        "existing code",
        "rest of the code",
        "rest of the file",
        "rest of file",
        "rest unchanged",
        "rest remains",
        "remains unchanged",
        "remains the same",
        "remain unchanged",
        "unchanged code",
        "code unchanged",
        "code omitted",
    ];
    let edge = comment.starts_with("...")
        || comment.starts_with('…')
        || comment.ends_with("...")
        || comment.ends_with('…');
    dotted && edge && says(&KEEPING) || says(&PLAIN)
}

/// The text of a line that is nothing but a comment.
fn comment(line: &str) -> Option<&str> {
    let (open, closes): (&str, &[&str]) = [
        ("//", &[][..]),
        ("#", &[]),
        ("--", &[]),
        ("/*", &["*/"]),
        ("{/*", &["*/}"]),
        ("<!--", &["-->"]),
        ("(*", &["*)"]),
        (";", &[]),
        ("%", &[]),
        ("\"", &[]),
        ("'", &[]),
        ("*", &[]),
    ]
    .into_iter()
    .find(|(open, _)| line.starts_with(open))?;
    let text = line.trim_start_matches(open.chars().next()?);
    let text = text.strip_prefix(&open[1..]).unwrap_or(text);
    Some(closes.iter().fold(text, |text, close| {
        text.trim_end().strip_suffix(close).unwrap_or(text)
    }))
}
