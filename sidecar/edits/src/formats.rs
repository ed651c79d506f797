//! Every edit format in, one normal form out.
//!
//! Owns the parsers and the guess which one is meant. Each parser file opens with its grammar.
//! Parsers read text alone: whether a path exists and where a hunk fits is no question of theirs.
//!
//! **Invariant:** parsers are total: any input gives a proposal or an error with a line number, in
//! time linear in the input.

mod apply_patch;
mod error;
mod input;
mod json;
mod search_replace;
mod unified_diff;

use std::{fmt, str::FromStr};

pub use self::error::ParseError;
use crate::{proposal::Proposal, text};

/// The formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// `<<<<<<< SEARCH` blocks under a line with the path.
    SearchReplace,
    /// `diff -u`, `git diff`, `git format-patch`.
    UnifiedDiff,
    /// The `*** Begin Patch` envelope.
    ApplyPatch,
    /// JSON: search/replace edits, whole files, LSP text edits and workspace edits.
    Json,
}

impl Format {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 4] = [
        Self::SearchReplace,
        Self::UnifiedDiff,
        Self::ApplyPatch,
        Self::Json,
    ];

    /// The name by which a user forces it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SearchReplace => "search-replace",
            Self::UnifiedDiff => "unified-diff",
            Self::ApplyPatch => "apply-patch",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let name = name.replace('_', "-");
        Self::ALL
            .into_iter()
            .find(|format| format.as_str() == name)
            .ok_or_else(|| {
                let names: Vec<_> = Self::ALL.iter().map(|format| format.as_str()).collect();
                format!("unknown format {name:?}: use one of {}", names.join(", "))
            })
    }
}

/// What a caller says about the input besides its format.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParseOptions {
    /// Leading path components that a unified diff's names carry, as `git apply -p`. `None` and
    /// `Some(1)` take off an `a/` and `b/` where both sides have such a prefix and nothing else.
    pub strip: Option<usize>,
}

/// Says which format `input` is written in; `None` when it looks like none of them.
///
/// The first line that can only belong to one format decides, so that a patch may well add a
/// file that documents another format.
pub fn detect(input: &str) -> Option<Format> {
    if json::looks_like(input) {
        return Some(Format::Json);
    }
    let mut previous = "";
    for line in input.lines() {
        if apply_patch::is_begin(line) || apply_patch::is_section(line) {
            return Some(Format::ApplyPatch);
        }
        if search_replace::is_open(line) {
            return Some(Format::SearchReplace);
        }
        if unified_diff::is_start(previous, line) {
            return Some(Format::UnifiedDiff);
        }
        previous = line;
    }
    None
}

/// Parses `input` as `format`.
///
/// # Errors
///
/// `MALFORMED_PROPOSAL` for what the grammar does not allow, `INCOMPLETE` for an input that stops
/// before its end mark, `UNSUPPORTED` and `NOT_TEXT` for binary patches; all name the line.
pub fn parse(format: Format, input: &str, options: &ParseOptions) -> Result<Proposal, ParseError> {
    let input = input::normalize(input);
    let proposal = match format {
        Format::SearchReplace => search_replace::parse(&input)?,
        Format::UnifiedDiff => unified_diff::parse(&input, options)?,
        Format::ApplyPatch => apply_patch::parse(&input)?,
        Format::Json => json::parse(&input, options)?,
    };
    Ok(proposal)
}

/// Decodes bytes, detects the format unless it is given, and parses.
///
/// # Errors
///
/// As [`parse`], and `ENCODING`, `NOT_TEXT` or `TOO_LARGE` for bytes that are no text.
pub fn parse_bytes(
    format: Option<Format>,
    bytes: &[u8],
    options: &ParseOptions,
) -> Result<(Format, Proposal), ParseError> {
    let decoded = text::decode(bytes).map_err(|err| ParseError::undecodable(bytes, &err))?;
    let format = match format.or_else(|| detect(&decoded.text)) {
        Some(format) => format,
        None => return Err(ParseError::unknown_format(&decoded.text)),
    };
    Ok((format, parse(format, &decoded.text, options)?))
}

#[cfg(test)]
mod tests;
