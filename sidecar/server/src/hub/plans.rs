//! Plans: who is shown one, who decides, and what the next step is told of it.
//!
//! Owns: what of the durable plans this hub knows, and showing people what they decide on.
//! Must not know: what a plan lets through (`redline_tools::plan`), or how plans are kept (`redline_workspace`).

use std::collections::BTreeMap;
use std::sync::Arc;

use redline_protocol::v1;
use redline_workspace::{Plan, PlanError, PlanState, Voice};
use tower_lsp::ls_types::MessageType;

use super::event::{ClientId, Reply};
use super::present_agent::plan as wire;
use super::work::Done;
use super::{Hub, respond};
use crate::failure::Failure;
use crate::lsp::outbox::{Message, Subject};
use crate::lsp::plans::question;

/// What this hub knows of the plans: those that wait, and those that were approved.
#[derive(Default)]
pub(crate) struct Plans {
    open: BTreeMap<String, Arc<Plan>>,
}

/// A decision was carried out, or was not.
pub(crate) struct Decided {
    /// The plan as it is now, and what else changed with it.
    now: Vec<Plan>,
    outcome: Result<Plan, Failure>,
    reply: Reply<v1::Plan>,
}

impl Plans {
    /// What there was when the hub began.
    pub(crate) fn new(kept: Vec<Plan>) -> Self {
        let open = kept.into_iter().filter(|plan| !plan.state.is_settled());
        Self {
            open: open.map(|plan| (plan.id.clone(), Arc::new(plan))).collect(),
        }
    }

    pub(super) fn waits(&self, id: &str) -> bool {
        let found = self.open.get(id);
        found.is_some_and(|plan| plan.state == PlanState::Proposed)
    }

    fn waiting(&self) -> impl Iterator<Item = &Arc<Plan>> {
        let plans = self.open.values();
        plans.filter(|plan| plan.state == PlanState::Proposed)
    }

    /// The plan that a session works by: the one that waits, else the approved one.
    pub(super) fn of_session(&self, session: &str) -> Option<Arc<Plan>> {
        let own = self.open.values().filter(|plan| plan.session == session);
        own.max_by_key(|plan| (plan.state == PlanState::Proposed, plan.proposed_at_ms))
            .cloned()
    }
}

impl Hub {
    /// Takes in a plan as it is now, asks for it or lets its turn go on, and shows it.
    pub(super) fn plan_changed(&mut self, plan: Plan) {
        let id = plan.id.clone();
        let known = self.plans.open.get(&id);
        if known.is_some_and(|known| known.revision >= plan.revision) {
            return;
        }
        let is_new = known.is_none() && plan.state == PlanState::Proposed;
        if plan.state != PlanState::Proposed {
            self.wake(&id);
        }
        let shown = self.wire_plan(&plan);
        if plan.state.is_settled() {
            self.plans.open.remove(&id);
        } else {
            let plan = Arc::new(plan);
            self.plans.open.insert(id, plan.clone());
            self.supersede(&plan);
            if is_new {
                self.ask_for_plan(&shown);
            }
        }
        for client in self.clients.values().filter(|each| each.profile.session) {
            client
                .outbox
                .push(Message::Plans(v1::PlanChangedNotification {
                    plans: vec![shown.clone()],
                }));
        }
        self.mark_approvals_stale();
    }

    /// A session has one plan that waits and one that was approved: earlier ones of that state are over.
    fn supersede(&mut self, by: &Plan) {
        let over = |plan: &&Arc<Plan>| {
            plan.session == by.session && plan.state == by.state && plan.id != by.id
        };
        let over = self.plans.open.values().filter(over);
        let over: Vec<String> = over.map(|plan| plan.id.clone()).collect();
        for id in over {
            self.plans.open.remove(&id);
            self.wake(&id);
        }
    }

    fn wire_plan(&self, plan: &Plan) -> v1::Plan {
        wire(plan, self.plan_uri(&plan.id))
    }

    fn plan_uri(&self, id: &str) -> String {
        let document = self.workspace.plans().document(id).unwrap_or_default();
        redline_workspace::path_to_uri(&self.root.join(document).to_string_lossy())
    }

    /// Opens the plan for who prompted, and asks in the way that their editor has.
    fn ask_for_plan(&self, plan: &v1::Plan) {
        let conversation = self.sessions.open.get(&plan.session_id);
        let client = conversation.map(|conversation| conversation.client);
        let Some(each) = client.and_then(|client| self.clients.get(&client)) else {
            return;
        };
        if each.profile.session {
            return;
        }
        if each.profile.show_document
            && let Ok(document) = self.workspace.plans().document(&plan.id)
        {
            let path = self.root.join(document);
            each.outbox.push(Message::ShowDocument { path, line: None });
        }
        let message = if each.profile.message_actions {
            Message::Ask {
                hub: self.handle.clone(),
                about: Subject::Plan(plan.id.clone(), plan.revision),
                text: question(plan),
            }
        } else {
            Message::Show {
                level: MessageType::WARNING,
                text: format!(
                    "Redline: {}\nAccept or reject it by code action, by the commands redline.acceptPlan and \
                     redline.rejectPlan, or `redline plan accept {}`",
                    question(plan),
                    plan.id
                ),
            }
        };
        each.outbox.push(message);
    }

    /// Plans that a plain client is shown: those of sessions that it takes part in.
    pub(super) fn plans_of(&self, client: ClientId) -> impl Iterator<Item = v1::Plan> {
        let own = move |plan: &&Arc<Plan>| {
            let conversation = self.sessions.open.get(&plan.session);
            conversation.is_some_and(|open| open.members.contains(&client))
        };
        let waiting = self.plans.waiting().filter(own);
        waiting.map(|plan| self.wire_plan(plan))
    }

    /// All plans that wait.
    pub(super) fn waiting_plans(&self) -> Vec<v1::Plan> {
        let waiting = self.plans.waiting();
        waiting.map(|plan| self.wire_plan(plan)).collect()
    }

    pub(super) fn list_plans(
        &self,
        params: v1::ListPlansParams,
        reply: Reply<v1::ListPlansResult>,
    ) {
        let kept = self.workspace.plans().clone();
        let root = self.root.clone();
        self.runtime.spawn_blocking(move || {
            let listed = kept.list().map(|(plans, _)| {
                let wanted = plans
                    .iter()
                    .filter(|plan| params.settled || !plan.state.is_settled());
                let plans = wanted.map(|plan| {
                    let document = kept.document(&plan.id).unwrap_or_default();
                    let uri =
                        redline_workspace::path_to_uri(&root.join(document).to_string_lossy());
                    wire(plan, uri)
                });
                v1::ListPlansResult {
                    plans: plans.collect(),
                }
            });
            respond(reply, listed.map_err(failure));
        });
    }

    pub(super) fn decide_plan(
        &mut self,
        client: ClientId,
        params: v1::DecidePlanParams,
        reply: Reply<v1::Plan>,
    ) {
        if let Err(failure) = self.may_answer(client) {
            return respond(reply, Err(failure));
        }
        let id = match self.plan_meant(params.plan_id) {
            Ok(id) => id,
            Err(failure) => return respond(reply, Err(failure)),
        };
        let voice = match params.decision {
            v1::PlanDecision::Accept => Voice::Yes,
            v1::PlanDecision::Reject => Voice::No,
        };
        let by = self.name_of(client);
        let kept = self.workspace.plans().clone();
        self.worker.run("plan", move || {
            let outcome = kept.decide(&id, params.revision, voice, &by, params.reason.as_deref());
            Some(Done::Plan(Box::new(Decided {
                now: kept.get(&id).into_iter().collect(),
                outcome: outcome.map_err(failure),
                reply,
            })))
        });
    }

    pub(super) fn plan_decided(&mut self, decided: Decided) {
        for plan in decided.now {
            self.plan_changed(plan);
        }
        let answer = decided.outcome.map(|plan| self.wire_plan(&plan));
        respond(decided.reply, answer);
    }

    /// Looks for what other processes decided.
    pub(super) fn look_at_plans(&self) {
        let kept = self.workspace.plans().clone();
        let hub = self.handle.clone();
        let waiting: Vec<Arc<Plan>> = self.plans.waiting().cloned().collect();
        if waiting.is_empty() {
            return;
        }
        self.worker.run("plans", move || {
            for known in waiting {
                if let Ok(plan) = kept.get(&known.id)
                    && plan.revision != known.revision
                {
                    hub.send(super::event::Event::Turn(super::turns::TurnNote::Plan(
                        Box::new(plan),
                    )));
                }
            }
            None
        });
    }

    /// The plan that was named, or the only one that waits.
    fn plan_meant(&self, named: Option<String>) -> Result<String, Failure> {
        if let Some(id) = named {
            return Ok(id);
        }
        let waiting: Vec<&str> = self.plans.waiting().map(|plan| plan.id.as_str()).collect();
        match waiting.as_slice() {
            [only] => Ok((*only).to_owned()),
            [] => Err(Failure::new(
                "NOTHING_PENDING",
                "no plan waits",
                "`redline plan list --settled` lists those of before",
            )),
            several => Err(Failure::new(
                "INVALID_ARGUMENTS",
                format!("{} plans wait: {}", several.len(), several.join(", ")),
                "name one of them",
            )),
        }
    }
}

pub(super) fn failure(error: PlanError) -> Failure {
    Failure::new(error.code(), error.to_string(), error.hint())
}
