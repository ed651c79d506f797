//! Hunks to the store and back.
//!
//! The store keeps a snapshot of the text and, for each hunk, a record with its lines in that
//! snapshot. Later decisions change the state of a record but never the snapshot: restoring replays
//! them, and gives the text that the hunks are anchored on then.

use std::ops::Range;

use ropey::Rope;
use serde::{Deserialize, Serialize};

use super::{
    Entry, HunkSet, Region, change::accepted, change_of, evaluate::overlaps, own::Ownership,
};
use crate::{
    hunk::{ConflictInfo, Hunk, HunkId, HunkState},
    linewise,
};

/// One hunk as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HunkRecord {
    /// The hunk with its present state.
    #[serde(flatten)]
    pub hunk: Hunk,
    /// Its place in the snapshot, in lines (zero-based, ended by LF).
    pub lines: Range<usize>,
    /// What the snapshot reads there.
    pub reads: Reads,
    /// Its rank by age in its set: of hunks that are joined, the oldest keeps its id.
    #[serde(default)]
    pub age: u32,
}

/// What a snapshot reads at the place of a hunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reads {
    /// The lines that the hunk removes.
    #[default]
    Removed,
    /// Its replacement: it had been accepted before the snapshot was taken.
    Replacement,
    /// What hunks made of it that were accepted later; nothing there tells about it any more.
    Overwritten,
    /// Neither: it was changed. Holds the lines as they were before, and where the hunk's own begin
    /// among them, in bytes.
    Changed {
        /// Lines as they were before the change.
        old: String,
        /// Where the hunk's own lines begin in `old`.
        offset: usize,
    },
}

/// Why records do not fit their snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// A range lies outside of the snapshot.
    #[error("hunk {id}: lines {}..{} lie outside of its snapshot", lines.start, lines.end)]
    OutOfRange {
        /// The hunk.
        id: HunkId,
        /// Its lines.
        lines: Range<usize>,
    },
    /// The snapshot reads something else there.
    #[error("hunk {id}: its snapshot does not read what it says it reads")]
    Mismatch {
        /// The hunk.
        id: HunkId,
    },
    /// Two open hunks claim the same lines, or have the same id.
    #[error("hunk {id} overlaps another one")]
    Overlap {
        /// The hunk.
        id: HunkId,
    },
}

impl RestoreError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        "STORE_CORRUPT"
    }
}

/// Where the lines of a text begin.
fn offsets_of(text: &Rope) -> Vec<usize> {
    linewise::line_offsets(&linewise::slice(text, 0..text.len_bytes()))
}

/// The lines of a text that a range of its bytes covers.
fn lines_of(offsets: &[usize], range: &Range<usize>) -> Range<usize> {
    let line = |byte: usize| offsets.partition_point(|offset| *offset < byte);
    line(range.start)..line(range.end)
}

impl HunkSet {
    /// Makes `text`, on which the set is anchored, the snapshot of all hunks.
    pub fn take_snapshot(&mut self, text: &Rope) {
        let offsets = offsets_of(text);
        for slot in 0..self.anchors.len() {
            let (key, range) = (self.anchors.key(slot), self.anchors.range(slot));
            let lines = lines_of(&offsets, &range);
            let differs = |entry: &Entry| entry.snapshot != lines || entry.taken != entry.reads();
            // Looked at first: a shared entry is copied when it is changed.
            if self.entry(key).is_some_and(differs)
                && let Some(entry) = self.entry_mut(key)
            {
                entry.taken = entry.reads();
                entry.snapshot = lines;
            }
        }
    }

    /// [Takes a snapshot](HunkSet::take_snapshot), and gives the records for it.
    pub fn snapshot(&mut self, text: &Rope) -> Vec<HunkRecord> {
        self.take_snapshot(text);
        self.records()
    }

    /// The records that a snapshot of `text` would give, on which the set is anchored.
    pub fn records_in(&self, text: &Rope) -> Vec<HunkRecord> {
        let offsets = offsets_of(text);
        let record = |slot: usize| {
            let entry = self.entry(self.anchors.key(slot))?;
            Some(HunkRecord {
                hunk: entry.hunk.clone(),
                lines: lines_of(&offsets, &self.anchors.range(slot)),
                reads: entry.reads(),
                age: self.anchors.key(slot),
            })
        };
        (0..self.anchors.len()).filter_map(record).collect()
    }

    /// The records of all hunks for the snapshot taken last, by place.
    ///
    /// After a proposal, take a new snapshot first, unless the text still is the last one.
    pub fn records(&self) -> Vec<HunkRecord> {
        let slots = 0..self.anchors.len();
        slots
            .filter_map(|slot| self.record_of(self.anchors.key(slot)))
            .collect()
    }

    /// The record of one hunk, see [`HunkSet::records`].
    pub fn record(&self, id: &HunkId) -> Option<HunkRecord> {
        self.record_of(*self.ids.get(id)?)
    }

    fn record_of(&self, key: u32) -> Option<HunkRecord> {
        let entry = self.entry(key)?;
        Some(HunkRecord {
            hunk: entry.hunk.clone(),
            lines: entry.snapshot.clone(),
            reads: entry.taken.clone(),
            age: key,
        })
    }

    /// Rebuilds a set from a snapshot and records in the order of their places.
    ///
    /// Gives the text it is anchored on: the snapshot with what was accepted since in it, and what
    /// was taken back since out of it. Conflicts with a changed text are judged again from there:
    /// follow with [`HunkSet::rebase`] to today's text.
    ///
    /// # Errors
    ///
    /// [`RestoreError`], naming the first hunk that does not fit.
    pub fn restore(
        snapshot: &Rope,
        records: Vec<HunkRecord>,
    ) -> Result<(Self, Rope), RestoreError> {
        // Keys go by age, places by the order given.
        let mut by_age: Vec<(usize, HunkRecord)> = records.into_iter().enumerate().collect();
        by_age.sort_by_key(|(_, record)| record.age);
        let found = linewise::slice(snapshot, 0..snapshot.len_bytes());
        let offsets = linewise::line_offsets(&found);
        let mut set = Self::new();
        let mut places = Vec::with_capacity(by_age.len());
        for (rank, record) in by_age {
            let id = record.hunk.id.clone();
            let Range { start, mut end } = record.lines;
            if matches!(record.reads, Reads::Changed { .. }) {
                // The extent of a change is a guess until the text is read again.
                end = end.min(offsets.len() - 1);
            }
            if start > end || end >= offsets.len() {
                return Err(RestoreError::OutOfRange {
                    id,
                    lines: record.lines,
                });
            }
            if set.ids.contains_key(&id) {
                return Err(RestoreError::Overlap { id });
            }
            let range = offsets[start]..offsets[end];
            let entry = Entry::restored(record, &found[range.clone()])?;
            places.push((rank, (set.admit(entry), range)));
        }
        places.sort_unstable_by_key(|(rank, _)| *rank);
        set.arrange(places.into_iter().map(|(_, place)| place).collect());
        set.check_overlaps()?;
        let text = set.replay(snapshot);
        Ok((set, text))
    }

    /// Open hunks must not claim the same lines.
    fn check_overlaps(&self) -> Result<(), RestoreError> {
        let mut end = 0;
        for (hunk, range) in self.pending() {
            if range.start < end {
                return Err(RestoreError::Overlap {
                    id: hunk.id.clone(),
                });
            }
            end = end.max(range.end);
        }
        Ok(())
    }

    /// Applies to `snapshot` what was decided after it was taken.
    fn replay(&mut self, snapshot: &Rope) -> Rope {
        let put_in = |entry: &Entry| entry.taken == Reads::Removed && is_accepted(entry);
        let text = self.replay_where(snapshot, put_in, Ownership::Applied);
        let taken_out = |entry: &Entry| entry.taken == Reads::Replacement && !is_accepted(entry);
        self.replay_where(&text, taken_out, Ownership::Reverted)
    }

    fn replay_where(
        &mut self,
        text: &Rope,
        wanted: impl Fn(&Entry) -> bool,
        kind: Ownership,
    ) -> Rope {
        let mut keys: Vec<u32> = Vec::new();
        for slot in 0..self.anchors.len() {
            let key = self.anchors.key(slot);
            if !self.entry(key).is_some_and(&wanted) {
                continue;
            }
            // Of two that did the same at one place, one did it, and the other was found done.
            let double = keys.pop_if(|last| overlaps(&self.range_of(*last), &self.range_of(key)));
            let is_by_hand = |key: u32| {
                let entry = self.entry(key);
                entry.is_some_and(|entry| entry.hunk.state == accepted(true))
            };
            keys.push(double.filter(|double| !is_by_hand(*double)).unwrap_or(key));
        }
        let states: Vec<HunkState> = keys
            .iter()
            .filter_map(|key| Some(self.entry(*key)?.hunk.state.clone()))
            .collect();
        for &key in &keys {
            // As it was when the snapshot was taken.
            self.turn(
                key,
                match kind {
                    Ownership::Applied => HunkState::Pending,
                    Ownership::Reverted => accepted(false),
                },
            );
        }
        let changes = keys.iter().filter_map(|&key| {
            let slot = self.slots[key as usize] as usize;
            match kind {
                Ownership::Applied => self.applied_change(slot, text),
                Ownership::Reverted => {
                    let removed = &self.entry(key)?.hunk.removed;
                    Some(change_of(removed, self.anchors.range(slot), text))
                }
            }
        });
        let changes = changes.collect();
        let replayed = self.apply_own(text, &keys, changes, kind).text;
        for (key, state) in keys.into_iter().zip(states) {
            self.turn(key, state);
        }
        replayed
    }
}

fn is_accepted(entry: &Entry) -> bool {
    matches!(entry.hunk.state, HunkState::Accepted { .. })
}

impl Entry {
    /// What the text reads at the hunk's place now.
    fn reads(&self) -> Reads {
        match (&self.region, &self.hunk.state) {
            _ if !self.under.is_empty() => Reads::Overwritten,
            (Some(region), _) => Reads::Changed {
                old: region.old.clone(),
                offset: region.offset,
            },
            (None, HunkState::Accepted { .. }) => Reads::Replacement,
            (None, _) => Reads::Removed,
        }
    }

    /// An entry for `record`, whose place in the snapshot reads `found`.
    fn restored(record: HunkRecord, found: &str) -> Result<Self, RestoreError> {
        let HunkRecord {
            hunk, lines, reads, ..
        } = record;
        let mismatch = || RestoreError::Mismatch {
            id: hunk.id.clone(),
        };
        let region = match &reads {
            Reads::Removed if linewise::same(found, &hunk.removed) => None,
            Reads::Replacement if super::is_applied_text(found, &hunk.replacement) => None,
            Reads::Changed { old, offset } => {
                let own = old.get(*offset..).ok_or_else(mismatch)?;
                if !own.starts_with(&hunk.removed) {
                    return Err(mismatch());
                }
                Some(Region {
                    old: old.clone(),
                    offset: *offset,
                })
            }
            Reads::Overwritten => Some(Region {
                old: hunk.removed.clone(),
                offset: 0,
            }),
            Reads::Removed | Reads::Replacement => return Err(mismatch()),
        };
        let mut entry = Self::new(hunk, lines);
        // Whether its lines are there is read from the text again.
        if region.is_some() && entry.hunk.state == HunkState::Pending {
            entry.hunk.state = HunkState::Conflict(ConflictInfo::Changed);
        }
        if region.is_none() && entry.hunk.state == HunkState::Conflict(ConflictInfo::Changed) {
            entry.hunk.state = HunkState::Pending;
        }
        entry.region = region;
        if reads == Reads::Overwritten {
            // Nothing that happens will lift it from under itself.
            entry.under.push(u32::MAX);
        }
        entry.taken = reads;
        Ok(entry)
    }
}
