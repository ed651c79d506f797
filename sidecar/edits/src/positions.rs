//! Positions as LSP counts them, and the bytes that they stand for.
//!
//! Owns the three column encodings. Lines here end at LF, CRLF **and** a lone CR, which is what
//! editors count; hunks count LF lines only, so line numbers of the two are never mixed.
//!
//! Source: Language Server Protocol 3.17, "Text Documents" and `PositionEncodingKind`.

use std::{fmt, str::FromStr};

use ropey::Rope;
use serde::{Deserialize, Serialize};

/// What a column counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Encoding {
    /// Bytes of the UTF-8 text.
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-16 code units: the protocol's default.
    #[default]
    #[serde(rename = "utf-16")]
    Utf16,
    /// Code points.
    #[serde(rename = "utf-32")]
    Utf32,
}

impl Encoding {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16 => "utf-16",
            Self::Utf32 => "utf-32",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "utf-8" => Ok(Self::Utf8),
            "utf-16" => Ok(Self::Utf16),
            "utf-32" => Ok(Self::Utf32),
            other => Err(format!(
                "unknown position encoding {other:?}: use utf-8, utf-16 or utf-32"
            )),
        }
    }
}

/// A line and a column, both from zero; the column is counted in some [`Encoding`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct LineCol {
    /// Line, from zero.
    pub line: u32,
    /// Column, from zero.
    pub character: u32,
}

impl LineCol {
    /// Makes a position.
    pub fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }
}

impl fmt::Display for LineCol {
    /// Writes `line:column` counted from zero, as the wire has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.character)
    }
}

/// Why a proposed position is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// Between the units of one character.
    #[error("position {at} ({encoding}) is inside the character {character:?}")]
    InsideCharacter {
        /// The position asked for.
        at: LineCol,
        /// Its encoding.
        encoding: Encoding,
        /// The character that it cuts.
        character: char,
    },
    /// Beyond the last line.
    #[error("position {at} is out of range: the text has {line_count} lines, 0 to {}", .line_count - 1)]
    LineOutOfRange {
        /// The position asked for.
        at: LineCol,
        /// Lines in the text, at least 1.
        line_count: usize,
    },
    /// Beyond the end of its line.
    #[error("position {at} ({encoding}) is out of range: line {} has {columns} columns", .at.line)]
    ColumnOutOfRange {
        /// The position asked for.
        at: LineCol,
        /// Its encoding.
        encoding: Encoding,
        /// Columns of that line without its ending.
        columns: usize,
    },
}

impl PositionError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InsideCharacter { .. } => "INVALID_POSITION",
            Self::LineOutOfRange { .. } | Self::ColumnOutOfRange { .. } => "OUT_OF_RANGE",
        }
    }
}

/// Converts an editor's position, clamping and rounding as LSP says.
///
/// Beyond the last line is the end of the text, beyond the end of a line is the end of that line
/// (before its ending), and inside a character is that character's start. Cost: logarithmic.
pub fn to_byte(rope: &Rope, at: LineCol, encoding: Encoding) -> usize {
    let Some(line) = Line::at(rope, at.line) else {
        return rope.len_bytes();
    };
    let start = encoding.units_before(rope, line.start);
    let end = encoding.units_before(rope, line.end);
    let wanted = start.saturating_add(at.character as usize).min(end);
    rope.char_to_byte(encoding.char_at_units(rope, wanted))
}

/// Converts a proposed position, which must be one that exists.
///
/// # Errors
///
/// `INVALID_POSITION` inside a character, `OUT_OF_RANGE` beyond the last line or the end of a
/// line.
pub fn to_byte_strict(
    rope: &Rope,
    at: LineCol,
    encoding: Encoding,
) -> Result<usize, PositionError> {
    let line = Line::at(rope, at.line).ok_or(PositionError::LineOutOfRange {
        at,
        line_count: rope.len_lines(),
    })?;
    let start = encoding.units_before(rope, line.start);
    let end = encoding.units_before(rope, line.end);
    let wanted = start.saturating_add(at.character as usize);
    if wanted > end {
        return Err(PositionError::ColumnOutOfRange {
            at,
            encoding,
            columns: end - start,
        });
    }
    let char_idx = encoding.char_at_units(rope, wanted);
    if encoding.units_before(rope, char_idx) != wanted {
        return Err(PositionError::InsideCharacter {
            at,
            encoding,
            character: rope.char(char_idx),
        });
    }
    Ok(rope.char_to_byte(char_idx))
}

/// Converts a byte offset; beyond the end is the end, inside a character is its start.
///
/// A byte between the CR and the LF of one ending is the end of that line. Cost: logarithmic.
pub fn to_line_col(rope: &Rope, byte: usize, encoding: Encoding) -> LineCol {
    let char_idx = rope.byte_to_char(byte.min(rope.len_bytes()));
    let line_idx = rope.char_to_line(char_idx);
    let line = Line::nth(rope, line_idx);
    let char_idx = char_idx.min(line.end);
    let columns = encoding.units_before(rope, char_idx) - encoding.units_before(rope, line.start);
    LineCol::new(saturating_u32(line_idx), saturating_u32(columns))
}

/// One line of a rope, in characters, without its ending.
struct Line {
    start: usize,
    end: usize,
}

impl Line {
    fn at(rope: &Rope, line: u32) -> Option<Self> {
        let line = line as usize;
        (line < rope.len_lines()).then(|| Self::nth(rope, line))
    }

    /// `line` must exist.
    fn nth(rope: &Rope, line: usize) -> Self {
        let start = rope.line_to_char(line);
        let mut end = rope.line_to_char(line + 1);
        if line + 1 < rope.len_lines() {
            let ending = rope.char(end - 1);
            end -= 1;
            if ending == '\n' && end > start && rope.char(end - 1) == '\r' {
                end -= 1;
            }
        }
        Self { start, end }
    }
}

impl Encoding {
    /// Units of this encoding before a character of the whole text.
    fn units_before(self, rope: &Rope, char_idx: usize) -> usize {
        match self {
            Self::Utf8 => rope.char_to_byte(char_idx),
            Self::Utf16 => rope.char_to_utf16_cu(char_idx),
            Self::Utf32 => char_idx,
        }
    }

    /// The character that holds a unit of the whole text; `units` must not be beyond its end.
    fn char_at_units(self, rope: &Rope, units: usize) -> usize {
        match self {
            Self::Utf8 => rope.byte_to_char(units),
            Self::Utf16 => rope.utf16_cu_to_char(units),
            Self::Utf32 => units,
        }
    }
}

fn saturating_u32(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
