//! Slides changes to where a reader expects them.
//!
//! Inserting `b a` after `a` and inserting `a b` before it are the same change; which of them is
//! shown matters to people. A change of one side only is slid as far up as it goes, joins what it
//! meets there, then takes the place of its range that splits the text best: at a blank line, at
//! the shallowest indentation, else as far down as it goes.

use super::LineEdit;

/// One side: line numbers, text, and offsets of the lines.
type Side<'a> = (&'a [u32], &'a str, &'a [usize]);

/// Places looked at for one change.
const MAX_SLIDES: usize = 100;

/// Slides and joins `edits`.
pub(super) fn compact(edits: Vec<LineEdit>, old: Side<'_>, new: Side<'_>) -> Vec<LineEdit> {
    let mut done: Vec<LineEdit> = Vec::with_capacity(edits.len());
    let mut rest = edits.into_iter().peekable();
    while let Some(mut edit) = rest.next() {
        loop {
            // The bounds of a slide: neighbors may be met (and joined), never crossed.
            let above = done.last().map_or(0, |edit| edit.old.end);
            let below = rest.peek().map_or(old.0.len(), |edit| edit.old.start);
            let Some((ids, range)) = one_side(&edit, old.0, new.0) else {
                break;
            };
            let up = slide_up(ids, &range, edit.old.start - above);
            if up > 0 && up == edit.old.start - above && !done.is_empty() {
                move_by(&mut edit, -(up as isize));
                if let Some(previous) = done.pop() {
                    edit = join(previous, edit);
                    continue;
                }
            }
            let down = slide_down(ids, &range, below - edit.old.end);
            if down > 0 && down == below - edit.old.end && rest.peek().is_some() {
                move_by(&mut edit, down as isize);
                if let Some(next) = rest.next() {
                    edit = join(edit, next);
                    continue;
                }
            }
            let side = if edit.old.is_empty() { new } else { old };
            let best = best_slide(side, &range, up, down);
            move_by(&mut edit, best);
            break;
        }
        done.push(edit);
    }
    done
}

/// The changed range of a pure insertion or deletion, on the side that has it.
fn one_side<'a>(
    edit: &LineEdit,
    old: &'a [u32],
    new: &'a [u32],
) -> Option<(&'a [u32], std::ops::Range<usize>)> {
    match (edit.old.is_empty(), edit.new.is_empty()) {
        (true, false) => Some((new, edit.new.clone())),
        (false, true) => Some((old, edit.old.clone())),
        _ => None,
    }
}

fn slide_up(ids: &[u32], range: &std::ops::Range<usize>, limit: usize) -> usize {
    (0..limit)
        .take_while(|i| ids[range.start - 1 - i] == ids[range.end - 1 - i])
        .count()
}

fn slide_down(ids: &[u32], range: &std::ops::Range<usize>, limit: usize) -> usize {
    (0..limit)
        .take_while(|i| ids[range.start + i] == ids[range.end + i])
        .count()
}

fn move_by(edit: &mut LineEdit, by: isize) {
    let moved = |at: usize| at.saturating_add_signed(by);
    edit.old = moved(edit.old.start)..moved(edit.old.end);
    edit.new = moved(edit.new.start)..moved(edit.new.end);
}

fn join(first: LineEdit, second: LineEdit) -> LineEdit {
    LineEdit {
        old: first.old.start..second.old.end,
        new: first.new.start..second.new.end,
    }
}

/// How far to move, with the lowest of equally good places preferred.
fn best_slide(side: Side<'_>, range: &std::ops::Range<usize>, up: usize, down: usize) -> isize {
    if up + down == 0 {
        return 0;
    }
    let lowest = down as isize;
    let highest = (-(up as isize)).max(lowest - MAX_SLIDES as isize);
    (highest..=lowest)
        .rev()
        .min_by_key(|&by| {
            let start = range.start.saturating_add_signed(by);
            let end = range.end.saturating_add_signed(by);
            let (top, bottom) = (split_cost(side, start), split_cost(side, end));
            top + bottom
        })
        .unwrap_or(0)
}

/// How bad it is to cut the text before `line`: 0 at its ends, less at blank lines and outdents.
fn split_cost((_, text, offsets): Side<'_>, line: usize) -> usize {
    let indent = |line: usize| indentation(&text[offsets[line]..offsets[line + 1]]);
    if line == 0 || line + 1 >= offsets.len() {
        return 0;
    }
    match (indent(line - 1), indent(line)) {
        // After a blank line: the change is a paragraph of its own.
        (None, Some(next)) => 1 + next,
        (None, None) => 3,
        (Some(_), None) => 4,
        (Some(previous), Some(next)) => 6 + next + 2 * usize::from(next > previous) * 4,
    }
}

/// Leading white space in columns, or none for a blank line; deep lines count as 60.
fn indentation(line: &str) -> Option<usize> {
    let mut columns = 0;
    for byte in line.bytes().take(60) {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 8 - columns % 8,
            b'\n' | b'\r' => return None,
            _ => return Some(columns),
        }
    }
    Some(60)
}
