//! The lines of an input, by number, and what all line formats share.

use std::borrow::Cow;

use memchr::{memchr_iter, memmem};

use crate::text::BOM;

/// Takes off a byte order mark, and the CRs of an input that was sent as CRLF throughout.
///
/// Mixed endings stay: there they belong to the content.
pub(super) fn normalize(input: &str) -> Cow<'_, str> {
    let input = input.strip_prefix(BOM).unwrap_or(input);
    let bytes = input.as_bytes();
    let n_crlf = memmem::find_iter(bytes, b"\r\n").count();
    if n_crlf > 0 && memchr_iter(b'\n', bytes).count() == n_crlf {
        return Cow::Owned(input.replace("\r\n", "\n"));
    }
    Cow::Borrowed(input)
}

/// An input as lines without their LF; numbers are from 1.
pub(super) struct Lines<'a> {
    lines: Vec<&'a str>,
    ends_with_newline: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: &'a str) -> Self {
        Self {
            lines: input
                .split_inclusive('\n')
                .map(|line| line.strip_suffix('\n').unwrap_or(line))
                .collect(),
            ends_with_newline: input.ends_with('\n'),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The line at `idx` (from 0), where there is one.
    pub(super) fn get(&self, idx: usize) -> Option<&'a str> {
        self.lines.get(idx).copied()
    }

    /// Whether the last line was sent with its ending.
    pub(super) fn ends_with_newline(&self) -> bool {
        self.ends_with_newline
    }
}

/// A line of content without the CR of its ending.
pub(super) fn content(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

/// Whether the line opens or closes a Markdown code fence; gives what follows the fence.
pub(super) fn fence(line: &str) -> Option<&str> {
    let line = line.trim();
    ["```", "~~~"]
        .into_iter()
        .find(|mark| line.starts_with(mark))
        .map(|mark| line.trim_start_matches(&mark[..1]).trim())
}
