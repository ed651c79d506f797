//! The agent's side as clients read it: modes, approvals, plans, jobs, variables.
//!
//! Owns: the way from domain types to wire types. Must not know: the hub; a value in, a value out.

use redline_protocol::v1;
use redline_tools::gate::Mode;
use redline_workspace::{
    Approval, ApprovalState, EnvSource, JobRecord, JobState, Plan, PlanState, Plans,
};

pub(super) fn mode_of(mode: v1::Mode) -> Mode {
    match mode {
        v1::Mode::Manual => Mode::Manual,
        v1::Mode::Plan => Mode::Plan,
        v1::Mode::Auto => Mode::Auto,
    }
}

pub(super) fn wire_mode(mode: Mode) -> v1::Mode {
    match mode {
        Mode::Manual => v1::Mode::Manual,
        Mode::Plan => v1::Mode::Plan,
        Mode::Auto => v1::Mode::Auto,
    }
}

pub(super) fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Manual => "manual",
        Mode::Plan => "plan",
        Mode::Auto => "auto",
    }
}

pub(super) fn approval(approval: &Approval) -> v1::Approval {
    let shown = &approval.shown;
    let decided = approval.decided.as_ref();
    let reason = decided.and_then(|decided| decided.reason.clone());
    v1::Approval {
        id: approval.id.clone(),
        session_id: approval.session.clone(),
        turn_id: Some(approval.turn.clone()),
        tool_call_id: Some(approval.call_id.clone()),
        tool: shown.tool.clone(),
        kind: word(&shown.kind).unwrap_or(v1::MutationKind::Command),
        class: word(&shown.class).unwrap_or(v1::OperationClass::Outside),
        summary: shown.summary.clone(),
        why: shown.why.clone(),
        command: (!shown.argv.is_empty()).then(|| shown.argv.clone()),
        program: shown.program.clone(),
        cwd: (!shown.cwd.is_empty()).then(|| shown.cwd.clone()),
        paths: shown.paths.clone(),
        hosts: shown.hosts.clone(),
        state: match approval.state_at(crate::clock::now_ms()) {
            ApprovalState::Waiting => v1::ApprovalState::Pending,
            ApprovalState::Approved | ApprovalState::Claimed => v1::ApprovalState::Approved,
            ApprovalState::Denied => v1::ApprovalState::Denied,
            ApprovalState::Spent => v1::ApprovalState::Spent,
            ApprovalState::Void => v1::ApprovalState::Void,
            ApprovalState::Withdrawn => v1::ApprovalState::Withdrawn,
            ApprovalState::Expired => v1::ApprovalState::Expired,
        },
        created_at: approval.asked_at_ms / 1000,
        expires_at: approval.expires_at_ms / 1000,
        decided_by: decided.map(|decided| decided.by.clone()),
        decided_at: decided.map(|decided| decided.at_ms / 1000),
        reason: reason.or_else(|| approval.note.clone()),
    }
}

/// A plan; `uri` is where its document lies.
pub(super) fn plan(plan: &Plan, uri: String) -> v1::Plan {
    let decided = plan.decided.as_ref();
    let kinds = plan.scope.kinds.iter();
    v1::Plan {
        id: plan.id.clone(),
        revision: plan.revision,
        session_id: plan.session.clone(),
        title: plan.title.clone(),
        text: Plans::to_markdown(plan),
        uri,
        kinds: kinds.filter_map(|kind| word(kind)).collect(),
        paths: plan.scope.paths.clone(),
        commands: plan.scope.commands.clone(),
        hosts: plan.scope.hosts.clone(),
        steps: plan
            .steps
            .iter()
            .map(|step| v1::PlanStep {
                text: step.text.clone(),
                done: step.done,
            })
            .collect(),
        state: match plan.state {
            PlanState::Proposed => v1::PlanState::Proposed,
            PlanState::Approved => v1::PlanState::Approved,
            PlanState::Rejected => v1::PlanState::Rejected,
            PlanState::Completed => v1::PlanState::Completed,
            PlanState::Superseded => v1::PlanState::Superseded,
        },
        created_at: plan.proposed_at_ms / 1000,
        decided_by: decided.map(|decided| decided.by.clone()),
        reason: decided.and_then(|decided| decided.reason.clone()),
    }
}

/// A word of the store as one of the wire's; none for one that this version does not know.
fn word<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

/// A job's state, exit code and signal.
pub(super) fn job_state(state: JobState) -> (v1::JobState, Option<i32>, Option<i32>) {
    match state {
        JobState::Running => (v1::JobState::Running, None, None),
        JobState::Exited { code } => (v1::JobState::Exited, Some(code), None),
        JobState::Signaled { signal } => (v1::JobState::Exited, None, Some(signal)),
        JobState::TimedOut => (v1::JobState::TimedOut, None, None),
        JobState::Cancelled => (v1::JobState::Cancelled, None, None),
        JobState::Orphaned => (v1::JobState::Orphaned, None, None),
    }
}

pub(super) fn job(record: &JobRecord) -> v1::Job {
    let (state, exit_code, signal) = job_state(record.state);
    let mut command = vec![record.program.asked.clone()];
    command.extend(record.arguments.iter().cloned());
    v1::Job {
        id: record.id.clone(),
        session_id: record.origin.session_id.clone(),
        tool_call_id: record.origin.call_id.clone(),
        command,
        cwd: record.folder.clone(),
        state,
        exit_code,
        signal,
        started_at: record.started_at_ms / 1000,
        ended_at: record.ended_at_ms.map(|at| at / 1000),
        output_bytes: record.stdout.bytes + record.stderr.bytes,
        sandbox: record.sandbox.clone(),
    }
}

pub(super) fn env_source(source: EnvSource) -> &'static str {
    match source {
        EnvSource::Inherited => "inherited",
        EnvSource::DotEnv => ".env",
        EnvSource::Options => "options",
        EnvSource::Patch => "set",
    }
}
