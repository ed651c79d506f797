//! Decisions: accept, reject, withdraw, reopen, amend, propose again, keep mine.

use std::ops::Range;

use ropey::Rope;

use super::{
    HunkSet, Reads,
    change::{Edit, accepted},
    is_open,
    own::{Owner, Ownership},
    split::pairs,
};
use crate::{
    diff::{LineEdit, diff_with_offsets},
    hunk::{ConflictInfo, HunkError, HunkEvent, HunkId, HunkState, Provenance, TextChange},
    linewise,
};

/// What accepting hunks does.
#[derive(Debug, Clone)]
pub struct Accepted {
    /// The text with them in it.
    pub text: Rope,
    /// The edits that lead there, in order, all in terms of the text before.
    pub changes: Vec<TextChange>,
    /// What that did to other hunks.
    pub events: Vec<HunkEvent>,
}

impl HunkSet {
    /// Accepts a pending hunk: its text moves into the base, later hunks move along.
    ///
    /// The set is anchored on the returned text from here on.
    ///
    /// # Errors
    ///
    /// [`HunkError::Unknown`], [`HunkError::Settled`], [`HunkError::Conflict`].
    pub fn accept(&mut self, text: &Rope, id: &HunkId) -> Result<Accepted, HunkError> {
        self.accept_all(text, std::slice::from_ref(id))
    }

    /// Accepts several pending hunks, or none of them when one cannot be.
    ///
    /// # Errors
    ///
    /// As [`HunkSet::accept`].
    pub fn accept_all(&mut self, text: &Rope, ids: &[HunkId]) -> Result<Accepted, HunkError> {
        let changes = self.edits_for(text, ids)?;
        let keys = self.keys_by_place(ids)?;
        let applied = self.apply_own(text, &keys, changes, Ownership::Applied);
        for key in keys {
            self.turn(key, accepted(false));
        }
        Ok(applied)
    }

    /// Takes accepted hunks out of the base again: they are pending afterwards.
    ///
    /// # Errors
    ///
    /// As [`HunkSet::edits_for_undo`], and [`HunkError::Overlap`] when there is nothing to take out
    /// and another pending hunk claims the lines.
    pub fn undo_accept(&mut self, text: &Rope, ids: &[HunkId]) -> Result<Accepted, HunkError> {
        let changes = self.edits_for_undo(text, ids)?;
        let keys = self.keys_by_place(ids)?;
        for (&key, change) in keys.iter().zip(&changes) {
            // Hunks on lines that go become conflicts; on lines that stay they stay.
            if change.text == linewise::slice(text, change.range.clone())
                && let Some(entry) = self.entry(key)
            {
                self.free(&entry.hunk.id, key, &change.range)?;
            }
        }
        Ok(self.apply_own(text, &keys, changes, Ownership::Reverted))
    }

    /// Applies the own edits of hunks, last first, so that the places of the others stand.
    pub(super) fn apply_own(
        &mut self,
        text: &Rope,
        keys: &[u32],
        changes: Vec<TextChange>,
        kind: Ownership,
    ) -> Accepted {
        let mut own_events = Vec::new();
        let mut after = text.clone();
        let mut events = Vec::new();
        for (&key, change) in keys.iter().zip(&changes).rev() {
            let before = after.clone();
            replace(&mut after, change);
            let edit = Edit {
                at: change.range.clone(),
                origin: change.range.start,
                floor: change.range.start,
                text: &change.text,
            };
            let mut dirty = Vec::new();
            let owner = Some(Owner { key, kind });
            self.line_edit(&edit, owner, &before, &mut dirty, &mut own_events);
            self.evaluate(&dirty, &after, &mut events);
        }
        Accepted {
            text: after,
            changes,
            events,
        }
    }

    /// Rejects a pending hunk or a conflict: it leaves the proposed text, nothing else moves.
    ///
    /// # Errors
    ///
    /// [`HunkError::Unknown`], [`HunkError::Settled`].
    pub fn reject(&mut self, id: &HunkId) -> Result<(), HunkError> {
        self.close(id, HunkState::Rejected)
    }

    /// Withdraws a pending hunk or a conflict.
    ///
    /// # Errors
    ///
    /// [`HunkError::Unknown`], [`HunkError::Settled`].
    pub fn withdraw(&mut self, id: &HunkId) -> Result<(), HunkError> {
        self.close(id, HunkState::Withdrawn)
    }

    fn close(&mut self, id: &HunkId, state: HunkState) -> Result<(), HunkError> {
        match self.pending_key(id) {
            Ok(key) => self.turn(key, state),
            Err(HunkError::Conflict { .. }) => self.turn(self.key(id)?, state),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Takes a rejection or a withdrawal back.
    ///
    /// The hunk is pending again when its lines still read as they did, else a conflict.
    ///
    /// # Errors
    ///
    /// [`HunkError::Unknown`]; [`HunkError::Settled`] when it is accepted;
    /// [`HunkError::NothingLeft`] when there is nothing of it to do any more;
    /// [`HunkError::Overlap`] when another pending hunk claims its lines by now.
    pub fn reopen(&mut self, id: &HunkId) -> Result<(), HunkError> {
        let key = self.key(id)?;
        let range = self.range_of(key);
        let Some(entry) = self.entry(key) else {
            return Err(HunkError::Unknown { id: id.clone() });
        };
        let state = match (&entry.hunk.state, &entry.region) {
            (HunkState::Pending | HunkState::Conflict(_), _) => return Ok(()),
            (HunkState::Accepted { .. }, _) => {
                return Err(HunkError::Settled {
                    id: id.clone(),
                    how: "accepted",
                });
            }
            _ if !entry.hunk.changes_something() => {
                return Err(HunkError::NothingLeft { id: id.clone() });
            }
            (_, Some(_)) => HunkState::Conflict(ConflictInfo::Changed),
            (_, None) => HunkState::Pending,
        };
        self.free(id, key, &range)?;
        self.turn(key, state);
        if let Some(entry) = self.entry_mut(key) {
            // It is reopened where it stands now.
            entry.steps.clear();
        }
        self.relocate(key, range);
        Ok(())
    }

    /// Fails when another pending hunk claims lines of `range`.
    fn free(&self, id: &HunkId, key: u32, range: &Range<usize>) -> Result<(), HunkError> {
        match self
            .overlapping(key, range)
            .and_then(|other| self.entry(other))
        {
            Some(other) => Err(HunkError::Overlap {
                id: id.clone(),
                other: other.hunk.id.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Replaces the proposed lines of a pending hunk by the user's own; the agent's are kept.
    ///
    /// Unless the hunk ends the text, a missing last LF is added.
    ///
    /// # Errors
    ///
    /// [`HunkError::Unknown`], [`HunkError::Settled`], [`HunkError::Conflict`], and
    /// [`HunkError::NothingLeft`] when nothing would change.
    pub fn amend(&mut self, text: &Rope, id: &HunkId, amended: &str) -> Result<(), HunkError> {
        let key = self.pending_key(id)?;
        let is_followed = self.is_followed(self.slots[key as usize] as usize);
        let ends_text = self.range_of(key).end == text.len_bytes() && !is_followed;
        let mut amended = linewise::lf(amended).into_owned();
        if is_open(&amended) && !ends_text {
            amended.push('\n');
        }
        let Some(entry) = self.entry_mut(key) else {
            return Err(HunkError::Unknown { id: id.clone() });
        };
        let hunk = &mut entry.hunk;
        if amended == hunk.removed {
            return Err(HunkError::NothingLeft { id: id.clone() });
        }
        if amended == hunk.replacement {
            return Ok(());
        }
        hunk.provenance = follow_lines(&hunk.provenance, &hunk.replacement, &amended);
        let replaced = std::mem::replace(&mut hunk.replacement, amended);
        let original = hunk.amended.take().unwrap_or(replaced);
        hunk.amended = Some(original).filter(|original| *original != hunk.replacement);
        hunk.revision += 1;
        Ok(())
    }

    /// Proposes a conflict's replacement again, on the lines that stand there now.
    ///
    /// Of an agent's edit over amended lines the agent's text is taken.
    ///
    /// # Errors
    ///
    /// [`HunkError::Unknown`], [`HunkError::NotAConflict`], and [`HunkError::Overlap`] when another
    /// pending hunk claims the lines.
    pub fn propose_again(&mut self, text: &Rope, id: &HunkId) -> Result<(), HunkError> {
        let key = self.key(id)?;
        let range = self.range_of(key);
        let Some(entry) = self.entry(key) else {
            return Err(HunkError::Unknown { id: id.clone() });
        };
        let HunkState::Conflict(info) = entry.hunk.state.clone() else {
            return Err(HunkError::NotAConflict { id: id.clone() });
        };
        self.free(id, key, &range)?;
        let (own, provenance) = match &info {
            ConflictInfo::Changed | ConflictInfo::Ambiguous => (
                entry.hunk.replacement.clone(),
                entry.hunk.provenance.clone(),
            ),
            ConflictInfo::Amended {
                proposed,
                provenance,
            } => (proposed.clone(), provenance.clone()),
        };
        // What the user changed beside the hunk's own lines stays as it is now.
        let current = linewise::slice_lf(text, range.clone());
        let first = linewise::line_count(entry.above());
        let own_lines = first..first + linewise::line_count(&entry.hunk.removed);
        let mut lines = followed_lines(entry.old_text(), &current, &own_lines);
        let offsets = linewise::line_offsets(&current);
        if lines.is_empty() && lines.end > 0 && !current[..offsets[lines.end]].ends_with('\n') {
            // Nothing can go behind a line without LF.
            lines = lines.end - 1..lines.end - 1;
        }
        let mut replacement = own;
        if is_open(&replacement) && offsets[lines.end] < current.len() {
            replacement.push('\n');
        }
        let above = linewise::line_count(entry.above());
        let below = linewise::line_count(entry.below());
        let Some(entry) = self.entry_mut(key) else {
            return Err(HunkError::Unknown { id: id.clone() });
        };
        if entry.region.take().is_some() {
            // The snapshot has the lines as they were, or as they are: the text will tell.
            entry.snapshot = entry.snapshot.start.saturating_sub(above)..entry.snapshot.end + below;
            entry.taken = Reads::Changed {
                old: current.clone(),
                offset: offsets[lines.start],
            };
        }
        entry.steps.clear();
        let hunk = &mut entry.hunk;
        if matches!(info, ConflictInfo::Amended { .. }) {
            hunk.amended = None;
        }
        hunk.provenance = provenance;
        hunk.removed = current[offsets[lines.start]..offsets[lines.end]].to_owned();
        hunk.replacement = replacement;
        hunk.state = HunkState::Pending;
        hunk.revision += 1;
        let mut place = range;
        for _ in 0..lines.start {
            place.start = linewise::next_line_start(text, place.start);
        }
        for _ in lines.end..offsets.len() - 1 {
            place.end = linewise::line_start(text, place.end - 1);
        }
        self.relocate(key, place);
        self.minimize(key, text);
        Ok(())
    }

    /// Settles a conflict for the user's side.
    ///
    /// A conflict with the file's text withdraws the hunk; of an agent's edit over amended lines the
    /// user's amendment is pending again.
    ///
    /// # Errors
    ///
    /// [`HunkError::Unknown`], [`HunkError::NotAConflict`].
    pub fn keep_mine(&mut self, id: &HunkId) -> Result<(), HunkError> {
        let key = self.key(id)?;
        let Some(entry) = self.entry_mut(key) else {
            return Err(HunkError::Unknown { id: id.clone() });
        };
        entry.hunk.state = match &entry.hunk.state {
            HunkState::Conflict(ConflictInfo::Amended { .. }) if entry.region.is_some() => {
                HunkState::Conflict(ConflictInfo::Changed)
            }
            HunkState::Conflict(ConflictInfo::Amended { .. }) => HunkState::Pending,
            HunkState::Conflict(ConflictInfo::Changed | ConflictInfo::Ambiguous) => {
                HunkState::Withdrawn
            }
            HunkState::Pending
            | HunkState::Accepted { .. }
            | HunkState::Rejected
            | HunkState::Withdrawn => return Err(HunkError::NotAConflict { id: id.clone() }),
        };
        entry.hunk.revision += 1;
        let range = self.range_of(key);
        self.relocate(key, range);
        Ok(())
    }

    /// Announces that the edits of `ids` were sent to the editor: their arrival is an acceptance,
    /// not the user's own typing. Unknown ids are passed over.
    pub fn expect(&mut self, ids: &[HunkId]) {
        self.set_expected(ids, true);
    }

    /// Takes an announcement back: the editor refused, or did not answer in time.
    pub fn expect_no_more(&mut self, ids: &[HunkId]) {
        self.set_expected(ids, false);
    }

    fn set_expected(&mut self, ids: &[HunkId], expected: bool) {
        for id in ids {
            if let Some(entry) = self.key(id).ok().and_then(|key| self.entry_mut(key)) {
                entry.expected = expected;
            }
        }
    }

    /// Records as an acceptance what has arrived without being announced, or late, or what needs
    /// no edit because the text reads it already.
    ///
    /// Gives whether the hunk is accepted.
    pub fn absorb_applied(&mut self, text: &Rope, id: &HunkId) -> bool {
        let Ok(key) = self.key(id) else {
            return false;
        };
        let is_there = match self.entry(key).map(|entry| &entry.hunk.state) {
            Some(HunkState::Accepted { .. }) => true,
            Some(HunkState::Pending) => {
                let change = self.applied_change(self.slots[key as usize] as usize, text);
                change.is_some_and(|change| change.text == linewise::slice(text, change.range))
            }
            Some(HunkState::Conflict(_) | HunkState::Rejected | HunkState::Withdrawn) | None => {
                false
            }
        };
        if let Some(entry) = self.entry_mut(key).filter(|_| is_there) {
            entry.hunk.state = accepted(false);
            entry.expected = false;
            entry.reopened = None;
        }
        is_there
    }

    /// Shrinks a pending hunk to the lines that differ, at its ends.
    fn minimize(&mut self, key: u32, text: &Rope) {
        let mut range = self.range_of(key);
        let Some(entry) = self.entry_mut(key) else {
            return;
        };
        let hunk = &mut entry.hunk;
        let edits = crate::diff_lines(&hunk.removed, &hunk.replacement);
        let (Some(first), Some(last)) = (edits.first(), edits.last()) else {
            // Nothing of it is left to do.
            hunk.state = accepted(true);
            return;
        };
        let (old, new) = (
            linewise::line_offsets(&hunk.removed),
            linewise::line_offsets(&hunk.replacement),
        );
        let below = old.len() - 1 - last.old.end;
        for _ in 0..first.old.start {
            range.start = linewise::next_line_start(text, range.start);
        }
        for _ in 0..below {
            range.end = linewise::line_start(text, range.end - 1);
        }
        let lines = first.new.start..last.new.end;
        if let Reads::Changed { offset, .. } = &mut entry.taken {
            *offset += old[first.old.start];
        }
        hunk.removed = hunk.removed[old[first.old.start]..old[last.old.end]].to_owned();
        hunk.replacement = hunk.replacement[new[lines.start]..new[lines.end]].to_owned();
        hunk.provenance = clip(&hunk.provenance, &lines);
        self.relocate(key, range);
    }
}

/// The lines of `new` that stand where `lines` of `old` stood, as far as can be told.
///
/// What was inserted exactly where no line was stays before it.
fn followed_lines(old: &str, new: &str, lines: &Range<usize>) -> Range<usize> {
    let mut start = lines.start;
    let mut end = lines.end;
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let (mut start_moved, mut end_moved) = (0_isize, 0_isize);
    for LineEdit { old, new } in crate::diff_lines(old, new) {
        let delta = new.len() as isize - old.len() as isize;
        let pairs = pairs(&old_lines[old.clone()], &new_lines[new.clone()]);
        // The new line before which `line` stands, inside of the edit.
        let inside = |line: usize| {
            let below = pairs.iter().find(|(i, _)| old.start + i >= line);
            new.start + below.map_or(new.len(), |(_, j)| *j)
        };
        if old.end <= lines.start {
            start_moved += delta;
        } else if old.start < lines.start {
            let above = pairs.iter().rfind(|(i, _)| old.start + i < lines.start);
            start = new.start + above.map_or(0, |(_, j)| j + 1);
            start_moved = 0;
        }
        if old.end <= lines.end {
            end_moved += delta;
        } else if old.start < lines.end {
            end = inside(lines.end);
            end_moved = 0;
        }
    }
    let start = start.saturating_add_signed(start_moved);
    let end = end.saturating_add_signed(end_moved);
    if lines.is_empty() {
        return end..end;
    }
    start.min(end)..end
}

/// Provenance of the lines `kept`, counted from the first of them.
pub(super) fn clip(provenance: &[Provenance], kept: &Range<usize>) -> Vec<Provenance> {
    let clipped = provenance.iter().map(|part| {
        let start = part.lines.start.clamp(kept.start, kept.end) - kept.start;
        let end = part.lines.end.clamp(kept.start, kept.end) - kept.start;
        Provenance {
            lines: start..end,
            ..part.clone()
        }
    });
    clipped.collect()
}

/// Provenance of `old` carried over to those of its lines that `new` still has.
fn follow_lines(provenance: &[Provenance], old: &str, new: &str) -> Vec<Provenance> {
    let diff = diff_with_offsets(old, new);
    let old_lines = diff.old_offsets.len() - 1;
    let mut to_new = vec![None; old_lines];
    let (mut i, mut j) = (0, 0);
    for edit in &diff.edits {
        while i < edit.old.start {
            to_new[i] = Some(j);
            (i, j) = (i + 1, j + 1);
        }
        (i, j) = (edit.old.end, edit.new.end);
    }
    while i < old_lines {
        to_new[i] = Some(j);
        (i, j) = (i + 1, j + 1);
    }
    let mut followed = Vec::new();
    for part in provenance {
        let places = part.lines.clone().filter_map(|line| *to_new.get(line)?);
        let mut runs = runs(places);
        if runs.is_empty() {
            runs.push(0..0);
        }
        followed.extend(runs.into_iter().map(|lines| Provenance {
            lines,
            ..part.clone()
        }));
    }
    followed
}

/// Groups increasing numbers into contiguous ranges.
pub(super) fn runs(numbers: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number => run.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}

/// Applies one change to a rope.
pub(super) fn replace(text: &mut Rope, change: &TextChange) {
    let start = text.byte_to_char(change.range.start);
    let end = text.byte_to_char(change.range.end);
    text.remove(start..end);
    text.insert(start, &change.text);
}
