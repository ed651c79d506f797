//! Undo and redo: what a turn or transaction did, taken back or put back, as a transaction of its own.
//!
//! Working it out reads the checkpoint and today's files and changes nothing. What comes out is
//! committed at once, all or nothing; or, where somebody changed the same lines since, it waits for
//! a person like any proposal ([`Workspace::put_under_review`]), and is done when nothing in it waits
//! any more ([`standing`]). Only paths of the turn are looked at: not the rest of the tree, and never
//! git's state.

mod draft;
mod error;
mod standing;

use std::collections::BTreeSet;

use redline_edits::HunkId;
use serde_json::json;

use crate::boundary::Batch;
use crate::changes::RAN;
use crate::checkpoint::{
    Change, Checkpoint, CheckpointSummary, Entry, Now, Refusal, Reversal, reverse,
};
use crate::commit::OpenDocument;
use crate::store::StoreError;
use crate::transaction::{DecisionRequest, Purpose, Selection, Transaction};
use crate::workspace::Workspace;

pub use error::UndoError;
pub(crate) use standing::Standing;

/// Which way a turn or transaction goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// What was accepted is taken back.
    Undo,
    /// What was taken back is put back.
    Redo,
}

impl Direction {
    /// The name used on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }

    fn purpose(self, of: &str) -> Purpose {
        let of = of.to_owned();
        match self {
            Self::Undo => Purpose::Undo { of },
            Self::Redo => Purpose::Redo { of },
        }
    }
}

/// What is to be taken back or put back.
#[derive(Debug, Clone)]
pub struct UndoRequest {
    /// A turn or transaction; `None` means the latest.
    pub id: Option<String>,
    /// Which way.
    pub direction: Direction,
    /// A fresh `tx_…` for the transaction that does it.
    pub transaction_id: String,
    /// Who asks.
    pub proposed_by: String,
    /// Unix seconds.
    pub at: u64,
    /// Documents open at the client that asks.
    pub documents: Vec<OpenDocument>,
}

/// A worked-out undo or redo: ready for [`prepare`](crate::prepare), or for review.
#[derive(Debug, Clone)]
pub struct Undo {
    /// The turn or transaction that it concerns.
    pub of: String,
    /// Which way it goes.
    pub direction: Direction,
    /// The transaction to commit or to review.
    pub transaction: Transaction,
    /// All of it.
    pub selection: Selection,
    /// What stands in the way of committing it at once; then it is for [`Workspace::put_under_review`].
    pub refusals: Vec<Refusal>,
    /// An earlier one that met conflicts and waits for review: withdraw what waits of it once this goes ahead.
    pub replaces: Option<String>,
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
    /// [`UndoError`]; [`UndoError::UnderReview`] while an earlier one of the same turn waits and is still needed.
    pub fn undo(
        &self,
        request: &UndoRequest,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<Undo, UndoError> {
        let direction = request.direction;
        let of = match &request.id {
            Some(id) => id.clone(),
            None => latest(self, direction)?,
        };
        let unknown = || UndoError::Unknown { id: of.clone() };
        let checkpoint = self.checkpoints().load(&of)?.ok_or_else(unknown)?;
        let reviewed = self.reviewed(&checkpoint)?;
        let under_review = |reviewed: &Transaction| UndoError::UnderReview {
            direction,
            of: of.clone(),
            transaction: reviewed.id().to_owned(),
        };
        // One that its turn has left behind cannot be accepted any more; it makes way.
        let fresh = reviewed
            .as_ref()
            .filter(|one| checkpoint.is_fresh(one.id()));
        if let Some(decided) = fresh.filter(|one| one.totals().accepted > 0) {
            return Err(under_review(decided));
        }
        let (changes, keeper) = self.changes_to_reverse(&of, &checkpoint, direction)?;
        let batch = self.root().batch();
        let reversals = self.reversals(&batch, &changes, &keeper, &request.documents)?;
        let title = format!("{} of {}", direction.as_str(), checkpoint.header.title);
        let mut transaction = draft::Drafting {
            workspace: self,
            batch: &batch,
            request,
            keeper: &keeper,
            purpose: direction.purpose(&of),
        }
        .transaction(title, &reversals, ids)?;
        transaction.worked_out_on = Some(checkpoint.entries.len());
        let selection = transaction
            .select(&DecisionRequest::default())
            .unwrap_or_default();
        let concerns = self.concerns(&transaction)?;
        if selection.is_empty() && transaction.files().len() == 0 && concerns.is_empty() {
            return Err(unknown());
        }
        let contests = reversals.into_iter().filter_map(|one| one.contest);
        let mut refusals: Vec<Refusal> = contests.map(|contest| contest.refusal).collect();
        if direction == Direction::Undo {
            refusals.extend(observed(&changes));
        }
        if let (Some(waiting), false) = (fresh, refusals.is_empty()) {
            return Err(under_review(waiting));
        }
        Ok(Undo {
            of,
            direction,
            transaction,
            selection,
            refusals,
            replaces: reviewed.map(|reviewed| reviewed.id().to_owned()),
        })
    }

    /// Stores an undo or redo that somebody's changes stand in the way of, for a person to decide on like any
    /// proposal. What is accepted of it is done; it is complete when nothing in it waits.
    ///
    /// # Errors
    ///
    /// [`UndoError::UnderReview`] and [`UndoError::Moved`] when that happened since it was worked out, or the
    /// store's refusal; nothing of it is left then.
    pub fn put_under_review(&self, undo: &Undo) -> Result<(), UndoError> {
        let lock = self.lock(undo.direction.as_str())?;
        let checkpoint = self.checkpoints().load(&undo.of)?;
        let checkpoint = checkpoint.ok_or_else(|| UndoError::Unknown {
            id: undo.of.clone(),
        })?;
        let reviewed = self.reviewed(&checkpoint)?;
        if let Some(reviewed) = reviewed.filter(|one| undo.replaces.as_deref() != Some(one.id())) {
            return Err(UndoError::UnderReview {
                direction: undo.direction,
                of: undo.of.clone(),
                transaction: reviewed.id().to_owned(),
            });
        }
        if undo.transaction.worked_out_on != Some(checkpoint.entries.len()) {
            return Err(UndoError::Moved {
                id: undo.of.clone(),
            });
        }
        let transactions = self.transactions();
        transactions.create_locked(&lock, &undo.transaction)?;
        let review = Entry::Review {
            by: undo.transaction.id().to_owned(),
            at: undo.transaction.meta().created_at,
        };
        let data = json!({
            "transaction_id": undo.transaction.id(),
            "files": undo.transaction.files().len(),
        });
        let noted = self
            .checkpoints()
            .mark(&undo.of, review, false)
            .and_then(|()| self.journal().append(&lock, "proposed", &data));
        if let Err(error) = noted {
            let _ = transactions.forget(undo.transaction.id());
            return Err(error.into());
        }
        Ok(())
    }

    /// The undo or redo of a checkpoint that waits for its reviewer.
    fn reviewed(&self, checkpoint: &Checkpoint) -> Result<Option<Transaction>, StoreError> {
        let Some(id) = checkpoint.review() else {
            return Ok(None);
        };
        let transaction = self.transactions().load(id)?;
        Ok(transaction.filter(|transaction| !transaction.is_settled()))
    }

    /// The changes to take back, and the checkpoint that keeps their contents.
    fn changes_to_reverse(
        &self,
        of: &str,
        checkpoint: &Checkpoint,
        direction: Direction,
    ) -> Result<(Vec<Change>, String), UndoError> {
        let state = |state| UndoError::State {
            id: of.to_owned(),
            state,
        };
        if direction == Direction::Redo {
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
        let mut now = |path: &str| match draft::now(batch, documents, path) {
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
        let reversals = reverse(changes, &mut now, &mut kept);
        match (failure, unreadable) {
            (Some(error), _) => Err(error),
            (None, Some(error)) => Err(error.into()),
            (None, None) => Ok(reversals),
        }
    }
}

/// Changes of which it is not certain that the turn made them: a person looks at them before they are taken back.
fn observed(changes: &[Change]) -> impl Iterator<Item = Refusal> {
    let mut seen = BTreeSet::new();
    changes.iter().filter_map(move |change| {
        let why = change.observed.as_ref()?;
        seen.insert(&change.path).then(|| Refusal {
            path: change.path.clone(),
            line: None,
            reason: why.reason(),
        })
    })
}

/// The latest turn or transaction that can be undone or redone, by the journal's order of commits.
fn latest(workspace: &Workspace, direction: Direction) -> Result<String, UndoError> {
    let (mut done, mut undone): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for record in workspace.journal().changed_since(0)? {
        if !matches!(
            record.kind.as_str(),
            "committed" | standing::COMPLETED | RAN
        ) {
            continue;
        }
        let text = |key: &str| record.data.get(key).and_then(|value| value.as_str());
        // A part of an undo under review names no checkpoint: there the whole is what counts.
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
    let latest = match direction {
        Direction::Undo => done.pop(),
        Direction::Redo => undone.pop(),
    };
    latest.ok_or(UndoError::Nothing { direction })
}
