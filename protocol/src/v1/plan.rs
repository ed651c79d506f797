//! Work that was agreed on: a plan lists what it needs, and once approved lets that through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::MutationKind;

wire! {
/// Where a plan stands.
pub enum PlanState {
    /// It waits for a decision.
    Proposed,
    /// What it lists may run.
    Approved,
    /// It was not accepted.
    Rejected,
    /// Its work is done; it lets nothing through any more.
    Completed,
    /// Another plan of its session took its place.
    Superseded,
}
}

wire! {
/// A decision on a plan.
pub enum PlanDecision {
    /// Let through what it lists.
    Accept,
    /// Do not; the model is told so.
    Reject,
}
}

wire! {
/// One step of a plan.
pub struct PlanStep {
    /// One line.
    pub text: String,
    /// It is done, says the agent.
    pub done: bool,
}
}

wire! {
/// A proposal of work.
pub struct Plan {
    /// `plan_…`.
    pub id: String,
    /// Counts its changes: a decision names the one that was read.
    pub revision: u64,
    /// The session that proposed it.
    pub session_id: String,
    /// Short name for lists.
    pub title: String,
    /// The plan, as markdown.
    pub text: String,
    /// The document that shows it, as a URI.
    pub uri: String,
    /// Kinds of mutations that it needs.
    pub kinds: Vec<MutationKind>,
    /// Paths that it needs to change, as globs.
    pub paths: Vec<String>,
    /// Commands that it needs to run, by their first argument tokens.
    pub commands: Vec<Vec<String>>,
    /// Hosts that it needs to reach.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// What is to be done, in order.
    #[serde(default)]
    pub steps: Vec<PlanStep>,
    /// Where it stands.
    pub state: PlanState,
    /// Unix seconds.
    pub created_at: u64,
    /// Who decided.
    #[serde(default)]
    pub decided_by: Option<String>,
    /// Why, in the words of who decided.
    #[serde(default)]
    pub reason: Option<String>,
}
}

wire! {
/// Params of `redline/plan/list`.
#[derive(Default)]
pub struct ListPlansParams {
    /// Also those that are rejected or completed.
    #[serde(default)]
    pub settled: bool,
}
}

wire! {
/// Result of `redline/plan/list`.
pub struct ListPlansResult {
    /// Oldest first.
    pub plans: Vec<Plan>,
}
}

wire! {
/// Params of `redline/plan/decide`; the second decision on one plan is `ALREADY_SETTLED`.
pub struct DecidePlanParams {
    /// `plan_…`; absent means the only one that waits.
    #[serde(default)]
    pub plan_id: Option<String>,
    /// `revision` of the plan that was read; absent means whichever there is.
    #[serde(default)]
    pub revision: Option<u64>,
    /// Accept or reject.
    pub decision: PlanDecision,
    /// Why; the model is told.
    #[serde(default)]
    pub reason: Option<String>,
}
}

wire! {
/// Notification `redline/plan/changed`, to clients with the `session` capability.
pub struct PlanChangedNotification {
    /// Those that are new or changed.
    pub plans: Vec<Plan>,
}
}
