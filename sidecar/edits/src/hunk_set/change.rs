//! An edit of the text moves, breaks, lifts and settles hunks.
//!
//! A change is widened to whole lines and reduced to the lines that really differ. Each such edit
//! either belongs to hunks (it is exactly what applying or undoing them does), or goes against the
//! hunks whose lines it changes, or merely moves what lies behind it.
//!
//! Cost of a keystroke: logarithmic in the hunks, plus the hunks that it touches.

use std::ops::Range;

use ropey::Rope;

use super::{Entry, HunkSet, Region, is_applied_text};
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
    /// What comes.
    pub(super) text: &'a str,
}

/// Hunks whose own application or undoing an edit is, with the ranges they have after it.
pub(super) struct Owners {
    pub(super) kind: Ownership,
    pub(super) hunks: Vec<(u32, Range<usize>)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    /// The edit puts their replacements in.
    Applied,
    /// The edit puts their removed lines back.
    Reverted,
}

/// What an edit means for a range that it touches.
enum Effect {
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
        if self.touched(&lines).is_empty() {
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
        if let Some(owners) = self.expected_owners(&lines, &old, &new) {
            let edit = Edit {
                at: lines.clone(),
                origin: lines.start,
                text: &new,
            };
            self.line_edit(&edit, Some(owners), before, &mut dirty, events);
        } else if is_one_edit(&old, &new) {
            let edit = Edit {
                at: lines.clone(),
                origin: lines.start,
                text: &new,
            };
            if linewise::same(&old, &new) {
                self.nudge(lines.end, delta);
            } else {
                self.line_edit(&edit, None, before, &mut dirty, events);
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
        for edit in &diff.edits {
            let run = old_line..edit.old.start;
            moved += self.follow_endings(diff, (old, new), (run, new_line), start, moved);
            let (gone, come) = (diff.old_bytes(edit), diff.new_bytes(edit));
            let at = (start + gone.start).saturating_add_signed(moved as isize);
            let line_edit = Edit {
                at: at..at + gone.len(),
                origin: start + gone.start,
                text: &new[come.clone()],
            };
            self.line_edit(&line_edit, None, before, dirty, events);
            moved += come.len() as i64 - gone.len() as i64;
            (old_line, new_line) = (edit.old.end, edit.new.end);
        }
        let run = old_line..diff.old_offsets.len() - 1;
        self.follow_endings(diff, (old, new), (run, new_line), start, moved);
    }

    /// Lines of a common run may differ in their endings; gives how many bytes that adds.
    fn follow_endings(
        &mut self,
        diff: &LineDiff,
        (old, new): (&str, &str),
        (run, new_line): (Range<usize>, usize),
        start: usize,
        moved: i64,
    ) -> i64 {
        let old_bytes = diff.old_offsets[run.start]..diff.old_offsets[run.end];
        let new_bytes = diff.new_offsets[new_line]..diff.new_offsets[new_line + run.len()];
        if old[old_bytes] == new[new_bytes] {
            return 0;
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
        added
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
        owners: Option<Owners>,
        before: &Rope,
        dirty: &mut Vec<u32>,
        events: &mut Vec<HunkEvent>,
    ) {
        let first = self.anchors.first_from(edit.at.start);
        let beyond = self.anchors.first_from(edit.at.end + 1);
        let mut slots = self.anchors.reaching(first, edit.at.start);
        let reaching = slots.len();
        slots.extend(first..beyond);
        let owners = owners.or_else(|| self.owners(&slots, edit, before));
        let delta = edit.text.len() as i64 - edit.at.len() as i64;

        let mut places = Vec::with_capacity(slots.len());
        for &slot in &slots {
            let key = self.anchors.key(slot);
            let range = self.anchors.range(slot);
            let owned = owners.as_ref().and_then(|owners| owners.range(key));
            let place = match owned {
                Some(range) => range,
                None => self.follow(key, range, slot, edit, owners.as_ref(), before, dirty),
            };
            places.push((key, place));
        }
        self.anchors.shift_from(beyond, delta);
        for (&slot, place) in slots.iter().zip(&places).take(reaching) {
            self.anchors.set(slot, std::slice::from_ref(place));
        }
        let inside = &mut places[reaching..];
        inside.sort_by_key(|(_, range)| range.start);
        self.anchors.set(first, inside);
        for (slot, (key, _)) in (first..).zip(&*inside) {
            self.slots[*key as usize] = slot as u32;
        }
        if let Some(owners) = owners {
            self.own(&owners, events);
        }
    }

    /// Where a touched hunk lies after an edit that is not its own.
    #[expect(
        clippy::too_many_arguments,
        reason = "one place and one edit, with their texts"
    )]
    fn follow(
        &mut self,
        key: u32,
        range: Range<usize>,
        slot: usize,
        edit: &Edit<'_>,
        owners: Option<&Owners>,
        before: &Rope,
        dirty: &mut Vec<u32>,
    ) -> Range<usize> {
        let delta = edit.text.len() as isize - edit.at.len() as isize;
        let shifted = |offset: usize| offset.saturating_add_signed(delta);
        if let Some(owners) = owners
            && edit.at.is_empty()
            && range.is_empty()
        {
            // Other insertions at the same point keep their side of the one that went in.
            let at = owners
                .end_before(slot, &self.slots)
                .unwrap_or(edit.at.start);
            return at..at;
        }
        let Some(entry) = self.entry_mut(key) else {
            return range;
        };
        let absorbs = owners.is_none() && entry.region.is_some();
        match effect(&range, edit, absorbs) {
            Effect::Stays => range,
            Effect::Moves => shifted(range.start)..shifted(range.end),
            Effect::Against => {
                entry.widen(&range, edit, before);
                dirty.push(key);
                let start = range.start.min(edit.at.start);
                start..shifted(range.end.max(edit.at.end))
            }
        }
    }

    /// Settles (or reopens) the hunks that an edit belongs to.
    fn own(&mut self, owners: &Owners, events: &mut Vec<HunkEvent>) {
        for &(key, _) in &owners.hunks {
            match owners.kind {
                Ownership::Applied => self.settle_applied(key, events),
                Ownership::Reverted => self.reopen_reverted(key, events),
            }
        }
    }

    /// Finds the hunks whose own edit this is.
    fn owners(&self, slots: &[usize], edit: &Edit<'_>, before: &Rope) -> Option<Owners> {
        let inside: Vec<(u32, Range<usize>, &Entry)> = slots
            .iter()
            .filter_map(|&slot| {
                let key = self.anchors.key(slot);
                Some((key, self.anchors.range(slot), self.entry(key)?))
            })
            .filter(|(_, range, entry)| {
                edit.at.start <= range.start
                    && range.end <= edit.at.end
                    && (entry.is_pending() || entry.is_applied())
            })
            .collect();
        let whole = |wanted: &dyn Fn(&Entry) -> bool, kind: Ownership| {
            let (key, ..) = inside.iter().find(|(_, range, entry)| {
                *range == edit.at && wanted(entry) && is_applied_text(edit.text, entry.text(kind))
            })?;
            let start = edit.at.start;
            Some(Owners {
                kind,
                hunks: vec![(*key, start..start + edit.text.len())],
            })
        };
        let all = |wanted: &dyn Fn(&Entry) -> bool, kind: Ownership| {
            let chosen: Vec<_> = inside
                .iter()
                .filter(|(_, _, entry)| wanted(entry))
                .collect();
            if chosen.len() < 2 {
                return None;
            }
            let old = linewise::slice(before, edit.origin..edit.origin + edit.at.len());
            let hunks = chosen
                .iter()
                .map(|(key, range, entry)| (*key, range.clone(), entry.text(kind)));
            composed(hunks, edit.at.start, &old, edit.text).map(|hunks| Owners { kind, hunks })
        };
        use Ownership::{Applied, Reverted};
        let expected = |entry: &Entry| entry.is_pending() && entry.expected;
        whole(&expected, Applied)
            .or_else(|| whole(&Entry::is_applied, Reverted))
            .or_else(|| whole(&Entry::is_pending, Applied))
            .or_else(|| all(&expected, Applied))
            .or_else(|| all(&Entry::is_applied, Reverted))
            .or_else(|| all(&Entry::is_pending, Applied))
    }

    /// The announced hunks in `lines`, when the change is exactly their application.
    fn expected_owners(&self, lines: &Range<usize>, old: &str, new: &str) -> Option<Owners> {
        let hunks: Vec<_> = self
            .touched(lines)
            .into_iter()
            .map(|slot| (self.anchors.key(slot), self.anchors.range(slot)))
            .filter_map(|(key, range)| Some((key, range, self.entry(key)?)))
            .filter(|(_, range, entry)| {
                let inside = lines.start <= range.start && range.end <= lines.end;
                inside && entry.expected && entry.is_pending()
            })
            .map(|(key, range, entry)| (key, range, entry.text(Ownership::Applied)))
            .collect();
        if hunks.is_empty() {
            return None;
        }
        Some(Owners {
            kind: Ownership::Applied,
            hunks: composed(hunks.into_iter(), lines.start, old, new)?,
        })
    }
}

impl Owners {
    fn range(&self, key: u32) -> Option<Range<usize>> {
        let (_, range) = self.hunks.iter().find(|(owner, _)| *owner == key)?;
        Some(range.clone())
    }

    /// Where the last of them before `slot` ends.
    fn end_before(&self, slot: usize, slots: &[u32]) -> Option<usize> {
        let before = self.hunks.iter().rev();
        let (_, range) = before
            .into_iter()
            .find(|(key, _)| (slots[*key as usize] as usize) < slot)?;
        Some(range.end)
    }
}

impl Entry {
    /// What an edit of this kind puts at the hunk's place.
    fn text(&self, kind: Ownership) -> &str {
        match kind {
            Ownership::Applied => &self.hunk.replacement,
            Ownership::Reverted => &self.hunk.removed,
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
        let region = self.region.take().unwrap_or_else(|| Region {
            old: self.hunk.removed.clone(),
            offset: 0,
        });
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

/// Whether no diff is needed: lines only come, only go, or one replaces one.
fn is_one_edit(old: &str, new: &str) -> bool {
    let one_line =
        |text: &str| memchr::memchr(b'\n', text.as_bytes()).is_none_or(|lf| lf + 1 == text.len());
    old.is_empty() || new.is_empty() || (one_line(old) && one_line(new))
}

/// What `edit` means for `range`, which it touches.
///
/// A range that `absorbs` takes in what is inserted at its edges; others let it pass.
fn effect(range: &Range<usize>, edit: &Edit<'_>, absorbs: bool) -> Effect {
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
    let open_end = !edit.text.is_empty() && !edit.text.ends_with('\n');
    if range.is_empty() && range.start == end && open_end {
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

/// Checks that `new` is `old` with the texts of `hunks` at their ranges; gives the ranges after it.
///
/// `old` begins at `start`; the ranges are in order and lie inside.
fn composed<'a>(
    hunks: impl Iterator<Item = (u32, Range<usize>, &'a str)>,
    start: usize,
    old: &str,
    new: &str,
) -> Option<Vec<(u32, Range<usize>)>> {
    let mut rest = new;
    let mut done = start;
    let mut ranges = Vec::new();
    for (key, range, text) in hunks {
        if range.start < done {
            return None;
        }
        take_lines(&mut rest, &old[done - start..range.start - start])?;
        let at = start + new.len() - rest.len();
        let found = take(&mut rest, linewise::line_count(text))?;
        if !is_applied_text(found, text) {
            return None;
        }
        ranges.push((key, at..at + found.len()));
        done = range.end;
    }
    take_lines(&mut rest, &old[done - start..])?;
    rest.is_empty().then_some(ranges)
}

/// Takes `lines` off the front of `rest`.
fn take_lines(rest: &mut &str, lines: &str) -> Option<()> {
    let found = take(rest, linewise::line_count(lines))?;
    linewise::same(found, lines).then_some(())
}

/// Takes `count` lines off the front of `rest`.
fn take<'a>(rest: &mut &'a str, count: usize) -> Option<&'a str> {
    let end = match count {
        0 => 0,
        _ => memchr::memchr_iter(b'\n', rest.as_bytes())
            .nth(count - 1)
            .map_or(rest.len(), |lf| lf + 1),
    };
    let (taken, left) = rest.split_at(end);
    *rest = left;
    (linewise::line_count(taken) == count).then_some(taken)
}

/// The state that an applied hunk takes.
pub(super) fn accepted(by_hand: bool) -> HunkState {
    HunkState::Accepted { by_hand }
}
