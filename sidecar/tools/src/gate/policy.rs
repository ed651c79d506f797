//! The user's policy, and an operation held against all of it: rules, ceiling, plan, earlier answers.

use std::fmt::Write as _;

use super::{
    Ceiling, Decision, Doubt, Facts, Judgement, Mode, Place, PlanStanding, Row, RuleError, Rules,
    RulesSpec, Standing, Target, Verdict, decide,
};
use crate::{Class, Envelope, ErrorCode, Operation, OperationHash, Status, ToolError};
use serde_json::{Value, json};

/// What the user lets the agent do. The mode is the session's own and not in here.
#[derive(Debug, Default)]
pub struct Policy {
    /// The highest class that runs unasked.
    pub ceiling: Ceiling,
    /// Allow and deny rules.
    pub rules: Rules,
}

/// What is known of an operation beside the policy.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// The session's mode.
    pub mode: Mode,
    /// What its plan means for the operation.
    pub plan: PlanStanding,
    /// What the user said of it before.
    pub standing: Standing,
    /// Where it would write.
    pub target: Target,
    /// Where it would run.
    pub place: Place<'a>,
}

/// The gate's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The decision.
    pub decision: Decision,
    /// The operation's class, as the rule that allows it declares it, if one does.
    pub class: Class,
    /// The deny rule that decided.
    pub rule: Option<String>,
    /// Why a rule that allows the command does not hold for it.
    pub doubt: Option<Doubt>,
}

impl Policy {
    /// Compiles a policy.
    ///
    /// # Errors
    ///
    /// [`RuleError`] for a rule that makes no sense.
    pub fn new(ceiling: Ceiling, rules: &RulesSpec) -> Result<Self, RuleError> {
        Ok(Self {
            ceiling,
            rules: Rules::compile(rules)?,
        })
    }

    /// Decides on an operation. Pure.
    pub fn decide(&self, operation: &Operation, now: &Circumstances<'_>) -> Answer {
        let Judgement {
            ruling,
            class,
            rule,
            doubt,
        } = self.rules.judge(operation, &now.place);
        // A rule knows better than whoever made the operation, but only that less is at stake.
        let class = class.map_or(operation.class, |declared| declared.min(operation.class));
        let decision = decide(&Facts {
            mode: now.mode,
            kind: operation.kind,
            reads_only: operation.reads_only,
            class,
            ceiling: self.ceiling,
            plan: now.plan,
            standing: now.standing,
            ruling,
            target: now.target,
        });
        Answer {
            decision,
            class,
            rule,
            doubt,
        }
    }
}

impl Answer {
    /// Why the user is asked, or why it does not run: one sentence for people and for the model.
    pub fn reason(&self, mode: Mode, ceiling: Ceiling) -> String {
        let class = self.class;
        let mut text = match self.decision.row {
            Row::Target => "it would write where nothing may be written".to_owned(),
            Row::DenyRule => match &self.rule {
                Some(rule) => format!("the rule that denies {rule} forbids it"),
                None => "a deny rule forbids it".to_owned(),
            },
            Row::Denied => "the user said no to it in this turn".to_owned(),
            Row::Approval => "the user approved it".to_owned(),
            Row::NoPlan => {
                "in mode plan nothing is changed until a plan is approved; `workspace_plan` proposes one".to_owned()
            }
            Row::Ceiling => format!(
                "its class is {class} ({}), above the ceiling {ceiling}",
                meaning(class)
            ),
            Row::Plan => "the approved plan covers it".to_owned(),
            Row::Auto => "mode auto lets it run".to_owned(),
            Row::AllowRule => "an allow rule lets it run".to_owned(),
            Row::Otherwise if mode == Mode::Plan => "the approved plan does not cover it".to_owned(),
            Row::Otherwise => "in mode manual every change is asked about, unless a rule allows it".to_owned(),
        };
        if self.decision.verdict == Verdict::Stage
            && let Some(doubt) = &self.doubt
        {
            let _ = write!(text, "; a rule allows the command, but {doubt}");
        }
        text
    }

    /// The refusal as a tool's error; `None` when it is no refusal.
    pub fn refusal(
        &self,
        operation: &Operation,
        mode: Mode,
        ceiling: Ceiling,
    ) -> Option<ToolError> {
        let Verdict::Refuse(code) = self.decision.verdict else {
            return None;
        };
        let message = format!("{}: {}", operation.summary, self.reason(mode, ceiling));
        let error = ToolError::new(code, message);
        Some(match self.decision.row {
            Row::NoPlan => error.with_hint(
                "Propose a plan with `workspace_plan` that lists the kinds, paths and commands that the work needs, \
                 and wait for the user's approval.",
            ),
            Row::DenyRule => error.with_hint("Do it another way, or ask the user to change the rule."),
            _ => error,
        })
    }
}

fn meaning(class: Class) -> &'static str {
    match class {
        Class::Reversible => "undo brings it back",
        Class::Workspace => "it stays inside the workspace, and may lose untracked work",
        Class::Outside => "it may reach the network or other folders",
    }
}

/// The envelope of a call that waits for the user, with the exact call that goes on once they have decided.
pub fn pending_envelope(
    operation: &Operation,
    approval: &str,
    hash: &OperationHash,
    arguments: &serde_json::Map<String, Value>,
    reason: &str,
    expires_at: u64,
) -> Envelope {
    let mut envelope = Envelope::ok(
        &operation.tool,
        "pending",
        json!({
            "message": format!(
                "It waits for the user: {reason}. Once they decide, it runs by itself and its result stands here."
            ),
            "summary": operation.summary,
        }),
    )
    .with_id("approval", approval)
    .with_id("operation", hash.as_str())
    .with_fact("approval", approval)
    .with_fact("expires_at", expires_at)
    .resuming(json!({"tool": operation.tool, "arguments": arguments, "approval": approval}));
    envelope.status = Status::PendingApproval;
    envelope
}

/// The error of a call that was approved, and is no longer what was approved.
pub fn stale_approval(summary: &str, changed: &[String]) -> ToolError {
    let what = match changed {
        [] => "the program, its folder or its environment changed".to_owned(),
        [one] => format!("{one} changed"),
        several => format!("{} changed", several.join(", ")),
    };
    ToolError::new(
        ErrorCode::ApprovalStale,
        format!(
            "{summary}: {what} after it was shown for approval, so the approval is void and nothing ran"
        ),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::MutationKind;

    fn operation(class: Class) -> Operation {
        Operation {
            tool: "workspace_commit".into(),
            kind: MutationKind::Transaction,
            class,
            reads_only: false,
            arguments: json!({}),
            paths: vec!["src/a.rs".into()],
            hosts: vec![],
            command: None,
            base_revisions: std::collections::BTreeMap::new(),
            workspace: "ws_1".into(),
            session: "se_1".into(),
            cwd: String::new(),
            env_digest: String::new(),
            summary: "commit 1 file".into(),
        }
    }

    fn now(mode: Mode) -> Circumstances<'static> {
        Circumstances {
            mode,
            plan: PlanStanding::NonApproved,
            standing: Standing::Unasked,
            target: Target::Free,
            place: Place::default(),
        }
    }

    fn policy(rules: Value) -> Policy {
        Policy::new(Ceiling::Workspace, &serde_json::from_value(rules).unwrap()).unwrap()
    }

    #[test]
    fn a_declared_class_counts_only_downwards() {
        let policy = policy(json!({"allow": [{"kind": "transaction", "class": "workspace"}]}));
        for (class, verdict, counted) in [
            (Class::Outside, Verdict::Allow, Class::Workspace),
            (Class::Reversible, Verdict::Allow, Class::Reversible),
        ] {
            let answer = policy.decide(&operation(class), &now(Mode::Manual));
            assert_eq!((answer.decision.verdict, answer.class), (verdict, counted));
        }
        let undeclared = self::policy(json!({"allow": [{"kind": "transaction"}]}));
        let answer = undeclared.decide(&operation(Class::Outside), &now(Mode::Manual));
        assert_eq!(answer.decision.row, Row::Ceiling);
        assert_eq!(
            answer.reason(Mode::Manual, Ceiling::Workspace),
            "its class is outside (it may reach the network or other folders), above the ceiling workspace"
        );
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let denied = policy(json!({"deny": [{"paths": ["src"]}]}));
        let answer = denied.decide(&operation(Class::Reversible), &now(Mode::Auto));
        let error = answer
            .refusal(
                &operation(Class::Reversible),
                Mode::Auto,
                Ceiling::Workspace,
            )
            .unwrap();
        assert_eq!(error.code, ErrorCode::ApprovalDenied);
        assert_eq!(
            error.message,
            "commit 1 file: the rule that denies paths src forbids it"
        );

        let answer = Policy::default().decide(&operation(Class::Reversible), &now(Mode::Plan));
        let error = answer
            .refusal(
                &operation(Class::Reversible),
                Mode::Plan,
                Ceiling::Workspace,
            )
            .unwrap();
        assert_eq!(error.code, ErrorCode::ApprovalRequired);
        assert!(error.hint.contains("workspace_plan"), "{}", error.hint);
    }

    #[test]
    fn the_pending_envelope_holds_the_call_that_resumes_it() {
        let operation = operation(Class::Reversible);
        let arguments = json!({"transaction": "tx_1"}).as_object().unwrap().clone();
        let hash = operation.hash();
        let envelope = pending_envelope(&operation, "approval_1", &hash, &arguments, "why", 9);
        assert_eq!(envelope.status, Status::PendingApproval);
        assert_eq!(
            envelope.recovery.resume.unwrap(),
            json!({"tool": "workspace_commit", "arguments": {"transaction": "tx_1"}, "approval": "approval_1"})
        );
        assert_eq!(envelope.recovery.ids["operation"], hash.as_str());
    }
}
