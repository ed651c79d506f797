//! Positions and edits as LSP defines them, by the plainest code there is.
//!
//! The oracle of the tests: it walks the text from the start each time and shares no code with the server.

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// What a `character` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 units, the default of LSP.
    #[default]
    Utf16,
    /// Code points.
    Utf32,
}

impl Encoding {
    /// The encoding that LSP calls so.
    #[must_use]
    pub fn named(name: &str) -> Option<Encoding> {
        match name {
            "utf-8" => Some(Encoding::Utf8),
            "utf-16" => Some(Encoding::Utf16),
            "utf-32" => Some(Encoding::Utf32),
            _ => None,
        }
    }

    /// Its name in LSP.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf16 => "utf-16",
            Encoding::Utf32 => "utf-32",
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }
}

/// Byte offset of a position; clamps to the line and to the text, rounds down inside a character.
#[must_use]
pub fn byte_of(text: &str, line: usize, character: usize, encoding: Encoding) -> usize {
    let mut at = 0;
    for _ in 0..line {
        match line_end(text, at) {
            Some((_, next)) => at = next,
            None => return text.len(),
        }
    }
    let end = line_end(text, at).map_or(text.len(), |(end, _)| end);
    let mut column = 0;
    for (offset, c) in text[at..end].char_indices() {
        if column + encoding.width(c) > character {
            return at + offset;
        }
        column += encoding.width(c);
    }
    end
}

/// Line and character of a byte offset.
#[must_use]
pub fn place_of(text: &str, byte: usize, encoding: Encoding) -> (usize, usize) {
    let mut line = 0;
    let mut at = 0;
    while let Some((_, next)) = line_end(text, at) {
        if next > byte {
            break;
        }
        line += 1;
        at = next;
    }
    let character = text[at..byte].chars().map(|c| encoding.width(c)).sum();
    (line, character)
}

/// Where the line that starts at `at` ends, and where the next one starts. A lone CR ends a line too.
fn line_end(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let end = at
        + bytes[at..]
            .iter()
            .position(|b| matches!(b, b'\n' | b'\r'))?;
    let next = if bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n') {
        end + 2
    } else {
        end + 1
    };
    Some((end, next))
}

/// Bytes that an LSP range covers.
pub(super) fn range_of(text: &str, range: &Value, encoding: Encoding) -> Result<(usize, usize)> {
    let place = |end: &str| -> Result<usize> {
        let at = &range[end];
        let line = at["line"].as_u64().context("a position has a line")?;
        let character = at["character"]
            .as_u64()
            .context("a position has a character")?;
        Ok(byte_of(
            text,
            usize::try_from(line)?,
            usize::try_from(character)?,
            encoding,
        ))
    };
    Ok((place("start")?, place("end")?))
}

/// Applies one content change of a `didChange`.
pub(super) fn apply_change(text: &str, change: &Value, encoding: Encoding) -> Result<String> {
    let new = change["text"].as_str().context("a change has text")?;
    let Some(range) = change.get("range").filter(|range| !range.is_null()) else {
        return Ok(new.to_owned());
    };
    let (start, end) = range_of(text, range, encoding)?;
    Ok(format!("{}{new}{}", &text[..start], &text[end..]))
}

/// Applies LSP text edits, all of which refer to `text`; inserts at one place keep their order.
///
/// # Errors
///
/// When two of them overlap.
pub fn apply_edits(text: &str, edits: &[Value], encoding: Encoding) -> Result<String> {
    let mut list = sorted(text, edits, encoding)?;
    list.reverse();
    let mut text = text.to_owned();
    for (start, end, new) in list {
        text.replace_range(start..end, &new);
    }
    Ok(text)
}

/// Turns text edits into content changes, last place first, so that each counts in the text that it meets.
pub(super) fn as_changes(
    text: &str,
    edits: &[Value],
    encoding: Encoding,
) -> std::result::Result<Value, String> {
    let list = sorted(text, edits, encoding).map_err(|error| error.to_string())?;
    let changes = list.into_iter().rev().map(|(start, end, new)| {
        let (start, end) = (
            place_of(text, start, encoding),
            place_of(text, end, encoding),
        );
        json!({"range": {"start": {"line": start.0, "character": start.1},
            "end": {"line": end.0, "character": end.1}}, "text": new})
    });
    Ok(Value::Array(changes.collect()))
}

fn sorted(text: &str, edits: &[Value], encoding: Encoding) -> Result<Vec<(usize, usize, String)>> {
    let mut list = Vec::new();
    for edit in edits {
        let (start, end) = range_of(text, &edit["range"], encoding)?;
        let new = edit["newText"].as_str().context("an edit has newText")?;
        list.push((start, end, new.to_owned()));
    }
    list.sort_by_key(|(start, end, _)| (*start, *end));
    for pair in list.windows(2) {
        anyhow::ensure!(pair[0].1 <= pair[1].0, "edits overlap");
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn columns_count_in_the_encoding() {
        let text = "a\u{1f980}\u{e9}b\r\nx\ry";
        for (encoding, column) in [
            (Encoding::Utf8, 7),
            (Encoding::Utf16, 4),
            (Encoding::Utf32, 3),
        ] {
            assert_eq!(byte_of(text, 0, column, encoding), 7);
            assert_eq!(place_of(text, 7, encoding), (0, column));
        }
        assert_eq!(byte_of(text, 0, 2, Encoding::Utf16), 1, "inside the pair");
        assert_eq!(
            byte_of(text, 1, 9, Encoding::Utf16),
            11,
            "past the end of the line"
        );
        assert_eq!(
            byte_of(text, 2, 0, Encoding::Utf16),
            12,
            "a lone CR ends a line"
        );
        assert_eq!(byte_of(text, 9, 0, Encoding::Utf16), text.len());
    }

    #[test]
    fn inserts_at_one_place_keep_their_order() {
        let insert = |text: &str| {
            json!({"range": {"start": {"line": 0, "character": 0},
                "end": {"line": 0, "character": 0}}, "newText": text})
        };
        let edits = [insert("one\n"), insert("two\n")];
        assert_eq!(
            apply_edits("end\n", &edits, Encoding::Utf16).unwrap(),
            "one\ntwo\nend\n"
        );
        let changes = as_changes("end\n", &edits, Encoding::Utf16).unwrap();
        let mut text = "end\n".to_owned();
        for change in changes.as_array().unwrap() {
            text = apply_change(&text, change, Encoding::Utf16).unwrap();
        }
        assert_eq!(text, "one\ntwo\nend\n");
    }
}
