//! Line endings: replacement text takes those of what it replaces.
//!
//! A line ends at LF and nowhere else; a CR right before the LF belongs to the ending, and any
//! other CR is data.

use std::borrow::Cow;

use memchr::{memchr_iter, memmem};

/// Reads CRLF as LF; a lone CR stays.
pub(crate) fn normalize_line_endings(text: &str) -> Cow<'_, str> {
    if memmem::find(text.as_bytes(), b"\r\n").is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n"))
}

/// Gives `replacement` the line endings of the real text that it replaces.
///
/// Line `i` takes the ending of line `i` of `removed`; further lines take the last ending there.
/// Where `removed` has none (an insertion, or a piece of one line) it is that of the last line of
/// `before`, else that of the first line of `after`, else LF. A last line without an ending stays
/// without.
pub fn adapt_line_endings(replacement: &str, removed: &str, before: &str, after: &str) -> String {
    let replacement = normalize_line_endings(replacement);
    let mut removed_endings = endings(removed);
    let mut current = removed_endings
        .next()
        .or_else(|| last_ending(before))
        .or_else(|| endings(after).next())
        .unwrap_or("\n");
    let mut adapted = String::with_capacity(replacement.len() + replacement.len() / 16);
    for piece in replacement.split_inclusive('\n') {
        match piece.strip_suffix('\n') {
            Some(line) => {
                adapted.push_str(line);
                adapted.push_str(current);
                current = removed_endings.next().unwrap_or(current);
            }
            None => adapted.push_str(piece),
        }
    }
    adapted
}

/// The endings of `text`, line by line.
fn endings(text: &str) -> impl Iterator<Item = &'static str> + '_ {
    let bytes = text.as_bytes();
    memchr_iter(b'\n', bytes).map(move |lf| ending_at(bytes, lf))
}

fn last_ending(text: &str) -> Option<&'static str> {
    let bytes = text.as_bytes();
    memchr::memrchr(b'\n', bytes).map(|lf| ending_at(bytes, lf))
}

fn ending_at(bytes: &[u8], lf: usize) -> &'static str {
    if lf > 0 && bytes[lf - 1] == b'\r' {
        "\r\n"
    } else {
        "\n"
    }
}
