//! The words of a hunk that differ, and the part of a long line that shows them.
//!
//! Owns: byte ranges. Must not know: colors.

use std::ops::Range;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The words of each line that differ, as byte ranges of the line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words {
    pub(super) removed: Vec<Vec<Range<usize>>>,
    pub(super) added: Vec<Vec<Range<usize>>>,
}

impl Words {
    /// Compares both sides as whole texts, so that a line that moved within the hunk is seen.
    pub(super) fn between(removed: &[String], added: &[String]) -> Self {
        let none = |lines: &[String]| vec![Vec::new(); lines.len()];
        if removed.is_empty() || added.is_empty() {
            return Self {
                removed: none(removed),
                added: none(added),
            };
        }
        let diff = redline_edits::diff_words(&removed.join("\n"), &added.join("\n"));
        Self {
            removed: by_line(removed, &diff.old),
            added: by_line(added, &diff.new),
        }
    }
}

/// Of a line that differs in more than this share, no words are marked: the line itself is.
const MARKED_PERCENT: usize = 70;

/// Cuts ranges of the joined lines at the lines' ends.
fn by_line(lines: &[String], ranges: &[Range<usize>]) -> Vec<Vec<Range<usize>>> {
    let mut start = 0;
    lines
        .iter()
        .map(|line| {
            let end = start + line.len();
            let cut = ranges
                .iter()
                .filter(|range| range.start < end && range.end > start)
                .map(|range| range.start.max(start) - start..range.end.min(end) - start)
                .map(|range| trim(line, range))
                .filter(|range| !range.is_empty())
                .collect::<Vec<_>>();
            start = end + 1;
            let marked: usize = cut.iter().map(ExactSizeIterator::len).sum();
            match marked * 100 > line.trim().len() * MARKED_PERCENT {
                true => Vec::new(),
                false => cut,
            }
        })
        .collect()
}

/// A mark on blanks at the ends of a change says nothing.
fn trim(line: &str, range: Range<usize>) -> Range<usize> {
    let text = &line[range.clone()];
    if text.trim().is_empty() {
        return range;
    }
    let start = range.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

/// The byte of `line` where it begins to differ: its first `marked` word, else where it leaves `other`, the line
/// in its place on the other side.
pub(super) fn change_in(line: &str, marked: Option<usize>, other: Option<&String>) -> usize {
    if let Some(marked) = marked {
        return marked;
    }
    let pairs = line
        .char_indices()
        .zip(other.map_or("", String::as_str).chars());
    pairs
        .take_while(|((_, one), other)| one == other)
        .last()
        .map_or(0, |((at, c), _)| at + c.len_utf8())
}

/// The part of `line` that is shown in `columns`: its start, or from a little before the byte `change` where
/// that lies further on.
pub(super) fn window(line: &str, change: usize, columns: usize) -> Range<usize> {
    if line.width() <= columns {
        return 0..line.len();
    }
    let start = match line[..change].width() {
        before if before < columns * 3 / 4 => 0,
        _ => columns_back(line, change, columns / 4),
    };
    let mut used = 0;
    let end = line[start..]
        .char_indices()
        .find(|(_, c)| {
            used += c.width().unwrap_or(0);
            used > columns
        })
        .map_or(line.len(), |(at, _)| start + at);
    start..end
}

/// The place `columns` before the byte `from`.
fn columns_back(line: &str, from: usize, columns: usize) -> usize {
    let mut used = 0;
    line[..from]
        .char_indices()
        .rev()
        .find(|(_, c)| {
            used += c.width().unwrap_or(0);
            used >= columns
        })
        .map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_where_it_changes() {
        let line = "0123456789".repeat(10);
        assert_eq!(window(&line, 0, 40), 0..40);
        assert_eq!(window(&line, 3, 40), 0..40);
        assert_eq!(window(&line, 70, 40), 60..100);
        assert_eq!(window("short", 0, 40), 0..5);
    }

    #[test]
    fn a_change_is_found_with_and_without_marked_words() {
        let other = "ab漢d".to_owned();
        assert_eq!(change_in("ab漢c", None, Some(&other)), 5);
        assert_eq!(change_in("ab漢c", None, None), 0);
        assert_eq!(change_in("ab漢c", Some(2), Some(&other)), 2);
    }

    #[test]
    fn wide_characters_count_twice_and_are_not_divided() {
        let line = "漢字".repeat(20);
        let shown = window(&line, 0, 11);
        assert_eq!(&line[shown], "漢字漢字漢");
        let shown = window(&line, 90, 12);
        assert!(shown.contains(&90) && line.get(shown).is_some());
    }
}
