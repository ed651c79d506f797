//! What the hub decided, on its way to the disk.
//!
//! Owns: storing records on the worker, and answering who waits for them.
//! Must not know: how records are kept; `redline_workspace` does that.

use std::collections::BTreeSet;

use redline_protocol::v1;
use redline_workspace::{Concerns, Receipt, Record, Transaction};

use super::event::{Later, Reply};
use super::work::Done;
use super::{Hub, respond};
use crate::failure::Failure;

/// What is answered once records are stored.
pub(crate) struct Stored {
    error: Option<Failure>,
    /// What it means for other transactions: it completed an undo.
    concerns: Concerns,
    answer: Answer,
}

/// Who waits for records to be stored.
pub(crate) enum Answer {
    Nobody,
    Decided {
        transaction: String,
        receipt: Box<v1::Receipt>,
        /// Files to answer with; none: all.
        paths: Option<BTreeSet<String>>,
        reply: Reply<Later<v1::DecideResult>>,
    },
    Changed {
        transaction: String,
        reply: Reply<Later<v1::Transaction>>,
    },
}

/// A change of one transaction, to be stored.
pub(super) type Change = (String, Vec<Record>);

impl Hub {
    /// Stores records on the worker; `answer` is given when they are on disk.
    pub(super) fn store(&mut self, changes: Vec<Change>, receipt: Option<Receipt>, answer: Answer) {
        let workspace = self.workspace.clone();
        let changes: Vec<(Transaction, Vec<Record>)> = changes
            .into_iter()
            .filter_map(|(id, records)| Some((self.transactions.get(&id)?.clone(), records)))
            .collect();
        let own = changes
            .iter()
            .map(|(transaction, _)| transaction.id().to_owned());
        let own = own.collect();
        self.worker.run_on("store", own, move || {
            let mut error = None;
            let mut concerns = Concerns::new();
            let transactions = workspace.transactions();
            for (transaction, records) in &changes {
                match transactions.append(transaction, records, receipt.as_ref()) {
                    Ok(concerned) => concerns.extend(concerned),
                    Err(failed) => {
                        error = Some(Failure::new(
                            failed.code(),
                            failed.to_string(),
                            failed.hint(),
                        ));
                    }
                }
            }
            Some(Done::Stored(Box::new(Stored {
                error,
                concerns,
                answer,
            })))
        });
    }

    pub(super) fn stored(&mut self, stored: Stored) {
        for (concerned, record) in &stored.concerns {
            self.concerned(concerned, record);
        }
        self.forget_old();
        if let Some(failure) = &stored.error {
            tracing::error!(code = failure.code, "a decision could not be stored");
        }
        match stored.answer {
            Answer::Nobody => {}
            Answer::Decided {
                transaction,
                receipt,
                paths,
                reply,
            } => {
                let answer = match stored.error {
                    Some(failure) => Err(failure),
                    None => self.decided(&transaction, *receipt, paths),
                };
                respond(reply, answer);
            }
            Answer::Changed { transaction, reply } => {
                let answer = match stored.error {
                    Some(failure) => Err(failure),
                    None => self.later_of(&transaction),
                };
                respond(reply, answer);
            }
        }
    }
}
