//! Where hunks must lie, told by line numbers and plain rules.

use std::ops::Range;

use crate::{HunkId, diff_lines};

/// Replaced lines of a text: `old` becomes `count` lines; `open` says that they have no last LF.
pub(super) struct NaiveEdit {
    pub(super) old: Range<usize>,
    pub(super) count: usize,
    pub(super) open: bool,
}

/// A pending hunk of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) id: HunkId,
    /// Its lines before the edits.
    pub(super) was: Range<usize>,
    pub(super) lines: Range<usize>,
    /// It takes the last LF away and does nothing else.
    pub(super) drops_ending: bool,
    /// An edit went against it.
    pub(super) hit: bool,
}

/// Splits a text into lines, endings dropped but for the fact that there is one.
pub(super) fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(content) => format!("{}\n", content.trim_end_matches('\r')),
            None => line.to_owned(),
        })
        .collect()
}

/// The line that starts at `byte`; the number of lines at the end of the text.
pub(super) fn line_of(text: &str, byte: usize) -> usize {
    text[..byte].split_inclusive('\n').count()
}

/// The edits of whole lines that a change is.
pub(super) fn naive_edits(before: &str, range: &Range<usize>, inserted: &str) -> Vec<NaiveEdit> {
    let start = before[..range.start].rfind('\n').map_or(0, |lf| lf + 1);
    let next_line = |byte: usize| {
        before[byte..]
            .find('\n')
            .map_or(before.len(), |lf| byte + lf + 1)
    };
    let ends_clean = if inserted.is_empty() {
        start == range.start
    } else {
        inserted.ends_with('\n')
    };
    let at_line_start = range.end == 0 || before[..range.end].ends_with('\n');
    let end = if ends_clean && at_line_start {
        range.end
    } else {
        next_line(range.end)
    };
    let old = &before[start..end];
    let new = [
        &before[start..range.start],
        inserted,
        &before[range.end..end],
    ]
    .concat();
    let first = line_of(before, start);
    let new_lines = lines(&new);
    if lines(old) == new_lines {
        return Vec::new();
    }
    diff_lines(old, &new)
        .into_iter()
        .map(|edit| NaiveEdit {
            old: edit.old.start + first..edit.old.end + first,
            count: edit.new.len(),
            open: edit.new.end == new_lines.len() && !new.ends_with('\n') && !edit.new.is_empty(),
        })
        .collect()
}

/// Moves `placed` by edits that are told in lines of the text before all of them.
pub(super) fn follow(placed: &mut [Placed], edits: &[NaiveEdit]) {
    for edit in edits.iter().rev() {
        for hunk in placed.iter_mut() {
            let (old, lines) = (&edit.old, &hunk.lines);
            let shifted = |line: usize| line - old.len() + edit.count;
            let is_insertion = lines.is_empty();
            let hit = match (old.is_empty(), is_insertion) {
                (true, true) => old.start == lines.start,
                (true, false) => {
                    let is_behind = old.start == lines.end && hunk.drops_ending;
                    is_behind || (lines.start < old.start && old.start < lines.end)
                }
                (false, true) => {
                    (old.start < lines.start && lines.start < old.end)
                        || (edit.open && lines.start == old.end)
                }
                (false, false) => old.start < lines.end && lines.start < old.end,
            };
            if hit {
                hunk.hit = true;
            } else if lines.start >= old.end
                && !(old.is_empty() && is_insertion && lines.start == old.start)
            {
                hunk.lines = shifted(lines.start)..shifted(lines.end);
            }
        }
    }
}
