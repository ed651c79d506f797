//! A new text, and where in it the changes are.

use std::ops::Range;

use super::EditSpan;
use crate::{lines::LineIndex, rung::MatchRung, splice::Splice};

/// A new text, and what made it.
#[derive(Debug, Default)]
pub(super) struct Edited {
    /// Meaningless when nothing changed.
    pub(super) text: String,
    /// In order of place.
    changed: Vec<Changed>,
    pub(super) flags: Vec<&'static str>,
}

#[derive(Debug)]
struct Changed {
    /// The lines of the old text in which the replaced range starts and ends.
    start_line: usize,
    end_line: usize,
    /// New line numbers minus old ones, from there on.
    delta: isize,
    /// Lines of the new text.
    new: Range<usize>,
    rung: MatchRung,
}

impl Edited {
    /// Makes all replacements at once; they must be in order and must not overlap.
    ///
    /// One that puts back what was there is dropped.
    pub(super) fn new(lines: &LineIndex<'_>, splices: &[Splice], flags: Vec<&'static str>) -> Self {
        let old = lines.text();
        let grown: usize = splices.iter().map(|splice| splice.text.len()).sum();
        let mut text = String::with_capacity(old.len() + grown);
        let mut changed = Vec::with_capacity(splices.len());
        let mut done = 0;
        let mut delta = 0_isize;
        for splice in splices {
            let removed = &old[splice.range.clone()];
            if removed == splice.text {
                continue;
            }
            text.push_str(&old[done..splice.range.start]);
            text.push_str(&splice.text);
            done = splice.range.end;
            let start_line = lines.line_of(splice.range.start);
            let from = start_line.saturating_add_signed(delta);
            delta += newlines(&splice.text) as isize - newlines(removed) as isize;
            changed.push(Changed {
                start_line,
                end_line: lines.line_of(splice.range.end),
                delta,
                new: from..from + lines_of(&splice.text),
                rung: splice.rung,
            });
        }
        text.push_str(&old[done..]);
        Self {
            text,
            changed,
            flags,
        }
    }

    pub(super) fn is_unchanged(&self) -> bool {
        self.changed.is_empty()
    }

    pub(super) fn worst_rung(&self) -> MatchRung {
        self.changed
            .iter()
            .map(|changed| changed.rung)
            .max()
            .unwrap_or_default()
    }

    /// Moves the spans of earlier changes along and adds those of this one.
    pub(super) fn move_spans(&self, spans: &mut Vec<EditSpan>, rationale: Option<&str>) {
        if self.changed.is_empty() {
            return;
        }
        for span in spans.iter_mut() {
            let start = self.moved(span.lines.start);
            span.lines = start..self.moved(span.lines.end).max(start);
        }
        spans.extend(self.changed.iter().map(|changed| EditSpan {
            lines: changed.new.clone(),
            rung: changed.rung,
            rationale: rationale.map(str::to_owned),
        }));
        spans.sort_by_key(|span| (span.lines.start, span.lines.end));
    }

    /// Where a line of the old text is in the new one; a line that is gone is where its
    /// replacement ends.
    fn moved(&self, line: usize) -> usize {
        let n_before = self
            .changed
            .partition_point(|changed| changed.end_line <= line);
        if let Some(inside) = self.changed.get(n_before)
            && inside.start_line < line
        {
            return inside.new.end;
        }
        let delta = match n_before.checked_sub(1) {
            Some(idx) => self.changed[idx].delta,
            None => 0,
        };
        line.saturating_add_signed(delta)
    }
}

/// How many lines a piece of text stands on.
fn lines_of(piece: &str) -> usize {
    newlines(piece) + usize::from(!piece.is_empty() && !piece.ends_with('\n'))
}

fn newlines(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}
