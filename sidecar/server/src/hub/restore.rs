//! Undo and redo of turns and outside transactions.
//!
//! Owns: listing what can be taken back, and ordering the reverse transaction as a commit, or putting it
//! under review.
//! Must not know: what undoing means on today's files; `redline_workspace` works that out.

use redline_protocol::v1;
use redline_workspace::{
    DecisionRequest, Direction, Record, Settlement, Undo, UndoError, UndoRequest,
};

use super::commit::{CommitReply, Order};
use super::event::{ClientId, Reply};
use super::store::Answer;
use super::work::Done;
use super::{Hub, respond};
use crate::failure::Failure;

/// A restore was worked out, or refused.
pub(crate) struct Restored {
    client: ClientId,
    outcome: Result<Box<Undo>, UndoError>,
    reply: Reply<v1::RestoreResult>,
}

impl Hub {
    pub(super) fn checkpoints(&self, reply: Reply<v1::CheckpointListResult>) {
        let workspace = self.workspace.clone();
        self.worker.run("checkpoints", move || {
            let found = workspace
                .list_checkpoints()
                .map(|(checkpoints, _)| v1::CheckpointListResult {
                    checkpoints: checkpoints
                        .into_iter()
                        .map(|checkpoint| v1::Checkpoint {
                            id: checkpoint.id,
                            title: checkpoint.title,
                            created_at: checkpoint.created_at,
                            paths: checkpoint.paths,
                            undone: checkpoint.undone,
                        })
                        .collect(),
                })
                .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()));
            respond(reply, found);
            None
        });
    }

    pub(super) fn restore(
        &mut self,
        client: ClientId,
        params: v1::RestoreParams,
        reply: Reply<v1::RestoreResult>,
    ) {
        let direction = match params.direction {
            v1::RestoreDirection::Undo => Direction::Undo,
            v1::RestoreDirection::Redo => Direction::Redo,
        };
        let (documents, _) = self.open_documents(client);
        let request = UndoRequest {
            id: params.id,
            direction,
            transaction_id: self.new_id("tx_"),
            proposed_by: self.name_of(client),
            at: self.now(),
            documents,
        };
        let workspace = self.workspace.clone();
        let mut ids = self.hunk_ids();
        let own = vec![request.transaction_id.clone()];
        self.worker.run_on("undo", own, move || {
            let outcome = workspace.undo(&request, &mut ids).and_then(|undo| {
                if !undo.refusals.is_empty() {
                    workspace.put_under_review(&undo)?;
                }
                Ok(Box::new(undo))
            });
            Some(Done::Restored(Box::new(Restored {
                client,
                outcome,
                reply,
            })))
        });
    }

    pub(super) fn restored(&mut self, restored: Restored) {
        let undo = match restored.outcome {
            Ok(undo) => *undo,
            Err(error) => return respond(restored.reply, Err(failure(&error))),
        };
        if let Some(earlier) = &undo.replaces {
            self.withdraw(earlier);
        }
        if !undo.refusals.is_empty() {
            // It is stored, and from now on a proposal like any other.
            let failure = failure(&UndoError::from(&undo));
            self.adopt(undo.transaction);
            return respond(restored.reply, Err(failure));
        }
        let request = self.commit_request(restored.client, undo.transaction, undo.selection);
        self.order(Order {
            client: restored.client,
            request,
            reply: CommitReply::Restore(restored.reply, undo.of),
            arrived: false,
        });
    }

    /// Withdraws what waits of an undo under review: another takes its place.
    fn withdraw(&mut self, id: &str) {
        let Some(transaction) = self.transactions.get_mut(id) else {
            return;
        };
        let withdrawn = transaction
            .select(&DecisionRequest::default())
            .ok()
            .and_then(|all| transaction.refuse(&all, Settlement::Withdrawn, None).ok());
        if let Some(record) = withdrawn {
            self.spread(id);
            self.store(vec![(id.to_owned(), vec![record])], None, Answer::Nobody);
        }
    }

    /// Takes in what an undo or redo means for a transaction that it concerns.
    pub(super) fn concerned(&mut self, id: &str, record: &Record) {
        let Some(transaction) = self.transactions.get_mut(id) else {
            return;
        };
        transaction.apply(record);
        let paths: Vec<String> = transaction.files().map(|file| file.path.clone()).collect();
        for path in paths {
            let Some(copy) = self.documents.leading(&path, None) else {
                continue;
            };
            if let Some(file) = self
                .transactions
                .get_mut(id)
                .and_then(|found| found.file_mut(&path))
            {
                file.reanchor(&copy.rope);
            }
        }
        self.spread(id);
    }
}

fn failure(error: &UndoError) -> Failure {
    Failure::new(error.code(), error.to_string(), error.hint())
}
