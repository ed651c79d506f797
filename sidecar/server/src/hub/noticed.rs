//! What typing does to hunks: acceptances by hand, conflicts, and edits that were offered and came back.
//!
//! Owns: telling them apart, and what each means for the transaction.
//! Must not know: where a hunk lies; the copy's own set has moved it by then.

use std::collections::BTreeMap;

use redline_agent::Verdict;
use redline_edits::{HunkEvent, HunkId};
use redline_workspace::DecisionRequest;
use ropey::Rope;

use super::Hub;
use super::commit::{CommitReply, Order};
use super::documents::Happened;
use super::event::ClientId;
use super::store::Answer;

impl Hub {
    /// What a change of one copy did to hunks: arrivals of a commit, decisions made in the editor,
    /// conflicts.
    pub(super) fn happened(
        &mut self,
        client: ClientId,
        path: &str,
        before: (Rope, i32),
        happened: Vec<Happened>,
    ) {
        let mut by_set: BTreeMap<String, Vec<HunkEvent>> = BTreeMap::new();
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
        let mut request = self.commit_request(client, transaction, selection);
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
}
