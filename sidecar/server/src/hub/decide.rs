//! Decisions: accept, reject, withdraw.
//!
//! Owns: which transaction and which part of it a request means, whether that client may decide, and what a
//! rejection does.
//! Must not know: how an acceptance reaches disks and editors ([`super::commit`]).

use std::collections::BTreeSet;

use redline_agent::Verdict;
use redline_edits::{HunkError, HunkId};
use redline_protocol::v1;
use redline_workspace::{
    Action, CommitRequest, DecisionRequest, LineRange, Outcome, Receipt, Record, SelectError,
    Selection, Settlement, ShownHunk, Transaction,
};

use super::commit::{CommitReply, Order};
use super::event::{ClientId, Later, Reply, Verb};
use super::pages::{unknown_hunk, unknown_transaction};
use super::store::Answer;
use super::{Hub, respond};
use crate::failure::Failure;

impl Hub {
    pub(super) fn decide(
        &mut self,
        client: ClientId,
        verb: Verb,
        params: v1::DecideParams,
        reply: Reply<Later<v1::DecideResult>>,
    ) {
        let may = self
            .may_answer(client)
            .and_then(|()| self.find(&params))
            .and_then(|id| self.may_decide(client, &id));
        match may {
            Ok(()) => self.decide_as(&self.name_of(client), client, verb, params, reply),
            Err(failure) => respond(reply, Err(failure)),
        }
    }

    /// Carries out a decision of `by`, to the documents of `client`.
    pub(super) fn decide_as(
        &mut self,
        by: &str,
        client: ClientId,
        verb: Verb,
        params: v1::DecideParams,
        reply: Reply<Later<v1::DecideResult>>,
    ) {
        let selected = self.find(&params).and_then(|id| {
            self.lead(&id, Some(client));
            let (selection, records) = self.select(&id, &params)?;
            Ok((id, selection, records))
        });
        let (id, selection, records) = match selected {
            Ok(selected) => selected,
            Err(failure) => return respond(reply, Err(failure)),
        };
        if !records.is_empty() {
            self.spread(&id);
            self.store(vec![(id.clone(), records)], None, Answer::Nobody);
        }
        match verb {
            Verb::Accept => self.accept(by, client, &id, selection, &params, reply),
            Verb::Reject => self.refuse(by, &id, &selection, Settlement::Rejected, &params, reply),
            Verb::Withdraw => {
                self.refuse(by, &id, &selection, Settlement::Withdrawn, &params, reply);
            }
        }
    }

    fn accept(
        &mut self,
        by: &str,
        client: ClientId,
        id: &str,
        selection: Selection,
        params: &v1::DecideParams,
        reply: Reply<Later<v1::DecideResult>>,
    ) {
        let Some(transaction) = self.transactions.get(id).cloned() else {
            return respond(reply, Err(unknown_transaction(id)));
        };
        let paths = answered(params, &selection);
        let mut request = self.commit_request(client, transaction, selection);
        by.clone_into(&mut request.decided_by);
        self.order(Order {
            client,
            request,
            reply: CommitReply::Decide(reply, paths),
            arrived: false,
        });
    }

    /// A commit on the word of `client`, with the documents as they are now.
    pub(super) fn commit_request(
        &self,
        client: ClientId,
        transaction: Transaction,
        selection: Selection,
    ) -> CommitRequest {
        let (documents, unsaved_elsewhere) = self.open_documents(client);
        CommitRequest {
            transaction,
            selection,
            documents,
            unsaved_elsewhere,
            decided_by: self.name_of(client),
            decided_at: self.now(),
            receipt_id: self.new_id("rc_"),
            hub_id: self.hub_id.clone(),
        }
    }

    fn refuse(
        &mut self,
        by: &str,
        id: &str,
        selection: &Selection,
        how: Settlement,
        params: &v1::DecideParams,
        reply: Reply<Later<v1::DecideResult>>,
    ) {
        let receipt_id = self.new_id("rc_");
        let at = self.now();
        let Some(transaction) = self.transactions.get_mut(id) else {
            return respond(reply, Err(unknown_transaction(id)));
        };
        let receipt = Receipt {
            id: receipt_id.clone(),
            transaction_id: id.to_owned(),
            turn_id: transaction.meta().turn_id.clone(),
            action: match how {
                Settlement::Withdrawn => Action::Withdraw,
                _ => Action::Reject,
            },
            decided_by: by.to_owned(),
            decided_at: at,
            shown: shown(transaction, selection),
            files: selection
                .paths()
                .filter(|path| selection.has_operation(path))
                .map(str::to_owned)
                .collect(),
            reason: params.reason.clone(),
            results: Vec::new(),
            outcome: Outcome::Complete,
        };
        let record = match transaction.refuse(selection, how, Some(receipt_id)) {
            Ok(record) => record,
            Err(error) => return respond(reply, Err(hunk_failure(&error))),
        };
        let verdict = match how {
            Settlement::Withdrawn => Verdict::KeptMine,
            _ => Verdict::Rejected,
        };
        for (path, hunk) in selection.placed() {
            self.steer(id, path, hunk, verdict, params.reason.as_deref());
        }
        self.spread(id);
        let answer = Answer::Decided {
            transaction: id.to_owned(),
            receipt: Box::new(super::present::receipt(&receipt)),
            paths: answered(params, selection),
            reply,
        };
        self.store(vec![(id.to_owned(), vec![record])], Some(receipt), answer);
    }

    /// Refuses a decision over the connection that the proposal came from.
    pub(super) fn may_decide(&self, client: ClientId, id: &str) -> Result<(), Failure> {
        let own = self
            .clients
            .get(&client)
            .is_some_and(|each| each.proposed.contains(id));
        if !own {
            return Ok(());
        }
        Err(Failure::new(
            "NOT_ALLOWED",
            format!("{id} was proposed over this connection, which may not decide on it"),
            "decide in an editor or in a terminal of your own",
        ))
    }

    /// The transaction that a decision means: the one named, the one that holds its hunks, or the
    /// only unsettled one.
    pub(super) fn find(&self, params: &v1::DecideParams) -> Result<String, Failure> {
        if let Some(id) = &params.transaction_id {
            return if self.transactions.contains_key(id) {
                Ok(id.clone())
            } else {
                Err(unknown_transaction(id))
            };
        }
        if let Some(hunk) = params.hunks.first() {
            let id = HunkId::new(hunk.id.clone());
            return self
                .transactions
                .values()
                .find(|transaction| transaction.file_of(&id).is_some())
                .map(|transaction| transaction.id().to_owned())
                .ok_or_else(|| unknown_hunk(&hunk.id));
        }
        let paths = params.files.iter().map(|file| &file.path);
        let paths: Vec<&String> = paths
            .chain(params.lines.iter().map(|lines| &lines.path))
            .collect();
        let unsettled: Vec<&Transaction> = self
            .transactions
            .values()
            .filter(|transaction| !transaction.is_settled())
            .filter(|transaction| paths.iter().all(|path| transaction.file(path).is_some()))
            .collect();
        match unsettled.as_slice() {
            [only] => Ok(only.id().to_owned()),
            [] => Err(Failure::new(
                "NOTHING_PENDING",
                "nothing is pending here",
                "`redline status` lists what waits for a decision",
            )),
            several => {
                let ids: Vec<&str> = several.iter().map(|transaction| transaction.id()).collect();
                Err(Failure::new(
                    "SEVERAL_TRANSACTIONS",
                    format!("{} transactions are pending: {}", ids.len(), ids.join(", ")),
                    "name one of them",
                ))
            }
        }
    }

    /// What of a transaction a decision is about; hunks that reach beyond a line range are split.
    fn select(
        &mut self,
        id: &str,
        params: &v1::DecideParams,
    ) -> Result<(Selection, Vec<Record>), Failure> {
        let mut request = decision_request(params);
        let mut ids = self.hunk_ids();
        let transaction = self.transaction_mut(id)?;
        if transaction.is_incomplete() {
            return Err(incomplete(transaction));
        }
        if !request.lines.is_empty() {
            // Before the splits, which are changes themselves.
            transaction
                .check_revision(request.revision.take())
                .map_err(|error| select_failure(&error))?;
        }
        let mut records = Vec::new();
        for range in &request.lines {
            let split = transaction
                .split_for_lines(range, &mut ids)
                .map_err(|error| select_failure(&error))?;
            records.extend(split);
        }
        let selection = transaction
            .select(&request)
            .map_err(|error| select_failure(&error))?;
        Ok((selection, records))
    }
}

/// The files that a decision is answered with: those that it is about, unless all are wanted.
fn answered(params: &v1::DecideParams, selection: &Selection) -> Option<BTreeSet<String>> {
    (!params.all_files).then(|| selection.paths().map(str::to_owned).collect())
}

pub(super) fn decision_request(params: &v1::DecideParams) -> DecisionRequest {
    DecisionRequest {
        revision: params.revision,
        hunks: params
            .hunks
            .iter()
            .map(|hunk| (HunkId::new(hunk.id.clone()), hunk.revision))
            .collect(),
        files: params
            .files
            .iter()
            .map(|file| (file.path.clone(), file.revision))
            .collect(),
        lines: params
            .lines
            .iter()
            .map(|range| LineRange {
                path: range.path.clone(),
                start: range.start as usize,
                end: range.end as usize,
            })
            .collect(),
    }
}

/// The hunks of a selection as the decider saw them.
fn shown(transaction: &Transaction, selection: &Selection) -> Vec<ShownHunk> {
    let revision = |text: &str| redline_edits::text_revision(text).to_string();
    selection
        .placed()
        .filter_map(|(path, id)| {
            let file = transaction.file(path)?;
            let hunk = file.hunks.get(id)?;
            Some(ShownHunk {
                path: file.path.clone(),
                id: id.to_string(),
                revision: hunk.revision,
                removed: revision(&hunk.removed),
                replacement: revision(&hunk.replacement),
                amended: None,
            })
        })
        .collect()
}

pub(super) fn select_failure(error: &SelectError) -> Failure {
    Failure::new(error.code(), error.to_string(), error.hint())
}

pub(super) fn hunk_failure(error: &HunkError) -> Failure {
    Failure::new(error.code(), error.to_string(), error.hint())
}

/// A transaction that a call still adds to.
pub(super) fn incomplete(transaction: &Transaction) -> Failure {
    let arriving: Vec<&str> = transaction
        .files()
        .filter(|file| file.flags.iter().any(|flag| flag == "incomplete"))
        .map(|file| file.path.as_str())
        .collect();
    let what = if arriving.is_empty() {
        transaction.id().to_owned()
    } else {
        arriving.join(", ")
    };
    Failure::new(
        "INCOMPLETE",
        format!("{what} is not complete, so nothing of the transaction can be accepted yet"),
        "wait until it has arrived, or reject it",
    )
}
