//! `workspace_plan`: proposes a plan of work, completes it, lists plans. And what a plan covers.
//!
//! Proposing is no mutation: it changes nothing until the user approves it. The envelope of a proposal says
//! `pending_approval`, as a staged call does, and the turn waits for the decision in the same way; its `recovery.ids` name
//! the `plan` and no `approval`.

mod arguments;
mod coverage;

use std::sync::Arc;

use redline_workspace::{Ids, NewPlan, Plan, PlanDamage, PlanError, PlanState, Plans};
use serde_json::{Map, Value, json};

use crate::tool::{CallContext, Tool, parse};
use crate::{Envelope, Schema, SchemaError, Status, ToolError};
use arguments::{Action, Arguments};

pub use coverage::Coverage;

const NAME: &str = "workspace_plan";

/// Plans that a list shows, the newest.
const MOST_LISTED: usize = 20;

/// Is told the id of a plan after it changed.
type Changed = Arc<dyn Fn(&str) + Send + Sync>;

/// Proposes, completes and lists plans.
pub struct WorkspacePlan {
    schema: Schema,
    plans: Plans,
    ids: Arc<dyn Ids>,
    changed: Changed,
}

impl WorkspacePlan {
    /// Makes the tool over a workspace's plans; `changed` is called with the id of each plan that the tool changes.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when its schema does not compile.
    pub fn new(plans: Plans, ids: Arc<dyn Ids>, changed: Changed) -> Result<Self, SchemaError> {
        Ok(Self {
            schema: Schema::compile(NAME, arguments::schema())?,
            plans,
            ids,
            changed,
        })
    }

    fn propose(
        &self,
        context: &CallContext<'_>,
        proposal: arguments::Proposal,
    ) -> Result<Envelope, ToolError> {
        // What no gate could read is not put before a person.
        Coverage::compile(&proposal.scope)?;
        let plan = self.plans.propose(NewPlan {
            id: self.ids.next("plan_"),
            session: context.session.to_owned(),
            turn: context.turn.to_owned(),
            title: proposal.title,
            steps: proposal.steps,
            body: proposal.body,
            scope: proposal.scope,
        })?;
        (self.changed)(&plan.id);
        let document = self.plans.document(&plan.id)?;
        let mut data = told(&plan);
        data["message"] =
            json!("The user sees the plan and decides; nothing that it covers runs before.");
        let mut envelope = Envelope::ok(NAME, "proposed", data)
            .with_id("plan", plan.id.clone())
            .with_fact("plan", plan.id.clone())
            .with_fact("document", document)
            .resuming(json!({"tool": NAME, "arguments": {"action": "list", "plan": plan.id}}))
            .omitting("/data");
        envelope.status = Status::PendingApproval;
        Ok(envelope)
    }

    fn complete(&self, plan: &str, steps: &[usize]) -> Result<Envelope, ToolError> {
        let plan = self.plans.complete(plan, steps)?;
        (self.changed)(&plan.id);
        Ok(Envelope::ok(NAME, plan.state.as_str(), told(&plan))
            .with_id("plan", plan.id.clone())
            .with_fact("plan", plan.id)
            .omitting("/data"))
    }

    fn list(&self, context: &CallContext<'_>, wanted: Option<&str>) -> Result<Envelope, ToolError> {
        if let Some(id) = wanted {
            let plan = self.plans.get(id)?;
            return Ok(
                Envelope::ok(NAME, plan.state.as_str(), told(&plan)).with_id("plan", plan.id)
            );
        }
        let (plans, damaged) = self.plans.list()?;
        let own = plans
            .iter()
            .rev()
            .filter(|plan| plan.session == context.session);
        let shown: Vec<Value> = own.clone().take(MOST_LISTED).map(told).collect();
        let mut data = json!({"count": own.count(), "plans": shown});
        if !damaged.is_empty() {
            let aside = |one: &PlanDamage| json!({"plan": one.id, "set_aside": one.aside, "reason": one.reason});
            data["damaged"] = damaged.iter().map(aside).collect();
        }
        Ok(Envelope::ok(NAME, "listed", data).omitting("/data/plans"))
    }
}

impl Tool for WorkspacePlan {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Proposes a plan to the user (`propose`), says that steps of an approved one are done (`complete`), and shows plans \
         (`list`). In mode plan nothing may be changed before a plan is approved, and afterwards only what it lists: the kinds of \
         change, globs of the files, the first words of the commands, the hosts. List what the work needs, and no more; whatever \
         is not listed is asked about one by one."
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn mutates(&self) -> bool {
        true
    }

    fn call(
        &self,
        context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, ToolError> {
        match parse::<Arguments>(arguments)?.action()? {
            Action::Propose(proposal) => self.propose(context, *proposal),
            Action::Complete { plan, steps } => self.complete(&plan, &steps),
            Action::List { plan } => self.list(context, plan.as_deref()),
        }
    }
}

fn told(plan: &Plan) -> Value {
    let steps: Vec<Value> = plan
        .steps
        .iter()
        .map(|step| json!({"text": step.text, "done": step.done}))
        .collect();
    let mut told = json!({
        "plan": plan.id,
        "state": plan.state.as_str(),
        "title": plan.title,
        "steps": steps,
        "covers": {
            "kinds": plan.scope.kinds,
            "paths": plan.scope.paths,
            "commands": plan.scope.commands,
            "hosts": plan.scope.hosts,
        },
    });
    if let Some(decided) = &plan.decided
        && plan.state != PlanState::Completed
    {
        told["decided_by"] = json!(decided.by);
        if let Some(reason) = &decided.reason {
            told["reason"] = json!(reason);
        }
    }
    told
}

impl From<PlanError> for ToolError {
    fn from(error: PlanError) -> Self {
        Self::from_code(error.code(), error.to_string()).with_hint(error.hint())
    }
}
