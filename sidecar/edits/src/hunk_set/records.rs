//! Hunks to the store and back.
//!
//! The store keeps a snapshot of the text and, for each hunk, a record with its lines in that
//! snapshot. Later decisions change the state of a record but never the snapshot: restoring replays
//! them, and gives the text that the hunks are anchored on then.

use std::ops::Range;

use ropey::Rope;
use serde::{Deserialize, Serialize};

use super::{Entry, HunkSet, Region, change_of, settle::replace};
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

impl HunkSet {
    /// Makes `text`, on which the set is anchored, the snapshot of all hunks; gives their records.
    pub fn snapshot(&mut self, text: &Rope) -> Vec<HunkRecord> {
        let found = linewise::slice(text, 0..text.len_bytes());
        let offsets = linewise::line_offsets(&found);
        let line = |byte: usize| offsets.partition_point(|offset| *offset < byte);
        for slot in 0..self.anchors.len() {
            let range = self.anchors.range(slot);
            if let Some(entry) = self.entry_mut(self.anchors.key(slot)) {
                entry.snapshot = line(range.start)..line(range.end);
                entry.taken = entry.reads();
            }
        }
        self.records()
    }

    /// The records of all hunks for the snapshot taken last, by place.
    ///
    /// After a proposal, take a new snapshot first, unless the text still is the last one.
    pub fn records(&self) -> Vec<HunkRecord> {
        let slots = 0..self.anchors.len();
        slots
            .filter_map(|slot| self.entry(self.anchors.key(slot)))
            .map(Entry::record)
            .collect()
    }

    /// The record of one hunk, see [`HunkSet::records`].
    pub fn record(&self, id: &HunkId) -> Option<HunkRecord> {
        Some(self.entry(*self.ids.get(id)?)?.record())
    }

    /// Rebuilds a set from a snapshot and records, oldest hunk first or in any order.
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
        let found = linewise::slice(snapshot, 0..snapshot.len_bytes());
        let offsets = linewise::line_offsets(&found);
        let mut set = Self::new();
        let mut places = Vec::with_capacity(records.len());
        for record in records {
            let id = record.hunk.id.clone();
            let Range { start, end } = record.lines;
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
            places.push((set.admit(entry), range));
        }
        set.arrange(places);
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
        let mut text = snapshot.clone();
        for slot in (0..self.anchors.len()).rev() {
            let key = self.anchors.key(slot);
            let Some(entry) = self.entry(key) else {
                continue;
            };
            let is_accepted = matches!(entry.hunk.state, HunkState::Accepted { .. });
            let put = match (&entry.taken, is_accepted) {
                (Reads::Removed, true) => &entry.hunk.replacement,
                (Reads::Replacement, false) => &entry.hunk.removed,
                (Reads::Removed, false)
                | (Reads::Replacement, true)
                | (Reads::Changed { .. }, _) => continue,
            };
            let change = change_of(put, self.anchors.range(slot), &text);
            replace(&mut text, &change);
            let delta = change.text.len() as i64 - change.range.len() as i64;
            let start = change.range.start;
            self.grow(
                slot,
                start..start + change.text.len(),
                change.range.end,
                delta,
            );
        }
        text
    }

    /// The range at `slot` became `range`; what lay at or behind `end` moves by `delta`.
    fn grow(&mut self, slot: usize, range: Range<usize>, end: usize, delta: i64) {
        let mut moved: Vec<(u32, Range<usize>)> = Vec::new();
        let shifted = |offset: usize| offset.saturating_add_signed(delta as isize);
        for other in 0..self.anchors.len() {
            let place = self.anchors.range(other);
            let place = match () {
                () if other == slot => range.clone(),
                () if other > slot && place.start >= end => {
                    shifted(place.start)..shifted(place.end)
                }
                () if other < slot && place.end >= end && place.start < range.start => {
                    place.start..shifted(place.end)
                }
                () => place,
            };
            moved.push((self.anchors.key(other), place));
        }
        self.arrange(moved);
    }
}

impl Entry {
    /// What the text reads at the hunk's place now.
    fn reads(&self) -> Reads {
        match (&self.region, &self.hunk.state) {
            (Some(region), _) => Reads::Changed {
                old: region.old.clone(),
                offset: region.offset,
            },
            (None, HunkState::Accepted { .. }) => Reads::Replacement,
            (None, _) => Reads::Removed,
        }
    }

    fn record(&self) -> HunkRecord {
        HunkRecord {
            hunk: self.hunk.clone(),
            lines: self.snapshot.clone(),
            reads: self.taken.clone(),
        }
    }

    /// An entry for `record`, whose place in the snapshot reads `found`.
    fn restored(record: HunkRecord, found: &str) -> Result<Self, RestoreError> {
        let HunkRecord { hunk, lines, reads } = record;
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
            Reads::Removed | Reads::Replacement => return Err(mismatch()),
        };
        let mut entry = Self::new(hunk, lines);
        // Whether its lines are there is read from the text again.
        if region.is_none() && entry.hunk.state == HunkState::Conflict(ConflictInfo::Changed) {
            entry.hunk.state = HunkState::Pending;
        }
        entry.region = region;
        entry.taken = reads;
        Ok(entry)
    }
}
