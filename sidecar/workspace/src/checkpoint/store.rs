//! Checkpoints on disk: `checkpoints/<id>/checkpoint.ndjson` and the kept files beside it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::format::{Change, Entry, Header, VERSION};
use crate::boundary::Batch;
use crate::effect::{Area, FsError};
use crate::lines::{self, LineError};
use crate::store::{Store, StoreError, StorePath};

/// A checkpoint as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointSummary {
    /// The turn or transaction that it belongs to.
    pub id: String,
    /// Short name.
    pub title: String,
    /// Unix seconds of its last change.
    pub created_at: u64,
    /// Paths that it touches, sorted.
    pub paths: Vec<String>,
    /// It was undone, and can be redone.
    pub undone: bool,
}

/// A checkpoint, read.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) header: Header,
    pub(crate) entries: Vec<Entry>,
}

impl Checkpoint {
    /// The changes that stand: those after the last time that all before was taken back.
    pub(crate) fn standing(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        for entry in &self.entries {
            match entry {
                Entry::Change(change) => changes.push(change.as_ref().clone()),
                Entry::Undone { .. } => changes.clear(),
                Entry::Review { .. } | Entry::Redone { .. } => {}
            }
        }
        changes
    }

    /// The undo that took everything back, if nothing was changed since.
    pub(crate) fn undone_by(&self) -> Option<&str> {
        let is_review = |entry: &&Entry| matches!(entry, Entry::Review { .. });
        match self.entries.iter().rev().find(|entry| !is_review(entry)) {
            Some(Entry::Undone { by, .. }) => Some(by),
            _ => None,
        }
    }

    /// The undo or redo that was put under review last.
    pub(crate) fn review(&self) -> Option<&str> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::Review { by, .. } => Some(by.as_str()),
            Entry::Change(_) | Entry::Undone { .. } | Entry::Redone { .. } => None,
        })
    }

    /// Whether the redo `by` was recorded.
    pub(crate) fn is_redone_by(&self, by: &str) -> bool {
        let done = |entry: &Entry| matches!(entry, Entry::Redone { by: known, .. } if known == by);
        self.entries.iter().any(done)
    }

    /// Whether what `by` was worked out on is still what stands: the undo or redo that was put under review
    /// last, with no change by anybody else after it.
    pub(crate) fn is_fresh(&self, by: &str) -> bool {
        let after = self.entries.iter().rev().take_while(
            |entry| !matches!(entry, Entry::Review { by: reviewed, .. } if reviewed == by),
        );
        let others = |entry: &Entry| match entry {
            Entry::Change(change) => change.transaction_id != by,
            Entry::Review { .. } | Entry::Undone { .. } | Entry::Redone { .. } => true,
        };
        self.review() == Some(by) && !after.into_iter().any(others)
    }

    /// All changes that it ever recorded.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Change(change) => Some(change.as_ref()),
            Entry::Review { .. } | Entry::Undone { .. } | Entry::Redone { .. } => None,
        })
    }

    fn summary(&self) -> CheckpointSummary {
        let mut paths: Vec<String> = self.changes().map(|change| change.path.clone()).collect();
        paths.sort();
        paths.dedup();
        CheckpointSummary {
            id: self.header.id.clone(),
            title: self.header.title.clone(),
            created_at: self.changes().map(|change| change.at).max().unwrap_or(0),
            paths,
            undone: self.undone_by().is_some(),
        }
    }
}

/// The first line, and every other.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Entry(Entry),
    Header(Header),
}

/// The checkpoints of one store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Checkpoints<'a> {
    store: &'a Store,
}

impl<'a> Checkpoints<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    fn folder(id: &str) -> Result<StorePath, StoreError> {
        StorePath::new(format!("checkpoints/{id}"))
    }

    /// Records what a commit did, and moves what it displaced into safe keeping. Doing it again, after an
    /// interruption, changes nothing.
    pub(crate) fn record(
        &self,
        header: &Header,
        entries: &[Entry],
        displaced: &[(String, String, String)],
        batch: &Batch,
        area: &Area,
        again: bool,
    ) -> Result<(), StoreError> {
        let folder = Self::folder(&header.id)?;
        if !displaced.is_empty() {
            let path = folder.join("kept")?;
            let keep = self.store.make_folder(&path)?;
            for (path, name, kept) in displaced {
                let keep_one = || -> Result<bool, FsError> {
                    let admitted = batch.root().admit(path)?;
                    batch.keep_displaced(area, &admitted, name, &keep, kept)
                };
                keep_one().map_err(|error| self.failed(&error))?;
            }
            self.store.sync_folder(&keep, path.as_str())?;
        }
        let known = if again { self.load(&header.id)? } else { None };
        let mut bytes = Vec::new();
        let file = folder.join("checkpoint.ndjson")?;
        if known.is_none() && (again || !lines::exists(self.store, &file)?) {
            self.push(&mut bytes, &Line::Header(header.clone()))?;
        }
        let has = |entry: &Entry| {
            known
                .as_ref()
                .is_some_and(|known| known.entries.contains(entry))
        };
        for entry in entries.iter().filter(|entry| !has(entry)) {
            self.push(&mut bytes, &Line::Entry(entry.clone()))?;
        }
        if bytes.is_empty() {
            Ok(())
        } else {
            lines::append(self.store, &file, &bytes)
        }
    }

    /// Makes a checkpoint in which nothing is recorded yet, unless it is there.
    pub(crate) fn begin(&self, header: &Header) -> Result<(), StoreError> {
        let file = Self::folder(&header.id)?.join("checkpoint.ndjson")?;
        if lines::exists(self.store, &file)? {
            return Ok(());
        }
        let mut bytes = Vec::new();
        self.push(&mut bytes, &Line::Header(header.clone()))?;
        lines::append(self.store, &file, &bytes)
    }

    /// Adds entries to a checkpoint, which is begun when there is none. What they keep is in its folder already.
    pub(crate) fn append(&self, header: &Header, entries: &[Entry]) -> Result<(), StoreError> {
        let file = Self::folder(&header.id)?.join("checkpoint.ndjson")?;
        let mut bytes = Vec::new();
        if !lines::exists(self.store, &file)? {
            self.push(&mut bytes, &Line::Header(header.clone()))?;
        }
        for entry in entries {
            self.push(&mut bytes, &Line::Entry(entry.clone()))?;
        }
        lines::append(self.store, &file, &bytes)
    }

    /// Adds one entry to a checkpoint that is there.
    pub(crate) fn mark(&self, id: &str, entry: Entry, again: bool) -> Result<(), StoreError> {
        if again
            && self
                .load(id)?
                .is_some_and(|known| known.entries.contains(&entry))
        {
            return Ok(());
        }
        let mut bytes = Vec::new();
        self.push(&mut bytes, &Line::Entry(entry))?;
        lines::append(
            self.store,
            &Self::folder(id)?.join("checkpoint.ndjson")?,
            &bytes,
        )
    }

    /// Reads a checkpoint; `None` when there is none of that id.
    pub(crate) fn load(&self, id: &str) -> Result<Option<Checkpoint>, StoreError> {
        let file = Self::folder(id)?.join("checkpoint.ndjson")?;
        let Some(bytes) = self.store.read(&file)? else {
            return Ok(None);
        };
        let corrupt = |reason: String| StoreError::Corrupt {
            path: self.store.shown(file.as_str()),
            reason,
        };
        let lines =
            lines::read::<Line>(&bytes).map_err(|error: LineError| corrupt(error.to_string()))?;
        let mut values = lines.into_iter();
        let header = match values.next() {
            Some(Line::Header(header)) if header.version == VERSION => header,
            Some(Line::Header(header)) => {
                return Err(corrupt(format!(
                    "version {} is not known here",
                    header.version
                )));
            }
            Some(Line::Entry(_)) => return Err(corrupt("the header is missing".into())),
            None => return Ok(None),
        };
        let entries = values
            .filter_map(|line| match line {
                Line::Entry(entry) => Some(entry),
                Line::Header(_) => None,
            })
            .collect();
        Ok(Some(Checkpoint { header, entries }))
    }

    /// The text of a kept file; `None` when it is not text.
    pub(crate) fn kept_text(&self, id: &str, name: &str) -> Result<Option<Arc<str>>, StoreError> {
        let bytes = self.kept_bytes(id, name)?;
        Ok(redline_edits::decode(&bytes)
            .ok()
            .map(|decoded| Arc::from(decoded.text)))
    }

    /// The bytes of a kept file.
    pub(crate) fn kept_bytes(&self, id: &str, name: &str) -> Result<Vec<u8>, StoreError> {
        let path = Self::folder(id)?.join("kept")?.join(name)?;
        let bytes = self.store.read(&path)?;
        bytes.ok_or_else(|| StoreError::NotFound {
            path: self.store.shown(path.as_str()),
        })
    }

    /// Keeps a text of the caller's, such as an open document's.
    pub(crate) fn keep_text(&self, id: &str, name: &str, text: &str) -> Result<(), StoreError> {
        self.store.write(
            &Self::folder(id)?.join("kept")?.join(name)?,
            text.as_bytes(),
        )
    }

    /// The newest checkpoints, undos left out; at most `most`. Damaged ones are set aside and named.
    pub(crate) fn list(
        &self,
        most: usize,
    ) -> Result<(Vec<CheckpointSummary>, Vec<String>), StoreError> {
        let mut names = self.store.list(&StorePath::new("checkpoints")?)?;
        // Ids end in a ULID: its order is that of time.
        names.retain(|(name, folder)| *folder && !name.contains(".corrupt"));
        names.sort_by(|(a, _), (b, _)| ulid_of(b).cmp(ulid_of(a)));
        let mut found = Vec::new();
        let mut damaged = Vec::new();
        for (name, _) in names {
            if found.len() >= most {
                break;
            }
            match self.load(&name) {
                Ok(Some(checkpoint)) if checkpoint.header.undo_of.is_none() => {
                    found.push(checkpoint.summary());
                }
                Ok(_) => {}
                Err(StoreError::Corrupt { path, reason }) => {
                    let aside = self.store.set_corrupt_aside(&Self::folder(&name)?)?;
                    damaged.push(format!(
                        "{path} is damaged ({reason}); set aside as {}",
                        aside.as_str()
                    ));
                }
                Err(error) => return Err(error),
            }
        }
        Ok((found, damaged))
    }

    fn push(&self, bytes: &mut Vec<u8>, line: &Line) -> Result<(), StoreError> {
        lines::push(bytes, line)
            .map_err(|error| self.store.io("checkpoints", "writing", error.into()))
    }

    fn failed(&self, error: &FsError) -> StoreError {
        self.store.io(
            "checkpoints",
            "keeping old content",
            std::io::Error::other(error.to_string()),
        )
    }
}

fn ulid_of(id: &str) -> &str {
    id.rsplit_once('_').map_or(id, |(_, ulid)| ulid)
}
