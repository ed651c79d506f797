//! An agent's edit becomes hunks.
//!
//! The agent edited the proposed text, so the edit is the diff of that text before and after. Parts
//! that touch no hunk become new hunks. A part that touches hunks is joined with them: their base
//! lines against the new proposed lines are diffed again, nothing else is, so that splits,
//! amendments and rejections elsewhere stand.

mod drafts;
mod groups;

use std::{collections::HashSet, ops::Range};

use ropey::Rope;

use self::{
    drafts::{Draft, Texts, meets},
    groups::{Group, Piece, groups},
};
use super::{Entry, HunkSet, evaluate::overlaps};
use crate::{
    MatchRung,
    diff::diff_with_offsets,
    hunk::{ConflictInfo, Hunk, HunkId, HunkState, Origin},
    linewise,
};

/// What a proposal did to the set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposed {
    /// New hunks.
    pub added: Vec<HunkId>,
    /// Hunks that would now do something else; their revision grew.
    pub changed: Vec<HunkId>,
    /// Hunks that the agent took back by restoring their lines.
    pub withdrawn: Vec<HunkId>,
    /// Hunks that are part of an older one now; the set knows them no more.
    pub removed: Vec<HunkId>,
    /// Amended hunks that the agent edited: conflicts now.
    pub conflicts: Vec<HunkId>,
}

impl Proposed {
    /// Whether the proposal changed nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl HunkSet {
    /// Takes in an agent's edit: the proposed text is to read `proposed_after`.
    ///
    /// `text` is what the set is anchored on; `ids` gives fresh ids.
    pub fn propose(
        &mut self,
        text: &Rope,
        proposed_after: &str,
        origin: &Origin,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Proposed {
        self.close_followed(text.len_bytes());
        let base = text.to_string();
        let base_offsets = linewise::line_offsets(&base);
        let pieces = self.pieces(text, &base_offsets);
        let before = String::from(self.proposed(text));
        let texts = Texts {
            diff: diff_with_offsets(&before, proposed_after),
            base: &base,
            base_offsets,
            after: proposed_after,
            origin,
        };
        let mut report = Proposed::default();
        let mut places: Vec<(u32, Range<usize>)> = Vec::new();
        let mut next_piece = 0;
        let mut groups = groups(&texts.diff.edits, &pieces);
        texts.close_end(&mut groups, &pieces);
        for group in groups {
            places.extend(
                pieces[next_piece..group.pieces.start]
                    .iter()
                    .map(|piece| (piece.key, texts.base_bytes(&piece.base))),
            );
            next_piece = group.pieces.end;
            let old = &pieces[group.pieces.clone()];
            if old.iter().any(|piece| piece.amended) {
                places.push(self.conflict_with_amendment(&texts, &group, old, &mut report));
            } else {
                places.extend(self.redraw(&texts, &group, old, ids, &mut report));
            }
        }
        places.extend(
            pieces[next_piece..]
                .iter()
                .map(|piece| (piece.key, texts.base_bytes(&piece.base))),
        );
        let is_placed: HashSet<u32> = places.iter().map(|(key, _)| *key).collect();
        let others = self
            .anchors
            .iter()
            .filter(|(key, _)| !is_placed.contains(key) && self.entry(*key).is_some());
        let mut all: Vec<(u32, Range<usize>)> = others.collect();
        all.extend(places);
        self.arrange(all);
        report
    }

    /// Hunks written for the end of the text, without a last LF, get one where others came behind.
    fn close_followed(&mut self, end: usize) {
        for slot in self.touched(&(end..end)) {
            let key = self.anchors.key(slot);
            let is_open =
                |entry: &Entry| entry.is_pending() && super::is_open(&entry.hunk.replacement);
            if self.entry(key).is_some_and(is_open)
                && self.is_followed(slot)
                && let Some(entry) = self.entry_mut(key)
            {
                entry.hunk.replacement.push('\n');
                entry.hunk.revision += 1;
                if entry.hunk.replacement == entry.hunk.removed {
                    // It was to take the last LF away, which is not the last any more.
                    entry.hunk.state = HunkState::Withdrawn;
                }
            }
        }
    }

    /// Diffs the base lines of a group against its new proposed lines; gives the places.
    fn redraw(
        &mut self,
        texts: &Texts<'_>,
        group: &Group,
        old: &[Piece],
        ids: &mut dyn FnMut() -> HunkId,
        report: &mut Proposed,
    ) -> Vec<(u32, Range<usize>)> {
        let drafts = self.drafts(texts, group, old);
        let mut claims: Vec<(u32, Range<usize>)> = old
            .iter()
            .map(|piece| (piece.key, texts.base_bytes(&piece.base)))
            .collect();
        claims.extend(self.conflicts_under(texts, &drafts));
        // The oldest hunk chooses first, and takes the first draft that shares lines with it.
        claims.sort_unstable_by_key(|(key, _)| *key);
        let mut takers: Vec<Option<u32>> = vec![None; drafts.len()];
        let mut losers = Vec::new();
        for (key, range) in claims {
            let free = drafts.iter().zip(&takers).position(|(draft, taker)| {
                taker.is_none() && meets(&texts.base_bytes(&draft.edit.old), &range)
            });
            match free {
                Some(draft) => takers[draft] = Some(key),
                None => losers.push((key, range)),
            }
        }
        let mut places = Vec::new();
        for (key, range) in losers {
            let is_merged = drafts
                .iter()
                .any(|draft| meets(&texts.base_bytes(&draft.edit.old), &range));
            if is_merged {
                report.removed.extend(self.forget(key));
            } else if let Some(entry) = self.entry_mut(key) {
                entry.hunk.state = HunkState::Withdrawn;
                report.withdrawn.push(entry.hunk.id.clone());
                places.push((key, range));
            }
        }
        for (draft, taker) in drafts.into_iter().zip(takers) {
            let bytes = texts.base_bytes(&draft.edit.old);
            let removed = linewise::lf(&texts.base[bytes.clone()]).into_owned();
            let replacement = linewise::lf(texts.after_text(&draft.edit.new)).into_owned();
            let snapshot = draft.edit.old.clone();
            let key = match taker.and_then(|key| Some((key, self.entry_mut(key)?))) {
                Some((key, entry)) => {
                    entry.hunk = Hunk {
                        id: entry.hunk.id.clone(),
                        revision: entry.hunk.revision + 1,
                        state: HunkState::Pending,
                        removed,
                        replacement,
                        provenance: draft.provenance,
                        rung: draft.rung,
                        amended: None,
                        split_from: entry.hunk.split_from.clone(),
                    };
                    entry.snapshot = snapshot;
                    entry.taken = super::Reads::Removed;
                    entry.region = None;
                    entry.reopened = None;
                    entry.steps.clear();
                    report.changed.push(entry.hunk.id.clone());
                    key
                }
                None => {
                    let id = ids();
                    report.added.push(id.clone());
                    let hunk = Hunk {
                        id,
                        revision: 1,
                        state: HunkState::Pending,
                        removed,
                        replacement,
                        provenance: draft.provenance,
                        rung: draft.rung,
                        amended: None,
                        split_from: None,
                    };
                    self.admit(Entry::new(hunk, snapshot))
                }
            };
            places.push((key, bytes));
        }
        places.sort_by_key(|(_, range)| range.start);
        places
    }

    /// Conflicts whose lines the agent edited anew, as they stand: the new hunk takes their place.
    fn conflicts_under(&self, texts: &Texts<'_>, drafts: &[Draft]) -> Vec<(u32, Range<usize>)> {
        let mut found: Vec<(u32, Range<usize>)> = Vec::new();
        for draft in drafts {
            let bytes = texts.base_bytes(&draft.edit.old);
            for slot in self.touched(&bytes) {
                let (key, range) = (self.anchors.key(slot), self.anchors.range(slot));
                let is_conflict = self.entry(key).is_some_and(|entry| {
                    matches!(
                        entry.hunk.state,
                        HunkState::Conflict(ConflictInfo::Changed | ConflictInfo::Ambiguous)
                    )
                });
                let is_same_place = overlaps(&range, &bytes) || range == bytes;
                if is_conflict && is_same_place && !found.iter().any(|(seen, _)| *seen == key) {
                    found.push((key, range));
                }
            }
        }
        found
    }

    /// The agent edited lines that the user had amended: both texts are kept, as a conflict.
    fn conflict_with_amendment(
        &mut self,
        texts: &Texts<'_>,
        group: &Group,
        old: &[Piece],
        report: &mut Proposed,
    ) -> (u32, Range<usize>) {
        let bytes = texts.base_bytes(&group.base);
        let mine = self.mine(texts, group, old);
        let proposed = linewise::lf(texts.after_text(&group.after)).into_owned();
        let provenance = texts.provenance(&group.after, &group.after);
        let keeper = old
            .iter()
            .filter(|piece| piece.amended)
            .map(|piece| piece.key)
            .min();
        let keeper = keeper.unwrap_or(old[0].key);
        let rung = old
            .iter()
            .filter_map(|piece| Some(self.entry(piece.key)?.hunk.rung))
            .fold(texts.rung(&group.after), MatchRung::max);
        for piece in old.iter().filter(|piece| piece.key != keeper) {
            report.removed.extend(self.forget(piece.key));
        }
        if let Some(entry) = self.entry_mut(keeper) {
            let hunk = &mut entry.hunk;
            hunk.removed = linewise::lf(&texts.base[bytes.clone()]).into_owned();
            hunk.replacement = mine;
            hunk.revision += 1;
            hunk.rung = rung;
            hunk.state = HunkState::Conflict(ConflictInfo::Amended {
                proposed,
                provenance,
            });
            entry.steps.clear();
            entry.snapshot = group.base.clone();
            entry.taken = super::Reads::Removed;
            report.conflicts.push(hunk.id.clone());
        }
        (keeper, bytes)
    }

    /// The lines of a group as the user sees them: amendments and other hunks applied.
    fn mine(&self, texts: &Texts<'_>, group: &Group, old: &[Piece]) -> String {
        let mut mine = String::new();
        let mut done = group.base.start;
        for piece in old {
            let Some(entry) = self.entry(piece.key) else {
                continue;
            };
            mine.push_str(&linewise::lf(
                &texts.base[texts.base_bytes(&(done..piece.base.start))],
            ));
            mine.push_str(&entry.hunk.replacement);
            done = piece.base.end;
        }
        mine.push_str(&linewise::lf(
            &texts.base[texts.base_bytes(&(done..group.base.end))],
        ));
        mine
    }
}
