//! Where an undo or redo stands between its first decision and its completion.
//!
//! An undo that met conflicts is decided on in parts. Each part that is accepted changes files at
//! once; what it means for the turn that it takes back, and for the transactions of that turn, is
//! recorded when nothing in it waits any more, by the commit that ends it or by the decision that does.

use std::collections::BTreeSet;

use serde_json::json;

use crate::checkpoint::{Checkpoint, Entry, Header, VERSION};
use crate::store::{StoreError, StoreLock};
use crate::transaction::{Concerns, Purpose, Record, Transaction, line_of_record};
use crate::workspace::Workspace;

/// The journal's word for an undo or redo that was completed without a commit.
pub(super) const COMPLETED: &str = "completed";

/// Where an undo or redo stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// What it was worked out on is what stands.
    Open,
    /// It was completed.
    Complete,
    /// The turn did more, or went another way, since it was worked out: to record it as a whole would be wrong.
    Stale,
}

impl Workspace {
    /// Where `transaction`, an undo or redo, stands. Call it under the lock.
    pub(crate) fn standing(&self, transaction: &Transaction) -> Result<Standing, StoreError> {
        let Some(of) = transaction.meta().purpose.of() else {
            return Ok(Standing::Complete);
        };
        let Some(checkpoint) = self.checkpoints().load(of)? else {
            return Ok(Standing::Stale);
        };
        Ok(if is_complete(&checkpoint, transaction) {
            Standing::Complete
        } else if checkpoint.is_fresh(transaction.id())
            || transaction.worked_out_on == Some(checkpoint.entries.len())
        {
            Standing::Open
        } else {
            Standing::Stale
        })
    }

    /// What completing `transaction`, an undo or redo, means for the transactions whose changes it takes back or
    /// puts back.
    pub(crate) fn concerns(&self, transaction: &Transaction) -> Result<Concerns, StoreError> {
        let purpose = &transaction.meta().purpose;
        let checkpoint = match purpose.of() {
            Some(of) => self.checkpoints().load(of)?,
            None => None,
        };
        let Some(checkpoint) = checkpoint else {
            return Ok(Vec::new());
        };
        let ids: BTreeSet<&String> = checkpoint
            .changes()
            .map(|change| &change.transaction_id)
            .collect();
        let mut concerns = Vec::new();
        for id in ids {
            let Some(concerned) = self.transactions().load(id)? else {
                continue;
            };
            if concerned.meta().purpose != Purpose::Proposal {
                continue;
            }
            let record = match purpose {
                Purpose::Redo { .. } => Record::Redone {
                    hunks: concerned.undone(),
                },
                Purpose::Undo { .. } | Purpose::Proposal => Record::Undone {
                    by: transaction.id().to_owned(),
                    hunks: concerned.accepted(),
                },
            };
            concerns.push((id.clone(), record));
        }
        Ok(concerns)
    }

    /// Completes an undo or redo whose last part was settled without a commit: rejected, kept, or done by hand.
    ///
    /// Returns what that means for other transactions. Nothing happens to one of which nothing was accepted.
    pub(crate) fn complete(
        &self,
        lock: &StoreLock,
        transaction: &Transaction,
    ) -> Result<Concerns, StoreError> {
        let purpose = &transaction.meta().purpose;
        let Some(of) = purpose.of() else {
            return Ok(Vec::new());
        };
        let waits = !transaction.is_settled() || transaction.totals().accepted == 0;
        if waits || self.standing(transaction)? != Standing::Open {
            return Ok(Vec::new());
        }
        let concerns = self.concerns(transaction)?;
        let (by, at) = (transaction.id().to_owned(), self.journal().now());
        let entry = match purpose {
            Purpose::Redo { .. } => Entry::Redone { by, at },
            Purpose::Undo { .. } | Purpose::Proposal => {
                self.checkpoints().begin(&Header {
                    version: VERSION,
                    id: by.clone(),
                    title: transaction.meta().title.clone(),
                    undo_of: Some(of.to_owned()),
                })?;
                Entry::Undone { by, at }
            }
        };
        self.checkpoints().mark(of, entry, false)?;
        for (id, record) in &concerns {
            let line = line_of_record(record, 0);
            self.transactions()
                .append_lines(id, std::slice::from_ref(&line), None)?;
        }
        let ids: Vec<&str> = concerns.iter().map(|(id, _)| id.as_str()).collect();
        self.journal().append(
            lock,
            COMPLETED,
            &json!({
                "transaction_id": transaction.id(),
                "action": purpose.action(),
                "checkpoint_id": of,
                "concerns": ids,
            }),
        )?;
        Ok(concerns)
    }
}

fn is_complete(checkpoint: &Checkpoint, transaction: &Transaction) -> bool {
    let id = transaction.id();
    match transaction.meta().purpose {
        Purpose::Undo { .. } => checkpoint.undone_by() == Some(id),
        Purpose::Redo { .. } => checkpoint.is_redone_by(id),
        Purpose::Proposal => true,
    }
}
