//! What requests are answered with: transactions as they stand.
//!
//! Owns: the snapshots that answers are made of. Must not know: how they look on the wire
//! ([`super::present`]), or who asked.
//!
//! An answer is put together by whoever asked: the hub gives a snapshot, whose files are shared, and copies
//! what it changes afterwards.

use std::collections::BTreeSet;
use std::path::Path;

use redline_protocol::v1;
use redline_workspace::Transaction;

use super::event::{Later, Reply};
use super::pages::unknown_transaction;
use super::{Hub, present, respond};
use crate::failure::Failure;

impl Hub {
    pub(super) fn list(
        &self,
        params: &v1::ListTransactionsParams,
        reply: Reply<Later<v1::ListTransactionsResult>>,
    ) {
        let listed = self.later_list(params.settled);
        let answer: Later<_> = Box::new(move || v1::ListTransactionsResult {
            transactions: listed(),
        });
        respond(reply, Ok(answer));
    }

    pub(super) fn get(&self, id: &str, reply: Reply<Later<v1::Transaction>>) {
        respond(reply, self.later_of(id));
    }

    pub(super) fn status(&self) -> Later<v1::StatusResult> {
        let transactions = self.later_list(false);
        let status = v1::StatusResult {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            workspace: self.root.display().to_string(),
            mode: self.default_mode().to_string(),
            model: self.config().model_name(),
            in_process: self.process.in_process,
            transactions: Vec::new(),
            approvals: self.approvals.ids(),
            recovery: self.recovery.clone(),
            notices: self.all_notices(),
        };
        Box::new(move || v1::StatusResult {
            transactions: transactions(),
            ..status
        })
    }

    /// What a person should know, of this user's set-up and of this workspace.
    pub(super) fn all_notices(&self) -> Vec<String> {
        let mut notices = (self.process.notices)();
        notices.extend(self.project.project.notices(&(self.process.config)()));
        notices.extend(self.notices.iter().cloned());
        notices
    }

    /// A transaction as it stands, to be put in wire form by whoever asked.
    pub(super) fn later(&self, transaction: &Transaction) -> Later<v1::Transaction> {
        self.later_files(transaction, None)
    }

    /// As [`Self::later`], with the files at `paths` alone.
    fn later_files(
        &self,
        transaction: &Transaction,
        paths: Option<BTreeSet<String>>,
    ) -> Later<v1::Transaction> {
        // A snapshot: its files are shared, and the hub copies what it changes.
        let transaction = transaction.clone();
        let root = self.root.clone();
        Box::new(move || {
            let shown = |path: &str| paths.as_ref().is_none_or(|paths| paths.contains(path));
            present::transaction(&transaction, &|path| uri_of(&root, path), &shown)
        })
    }

    pub(super) fn later_of(&self, id: &str) -> Result<Later<v1::Transaction>, Failure> {
        self.transactions
            .get(id)
            .map(|transaction| self.later(transaction))
            .ok_or_else(|| unknown_transaction(id))
    }

    /// Transactions as they stand: all that are remembered, or those that wait.
    fn later_list(&self, settled: bool) -> Later<Vec<v1::Transaction>> {
        let listed: Vec<_> = self
            .transactions
            .values()
            .filter(|transaction| settled || !transaction.is_settled())
            .map(|transaction| self.later(transaction))
            .collect();
        Box::new(move || {
            listed
                .into_iter()
                .map(|transaction| transaction())
                .collect()
        })
    }

    /// The answer to a decision on the files at `paths`.
    pub(super) fn decided(
        &self,
        id: &str,
        receipt: v1::Receipt,
        paths: Option<BTreeSet<String>>,
    ) -> Result<Later<v1::DecideResult>, Failure> {
        let transaction = self
            .transactions
            .get(id)
            .ok_or_else(|| unknown_transaction(id))?;
        let left = present::left(transaction);
        let transaction = self.later_files(transaction, paths);
        Ok(Box::new(move || v1::DecideResult {
            transaction: transaction(),
            left,
            receipt: Some(receipt),
        }))
    }
}

/// The URI of a path below the root.
pub(super) fn uri_of(root: &Path, path: &str) -> String {
    redline_workspace::path_to_uri(&root.join(path).to_string_lossy())
}
