//! What a client announces, and the state of a workspace.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Transaction;

wire! {
/// What a client announces in `initialize` as `capabilities.experimental.redline`.
#[derive(Default)]
pub struct ClientCapabilities {
    /// Protocol version the client speaks; 1 for this module.
    #[serde(default)]
    pub version: u32,
    /// The client draws hunks itself: the server stops sending diagnostics of hunks to it.
    #[serde(default)]
    pub review: bool,
    /// The client wants `redline/session/update`.
    #[serde(default)]
    pub session: bool,
}
}

wire! {
/// Params of `redline/status`.
#[derive(Default)]
pub struct StatusParams {
    /// Workspace root as a URI; absent means the one of `initialize`.
    #[serde(default)]
    pub workspace: Option<String>,
}
}

wire! {
/// What the next start found of an earlier, interrupted commit, and what it did.
pub struct Recovery {
    /// The transaction concerned.
    pub transaction_id: String,
    /// `rolled_back`, `finished` or `reported`.
    pub action: String,
    /// One sentence naming the paths.
    pub message: String,
}
}

wire! {
/// Result of `redline/status`.
pub struct StatusResult {
    /// Version of the sidecar's binary.
    pub version: String,
    /// Workspace root as a path.
    pub workspace: String,
    /// Permission mode: `manual`, `plan` or `auto`.
    pub mode: String,
    /// `PROVIDER/MODEL`.
    pub model: String,
    /// Whether this hub lives in the user's sidecar or in the client's own process.
    pub in_process: bool,
    /// Unsettled transactions.
    pub transactions: Vec<Transaction>,
    /// Approvals that wait (ids).
    pub approvals: Vec<String>,
    /// What recovery did at the start of this hub.
    pub recovery: Vec<Recovery>,
    /// Things the user should hear once: crash reports, set-aside files, unknown settings.
    #[serde(default)]
    pub notices: Vec<String>,
}
}

wire! {
/// Notification `redline/sidecar/replaced`, to clients with the `session` capability.
///
/// The sidecar ended, and another one has been told which documents are open. Of sessions it knows what is
/// recorded: load again those that are shown.
#[derive(Default)]
pub struct SidecarReplacedNotification {}
}
