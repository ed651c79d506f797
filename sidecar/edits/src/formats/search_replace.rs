//! Search/replace blocks.
//!
//! ```text
//! proposal = { noise | block }
//! block    = [ path LF ] [ fence LF ] open LF { line LF } divider LF { line LF } close LF
//! path     = the nearest line above that is neither blank nor a fence, without Markdown dress
//!            (`path`, **path**, ### path, path:), or a path in the fence's info string;
//!            without one the block is of the same file as the block before it
//! open     = n("<") " SEARCH" [ " " path ]     | n("-") " SEARCH"
//! divider  = n("=")
//! close    = n(">") " REPLACE"                 | n("+") " REPLACE"
//! n        = 5 to 32 times, the same in one block
//! ```
//!
//! Content may hold conflict markers of its own: a `=======` between `<<<<<<< x` and `>>>>>>> x`
//! is content, markers of another length are content, and where several dividers remain every
//! reading is kept, for the file to decide. An empty search makes a new file.

use super::{
    error::ParseError,
    input::{Lines, content, fence},
};
use crate::proposal::{Change, ChangeKind, Proposal};

/// More readings than this of one block are refused rather than tried.
const MAX_READINGS: usize = 16;

/// How many lines above a block are looked at for its path.
const PATH_LOOKBACK_LINES: usize = 4;

pub(super) fn is_open(line: &str) -> bool {
    open_marker(line).is_some()
}

pub(super) fn parse(input: &str) -> Result<Proposal, ParseError> {
    let lines = Lines::new(input);
    let mut changes: Vec<Change> = Vec::new();
    let mut idx = 0;
    let mut block_end = 0;
    while let Some(line) = lines.get(idx) {
        let Some(open) = open_marker(line) else {
            idx += 1;
            continue;
        };
        let path = open
            .path
            .map(str::to_owned)
            .or_else(|| path_above(&lines, block_end, idx))
            .or_else(|| changes.last().map(|change| change.path.clone()))
            .ok_or_else(|| {
                ParseError::malformed(
                    idx + 1,
                    "no line with a path stands above this block",
                    "put the file's path on a line of its own above the block",
                )
            })?;
        let block = Block::find(&lines, idx, open.length)?;
        changes.push(Change::new(path, block.kind(&lines)?));
        idx = block.close + 1;
        block_end = idx;
    }
    if changes.is_empty() {
        return Err(ParseError::malformed(
            1,
            "there is no <<<<<<< SEARCH block",
            "write <<<<<<< SEARCH, the lines to find, =======, the new lines, >>>>>>> REPLACE",
        ));
    }
    Ok(Proposal::new(changes))
}

struct OpenMarker<'a> {
    length: usize,
    path: Option<&'a str>,
}

fn open_marker(line: &str) -> Option<OpenMarker<'_>> {
    let line = line.trim_end();
    let (length, rest) = run(line, '<').or_else(|| run(line, '-'))?;
    let rest = rest.trim_start().strip_prefix("SEARCH")?;
    if !rest.is_empty() && !rest.starts_with([' ', '>', ':']) {
        return None;
    }
    let path = rest.trim_matches([' ', '>', ':', '`']);
    Some(OpenMarker {
        length,
        path: (!path.is_empty()).then_some(path),
    })
}

fn is_divider(line: &str) -> Option<usize> {
    match run(line.trim_end(), '=') {
        Some((length, "")) => Some(length),
        _ => None,
    }
}

fn close_marker(line: &str) -> Option<usize> {
    let line = line.trim_end();
    let (length, rest) = run(line, '>').or_else(|| run(line, '+'))?;
    (rest.trim_start() == "REPLACE").then_some(length)
}

/// A run of 5 to 32 `mark`s at the start of a line, and what follows it.
fn run(line: &str, mark: char) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (5..=32).contains(&length).then_some((length, rest))
}

/// Where the parts of one block are, as line indexes.
struct Block {
    open: usize,
    /// Never empty.
    dividers: Vec<usize>,
    close: usize,
}

impl Block {
    /// Finds the end of the block that opens at `open` with a marker of this length.
    ///
    /// Markers of that length count; only where none closes the block may another length do so,
    /// since models miscount.
    fn find(lines: &Lines<'_>, open: usize, length: usize) -> Result<Self, ParseError> {
        Self::find_with(lines, open, |len| len == length)
            .or_else(|err| Self::find_with(lines, open, |_| true).map_err(|_| err))
    }

    fn find_with(
        lines: &Lines<'_>,
        open: usize,
        counts: impl Fn(usize) -> bool,
    ) -> Result<Self, ParseError> {
        let mut dividers = Vec::new();
        let mut nested = Nested::default();
        let mut idx = open + 1;
        while let Some(line) = lines.get(idx) {
            if close_marker(line).is_some_and(&counts) {
                dividers.append(&mut nested.unbalanced());
                dividers.sort_unstable();
                if dividers.is_empty() {
                    return Err(ParseError::malformed(
                        idx + 1,
                        format!("the block of line {} has no ======= divider", open + 1),
                        "put ======= on a line of its own between the old and the new lines",
                    ));
                }
                return Ok(Self {
                    open,
                    dividers,
                    close: idx,
                });
            }
            if open_marker(line).is_some_and(|marker| counts(marker.length)) {
                return Err(ParseError::malformed(
                    idx + 1,
                    format!(
                        "a block begins here, but the one of line {} has not ended",
                        open + 1
                    ),
                    "end each block with >>>>>>> REPLACE; where the content itself holds such \
                     lines, use longer marker runs for the block",
                ));
            }
            if !nested.take(line, idx) && is_divider(line).is_some_and(&counts) {
                dividers.push(idx);
            }
            idx += 1;
        }
        Err(ParseError::incomplete(
            lines.len(),
            format!("the block of line {} has no >>>>>>> REPLACE", open + 1),
        ))
    }

    fn kind(&self, lines: &Lines<'_>) -> Result<ChangeKind, ParseError> {
        if self.dividers.len() > MAX_READINGS {
            return Err(ParseError::malformed(
                self.dividers[1] + 1,
                format!(
                    "the block of line {} has {} ======= lines, and any may be its divider",
                    self.open + 1,
                    self.dividers.len()
                ),
                "use longer marker runs for the block, such as <<<<<<<<< SEARCH with =========",
            ));
        }
        let mut readings = self.dividers.iter().map(|&divider| {
            (
                join(lines, self.open + 1, divider),
                join(lines, divider + 1, self.close),
            )
        });
        let (search, replace) = readings.next().unwrap_or_default();
        Ok(ChangeKind::Replace {
            search,
            replace,
            replace_all: false,
            whole_lines: true,
            other_readings: readings.collect(),
        })
    }
}

/// Conflict markers inside the content of a block, and the dividers that belong to them.
#[derive(Default)]
struct Nested {
    depth: usize,
    held: Vec<usize>,
}

impl Nested {
    /// Takes a line that belongs to a conflict in the content.
    fn take(&mut self, line: &str, idx: usize) -> bool {
        let line = content(line);
        if line.starts_with("<<<<<<< ") && open_marker(line).is_none() {
            self.depth += 1;
            return true;
        }
        if self.depth == 0 {
            return false;
        }
        if line.starts_with(">>>>>>> ") {
            self.depth -= 1;
            if self.depth == 0 {
                self.held.clear();
            }
            return true;
        }
        if is_divider(line).is_some() {
            self.held.push(idx);
            return true;
        }
        false
    }

    /// Dividers held by a conflict that never ended: they may be the block's own after all.
    fn unbalanced(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.held)
    }
}

/// The lines `from..to` as a text in which each ends with LF.
fn join(lines: &Lines<'_>, from: usize, to: usize) -> String {
    let mut text = String::new();
    for line in (from..to).filter_map(|idx| lines.get(idx)) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// The path on the lines right above `open`, not looking above `floor`.
fn path_above(lines: &Lines<'_>, floor: usize, open: usize) -> Option<String> {
    for idx in (floor..open).rev().take(PATH_LOOKBACK_LINES) {
        let line = lines.get(idx)?;
        if line.trim().is_empty() {
            continue;
        }
        match fence(line) {
            Some(info) => {
                let word = info.split_whitespace().next_back().unwrap_or_default();
                if word.contains(['.', '/']) {
                    return Some(word.to_owned());
                }
            }
            None => return undress(line),
        }
    }
    None
}

/// Takes the Markdown dress off a line that holds a path.
fn undress(line: &str) -> Option<String> {
    let mut path = line.trim();
    for mark in ['#', '/'] {
        // A heading, or a comment that names the file; not an absolute path.
        let rest = path.trim_start_matches(mark);
        if rest.starts_with(' ') {
            path = rest.trim_start();
        }
    }
    let mut quoted = path.split('`');
    if let (Some(_), Some(inner), Some(_), None) =
        (quoted.next(), quoted.next(), quoted.next(), quoted.next())
        && !inner.trim().is_empty()
    {
        return Some(inner.trim().to_owned());
    }
    path = path.trim_matches('*').trim();
    for label in ["File:", "file:", "Path:", "path:", "Filename:", "filename:"] {
        path = path.strip_prefix(label).unwrap_or(path).trim_start();
    }
    path = path
        .trim_end_matches(':')
        .trim_matches(['*', '"', '\''])
        .trim();
    let prose = path.contains(' ') && !path.contains(['/', '.', '\\']);
    (!path.is_empty() && !prose).then(|| path.to_owned())
}
