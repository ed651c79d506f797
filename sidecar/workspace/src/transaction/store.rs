//! Transactions on disk: created whole, appended to, loaded, listed.
//!
//! ```text
//! transactions/<id>/snapshots      what was proposed (see `format`)
//! transactions/<id>/diff.patch     the same for people and other tools
//! transactions/<id>/log.ndjson     what happened since
//! transactions/<id>/receipts.ndjson
//! unsettled/<id>                   empty; there as long as the transaction may wait for somebody
//! ```
//!
//! A transaction appears whole or not at all. Deciding one hunk appends one line to its log, whatever
//! its size. The names in `unsettled` are an index: a name too many costs a look, and a start reads
//! none of the thousand old ones.

use std::num::NonZero;
use std::thread;

use serde_json::json;

use super::file::FileReview;
use super::format::{self, LogLine, PlainFile};
use super::load::{Replay, line_of_record};
use super::model::Transaction;
use super::patch;
use super::record::{Concerns, Record};
use crate::handle::Folder;
use crate::lines;
use crate::receipt::Receipt;
use crate::store::{Store, StoreError, StoreLock, StorePath};
use crate::workspace::Workspace;

/// A thread is worth its start from so many files on.
const FILES_PER_THREAD: usize = 128;

/// A damaged transaction that was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Its id.
    pub id: String,
    /// What is wrong.
    pub reason: String,
    /// Where it is now, relative to the root.
    pub path: String,
}

/// The transactions of one workspace. Every method blocks on the disk.
#[derive(Debug, Clone, Copy)]
pub struct Transactions<'a> {
    workspace: &'a Workspace,
}

impl<'a> Transactions<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Self {
        Self { workspace }
    }

    fn store(&self) -> &'a Store {
        self.workspace.store()
    }

    /// Makes a transaction durable: it is there when this returns.
    ///
    /// # Errors
    ///
    /// Those of the store; nothing of it is left then.
    pub fn create(&self, transaction: &Transaction) -> Result<(), StoreError> {
        let lock = self.workspace.lock("propose")?;
        self.create_locked(&lock, transaction)?;
        self.workspace.journal().append(
            &lock,
            "proposed",
            &json!({
                "transaction_id": transaction.id(),
                "turn_id": transaction.meta().turn_id,
                "files": transaction.files().len(),
            }),
        )?;
        Ok(())
    }

    pub(crate) fn create_locked(
        &self,
        _lock: &StoreLock,
        transaction: &Transaction,
    ) -> Result<(), StoreError> {
        let files: Vec<&FileReview> = transaction.files().collect();
        let parts = map_all(&files, |file| {
            let plain = PlainFile::from(*file);
            let patch = patch::render(&plain);
            (plain, patch)
        });
        let (files, patches): (Vec<PlainFile>, Vec<String>) = parts.into_iter().unzip();
        let patch = patches.concat();
        let snapshots = format::encode(Some(transaction.meta()), files)
            .map_err(|error| self.store().io("transactions", "writing", error.into()))?;
        let (unsettled, _) = self.name_unsettled(transaction.id())?;
        let path = folder(transaction.id())?;
        let contents: [(&str, &[u8]); 2] =
            [("snapshots", &snapshots), ("diff.patch", patch.as_bytes())];
        let first = Some((&unsettled, "unsettled"));
        let installed = self.store().install_after(first, &path, &contents);
        if installed.is_err() {
            self.unmark_unsettled(transaction.id());
        }
        installed
    }

    /// Whether there is a transaction of that id.
    pub(crate) fn is_stored(&self, id: &str) -> Result<bool, StoreError> {
        lines::exists(self.store(), &folder(id)?.join("snapshots")?)
    }

    pub(crate) fn forget(&self, id: &str) -> Result<(), StoreError> {
        self.unmark_unsettled(id);
        self.store().remove(&folder(id)?)
    }

    /// Appends what happened to a transaction, with the receipt of who decided it, if somebody did.
    ///
    /// `transaction` is its state after: when nothing in it waits any more it leaves the index, and an undo or redo
    /// is complete. Returns what that means for other transactions, by id.
    ///
    /// # Errors
    ///
    /// Those of the store; nothing is recorded then.
    pub fn append(
        &self,
        transaction: &Transaction,
        records: &[Record],
        receipt: Option<&Receipt>,
    ) -> Result<Concerns, StoreError> {
        let lock = self.workspace.lock("decide")?;
        // First, so that what is interrupted in between leaves a decision to be made again, and nothing half told.
        let concerns = self.workspace.complete(&lock, transaction)?;
        self.append_locked(&lock, transaction.id(), records, receipt)?;
        if transaction.is_settled() && !transaction.has_unsaved() {
            self.unmark_unsettled(transaction.id());
        } else {
            self.mark_unsettled(transaction.id())?;
        }
        Ok(concerns)
    }

    pub(crate) fn append_locked(
        &self,
        lock: &StoreLock,
        id: &str,
        records: &[Record],
        receipt: Option<&Receipt>,
    ) -> Result<(), StoreError> {
        let mut lines = Vec::with_capacity(records.len());
        for record in records {
            let number = match record {
                Record::Grown(files) => self.write_grown(id, files)?,
                _ => 0,
            };
            lines.push(line_of_record(record, number));
        }
        self.append_lines(id, &lines, receipt)?;
        let what = receipt.map_or("changed", |receipt| receipt.action.as_str());
        self.workspace.journal().append(
            lock,
            "changed",
            &json!({
                "transaction_id": id,
                "what": what,
                "receipt_id": receipt.map(|receipt| &receipt.id),
                "decided_by": receipt.map(|receipt| &receipt.decided_by),
            }),
        )?;
        Ok(())
    }

    /// Writes log lines and a receipt, without a word in the journal.
    pub(crate) fn append_lines(
        &self,
        id: &str,
        lines: &[LogLine],
        receipt: Option<&Receipt>,
    ) -> Result<(), StoreError> {
        let path = folder(id)?;
        if let Some(receipt) = receipt {
            let mut bytes = Vec::new();
            lines::push(&mut bytes, receipt).map_err(|error| self.unwritable(id, error))?;
            lines::append(self.store(), &path.join("receipts.ndjson")?, &bytes)?;
        }
        if lines.is_empty() {
            return Ok(());
        }
        let mut bytes = Vec::new();
        for line in lines {
            lines::push(&mut bytes, line).map_err(|error| self.unwritable(id, error))?;
        }
        lines::append(self.store(), &path.join("log.ndjson")?, &bytes)
    }

    /// Whether the log holds what the receipt's decision settled.
    pub(crate) fn has_line_of(&self, id: &str, wanted: &str) -> Result<bool, StoreError> {
        let log = folder(id)?.join("log.ndjson")?;
        let bytes = self.store().read(&log)?.unwrap_or_default();
        let lines = lines::read::<LogLine>(&bytes).unwrap_or_default();
        Ok(lines.iter().any(|line| {
            matches!(line, LogLine::Settled { receipt_id: Some(known), .. } if known == wanted)
        }))
    }

    /// Whether the receipt was written.
    pub(crate) fn has_receipt(&self, id: &str, wanted: &str) -> Result<bool, StoreError> {
        let receipts = self.receipts(id).unwrap_or_default();
        Ok(receipts.iter().any(|known| known.id == wanted))
    }

    fn write_grown(&self, id: &str, files: &[super::FileReview]) -> Result<u32, StoreError> {
        let path = folder(id)?;
        let files: Vec<PlainFile> = files.iter().map(PlainFile::from).collect();
        let bytes = format::encode(None, files).map_err(|error| self.unwritable(id, error))?;
        let numbers = self
            .store()
            .list(&path)?
            .into_iter()
            .filter_map(|(name, _)| {
                name.strip_prefix("snapshots.")
                    .and_then(|number| number.parse::<u32>().ok())
            });
        let number = numbers.max().unwrap_or(0) + 1;
        self.store()
            .write(&path.join(&format!("snapshots.{number}"))?, &bytes)?;
        Ok(number)
    }

    /// Loads a transaction; `None` when there is none of that id.
    ///
    /// Its hunks are anchored to the text that the store knows: follow with
    /// [`FileReview::reanchor`](super::FileReview::reanchor) to today's.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`] naming the file, or as the store.
    pub fn load(&self, id: &str) -> Result<Option<Transaction>, StoreError> {
        let path = folder(id)?;
        let file = path.join("snapshots")?;
        let Some(bytes) = self.store().read(&file)? else {
            return Ok(None);
        };
        let corrupt = |file: &StorePath, reason: String| StoreError::Corrupt {
            path: self.store().shown(file.as_str()),
            reason,
        };
        let (meta, files) =
            format::decode(&bytes).map_err(|error| corrupt(&file, error.to_string()))?;
        let meta = meta.ok_or_else(|| corrupt(&file, "it does not say what it is".into()))?;
        let mut replay = Replay::new(meta, files);
        let log = path.join("log.ndjson")?;
        let bytes = self.store().read(&log)?.unwrap_or_default();
        let lines =
            lines::read::<LogLine>(&bytes).map_err(|error| corrupt(&log, error.to_string()))?;
        for line in lines {
            let grown = match &line {
                LogLine::Grown { snapshots } => {
                    let file = path.join(&format!("snapshots.{snapshots}"))?;
                    let bytes = self.store().read(&file)?;
                    let bytes = bytes.ok_or_else(|| corrupt(&file, "it is missing".into()))?;
                    format::decode(&bytes)
                        .map_err(|error| corrupt(&file, error.to_string()))?
                        .1
                }
                _ => Vec::new(),
            };
            replay.play(line, grown);
        }
        replay
            .finish()
            .map(Some)
            .map_err(|reason| corrupt(&file, reason))
    }

    /// The receipts of a transaction, oldest first.
    ///
    /// # Errors
    ///
    /// [`StoreError::Corrupt`], or as the store.
    pub fn receipts(&self, id: &str) -> Result<Vec<Receipt>, StoreError> {
        let path = folder(id)?.join("receipts.ndjson")?;
        let bytes = self.store().read(&path)?.unwrap_or_default();
        let lines = lines::read::<Receipt>(&bytes).map_err(|error| StoreError::Corrupt {
            path: self.store().shown(path.as_str()),
            reason: error.to_string(),
        })?;
        Ok(lines)
    }

    /// Loads every transaction that may wait for somebody, oldest first. Damaged ones are set aside and named,
    /// the others keep working.
    ///
    /// # Errors
    ///
    /// Those of the store as a whole.
    pub fn list_unsettled(&self) -> Result<(Vec<Transaction>, Vec<SetAside>), StoreError> {
        let mut found = Vec::new();
        let mut aside = Vec::new();
        for (id, _) in self.store().list(&StorePath::new("unsettled")?)? {
            match self.load(&id) {
                Ok(Some(transaction)) => found.push(transaction),
                Ok(None) => self.unmark_unsettled(&id),
                Err(StoreError::Corrupt { reason, .. }) => {
                    let lock = self.workspace.lock("set aside")?;
                    let path = self.store().set_corrupt_aside(&folder(&id)?)?;
                    drop(lock);
                    self.unmark_unsettled(&id);
                    aside.push(SetAside {
                        id,
                        reason,
                        path: self.store().shown(path.as_str()),
                    });
                }
                Err(error) => return Err(error),
            }
        }
        found.sort_by(|a, b| a.id().cmp(b.id()));
        Ok((found, aside))
    }

    /// Ids of the transactions that journal records speak of, each once, in order.
    pub fn changed_in(records: &[crate::journal::Record]) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for record in records {
            let named = record.data.get("transaction_id").and_then(|id| id.as_str());
            let others = record.data.get("concerns").and_then(|ids| ids.as_array());
            let others = others.into_iter().flatten().filter_map(|id| id.as_str());
            for id in named.into_iter().chain(others) {
                if !ids.iter().any(|known| known == id) {
                    ids.push(id.to_owned());
                }
            }
        }
        ids
    }

    pub(crate) fn mark_unsettled(&self, id: &str) -> Result<(), StoreError> {
        let (folder, is_new) = self.name_unsettled(id)?;
        match is_new {
            true => self.store().sync_folder(&folder, "unsettled"),
            false => Ok(()),
        }
    }

    /// Puts the name among the unsettled ones, where a sync of the folder makes it durable; says whether it is new.
    fn name_unsettled(&self, id: &str) -> Result<(Folder, bool), StoreError> {
        let path = StorePath::new(format!("unsettled/{id}"))?;
        let folder = self.store().make_folder_above(&path)?;
        self.store()
            .before(crate::effect::Effect::Write, path.as_str())?;
        match folder.create_file(path.name(), 0o600) {
            Ok(_) => Ok((folder, true)),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok((folder, false)),
            Err(error) => Err(self.store().io(path.as_str(), "writing", error)),
        }
    }

    /// Best effort: a name too many is found out at the next start.
    pub(crate) fn unmark_unsettled(&self, id: &str) {
        if let Ok(path) = StorePath::new(format!("unsettled/{id}"))
            && let Ok(Some(folder)) = self.store().folder_above(&path)
        {
            let _ = folder.remove_file(path.name());
        }
    }

    fn unwritable(&self, id: &str, error: serde_json::Error) -> StoreError {
        self.store()
            .io(&format!("transactions/{id}"), "writing", error.into())
    }
}

fn folder(id: &str) -> Result<StorePath, StoreError> {
    StorePath::new(format!("transactions/{id}"))
}

/// Maps items in order, many of them on as many threads as there are cores.
fn map_all<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(items.len() / FILES_PER_THREAD).max(1);
    let map = &map;
    let part = move |part: &[T]| part.iter().map(map).collect::<Vec<R>>();
    let mut parts = items.chunks(items.len().div_ceil(threads).max(1));
    let own = parts.next().unwrap_or_default();
    thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|other| scope.spawn(move || part(other)))
            .collect();
        let mut mapped = part(own);
        for other in others {
            match other.join() {
                Ok(other) => mapped.extend(other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        mapped
    })
}
