//! What waits for a yes, and the answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

wire! {
/// What a mutation is.
pub enum MutationKind {
    /// Committing edits.
    Transaction,
    /// Running a program.
    Command,
    /// Changing the state of version control.
    Vcs,
    /// Acting in a browser.
    Browser,
    /// Fetching from the network.
    Web,
    /// Starting another agent.
    Agent,
}
}

wire! {
/// How far the effects of an operation go.
pub enum OperationClass {
    /// Undo brings it back.
    Reversible,
    /// It stays inside the workspace and may lose what is not tracked.
    Workspace,
    /// It reaches the network or other folders.
    Outside,
}
}

wire! {
/// Where an approval stands.
pub enum ApprovalState {
    /// It waits for a decision.
    Pending,
    /// Approved; the operation has not begun.
    Approved,
    /// Denied.
    Denied,
    /// Approved, and used.
    Spent,
    /// Nobody decided in time.
    Expired,
    /// What it was about has changed.
    Void,
    /// Its turn has ended; nobody would run it.
    Withdrawn,
}
}

wire! {
/// A decision on an approval.
pub enum ApprovalDecision {
    /// Run exactly this operation, once.
    Approve,
    /// Do not; the model is told so.
    Deny,
}
}

wire! {
/// One operation that may not run unasked.
pub struct Approval {
    /// `approval_…`.
    pub id: String,
    /// The session that asks.
    pub session_id: String,
    /// The turn that waits; absent when none does any more, as after its sidecar ended. What is approved then runs when
    /// the agent makes the call again.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// The tool call that waits.
    #[serde(default)]
    pub tool_call_id: Option<String>,
    /// Name of the tool.
    pub tool: String,
    /// What kind of mutation it is.
    pub kind: MutationKind,
    /// How far it reaches.
    pub class: OperationClass,
    /// One line for people: what exactly would happen.
    pub summary: String,
    /// One sentence for people: why it is asked about.
    pub why: String,
    /// The program and its arguments, as they would be passed.
    #[serde(default)]
    pub command: Option<Vec<String>>,
    /// The file that the program's name leads to.
    #[serde(default)]
    pub program: Option<String>,
    /// The folder that it would run in, from the workspace root.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Paths that it is about.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Hosts that it is about.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Where it stands.
    pub state: ApprovalState,
    /// Unix seconds.
    pub created_at: u64,
    /// Unix seconds after which it cannot be approved.
    pub expires_at: u64,
    /// Who decided: `cli`, `neovim`, …
    #[serde(default)]
    pub decided_by: Option<String>,
    /// Unix seconds.
    #[serde(default)]
    pub decided_at: Option<u64>,
    /// Why, in the words of who decided.
    #[serde(default)]
    pub reason: Option<String>,
}
}

wire! {
/// Params of `redline/approval/list`.
#[derive(Default)]
pub struct ListApprovalsParams {
    /// Also those that no longer wait, newest first, at most 100.
    #[serde(default)]
    pub settled: bool,
}
}

wire! {
/// Result of `redline/approval/list`.
pub struct ListApprovalsResult {
    /// Those that wait, oldest first; then, where asked for, the others.
    pub approvals: Vec<Approval>,
}
}

wire! {
/// Params of `redline/approval/decide`; the second decision on one approval is `ALREADY_SETTLED`.
pub struct DecideApprovalParams {
    /// `approval_…`; absent means the only one that waits.
    #[serde(default)]
    pub approval_id: Option<String>,
    /// Yes or no.
    pub decision: ApprovalDecision,
    /// Why; the model is told.
    #[serde(default)]
    pub reason: Option<String>,
}
}

wire! {
/// Notification `redline/approval/changed`, to clients with the `session` capability.
pub struct ApprovalChangedNotification {
    /// Those that are new or changed.
    pub approvals: Vec<Approval>,
    /// How many wait in the workspace.
    pub waiting: u32,
}
}
