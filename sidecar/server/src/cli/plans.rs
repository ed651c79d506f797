//! `redline plan`: what agents propose to do, and the answer.
//!
//! Owns: how plans read on a terminal. Must not know: what a plan lets through.

use redline_protocol::v1::{
    DecidePlanParams, ListPlansParams, ListPlansResult, Plan, PlanDecision, PlanState, method,
};
use serde_json::json;

use super::{
    Context,
    args::{PlanAction, PlanAnswer},
    client::Client,
    shapes::snake,
    terminal::{Style, clean_lines, fit},
};
use crate::failure::{Failure, exit};

/// Lists plans, or does one thing to one.
pub(crate) fn run(context: &mut Context<'_>, action: Option<PlanAction>) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let done = match action.unwrap_or(PlanAction::List { settled: false }) {
        PlanAction::List { settled } => list(context, &mut client, settled),
        PlanAction::Show { id } => show(context, &mut client, &id),
        PlanAction::Accept(answer) => decide(context, &mut client, answer, PlanDecision::Accept),
        PlanAction::Reject(answer) => decide(context, &mut client, answer, PlanDecision::Reject),
    };
    client.close();
    done
}

/// Asks for the plans.
pub(crate) fn ask(client: &mut Client, settled: bool) -> Result<Vec<Plan>, Failure> {
    let params = ListPlansParams { settled };
    let listed: ListPlansResult = client.request(method::PLAN_LIST, &params)?;
    Ok(listed.plans)
}

fn list(context: &mut Context<'_>, client: &mut Client, settled: bool) -> Result<i32, Failure> {
    let plans = ask(client, settled)?;
    if context.terminal.json {
        let object = json!({ "plans": snake(&plans)? });
        context.terminal.object(&object);
        return Ok(exit::DONE);
    }
    if plans.is_empty() {
        context.terminal.say("no plan waits\n");
    }
    for plan in &plans {
        let title = fit(&plan.title, context.terminal.width);
        let title = context.terminal.paint.text(Style::Title, &title);
        let id = context.terminal.paint.text(Style::Dim, &plan.id);
        let state = state_word(plan.state);
        context.terminal.say(&format!("{title}\n{state}\n{id}\n"));
    }
    Ok(exit::DONE)
}

fn show(context: &mut Context<'_>, client: &mut Client, id: &str) -> Result<i32, Failure> {
    let plans = ask(client, true)?;
    let plan = plans.iter().find(|plan| plan.id == id).ok_or_else(|| {
        Failure::new(
            "NOT_FOUND",
            format!("there is no plan {id}"),
            "`redline plan list --settled` lists them",
        )
    })?;
    if context.terminal.json {
        let object = snake(plan)?;
        context.terminal.object(&object);
    } else {
        context.terminal.say(&clean_lines(&plan.text));
    }
    Ok(exit::DONE)
}

fn decide(
    context: &mut Context<'_>,
    client: &mut Client,
    answer: PlanAnswer,
    decision: PlanDecision,
) -> Result<i32, Failure> {
    let params = DecidePlanParams {
        plan_id: answer.id,
        revision: None,
        decision,
        reason: answer.reason,
    };
    let plan: Plan = client.request(method::PLAN_DECIDE, &params)?;
    if context.terminal.json {
        let object = snake(&plan)?;
        context.terminal.object(&object);
    } else {
        let title = fit(&plan.title, context.terminal.width);
        let state = state_word(plan.state);
        context
            .terminal
            .say(&format!("{state}: {title}\n{}\n", plan.id));
    }
    Ok(exit::DONE)
}

fn state_word(state: PlanState) -> &'static str {
    match state {
        PlanState::Proposed => "waits",
        PlanState::Approved => "accepted",
        PlanState::Rejected => "rejected",
        PlanState::Completed => "accepted, and done",
        PlanState::Superseded => "superseded by another plan",
    }
}
