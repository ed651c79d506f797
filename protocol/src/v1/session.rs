//! What a client asks of conversations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ContentBlock, Range};

wire! {
/// How much an agent may do by itself.
#[derive(Default)]
pub enum Mode {
    /// Everything but proposing edits waits for an approval.
    #[default]
    Manual,
    /// Nothing changes until a plan is approved; what the plan lists may then run.
    Plan,
    /// What can be undone runs by itself, and a turn commits its own edits at its end.
    Auto,
}
}

wire! {
/// What a session is doing now.
#[derive(Default)]
pub enum SessionState {
    /// A turn runs.
    Running,
    /// Ready for a prompt.
    #[default]
    Idle,
    /// The turn waits for a decision of the user: an approval or a plan.
    RequiresAction,
}
}

wire! {
/// One conversation, as lists show it.
pub struct SessionInfo {
    /// `se_…`.
    pub session_id: String,
    /// Workspace root as a path.
    pub cwd: String,
    /// The first prompt's first line, unless it was named otherwise.
    #[serde(default)]
    pub title: Option<String>,
    /// `PROVIDER/MODEL`.
    pub model: String,
    /// Its permission mode.
    pub mode: Mode,
    /// What it does now.
    pub state: SessionState,
    /// Unix seconds.
    pub created_at: u64,
    /// Unix seconds of the last event.
    pub updated_at: u64,
    /// Turns so far.
    pub turns: u32,
    /// It was put away.
    #[serde(default)]
    pub archived: bool,
}
}

wire! {
/// Params of `redline/session/new`.
#[derive(Default)]
pub struct NewSessionParams {
    /// `PROVIDER/MODEL`; absent means the configured one.
    #[serde(default)]
    pub model: Option<String>,
    /// Permission mode; absent means the workspace's.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// Environment of the client that opens it (PATH and the like): commands of the session run in it.
    #[serde(default)]
    pub env: Option<std::collections::BTreeMap<String, String>>,
}
}

wire! {
/// Result of `redline/session/new` and `redline/session/fork`.
pub struct NewSessionResult {
    /// `se_…`.
    pub session_id: String,
}
}

wire! {
/// Params of `redline/session/load`: takes part in a session, also after a restart of editor or sidecar.
pub struct LoadSessionParams {
    /// `se_…`.
    pub session_id: String,
    /// Whether what happened so far is sent, as `redline/session/update`; absent means yes.
    #[serde(default)]
    pub replay: Option<bool>,
}
}

wire! {
/// Result of `redline/session/load`.
pub struct LoadSessionResult {
    /// The session as it stands.
    pub session: SessionInfo,
    /// What had to be mended in its record, for people.
    #[serde(default)]
    pub repaired: Option<String>,
}
}

wire! {
/// Params of `redline/session/list`.
#[derive(Default)]
pub struct ListSessionsParams {
    /// Those that were put away, instead of the others.
    #[serde(default)]
    pub archived: bool,
    /// `nextCursor` of the page before; absent means the first.
    #[serde(default)]
    pub cursor: Option<String>,
    /// Most sessions in the answer; absent means 100.
    #[serde(default)]
    pub limit: Option<u32>,
}
}

wire! {
/// Result of `redline/session/list`.
pub struct ListSessionsResult {
    /// The one that was used last comes first.
    pub sessions: Vec<SessionInfo>,
    /// Where the next page begins; absent on the last.
    #[serde(default)]
    pub next_cursor: Option<String>,
}
}

wire! {
/// Params of `redline/session/fork`: a new session with the same past.
pub struct ForkSessionParams {
    /// `se_…`.
    pub session_id: String,
    /// The last turn that the new one remembers; absent means all that ended.
    #[serde(default)]
    pub turn_id: Option<String>,
}
}

wire! {
/// Params of `redline/session/archive`.
pub struct ArchiveSessionParams {
    /// `se_…`.
    pub session_id: String,
    /// False brings it back; absent means true.
    #[serde(default)]
    pub archived: Option<bool>,
}
}

wire! {
/// A place that a prompt is about.
pub struct PromptContext {
    /// Document URI.
    pub uri: String,
    /// The selection, if one was made.
    #[serde(default)]
    pub range: Option<Range>,
}
}

wire! {
/// Params of `redline/session/prompt`; answered on acceptance, the rest arrives as updates.
///
/// A prompt that is a command (`/accept`, `/deny`, `/mode`, `/plan`) is carried out and reaches no model.
#[derive(Default)]
pub struct PromptParams {
    /// `se_…`; absent means the client's current one, made when there is none.
    #[serde(default)]
    pub session_id: Option<String>,
    /// What the user says, in blocks.
    #[serde(default)]
    pub prompt: Vec<ContentBlock>,
    /// The same as one text, for a client that has no more; it comes after the blocks.
    #[serde(default)]
    pub text: String,
    /// What it is about.
    #[serde(default)]
    pub context: Option<PromptContext>,
}
}

wire! {
/// Result of `redline/session/prompt`.
pub struct PromptResult {
    /// The session it went to.
    pub session_id: String,
    /// The turn it started; empty when it was a command that started none.
    pub turn_id: String,
    /// What a command did, in a sentence.
    #[serde(default)]
    pub message: Option<String>,
}
}

wire! {
/// Params of `redline/session/cancel`.
#[derive(Default)]
pub struct CancelParams {
    /// Absent means the sessions that the client takes part in.
    #[serde(default)]
    pub session_id: Option<String>,
    /// Only this turn: one that has ended meanwhile is not mistaken for the next. Absent means the one that runs.
    #[serde(default)]
    pub turn_id: Option<String>,
}
}

wire! {
/// Params of `redline/session/set_mode`; a running turn takes it at its next step.
pub struct SetModeParams {
    /// Absent means the workspace: what new sessions begin with, and all that are open in it.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The new mode.
    pub mode_id: Mode,
}
}

wire! {
/// Result of `redline/session/set_mode`.
pub struct SetModeResult {
    /// The mode now.
    pub mode_id: Mode,
}
}

wire! {
/// Params of `redline/session/set_model`; a running turn takes it at its next step.
pub struct SetModelParams {
    /// Absent means the client's current session.
    #[serde(default)]
    pub session_id: Option<String>,
    /// `PROVIDER/MODEL`.
    pub model_id: String,
}
}

wire! {
/// Result of `redline/session/set_model`.
pub struct SetModelResult {
    /// The session.
    pub session_id: String,
    /// The model from the next step on.
    pub model_id: String,
}
}

wire! {
/// Params of `redline/turn/export`.
pub struct ExportTurnParams {
    /// `turn_…`.
    pub turn_id: String,
}
}

wire! {
/// Result of `redline/turn/export`.
pub struct ExportTurnResult {
    /// A `replay` file: what the model said, one event a line.
    pub content: String,
}
}
