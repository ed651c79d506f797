//! What may be decided without a commit, and how every record changes the model. Pure.

use std::collections::BTreeSet;

use redline_edits::{HunkError, HunkEvent, HunkId, HunkState, Selection as Lines};

use super::file::{FileReview, FileState};
use super::model::{Fate, Transaction};
use super::record::{Record, SettledFile, SettledHunk, Settlement};
use super::select::{LineRange, SelectError, Selection, hunks_in};
use crate::commit::Committed;

impl Transaction {
    /// Rejects or withdraws what is selected. Returns the record to store.
    ///
    /// # Errors
    ///
    /// [`HunkError`] for the first hunk that cannot be; nothing is changed then.
    pub fn refuse(
        &mut self,
        selection: &Selection,
        how: Settlement,
        receipt_id: Option<String>,
    ) -> Result<Record, HunkError> {
        let mut changed = self.clone();
        let (mut hunks, mut files) = (Vec::new(), Vec::new());
        for selected in &selection.files {
            let Some(file) = changed.file_mut(&selected.path) else {
                continue;
            };
            for id in &selected.hunks {
                match how {
                    Settlement::Withdrawn => file.hunks.withdraw(id)?,
                    Settlement::Rejected
                    | Settlement::Accepted
                    | Settlement::AcceptedUnsaved
                    | Settlement::ByHand => file.hunks.reject(id)?,
                }
                hunks.push(SettledHunk {
                    path: selected.path.clone(),
                    id: id.clone(),
                    how,
                });
            }
            if selected.operation {
                file.own_state = Some(how.file_state());
                file.revision += 1;
                files.push(SettledFile {
                    path: selected.path.clone(),
                    how,
                });
            }
        }
        changed.revision += 1;
        *self = changed;
        Ok(Record::Settled {
            receipt_id,
            hunks,
            files,
            applied: Vec::new(),
        })
    }

    /// Replaces the proposed lines of a hunk by the user's own. Returns the record to store.
    ///
    /// # Errors
    ///
    /// [`HunkError`]; nothing is changed then.
    pub fn amend(&mut self, id: &HunkId, text: &str) -> Result<Record, HunkError> {
        self.change_hunk(id, |file| {
            let base = file.text.clone();
            file.hunks.amend(&base, id, text)?;
            Ok(vec![id.clone()])
        })
    }

    /// Splits a hunk as `git add -p` does. Returns the ids of its parts and the record to store.
    ///
    /// # Errors
    ///
    /// [`HunkError`]; nothing is changed then.
    pub fn split(
        &mut self,
        id: &HunkId,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<(Vec<HunkId>, Record), HunkError> {
        let mut parts = Vec::new();
        let record = self.change_hunk(id, |file| {
            let base = file.text.clone();
            parts = file.hunks.split(&base, id, ids)?;
            Ok(parts.clone())
        })?;
        Ok((parts, record))
    }

    /// Proposes a conflict again, on the lines that stand there now. Returns the record to store.
    ///
    /// # Errors
    ///
    /// [`HunkError`]; nothing is changed then.
    pub fn propose_again(&mut self, id: &HunkId) -> Result<Record, HunkError> {
        self.change_hunk(id, |file| {
            let base = file.text.clone();
            file.hunks.propose_again(&base, id)?;
            file.take_snapshot();
            Ok(vec![id.clone()])
        })?;
        // Its base lines are those of today's text: the store needs that text, too.
        let path = self
            .path_of(id)
            .ok_or_else(|| HunkError::Unknown { id: id.clone() })?;
        Ok(Record::Grown(
            self.file(&path).cloned().into_iter().collect(),
        ))
    }

    /// Settles a conflict for the user's side. Returns the record to store.
    ///
    /// # Errors
    ///
    /// [`HunkError`]; nothing is changed then.
    pub fn keep_mine(&mut self, id: &HunkId) -> Result<Record, HunkError> {
        self.change_hunk(id, |file| {
            file.hunks.keep_mine(id)?;
            Ok(vec![id.clone()])
        })
    }

    fn path_of(&self, id: &HunkId) -> Option<String> {
        self.file_of(id).map(|file| file.path.clone())
    }

    fn change_hunk(
        &mut self,
        id: &HunkId,
        change: impl FnOnce(&mut FileReview) -> Result<Vec<HunkId>, HunkError>,
    ) -> Result<Record, HunkError> {
        let path = self
            .path_of(id)
            .ok_or_else(|| HunkError::Unknown { id: id.clone() })?;
        let Some(file) = self.file_mut(&path) else {
            return Err(HunkError::Unknown { id: id.clone() });
        };
        let changed = change(file)?;
        let hunks = changed
            .iter()
            .filter_map(|id| file.hunks.record(id))
            .collect();
        self.revision += 1;
        Ok(Record::Changed { path, hunks })
    }

    /// Splits the hunks that reach beyond the lines of a range, so that a selection by lines takes no more
    /// than was asked. Whole files that go or come are not divided. Returns the records to store.
    ///
    /// # Errors
    ///
    /// [`SelectError`] for a range of no lines or a path that is not in it.
    pub fn split_for_lines(
        &mut self,
        range: &LineRange,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<Vec<Record>, SelectError> {
        let unknown = || SelectError::UnknownFile {
            transaction: self.meta.id.clone(),
            path: range.path.clone(),
        };
        let file = self.file(&range.path).ok_or_else(unknown)?;
        let found = hunks_in(file, range)?;
        if file.operation == redline_edits::OperationKind::Delete {
            return Ok(Vec::new());
        }
        let lines = Lines::Base(range.start - 1..range.end);
        let mut records = Vec::new();
        for id in found {
            let before: BTreeSet<HunkId> = self.hunk_ids(&range.path);
            let record = self.change_hunk(&id, |file| {
                let base = file.text.clone();
                file.hunks.split_at_lines(&base, &id, &lines, ids)?;
                let made = file.hunks.iter().map(|hunk| &hunk.id);
                let made = made.filter(|made| !before.contains(*made) || **made == id);
                Ok(made.cloned().collect())
            });
            // A hunk that cannot be divided there (a conflict, one line) is decided as it is.
            if let Ok(record) = record
                && self.hunk_ids(&range.path).len() > before.len()
            {
                records.push(record);
            }
        }
        Ok(records)
    }

    fn hunk_ids(&self, path: &str) -> BTreeSet<HunkId> {
        let hunks = self
            .file(path)
            .into_iter()
            .flat_map(|file| file.hunks.iter());
        hunks.map(|hunk| hunk.id.clone()).collect()
    }

    /// Takes in a finished commit. The texts of open documents come with their own changes, before or after.
    pub fn absorb(&mut self, committed: &Committed) {
        for text in &committed.texts {
            let Some(file) = self.file_mut(&text.path) else {
                continue;
            };
            if text.open {
                continue;
            }
            file.reanchor(&text.before);
            let ids: Vec<HunkId> = accepted_in(&committed.record, &text.path)
                .filter(|id| {
                    file.hunks
                        .get(id)
                        .is_some_and(|hunk| hunk.state == HunkState::Pending)
                })
                .cloned()
                .collect();
            if let Ok(accepted) = file.hunks.accept_all(&text.before, &ids) {
                file.text = accepted.text;
            }
            file.reanchor(&text.after);
        }
        self.apply(&committed.record);
    }

    /// Changes the model by a record that another process, or a commit, has stored. Texts stay as they are:
    /// follow with [`FileReview::reanchor`].
    pub fn apply(&mut self, record: &Record) {
        self.revision += 1;
        match record {
            Record::Grown(files) => {
                for file in files {
                    match self.by_path.get(&file.path) {
                        Some(&at) => self.files[at] = std::sync::Arc::new(file.clone()),
                        None => {
                            let at = self.files.len();
                            std::sync::Arc::make_mut(&mut self.by_path)
                                .insert(file.path.clone(), at);
                            self.files.push(std::sync::Arc::new(file.clone()));
                        }
                    }
                }
            }
            Record::Changed { .. } => {}
            Record::Settled {
                hunks,
                files,
                applied,
                ..
            } => {
                self.fate = Fate::Live;
                for settled in hunks {
                    if let Some(file) = self.file_mut(&settled.path) {
                        file.settled(&settled.id, settled.how);
                    }
                }
                for settled in files {
                    if let Some(file) = self.file_mut(&settled.path) {
                        file.own_state = Some(settled.how.file_state());
                        file.revision += 1;
                    }
                }
                for applied in applied {
                    if let Some(file) = self.file_mut(&applied.path) {
                        file.applied = Some(applied.revision.clone());
                    }
                }
            }
            Record::Saved { path, hunks } => {
                if let Some(file) = self.file_mut(path) {
                    for id in hunks {
                        file.unsaved.remove(id);
                    }
                }
            }
            Record::Reopened { path, hunks } => {
                if let Some(file) = self.file_mut(path) {
                    for id in hunks {
                        file.unsaved.remove(id);
                    }
                }
            }
            Record::Failed { message } => {
                self.fate = Fate::Failed {
                    message: message.clone(),
                }
            }
            Record::Undone { by, hunks } => {
                self.fate = Fate::Undone { by: by.clone() };
                for (path, id) in hunks {
                    if let Some(file) = self.file_mut(path) {
                        file.mark_undone(id);
                    }
                }
                self.move_own_states(&FileState::Accepted, &FileState::Undone);
            }
            Record::Redone { hunks } => {
                self.fate = Fate::Live;
                for (path, id) in hunks {
                    if let Some(file) = self.file_mut(path) {
                        file.mark_redone(id);
                    }
                }
                self.move_own_states(&FileState::Undone, &FileState::Accepted);
            }
        }
    }

    fn move_own_states(&mut self, from: &FileState, to: &FileState) {
        for file in &mut self.files {
            let file = std::sync::Arc::make_mut(file);
            file.applied = None;
            if file.own_state.as_ref() == Some(from) {
                file.own_state = Some(to.clone());
                file.revision += 1;
            }
        }
    }

    /// Hunks that are accepted, with their paths.
    pub(crate) fn accepted(&self) -> Vec<(String, HunkId)> {
        let all = self
            .files()
            .flat_map(|file| file.hunks.iter().map(move |hunk| (file, hunk)));
        all.filter(|(_, hunk)| matches!(hunk.state, HunkState::Accepted { .. }))
            .map(|(file, hunk)| (file.path.clone(), hunk.id.clone()))
            .collect()
    }

    /// Hunks that were undone, with their paths.
    pub(crate) fn undone(&self) -> Vec<(String, HunkId)> {
        let all = self
            .files()
            .flat_map(|file| file.undone.iter().map(move |id| (file, id)));
        all.map(|(file, id)| (file.path.clone(), id.clone()))
            .collect()
    }

    /// Notes that the document at `path` was saved. Returns the record to store, if that changes anything.
    pub fn saved(&mut self, path: &str) -> Option<Record> {
        let file = self.file_mut(path)?;
        if file.unsaved.is_empty() {
            return None;
        }
        let hunks: Vec<HunkId> = std::mem::take(&mut file.unsaved).into_iter().collect();
        self.revision += 1;
        Some(Record::Saved {
            path: path.to_owned(),
            hunks,
        })
    }

    /// Turns what a text change did to hunks into the records to store: acceptances by hand and hunks that
    /// wait again. Conflicts need none, since they are found again in today's text.
    pub fn note_events(&mut self, path: &str, events: &[HunkEvent], unsaved: bool) -> Vec<Record> {
        let (mut by_hand, mut reopened) = (Vec::new(), Vec::new());
        for event in events {
            match event {
                HunkEvent::AcceptedByHand { id } | HunkEvent::AcceptedAgain { id } => {
                    by_hand.push(id.clone());
                }
                HunkEvent::Reopened { id } => reopened.push(id.clone()),
                HunkEvent::Conflicted { .. }
                | HunkEvent::Lifted { .. }
                | HunkEvent::Applied { .. } => {}
            }
        }
        if !events.is_empty() {
            self.revision += 1;
        }
        let Some(file) = self.file_mut(path) else {
            return Vec::new();
        };
        let mut records = Vec::new();
        if !by_hand.is_empty() {
            if unsaved {
                file.unsaved.extend(by_hand.iter().cloned());
            }
            let how = if unsaved {
                Settlement::AcceptedUnsaved
            } else {
                Settlement::ByHand
            };
            let hunks = by_hand
                .into_iter()
                .map(|id| SettledHunk {
                    path: path.to_owned(),
                    id,
                    how,
                })
                .collect();
            records.push(Record::Settled {
                receipt_id: None,
                hunks,
                files: Vec::new(),
                applied: Vec::new(),
            });
        }
        if !reopened.is_empty() {
            for id in &reopened {
                file.unsaved.remove(id);
            }
            records.push(Record::Reopened {
                path: path.to_owned(),
                hunks: reopened,
            });
        }
        records
    }
}

fn accepted_in<'r>(record: &'r Record, path: &'r str) -> impl Iterator<Item = &'r HunkId> {
    let hunks = match record {
        Record::Settled { hunks, .. } => hunks.as_slice(),
        Record::Grown(_)
        | Record::Changed { .. }
        | Record::Saved { .. }
        | Record::Reopened { .. }
        | Record::Failed { .. }
        | Record::Undone { .. }
        | Record::Redone { .. } => &[],
    };
    hunks
        .iter()
        .filter(move |settled| {
            settled.path == path
                && matches!(
                    settled.how,
                    Settlement::Accepted | Settlement::AcceptedUnsaved
                )
        })
        .map(|settled| &settled.id)
}

impl FileReview {
    fn settled(&mut self, id: &HunkId, how: Settlement) {
        match how {
            Settlement::AcceptedUnsaved => {
                self.unsaved.insert(id.clone());
            }
            Settlement::Accepted | Settlement::ByHand => {}
            // Ids that are gone or settled already are passed over: the record was made elsewhere.
            Settlement::Rejected => drop(self.hunks.reject(id)),
            Settlement::Withdrawn => drop(self.hunks.withdraw(id)),
        }
    }

    /// A hunk that was accepted is taken back; the text follows here, and is compared with the disk's or the
    /// editor's as always.
    fn mark_undone(&mut self, id: &HunkId) {
        let text = self.text.clone();
        if let Ok(undone) = self.hunks.undo_accept(&text, std::slice::from_ref(id)) {
            self.text = undone.text;
        }
        // Pending by now, whichever came first: this record or the text.
        if self.hunks.withdraw(id).is_ok() {
            self.undone.insert(id.clone());
        }
        self.unsaved.remove(id);
    }

    /// A hunk that was undone is put back.
    fn mark_redone(&mut self, id: &HunkId) {
        self.undone.remove(id);
        let text = self.text.clone();
        if self.hunks.reopen(id).is_ok()
            && let Ok(accepted) = self.hunks.accept(&text, id)
        {
            self.text = accepted.text;
        }
    }
}
