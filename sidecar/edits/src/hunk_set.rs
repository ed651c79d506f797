//! The hunks of one session in one file, anchored on one copy of its text.
//!
//! The set never holds the text: the caller passes the rope that the set is anchored on, and tells
//! it every change ([`HunkSet::change`]). What is pending is never part of that text.
//!
//! **Invariant:** pending hunks do not overlap, start at a line start, and their ranges read the
//! lines that they were written against.
//! **Invariant:** a hunk's replacement holds text that an agent wrote, or that the user wrote by
//! amending it; typing in the file never gets into it.
//!
//! | module | subject |
//! | --- | --- |
//! | `propose` | an agent's edit becomes hunks |
//! | `change` | an edit of the text moves, breaks, lifts and settles hunks |
//! | `own` | edits that are a hunk's own, applied or undone |
//! | `evaluate` | what a touched hunk's place reads now |
//! | `settle` | decisions: accept, reject, withdraw, reopen, amend, propose again |
//! | `split` | one hunk becomes several |
//! | `rebase` | changes whose cut into edits only a diff tells: on disk, or of many lines at once |
//! | `doubt` | whether a diff leaves open where a hunk lies |
//! | `steps` | the edits that touched a hunk, to be taken back |
//! | `records` | to the store and back |

mod change;
mod doubt;
mod evaluate;
#[cfg(test)]
mod laws;
mod own;
mod propose;
mod rebase;
mod records;
mod settle;
mod split;
mod steps;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, ops::Range, sync::Arc};

use ropey::{Rope, RopeBuilder};

use self::steps::Step;
pub use self::{
    propose::Proposed,
    records::{HunkRecord, Reads, RestoreError},
    settle::Accepted,
    split::Selection,
};
use crate::{
    anchors::Anchors,
    hunk::{ConflictInfo, ConflictSides, Hunk, HunkError, HunkId, HunkState, TextChange},
    linewise,
};

/// The hunks of one session in one file; a clone shares them.
#[derive(Debug, Clone, Default)]
pub struct HunkSet {
    /// By key; a key is given once, so smaller ones are older.
    entries: Vec<Option<Arc<Entry>>>,
    /// By key: its slot among the anchors.
    slots: Vec<u32>,
    ids: Arc<HashMap<HunkId, u32>>,
    anchors: Anchors,
}

/// A hunk, and what its place in the text would read if it were as expected.
#[derive(Debug, Clone)]
struct Entry {
    hunk: Hunk,
    /// Its lines in the snapshot that the store keeps.
    snapshot: Range<usize>,
    /// What that snapshot reads there.
    taken: Reads,
    /// Set while the text at its place is not what the state says.
    region: Option<Region>,
    /// Its edit is on the way to the editor.
    expected: bool,
    /// How it had been accepted before that was undone.
    reopened: Option<bool>,
    /// Accepted hunks that changed its accepted text: until they are undone its place says nothing
    /// about it.
    under: Vec<u32>,
    /// Edits that moved its edges, newest last: an edit that takes back the last one restores them.
    steps: Vec<Step>,
    /// What touched it last was the taking back of a step.
    is_restored: bool,
}

/// Lines around a hunk that were changed together with it, as they were before.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Region {
    old: String,
    /// Where the hunk's own lines begin in `old`, in bytes.
    offset: usize,
}

impl Entry {
    fn new(hunk: Hunk, snapshot: Range<usize>) -> Self {
        Self {
            hunk,
            snapshot,
            taken: Reads::Removed,
            region: None,
            expected: false,
            reopened: None,
            under: Vec::new(),
            steps: Vec::new(),
            is_restored: false,
        }
    }

    /// Pending, and its place reads what it was written against.
    fn is_pending(&self) -> bool {
        matches!(self.hunk.state, HunkState::Pending)
    }

    /// Part of the proposed text, or to be that again as it is.
    fn claims(&self) -> bool {
        let is_amended = matches!(
            self.hunk.state,
            HunkState::Conflict(ConflictInfo::Amended { .. })
        );
        self.is_pending() || (is_amended && self.region.is_none())
    }

    /// Pending, and its edit is on the way from the editor.
    fn is_expected(&self) -> bool {
        self.expected && self.is_pending()
    }

    /// Accepted, and its place still reads its text, which can be taken out again.
    fn is_applied(&self) -> bool {
        matches!(self.hunk.state, HunkState::Accepted { .. })
            && self.region.is_none()
            && self.hunk.changes_something()
    }
}

impl HunkSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many hunks it knows, in every state.
    pub fn len(&self) -> usize {
        self.anchors.len()
    }

    /// Whether it knows no hunk.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All hunks by place, in every state.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Hunk> + '_ {
        (0..self.anchors.len()).filter_map(|slot| Some(&self.entry(self.anchors.key(slot))?.hunk))
    }

    /// All hunks by place with their byte ranges in the text.
    pub fn placed(&self) -> impl DoubleEndedIterator<Item = (&Hunk, Range<usize>)> + '_ {
        self.anchors
            .iter()
            .filter_map(|(key, range)| Some((&self.entry(key)?.hunk, range)))
    }

    /// The hunks that wait for a decision without being in conflict, by place.
    pub fn pending(&self) -> impl DoubleEndedIterator<Item = (&Hunk, Range<usize>)> + '_ {
        self.placed()
            .filter(|(hunk, _)| hunk.state == HunkState::Pending)
    }

    /// The hunk named `id`.
    pub fn get(&self, id: &HunkId) -> Option<&Hunk> {
        Some(&self.entry(*self.ids.get(id)?)?.hunk)
    }

    /// The hunk named `id`, when it is at the revision that a decision was made on.
    ///
    /// # Errors
    ///
    /// [`HunkError::Unknown`] and [`HunkError::Stale`].
    pub fn checked(&self, id: &HunkId, shown: Option<u64>) -> Result<&Hunk, HunkError> {
        let hunk = self
            .get(id)
            .ok_or_else(|| HunkError::Unknown { id: id.clone() })?;
        match shown {
            Some(shown) if shown != hunk.revision => Err(HunkError::Stale {
                id: id.clone(),
                shown,
                now: hunk.revision,
            }),
            _ => Ok(hunk),
        }
    }

    /// Bytes of the text that the hunk is about: what it would replace, or what it put there.
    pub fn range(&self, id: &HunkId) -> Option<Range<usize>> {
        Some(self.range_of(*self.ids.get(id)?))
    }

    /// Hunks whose range touches `bytes`, by place. Cost: logarithmic, plus what is found.
    pub fn in_range(
        &self,
        bytes: Range<usize>,
    ) -> impl Iterator<Item = (&Hunk, Range<usize>)> + '_ {
        let slots = self.touched(&bytes);
        slots.into_iter().filter_map(|slot| {
            Some((
                &self.entry(self.anchors.key(slot))?.hunk,
                self.anchors.range(slot),
            ))
        })
    }

    /// Hunks on the line that holds `byte`: those that replace it, and those that go before it.
    pub fn at_line<'a>(
        &'a self,
        text: &Rope,
        byte: usize,
    ) -> impl Iterator<Item = (&'a Hunk, Range<usize>)> + 'a {
        let byte = byte.min(text.len_bytes());
        let line = linewise::line_start(text, byte)..linewise::next_line_start(text, byte);
        let last = line.end == text.len_bytes();
        self.in_range(line.clone()).filter(move |(_, range)| {
            if range.is_empty() {
                range.start < line.end || last
            } else {
                range.start < line.end && line.start < range.end
            }
        })
    }

    /// The text with every pending hunk in it, as the session's own tools read it.
    pub fn proposed(&self, text: &Rope) -> Rope {
        let mut changes = self.pending_changes(text).peekable();
        if changes.peek().is_none() {
            return text.clone();
        }
        let mut builder = RopeBuilder::new();
        let mut done = 0;
        for change in changes {
            for chunk in text.byte_slice(done..change.range.start).chunks() {
                builder.append(chunk);
            }
            builder.append(&change.text);
            done = change.range.end;
        }
        for chunk in text.byte_slice(done..).chunks() {
            builder.append(chunk);
        }
        builder.finish()
    }

    /// What accepting `ids` would do to the text: in order, with the line endings of the place.
    ///
    /// # Errors
    ///
    /// [`HunkError::Unknown`], [`HunkError::Settled`], [`HunkError::Conflict`].
    pub fn edits_for(&self, text: &Rope, ids: &[HunkId]) -> Result<Vec<TextChange>, HunkError> {
        for id in ids {
            self.pending_key(id)?;
        }
        let keys = self.keys_by_place(ids)?.into_iter();
        Ok(keys
            .filter_map(|key| self.applied_change(self.slots[key as usize] as usize, text))
            .collect())
    }

    /// What undoing the acceptance of `ids` would do to the text, in order.
    ///
    /// # Errors
    ///
    /// [`HunkError::Unknown`]; [`HunkError::Conflict`] when the accepted lines were changed since,
    /// or when the hunk was not accepted.
    pub fn edits_for_undo(
        &self,
        text: &Rope,
        ids: &[HunkId],
    ) -> Result<Vec<TextChange>, HunkError> {
        // A last line without LF cannot come back where lines follow by now.
        let fits = |key, removed: &str| {
            removed.is_empty()
                || removed.ends_with('\n')
                || self.range_of(key).end == text.len_bytes()
        };
        let applied = |key| {
            let entry = self.entry(key).filter(|entry| entry.is_applied())?;
            fits(key, &entry.hunk.removed).then_some(entry)
        };
        let unapplied = ids
            .iter()
            .find(|id| self.key(id).ok().and_then(applied).is_none());
        if let Some(id) = unapplied {
            self.key(id)?;
            return Err(HunkError::Conflict { id: id.clone() });
        }
        let keys = self.keys_by_place(ids)?.into_iter();
        Ok(keys
            .filter_map(|key| {
                Some(change_of(
                    &applied(key)?.hunk.removed,
                    self.range_of(key),
                    text,
                ))
            })
            .collect())
    }

    /// The three sides of a conflict as they stand now; `None` when the hunk is none.
    pub fn conflict(&self, id: &HunkId, text: &Rope) -> Option<ConflictSides> {
        let key = *self.ids.get(id)?;
        let entry = self.entry(key)?;
        let HunkState::Conflict(info) = &entry.hunk.state else {
            return None;
        };
        Some(evaluate::sides(entry, info, self.range_of(key), text))
    }

    fn pending_changes<'a>(&'a self, text: &'a Rope) -> impl Iterator<Item = TextChange> + 'a {
        let pending = |slot: &usize| self.is_pending_at(*slot);
        (0..self.anchors.len())
            .filter(pending)
            .filter_map(|slot| self.applied_change(slot, text))
    }

    fn is_pending_at(&self, slot: usize) -> bool {
        let entry = self.entry(self.anchors.key(slot));
        entry.is_some_and(Entry::is_pending)
    }

    /// What putting the hunk at `slot` in would do to the text.
    fn applied_change(&self, slot: usize, text: &Rope) -> Option<TextChange> {
        let replacement = &self.entry(self.anchors.key(slot))?.hunk.replacement;
        let mut change = change_of(replacement, self.anchors.range(slot), text);
        if is_open(&change.text) && self.is_followed(slot) {
            change.text.push('\n');
        }
        Some(change)
    }

    /// Whether a pending hunk behind `slot` adds lines.
    fn is_followed(&self, slot: usize) -> bool {
        (slot + 1..self.anchors.len()).any(|behind| {
            let entry = self.entry(self.anchors.key(behind));
            entry.is_some_and(|entry| entry.is_pending() && !entry.hunk.replacement.is_empty())
        })
    }

    fn entry(&self, key: u32) -> Option<&Entry> {
        self.entries.get(key as usize)?.as_deref()
    }

    fn entry_mut(&mut self, key: u32) -> Option<&mut Entry> {
        self.entries
            .get_mut(key as usize)?
            .as_mut()
            .map(Arc::make_mut)
    }

    fn key(&self, id: &HunkId) -> Result<u32, HunkError> {
        let key = self.ids.get(id).copied();
        key.ok_or_else(|| HunkError::Unknown { id: id.clone() })
    }

    /// The keys of `ids` in the order of their places, each once.
    fn keys_by_place(&self, ids: &[HunkId]) -> Result<Vec<u32>, HunkError> {
        let mut keys = ids
            .iter()
            .map(|id| self.key(id))
            .collect::<Result<Vec<_>, _>>()?;
        keys.sort_unstable_by_key(|key| self.slots[*key as usize]);
        keys.dedup();
        Ok(keys)
    }

    /// The key of a hunk that is pending.
    fn pending_key(&self, id: &HunkId) -> Result<u32, HunkError> {
        let key = self.key(id)?;
        let settled = |how| HunkError::Settled {
            id: id.clone(),
            how,
        };
        match self.entry(key).map(|entry| &entry.hunk.state) {
            Some(HunkState::Pending) => Ok(key),
            Some(HunkState::Conflict(_)) => Err(HunkError::Conflict { id: id.clone() }),
            Some(HunkState::Accepted { .. }) => Err(settled("accepted")),
            Some(HunkState::Rejected) => Err(settled("rejected")),
            Some(HunkState::Withdrawn) => Err(settled("withdrawn")),
            None => Err(HunkError::Unknown { id: id.clone() }),
        }
    }

    fn range_of(&self, key: u32) -> Range<usize> {
        self.anchors.range(self.slots[key as usize] as usize)
    }

    /// Slots whose range touches `bytes`, edges included, in order.
    fn touched(&self, bytes: &Range<usize>) -> Vec<usize> {
        let first = self.anchors.first_from(bytes.start);
        let beyond = self.anchors.first_from(bytes.end + 1);
        let mut slots = self.anchors.reaching(first, bytes.start);
        slots.extend(first..beyond);
        slots
    }

    /// Adds an entry without a place; [`Self::arrange`] gives it one.
    fn admit(&mut self, entry: Entry) -> u32 {
        let key = self.entries.len() as u32;
        Arc::make_mut(&mut self.ids).insert(entry.hunk.id.clone(), key);
        self.entries.push(Some(Arc::new(entry)));
        self.slots.push(0);
        key
    }

    fn forget(&mut self, key: u32) -> Option<HunkId> {
        let entry = self.entries.get_mut(key as usize)?.take()?;
        Arc::make_mut(&mut self.ids).remove(&entry.hunk.id);
        Some(entry.hunk.id.clone())
    }

    /// Rebuilds the anchors from `places`: by start, insertions before what starts there, and
    /// else in the order given.
    fn arrange(&mut self, mut places: Vec<(u32, Range<usize>)>) {
        places.sort_by_key(|(_, range)| (range.start, !range.is_empty()));
        for (slot, (key, _)) in places.iter().enumerate() {
            self.slots[*key as usize] = slot as u32;
        }
        self.anchors = Anchors::new(places);
    }
}

/// The replacement of `range` by `replacement`, as it would stand in `text`.
///
/// Lines take the endings of the lines they replace. A last line without LF, which its agent wrote
/// for the end of the file, gets one when lines follow it now.
fn change_of(replacement: &str, range: Range<usize>, text: &Rope) -> TextChange {
    let mut adapted = crate::adapt_line_endings(
        replacement,
        &linewise::slice(text, range.clone()),
        ending_before(text, range.start),
        ending_after(text, range.end),
    );
    if range.end < text.len_bytes() && is_open(&adapted) {
        let own = linewise::slice(text, range.clone());
        let ending = if own.ends_with("\r\n") { "\r\n" } else { "\n" };
        adapted.push_str(ending);
    }
    TextChange {
        range,
        text: adapted,
    }
}

/// Whether a text has a last line without LF.
fn is_open(text: &str) -> bool {
    !text.is_empty() && !text.ends_with('\n')
}

/// The ending of the line before `byte`, which is a line start.
fn ending_before(text: &Rope, byte: usize) -> &'static str {
    if byte == 0 || text.byte(byte - 1) != b'\n' {
        ""
    } else if byte > 1 && text.byte(byte - 2) == b'\r' {
        "\r\n"
    } else {
        "\n"
    }
}

/// The ending of the line that starts at `byte`.
fn ending_after(text: &Rope, byte: usize) -> &'static str {
    if byte == text.len_bytes() {
        return "";
    }
    ending_before(text, linewise::next_line_start(text, byte))
}

/// Whether `found` is what applying `replacement` leaves: the same lines, or one LF more.
fn is_applied_text(found: &str, replacement: &str) -> bool {
    linewise::same(found, replacement)
        || (is_open(replacement) && linewise::lf(found).strip_suffix('\n') == Some(replacement))
}

/// Whether `info` pins a hunk that waits for its base lines to come back.
fn lifts(info: &ConflictInfo) -> bool {
    matches!(info, ConflictInfo::Changed)
}
