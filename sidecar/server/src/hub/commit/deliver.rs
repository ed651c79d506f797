//! Bringing accepted text into the editors of a commit, and out again when it fails.
//!
//! Owns: what is sent to which copy, when it is sent again, and when it has arrived.
//! Must not know: what happens before and after; the commit says when.
//!
//! An edit has arrived when its hunk's own range reads its text; the set says so
//! ([`HunkEvent::Applied`](redline_edits::HunkEvent::Applied)). A stale edit is anchored and sent again: three
//! times, two seconds in all. It is sent again only when the text has moved on or the client has refused it: an
//! editor that holds its `didChange` back (Neovim does, for 150 ms) would apply a second one on top of the
//! first.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use redline_edits::{HunkId, HunkSet, HunkState, TextChange};
use redline_workspace::{Delivery, Prepared};

use super::{InFlight, Order};
use crate::failure::Failure;
use crate::hub::documents::Copy;
use crate::hub::event::ClientId;
use crate::hub::offers::{EditStyle, workspace_edit};
use crate::hub::{Hub, derive};
use crate::lsp::outbox::Message;

/// How long all attempts at one delivery may take.
const DELIVERY_LIMIT: Duration = Duration::from_secs(2);

/// How often it is looked whether an edit has to be sent again.
const ATTEMPT_STEP: Duration = Duration::from_millis(50);

/// How long a text that moves on is given before the edit is sent for it.
const ATTEMPT_PACE: Duration = Duration::from_millis(150);

/// How often an edit is sent.
const ATTEMPTS: u32 = 3;

/// One document that must come to read the accepted text.
#[derive(Debug, Clone)]
pub(super) struct Target {
    client: ClientId,
    pub(super) path: String,
    hunks: Vec<HunkId>,
    /// Only a target of the decider can fail the commit.
    required: bool,
    arrived: bool,
    /// Version of the document that the edit was last sent for.
    sent: Option<i32>,
}

impl Hub {
    pub(super) fn deliver(&mut self, prepared: Box<Prepared>) {
        let Some(mut current) = self.commits.current.take() else {
            return;
        };
        let client = current.order.client;
        let deliveries = if current.order.arrived {
            &[][..]
        } else {
            prepared.deliveries()
        };
        for delivery in deliveries {
            let leading = self
                .documents
                .leading(&delivery.path, Some(client))
                .map(|copy| copy.client);
            for copy in self.documents.of_mut(&delivery.path) {
                let required = Some(copy.client) == leading;
                if !required && copy.rope != delivery.before {
                    continue;
                }
                let set = delivery_set(&current.order, copy, delivery);
                let Some(set) = set else { continue };
                set.expect(&delivery.hunks);
                current.targets.push(Target {
                    client: copy.client,
                    path: delivery.path.clone(),
                    hunks: delivery.hunks.clone(),
                    required,
                    arrived: false,
                    sent: None,
                });
            }
        }
        current.started = Instant::now();
        current.prepared = Some(prepared);
        self.commits.current = Some(current);
        if self.all_arrived() {
            self.finish_commit();
        } else {
            self.send_deliveries();
        }
    }

    /// Sends the edits of all targets that have not arrived, anchored on the text as it is now.
    fn send_deliveries(&mut self) {
        let Some(mut current) = self.commits.current.take() else {
            return;
        };
        current.attempt += 1;
        current.unanswered.clear();
        let again = std::mem::take(&mut current.refused);
        let set_id = current.order.transaction_id().to_owned();
        let mut lost = None;
        let mut by_client: BTreeMap<ClientId, Vec<(&Copy, Vec<TextChange>)>> = BTreeMap::new();
        for target in current.targets.iter_mut().filter(|target| !target.arrived) {
            let copy = self.documents.get(&target.path, target.client);
            let version = copy.map(|copy| copy.version);
            if version.is_some() && version == target.sent && !again {
                continue;
            }
            target.sent = version;
            let edits = copy
                .and_then(|copy| Some((copy, copy.sets.get(&set_id)?)))
                .map(|(copy, set)| (copy, set.edits_for(&copy.rope, &target.hunks)));
            match edits {
                Some((copy, Ok(edits))) => {
                    by_client
                        .entry(target.client)
                        .or_default()
                        .push((copy, edits));
                }
                Some((_, Err(error))) if target.required => {
                    lost = Some(Failure::new(error.code(), error.to_string(), error.hint()));
                }
                None if target.required => {
                    lost = Some(Failure::new(
                        "CLIENT_GONE",
                        format!("{} was closed before the edit arrived", target.path),
                        "accept again",
                    ));
                }
                _ => {}
            }
        }
        for (client, documents) in by_client {
            let Some(attached) = self.clients.get(&client) else {
                continue;
            };
            if !attached.profile.apply_edit {
                let required = |target: &&Target| target.client == client && target.required;
                if let Some(target) = current.targets.iter().find(required) {
                    lost = Some(Failure::new(
                        "CLIENT_REFUSED",
                        format!(
                            "{} is open in {}, which takes no edits from a server",
                            target.path, attached.profile.name
                        ),
                        "use its code action, or close the document and accept again",
                    ));
                }
                continue;
            }
            self.commits.next_delivery += 1;
            let delivery = self.commits.next_delivery;
            current.unanswered.push(delivery);
            attached.outbox.push(Message::ApplyEdit {
                hub: self.handle.clone(),
                delivery,
                label: "Redline: accept".to_owned(),
                edit: workspace_edit(
                    &documents,
                    &EditStyle::of(&attached.profile, "Redline: accept"),
                ),
            });
        }
        self.commits.due = Some(Instant::now() + ATTEMPT_STEP);
        self.commits.current = Some(current);
        if let Some(failure) = lost {
            self.abort_commit(failure);
        }
    }

    /// The client has answered; what counts is the text, so only a refusal means anything.
    pub(in crate::hub) fn delivered(
        &mut self,
        delivery: u64,
        _client: ClientId,
        applied: Result<bool, String>,
    ) {
        let Some(current) = &mut self.commits.current else {
            return;
        };
        if !current.unanswered.contains(&delivery) {
            return;
        }
        current.unanswered.retain(|&waiting| waiting != delivery);
        match applied {
            // The change may come after the answer.
            Ok(true) => {}
            Ok(false) => {
                current.refusal = Some("the editor did not apply the edit".to_owned());
                current.refused = true;
            }
            Err(message) => {
                current.refusal = Some(message);
                current.refused = true;
            }
        }
    }

    /// Whether a target that waits reads another text than the edit was sent for, or was refused.
    fn must_send_again(&self, current: &InFlight) -> bool {
        current.refused
            || current.targets.iter().any(|target| {
                let copy = self.documents.get(&target.path, target.client);
                !target.arrived && copy.map(|copy| copy.version) != target.sent
            })
    }

    pub(in crate::hub) fn commits_tick(&mut self, now: Instant) {
        if self.commits.due.is_none_or(|due| due > now) {
            return;
        }
        self.commits.due = None;
        let Some(current) = &self.commits.current else {
            return;
        };
        if current.prepared.is_none() {
            return;
        }
        let elapsed = current.started.elapsed();
        let spent = current.attempt >= ATTEMPTS;
        let over = elapsed >= DELIVERY_LIMIT || (spent && current.refused);
        if !over {
            // Somebody who types makes a new version each time: not all attempts at once.
            let early = !current.refused && elapsed < ATTEMPT_PACE * current.attempt;
            if spent || early || !self.must_send_again(current) {
                self.commits.due = Some(now + ATTEMPT_STEP);
            } else {
                self.send_deliveries();
            }
            return;
        }
        let path = current
            .targets
            .iter()
            .find(|target| target.required && !target.arrived)
            .map_or_else(String::new, |target| target.path.clone());
        let failure = match &current.refusal {
            Some(said) => Failure::new(
                "CLIENT_REFUSED",
                format!(
                    "{path}: the edit did not arrive in the editor ({said}); nothing was changed"
                ),
                "accept again; if it stays so, save and reopen the document",
            ),
            None => Failure::new(
                "CLIENT_TIMEOUT",
                format!(
                    "{path}: the edit did not arrive in the editor in time; nothing was changed"
                ),
                "accept again when the editor answers",
            ),
        };
        self.abort_commit(failure);
    }

    /// Notes that hunks now read their text in a client's copy. Says whether the commit waits for them.
    pub(in crate::hub) fn arrived(
        &mut self,
        client: ClientId,
        path: &str,
        set: &str,
        hunk: &HunkId,
    ) -> bool {
        let Some(current) = &mut self.commits.current else {
            return false;
        };
        if current.order.transaction_id() != set {
            return false;
        }
        let Some(copy) = self.documents.get(path, client) else {
            return false;
        };
        let Some(hunks) = copy.sets.get(set) else {
            return false;
        };
        let mut ours = false;
        for target in &mut current.targets {
            if target.client == client && target.path == path && target.hunks.contains(hunk) {
                ours = true;
                target.arrived = target.hunks.iter().all(|id| {
                    hunks
                        .get(id)
                        .is_some_and(|hunk| matches!(hunk.state, HunkState::Accepted { .. }))
                });
            }
        }
        if ours && self.all_arrived() {
            self.finish_commit();
        }
        ours
    }

    fn all_arrived(&self) -> bool {
        self.commits.current.as_ref().is_some_and(|current| {
            current.prepared.is_some()
                && current
                    .targets
                    .iter()
                    .all(|target| target.arrived || !target.required)
        })
    }

    /// Takes what has arrived out of the editors again; what the user typed since stays.
    pub(super) fn take_back_deliveries(&mut self) {
        let Some(current) = &self.commits.current else {
            return;
        };
        let id = current.order.transaction_id();
        for target in &current.targets {
            let Some(copy) = self.documents.get(&target.path, target.client) else {
                continue;
            };
            let Some(set) = copy.sets.get(id) else {
                continue;
            };
            let arrived: Vec<HunkId> = target
                .hunks
                .iter()
                .filter(|hunk| {
                    set.get(hunk)
                        .is_some_and(|hunk| matches!(hunk.state, HunkState::Accepted { .. }))
                })
                .cloned()
                .collect();
            // Lines that were changed since are the user's now; they stay.
            let Ok(edits) = set.edits_for_undo(&copy.rope, &arrived) else {
                continue;
            };
            if edits.is_empty() {
                continue;
            }
            if let Some(client) = self.clients.get(&target.client) {
                client.outbox.push(Message::ApplyEdit {
                    hub: self.handle.clone(),
                    delivery: 0,
                    label: "Redline: take back".to_owned(),
                    edit: workspace_edit(
                        &[(copy, edits)],
                        &EditStyle::of(&client.profile, "Redline: take back"),
                    ),
                });
            }
        }
    }

    pub(super) fn stop_expecting(&mut self, current: &InFlight) {
        let id = current.order.transaction_id();
        let is_known = self.transactions.contains_key(id);
        for target in &current.targets {
            for copy in self.documents.of_mut(&target.path) {
                if copy.client != target.client {
                    continue;
                }
                if !is_known {
                    copy.put(id, None);
                } else if let Some(set) = copy.sets.get_mut(id) {
                    set.expect_no_more(&target.hunks);
                }
            }
        }
    }

    /// A client has gone; a delivery that waits for it fails at once.
    pub(in crate::hub) fn commit_client_gone(&mut self, client: ClientId) {
        let waits = self.commits.current.as_ref().is_some_and(|current| {
            current.prepared.is_some()
                && current
                    .targets
                    .iter()
                    .any(|target| target.required && !target.arrived && target.client == client)
        });
        if waits {
            self.abort_commit(Failure::new(
                "CLIENT_GONE",
                "the editor went away before the edit arrived; nothing was changed",
                "accept again",
            ));
        }
    }
}

/// The hunks that a delivery applies, laid over one copy.
fn delivery_set<'c>(
    order: &Order,
    copy: &'c mut Copy,
    delivery: &Delivery,
) -> Option<&'c mut HunkSet> {
    let id = order.transaction_id();
    if !copy.sets.contains_key(id) {
        let file = order.request.transaction.file(&delivery.path)?;
        let set = derive(file, &copy.rope);
        copy.put(id, Some(set));
    }
    copy.sets.get_mut(id)
}
