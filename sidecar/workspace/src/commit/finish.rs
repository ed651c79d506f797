//! The second phase: names change, all of them or none, and what was done is recorded.

use serde_json::json;

use super::draft::TextAfter;
use super::plan::{Plan, Step};
use super::prepare::{PLAN, Prepared, kept_name};
use super::{CommitError, ConflictReport, step};
use crate::boundary::Batch;
use crate::checkpoint::{Entry, Header};
use crate::effect::{Area, FsError};
use crate::receipt::{Action, Outcome, Receipt};
use crate::store::{StoreError, StoreLock, StorePath};
use crate::transaction::{Concerns, LogLine, Record};
use crate::workspace::Workspace;

/// The plan's name while a failed commit is taken back: recovery then goes back, too.
pub(super) const RESTORING: &str = "restoring.json";
/// The plan's name when something could not be put back: evidence, left alone by recovery.
pub(super) const FAILED: &str = "failed.json";

/// A commit that was done.
#[derive(Debug, Clone)]
pub struct Committed {
    /// Who decided what, and what it did.
    pub receipt: Receipt,
    /// What it means for the transaction: see [`Transaction::absorb`](crate::transaction::Transaction::absorb).
    pub record: Record,
    /// What it means for other transactions (an undo's for those that it took back), by id.
    pub concerns: Concerns,
    /// Paths whose bytes, names or modes changed on disk.
    pub written: Vec<String>,
    /// What could not be recorded in full; the next start completes it.
    pub warnings: Vec<String>,
    pub(crate) texts: Vec<TextAfter>,
}

impl Prepared {
    /// Journals that the editor has what was to be delivered. From here on recovery goes forward.
    ///
    /// # Errors
    ///
    /// [`CommitError::Store`]; what was staged is dropped, everything stays pending, and the caller takes its
    /// deliveries back from the editor.
    pub fn delivered(&mut self) -> Result<(), CommitError> {
        if self.delivered {
            return Ok(());
        }
        let data = json!({
            "transaction_id": self.plan.receipt.transaction_id,
            "receipt_id": self.plan.receipt.id,
        });
        let journaled = self.workspace.lock("accept").and_then(|lock| {
            let journal = self.workspace.journal();
            journal.append(&lock, "delivered", &data).map(drop)
        });
        if let Err(error) = journaled {
            let batch = self.workspace.root().batch();
            self.give_up(None, &batch, "it could not be journaled")?;
            return Err(error.into());
        }
        self.delivered = true;
        Ok(())
    }

    /// Drops what was staged; everything stays pending. `why` goes into the journal.
    ///
    /// # Errors
    ///
    /// [`CommitError::Store`] when that could not be recorded; nothing of the project was touched all the same.
    pub fn abort(mut self, why: &str) -> Result<(), CommitError> {
        let held = self.lock.take();
        let lock = match held {
            Some(lock) => Ok(lock),
            None => self.workspace.lock("abort"),
        };
        let batch = self.workspace.root().batch();
        self.give_up(lock.as_ref().ok(), &batch, why)?;
        lock.map(drop).map_err(CommitError::from)
    }

    /// Changes the project, all of it or nothing.
    ///
    /// # Errors
    ///
    /// [`CommitError::Conflict`] when somebody else changed a path since [`prepare`](super::prepare):
    /// nothing was touched. [`CommitError::Failed`]: what was done was taken back, verified by hash.
    /// After either the caller takes its deliveries back from the editor.
    pub fn finish(mut self) -> Result<Committed, CommitError> {
        let batch = self.workspace.root().batch();
        self.delivered()?;
        let held = self.lock.take();
        let lock = match held.map_or_else(|| self.workspace.lock("accept"), Ok) {
            Ok(lock) => lock,
            Err(error) => {
                self.give_up(None, &batch, &error.to_string())?;
                return Err(error.into());
            }
        };
        match change(&batch, &self.area, &self.plan.steps) {
            Ok(()) => {}
            Err(Stopped::Changed(path)) => {
                let note = format!("{path} was changed by somebody else; nothing was touched");
                self.give_up(Some(&lock), &batch, &note)?;
                let report = ConflictReport::of_file(&path, "changed since");
                return Err(CommitError::Conflict {
                    conflicts: vec![report],
                });
            }
            Err(Stopped::Failed(error)) => {
                return Err(self.take_back(&lock, &batch, &error.into()));
            }
        }
        let data = journal_data(&self.plan);
        if let Err(error) = self.workspace.journal().append(&lock, "committed", &data) {
            return Err(self.take_back(&lock, &batch, &error.into()));
        }
        let mut warnings = Vec::new();
        let recorded =
            record(&self.workspace, &batch, &self.area, &self.plan, false).and_then(|()| {
                discard(
                    &self.workspace,
                    &batch,
                    &self.area,
                    &self.folder,
                    &self.plan,
                )
            });
        if let Err(error) = recorded {
            warnings.push(format!("done, but not recorded in full yet: {error}"));
        }
        drop(lock);
        let written = self
            .plan
            .steps
            .iter()
            .map(|step| step.path().to_owned())
            .collect();
        Ok(Committed {
            record: record_of(&self.plan),
            receipt: self.plan.receipt,
            concerns: self.concerns,
            written,
            warnings,
            texts: self.texts,
        })
    }

    /// Drops what was staged, whether or not that can be journaled.
    fn give_up(
        &self,
        lock: Option<&StoreLock>,
        batch: &Batch,
        why: &str,
    ) -> Result<(), CommitError> {
        let data = json!({
            "transaction_id": self.plan.receipt.transaction_id,
            "receipt_id": self.plan.receipt.id,
            "why": why,
        });
        let journaled = match lock {
            Some(lock) => self
                .workspace
                .journal()
                .append(lock, "aborted", &data)
                .map(drop),
            None => Ok(()),
        };
        discard(&self.workspace, batch, &self.area, &self.folder, &self.plan)?;
        if self.plan.makes_transaction() {
            self.workspace
                .transactions()
                .forget(&self.plan.receipt.transaction_id)?;
        }
        journaled.map_err(CommitError::from)
    }

    /// Takes back what was done so far and says so everywhere.
    fn take_back(&self, lock: &StoreLock, batch: &Batch, cause: &Cause) -> CommitError {
        let left = restore(&self.workspace, batch, &self.area, &self.folder, &self.plan);
        let message = match left.as_slice() {
            [] => format!("{}: {}; rolled back", cause.path, cause.message),
            left => format!(
                "{}: {}; rolled back, except: {}",
                cause.path,
                cause.message,
                left.join("; ")
            ),
        };
        note_failure(&self.workspace, lock, &self.plan, &message);
        if left.is_empty() {
            // What stays in the store is found, and dropped, by the next recovery.
            drop(discard(
                &self.workspace,
                batch,
                &self.area,
                &self.folder,
                &self.plan,
            ));
        }
        CommitError::Failed {
            path: cause.path.clone(),
            message: cause.message.clone(),
            code: cause.code,
            left,
        }
    }
}

/// Why a commit has to be taken back.
struct Cause {
    path: String,
    message: String,
    code: &'static str,
}

impl From<FsError> for Cause {
    fn from(error: FsError) -> Self {
        Self {
            path: error.path().to_owned(),
            message: error.to_string(),
            code: error.code(),
        }
    }
}

impl From<StoreError> for Cause {
    fn from(error: StoreError) -> Self {
        Self {
            path: ".agentic".to_owned(),
            message: error.to_string(),
            code: error.code(),
        }
    }
}

/// Why the project was not changed.
pub(super) enum Stopped {
    /// Before the first step: this path is not what was prepared for.
    Changed(String),
    /// On the way.
    Failed(FsError),
}

/// Compares again, runs the steps, waits for the disk, reads back.
pub(super) fn change(batch: &Batch, area: &Area, steps: &[Step]) -> Result<(), Stopped> {
    let (before, after) = step::states(steps);
    match step::first_other(batch, &before) {
        Ok(None) => {}
        Ok(Some(path)) => return Err(Stopped::Changed(path.to_owned())),
        Err(error) => return Err(Stopped::Failed(error)),
    }
    for one in steps {
        step::run(batch, area, one).map_err(Stopped::Failed)?;
    }
    batch.sync_changed().map_err(Stopped::Failed)?;
    match step::first_other(batch, &after) {
        Ok(None) => Ok(()),
        Ok(Some(path)) => Err(Stopped::Failed(FsError::Changed {
            path: path.to_owned(),
            found: "it does not read as it was written".to_owned(),
        })),
        Err(error) => Err(Stopped::Failed(error)),
    }
}

/// Takes everything back; says what could not be. The plan's name tells recovery which way this goes.
pub(super) fn restore(
    workspace: &Workspace,
    batch: &Batch,
    area: &Area,
    folder: &StorePath,
    plan: &Plan,
) -> Vec<String> {
    let here = workspace.store().make_folder(folder);
    let mut left = Vec::new();
    if let Ok(here) = &here {
        let _ = here
            .rename(PLAN, here, RESTORING)
            .and_then(|()| here.sync());
    }
    left.extend(step::restore(batch, area, &plan.steps));
    if let (Ok(here), false) = (&here, left.is_empty()) {
        let _ = here
            .rename(RESTORING, here, FAILED)
            .and_then(|()| here.sync());
    }
    left
}

/// Writes down that a commit was taken back, as far as the disk allows.
pub(super) fn note_failure(workspace: &Workspace, lock: &StoreLock, plan: &Plan, message: &str) {
    let mut receipt = plan.receipt.clone();
    receipt.outcome = Outcome::RolledBack {
        note: message.to_owned(),
    };
    receipt.results.clear();
    let data = json!({
        "transaction_id": receipt.transaction_id,
        "receipt_id": receipt.id,
        "why": message,
    });
    let _ = workspace.journal().append(lock, "failed", &data);
    let transactions = workspace.transactions();
    let id = &plan.receipt.transaction_id;
    if plan.makes_transaction() {
        // An undo that did not happen leaves no transaction behind.
        let _ = transactions.forget(id);
        return;
    }
    let line = LogLine::Failed {
        message: message.to_owned(),
    };
    let _ = transactions.append_lines(id, &[line], Some(&receipt));
}

/// Records a commit that was done: checkpoint, receipt, log. With `again` it may have been recorded before.
pub(super) fn record(
    workspace: &Workspace,
    batch: &Batch,
    area: &Area,
    plan: &Plan,
    again: bool,
) -> Result<(), StoreError> {
    let receipt = &plan.receipt;
    let checkpoints = workspace.checkpoints();
    let undoing = plan.undoing.as_ref();
    let is_undo = receipt.action == Action::Undo;
    let header = Header {
        version: crate::checkpoint::VERSION,
        id: plan.checkpoint_id.clone(),
        title: plan.title.clone(),
        undo_of: undoing
            .filter(|_| is_undo)
            .map(|undoing| undoing.of.clone()),
    };
    let mut entries = Vec::with_capacity(plan.changes.len() + 1);
    let mut displaced = Vec::new();
    for change in &plan.changes {
        let mut change = change.clone();
        if let Some(name) = &change.kept {
            let kept = kept_name(&receipt.id, name);
            displaced.push((change.path.clone(), name.clone(), kept.clone()));
            change.kept = Some(kept);
        }
        entries.push(Entry::Change(Box::new(change)));
    }
    // An undo that found everything taken back already is one that can be redone, too.
    if !plan.changes.is_empty() || is_undo {
        checkpoints.record(&header, &entries, &displaced, batch, area, again)?;
    }
    if let Some(undoing) = undoing.filter(|undoing| undoing.completes) {
        let (by, at) = (receipt.transaction_id.clone(), receipt.decided_at);
        let done = if is_undo {
            Entry::Undone { by, at }
        } else {
            Entry::Redone { by, at }
        };
        checkpoints.mark(&undoing.of, done, again)?;
    }
    let transactions = workspace.transactions();
    let id = &receipt.transaction_id;
    // Either may have been written before an interruption.
    let has_lines = again && transactions.has_line_of(id, &receipt.id)?;
    let has_receipt = again && transactions.has_receipt(id, &receipt.id)?;
    let lines = if has_lines { &[][..] } else { &plan.log };
    transactions.append_lines(id, lines, (!has_receipt).then_some(receipt))?;
    for (id, line) in &plan.others {
        transactions.append_lines(id, std::slice::from_ref(line), None)?;
    }
    if plan.settles {
        transactions.unmark_unsettled(id);
    }
    batch.remove_folders(&plan.prune);
    Ok(())
}

/// Drops what waits in the commit's folder, and the folder.
pub(super) fn discard(
    workspace: &Workspace,
    batch: &Batch,
    area: &Area,
    folder: &StorePath,
    plan: &Plan,
) -> Result<(), StoreError> {
    step::discard(batch, area, &plan.steps);
    workspace.store().remove(folder)
}

pub(super) fn journal_data(plan: &Plan) -> serde_json::Value {
    let concerns: Vec<&str> = plan.others.iter().map(|(id, _)| id.as_str()).collect();
    // Part of an undo neither takes its turn back nor puts anything before it.
    let checkpoint = match &plan.undoing {
        None => Some(&plan.checkpoint_id),
        Some(undoing) => undoing.completes.then_some(&undoing.of),
    };
    json!({
        "transaction_id": plan.receipt.transaction_id,
        "receipt_id": plan.receipt.id,
        "action": plan.receipt.action,
        "checkpoint_id": checkpoint,
        "concerns": concerns,
        "results": plan.receipt.results,
    })
}

fn record_of(plan: &Plan) -> Record {
    match plan.log.first() {
        Some(LogLine::Settled {
            receipt_id,
            hunks,
            files,
            applied,
        }) => Record::Settled {
            receipt_id: receipt_id.clone(),
            hunks: hunks.clone(),
            files: files.clone(),
            applied: applied.clone(),
        },
        _ => Record::Settled {
            receipt_id: Some(plan.receipt.id.clone()),
            hunks: Vec::new(),
            files: Vec::new(),
            applied: Vec::new(),
        },
    }
}
