//! Undo and redo: what a turn or transaction did, taken back or put back, as a transaction of its own.
//!
//! Working it out reads the checkpoint and today's files and changes nothing; what comes out is
//! committed like any other transaction, all or nothing. Only paths of the turn are looked at: not
//! the rest of the tree, and never git's state.

mod error;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use redline_edits::{HunkId, Operation, OperationKind, Resolved, decode};

use crate::boundary::Batch;
use crate::checkpoint::{Change, Checkpoint, CheckpointSummary, Now, Reversal, Target, reverse};
use crate::commit::{Fingerprint, OpenDocument, fingerprint};
use crate::effect::FsError;
use crate::read::Entry;
use crate::receipt::Action;
use crate::store::StoreError;
use crate::transaction::{
    DecisionRequest, Exact, GrowError, Growth, Purpose, Record, Selection, Transaction,
    TransactionMeta,
};
use crate::workspace::Workspace;

pub use error::UndoError;

/// What is to be taken back or put back.
#[derive(Debug, Clone)]
pub struct UndoRequest {
    /// A turn or transaction; `None` means the latest.
    pub id: Option<String>,
    /// [`Action::Undo`] or [`Action::Redo`].
    pub action: Action,
    /// A fresh `tx_…` for the transaction that does it.
    pub transaction_id: String,
    /// Who asks.
    pub proposed_by: String,
    /// Unix seconds.
    pub at: u64,
    /// Documents open at the client that asks.
    pub documents: Vec<OpenDocument>,
}

/// A worked-out undo or redo, ready for [`prepare`](crate::prepare).
#[derive(Debug, Clone)]
pub struct Undo {
    /// The turn or transaction that it concerns.
    pub of: String,
    /// The transaction to commit.
    pub transaction: Transaction,
    /// All of it.
    pub selection: Selection,
}

impl Workspace {
    /// What can be undone or redone, newest first, at most 100; and what was found damaged.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn list_checkpoints(&self) -> Result<(Vec<CheckpointSummary>, Vec<String>), StoreError> {
        self.checkpoints().list(100)
    }

    /// Works out an undo or redo on today's files and documents. Blocks; changes nothing.
    ///
    /// # Errors
    ///
    /// [`UndoError`].
    pub fn undo(
        &self,
        request: &UndoRequest,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<Undo, UndoError> {
        let of = match &request.id {
            Some(id) => id.clone(),
            None => latest(self, request.action)?,
        };
        let unknown = || UndoError::Unknown { id: of.clone() };
        let checkpoint = self.checkpoints().load(&of)?.ok_or_else(unknown)?;
        let (changes, keeper) = self.changes_to_reverse(&of, &checkpoint, request.action)?;
        let concerned = self
            .checkpoints()
            .load(&of)?
            .map(|one| transactions_of(&one))
            .unwrap_or_default();
        let batch = self.root().batch();
        let reversals = self.reversals(&batch, &changes, &keeper, &request.documents)?;
        let title = format!("{} of {}", verb(request.action), checkpoint.header.title);
        let mut transaction =
            self.as_transaction(&batch, request, &of, title, &keeper, &reversals, ids)?;
        transaction.concerns = Arc::new(self.concerns(request, &concerned)?);
        let selection = transaction
            .select(&DecisionRequest::default())
            .unwrap_or_default();
        if selection.is_empty() && transaction.files().len() == 0 && transaction.concerns.is_empty()
        {
            return Err(unknown());
        }
        Ok(Undo {
            of,
            transaction,
            selection,
        })
    }

    /// The changes to take back, and the checkpoint that keeps their contents.
    fn changes_to_reverse(
        &self,
        of: &str,
        checkpoint: &Checkpoint,
        action: Action,
    ) -> Result<(Vec<Change>, String), UndoError> {
        let state = |state| UndoError::State {
            id: of.to_owned(),
            state,
        };
        if action == Action::Redo {
            let by = checkpoint.undone_by().ok_or_else(|| state("not undone"))?;
            let undo = self.checkpoints().load(by)?;
            let undo = undo.ok_or_else(|| UndoError::Unknown { id: by.to_owned() })?;
            return Ok((undo.standing(), by.to_owned()));
        }
        if checkpoint.undone_by().is_some() {
            return Err(state("already undone"));
        }
        let changes = checkpoint.standing();
        if changes.is_empty() {
            return Err(UndoError::Unknown { id: of.to_owned() });
        }
        Ok((changes, of.to_owned()))
    }

    fn reversals(
        &self,
        batch: &Batch,
        changes: &[Change],
        keeper: &str,
        documents: &[OpenDocument],
    ) -> Result<Vec<Reversal>, UndoError> {
        let mut failure: Option<UndoError> = None;
        let mut now = |path: &str| match now(batch, documents, path) {
            Ok(now) => now,
            Err(error) => {
                failure.get_or_insert(error);
                Now::Missing
            }
        };
        let mut unreadable: Option<StoreError> = None;
        let mut kept = |name: &str| match self.checkpoints().kept_text(keeper, name) {
            Ok(text) => text,
            Err(error) => {
                unreadable.get_or_insert(error);
                None
            }
        };
        let reversed = reverse(changes, &mut now, &mut kept);
        if let Some(error) = failure {
            return Err(error);
        }
        if let Some(error) = unreadable {
            return Err(error.into());
        }
        reversed.map_err(|refusals| UndoError::Conflict { refusals })
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "everything that a transaction is made of"
    )]
    fn as_transaction(
        &self,
        batch: &Batch,
        request: &UndoRequest,
        of: &str,
        title: String,
        keeper: &str,
        reversals: &[Reversal],
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<Transaction, UndoError> {
        let purpose = match request.action {
            Action::Redo => Purpose::Redo { of: of.to_owned() },
            Action::Undo | Action::Accept | Action::Reject | Action::Withdraw => {
                Purpose::Undo { of: of.to_owned() }
            }
        };
        let meta = TransactionMeta {
            id: request.transaction_id.clone(),
            session_id: request.transaction_id.clone(),
            turn_id: None,
            title,
            proposed_by: request.proposed_by.clone(),
            created_at: request.at,
            rationale: None,
            purpose,
        };
        let mut operations = Vec::new();
        let mut opaque = Vec::new();
        for reversal in reversals {
            let today = now(batch, &request.documents, &reversal.path)?;
            if let Now::File {
                disk: Some(disk),
                text: None,
                ..
            } = &today
            {
                opaque.push((reversal.path.clone(), disk.revision.clone()));
            }
            operations.extend(operation(reversal, &today));
        }
        let resolved = Resolved {
            operations,
            ..Resolved::default()
        };
        let growth = Growth {
            resolved: &resolved,
            opaque: &opaque,
            call: None,
        };
        let mut transaction =
            Transaction::new(meta, &growth, ids).map_err(|error| match error {
                GrowError::Taken { path, .. } => UndoError::Fs(FsError::Exists { path }),
            })?;
        for reversal in reversals {
            let today = now(batch, &request.documents, &reversal.path)?;
            let exact = match &reversal.target {
                Target::Kept {
                    name, fingerprint, ..
                } => Some(self.exact(keeper, name, fingerprint, &today)?),
                Target::Gone | Target::Text { .. } | Target::Mode { .. } => None,
            };
            if let Some(file) = transaction.file_mut(&reversal.path) {
                file.exact = exact;
                file.prune.clone_from(&reversal.made);
            }
        }
        Ok(transaction)
    }

    fn exact(
        &self,
        keeper: &str,
        name: &str,
        fingerprint: &Fingerprint,
        today: &Now,
    ) -> Result<Exact, UndoError> {
        let link = if fingerprint.symlink {
            let bytes = self.checkpoints().kept_bytes(keeper, name)?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        } else {
            None
        };
        Ok(Exact {
            now: match today {
                Now::Missing => None,
                Now::File { disk, .. } => disk.clone(),
            },
            checkpoint_id: keeper.to_owned(),
            name: name.to_owned(),
            fingerprint: fingerprint.clone(),
            link,
        })
    }

    /// What it means for the transactions whose changes are taken back.
    fn concerns(
        &self,
        request: &UndoRequest,
        concerned: &BTreeSet<String>,
    ) -> Result<Vec<(String, Record)>, UndoError> {
        let mut concerns = Vec::new();
        for id in concerned {
            let Some(transaction) = self.transactions().load(id)? else {
                continue;
            };
            if transaction.meta().purpose != Purpose::Proposal {
                continue;
            }
            let record = match request.action {
                Action::Redo => Record::Redone {
                    hunks: transaction.undone(),
                },
                Action::Undo | Action::Accept | Action::Reject | Action::Withdraw => {
                    Record::Undone {
                        by: request.transaction_id.clone(),
                        hunks: transaction.accepted(),
                    }
                }
            };
            concerns.push((id.clone(), record));
        }
        Ok(concerns)
    }
}

fn verb(action: Action) -> &'static str {
    if action == Action::Redo {
        "redo"
    } else {
        "undo"
    }
}

fn transactions_of(checkpoint: &Checkpoint) -> BTreeSet<String> {
    checkpoint
        .changes()
        .map(|change| change.transaction_id.clone())
        .collect()
}

/// The latest turn or transaction that can be undone or redone, by the journal's order of commits.
fn latest(workspace: &Workspace, action: Action) -> Result<String, UndoError> {
    let (mut done, mut undone): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for record in workspace.journal().changed_since(0)? {
        if record.kind != "committed" {
            continue;
        }
        let text = |key: &str| record.data.get(key).and_then(|value| value.as_str());
        let (Some(id), Some(what)) = (text("checkpoint_id"), text("action")) else {
            continue;
        };
        done.retain(|known| known != id);
        undone.retain(|known| known != id);
        match what {
            "undo" => undone.push(id.to_owned()),
            "redo" => done.push(id.to_owned()),
            // Something new was done: what had been undone before it is no longer the latest.
            _ => {
                undone.clear();
                done.push(id.to_owned());
            }
        }
    }
    let latest = if action == Action::Redo {
        undone.pop()
    } else {
        done.pop()
    };
    latest.ok_or(UndoError::Nothing { verb: verb(action) })
}

/// What stands at `path`: the open document's text over the file's.
fn now(batch: &Batch, documents: &[OpenDocument], path: &str) -> Result<Now, UndoError> {
    let admitted = batch.root().admit(path)?;
    let entry = batch.read(&admitted)?;
    let disk = fingerprint(&entry);
    let open = documents.iter().find(|document| document.path == path);
    let text: Option<Arc<str>> = match (&open, &entry) {
        (Some(document), _) => Some(document.text.to_string().into()),
        (None, Entry::File(file)) => decode(&file.bytes).ok().map(|decoded| decoded.text.into()),
        (None, _) => None,
    };
    Ok(match (disk, text) {
        (None, None) => Now::Missing,
        (None, Some(text)) if text.is_empty() => Now::Missing,
        (disk, text) => Now::File {
            disk,
            text,
            open: open.is_some(),
        },
    })
}

/// The operation that brings `today` to the reversal's target.
fn operation(reversal: &Reversal, today: &Now) -> Option<Operation> {
    let (before, mode_now) = match today {
        Now::Missing => (None, None),
        Now::File { disk, text, .. } => (
            text.as_ref().map(ToString::to_string),
            disk.as_ref().map(|disk| disk.mode),
        ),
    };
    let exists = *today != Now::Missing;
    let (after, mode) = match &reversal.target {
        Target::Gone => (None, None),
        Target::Kept {
            fingerprint, text, ..
        } => (
            text.as_ref().map(ToString::to_string),
            Some(fingerprint.mode),
        ),
        Target::Text { text, mode } => (Some(text.to_string()), *mode),
        Target::Mode { mode } => (before.clone(), Some(*mode)),
    };
    let mode = mode.filter(|mode| mode_now.is_some_and(|now| now != *mode));
    let kind = match (&reversal.target, &reversal.back_to) {
        (Target::Gone, _) if !exists => return None,
        (Target::Gone, _) => OperationKind::Delete,
        (_, Some(to)) => OperationKind::Rename { to: to.clone() },
        (_, None) if !exists => OperationKind::Create,
        (Target::Mode { .. }, None) => OperationKind::SetMode { mode: mode? },
        (Target::Kept { .. } | Target::Text { .. }, None) => OperationKind::Edit,
    };
    Some(Operation {
        path: reversal.path.clone(),
        kind,
        before: if exists { before } else { None },
        after,
        bom: false,
        mode,
        rationale: None,
        rung: redline_edits::MatchRung::Exact,
        spans: Vec::new(),
        flags: Vec::new(),
    })
}

impl Undo {
    /// Paths that it changes, each with what happens to it.
    pub fn paths(&self) -> BTreeMap<&str, &OperationKind> {
        self.transaction
            .files()
            .map(|file| (file.path.as_str(), &file.operation))
            .collect()
    }
}
