//! What differs between two texts, in whole lines.
//!
//! Lines are equal when their contents are, whatever their endings (LF or CRLF). The result is
//! deterministic, and no work depends on a clock: inputs that would cost too much get a coarser,
//! still correct answer.
//!
//! Steps: common ends are trimmed; lines become numbers (`intern`); lines that the other side does
//! not have are changed for certain; runs between lines that are unique on both sides are diffed on
//! their own (`anchored`), by a bounded Myers (`myers`); changes then slide to where a reader
//! expects them (`compact`).

mod anchored;
mod compact;
mod intern;
mod myers;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub(crate) use self::intern::line_hash;
use crate::linewise;

/// Replaced lines: zero-based ranges on both sides, of which one may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEdit {
    /// Lines that go.
    pub old: Range<usize>,
    /// Lines that come.
    pub new: Range<usize>,
}

/// The edits that turn the lines of `old` into those of `new`, in order.
///
/// At least one unchanged line lies between two edits, and no edit begins or ends with a line that
/// both sides have.
///
/// Cost: linear in the texts, plus at most quadratic in the size of each difference up to a fixed
/// bound.
pub fn diff_lines(old: &str, new: &str) -> Vec<LineEdit> {
    diff_with_offsets(old, new).edits
}

/// A diff, with the byte offsets of the lines on both sides.
pub(crate) struct LineDiff {
    pub(crate) edits: Vec<LineEdit>,
    pub(crate) old_offsets: Vec<usize>,
    pub(crate) new_offsets: Vec<usize>,
}

impl LineDiff {
    pub(crate) fn old_bytes(&self, edit: &LineEdit) -> Range<usize> {
        self.old_offsets[edit.old.start]..self.old_offsets[edit.old.end]
    }

    pub(crate) fn new_bytes(&self, edit: &LineEdit) -> Range<usize> {
        self.new_offsets[edit.new.start]..self.new_offsets[edit.new.end]
    }
}

/// [`diff_lines`], for callers that need bytes too.
pub(crate) fn diff_with_offsets(old: &str, new: &str) -> LineDiff {
    if old.is_empty() || new.is_empty() {
        return all_of(old, new);
    }
    diff_with_ids(old, new).0
}

/// The diff of two texts of which one at least is empty: files that come or go.
fn all_of(old: &str, new: &str) -> LineDiff {
    let old_offsets = linewise::line_offsets(old);
    let new_offsets = linewise::line_offsets(new);
    let all = LineEdit {
        old: 0..old_offsets.len() - 1,
        new: 0..new_offsets.len() - 1,
    };
    let is_same = all.old.is_empty() && all.new.is_empty();
    LineDiff {
        edits: if is_same { Vec::new() } else { vec![all] },
        old_offsets,
        new_offsets,
    }
}

/// [`diff_with_offsets`], with the numbers that stand for the lines of both sides.
pub(crate) fn diff_with_ids(old: &str, new: &str) -> (LineDiff, Vec<u32>, Vec<u32>) {
    let old_offsets = linewise::line_offsets(old);
    let new_offsets = linewise::line_offsets(new);
    let (old_ids, new_ids) = intern::intern((old, &old_offsets), (new, &new_offsets));
    let edits = diff_ids(&old_ids, &new_ids);
    let edits = compact::compact(
        edits,
        (&old_ids, old, &old_offsets),
        (&new_ids, new, &new_offsets),
    );
    let diff = LineDiff {
        edits,
        old_offsets,
        new_offsets,
    };
    (diff, old_ids, new_ids)
}

/// The edits between two sequences of numbers, not yet moved to where a reader expects them.
pub(crate) fn diff_ids(old: &[u32], new: &[u32]) -> Vec<LineEdit> {
    let mut changed = Changed {
        old: vec![false; old.len()],
        new: vec![false; new.len()],
    };
    let prefix = common_prefix(old, new);
    let suffix = common_prefix_of_ends(&old[prefix..], &new[prefix..]);
    let old_range = prefix..old.len() - suffix;
    let new_range = prefix..new.len() - suffix;
    let (old_kept, new_kept) = shared(old, old_range, new, new_range, &mut changed);
    let old_seq: Vec<u32> = old_kept.iter().map(|&i| old[i]).collect();
    let new_seq: Vec<u32> = new_kept.iter().map(|&i| new[i]).collect();
    let mut inner = Changed {
        old: vec![false; old_seq.len()],
        new: vec![false; new_seq.len()],
    };
    anchored::diff(&old_seq, &new_seq, &mut inner);
    for (&i, _) in old_kept
        .iter()
        .zip(&inner.old)
        .filter(|(_, changed)| **changed)
    {
        changed.old[i] = true;
    }
    for (&i, _) in new_kept
        .iter()
        .zip(&inner.new)
        .filter(|(_, changed)| **changed)
    {
        changed.new[i] = true;
    }
    changed.edits()
}

/// Which lines are not part of the common sequence.
struct Changed {
    old: Vec<bool>,
    new: Vec<bool>,
}

impl Changed {
    fn edits(&self) -> Vec<LineEdit> {
        let mut edits = Vec::new();
        let (mut i, mut j) = (0, 0);
        loop {
            while i < self.old.len() && j < self.new.len() && !self.old[i] && !self.new[j] {
                (i, j) = (i + 1, j + 1);
            }
            let (start_i, start_j) = (i, j);
            while i < self.old.len() && self.old[i] {
                i += 1;
            }
            while j < self.new.len() && self.new[j] {
                j += 1;
            }
            if (i, j) == (start_i, start_j) {
                return edits;
            }
            edits.push(LineEdit {
                old: start_i..i,
                new: start_j..j,
            });
        }
    }
}

/// Marks the lines that the other side lacks, and gives the places of the others.
fn shared(
    old: &[u32],
    old_range: Range<usize>,
    new: &[u32],
    new_range: Range<usize>,
    changed: &mut Changed,
) -> (Vec<usize>, Vec<usize>) {
    let ids = old
        .iter()
        .chain(new)
        .copied()
        .max()
        .map_or(0, |id| id as usize + 1);
    let mut sides = vec![0_u8; ids];
    for &id in &old[old_range.clone()] {
        sides[id as usize] |= 1;
    }
    for &id in &new[new_range.clone()] {
        sides[id as usize] |= 2;
    }
    let keep = |seq: &[u32], range: Range<usize>, changed: &mut Vec<bool>| -> Vec<usize> {
        range
            .filter(|&i| {
                let kept = sides[seq[i] as usize] == 3;
                changed[i] = !kept;
                kept
            })
            .collect()
    };
    (
        keep(old, old_range, &mut changed.old),
        keep(new, new_range, &mut changed.new),
    )
}

fn common_prefix(old: &[u32], new: &[u32]) -> usize {
    old.iter().zip(new).take_while(|(a, b)| a == b).count()
}

fn common_prefix_of_ends(old: &[u32], new: &[u32]) -> usize {
    old.iter()
        .rev()
        .zip(new.iter().rev())
        .take_while(|(a, b)| a == b)
        .count()
}
