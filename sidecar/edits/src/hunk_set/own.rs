//! Edits that are a hunk's own: applying it, or undoing that.
//!
//! An editor may apply several hunks as one change, and any client may tell an insertion as one at
//! another place where it gives the same text (after `x`, inserting `y x` before or `x y` behind are
//! the same). So an edit is also looked at where it could slide to.

use std::ops::Range;

use ropey::Rope;

use super::{
    Entry, HunkSet, Region,
    change::{Edit, Effect, effect},
    is_applied_text,
};
use crate::linewise;

/// How far an edit is followed to the places where it would be the same, in lines and bytes.
const MAX_SLIDE_LINES: usize = 256;
const MAX_SLIDE_BYTES: usize = 1 << 16;

/// A hunk whose own application or undoing an edit is.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    pub(super) key: u32,
    pub(super) kind: Ownership,
}

/// A part of an edit that belongs to a hunk.
pub(super) struct OwnPart {
    pub(super) owner: Owner,
    /// What goes, once the parts before it are done.
    pub(super) at: Range<usize>,
    /// Where that begins in the text before all parts.
    pub(super) origin: usize,
    /// What comes, in bytes of the new text.
    pub(super) text: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ownership {
    /// The edit puts their replacements in.
    Applied,
    /// The edit puts their removed lines back.
    Reverted,
}

/// An edit told at another place, where it is a hunk's own.
pub(super) struct Slid {
    pub(super) owner: Owner,
    pub(super) at: Range<usize>,
    pub(super) origin: usize,
    pub(super) text: String,
}

impl HunkSet {
    /// The hunk whose own edit this is: announced ones first, undoing before typing.
    pub(super) fn owner(&self, slots: &[usize], edit: &Edit<'_>, before: &Rope) -> Option<Owner> {
        let find = |kind, wanted| {
            let key = self.own(slots, edit, kind, wanted)?;
            Some(Owner { key, kind })
        };
        // Where an announced edit is half done, what comes is the rest of it.
        let announced = find(Ownership::Applied, Entry::is_half_done)
            .or_else(|| find(Ownership::Applied, Entry::is_expected));
        let is_half_done = slots.iter().any(|slot| {
            let entry = self.entry(self.anchors.key(*slot));
            entry.is_some_and(Entry::is_half_done)
        });
        if announced.is_some() || is_half_done {
            return announced;
        }
        find(Ownership::Applied, Entry::is_pending)
            // What was deleted beside it and comes back is not its text, however alike.
            .filter(|owner| !self.comes_back(owner.key, edit, before))
            .or_else(|| find(Ownership::Reverted, Entry::is_applied))
    }

    /// Whether `edit` takes back the last one of a hunk.
    fn comes_back(&self, key: u32, edit: &Edit<'_>, before: &Rope) -> bool {
        let entry = self.entry(key);
        entry.is_some_and(|entry| entry.is_taken_back(&edit.at, edit, before))
    }

    /// The hunks whose own edits this edit is, when it is nothing else.
    pub(super) fn owners(
        &self,
        slots: &[usize],
        edit: &Edit<'_>,
        before: &Rope,
    ) -> Option<Vec<OwnPart>> {
        if slots.len() < 2 {
            return None;
        }
        let old = linewise::slice(before, edit.origin..edit.origin + edit.at.len());
        let find = |kind, wanted| self.parts(slots, edit, &old, kind, wanted);
        find(Ownership::Applied, Entry::is_expected)
            .or_else(|| find(Ownership::Applied, Entry::is_pending))
            .or_else(|| find(Ownership::Reverted, Entry::is_applied))
    }

    /// The announced hunks that a change puts in, when it does nothing else: the one whose edit it
    /// is as it was told, or all that lie in it.
    pub(super) fn expected_parts(&self, whole: &Edit<'_>, old: &str) -> Option<Vec<OwnPart>> {
        let slots = self.touched(&whole.at);
        let is_half_done = |slot: &usize| {
            let entry = self.entry(self.anchors.key(*slot));
            entry.is_some_and(Entry::is_half_done)
        };
        if slots.iter().any(is_half_done) {
            // The rest of that one comes first.
            return None;
        }
        if let Some(key) = self.own(&slots, whole, Ownership::Applied, Entry::is_expected) {
            return Some(vec![OwnPart {
                owner: Owner {
                    key,
                    kind: Ownership::Applied,
                },
                at: whole.at.clone(),
                origin: whole.origin,
                text: 0..whole.text.len(),
            }]);
        }
        self.parts(&slots, whole, old, Ownership::Applied, Entry::is_expected)
    }

    /// The hunk at exactly the place of `edit`, which does the same as its own edit.
    ///
    /// Of several the last is applied first, and the first undone first: editors apply edits from
    /// the end of the text on, so that the places of the others stand, and undo them backwards.
    fn own(
        &self,
        slots: &[usize],
        edit: &Edit<'_>,
        kind: Ownership,
        wanted: fn(&Entry) -> bool,
    ) -> Option<u32> {
        let mut owners = slots.iter().filter_map(|slot| {
            let key = self.anchors.key(*slot);
            let entry = self.entry(key)?;
            let is_own = self.anchors.range(*slot) == edit.at
                && wanted(entry)
                && entry.is_text(kind, edit.text);
            is_own.then_some(key)
        });
        match kind {
            Ownership::Applied => owners.next_back(),
            Ownership::Reverted => owners.next(),
        }
    }

    /// The own edits of all wanted hunks inside of `edit`, when together they are all of it.
    fn parts(
        &self,
        slots: &[usize],
        edit: &Edit<'_>,
        old: &str,
        kind: Ownership,
        wanted: fn(&Entry) -> bool,
    ) -> Option<Vec<OwnPart>> {
        let start = edit.at.start;
        let mut parts = Vec::new();
        let (mut done, mut new_done, mut moved) = (start, 0, 0_isize);
        for &slot in slots {
            let (key, range) = (self.anchors.key(slot), self.anchors.range(slot));
            let Some(entry) = self.entry(key).filter(|entry| wanted(entry)) else {
                continue;
            };
            if range.start < start || range.end > edit.at.end {
                continue;
            }
            if !is_cut(edit.text.get(..new_done)?) {
                // Behind a last line without LF nothing can go.
                return None;
            }
            // Between the hunks nothing may have changed.
            let gap = old.get(done.checked_sub(start)?..range.start.checked_sub(start)?)?;
            let rest = edit.text.get(new_done..)?.strip_prefix(gap)?;
            let text = entry.text(kind);
            let found = first_lines(rest, linewise::line_count(text))?;
            if !entry.is_text(kind, found) {
                return None;
            }
            let from = new_done + gap.len();
            new_done = from + found.len();
            let at = range.start.saturating_add_signed(moved);
            parts.push(OwnPart {
                owner: Owner { key, kind },
                at: at..at + range.len(),
                origin: edit.origin + (range.start - start),
                text: from..new_done,
            });
            moved += found.len() as isize - range.len() as isize;
            done = range.end;
        }
        let is_whole = old.get(done - start..)? == edit.text.get(new_done..)?;
        (is_whole && !parts.is_empty()).then_some(parts)
    }

    /// The place near by where lines that only come, or only go, are a hunk's own edit.
    pub(super) fn slid(&self, edit: &Edit<'_>, before: &Rope) -> Option<Slid> {
        let is_insertion = edit.at.is_empty();
        if is_insertion == edit.text.is_empty() {
            return None;
        }
        // The lines that move past each other: those of the edit, and those of the text around it.
        let own = match is_insertion {
            true => edit.text.to_owned(),
            false => linewise::slice(before, edit.origin..edit.origin + edit.at.len()).into_owned(),
        };
        self.slid_up(edit, before, &own)
            .or_else(|| self.slid_down(edit, before, &own))
    }

    fn slid_up(&self, edit: &Edit<'_>, before: &Rope, own: &str) -> Option<Slid> {
        let mut lines = own.to_owned();
        let mut by = 0;
        for _ in 0..MAX_SLIDE_LINES {
            let end = edit.origin - by;
            if by > MAX_SLIDE_BYTES || edit.at.start - by <= edit.floor || end == 0 {
                return None;
            }
            let start = linewise::line_start(before, end - 1);
            let above = linewise::slice(before, start..end);
            let kept = lines.strip_suffix(&*above).filter(|kept| is_cut(kept))?;
            lines = [&above, kept].concat();
            by += above.len();
            let slid = self.at_slide(edit, -(by as isize), &lines, before);
            if slid.is_some() {
                return slid;
            }
        }
        None
    }

    fn slid_down(&self, edit: &Edit<'_>, before: &Rope, own: &str) -> Option<Slid> {
        let mut lines = own.to_owned();
        let mut by = 0;
        for _ in 0..MAX_SLIDE_LINES {
            let start = edit.origin + edit.at.len() + by;
            if by > MAX_SLIDE_BYTES || start == before.len_bytes() {
                return None;
            }
            let end = linewise::next_line_start(before, start);
            let below = linewise::slice(before, start..end);
            let kept = lines.strip_prefix(&*below)?;
            if !is_cut(&below) {
                return None;
            }
            lines = [kept, &below].concat();
            by += below.len();
            let slid = self.at_slide(edit, by as isize, &lines, before);
            if slid.is_some() {
                return slid;
            }
        }
        None
    }

    /// The edit moved by some bytes, if it is a hunk's own there.
    fn at_slide(&self, edit: &Edit<'_>, by: isize, lines: &str, before: &Rope) -> Option<Slid> {
        let moved = |offset: usize| offset.saturating_add_signed(by);
        let at = moved(edit.at.start)..moved(edit.at.end);
        let text = if at.is_empty() { lines } else { "" };
        let slid = Edit {
            at: at.clone(),
            origin: moved(edit.origin),
            floor: edit.floor,
            text,
        };
        let owner = self.owner(&self.touched(&at), &slid, before)?;
        // Told where an announced edit is awaited, it is a part of that and of nothing else.
        let is_announced = |key: u32| self.entry(key).is_some_and(|entry| entry.expected);
        let is_part_of_awaited = |slot: usize| {
            let key = self.anchors.key(slot);
            let is_first_half = edit.text.is_empty() && self.anchors.range(slot) == edit.at;
            is_announced(key) && (is_first_half || !is_announced(owner.key))
        };
        if self.touched(&edit.at).into_iter().any(is_part_of_awaited) {
            return None;
        }
        // Nor may it break there what it would leave alone where it was told.
        let breaks = self.touched(&at).into_iter().any(|slot| {
            let (key, range) = (self.anchors.key(slot), self.anchors.range(slot));
            let is_pending = self.entry(key).is_some_and(Entry::is_pending);
            let is_beside = at.is_empty() && range.is_empty();
            is_pending
                && key != owner.key
                && !is_beside
                && matches!(effect(&range, &slid, false), Effect::Against)
        });
        if breaks {
            return None;
        }
        Some(Slid {
            owner,
            at,
            origin: slid.origin,
            text: text.to_owned(),
        })
    }
}

impl Entry {
    /// Its announced edit has begun to arrive: its own lines do not read as before.
    fn is_half_done(&self) -> bool {
        let is_own = |region: &Region| region.old == self.hunk.removed;
        self.expected && self.region.as_ref().is_some_and(is_own)
    }

    /// What an edit of this kind puts at the hunk's place.
    pub(super) fn text(&self, kind: Ownership) -> &str {
        match kind {
            Ownership::Applied => &self.hunk.replacement,
            Ownership::Reverted => &self.hunk.removed,
        }
    }

    /// Whether an edit of this kind leaves `found` at the hunk's place.
    fn is_text(&self, kind: Ownership, found: &str) -> bool {
        match kind {
            Ownership::Applied => is_applied_text(found, &self.hunk.replacement),
            Ownership::Reverted => linewise::same(found, &self.hunk.removed),
        }
    }
}

/// Whether a text is whole lines, so that others may follow it.
fn is_cut(text: &str) -> bool {
    text.is_empty() || text.ends_with('\n')
}

/// The first `count` lines of `text`.
fn first_lines(text: &str, count: usize) -> Option<&str> {
    let end = match count {
        0 => 0,
        _ => memchr::memchr_iter(b'\n', text.as_bytes())
            .nth(count - 1)
            .map_or(text.len(), |lf| lf + 1),
    };
    let lines = &text[..end];
    (linewise::line_count(lines) == count).then_some(lines)
}
