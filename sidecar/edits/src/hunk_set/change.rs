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
    Entry, HunkSet, MAX_STEP_BYTES, MAX_STEPS, Region, Step, is_open,
    own::{OwnPart, Owner, Ownership},
};
use crate::{
    diff::{LineDiff, diff_with_offsets},
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
        if old == new {
            return;
        }
        let mut dirty = Vec::new();
        let whole = Edit {
            at: lines.clone(),
            origin: lines.start,
            floor: 0,
            text: &new,
        };
        if let Some(parts) = self.expected_parts(&whole, &old) {
            self.own_edits(&whole, parts, before, &mut dirty, events);
        } else if is_one_edit(&old, &new) {
            if linewise::same(&old, &new) {
                self.nudge(lines.end, delta);
            } else {
                self.line_edit(&whole, None, before, &mut dirty, events);
            }
        } else {
            let diff = diff_with_offsets(&old, &new);
            self.line_edits(&diff, (&old, &new), lines.start, before, &mut dirty, events);
        }
        self.evaluate(&dirty, after, events);
    }

    /// Follows the edits of `diff`, whose two texts begin at `start`.
    pub(super) fn line_edits(
        &mut self,
        diff: &LineDiff,
        (old, new): (&str, &str),
        start: usize,
        before: &Rope,
        dirty: &mut Vec<u32>,
        events: &mut Vec<HunkEvent>,
    ) {
        let mut moved: i64 = 0;
        let (mut old_line, mut new_line) = (0, 0);
        let mut done = 0;
        for edit in &diff.edits {
            let run = old_line..edit.old.start;
            let longer = self.follow_endings(diff, (old, new), (run, new_line), start, moved);
            moved += longer.unwrap_or(0);
            let (gone, come) = (diff.old_bytes(edit), diff.new_bytes(edit));
            let at = (start + gone.start).saturating_add_signed(moved as isize);
            if longer.is_some() {
                done = at;
            }
            let line_edit = Edit {
                at: at..at + gone.len(),
                origin: start + gone.start,
                floor: done,
                text: &new[come.clone()],
            };
            self.line_edit(&line_edit, None, before, dirty, events);
            moved += come.len() as i64 - gone.len() as i64;
            done = at + come.len();
            (old_line, new_line) = (edit.old.end, edit.new.end);
        }
        let run = old_line..diff.old_offsets.len() - 1;
        self.follow_endings(diff, (old, new), (run, new_line), start, moved);
    }

    /// Lines of a common run may differ in their endings; gives how many bytes that adds if so.
    fn follow_endings(
        &mut self,
        diff: &LineDiff,
        (old, new): (&str, &str),
        (run, new_line): (Range<usize>, usize),
        start: usize,
        moved: i64,
    ) -> Option<i64> {
        let old_bytes = diff.old_offsets[run.start]..diff.old_offsets[run.end];
        let new_bytes = diff.new_offsets[new_line]..diff.new_offsets[new_line + run.len()];
        if old[old_bytes] == new[new_bytes] {
            return None;
        }
        let mut added = 0;
        for (line, new_line) in run.zip(new_line..) {
            let length =
                |offsets: &[usize], line: usize| (offsets[line + 1] - offsets[line]) as i64;
            let delta = length(&diff.new_offsets, new_line) - length(&diff.old_offsets, line);
            let end = (start + diff.old_offsets[line + 1]) as i64 + moved + added;
            self.nudge(end as usize, delta);
            added += delta;
        }
        Some(added)
    }

    /// The line that ends at `end` got longer by `delta` bytes without being changed.
    fn nudge(&mut self, end: usize, delta: i64) {
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
    pub(super) fn line_edit(
        &mut self,
        edit: &Edit<'_>,
        owner: Option<Owner>,
        before: &Rope,
        dirty: &mut Vec<u32>,
        events: &mut Vec<HunkEvent>,
    ) {
        let first = self.anchors.first_from(edit.at.start);
        let beyond = self.anchors.first_from(edit.at.end + 1);
        let mut slots = self.anchors.reaching(first, edit.at.start);
        let reaching = slots.len();
        slots.extend(first..beyond);
        let owner = owner.or_else(|| self.owner(&slots, edit, before));
        if owner.is_none() {
            if let Some(parts) = self.owners(&slots, edit, before) {
                return self.own_edits(edit, parts, before, dirty, events);
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
        if owner.is_none_or(|owner| owner.kind == Ownership::Reverted)
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

impl Entry {
    /// The place that the hunk had before the last edit of it, if this edit takes that one back.
    ///
    /// What the place reads is to be looked at anew then, so it gets a region.
    fn taken_back(
        &mut self,
        range: &Range<usize>,
        edit: &Edit<'_>,
        before: &Rope,
    ) -> Option<Range<usize>> {
        if !self.is_taken_back(range, edit, before) {
            return None;
        }
        let step = self.steps.pop()?;
        let is_certain = self.region.is_none();
        let is_harmless = !matches!(effect(range, edit, false), Effect::Against);
        if is_certain && is_harmless && step.region.is_some() {
            // Its lines have come together since, and stay together: how they did counts no more.
            self.steps.clear();
            return None;
        }
        self.region = Some(step.region.unwrap_or_else(|| self.own_region()));
        let end = range.end.max(edit.at.end) - edit.at.end + edit.at.start + edit.text.len();
        let start = step
            .inside
            .0
            .map_or(range.start, |offset| edit.at.start + offset);
        let end = step.inside.1.map_or(end, |offset| edit.at.start + offset);
        (start <= end).then_some(start..end)
    }

    /// Whether this edit takes back the last one of the hunk.
    pub(super) fn is_taken_back(
        &self,
        range: &Range<usize>,
        edit: &Edit<'_>,
        before: &Rope,
    ) -> bool {
        self.steps.last().is_some_and(|last| {
            range.start + last.at == edit.at.start
                && last.new.len() == edit.at.len()
                && last.old == edit.text
                && linewise::slice(before, edit.origin..edit.origin + edit.at.len()) == last.new
        })
    }

    /// Remembers the hunk's own edit, or forgets it with the undoing of it.
    fn remember_own(&mut self, kind: Ownership, edit: &Edit<'_>, before: &Rope) {
        match kind {
            Ownership::Applied => self.remember(&edit.at, edit, before),
            Ownership::Reverted if self.is_taken_back(&edit.at, edit, before) => {
                self.steps.pop();
            }
            Ownership::Reverted => self.steps.clear(),
        }
    }

    /// Remembers an edit that moves an edge of the hunk.
    fn remember(&mut self, range: &Range<usize>, edit: &Edit<'_>, before: &Rope) {
        if edit.at.len() + edit.text.len() > MAX_STEP_BYTES {
            self.steps.clear();
            return;
        }
        if self.steps.len() == MAX_STEPS {
            self.steps.remove(0);
        }
        let start = range
            .start
            .checked_sub(edit.at.start)
            .filter(|offset| *offset > 0);
        let end = range
            .end
            .checked_sub(edit.at.start)
            .filter(|_| range.end < edit.at.end);
        self.steps.push(Step {
            old: linewise::slice(before, edit.origin..edit.origin + edit.at.len()).into_owned(),
            new: edit.text.to_owned(),
            at: edit.at.start.saturating_sub(range.start),
            inside: (start, end),
            region: self.region.clone(),
        });
    }

    /// The region of the hunk's own lines and no others.
    fn own_region(&self) -> Region {
        Region {
            old: self.hunk.removed.clone(),
            offset: 0,
        }
    }

    /// Remembers the lines around the hunk that `edit` changes together with it.
    fn widen(&mut self, range: &Range<usize>, edit: &Edit<'_>, before: &Rope) {
        let origin = |offset: usize| edit.origin + (offset - edit.at.start);
        let above = if edit.at.start < range.start {
            linewise::slice_lf(before, edit.origin..origin(range.start))
        } else {
            String::new()
        };
        let below = if range.end < edit.at.end {
            linewise::slice_lf(before, origin(range.end)..origin(edit.at.end))
        } else {
            String::new()
        };
        let region = self.region.take().unwrap_or_else(|| self.own_region());
        self.region = Some(Region {
            offset: region.offset + above.len(),
            old: above + &region.old + &below,
        });
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
