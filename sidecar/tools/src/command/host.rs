//! What commands of one session are run with.

use std::sync::Arc;

use redline_workspace::{EnvSnapshot, Jobs};

/// The session's side of `workspace_command`. Implemented by whoever composes a session; methods may block, and
/// are called on worker threads.
pub trait CommandHost: Send + Sync {
    /// The workspace's jobs.
    fn jobs(&self) -> &Jobs;

    /// Id of the workspace.
    fn workspace_id(&self) -> &str;

    /// The session's env as its present step took it.
    fn env(&self) -> Arc<EnvSnapshot>;

    /// The user's secret for digests of envs.
    fn digest_key(&self) -> [u8; 32];

    /// Names and values of secrets that are in no env, such as keys of providers: masked in all output.
    fn secrets(&self) -> Vec<(String, String)>;

    /// The turn in a few words: what its checkpoint is called in lists.
    fn turn_title(&self) -> Option<String>;

    /// Paths of documents that editors hold with unsaved changes: a command does not see these.
    fn unsaved(&self) -> Vec<String>;
}
