//! From the durable form back to the model: the snapshots, then each line of the log in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use redline_edits::{HunkId, HunkRecord, HunkSet, HunkState};
use ropey::Rope;

use super::file::{Before, FileReview};
use super::format::{LogLine, PlainFile};
use super::model::{Fate, Transaction, TransactionMeta};
use super::record::{Record, Settlement};
use crate::commit::play;

/// Hunks known while the log is played, before they are placed in a text.
#[derive(Debug)]
pub(super) struct Replay {
    meta: TransactionMeta,
    order: Vec<String>,
    files: BTreeMap<String, PlainFile>,
    fate: Fate,
    lines: u64,
}

impl Replay {
    pub(super) fn new(meta: TransactionMeta, files: Vec<PlainFile>) -> Self {
        let mut replay = Self {
            meta,
            order: Vec::new(),
            files: BTreeMap::new(),
            fate: Fate::Live,
            lines: 0,
        };
        replay.take_in(files);
        replay
    }

    fn take_in(&mut self, files: Vec<PlainFile>) {
        for file in files {
            if !self.files.contains_key(&file.path) {
                self.order.push(file.path.clone());
            }
            self.files.insert(file.path.clone(), file);
        }
    }

    /// Plays one line; `grown` holds the files that a `Grown` line refers to.
    pub(super) fn play(&mut self, line: LogLine, grown: Vec<PlainFile>) {
        self.lines += 1;
        match line {
            LogLine::Grown { .. } => self.take_in(grown),
            LogLine::Changed { path, hunks } => {
                if let Some(file) = self.files.get_mut(&path) {
                    for record in hunks {
                        match file
                            .hunks
                            .iter_mut()
                            .find(|old| old.hunk.id == record.hunk.id)
                        {
                            Some(old) => *old = record,
                            None => file.hunks.push(record),
                        }
                    }
                }
            }
            LogLine::Settled {
                hunks,
                files,
                applied,
                ..
            } => {
                self.fate = Fate::Live;
                let mut by_path: BTreeMap<&str, BTreeMap<&HunkId, Settlement>> = BTreeMap::new();
                for settled in &hunks {
                    by_path
                        .entry(&settled.path)
                        .or_default()
                        .insert(&settled.id, settled.how);
                }
                for (path, settled) in by_path {
                    let Some(file) = self.files.get_mut(path) else {
                        continue;
                    };
                    for record in &mut file.hunks {
                        if let Some(how) = settled.get(&record.hunk.id) {
                            settle(record, *how, &mut file.unsaved);
                        }
                    }
                }
                for settled in files {
                    if let Some(file) = self.files.get_mut(&settled.path) {
                        file.own_state = Some(settled.how.file_state());
                    }
                }
                for applied in applied {
                    if let Some(file) = self.files.get_mut(&applied.path) {
                        file.applied = Some(applied.revision);
                    }
                }
            }
            LogLine::Saved { path, hunks } => {
                if let Some(file) = self.files.get_mut(&path) {
                    file.unsaved.retain(|id| !hunks.contains(id));
                }
            }
            LogLine::Reopened { path, hunks } => {
                if let Some(file) = self.files.get_mut(&path) {
                    file.unsaved.retain(|id| !hunks.contains(id));
                    for record in file
                        .hunks
                        .iter_mut()
                        .filter(|one| hunks.contains(&one.hunk.id))
                    {
                        record.hunk.state = HunkState::Pending;
                    }
                }
            }
            LogLine::Failed { message } => self.fate = Fate::Failed { message },
            LogLine::Undone { by, hunks } => {
                self.fate = Fate::Undone { by };
                self.move_all(&hunks, HunkState::Withdrawn, true);
            }
            LogLine::Redone { hunks } => {
                self.fate = Fate::Live;
                self.move_all(&hunks, HunkState::Accepted { by_hand: false }, false);
            }
        }
    }

    fn move_all(&mut self, hunks: &[(String, HunkId)], state: HunkState, undone: bool) {
        for (path, id) in hunks {
            let Some(file) = self.files.get_mut(path) else {
                continue;
            };
            for record in file.hunks.iter_mut().filter(|record| record.hunk.id == *id) {
                record.hunk.state = state.clone();
            }
            file.unsaved.retain(|unsaved| unsaved != id);
            file.undone.retain(|known| known != id);
            if undone {
                file.undone.push(id.clone());
            }
        }
        use super::file::FileState::{Accepted, Undone};
        for file in self.files.values_mut() {
            file.applied = None;
            match (&file.own_state, undone) {
                (Some(Accepted), true) => file.own_state = Some(Undone),
                (Some(Undone), false) => file.own_state = Some(Accepted),
                _ => {}
            }
        }
    }

    /// The model: what is accepted and saved in the texts, what is accepted and unsaved pending again until
    /// the disk or an editor shows it.
    pub(super) fn finish(mut self) -> Result<Transaction, String> {
        let mut files = Vec::with_capacity(self.order.len());
        for path in &self.order {
            let Some(plain) = self.files.remove(path) else {
                continue;
            };
            files.push(FileReview::try_from(plain)?);
        }
        let mut transaction = Transaction::from_files(self.meta, files);
        transaction.fate = self.fate;
        transaction.revision += self.lines;
        Ok(transaction)
    }
}

fn settle(record: &mut HunkRecord, how: Settlement, unsaved: &mut Vec<HunkId>) {
    unsaved.retain(|id| *id != record.hunk.id);
    record.hunk.state = match how {
        Settlement::Accepted => HunkState::Accepted { by_hand: false },
        Settlement::ByHand => HunkState::Accepted { by_hand: true },
        Settlement::AcceptedUnsaved => {
            unsaved.push(record.hunk.id.clone());
            HunkState::Accepted { by_hand: false }
        }
        Settlement::Rejected => HunkState::Rejected,
        Settlement::Withdrawn => HunkState::Withdrawn,
    };
}

impl TryFrom<PlainFile> for FileReview {
    type Error = String;

    fn try_from(plain: PlainFile) -> Result<Self, String> {
        let snapshot = Rope::from_str(&plain.anchor);
        let unsaved: BTreeSet<HunkId> = plain.unsaved.iter().cloned().collect();
        let mut records = plain.hunks;
        for record in &mut records {
            // Its text may be nowhere: it is found again, or waits.
            if unsaved.contains(&record.hunk.id) {
                record.hunk.state = HunkState::Pending;
            }
        }
        let (hunks, text) =
            HunkSet::restore(&snapshot, records).map_err(|error| error.to_string())?;
        let moved = matches!(&plain.before, Before::Text(before) if *before != plain.anchor);
        Ok(Self {
            path: plain.path,
            operation: plain.operation,
            before: plain.before,
            flags: plain.flags,
            mode: plain.mode,
            bom: plain.bom,
            text,
            hunks,
            revision: 1,
            unsaved: BTreeSet::new(),
            undone: plain.undone.into_iter().collect(),
            prune: plain.prune,
            exact: plain.exact,
            applied: plain.applied,
            own_state: plain.own_state,
            moved,
        })
    }
}

impl From<&FileReview> for PlainFile {
    fn from(file: &FileReview) -> Self {
        let anchor: Arc<str> = match &file.before {
            Before::Text(before) if file.text == **before => before.clone(),
            Before::Text(_) | Before::Missing | Before::Opaque { .. } => {
                file.text.to_string().into()
            }
        };
        let after = match proposed(file) {
            Some(after) => after.into(),
            None => anchor.clone(),
        };
        let hunks = file.hunks.records_in(&file.text);
        Self {
            path: file.path.clone(),
            operation: file.operation.clone(),
            before: file.before.clone(),
            anchor,
            after,
            own_state: file.own_state.clone(),
            flags: file.flags.clone(),
            mode: file.mode,
            bom: file.bom,
            prune: file.prune.clone(),
            unsaved: file.unsaved.iter().cloned().collect(),
            undone: file.undone.iter().cloned().collect(),
            exact: file.exact.clone(),
            applied: file.applied.clone(),
            hunks,
        }
    }
}

/// The text with everything in it that is pending; `None` when nothing is.
fn proposed(file: &FileReview) -> Option<String> {
    let pending: Vec<HunkId> = file
        .hunks
        .pending()
        .map(|(hunk, _)| hunk.id.clone())
        .collect();
    // Of pending hunks alone there are always edits.
    let edits = file.hunks.edits_for(&file.text, &pending).ok()?;
    (!edits.is_empty()).then(|| play(&file.text, &edits))
}

/// The log line of a record; `snapshots` is the number of the file that a `Grown` record was written to.
pub(crate) fn line_of_record(record: &Record, snapshots: u32) -> LogLine {
    match record {
        Record::Grown(_) => LogLine::Grown { snapshots },
        Record::Changed { path, hunks } => LogLine::Changed {
            path: path.clone(),
            hunks: hunks.clone(),
        },
        Record::Settled {
            receipt_id,
            hunks,
            files,
            applied,
        } => LogLine::Settled {
            receipt_id: receipt_id.clone(),
            hunks: hunks.clone(),
            files: files.clone(),
            applied: applied.clone(),
        },
        Record::Saved { path, hunks } => LogLine::Saved {
            path: path.clone(),
            hunks: hunks.clone(),
        },
        Record::Reopened { path, hunks } => LogLine::Reopened {
            path: path.clone(),
            hunks: hunks.clone(),
        },
        Record::Failed { message } => LogLine::Failed {
            message: message.clone(),
        },
        Record::Undone { by, hunks } => LogLine::Undone {
            by: by.clone(),
            hunks: hunks.clone(),
        },
        Record::Redone { hunks } => LogLine::Redone {
            hunks: hunks.clone(),
        },
    }
}
