//! Decisions: reject, withdraw, amend, split, and the way of an accept to its commit.
//!
//! Owns: which transaction a request means, bringing the decider's copy to the front, and telling the
//! other copies what was decided.
//! Must not know: how an acceptance reaches disks and editors ([`super::commit`]).
//!
//! A transaction's own hunks are anchored to one text for each path: the leading copy's while one is
//! open, else the disk's. [`Hub::lead`] moves them there before anything is decided, and
//! [`Hub::spread`] hands what was decided to every copy.

use std::collections::BTreeSet;

use redline_agent::Verdict;
use redline_edits::{HunkEvent, HunkId};
use redline_protocol::v1;
use redline_workspace::{
    Action, CommitRequest, DecisionRequest, LineRange, Outcome, Receipt, Record, Selection,
    Settlement, ShownHunk, Transaction,
};
use ropey::Rope;

use super::commit::{CommitReply, Order};
use super::documents::Happened;
use super::event::{ClientId, Later, Reply, Verb};
use super::pages::{unknown_hunk, unknown_transaction};
use super::work::Done;
use super::{Hub, derive, respond};
use crate::failure::Failure;

/// What is answered once records are stored.
pub(crate) struct Stored {
    error: Option<Failure>,
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
    pub(super) fn decide(
        &mut self,
        client: ClientId,
        verb: Verb,
        params: v1::DecideParams,
        reply: Reply<Later<v1::DecideResult>>,
    ) {
        let selected = self.find(&params).and_then(|id| {
            self.may_decide(client, &id)?;
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
            Verb::Accept => self.accept(client, &id, selection, &params, reply),
            Verb::Reject => self.refuse(
                client,
                &id,
                &selection,
                Settlement::Rejected,
                &params,
                reply,
            ),
            Verb::Withdraw => {
                self.refuse(
                    client,
                    &id,
                    &selection,
                    Settlement::Withdrawn,
                    &params,
                    reply,
                );
            }
        }
    }

    fn accept(
        &mut self,
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
        let request = self.commit_request(client, transaction, selection, Action::Accept);
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
        action: Action,
    ) -> CommitRequest {
        let (documents, unsaved_elsewhere) = self.open_documents(client);
        CommitRequest {
            transaction,
            selection,
            action,
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
        client: ClientId,
        id: &str,
        selection: &Selection,
        how: Settlement,
        params: &v1::DecideParams,
        reply: Reply<Later<v1::DecideResult>>,
    ) {
        let receipt_id = self.new_id("rc_");
        let (by, at) = (self.name_of(client), self.now());
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
            decided_by: by,
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
        let decided: Vec<(String, HunkId)> = self.placed(id, selection.hunks());
        for (path, hunk) in &decided {
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

    /// Which file each hunk lies in.
    fn placed<'a>(
        &self,
        id: &str,
        hunks: impl Iterator<Item = &'a HunkId>,
    ) -> Vec<(String, HunkId)> {
        let transaction = self.transactions.get(id);
        hunks
            .filter_map(|hunk| Some((transaction?.file_of(hunk)?.path.clone(), hunk.clone())))
            .collect()
    }

    pub(super) fn amend(
        &mut self,
        client: ClientId,
        params: v1::AmendParams,
        reply: Reply<Later<v1::Transaction>>,
    ) {
        let hunk = HunkId::new(params.hunk.id.clone());
        self.change(
            client,
            &params.hunk,
            params.transaction_id,
            reply,
            |hub, id| {
                let text = super::present::unlines(&params.added, false);
                let transaction = hub.transaction_mut(id)?;
                let record = transaction
                    .amend(&hunk, &text)
                    .map_err(|error| hunk_failure(&error))?;
                let path = transaction.file_of(&hunk).map(|file| file.path.clone());
                if let Some(path) = path {
                    hub.steer(id, &path, &hunk, Verdict::Amended, None);
                }
                Ok(record)
            },
        );
    }

    pub(super) fn split(
        &mut self,
        client: ClientId,
        params: v1::SplitParams,
        reply: Reply<Later<v1::Transaction>>,
    ) {
        let hunk = HunkId::new(params.hunk.id.clone());
        self.change(
            client,
            &params.hunk,
            params.transaction_id,
            reply,
            |hub, id| {
                let mut ids = hub.hunk_ids();
                let (_, record) = hub
                    .transaction_mut(id)?
                    .split(&hunk, &mut ids)
                    .map_err(|error| hunk_failure(&error))?;
                Ok(record)
            },
        );
    }

    pub(super) fn propose_again(
        &mut self,
        client: ClientId,
        params: v1::SplitParams,
        reply: Reply<Later<v1::Transaction>>,
    ) {
        let hunk = HunkId::new(params.hunk.id.clone());
        self.change(
            client,
            &params.hunk,
            params.transaction_id,
            reply,
            |hub, id| {
                hub.transaction_mut(id)?
                    .propose_again(&hunk)
                    .map_err(|error| hunk_failure(&error))
            },
        );
    }

    /// `Keep mine`: the conflict is settled for the user's side.
    pub(super) fn keep_mine(
        &mut self,
        client: ClientId,
        params: v1::SplitParams,
        reply: Reply<Later<v1::Transaction>>,
    ) {
        let hunk = HunkId::new(params.hunk.id.clone());
        self.change(
            client,
            &params.hunk,
            params.transaction_id,
            reply,
            |hub, id| {
                let path = hub
                    .transaction_mut(id)?
                    .file_of(&hunk)
                    .map(|file| file.path.clone());
                if let Some(path) = path {
                    hub.steer(id, &path, &hunk, Verdict::KeptMine, None);
                }
                hub.transaction_mut(id)?
                    .keep_mine(&hunk)
                    .map_err(|error| hunk_failure(&error))
            },
        );
    }

    /// One change of one hunk, checked, spread and stored.
    fn change(
        &mut self,
        client: ClientId,
        shown: &v1::HunkRef,
        transaction: Option<String>,
        reply: Reply<Later<v1::Transaction>>,
        change: impl FnOnce(&mut Self, &str) -> Result<Record, Failure>,
    ) {
        let params = v1::DecideParams {
            transaction_id: transaction,
            hunks: vec![shown.clone()],
            ..v1::DecideParams::default()
        };
        let changed = self.find(&params).and_then(|id| {
            self.may_decide(client, &id)?;
            self.lead(&id, Some(client));
            let request = decision_request(&params);
            self.transaction_mut(&id)?
                .select(&request)
                .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
            let record = change(self, &id)?;
            Ok((id, record))
        });
        match changed {
            Ok((id, record)) => {
                self.spread(&id);
                let answer = Answer::Changed {
                    transaction: id.clone(),
                    reply,
                };
                self.store(vec![(id, vec![record])], None, answer);
            }
            Err(failure) => respond(reply, Err(failure)),
        }
    }

    /// Refuses a decision over the connection that the proposal came from.
    fn may_decide(&self, client: ClientId, id: &str) -> Result<(), Failure> {
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

    pub(super) fn transaction_mut(&mut self, id: &str) -> Result<&mut Transaction, Failure> {
        self.transactions
            .get_mut(id)
            .ok_or_else(|| unknown_transaction(id))
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
                .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
        }
        let mut records = Vec::new();
        for range in &request.lines {
            let split = transaction
                .split_for_lines(range, &mut ids)
                .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
            records.extend(split);
        }
        let selection = transaction
            .select(&request)
            .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
        Ok((selection, records))
    }

    /// Anchors a transaction's own hunks to the leading copies: those of `client`, else the ones
    /// typed in last.
    pub(super) fn lead(&mut self, id: &str, client: Option<ClientId>) {
        let Some(transaction) = self.transactions.get_mut(id) else {
            return;
        };
        let paths: Vec<String> = self
            .documents
            .paths()
            .filter(|path| transaction.file(path).is_some())
            .map(str::to_owned)
            .collect();
        for path in paths {
            let Some(copy) = self.documents.leading(&path, client) else {
                continue;
            };
            let (Some(set), Some(file)) = (copy.sets.get(id), transaction.file_mut(&path)) else {
                continue;
            };
            file.hunks = set.clone();
            file.text = copy.rope.clone();
        }
    }

    /// Hands a transaction's hunks to every open copy, and marks them to be shown again.
    pub(super) fn spread(&mut self, id: &str) {
        let Some(transaction) = self.transactions.get(id) else {
            return;
        };
        self.stale.transaction(id);
        let paths: Vec<String> = self
            .documents
            .paths()
            .filter(|path| transaction.file(path).is_some())
            .map(str::to_owned)
            .collect();
        for path in paths {
            let Some(file) = transaction.file(&path) else {
                continue;
            };
            for copy in self.documents.of_mut(&path) {
                let set = (!file.hunks.is_empty()).then(|| derive(file, &copy.rope));
                copy.put(id, set);
            }
            self.stale.changed(&path);
        }
    }

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
            let transactions = workspace.transactions();
            for (transaction, records) in &changes {
                if let Err(failed) = transactions.append(transaction, records, receipt.as_ref()) {
                    error = Some(Failure::new(
                        failed.code(),
                        failed.to_string(),
                        failed.hint(),
                    ));
                }
            }
            Some(Done::Stored(Box::new(Stored { error, answer })))
        });
    }

    pub(super) fn stored(&mut self, stored: Stored) {
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

    /// What a change of one copy did to hunks: arrivals of a commit, decisions made in the editor,
    /// conflicts.
    pub(super) fn happened(
        &mut self,
        client: ClientId,
        path: &str,
        before: (Rope, i32),
        happened: Vec<Happened>,
    ) {
        let mut by_set: std::collections::BTreeMap<String, Vec<HunkEvent>> = Default::default();
        for each in happened {
            let is_arrival = matches!(
                each.event,
                HunkEvent::Applied { .. }
                    | HunkEvent::AcceptedByHand { .. }
                    | HunkEvent::AcceptedAgain { .. }
            );
            if is_arrival && self.arrived(client, path, &each.set, each.event.id()) {
                continue;
            }
            by_set.entry(each.set).or_default().push(each.event);
        }
        for (id, events) in by_set {
            self.decided_in_editor(client, path, &id, &before, events);
        }
        self.stale.changed(path);
    }

    fn decided_in_editor(
        &mut self,
        client: ClientId,
        path: &str,
        id: &str,
        before: &(Rope, i32),
        events: Vec<HunkEvent>,
    ) {
        let Some(transaction) = self.transactions.get(id) else {
            return;
        };
        // What another copy has already settled is no news.
        let news: Vec<HunkEvent> = events
            .into_iter()
            .filter(|event| {
                let settled = transaction
                    .file(path)
                    .and_then(|file| file.hunks.get(event.id()))
                    .is_some_and(|hunk| !hunk.state.is_open());
                !settled || matches!(event, HunkEvent::Reopened { .. })
            })
            .collect();
        let offered: Vec<HunkId> = news
            .iter()
            .filter(|event| {
                matches!(
                    event,
                    HunkEvent::AcceptedByHand { .. } | HunkEvent::AcceptedAgain { .. }
                )
            })
            .map(|event| event.id().clone())
            .filter(|hunk| self.offers.covers(client, hunk))
            .collect();
        if !offered.is_empty() {
            self.accept_offered(client, path, id, before, &offered);
        }
        let rest: Vec<HunkEvent> = news
            .into_iter()
            .filter(|event| !offered.contains(event.id()))
            .collect();
        self.lead(id, Some(client));
        let unsaved = self
            .documents
            .get(path, client)
            .is_some_and(|copy| copy.dirty);
        for event in &rest {
            let verdict = match event {
                HunkEvent::AcceptedByHand { .. } | HunkEvent::AcceptedAgain { .. } => {
                    Verdict::AcceptedByHand
                }
                HunkEvent::Reopened { .. } => Verdict::Undone,
                HunkEvent::Conflicted { .. } => Verdict::Conflict,
                HunkEvent::Lifted { .. } | HunkEvent::Applied { .. } => continue,
            };
            self.steer(id, path, event.id(), verdict, None);
        }
        let Some(transaction) = self.transactions.get_mut(id) else {
            return;
        };
        let records = transaction.note_events(path, &rest, unsaved);
        if !records.is_empty() {
            self.store(vec![(id.to_owned(), records)], None, Answer::Nobody);
        }
        self.spread_to_others(id, path, client);
        self.stale.transaction(id);
    }

    /// An edit that the client was offered has come back as a change: that was the decision.
    fn accept_offered(
        &mut self,
        client: ClientId,
        path: &str,
        id: &str,
        (before, version): &(Rope, i32),
        hunks: &[HunkId],
    ) {
        let Some(transaction) = self.transactions.get(id).cloned() else {
            return;
        };
        let Ok(selection) = transaction.select(&DecisionRequest {
            hunks: hunks.iter().map(|hunk| (hunk.clone(), None)).collect(),
            ..DecisionRequest::default()
        }) else {
            return;
        };
        let mut request = self.commit_request(client, transaction, selection, Action::Accept);
        for document in &mut request.documents {
            if document.path == path {
                document.text = before.clone();
                document.version = *version;
            }
        }
        self.order(Order {
            client,
            request,
            reply: CommitReply::Nobody,
            arrived: true,
        });
    }

    /// Hands the hunks of one path to the copies of other clients.
    fn spread_to_others(&mut self, id: &str, path: &str, client: ClientId) {
        let Some(file) = self.transactions.get(id).and_then(|found| found.file(path)) else {
            return;
        };
        for copy in self.documents.of_mut(path) {
            if copy.client != client {
                let set = (!file.hunks.is_empty()).then(|| derive(file, &copy.rope));
                copy.put(id, set);
            }
        }
    }

    pub(super) fn did_save(&mut self, client: ClientId, uri: &str) {
        let Some(path) = self.path_of(uri) else {
            return;
        };
        if let Some(copy) = self.documents.touch(&path, client) {
            copy.dirty = false;
        }
        let ids: Vec<String> = self.transactions.keys().cloned().collect();
        let mut changes = Vec::new();
        for id in ids {
            let Some(transaction) = self.transactions.get_mut(&id) else {
                continue;
            };
            if let Some(record) = transaction.saved(&path) {
                changes.push((id.clone(), vec![record]));
                self.stale.transaction(&id);
                self.stale.changed(&path);
            }
        }
        if !changes.is_empty() {
            self.store(changes, None, Answer::Nobody);
        }
        self.check_disk(&path);
    }

    pub(super) fn did_close(&mut self, client: ClientId, uri: &str) {
        if let Some(path) = self.path_of(uri) {
            self.close_copy(&path, client);
        }
    }

    /// A copy is gone. When it was the last one, the disk is what its hunks lie over again, and what
    /// was accepted there without being saved waits again.
    pub(super) fn close_copy(&mut self, path: &str, client: ClientId) {
        let ids: Vec<String> = self
            .documents
            .get(path, client)
            .map(|copy| copy.sets.keys().cloned().collect())
            .unwrap_or_default();
        for id in &ids {
            self.lead(id, None);
        }
        self.documents.close(path, client);
        self.stale.changed(path);
        if self.documents.of(path).is_empty() {
            self.check_disk(path);
        }
    }

    /// Moves hunks over a closed file onto what the disk reads now.
    pub(super) fn reanchor_closed(&mut self, path: &str, rope: &Rope) {
        let ids: Vec<String> = self
            .transactions
            .values()
            .filter(|transaction| transaction.file(path).is_some())
            .map(|transaction| transaction.id().to_owned())
            .collect();
        let mut changes = Vec::new();
        for id in ids {
            let Some(transaction) = self.transactions.get_mut(&id) else {
                continue;
            };
            let Some(file) = transaction.file_mut(path) else {
                continue;
            };
            let events = file.reanchor(rope);
            let records = transaction.note_events(path, &events, false);
            // Nobody has it open any more: what is in the text is saved, what is not waits again.
            let saved = transaction.saved(path);
            let records: Vec<Record> = records.into_iter().chain(saved).collect();
            if !events.is_empty() || !records.is_empty() {
                self.stale.transaction(&id);
            }
            if !records.is_empty() {
                changes.push((id, records));
            }
        }
        if !changes.is_empty() {
            self.store(changes, None, Answer::Nobody);
        }
    }
}

/// The files that a decision is answered with: those that it is about, unless all are wanted.
fn answered(params: &v1::DecideParams, selection: &Selection) -> Option<BTreeSet<String>> {
    (!params.all_files).then(|| selection.paths().map(str::to_owned).collect())
}

fn decision_request(params: &v1::DecideParams) -> DecisionRequest {
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
        .hunks()
        .filter_map(|id| {
            let file = transaction.file_of(id)?;
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

pub(super) fn hunk_failure(error: &redline_edits::HunkError) -> Failure {
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
