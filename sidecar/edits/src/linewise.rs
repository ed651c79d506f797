//! Whole lines of a rope, where a line ends at LF and nowhere else.
//!
//! Ropey also ends lines at a lone CR (as LSP does), so hunks cannot use its line numbers; these
//! helpers walk from its line starts to the nearest real one. A CR run right before an LF belongs
//! to the ending and is never compared. Offsets are bytes.

#[cfg(test)]
mod tests;

use std::{borrow::Cow, ops::Range};

use ropey::Rope;

/// The start of the line that holds `byte`.
pub(crate) fn line_start(text: &Rope, byte: usize) -> usize {
    let mut line = text.byte_to_line(byte);
    loop {
        let start = text.line_to_byte(line);
        if is_line_start(text, start) {
            return start;
        }
        line -= 1;
    }
}

/// The start of the line after the one that holds `byte`, or the end of the text.
pub(crate) fn next_line_start(text: &Rope, byte: usize) -> usize {
    let mut line = text.byte_to_line(byte) + 1;
    while line < text.len_lines() {
        let start = text.line_to_byte(line);
        if text.byte(start - 1) == b'\n' {
            return start;
        }
        line += 1;
    }
    text.len_bytes()
}

/// Whether a line starts at `byte`; after a final LF the end of the text counts as one.
pub(crate) fn is_line_start(text: &Rope, byte: usize) -> bool {
    byte == 0 || text.byte(byte - 1) == b'\n'
}

/// The bytes of `range`, as found.
pub(crate) fn slice(text: &Rope, range: Range<usize>) -> Cow<'_, str> {
    Cow::from(text.byte_slice(range))
}

/// The bytes of `range` with LF endings.
pub(crate) fn slice_lf(text: &Rope, range: Range<usize>) -> String {
    let found = slice(text, range);
    match lf(&found) {
        Cow::Borrowed(_) => found.into_owned(),
        Cow::Owned(normalized) => normalized,
    }
}

/// Reads every CR run before an LF as part of the ending.
pub(crate) fn lf(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b"\r\n").is_none() {
        return Cow::Borrowed(text);
    }
    let mut normalized = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(content) => {
                normalized.push_str(content.trim_end_matches('\r'));
                normalized.push('\n');
            }
            None => normalized.push_str(line),
        }
    }
    Cow::Owned(normalized)
}

/// Whether two texts are the same lines, endings aside.
pub(crate) fn same(left: &str, right: &str) -> bool {
    left == right || lf(left) == lf(right)
}

/// Whether `range` of `text` reads `expected` (which has LF endings).
pub(crate) fn reads(text: &Rope, range: Range<usize>, expected: &str) -> bool {
    range.len() >= expected.len() && matched(text, range.clone(), expected) == Some(range.end)
}

/// The end of `expected` when the text reads it from `start` on.
///
/// Only whole lines count: an expected text without a final LF must reach the end of the text.
pub(crate) fn reads_from(text: &Rope, start: usize, expected: &str) -> Option<usize> {
    let end = matched(text, start..text.len_bytes(), expected)?;
    (expected.is_empty() || expected.ends_with('\n') || end == text.len_bytes()).then_some(end)
}

/// The start of `expected` when the text reads it up to `end`.
pub(crate) fn reads_until(text: &Rope, end: usize, expected: &str) -> Option<usize> {
    let mut start = end;
    for _ in 0..line_count(expected) {
        if start == 0 {
            return None;
        }
        start = line_start(text, start - 1);
    }
    reads(text, start..end, expected).then_some(start)
}

/// Matches `expected` against a prefix of `range`; gives where it ends.
fn matched(text: &Rope, range: Range<usize>, expected: &str) -> Option<usize> {
    let expected = expected.as_bytes();
    let mut at = 0;
    let mut returns = 0;
    let mut offset = range.start;
    if expected.is_empty() {
        return Some(offset);
    }
    for chunk in text.byte_slice(range).chunks() {
        for &byte in chunk.as_bytes() {
            offset += 1;
            if byte == b'\r' {
                returns += 1;
                continue;
            }
            if byte != b'\n' {
                take_returns(expected, &mut at, &mut returns)?;
            }
            returns = 0;
            if expected.get(at) != Some(&byte) {
                return None;
            }
            at += 1;
            if at == expected.len() {
                return Some(offset);
            }
        }
    }
    take_returns(expected, &mut at, &mut returns)?;
    (at == expected.len()).then_some(offset)
}

/// CRs that no LF followed are data: `expected` must have them too.
fn take_returns(expected: &[u8], at: &mut usize, returns: &mut usize) -> Option<()> {
    for _ in 0..*returns {
        if expected.get(*at) != Some(&b'\r') {
            return None;
        }
        *at += 1;
    }
    *returns = 0;
    Some(())
}

/// How many lines `text` has; a last one without LF counts.
pub(crate) fn line_count(text: &str) -> usize {
    let ended = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    ended + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// The byte offset at which each line starts, and the length of the text at the end.
pub(crate) fn line_offsets(text: &str) -> Vec<usize> {
    let mut offsets = Vec::with_capacity(text.len() / 32 + 2);
    offsets.push(0);
    offsets.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|lf| lf + 1));
    if offsets.last() != Some(&text.len()) {
        offsets.push(text.len());
    }
    offsets
}
