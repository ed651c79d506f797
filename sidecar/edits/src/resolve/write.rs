//! A whole new text for a file that exists.

use super::{ResolveError, placeholder};
use crate::{
    diff::diff_lines,
    lines::LineIndex,
    merge::{Merge, MergePart, merge3},
    text::{BOM, adapt_line_endings, normalize_line_endings, text_revision},
};

/// A file's new text.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) flags: Vec<&'static str>,
}

/// Makes today's text into `text`, which may have been written against another one.
///
/// Lines that stay keep their endings; changed ones take those of the lines that they replace.
pub(super) fn resolve(
    text: &str,
    base_text: Option<&str>,
    today: &str,
    path: &str,
    literal: bool,
) -> Result<Written, ResolveError> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let base = base_text.map(|base| base.strip_prefix(BOM).unwrap_or(base));
    if !literal {
        placeholder::check_whole(base.unwrap_or(today), text, path)?;
    }
    let mut flags = Vec::new();
    if is_cut_off(text, base.unwrap_or(today)) {
        flags.push("truncated");
    }
    let drifted = base.filter(|base| text_revision(base) != text_revision(today));
    let Some(base) = drifted else {
        return Ok(Written {
            text: with_endings_of(today, text),
            flags,
        });
    };
    let base = normalize_line_endings(base);
    let ours = normalize_line_endings(today);
    let theirs = normalize_line_endings(text);
    let merge = merge3(&base, &ours, &theirs);
    match merge.text() {
        Some(merged) => {
            flags.push("reanchored");
            Ok(Written {
                text: with_endings_of(today, &merged),
                flags,
            })
        }
        None => Err(ResolveError::Conflict {
            path: path.to_owned(),
            line: conflict_line(&merge),
        }),
    }
}

/// Whether the text seems to stop in the middle: in a line of the base that it does not end, with
/// more of the base still to come.
fn is_cut_off(text: &str, base: &str) -> bool {
    if text.is_empty() || text.ends_with('\n') || !base.ends_with('\n') {
        return false;
    }
    let last = text.rsplit_once('\n').map_or(text, |(_, last)| last);
    let old = LineIndex::new(base);
    diff_lines(base, text).last().is_some_and(|edit| {
        edit.old.end == old.len()
            && edit.old.len() > 1
            && edit.old.clone().any(|line| {
                let line = old.content(line);
                line.len() > last.len() && line.starts_with(last)
            })
    })
}

/// The line of today's text, from 1, at which the first conflict is.
fn conflict_line(merge: &Merge) -> usize {
    let mut line = 1;
    for part in &merge.parts {
        match part {
            MergePart::Merged(text) => line += text.matches('\n').count(),
            MergePart::Conflict { .. } => break,
        }
    }
    line
}

/// `text` with the line endings of `today` on the lines that they share and on changed ones.
fn with_endings_of(today: &str, text: &str) -> String {
    if memchr::memchr(b'\r', today.as_bytes()).is_none()
        && memchr::memchr(b'\r', text.as_bytes()).is_none()
    {
        return text.to_owned();
    }
    let (old, new) = (LineIndex::new(today), LineIndex::new(text));
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for edit in diff_lines(today, text) {
        result.push_str(&today[old.bytes(done..edit.old.start)]);
        let before = edit
            .old
            .start
            .checked_sub(1)
            .map_or("", |line| old.with_ending(line));
        result.push_str(&adapt_line_endings(
            &text[new.bytes(edit.new.clone())],
            &today[old.bytes(edit.old.clone())],
            before,
            old.with_ending(edit.old.end),
        ));
        done = edit.old.end;
    }
    result.push_str(&today[old.bytes(done..old.len())]);
    result
}
