//! The gate of one session: the decision, with the durable approvals behind it.

use std::sync::Arc;

use redline_workspace::{
    ApprovalError, ApprovalState, Approvals, Ids, NewApproval, OperationStanding, PathError, Plans,
    Shown, Workspace, WorkspaceRoot, git_programs, named_files,
};
use serde_json::{Value, json};

use super::command::words_of;
use super::{
    Admission, Answer, Circumstances, Claim, GatedCall, Gatekeeper, Mode, Place, PlanStanding,
    Policy, Row, Standing, Start, Target, Verdict, pending_envelope, stale_approval,
};
use crate::plan::Coverage;
use crate::{CommandLine, ErrorCode, MutationKind, Operation, OperationHash, ToolError};

/// How long a question waits for its answer, and an answer for its use.
const LIFETIME_MS: u64 = 24 * 60 * 60 * 1000;

/// What the gate of a session asks its surroundings for, each time anew: all of it may change between two calls.
pub trait GateHost: Send + Sync {
    /// The session's mode.
    fn mode(&self) -> Mode;

    /// The policy that holds now.
    fn policy(&self) -> Arc<Policy>;

    /// Is called after an approval was asked for, claimed, spent or made void, with its id.
    fn changed(&self, approval: &str);
}

/// Stands at the gate for one session.
pub struct SessionGate {
    root: WorkspaceRoot,
    approvals: Approvals,
    plans: Plans,
    ids: Arc<dyn Ids>,
    host: Arc<dyn GateHost>,
}

impl SessionGate {
    /// Makes a gate over a workspace's approvals and plans.
    pub fn new(workspace: &Workspace, ids: Arc<dyn Ids>, host: Arc<dyn GateHost>) -> Self {
        Self {
            root: workspace.root().clone(),
            approvals: workspace.approvals().clone(),
            plans: workspace.plans().clone(),
            ids,
            host,
        }
    }

    /// What the policy says of an operation for which the user's earlier answer is `standing`.
    pub fn judge(&self, operation: &Operation, standing: Standing) -> Answer {
        let root = self.root.path().to_string_lossy();
        let runs_git = operation.command.as_ref().is_some_and(|command| {
            words_of(&command.program, &command.arguments)
                .iter()
                .any(|word| word == "git" || word.ends_with("/git"))
        });
        let git_programs = match runs_git {
            true => git_programs(&self.root, &operation.cwd),
            false => Vec::new(),
        };
        let place = Place {
            root: &root,
            git_programs: &git_programs,
        };
        let mode = self.host.mode();
        self.host.policy().decide(
            operation,
            &Circumstances {
                mode,
                plan: self.plan(mode, operation, &place),
                standing,
                target: target(&self.root, operation),
                place,
            },
        )
    }

    /// What the session's plan means for an operation. A plan that cannot be read lets nothing through.
    fn plan(&self, mode: Mode, operation: &Operation, place: &Place<'_>) -> PlanStanding {
        if mode != Mode::Plan {
            return PlanStanding::NonApproved;
        }
        let Ok(Some(plan)) = self.plans.approved(&operation.session) else {
            return PlanStanding::NonApproved;
        };
        match Coverage::compile(&plan.scope) {
            Ok(coverage) if coverage.covers(operation, place) => PlanStanding::Covered,
            _ => PlanStanding::Beside,
        }
    }

    fn refusal(&self, answer: &Answer, operation: &Operation) -> ToolError {
        let (mode, ceiling) = (self.host.mode(), self.host.policy().ceiling);
        answer.refusal(operation, mode, ceiling).unwrap_or_else(|| {
            // Only refusals come here.
            ToolError::new(ErrorCode::ApprovalDenied, operation.summary.clone())
        })
    }

    /// Carries out a decision of the user's: the approval is used, unless nothing may lift what forbids the operation.
    fn resume(&self, approval: &str, operation: &Operation, hash: OperationHash) -> Admission {
        let answer = self.judge(operation, Standing::Approved);
        if answer.decision.row != Row::Approval {
            return Admission::Refused(self.refusal(&answer, operation));
        }
        match self.claim(approval, operation, hash) {
            Ok(claim) => Admission::Run(Some(claim)),
            Err(error) => Admission::Refused(error),
        }
    }

    fn claim(
        &self,
        approval: &str,
        operation: &Operation,
        hash: OperationHash,
    ) -> Result<Claim, ToolError> {
        let claimed = self.approvals.claim(approval, hash.as_str());
        if !matches!(claimed, Err(ApprovalError::Store(_))) {
            self.host.changed(approval);
        }
        match claimed {
            Ok(_) => Ok(Claim {
                approval: approval.to_owned(),
                operation: hash,
            }),
            Err(ApprovalError::Stale { mut changed, .. }) => {
                if changed.is_empty() {
                    changed = self.differences(approval, operation);
                }
                Err(stale_approval(&operation.summary, &changed))
            }
            Err(ApprovalError::NotUsable {
                state: ApprovalState::Denied,
                ..
            }) => Err(self.denied(approval, operation)),
            Err(error) => Err(error.into()),
        }
    }

    /// What the model is told of a no: which operation, and why where the user said so.
    fn denied(&self, approval: &str, operation: &Operation) -> ToolError {
        let summary = &operation.summary;
        let approval = self.approvals.get(approval).ok();
        let reason = approval.and_then(|approval| approval.decided.as_ref()?.reason.clone());
        let message = match reason {
            Some(reason) => format!("the user does not allow `{summary}`: {reason}"),
            None => format!("the user does not allow `{summary}`"),
        };
        ToolError::new(ErrorCode::ApprovalDenied, message)
    }

    /// The files by which an operation differs from what was shown.
    fn differences(&self, approval: &str, operation: &Operation) -> Vec<String> {
        let Ok(approval) = self.approvals.get(approval) else {
            return Vec::new();
        };
        let shown = &approval.shown.files;
        let now = &operation.base_revisions;
        let mut paths: Vec<&String> = shown.keys().chain(now.keys()).collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| shown.get(*path) != now.get(*path));
        paths.into_iter().cloned().collect()
    }

    fn stage(
        &self,
        call: &GatedCall<'_>,
        operation: &Operation,
        hash: &OperationHash,
        answer: &Answer,
    ) -> Admission {
        let reason = answer.reason(self.host.mode(), self.host.policy().ceiling);
        let asked = self.approvals.ask(NewApproval {
            id: self.ids.next("approval_"),
            operation: hash.as_str().to_owned(),
            session: call.session.to_owned(),
            turn: call.turn.to_owned(),
            call_id: call.call_id.to_owned(),
            shown: shown(operation, answer, &reason),
            resume: json!({"tool": call.tool, "arguments": resumed(call, operation)}),
            lifetime_ms: LIFETIME_MS,
        });
        match asked {
            Ok(approval) => {
                self.host.changed(&approval.id);
                Admission::Staged(Box::new(pending_envelope(
                    operation,
                    &approval.id,
                    hash,
                    call.arguments,
                    &reason,
                    approval.expires_at_ms,
                )))
            }
            Err(error) => Admission::Refused(error.into()),
        }
    }
}

impl Gatekeeper for SessionGate {
    fn admit(&self, call: &GatedCall<'_>, operation: &Operation) -> Admission {
        let hash = operation.hash();
        if let Some(approval) = call.resumes {
            return self.resume(approval, operation, hash);
        }
        let found = match self.approvals.standing(hash.as_str(), call.turn) {
            Ok(found) => found,
            Err(error) => return Admission::Refused(error.into()),
        };
        let standing = match &found {
            OperationStanding::Unasked | OperationStanding::Waiting(_) => Standing::Unasked,
            OperationStanding::Approved(_) => Standing::Approved,
            OperationStanding::Denied(_) => Standing::Denied,
        };
        let answer = self.judge(operation, standing);
        match (answer.decision.verdict, found) {
            (Verdict::Refuse(_), _) => Admission::Refused(self.refusal(&answer, operation)),
            (Verdict::Allow, OperationStanding::Approved(approval))
                if answer.decision.row == Row::Approval =>
            {
                match self.claim(&approval, operation, hash) {
                    Ok(claim) => Admission::Run(Some(claim)),
                    Err(error) => Admission::Refused(error),
                }
            }
            (Verdict::Allow, _) => Admission::Run(None),
            (Verdict::Stage, _) => self.stage(call, operation, &hash, &answer),
        }
    }

    fn settle(&self, claim: Claim, start: Start) {
        // A claim that cannot be settled stays claimed, which is as good as spent.
        if self
            .approvals
            .settle(&claim.approval, start == Start::Began)
            .is_ok()
        {
            self.host.changed(&claim.approval);
        }
    }
}

impl From<ApprovalError> for ToolError {
    fn from(error: ApprovalError) -> Self {
        Self::from_code(error.code(), error.to_string()).with_hint(error.hint())
    }
}

/// Where an operation would write, as far as its paths say.
pub fn target(root: &WorkspaceRoot, operation: &Operation) -> Target {
    let mut found = Target::Free;
    let batch = root.batch();
    for path in &operation.paths {
        match batch.admit_write(path) {
            Err(PathError::Protected { .. }) => return Target::Protected,
            Err(PathError::Outside { .. }) => found = Target::Outside,
            // Anything else is the tool's to report when it comes to it.
            Ok(_) | Err(_) => {}
        }
    }
    found
}

/// The files that a command names, also inside the script that it gives to a shell, for [`Operation::base_revisions`].
pub fn files_of_command(
    root: &WorkspaceRoot,
    cwd: &str,
    program: &str,
    arguments: &[String],
) -> std::collections::BTreeMap<String, String> {
    named_files(root, cwd, &words_of(program, arguments))
}

/// The arguments of the call as they are kept. Variables of a command may be secrets and are kept nowhere: a call that sets
/// some resumes only in the process that still holds it.
fn resumed(call: &GatedCall<'_>, operation: &Operation) -> Value {
    let mut arguments = call.arguments.clone();
    let sets = operation
        .command
        .as_ref()
        .is_some_and(|command| !command.env.is_empty());
    if operation.kind == MutationKind::Command && sets {
        arguments.remove("env");
    }
    Value::Object(arguments)
}

fn shown(operation: &Operation, answer: &Answer, reason: &str) -> Shown {
    let command = operation.command.as_ref();
    Shown {
        tool: operation.tool.clone(),
        kind: operation.kind.as_str().to_owned(),
        class: answer.class.as_str().to_owned(),
        summary: operation.summary.clone(),
        argv: command.map_or_else(Vec::new, |command| argv(operation, command)),
        program: command.map(|command| command.resolved.clone()),
        cwd: operation.cwd.clone(),
        paths: operation.paths.clone(),
        hosts: operation.hosts.clone(),
        files: match command {
            Some(_) => operation.base_revisions.clone(),
            // A transaction's bases are texts that an editor may hold, not files: the hash covers them.
            None => std::collections::BTreeMap::new(),
        },
        why: reason.to_owned(),
    }
}

/// Program and arguments for people. The normalised arguments are the ones in which the tool has masked secrets.
fn argv(operation: &Operation, command: &CommandLine) -> Vec<String> {
    let masked: Option<Vec<String>> = operation.arguments["arguments"]
        .as_array()
        .filter(|masked| masked.len() == command.arguments.len())
        .and_then(|masked| {
            masked
                .iter()
                .map(|one| one.as_str().map(str::to_owned))
                .collect()
        });
    let arguments = masked.unwrap_or_else(|| command.arguments.clone());
    std::iter::once(command.program.clone())
        .chain(arguments)
        .collect()
}
