//! Changes of one hunk: amend, split, propose again; and keeping the user's side of a conflict.
//!
//! Owns: that each is checked against what was shown, spread to the copies, and stored.
//! Must not know: what a change does to a hunk; `redline_edits` does that.

use redline_agent::Verdict;
use redline_edits::{HunkError, HunkId};
use redline_protocol::v1;
use redline_workspace::{Record, Transaction};

use super::decide::{decision_request, hunk_failure, select_failure};
use super::event::{ClientId, Later, Reply};
use super::pages::unknown_transaction;
use super::store::Answer;
use super::{Hub, respond};
use crate::failure::Failure;

impl Hub {
    pub(super) fn amend(
        &mut self,
        client: ClientId,
        params: v1::AmendParams,
        reply: Reply<Later<v1::Transaction>>,
    ) {
        let text = super::present::unlines(&params.added, false);
        let target = v1::SplitParams {
            transaction_id: params.transaction_id,
            hunk: params.hunk,
        };
        self.change(client, target, reply, |hub, id, hunk| {
            let record = hub.edit(id, |transaction| transaction.amend(hunk, &text))?;
            hub.steer_hunk(id, hunk, Verdict::Amended);
            Ok(record)
        });
    }

    pub(super) fn split(
        &mut self,
        client: ClientId,
        target: v1::SplitParams,
        reply: Reply<Later<v1::Transaction>>,
    ) {
        self.change(client, target, reply, |hub, id, hunk| {
            let mut ids = hub.hunk_ids();
            let record = hub.edit(id, |transaction| {
                transaction.split(hunk, &mut ids).map(|(_, record)| record)
            })?;
            // Its first part keeps its id.
            hub.steer_hunk(id, hunk, Verdict::Split);
            Ok(record)
        });
    }

    pub(super) fn propose_again(
        &mut self,
        client: ClientId,
        target: v1::SplitParams,
        reply: Reply<Later<v1::Transaction>>,
    ) {
        self.change(client, target, reply, |hub, id, hunk| {
            hub.edit(id, |transaction| transaction.propose_again(hunk))
        });
    }

    /// `Keep mine`: the conflict is settled for the user's side.
    pub(super) fn keep_mine(
        &mut self,
        client: ClientId,
        target: v1::SplitParams,
        reply: Reply<Later<v1::Transaction>>,
    ) {
        self.change(client, target, reply, |hub, id, hunk| {
            hub.steer_hunk(id, hunk, Verdict::KeptMine);
            hub.edit(id, |transaction| transaction.keep_mine(hunk))
        });
    }

    /// One change of one hunk, checked, spread and stored.
    fn change(
        &mut self,
        client: ClientId,
        target: v1::SplitParams,
        reply: Reply<Later<v1::Transaction>>,
        change: impl FnOnce(&mut Self, &str, &HunkId) -> Result<Record, Failure>,
    ) {
        let hunk = HunkId::new(target.hunk.id.clone());
        let params = v1::DecideParams {
            transaction_id: target.transaction_id,
            hunks: vec![target.hunk],
            ..v1::DecideParams::default()
        };
        let changed = self.find(&params).and_then(|id| {
            self.may_decide(client, &id)?;
            self.lead(&id, Some(client));
            self.transaction_mut(&id)?
                .select(&decision_request(&params))
                .map_err(|error| select_failure(&error))?;
            let record = change(self, &id, &hunk)?;
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

    fn edit(
        &mut self,
        id: &str,
        edit: impl FnOnce(&mut Transaction) -> Result<Record, HunkError>,
    ) -> Result<Record, Failure> {
        edit(self.transaction_mut(id)?).map_err(|error| hunk_failure(&error))
    }

    /// Tells the hunk's turn what the user did with it.
    fn steer_hunk(&mut self, id: &str, hunk: &HunkId, verdict: Verdict) {
        let transaction = self.transactions.get(id);
        let path = transaction
            .and_then(|transaction| transaction.file_of(hunk))
            .map(|file| file.path.clone());
        if let Some(path) = path {
            self.steer(id, &path, hunk, verdict, None);
        }
    }

    pub(super) fn transaction_mut(&mut self, id: &str) -> Result<&mut Transaction, Failure> {
        self.transactions
            .get_mut(id)
            .ok_or_else(|| unknown_transaction(id))
    }
}
