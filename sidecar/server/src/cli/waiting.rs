//! What a turn of `redline ask` waits for: answered on the terminal, waited for, or left to others.
//!
//! Owns: asking a person about an approval while a turn runs, and the words when nobody can be asked.
//! Must not know: how a turn goes on; the hub sees to that once a decision is there.

use std::collections::HashSet;

use redline_protocol::v1::{
    Approval, ApprovalDecision, DecideApprovalParams, DecidePlanParams, Plan, PlanDecision,
    PlanState, method,
};

use super::{
    Context, approvals,
    client::Client,
    plans,
    terminal::{clean, clean_lines},
};
use crate::failure::Failure;

/// What is done about a decision that a turn needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// A person can be asked here.
    pub(super) asks: bool,
    /// It is waited for until somebody decides elsewhere.
    pub(super) waits: bool,
}

/// What a turn waits for, and what of it was said.
#[derive(Debug)]
pub(super) struct Waiting {
    session_id: String,
    patience: Patience,
    said: HashSet<String>,
}

/// What a turn was left waiting for.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) approvals: Vec<Approval>,
    pub(super) plans: Vec<Plan>,
}

impl Waiting {
    pub(super) fn new(session_id: &str, patience: Patience) -> Self {
        Self {
            session_id: session_id.to_owned(),
            patience,
            said: HashSet::new(),
        }
    }

    /// Sees to what waits now; gives what is left when the command is not to stay for it.
    pub(super) fn attend(
        &mut self,
        context: &mut Context<'_>,
        client: &mut Client,
    ) -> Result<Option<Left>, Failure> {
        let mut left = Vec::new();
        for approval in approvals::ask(client, false)? {
            if approval.session_id != self.session_id {
                continue;
            }
            if self.said.insert(approval.id.clone()) {
                let (paint, width) = (context.terminal.paint, context.terminal.width);
                let text = approvals::text(&approval, paint, width);
                context.terminal.say(&format!("\n{text}"));
            }
            if self.patience.asks && decide(context, client, &approval)? {
                continue;
            }
            left.push(approval);
        }
        let plans = self.attend_plans(context, client)?;
        let waits = !left.is_empty() || !plans.is_empty();
        Ok((waits && !self.patience.waits).then_some(Left {
            approvals: left,
            plans,
        }))
    }

    fn attend_plans(
        &mut self,
        context: &mut Context<'_>,
        client: &mut Client,
    ) -> Result<Vec<Plan>, Failure> {
        let mut left = Vec::new();
        for plan in plans::ask(client, false)? {
            if plan.session_id != self.session_id || plan.state != PlanState::Proposed {
                continue;
            }
            if self.said.insert(plan.id.clone()) {
                let text = clean_lines(&plan.text);
                context.terminal.say(&format!("\n{text}\n"));
            }
            if self.patience.asks && decide_plan(context, client, &plan)? {
                continue;
            }
            left.push(plan);
        }
        Ok(left)
    }
}

/// Asks the person, and tells the hub; false when the input is at its end.
fn decide(
    context: &mut Context<'_>,
    client: &mut Client,
    approval: &Approval,
) -> Result<bool, Failure> {
    let answer = context
        .terminal
        .ask("Let it run? [y]es, [n]o, or why not: ");
    let Some(answer) = answer else {
        return Ok(false);
    };
    let (decision, reason) = read(&answer);
    let params = DecideApprovalParams {
        approval_id: Some(approval.id.clone()),
        decision,
        reason,
    };
    tell(
        context,
        client.request::<Approval>(method::APPROVAL_DECIDE, &params),
    )
}

/// The same for a plan, in the revision that was shown.
fn decide_plan(
    context: &mut Context<'_>,
    client: &mut Client,
    plan: &Plan,
) -> Result<bool, Failure> {
    let answer = context
        .terminal
        .ask("Follow this plan? [y]es, [n]o, or why not: ");
    let Some(answer) = answer else {
        return Ok(false);
    };
    let (decision, reason) = read(&answer);
    let params = DecidePlanParams {
        plan_id: Some(plan.id.clone()),
        revision: Some(plan.revision),
        decision: match decision {
            ApprovalDecision::Approve => PlanDecision::Accept,
            ApprovalDecision::Deny => PlanDecision::Reject,
        },
        reason,
    };
    tell(
        context,
        client.request::<Plan>(method::PLAN_DECIDE, &params),
    )
}

fn tell<T>(context: &mut Context<'_>, answer: Result<T, Failure>) -> Result<bool, Failure> {
    match answer {
        Ok(_) => {}
        // Somebody else was faster, or it ran out: the turn goes on either way.
        Err(failure) if failure.code != "CLIENT_GONE" => {
            context.terminal.aside(&clean(&failure.to_string()));
        }
        Err(failure) => return Err(failure),
    }
    Ok(true)
}

/// Only a clear yes is one.
fn read(answer: &str) -> (ApprovalDecision, Option<String>) {
    match answer.trim() {
        "y" | "Y" | "yes" => (ApprovalDecision::Approve, None),
        "" | "n" | "N" | "no" => (ApprovalDecision::Deny, None),
        why => (ApprovalDecision::Deny, Some(why.to_owned())),
    }
}

impl Left {
    /// What ended the command; `shared` when the turn lives on in the sidecar.
    pub(super) fn failure(&self, shared: bool) -> Failure {
        let approvals = self.approvals.iter().map(|approval| {
            let id = &approval.id;
            let how = format!("`redline approve {id}` or `redline deny {id}`");
            (&approval.summary, how)
        });
        let plans = self.plans.iter().map(|plan| {
            let id = &plan.id;
            let how = format!("`redline plan accept {id}` or `redline plan reject {id}`");
            (&plan.title, how)
        });
        let mut all = approvals.chain(plans);
        let (summary, how) = all
            .next()
            .map_or((String::new(), String::new()), |(summary, how)| {
                (summary.clone(), how)
            });
        let more = match all.count() {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        let hint = if shared {
            format!("the turn goes on after {how}")
        } else {
            "the turn ended with this process: ask without --in-process, or with --wait".to_owned()
        };
        Failure::new("APPROVAL_REQUIRED", format!("{summary}{more}"), hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_lets_it_run() {
        for (answer, decision, reason) in [
            ("y", ApprovalDecision::Approve, None),
            ("yes", ApprovalDecision::Approve, None),
            ("", ApprovalDecision::Deny, None),
            ("no", ApprovalDecision::Deny, None),
            (
                "yes but not now",
                ApprovalDecision::Deny,
                Some("yes but not now"),
            ),
        ] {
            assert_eq!(
                read(answer),
                (decision, reason.map(str::to_owned)),
                "{answer:?}"
            );
        }
    }
}
