//! The checked journal: one line for each thing that happened, in order, each bound to the one before.
//!
//! ```text
//! journal.ndjson              the current file
//! journal.<last seq>.ndjson   earlier files, rotated by size; the oldest go
//! line = {"seq":7,"at":1700000000000,"kind":"committed","data":{…},"sum":"…"}
//! sum  = BLAKE3(sum of the line before, then this line up to `,"sum"`), 32 hex digits
//! ```
//!
//! The first line of every file has the kind `journal`: its data names the sum that the file goes on from.
//! Appending happens under the store's lock; reading needs none, and a line without its end is not read yet.

mod record;
mod tail;
mod verify;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

pub use record::Record;
use record::{Line, Sum};
pub use tail::Follower;
pub use verify::{Finding, Report};

use crate::handle::{Folder, Stat};
use crate::sources::Clock;
use crate::store::{Store, StoreError, StoreLock, StorePath};

/// The current file's name.
const FILE: &str = "journal.ndjson";

/// Size from which the current file is rotated.
const ROTATE_AT: u64 = 4 << 20;

/// How many rotated files are kept.
const KEPT: usize = 8;

/// How the journal is kept.
#[derive(Debug, Clone, Copy)]
pub struct JournalOptions {
    /// Size in bytes from which the current file is rotated.
    pub rotate_at: u64,
    /// How many rotated files are kept.
    pub kept: usize,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            rotate_at: ROTATE_AT,
            kept: KEPT,
        }
    }
}

/// The journal of one store. Cheap to clone; making one touches nothing.
#[derive(Clone)]
pub struct Journal {
    store: Store,
    clock: Arc<dyn Clock>,
    options: JournalOptions,
    end: Arc<Mutex<Option<End>>>,
    repairs: Arc<Mutex<Vec<Finding>>>,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

/// The end of the current file, as this process last saw it.
#[derive(Debug, Clone)]
struct End {
    inode: u64,
    len: u64,
    seq: u64,
    sum: Sum,
}

impl Journal {
    /// The journal of `store`, its times told by `clock`.
    pub fn new(store: Store, clock: Arc<dyn Clock>, options: JournalOptions) -> Self {
        Self {
            store,
            clock,
            options,
            end: Arc::default(),
            repairs: Arc::default(),
        }
    }

    /// Appends a record and waits until it is on the disk. Returns its sequence number (from 1).
    ///
    /// A torn last line, from a process that was killed, is cut off first. A damaged journal is set aside
    /// and a new one goes on with the numbers. Both are told by [`Journal::take_repairs`].
    ///
    /// # Errors
    ///
    /// Those of the store; nothing is appended then.
    pub fn append<T: Serialize>(
        &self,
        lock: &StoreLock,
        kind: &str,
        data: &T,
    ) -> Result<u64, StoreError> {
        let seqs = self.append_all(lock, &[(kind, data)])?;
        Ok(seqs.last().copied().unwrap_or_default())
    }

    /// Appends several records with one write and one fsync. Returns their sequence numbers.
    ///
    /// # Errors
    ///
    /// As [`Journal::append`].
    pub fn append_all<T: Serialize>(
        &self,
        _lock: &StoreLock,
        records: &[(&str, &T)],
    ) -> Result<Vec<u64>, StoreError> {
        let path = StorePath::new(FILE)?;
        let folder = self.store.make_folder_above(&path)?;
        let mut known = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, mut end) = self.open_at_end(&folder, known.take())?;
        let at = self.clock.now_ms();
        let mut lines = Vec::new();
        let mut seqs = Vec::with_capacity(records.len());
        for (kind, data) in records {
            let seq = end.seq + 1;
            let line = Line::write(seq, at, kind, data, &end.sum)
                .map_err(|error| self.unwritable(error))?;
            lines.extend_from_slice(&line.bytes);
            end = End {
                seq,
                sum: line.sum,
                len: end.len + line.bytes.len() as u64,
                ..end
            };
            seqs.push(seq);
        }
        self.store.append_to(&file, FILE, &lines)?;
        *known = Some(end);
        Ok(seqs)
    }

    /// The time that a record would bear now, in Unix seconds.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now_ms() / 1000
    }

    /// The sequence number of the last record; 0 for none.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn last_seq(&self) -> Result<u64, StoreError> {
        let mut follower = self.follow(u64::MAX);
        follower.poll()?;
        Ok(follower.seq())
    }

    /// The records after `seq`, oldest first. Those that were rotated away are missing.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn changed_since(&self, seq: u64) -> Result<Vec<Record>, StoreError> {
        self.follow(seq).poll()
    }

    /// A reader of what comes after `seq`: each [`Follower::poll`] costs one look when nothing has come.
    pub fn follow(&self, seq: u64) -> Follower {
        Follower::new(self.store.clone(), seq)
    }

    /// What appending had to repair since the last call.
    pub fn take_repairs(&self) -> Vec<Finding> {
        std::mem::take(&mut self.repairs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Checks every line of every file that is kept. Writes nothing.
    ///
    /// # Errors
    ///
    /// Those of the store; damage is no error but a finding.
    pub fn verify(&self) -> Result<Report, StoreError> {
        verify::verify(&self.store)
    }

    /// Opens the current file for appending; what is wrong with it is put right first.
    fn open_at_end(&self, folder: &Folder, known: Option<End>) -> Result<(File, End), StoreError> {
        if let Some(stat) = self.stat(folder)? {
            let file = self.open(folder)?;
            if let Some(end) = known.filter(|end| end.inode == stat.ino && end.len == stat.len) {
                if end.len < self.options.rotate_at {
                    return Ok((file, end));
                }
                return self.rotate(folder, &end);
            }
            let bytes =
                tail::read_from(&file, 0).map_err(|error| self.store.io(FILE, "reading", error))?;
            let scan = verify::scan(FILE, &bytes, None);
            if scan.is_sound() {
                let end = End {
                    inode: stat.ino,
                    len: scan.sound_len,
                    seq: scan.seq,
                    sum: scan.sum.clone(),
                };
                if scan.sound_len < bytes.len() as u64 {
                    self.note(scan.findings);
                    file.set_len(scan.sound_len)
                        .map_err(|error| self.store.io(FILE, "repairing", error))?;
                }
                if scan.records > 0 {
                    return if end.len < self.options.rotate_at {
                        Ok((file, end))
                    } else {
                        self.rotate(folder, &end)
                    };
                }
            } else {
                self.note(scan.findings);
                let aside = self.store.set_corrupt_aside(&StorePath::new(FILE)?)?;
                self.note(vec![Finding::set_aside(aside.as_str())]);
                return self.begin(folder, scan.highest_seq, None);
            }
        }
        let newest = tail::rotated(&self.store, folder)?
            .pop()
            .map_or(0, |(seq, _)| seq);
        self.begin(folder, newest, None)
    }

    /// Starts a new current file that goes on after `seq`.
    fn begin(
        &self,
        folder: &Folder,
        seq: u64,
        from: Option<&Sum>,
    ) -> Result<(File, End), StoreError> {
        let start = from.cloned().unwrap_or_default();
        let header = record::Header {
            version: 1,
            after: start.as_str(),
            continues: from.is_some(),
        };
        let line = Line::write(
            seq + 1,
            self.clock.now_ms(),
            record::HEADER,
            &header,
            &start,
        )
        .map_err(|error| self.unwritable(error))?;
        // Whole or not at all: a reader never sees a file without its first line.
        self.store.write(&StorePath::new(FILE)?, &line.bytes)?;
        let file = self.open(folder)?;
        let inode = self.stat(folder)?.map_or(0, |stat| stat.ino);
        Ok((
            file,
            End {
                inode,
                len: line.bytes.len() as u64,
                seq: seq + 1,
                sum: line.sum,
            },
        ))
    }

    fn rotate(&self, folder: &Folder, end: &End) -> Result<(File, End), StoreError> {
        let name = format!("journal.{:012}.ndjson", end.seq);
        self.store.before(crate::effect::Effect::Rename, &name)?;
        let fail = |error| self.store.io(&name, "rotating", error);
        // The old file gets its new name before the current name goes to the new one: followers find both.
        match folder.link(FILE, folder, &name) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(_) => folder.rename(FILE, folder, &name).map_err(fail)?,
        }
        let begun = self.begin(folder, end.seq, Some(&end.sum))?;
        let rotated = tail::rotated(&self.store, folder)?;
        for (_, name) in rotated.iter().rev().skip(self.options.kept) {
            let _ = folder.remove_file(name);
        }
        Ok(begun)
    }

    fn open(&self, folder: &Folder) -> Result<File, StoreError> {
        folder
            .open_append(FILE, 0o600)
            .map_err(|error| self.store.io(FILE, "opening", error))
    }

    fn stat(&self, folder: &Folder) -> Result<Option<Stat>, StoreError> {
        folder
            .stat(FILE)
            .map_err(|error| self.store.io(FILE, "opening", error))
    }

    fn note(&self, findings: Vec<Finding>) {
        self.repairs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(findings);
    }

    fn unwritable(&self, error: serde_json::Error) -> StoreError {
        self.store.io(FILE, "writing a record", error.into())
    }
}
