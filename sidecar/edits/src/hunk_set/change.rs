//! An edit of the text moves, breaks, lifts and settles hunks.
//!
//! A change is widened to whole lines and reduced to the lines that really differ. Each such edit
//! either belongs to hunks (it is exactly what applying or undoing them does), or goes against the
//! hunks whose lines it changes, or merely moves what lies behind it.
//!
//! Cost of a keystroke: logarithmic in the hunks, plus the hunks that it touches.

use std::ops::Range;

use ropey::Rope;

use super::{
    Entry, HunkSet, is_open,
    own::{OwnPart, Owner, Ownership},
    rebase::Change,
};
use crate::{
    hunk::{HunkEvent, HunkState},
    linewise,
};

/// Whole lines of the text that are replaced by other whole lines.
pub(super) struct Edit<'a> {
    /// What goes, in the text as it is once the edits before this one are done.
    pub(super) at: Range<usize>,
    /// Where that begins in the text before all edits.
    pub(super) origin: usize,
    /// Up to here the edits before this one may have changed the text.
    pub(super) floor: usize,
    /// What comes.
    pub(super) text: &'a str,
}

impl Edit<'_> {
    /// Whether it leaves a last line without LF.
    fn is_open(&self) -> bool {
        is_open(self.text)
    }
}

/// What an edit means for a range that it touches.
pub(super) enum Effect {
    Stays,
    Moves,
    Against,
}

impl HunkSet {
    /// Follows one change of the text: `range` of `before` became `inserted`, which gave `after`.
    ///
    /// This is the keystroke path. `range` lies on character boundaries. Appends what happened to
    /// hunks to `events`.
    pub fn change(
        &mut self,
        before: &Rope,
        range: Range<usize>,
        inserted: &str,
        after: &Rope,
        events: &mut Vec<HunkEvent>,
    ) {
        if self.is_empty() || (range.is_empty() && inserted.is_empty()) {
            return;
        }
        let lines = whole_lines(before, &range, inserted);
        let delta = inserted.len() as i64 - range.len() as i64;
        let is_within_lines =
            memchr::memchr(b'\n', inserted.as_bytes()).is_none() && !has_lf(before, &range);
        // Whole lines that come or go may be told beside a hunk whose own edit they are.
        if is_within_lines && self.touched(&lines).is_empty() {
            self.anchors
                .shift_from(self.anchors.first_from(lines.end), delta);
            return;
        }
        let old = linewise::slice(before, lines.clone());
        let end = lines.end.saturating_add_signed(delta as isize);
        let new = linewise::slice(after, lines.start..end);
        let mut dirty = Vec::new();
        let whole = Edit {
            at: lines.clone(),
            origin: lines.start,
            floor: 0,
            text: &new,
        };
        if let Some(parts) = self.expected_parts(&whole, &old) {
            // Even where all of them together change nothing.
            self.own_edits(&whole, parts, before, &mut dirty, events);
        } else if old == new {
            return;
        } else if is_one_edit(&old, &new) {
            if linewise::same(&old, &new) {
                self.nudge(lines.end, delta);
            } else {
                self.line_edit(&whole, None, before, &mut dirty, events);
            }
        } else {
            // An insertion at the edge of what was told to have changed is not within it, unless it
            // came there by edits that may be taken back now.
            let is_within = |entry: &Entry, range: &Range<usize>| {
                let is_inside = lines.start < range.start && range.end < lines.end;
                let is_covered = lines.start <= range.start && range.end <= lines.end;
                is_inside || (is_covered && !(range.is_empty() && entry.steps.is_empty()))
            };
            let suspects = self.suspects(&lines, is_within);
            let change = Change {
                old: &old,
                new: &new,
                start: lines.start,
                keeps_first: lines.start < range.start,
                keeps_last: range.end < lines.end,
            };
            self.follow_diff(&change, suspects, (before, after), events);
            return;
        }
        self.evaluate(&dirty, after, events);
    }

    /// The line that ends at `end` got longer by `delta` bytes without being changed.
    pub(super) fn nudge(&mut self, end: usize, delta: i64) {
        if delta == 0 {
            return;
        }
        let first = self.anchors.first_from(end);
        for slot in self.anchors.reaching(first, end) {
            let range = self.anchors.range(slot);
            let longer = range.start..range.end.saturating_add_signed(delta as isize);
            self.anchors.set(slot, &[(self.anchors.key(slot), longer)]);
        }
        self.anchors.shift_from(first, delta);
    }

    /// Follows one edit of whole lines; `dirty` gets the hunks whose place must be read again.
    ///
    /// Gives whether it is an own edit of hunks.
    pub(super) fn line_edit(
        &mut self,
        edit: &Edit<'_>,
        owner: Option<Owner>,
        before: &Rope,
        dirty: &mut Vec<u32>,
        events: &mut Vec<HunkEvent>,
    ) -> bool {
        let first = self.anchors.first_from(edit.at.start);
        let beyond = self.anchors.first_from(edit.at.end + 1);
        let mut slots = self.anchors.reaching(first, edit.at.start);
        let reaching = slots.len();
        slots.extend(first..beyond);
        let owner = owner.or_else(|| self.owner(&slots, edit, before));
        if owner.is_none() {
            if let Some(parts) = self.owners(&slots, edit, before) {
                self.own_edits(edit, parts, before, dirty, events);
                return true;
            }
            if let Some(slid) = self.slid(edit, before) {
                let edit = Edit {
                    at: slid.at,
                    origin: slid.origin,
                    floor: edit.floor,
                    text: &slid.text,
                };
                return self.line_edit(&edit, Some(slid.owner), before, dirty, events);
            }
        }
        let delta = edit.text.len() as i64 - edit.at.len() as i64;

        let mut places = Vec::with_capacity(slots.len());
        for &slot in &slots {
            let key = self.anchors.key(slot);
            let range = self.anchors.range(slot);
            let place = match owner {
                Some(owner) if owner.key == key => edit.at.start..edit.at.start + edit.text.len(),
                _ => self.follow((key, slot), range, edit, owner, before, dirty),
            };
            places.push((key, place));
        }
        self.anchors.shift_from(beyond, delta);
        for (&slot, place) in slots.iter().zip(&places).take(reaching) {
            self.anchors.set(slot, std::slice::from_ref(place));
        }
        let inside = &mut places[reaching..];
        inside.sort_by_key(|(_, range)| (range.start, !range.is_empty()));
        self.anchors.set(first, inside);
        for (slot, (key, _)) in (first..).zip(&*inside) {
            self.slots[*key as usize] = slot as u32;
        }
        if let Some(owner) = owner
            && let Some(entry) = self.entry_mut(owner.key)
        {
            entry.remember_own(owner.kind, edit, before);
            entry.region = None;
        }
        match owner {
            Some(Owner {
                key,
                kind: Ownership::Applied,
            }) => self.settle_applied(key, events),
            Some(Owner {
                key,
                kind: Ownership::Reverted,
            }) => self.reopen_reverted(key, events),
            None => {}
        }
        owner.is_some()
    }

    /// Follows an edit that is nothing but the own edits of several hunks.
    fn own_edits(
        &mut self,
        edit: &Edit<'_>,
        parts: Vec<OwnPart>,
        before: &Rope,
        dirty: &mut Vec<u32>,
        events: &mut Vec<HunkEvent>,
    ) {
        for part in parts {
            let own = Edit {
                floor: part.at.start,
                at: part.at,
                origin: part.origin,
                text: &edit.text[part.text],
            };
            self.line_edit(&own, Some(part.owner), before, dirty, events);
        }
    }

    /// Where a touched hunk lies after an edit that is not its own.
    fn follow(
        &mut self,
        (key, slot): (u32, usize),
        range: Range<usize>,
        edit: &Edit<'_>,
        owner: Option<Owner>,
        before: &Rope,
        dirty: &mut Vec<u32>,
    ) -> Range<usize> {
        let delta = edit.text.len() as isize - edit.at.len() as isize;
        let shifted = |offset: usize| offset.saturating_add_signed(delta);
        let Some(entry) = self.entry_mut(key) else {
            return range;
        };
        if !entry.is_expected()
            && owner.is_none_or(|owner| owner.kind == Ownership::Reverted)
            && let Some(place) = entry.taken_back(&range, edit, before)
        {
            dirty.push(key);
            return place;
        }
        let is_inside = edit.at.start < range.start && range.start < edit.at.end;
        if range.is_empty() && edit.text.is_empty() && !is_inside {
            // Lines beside an insertion go; should they come back, it is on their side.
            entry.remember(&range, edit, before);
        }
        if let Some(owner) = owner
            && edit.at.is_empty()
            && range.is_empty()
        {
            // Other insertions at the same point keep their side of the one that went in, if a line
            // can start there.
            let is_behind = self.slots[owner.key as usize] < slot as u32;
            if !is_behind {
                return range;
            }
            if !edit.is_open() {
                return shifted(range.start)..shifted(range.end);
            }
        }
        let Some(entry) = self.entry_mut(key) else {
            return range;
        };
        let is_accepted = matches!(entry.hunk.state, HunkState::Accepted { .. });
        let ends_text = !is_accepted && entry.hunk.only_drops_last_ending();
        let is_at_end = edit.at.is_empty() && edit.at.start == range.end && ends_text;
        let absorbs = owner.is_none() && is_at_end;
        match effect(&range, edit, absorbs) {
            Effect::Stays => range,
            Effect::Moves => shifted(range.start)..shifted(range.end),
            Effect::Against => {
                entry.remember(&range, edit, before);
                entry.widen(&range, edit, before);
                match owner {
                    Some(owner) if owner.kind == Ownership::Applied && is_accepted => {
                        entry.under.push(owner.key);
                    }
                    _ => dirty.push(key),
                }
                let start = range.start.min(edit.at.start);
                start..shifted(range.end.max(edit.at.end))
            }
        }
    }
}

/// The whole lines that a change touches: widened only where a line is cut.
fn whole_lines(before: &Rope, range: &Range<usize>, inserted: &str) -> Range<usize> {
    let start = linewise::line_start(before, range.start);
    let clean_end = if inserted.is_empty() {
        start == range.start
    } else {
        inserted.ends_with('\n')
    };
    let end = if clean_end && linewise::is_line_start(before, range.end) {
        range.end
    } else {
        linewise::next_line_start(before, range.end)
    };
    start..end
}

fn has_lf(text: &Rope, range: &Range<usize>) -> bool {
    let mut chunks = text.byte_slice(range.clone()).chunks();
    chunks.any(|chunk| memchr::memchr(b'\n', chunk.as_bytes()).is_some())
}

/// Whether no diff is needed: lines only come, only go, or one replaces one.
fn is_one_edit(old: &str, new: &str) -> bool {
    let one_line =
        |text: &str| memchr::memchr(b'\n', text.as_bytes()).is_none_or(|lf| lf + 1 == text.len());
    old.is_empty() || new.is_empty() || (one_line(old) && one_line(new))
}

/// What `edit` means for `range`, which it touches.
///
/// A range that `absorbs` takes in what is inserted at its edges; others let it pass.
pub(super) fn effect(range: &Range<usize>, edit: &Edit<'_>, absorbs: bool) -> Effect {
    let (start, end) = (edit.at.start, edit.at.end);
    if edit.at.is_empty() {
        return match () {
            () if range.is_empty() || absorbs => Effect::Against,
            () if start <= range.start => Effect::Moves,
            () if start >= range.end => Effect::Stays,
            () => Effect::Against,
        };
    }
    // Lines without LF now end the text: what went behind them has no line start any more.
    if range.is_empty() && range.start == end && edit.is_open() {
        return Effect::Against;
    }
    if range.end <= start {
        Effect::Stays
    } else if range.start >= end {
        Effect::Moves
    } else {
        Effect::Against
    }
}

/// The state that an applied hunk takes.
pub(super) fn accepted(by_hand: bool) -> HunkState {
    HunkState::Accepted { by_hand }
}
