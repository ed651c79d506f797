//! Whether a diff leaves open where a hunk lies.
//!
//! A diff says which lines stayed, but not which of two equal blocks is the one that was there. Two
//! other readings of the same texts are looked for: a change that can slide over the hunk's place,
//! and a copy of its lines that came (or went) whose surroundings fit as well as its own.

use std::{collections::HashMap, ops::Range};

use crate::diff::LineEdit;

/// Copies of a hunk's lines that are compared with its own place; with more it is ambiguous.
const MAX_COPIES: usize = 64;

/// What a diff leaves open.
pub(super) struct Doubt<'a> {
    edits: &'a [LineEdit],
    old: &'a [u32],
    new: &'a [u32],
    /// Old lines that a one-sided change might as well have touched, by start; each reaches as far
    /// as any before it.
    slides: Vec<Range<usize>>,
    /// By line: places in `new` near lines that came.
    came: Places,
    /// By line: places in `old` near lines that went.
    went: Places,
    displaces_first: bool,
    displaces_last: bool,
}

type Places = HashMap<u32, Vec<usize>>;

impl<'a> Doubt<'a> {
    /// Of the edits of a diff, `undecided` are those that may as well be told elsewhere.
    pub(super) fn new(
        edits: &'a [LineEdit],
        undecided: &[LineEdit],
        old: &'a [u32],
        new: &'a [u32],
    ) -> Self {
        let mut doubt = Self {
            edits,
            old,
            new,
            slides: undecided
                .iter()
                .filter_map(|edit| slide(edit, old, new))
                .collect(),
            came: Places::new(),
            went: Places::new(),
            displaces_first: false,
            displaces_last: false,
        };
        doubt.slides.sort_unstable_by_key(|slide| slide.start);
        let mut end = 0;
        for slide in &mut doubt.slides {
            end = end.max(slide.end);
            slide.end = end;
        }
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

    /// The first line, or the last, is known to be that still: a diff that puts others beyond it took
    /// it for another.
    pub(super) fn with_kept_ends(mut self, first: bool, last: bool) -> Self {
        let inserts_at = |edit: Option<&LineEdit>, line: usize| {
            edit.is_some_and(|edit| edit.old.is_empty() && edit.old.start == line)
        };
        self.displaces_first = first && inserts_at(self.edits.first(), 0);
        self.displaces_last = last && inserts_at(self.edits.last(), self.old.len());
        self
    }

    /// Whether `lines`, or a line beside them, was taken for another.
    pub(super) fn is_displaced(&self, lines: &Range<usize>) -> bool {
        let beside = usize::from(lines.is_empty());
        (self.displaces_first && lines.start <= beside)
            || (self.displaces_last && lines.end + beside >= self.old.len())
    }

    /// Whether a hunk on the old lines `lines`, which is taken to begin at the new line `here`, may be
    /// elsewhere.
    pub(super) fn is_ambiguous(&self, lines: &Range<usize>, here: usize) -> bool {
        self.is_slid_over(lines)
            || self.is_displaced(lines)
            || here + lines.len() > self.new.len()
            || self.has_copy(lines, here)
    }

    /// Whether a change of one side only may as well have touched `lines`.
    fn is_slid_over(&self, lines: &Range<usize>) -> bool {
        let is_insertion = lines.is_empty();
        let before = self.slides.partition_point(|slide| match is_insertion {
            true => slide.start <= lines.end,
            false => slide.start < lines.end,
        });
        let last = before.checked_sub(1).map(|i| &self.slides[i]);
        last.is_some_and(|slide| match is_insertion {
            true => lines.start <= slide.end,
            false => lines.start < slide.end,
        })
    }

    /// Whether lines that an edit takes out came elsewhere, or those that it puts in went elsewhere.
    pub(super) fn is_moved(&self, edit: &LineEdit) -> bool {
        let is_there = |lines: &[u32], text: &[u32], places: &Places, own: &Range<usize>| {
            let starts = lines.first().and_then(|id| places.get(id));
            starts.into_iter().flatten().any(|&start| {
                let place = start..start + lines.len();
                let is_elsewhere = place.end <= own.start || own.end <= place.start;
                is_elsewhere && text[start..].starts_with(lines)
            })
        };
        is_there(&self.old[edit.old.clone()], self.new, &self.came, &edit.new)
            || is_there(&self.new[edit.new.clone()], self.old, &self.went, &edit.old)
    }

    fn stays(&self, line: usize) -> bool {
        !touches(self.edits, line..line + 1, |edit| &edit.old)
    }

    /// Whether one of the old lines `lines`, or one beside them, went and came elsewhere: it may be
    /// the one that stayed.
    pub(super) fn has_moved_lines(&self, lines: &Range<usize>) -> bool {
        let mut around = lines.start.saturating_sub(1)..(lines.end + 1).min(self.old.len());
        around.any(|line| !self.stays(line) && self.has_come(self.old[line]))
    }

    /// Whether a line like this one came.
    fn has_come(&self, id: u32) -> bool {
        let mut places = self.came.get(&id).into_iter().flatten();
        places.any(|&line| touches(self.edits, line..line + 1, |edit| &edit.new))
    }

    /// Whether a copy of the lines came, or went, that fits as well as the place of the hunk.
    fn has_copy(&self, lines: &Range<usize>, here: usize) -> bool {
        // An insertion is known by those lines around it that stayed.
        let (window, at) = if lines.is_empty() {
            let stays = |line: usize| !touches(self.edits, line..line + 1, |edit| &edit.old);
            let above = usize::from(lines.start > 0 && stays(lines.start - 1));
            let below = usize::from(lines.end < self.old.len() && stays(lines.end));
            // One that went and came elsewhere may be the one that stayed.
            let around = lines.start.saturating_sub(1)..(lines.end + 1).min(self.old.len());
            if around
                .into_iter()
                .any(|line| !stays(line) && self.has_come(self.old[line]))
            {
                return true;
            }
            (lines.start - above..lines.end + below, above)
        } else {
            (lines.clone(), 0)
        };
        let lines_of_window = &self.old[window];
        if lines_of_window.is_empty() {
            // The ends of what changed are where they were.
            return lines.start > 0 && lines.end < self.old.len();
        }
        // More than enough of them, in order.
        let copies = |places: &Places, text: &[u32], is_touched: &dyn Fn(usize) -> bool| {
            let mut found: Vec<usize> = Vec::new();
            for (back, id) in lines_of_window.iter().enumerate() {
                let starts = places.get(id).into_iter().flatten();
                let starts = starts.filter_map(|at| at.checked_sub(back));
                let fits = |&start: &usize| {
                    text[start..].starts_with(lines_of_window) && is_touched(start)
                };
                found.extend(starts.filter(fits).take(MAX_COPIES + 1));
                found.sort_unstable();
                found.dedup();
                if found.len() > MAX_COPIES {
                    break;
                }
            }
            found.iter().map(|start| start + at).collect::<Vec<usize>>()
        };
        let size = lines_of_window.len();
        let came = copies(&self.came, self.new, &|start| {
            touches(self.edits, start..start + size, |edit| &edit.new)
        });
        if came.len() > MAX_COPIES {
            return true;
        }
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

/// Surroundings that are equal over so many lines count as equal.
const MAX_FIT: usize = 256;

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
                .take(MAX_FIT)
                .take_while(equal)
                .count(),
            below: old[old_at + len..]
                .iter()
                .zip(&new[new_at + len..])
                .take(MAX_FIT)
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
