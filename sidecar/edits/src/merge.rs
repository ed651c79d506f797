//! Three-way merge of texts by lines.
//!
//! What only one side changed is taken; what both changed alike is taken once; what they changed
//! differently, without an unchanged line between, is a conflict that keeps all three sides.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::{
    diff::{LineEdit, diff_with_offsets},
    linewise,
};

/// The result of [`merge3`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    /// The parts of the result, in order.
    pub parts: Vec<MergePart>,
}

/// One part of a merge; texts are as their side has them, line endings included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergePart {
    /// Lines that are settled.
    Merged(String),
    /// Lines that both sides changed.
    Conflict {
        /// As they were.
        base: String,
        /// As one side has them.
        ours: String,
        /// As the other side has them.
        theirs: String,
    },
}

impl Merge {
    /// The merged text, when nothing conflicts.
    pub fn text(&self) -> Option<String> {
        self.parts
            .iter()
            .map(|part| match part {
                MergePart::Merged(text) => Some(text.as_str()),
                MergePart::Conflict { .. } => None,
            })
            .collect()
    }

    /// Whether something conflicts.
    pub fn is_conflicted(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, MergePart::Conflict { .. }))
    }
}

/// Merges two descendants of `base`. Unchanged lines keep the endings that `ours` has.
pub fn merge3(base: &str, ours: &str, theirs: &str) -> Merge {
    let our_diff = diff_with_offsets(base, ours);
    let their_diff = diff_with_offsets(base, theirs);
    let text = |side: &str, offsets: &[usize], lines: Range<usize>| {
        side[offsets[lines.start]..offsets[lines.end]].to_owned()
    };
    let mut ours_side = Walk::new(&our_diff.edits);
    let mut theirs_side = Walk::new(&their_diff.edits);
    let mut merge = Merge { parts: Vec::new() };
    loop {
        let next = [ours_side.next_start(), theirs_side.next_start()];
        let Some(start) = next.into_iter().flatten().min() else {
            break;
        };
        let kept = ours_side.line()..ours_side.map(start);
        merge.push(text(ours, &our_diff.new_offsets, kept));
        // Edits that touch each other decide together.
        let mut end = start;
        loop {
            let reached = end;
            end = theirs_side.reach(ours_side.reach(end));
            if end == reached && !ours_side.starts_at(end) && !theirs_side.starts_at(end) {
                break;
            }
        }
        let our_lines = ours_side.take(start, end);
        let their_lines = theirs_side.take(start, end);
        let our_text = text(ours, &our_diff.new_offsets, our_lines);
        let their_text = text(theirs, &their_diff.new_offsets, their_lines);
        let base_text = text(base, &our_diff.old_offsets, start..end);
        if linewise::same(&our_text, &their_text) || linewise::same(&their_text, &base_text) {
            merge.push(our_text);
        } else if linewise::same(&our_text, &base_text) {
            merge.push(their_text);
        } else {
            merge.parts.push(MergePart::Conflict {
                base: base_text,
                ours: our_text,
                theirs: their_text,
            });
        }
    }
    let rest = ours_side.line()..our_diff.new_offsets.len() - 1;
    merge.push(text(ours, &our_diff.new_offsets, rest));
    merge
}

impl Merge {
    fn push(&mut self, text: String) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(MergePart::Merged(before)) => before.push_str(&text),
            _ => self.parts.push(MergePart::Merged(text)),
        }
    }
}

/// One side's edits while both are walked.
struct Walk<'a> {
    edits: &'a [LineEdit],
    /// Edits that are done.
    done: usize,
    /// Edits that the present part has.
    taken: usize,
    /// The first line of the side that is not done.
    line: usize,
}

impl<'a> Walk<'a> {
    fn new(edits: &'a [LineEdit]) -> Self {
        Self {
            edits,
            done: 0,
            taken: 0,
            line: 0,
        }
    }

    fn next_start(&self) -> Option<usize> {
        Some(self.edits.get(self.done)?.old.start)
    }

    fn line(&self) -> usize {
        self.line
    }

    /// The line of this side for base line `base`, which no edit before it covers.
    fn map(&self, base: usize) -> usize {
        let before = self.done.checked_sub(1).map(|last| &self.edits[last]);
        before.map_or(base, |edit| edit.new.end + (base - edit.old.end))
    }

    fn starts_at(&self, line: usize) -> bool {
        self.edits
            .get(self.taken)
            .is_some_and(|edit| edit.old.start <= line)
    }

    /// Takes the edits that begin at or before `end`; gives where the last of them ends.
    fn reach(&mut self, mut end: usize) -> usize {
        while let Some(edit) = self.edits.get(self.taken)
            && edit.old.start <= end
        {
            end = end.max(edit.old.end);
            self.taken += 1;
        }
        end
    }

    /// This side's lines for base lines `start..end`, and goes on after them.
    fn take(&mut self, start: usize, end: usize) -> Range<usize> {
        let from = self.map(start);
        self.done = self.taken;
        let to = self.map(end);
        self.line = to;
        from..to
    }
}
