//! Where the lines of a text are. A line ends at LF and nowhere else.

use std::ops::Range;

use memchr::memchr_iter;

/// The lines of one text, by number from 0.
///
/// A text that ends in LF has no empty line after it, and an empty text has no line.
#[derive(Debug)]
pub(crate) struct LineIndex<'a> {
    text: &'a str,
    /// Start of each line, then the length of the text.
    bounds: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let mut bounds = Vec::with_capacity(2 + bytes.len() / 32);
        bounds.push(0);
        bounds.extend(memchr_iter(b'\n', bytes).map(|lf| lf + 1));
        if bounds.last() != Some(&bytes.len()) {
            bounds.push(bytes.len());
        }
        Self { text, bounds }
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The byte where line `idx` starts; the length of the text for a line that does not exist.
    pub(crate) fn start(&self, idx: usize) -> usize {
        self.bounds.get(idx).copied().unwrap_or(self.text.len())
    }

    /// The bytes of the lines `range`, with their endings.
    pub(crate) fn bytes(&self, range: Range<usize>) -> Range<usize> {
        self.start(range.start)..self.start(range.end)
    }

    /// Line `idx` with its ending; empty where there is none.
    pub(crate) fn with_ending(&self, idx: usize) -> &'a str {
        &self.text[self.start(idx)..self.start(idx + 1)]
    }

    /// Line `idx` without its ending; empty where there is none.
    pub(crate) fn content(&self, idx: usize) -> &'a str {
        let line = self.with_ending(idx);
        match line.strip_suffix('\n') {
            Some(line) => line.strip_suffix('\r').unwrap_or(line),
            None => line,
        }
    }

    /// The line that `byte` stands on; the end of a text that ends in LF is a line of its own.
    pub(crate) fn line_of(&self, byte: usize) -> usize {
        if byte >= self.text.len() && !self.lacks_final_newline() {
            return self.len();
        }
        self.bounds[..self.len()].partition_point(|start| *start <= byte) - 1
    }

    /// Whether the text has a last line that does not end in LF.
    pub(crate) fn lacks_final_newline(&self) -> bool {
        !self.text.is_empty() && !self.text.ends_with('\n')
    }
}
