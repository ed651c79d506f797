//! Version one of the protocol: methods, params, results and notifications.
//!
//! The conversation takes the shapes and names of the second version of the Agent Client Protocol; what
//! that protocol has no word for begins with `_`. Review, approvals, plans and jobs are our own.
//!
//! ```text
//! status  what a client announces, the state of a workspace    session   conversations: requests
//! transaction  hunks and files as they are shown               update    conversations: what happens
//! review  decisions on them, undo                              approval  what waits for a yes
//! job     running programs                                     plan      work that was agreed on
//! setup   models, env, trust
//! ```

/// Names of the requests and notifications, so that no client spells one twice.
pub mod method {
    /// Request: [`super::StatusParams`] -> [`super::StatusResult`].
    pub const STATUS: &str = "redline/status";
    /// Request: [`super::ListTransactionsParams`] -> [`super::ListTransactionsResult`].
    pub const TRANSACTION_LIST: &str = "redline/transaction/list";
    /// Request: [`super::GetTransactionParams`] -> [`super::Transaction`].
    pub const TRANSACTION_GET: &str = "redline/transaction/get";
    /// Request: [`super::ProposeParams`] -> [`super::Transaction`].
    pub const TRANSACTION_PROPOSE: &str = "redline/transaction/propose";
    /// Request: [`super::DecideParams`] -> [`super::DecideResult`].
    pub const TRANSACTION_ACCEPT: &str = "redline/transaction/accept";
    /// Request: [`super::DecideParams`] -> [`super::DecideResult`].
    pub const TRANSACTION_REJECT: &str = "redline/transaction/reject";
    /// Request: [`super::AmendParams`] -> [`super::Transaction`].
    pub const TRANSACTION_AMEND: &str = "redline/transaction/amend";
    /// Request: [`super::SplitParams`] -> [`super::Transaction`].
    pub const TRANSACTION_SPLIT: &str = "redline/transaction/split";
    /// Request: [`super::ReproposeParams`] -> [`super::Transaction`].
    pub const TRANSACTION_REPROPOSE: &str = "redline/transaction/repropose";
    /// Request: [`super::CheckpointListParams`] -> [`super::CheckpointListResult`].
    pub const CHECKPOINT_LIST: &str = "redline/checkpoint/list";
    /// Request: [`super::RestoreParams`] -> [`super::RestoreResult`].
    pub const CHECKPOINT_RESTORE: &str = "redline/checkpoint/restore";
    /// Request: [`super::NewSessionParams`] -> [`super::NewSessionResult`].
    pub const SESSION_NEW: &str = "redline/session/new";
    /// Request: [`super::LoadSessionParams`] -> [`super::LoadSessionResult`]; the history comes before the
    /// answer, as updates that end with `replay_complete`.
    pub const SESSION_LOAD: &str = "redline/session/load";
    /// Request: [`super::ListSessionsParams`] -> [`super::ListSessionsResult`].
    pub const SESSION_LIST: &str = "redline/session/list";
    /// Request: [`super::ForkSessionParams`] -> [`super::NewSessionResult`].
    pub const SESSION_FORK: &str = "redline/session/fork";
    /// Request: [`super::ArchiveSessionParams`] -> [`super::SessionInfo`].
    pub const SESSION_ARCHIVE: &str = "redline/session/archive";
    /// Request: [`super::PromptParams`] -> [`super::PromptResult`], answered on acceptance.
    pub const SESSION_PROMPT: &str = "redline/session/prompt";
    /// Request: [`super::CancelParams`] -> null.
    pub const SESSION_CANCEL: &str = "redline/session/cancel";
    /// Request: [`super::SetModeParams`] -> [`super::SetModeResult`].
    pub const SESSION_SET_MODE: &str = "redline/session/set_mode";
    /// Request: [`super::SetModelParams`] -> [`super::SetModelResult`].
    pub const SESSION_SET_MODEL: &str = "redline/session/set_model";
    /// Request: [`super::ExportTurnParams`] -> [`super::ExportTurnResult`].
    pub const TURN_EXPORT: &str = "redline/turn/export";
    /// Request: [`super::ListApprovalsParams`] -> [`super::ListApprovalsResult`].
    pub const APPROVAL_LIST: &str = "redline/approval/list";
    /// Request: [`super::DecideApprovalParams`] -> [`super::Approval`].
    pub const APPROVAL_DECIDE: &str = "redline/approval/decide";
    /// Request: [`super::ListPlansParams`] -> [`super::ListPlansResult`].
    pub const PLAN_LIST: &str = "redline/plan/list";
    /// Request: [`super::DecidePlanParams`] -> [`super::Plan`].
    pub const PLAN_DECIDE: &str = "redline/plan/decide";
    /// Request: [`super::ListJobsParams`] -> [`super::ListJobsResult`].
    pub const JOB_LIST: &str = "redline/job/list";
    /// Request: [`super::JobOutputParams`] -> [`super::JobOutputResult`].
    pub const JOB_OUTPUT: &str = "redline/job/output";
    /// Request: [`super::CancelJobParams`] -> [`super::Job`].
    pub const JOB_CANCEL: &str = "redline/job/cancel";
    /// Request: [`super::ListModelsParams`] -> [`super::ListModelsResult`].
    pub const MODEL_LIST: &str = "redline/model/list";
    /// Request: [`super::ListEnvParams`] -> [`super::EnvResult`].
    pub const ENV_LIST: &str = "redline/env/list";
    /// Request: [`super::PatchEnvParams`] -> [`super::EnvResult`].
    pub const ENV_PATCH: &str = "redline/env/patch";
    /// Request: [`super::ListTrustParams`] -> [`super::TrustResult`].
    pub const TRUST_LIST: &str = "redline/trust/list";
    /// Request: [`super::DecideTrustParams`] -> [`super::TrustResult`].
    pub const TRUST_DECIDE: &str = "redline/trust/decide";
    /// Notification to the client: [`super::SessionUpdateNotification`].
    pub const SESSION_UPDATE: &str = "redline/session/update";
    /// Notification to the client: [`super::ApprovalChangedNotification`].
    pub const APPROVAL_CHANGED: &str = "redline/approval/changed";
    /// Notification to the client: [`super::PlanChangedNotification`].
    pub const PLAN_CHANGED: &str = "redline/plan/changed";
    /// Notification to the client: [`super::JobChangedNotification`].
    pub const JOB_CHANGED: &str = "redline/job/changed";
    /// Notification to the client: [`super::SidecarReplacedNotification`].
    pub const SIDECAR_REPLACED: &str = "redline/sidecar/replaced";
    /// Notification to the client: [`super::TransactionChangedNotification`].
    pub const TRANSACTION_CHANGED: &str = "redline/transaction/changed";
}

macro_rules! wire {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($body:tt)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
        #[serde(rename_all = "camelCase")]
        #[ts(optional_fields = nullable)]
        $vis struct $name { $($body)* }
    };
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($body:tt)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
        #[serde(rename_all = "snake_case")]
        $vis enum $name { $($body)* }
    };
}

mod approval;
mod job;
mod plan;
mod review;
mod session;
mod setup;
mod status;
mod transaction;
mod update;

pub use approval::*;
pub use job::*;
pub use plan::*;
pub use review::*;
pub use session::*;
pub use setup::*;
pub use status::*;
pub use transaction::*;
pub use update::*;
