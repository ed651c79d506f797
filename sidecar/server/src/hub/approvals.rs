//! Approvals: who is asked, who answers, and who waits for the answer.
//!
//! Owns: what of the durable approvals this hub knows, asking people in each client's own way, and letting
//! turns go on once one is decided, by whomever and in whatever process.
//! Must not know: what may run (`redline_tools::gate`), or how approvals are kept (`redline_workspace`).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use redline_protocol::v1;
use redline_workspace::{Approval, ApprovalError, ApprovalState, Approvals as Kept, Voice};
use tokio::sync::oneshot;
use tower_lsp::ls_types::{CodeActionOrCommand, MessageType};

use super::event::{ClientId, Reply};
use super::present_agent::approval as wire;
use super::waited::Waited;
use super::work::Done;
use super::{Hub, respond};
use crate::failure::Failure;
use crate::lsp::approvals::{actions, question};
use crate::lsp::outbox::{Message, Subject};
use crate::lsp::profile::ClientProfile;

/// How often another process's decisions are looked for while a turn waits here. A look at a file that nobody
/// changed costs a system call.
const LOOK: Duration = Duration::from_millis(100);

/// Most settled approvals in a list.
const MOST_SETTLED: usize = 100;

/// What this hub knows of the approvals.
#[derive(Default)]
pub(crate) struct Approvals {
    /// Those that wait, by id, so by age.
    waiting: BTreeMap<String, Arc<Approval>>,
    /// Those that were approved and not used; a turn that waits uses one at once.
    granted: BTreeMap<String, Arc<Approval>>,
    /// Turns that wait for one.
    waiters: BTreeMap<String, Vec<oneshot::Sender<()>>>,
    /// The next look at the store.
    due: Option<Instant>,
}

/// A decision was carried out, or was not.
pub(crate) struct Decided {
    /// The approval as it is now.
    now: Option<Arc<Approval>>,
    outcome: Result<v1::Approval, Failure>,
    reply: Reply<v1::Approval>,
}

impl Approvals {
    /// What was open when the hub began.
    pub(crate) fn new(open: Vec<Arc<Approval>>) -> Self {
        let mut approvals = Self::default();
        let now = crate::clock::now_ms();
        for approval in open {
            approvals.keep(approval, now);
        }
        approvals
    }

    /// Keeps an approval as it is now; whether it waits and is new.
    fn keep(&mut self, approval: Arc<Approval>, now: u64) -> bool {
        let id = approval.id.clone();
        let known = self.waiting.remove(&id);
        self.granted.remove(&id);
        match approval.state_at(now) {
            ApprovalState::Waiting => {
                self.waiting.insert(id, approval);
                known.is_none()
            }
            ApprovalState::Approved => {
                self.granted.insert(id, approval);
                false
            }
            _ => false,
        }
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Those of a session that wait.
    pub(super) fn of_session(&self, session: &str) -> Vec<Arc<Approval>> {
        let waiting = self.waiting.values();
        let own = waiting.filter(|approval| approval.session == session);
        own.cloned().collect()
    }

    /// Those that wait.
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Approval>> {
        self.waiting.values()
    }

    /// Those of a session that were approved and can still be used.
    pub(super) fn granted_to(&self, session: &str) -> Vec<Arc<Approval>> {
        let now = crate::clock::now_ms();
        let own = self.granted.values().filter(|approval| {
            approval.session == session && approval.state_at(now) == ApprovalState::Approved
        });
        own.cloned().collect()
    }

    /// Ids of those that wait.
    pub(super) fn ids(&self) -> Vec<String> {
        self.waiting.keys().cloned().collect()
    }
}

impl Hub {
    /// Lets `reply` know when the approval no longer waits.
    pub(super) fn wait_for(&mut self, id: String, reply: oneshot::Sender<()>) {
        if !self.approvals.waiting.contains_key(&id) && !self.plans.waits(&id) {
            // Decided before the turn began to wait, which it learns by trying.
            let _ = reply.send(());
            return;
        }
        self.approvals.waiters.entry(id).or_default().push(reply);
        self.approvals
            .due
            .get_or_insert_with(|| Instant::now() + LOOK);
    }

    pub(super) fn approvals_tick(&mut self, now: Instant) {
        if self.approvals.due.is_none_or(|due| due > now) {
            return;
        }
        self.approvals.waiters.retain(|_, all| {
            all.retain(|waiter| !waiter.is_closed());
            !all.is_empty()
        });
        self.approvals.due = (!self.approvals.waiters.is_empty()).then(|| now + LOOK);
        if self.approvals.due.is_none() {
            return;
        }
        let kept = self.workspace.approvals().clone();
        let known: Vec<Arc<Approval>> = self.approvals.waiting.values().cloned().collect();
        self.worker.run("approvals", move || {
            Some(Done::Approvals(changed(&kept, &known)))
        });
        self.look_at_plans();
    }

    /// Takes in what other processes did.
    pub(super) fn approvals_seen(&mut self, changed: Vec<Arc<Approval>>) {
        for approval in changed {
            self.approval_changed(approval);
        }
    }

    /// Takes in an approval as it is now, asks for it or lets its turn go on, and shows it.
    pub(super) fn approval_changed(&mut self, approval: Arc<Approval>) {
        let is_new = self
            .approvals
            .keep(approval.clone(), crate::clock::now_ms());
        if is_new {
            self.ask_for(&approval);
        }
        if !self.approvals.waiting.contains_key(&approval.id) {
            self.wake(&approval.id);
        }
        let waiting = u32::try_from(self.approvals.waiting.len()).unwrap_or(u32::MAX);
        for client in self.clients.values().filter(|each| each.profile.session) {
            client
                .outbox
                .push(Message::Approvals(v1::ApprovalChangedNotification {
                    approvals: vec![wire(&approval)],
                    waiting,
                }));
        }
        self.mark_approvals_stale();
    }

    /// Lets the turns go on that wait for this decision.
    pub(super) fn wake(&mut self, id: &str) {
        for waiter in self.approvals.waiters.remove(id).unwrap_or_default() {
            // A turn that was stopped does not wait any more.
            let _ = waiter.send(());
        }
    }

    /// Diagnostics of what waits stand in every document of who prompted.
    pub(super) fn mark_approvals_stale(&mut self) {
        self.pages.mark();
        let paths: Vec<String> = self.documents.paths().map(str::to_owned).collect();
        paths.iter().for_each(|path| self.stale.changed(path));
    }

    /// Asks who prompted, in the way that their editor has.
    fn ask_for(&self, approval: &Approval) {
        let Some(client) = self.asked(approval) else {
            return;
        };
        let Some(each) = self.clients.get(&client) else {
            return;
        };
        if each.profile.session {
            return;
        }
        let message = if each.profile.message_actions {
            Message::Ask {
                hub: self.handle.clone(),
                about: Subject::Approval(approval.id.clone()),
                text: question(&wire(approval)),
            }
        } else {
            Message::Show {
                level: MessageType::WARNING,
                text: format!(
                    "Redline: {}\nApprove or deny by code action, by the commands redline.approve and redline.deny, \
                     or `redline approve {}`",
                    question(&wire(approval)),
                    approval.id
                ),
            }
        };
        each.outbox.push(message);
    }

    /// The client whose session asks, if it is there.
    fn asked(&self, approval: &Approval) -> Option<ClientId> {
        let conversation = self.sessions.open.get(&approval.session)?;
        Some(conversation.client)
    }

    /// Approvals that a plain client is shown: those of sessions that it takes part in.
    pub(super) fn approvals_of(&self, client: ClientId) -> impl Iterator<Item = v1::Approval> {
        let own = move |approval: &&Arc<Approval>| {
            let conversation = self.sessions.open.get(&approval.session);
            conversation.is_some_and(|open| open.members.contains(&client))
        };
        let waiting = self.approvals.waiting.values().filter(own);
        waiting.map(|approval| wire(approval))
    }

    /// Code actions on approvals and plans that wait; they stand at every place, since an approval has none of its own.
    pub(super) fn approval_actions(
        &self,
        client: ClientId,
        profile: &ClientProfile,
    ) -> Vec<CodeActionOrCommand> {
        if profile.session {
            return Vec::new();
        }
        let waiting = self.approvals_of(client);
        let approvals = waiting.flat_map(|approval| actions(&approval, profile));
        let plans = self.plans_of(client);
        let plans = plans.flat_map(|plan| crate::lsp::plans::actions(&plan, profile));
        approvals.chain(plans).collect()
    }

    pub(super) fn list_approvals(
        &self,
        params: v1::ListApprovalsParams,
        reply: Reply<v1::ListApprovalsResult>,
    ) {
        let kept = self.workspace.approvals().clone();
        let waited = self.waited();
        self.runtime.spawn_blocking(move || {
            let listed = list(&kept, &waited, params.settled);
            respond(reply, listed.map_err(failure));
        });
    }

    pub(super) fn decide_approval(
        &mut self,
        client: ClientId,
        params: v1::DecideApprovalParams,
        reply: Reply<v1::Approval>,
    ) {
        if let Err(failure) = self.may_answer(client) {
            return respond(reply, Err(failure));
        }
        let id = match self.approval_meant(params.approval_id) {
            Ok(id) => id,
            Err(failure) => return respond(reply, Err(failure)),
        };
        let voice = match params.decision {
            v1::ApprovalDecision::Approve => Voice::Yes,
            v1::ApprovalDecision::Deny => Voice::No,
        };
        let by = self.name_of(client);
        let kept = self.workspace.approvals().clone();
        let waited = self.waited();
        self.worker.run("approval", move || {
            let outcome = kept.decide(&id, voice, &by, params.reason.as_deref());
            let outcome = outcome.map(|approval| told(&approval, &waited));
            Some(Done::Approval(Box::new(Decided {
                now: kept.get(&id).ok(),
                outcome: outcome.map_err(failure),
                reply,
            })))
        });
    }

    pub(super) fn approval_decided(&mut self, decided: Decided) {
        // Also one that was refused may have become void by it.
        if let Some(now) = decided.now {
            self.approval_changed(now);
        }
        respond(decided.reply, decided.outcome);
    }

    /// The approval that was named, or the only one that waits.
    fn approval_meant(&self, named: Option<String>) -> Result<String, Failure> {
        if let Some(id) = named {
            return Ok(id);
        }
        let waiting = self.approvals.ids();
        match waiting.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(Failure::new(
                "NOTHING_PENDING",
                "no approval waits",
                "`redline approvals --settled` lists those of before",
            )),
            several => Err(Failure::new(
                "INVALID_ARGUMENTS",
                format!("{} approvals wait: {}", several.len(), several.join(", ")),
                "name one of them",
            )),
        }
    }

    /// Whoever descends from a job of ours may propose, and decides nothing.
    pub(super) fn may_answer(&self, client: ClientId) -> Result<(), Failure> {
        let job = self
            .clients
            .get(&client)
            .and_then(|each| each.profile.job.as_deref());
        match job {
            None => Ok(()),
            Some(job) => Err(Failure::new(
                "NOT_ALLOWED",
                format!("this process was started by {job}, and what an agent runs may not decide"),
                "decide in an editor or in a terminal of your own",
            )),
        }
    }

    /// Nobody would run what a turn still waits for once it has ended.
    pub(super) fn withdraw_approvals(&self, turn_id: String) {
        let waits = self.approvals.waiting.values();
        if !waits.into_iter().any(|approval| approval.turn == turn_id) {
            return;
        }
        let kept = self.workspace.approvals().clone();
        self.worker.run("withdraw approvals", move || {
            let withdrawn = kept.withdraw(&turn_id).unwrap_or_else(|error| {
                tracing::warn!(%error, "approvals were not withdrawn");
                Vec::new()
            });
            let now = withdrawn.iter().filter_map(|id| kept.get(id).ok());
            Some(Done::Approvals(now.collect()))
        });
    }
}

/// The approvals that are no longer as they are known, and those that are new.
fn changed(kept: &Kept, known: &[Arc<Approval>]) -> Vec<Arc<Approval>> {
    let now = crate::clock::now_ms();
    let waiting = kept.waiting().unwrap_or_default();
    let is_known = |id: &str| known.iter().any(|each| each.id == id);
    let new = waiting.iter().filter(|each| !is_known(&each.id)).cloned();
    let gone = known
        .iter()
        .filter(|each| !waiting.iter().any(|waits| waits.id == each.id))
        .map(|each| kept.get(&each.id).unwrap_or_else(|_| each.clone()))
        .filter(|each| each.state_at(now) != ApprovalState::Waiting);
    new.chain(gone).collect()
}

/// An approval with the turn that waits for it, if one still does.
fn told(approval: &Approval, waited: &Waited) -> v1::Approval {
    v1::Approval {
        turn_id: waited.turn(approval),
        ..wire(approval)
    }
}

fn list(
    kept: &Kept,
    waited: &Waited,
    settled: bool,
) -> Result<v1::ListApprovalsResult, ApprovalError> {
    let now = crate::clock::now_ms();
    let (waiting, others): (Vec<_>, Vec<_>) = kept
        .list()?
        .into_iter()
        .partition(|approval| approval.state_at(now) == ApprovalState::Waiting);
    let waiting = waiting.iter();
    let mut approvals: Vec<v1::Approval> = waiting.map(|each| told(each, waited)).collect();
    if settled {
        let newest = others.iter().rev().take(MOST_SETTLED);
        approvals.extend(newest.map(|each| wire(each)));
    }
    Ok(v1::ListApprovalsResult { approvals })
}

pub(super) fn failure(error: ApprovalError) -> Failure {
    Failure::new(error.code(), error.to_string(), error.hint())
}
