//! Hunks follow a text that changed while nobody watched: on disk, or between runs.
//!
//! A diff says which lines stayed, but not which of two equal blocks is the one that was there. A
//! hunk moves along only where its lines are unchanged and no other reading of the same two texts
//! puts it elsewhere; any other is a conflict. Two readings are checked: a change that can slide
//! over the hunk's place, and a copy of its lines that came (or went) whose surroundings fit as
//! well as its own.

use std::ops::Range;

use ropey::Rope;

use super::{Entry, HunkSet};
use crate::{
    diff::{LineEdit, diff_with_ids},
    hunk::{ConflictInfo, HunkEvent, HunkState},
    linewise,
};

/// Copies of a hunk's lines that are compared with its own place; with more it is ambiguous.
const MAX_COPIES: usize = 64;

impl HunkSet {
    /// Moves the set from `old`, on which it is anchored, to `new`; gives what that did.
    pub fn rebase(&mut self, old: &Rope, new: &Rope) -> Vec<HunkEvent> {
        let mut events = Vec::new();
        if self.is_empty() || old == new {
            return events;
        }
        let old_text = linewise::slice(old, 0..old.len_bytes());
        let new_text = linewise::slice(new, 0..new.len_bytes());
        let (diff, old_ids, new_ids) = diff_with_ids(&old_text, &new_text);
        let doubt = Doubt::new(&diff.edits, &old_ids, &new_ids);
        let places: Vec<(u32, Range<usize>)> = self
            .anchors
            .iter()
            .filter(|(key, _)| self.entry(*key).is_some_and(Entry::is_pending))
            .map(|(key, range)| {
                let line = |byte: usize| diff.old_offsets.partition_point(|offset| *offset < byte);
                (key, line(range.start)..line(range.end))
            })
            .collect();
        let mut dirty = Vec::new();
        self.line_edits(
            &diff,
            (&old_text, &new_text),
            0,
            old,
            &mut dirty,
            &mut events,
        );
        self.evaluate(&dirty, new, &mut events);
        for (key, lines) in places {
            let is_pending = self.entry(key).is_some_and(Entry::is_pending);
            if is_pending && doubt.is_ambiguous(&lines) {
                self.turn(key, HunkState::Conflict(ConflictInfo::Ambiguous));
                self.event(key, &mut events, |id| HunkEvent::Conflicted { id });
            }
        }
        events
    }
}

/// What a diff leaves open.
struct Doubt<'a> {
    edits: &'a [LineEdit],
    old: &'a [u32],
    new: &'a [u32],
    /// Old lines that a one-sided change might as well have touched.
    slides: Vec<Range<usize>>,
    /// By line: places in `new` near lines that came.
    came: Places,
    /// By line: places in `old` near lines that went.
    went: Places,
}

type Places = std::collections::HashMap<u32, Vec<usize>>;

impl<'a> Doubt<'a> {
    fn new(edits: &'a [LineEdit], old: &'a [u32], new: &'a [u32]) -> Self {
        let mut doubt = Self {
            edits,
            old,
            new,
            slides: edits
                .iter()
                .filter_map(|edit| slide(edit, old, new))
                .collect(),
            came: Places::new(),
            went: Places::new(),
        };
        for edit in edits {
            let around = |lines: &Range<usize>, len: usize| {
                lines.start.saturating_sub(1)..(lines.end + 1).min(len)
            };
            for line in around(&edit.new, new.len()) {
                note(&mut doubt.came, new[line], line);
            }
            for line in around(&edit.old, old.len()) {
                note(&mut doubt.went, old[line], line);
            }
        }
        doubt
    }

    /// Whether a hunk on the old lines `lines`, which no edit touches, may be elsewhere.
    fn is_ambiguous(&self, lines: &Range<usize>) -> bool {
        let slid_over = self.slides.iter().any(|slide| {
            if lines.is_empty() {
                slide.start <= lines.start && lines.start <= slide.end
            } else {
                slide.start < lines.end && lines.start < slide.end
            }
        });
        slid_over || self.has_copy(lines)
    }

    /// Whether a copy of the lines came, or went, that fits as well as the place of the hunk.
    fn has_copy(&self, lines: &Range<usize>) -> bool {
        let here = self.moved(lines);
        // An insertion is known by the lines around it.
        let (window, at) = if lines.is_empty() {
            let above = usize::from(lines.start > 0);
            let below = usize::from(lines.end < self.old.len());
            (lines.start - above..lines.end + below, above)
        } else {
            (lines.clone(), 0)
        };
        let lines_of_window = &self.old[window];
        let copies = |places: &Places, text: &[u32], is_touched: &dyn Fn(usize) -> bool| {
            let mut found: Vec<usize> = Vec::new();
            for (back, id) in lines_of_window.iter().enumerate() {
                let starts = places.get(id).into_iter().flatten();
                let starts = starts.filter_map(|at| at.checked_sub(back));
                let fits = |&start: &usize| {
                    text[start..].starts_with(lines_of_window) && is_touched(start)
                };
                found.extend(starts.filter(fits));
                if found.len() > MAX_COPIES * lines_of_window.len() {
                    break;
                }
            }
            found.sort_unstable();
            found.dedup();
            found.iter().map(|start| start + at).collect::<Vec<usize>>()
        };
        let size = lines_of_window.len();
        let came = copies(&self.came, self.new, &|start| {
            touches(self.edits, start..start + size, |edit| &edit.new)
        });
        let went = copies(&self.went, self.old, &|start| {
            touches(self.edits, start..start + size, |edit| &edit.old)
        });
        if came.len() + went.len() > MAX_COPIES {
            return true;
        }
        let came: Vec<usize> = came.into_iter().filter(|&place| place != here).collect();
        let went: Vec<usize> = went
            .into_iter()
            .filter(|&place| place != lines.start)
            .collect();
        if came.is_empty() && went.is_empty() {
            return false;
        }
        let len = lines.len();
        let own = Fit::of(self.old, lines.start, self.new, here, len);
        let beats = |other: Fit| own.beats(&other);
        let is_clear = came
            .into_iter()
            .all(|place| beats(Fit::of(self.old, lines.start, self.new, place, len)))
            && went
                .into_iter()
                .all(|place| beats(Fit::of(self.old, place, self.new, here, len)));
        !is_clear
    }

    /// The new line of the old line at which `lines` begin.
    fn moved(&self, lines: &Range<usize>) -> usize {
        let before = self.edits.partition_point(|edit| {
            edit.old.end <= lines.start && (edit.old.start < lines.start || edit.old.is_empty())
        });
        let last = before.checked_sub(1).map(|i| &self.edits[i]);
        last.map_or(lines.start, |edit| {
            edit.new.end + (lines.start - edit.old.end)
        })
    }
}

/// Whether a run of lines on one side has changed lines, or a change between its lines.
fn touches(
    edits: &[LineEdit],
    lines: Range<usize>,
    side: impl Fn(&LineEdit) -> &Range<usize>,
) -> bool {
    let next = edits.partition_point(|edit| side(edit).end <= lines.start);
    edits.get(next).is_some_and(|edit| {
        let changed = side(edit);
        changed.start < lines.end
    })
}

fn note(places: &mut Places, id: u32, line: usize) {
    let lines = places.entry(id).or_default();
    if lines.last() != Some(&line) {
        lines.push(line);
    }
}

/// How many lines above and below a place in one text equal those around a place in another.
struct Fit {
    above: usize,
    below: usize,
}

impl Fit {
    fn of(old: &[u32], old_at: usize, new: &[u32], new_at: usize, len: usize) -> Self {
        let equal = |(a, b): &(&u32, &u32)| a == b;
        Self {
            above: old[..old_at]
                .iter()
                .rev()
                .zip(new[..new_at].iter().rev())
                .take_while(equal)
                .count(),
            below: old[old_at + len..]
                .iter()
                .zip(&new[new_at + len..])
                .take_while(equal)
                .count(),
        }
    }

    /// Better on one side and as good on the other.
    fn beats(&self, other: &Self) -> bool {
        self.above >= other.above
            && self.below >= other.below
            && (self.above > other.above || self.below > other.below)
    }
}

/// The old lines that a one-sided edit covers in all the places to which it can slide.
fn slide(edit: &LineEdit, old: &[u32], new: &[u32]) -> Option<Range<usize>> {
    let (side, lines) = match (edit.old.is_empty(), edit.new.is_empty()) {
        (true, false) => (new, &edit.new),
        (false, true) => (old, &edit.old),
        _ => return None,
    };
    let up = (0..lines.start)
        .take_while(|i| side[lines.start - 1 - i] == side[lines.end - 1 - i])
        .count();
    let down = (lines.end..side.len())
        .take_while(|&i| side[i] == side[i - lines.len()])
        .count();
    if up + down == 0 {
        return None;
    }
    // Beyond the next edits the two texts differ: there it covers too much, which is safe.
    Some(edit.old.start.saturating_sub(up)..edit.old.end + down)
}
