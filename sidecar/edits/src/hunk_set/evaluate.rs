//! What a touched hunk's place reads now: the text decides, however it came to be.

use std::ops::Range;

use ropey::Rope;

use super::{Entry, HunkSet, change::accepted, is_open, lifts};
use crate::{
    hunk::{ConflictInfo, ConflictSides, HunkEvent, HunkState},
    linewise,
};

/// What stands at a hunk's place.
enum Reading {
    /// The lines it was written against, at this range.
    Old(Range<usize>),
    /// Its replacement, at this range.
    New(Range<usize>),
    /// Something else.
    Other,
}

/// How far from a place its double makes it doubtful whether the hunk's lines are back.
const MAX_NEAR_LINES: usize = 64;

impl HunkSet {
    /// Reads the places of the hunks in `keys` in `text`, and settles what that means.
    pub(super) fn evaluate(&mut self, keys: &[u32], text: &Rope, events: &mut Vec<HunkEvent>) {
        // What breaks gives its lines free before others claim them.
        for &key in keys {
            self.break_pending(key, text, events);
        }
        // What is put in by this very change is no undoing of what had been put in before.
        let mut applied = Vec::new();
        for &key in keys {
            self.evaluate_unapplied(key, text, &mut applied, events);
        }
        while self.evaluate_accepted(keys, text, &applied, events) {}
    }

    /// Makes a pending hunk a conflict when its place reads neither its lines nor its replacement.
    fn break_pending(&mut self, key: u32, text: &Rope, events: &mut Vec<HunkEvent>) {
        let is_broken = self.entry(key).is_some_and(|entry| {
            entry.is_pending()
                && entry.region.is_some()
                && matches!(entry.reading(&self.range_of(key), text), Reading::Other)
        });
        if is_broken {
            self.turn(key, HunkState::Conflict(ConflictInfo::Changed));
            self.event(key, events, |id| HunkEvent::Conflicted { id });
        }
    }

    /// Reads the place of a hunk that is not accepted.
    fn evaluate_unapplied(
        &mut self,
        key: u32,
        text: &Rope,
        applied: &mut Vec<(u32, Range<usize>)>,
        events: &mut Vec<HunkEvent>,
    ) {
        let range = self.range_of(key);
        let Some(entry) = self.entry(key).filter(|entry| entry.region.is_some()) else {
            return;
        };
        let state = &entry.hunk.state;
        if matches!(state, HunkState::Accepted { .. }) {
            return;
        }
        match (state, entry.reading(&range, text)) {
            (HunkState::Pending | HunkState::Conflict(_), Reading::New(place)) => {
                applied.push((key, range));
                self.restore_place(key, place);
                self.settle_applied(key, events);
            }
            (HunkState::Pending, Reading::Old(place)) => self.restore_place(key, place),
            (HunkState::Conflict(info), Reading::Old(place)) => {
                let is_lifted = lifts(info);
                if self.is_taken(key, &place) || !self.is_sure(key, &place, text) {
                    return;
                }
                self.restore_place(key, place);
                if is_lifted {
                    self.turn(key, HunkState::Pending);
                    self.event(key, events, |id| HunkEvent::Lifted { id });
                }
            }
            (HunkState::Rejected | HunkState::Withdrawn, Reading::Old(place)) => {
                self.restore_place(key, place);
            }
            (_, Reading::New(_) | Reading::Other) | (HunkState::Accepted { .. }, _) => {}
        }
    }

    /// Reads the places of accepted hunks; gives whether one was reopened.
    fn evaluate_accepted(
        &mut self,
        keys: &[u32],
        text: &Rope,
        applied: &[(u32, Range<usize>)],
        events: &mut Vec<HunkEvent>,
    ) -> bool {
        let mut is_reopened = false;
        for &key in keys {
            let range = self.range_of(key);
            let Some(entry) = self.entry(key).filter(|entry| {
                let is_accepted = matches!(entry.hunk.state, HunkState::Accepted { .. });
                is_accepted
                    && entry.region.is_some()
                    && entry.under.is_empty()
                    && entry.hunk.changes_something()
            }) else {
                continue;
            };
            let touches =
                |place: &Range<usize>| place.start <= range.end && range.start <= place.end;
            match entry.reading(&range, text) {
                Reading::New(place) => self.restore_place(key, place),
                Reading::Old(place) => {
                    let over = applied.iter().find(|(_, place)| touches(place));
                    if let Some(&(over, _)) = over {
                        if let Some(entry) = self.entry_mut(key) {
                            entry.under.push(over);
                        }
                    } else if !self.is_taken(key, &place) && self.is_sure(key, &place, text) {
                        self.restore_place(key, place);
                        self.reopen_reverted(key, events);
                        is_reopened = true;
                    }
                }
                Reading::Other => {}
            }
        }
        is_reopened
    }

    /// The hunk's text is in the base.
    pub(super) fn settle_applied(&mut self, key: u32, events: &mut Vec<HunkEvent>) {
        let Some(entry) = self.entry_mut(key) else {
            return;
        };
        let expected = std::mem::take(&mut entry.expected);
        let before = entry.reopened.take();
        let by_hand = if expected {
            false
        } else {
            before.unwrap_or(true)
        };
        entry.hunk.state = accepted(by_hand);
        self.event(key, events, |id| match (expected, before) {
            (true, _) => HunkEvent::Applied { id },
            (false, Some(_)) => HunkEvent::AcceptedAgain { id },
            (false, None) => HunkEvent::AcceptedByHand { id },
        });
    }

    /// The hunk's removed lines are back in the base.
    pub(super) fn reopen_reverted(&mut self, key: u32, events: &mut Vec<HunkEvent>) {
        let Some(entry) = self.entry_mut(key) else {
            return;
        };
        if let HunkState::Accepted { by_hand } = entry.hunk.state {
            entry.reopened = Some(by_hand);
        }
        entry.hunk.state = HunkState::Pending;
        // What lay under it holds its place.
        for slot in self.touched(&self.range_of(key)) {
            let other = self.anchors.key(slot);
            let is_under = |entry: &Entry| entry.under.contains(&key);
            if self.entry(other).is_some_and(is_under)
                && let Some(entry) = self.entry_mut(other)
            {
                entry.under.retain(|over| *over != key);
            }
        }
        self.event(key, events, |id| HunkEvent::Reopened { id });
    }

    pub(super) fn turn(&mut self, key: u32, state: HunkState) {
        if let Some(entry) = self.entry_mut(key) {
            entry.hunk.state = state;
        }
    }

    pub(super) fn event(
        &self,
        key: u32,
        events: &mut Vec<HunkEvent>,
        make: impl FnOnce(crate::HunkId) -> HunkEvent,
    ) {
        if let Some(entry) = self.entry(key) {
            events.push(make(entry.hunk.id.clone()));
        }
    }

    /// Whether another hunk claims lines of `range`.
    pub(super) fn is_taken(&self, key: u32, range: &Range<usize>) -> bool {
        self.overlapping(key, range).is_some()
    }

    /// Whether the hunk's lines at `place` are those that it was written against, and not others
    /// that read the same: an edit was taken back, or no such lines stand near.
    fn is_sure(&self, key: u32, place: &Range<usize>, text: &Rope) -> bool {
        let Some(entry) = self.entry(key) else {
            return false;
        };
        let removed = &entry.hunk.removed;
        if entry.is_restored || removed.is_empty() {
            return true;
        }
        let is_double = |start: usize| {
            start != place.start && linewise::reads_from(text, start, removed).is_some()
        };
        let mut above = place.start;
        let mut below = place.start;
        for _ in 0..MAX_NEAR_LINES {
            if above > 0 {
                above = linewise::line_start(text, above - 1);
            }
            below = linewise::next_line_start(text, below);
            if is_double(above) || is_double(below) {
                return false;
            }
        }
        true
    }

    /// Another hunk that claims lines of `range`.
    pub(super) fn overlapping(&self, key: u32, range: &Range<usize>) -> Option<u32> {
        self.touched(range)
            .into_iter()
            .map(|slot| (self.anchors.key(slot), self.anchors.range(slot)))
            .find(|(other, place)| {
                *other != key
                    && self.entry(*other).is_some_and(Entry::claims)
                    && overlaps(place, range)
            })
            .map(|(other, _)| other)
    }

    /// The hunk's place reads what its state says again.
    fn restore_place(&mut self, key: u32, place: Range<usize>) {
        if let Some(entry) = self.entry_mut(key) {
            entry.region = None;
        }
        self.relocate(key, place);
    }

    /// Moves a hunk's anchor to `place`, keeping the order of starts.
    pub(super) fn relocate(&mut self, key: u32, place: Range<usize>) {
        let mut slot = self.slots[key as usize] as usize;
        let goes_after = |other: &Range<usize>| {
            other.start < place.start
                || (other.start == place.start && other.is_empty() && !place.is_empty())
        };
        while slot + 1 < self.anchors.len() && goes_after(&self.anchors.range(slot + 1)) {
            self.swap(slot, slot + 1);
            slot += 1;
        }
        let goes_before = |other: &Range<usize>| {
            other.start > place.start
                || (other.start == place.start && !other.is_empty() && place.is_empty())
        };
        while slot > 0 && goes_before(&self.anchors.range(slot - 1)) {
            self.swap(slot, slot - 1);
            slot -= 1;
        }
        self.anchors.set(slot, &[(key, place)]);
        self.slots[key as usize] = slot as u32;
    }

    /// Lets the neighbor at `to` take the slot `from`, which is being left.
    fn swap(&mut self, from: usize, to: usize) {
        let neighbor = (self.anchors.key(to), self.anchors.range(to));
        self.slots[neighbor.0 as usize] = from as u32;
        self.anchors.set(from, &[neighbor]);
    }
}

/// Whether two ranges share lines, or one point lies inside the other range.
pub(super) fn overlaps(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Entry {
    /// What the place would read with the hunk's removed lines in it.
    pub(super) fn old_text(&self) -> &str {
        self.region
            .as_ref()
            .map_or(&self.hunk.removed, |region| &region.old)
    }

    pub(super) fn above(&self) -> &str {
        self.region
            .as_ref()
            .map_or("", |region| &region.old[..region.offset])
    }

    pub(super) fn below(&self) -> &str {
        self.region.as_ref().map_or("", |region| {
            &region.old[region.offset + self.hunk.removed.len()..]
        })
    }

    /// What the place would read with `replacement` in it.
    pub(super) fn with(&self, replacement: &str) -> String {
        let (above, below) = (self.above(), self.below());
        let ending = if is_open(replacement) && !below.is_empty() {
            "\n"
        } else {
            ""
        };
        [above, replacement, ending, below].concat()
    }

    /// Compares the place with what it would read before and after the hunk.
    fn reading(&self, range: &Range<usize>, text: &Rope) -> Reading {
        let old = self.old_text();
        if linewise::reads(text, range.clone(), old) {
            return self
                .own_lines(range.clone(), text)
                .map_or(Reading::Other, Reading::Old);
        }
        let new = self.with(&self.hunk.replacement);
        let unfinished = is_open(&new);
        if linewise::reads(text, range.clone(), &new)
            || (unfinished && linewise::reads(text, range.clone(), &(new + "\n")))
        {
            return self
                .own_lines(range.clone(), text)
                .map_or(Reading::Other, Reading::New);
        }
        // Lines that had been changed with the hunk's own may be gone for good.
        let own = &self.hunk.removed;
        let is_held = matches!(
            self.hunk.state,
            HunkState::Pending | HunkState::Accepted { .. }
        );
        if !is_held
            && !own.is_empty()
            && linewise::reads(text, range.clone(), own)
            && !self.has_double_around()
        {
            return Reading::Old(range.clone());
        }
        Reading::Other
    }

    /// Whether the lines that were changed with the hunk's own held a double of these.
    fn has_double_around(&self) -> bool {
        let (old, own) = (self.old_text(), &self.hunk.removed);
        let offsets = linewise::line_offsets(old);
        let own_start = self.above().len();
        let mut starts = offsets.into_iter().filter(|start| *start != own_start);
        starts.any(|start| old[start..].starts_with(own))
    }

    /// The part of `range` between the lines above and below that were changed with the hunk.
    fn own_lines(&self, range: Range<usize>, text: &Rope) -> Option<Range<usize>> {
        let start = linewise::reads_from(text, range.start, self.above())?;
        let end = linewise::reads_until(text, range.end, self.below())?;
        (start <= end).then_some(start..end)
    }
}

/// The three sides of a conflict at `range`.
pub(super) fn sides(
    entry: &Entry,
    info: &ConflictInfo,
    range: Range<usize>,
    text: &Rope,
) -> ConflictSides {
    let line = text.byte_to_line(range.start) + 1;
    let current = linewise::slice_lf(text, range);
    match info {
        ConflictInfo::Changed => ConflictSides {
            reason: what_changed(entry.old_text(), &current, line),
            base: entry.old_text().to_owned(),
            proposed: entry.with(&entry.hunk.replacement),
            current,
        },
        ConflictInfo::Ambiguous => ConflictSides {
            reason: format!("the lines at line {line} now stand in more than one place"),
            base: entry.old_text().to_owned(),
            proposed: entry.with(&entry.hunk.replacement),
            current,
        },
        ConflictInfo::Amended { proposed, .. } => ConflictSides {
            reason: format!("the agent edited the lines at line {line} that you had amended"),
            base: entry.hunk.removed.clone(),
            current: entry.hunk.replacement.clone(),
            proposed: proposed.clone(),
        },
    }
}

/// One sentence about the difference of `base` and `current`, whose first line is number `line`.
fn what_changed(base: &str, current: &str, line: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (
        base.split_inclusive('\n').collect(),
        current.split_inclusive('\n').collect(),
    );
    let same_above = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - same_above;
    let backward = old.iter().rev().zip(new.iter().rev());
    let same_below = backward.take(rest).take_while(|(a, b)| a == b).count();
    let gone = old.len() - same_above - same_below;
    let come = new.len() - same_above - same_below;
    let first = line + same_above;
    match (gone, come) {
        (0, 0) => format!("the text around line {first} changed"),
        (0, 1) => format!("line {first} was inserted"),
        (0, n) => format!("lines {first}-{} were inserted", first + n - 1),
        (1, 0) => format!("one line was removed at line {first}"),
        (n, 0) => format!("{n} lines were removed at line {first}"),
        (_, 1) => format!("line {first} changed"),
        (_, n) => format!("lines {first}-{} changed", first + n - 1),
    }
}
