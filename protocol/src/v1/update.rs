//! What happens in a conversation, as it happens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Mode, SessionState};

/// A piece of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[ts(optional_fields = nullable)]
pub enum ContentBlock {
    /// Text, markdown where it is for people.
    Text {
        /// The text.
        text: String,
    },
    /// A resource that the prompt is about.
    ResourceLink {
        /// Its URI.
        uri: String,
        /// Its name, for people.
        #[serde(default)]
        name: String,
    },
}

/// What a tool call shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[ts(optional_fields = nullable)]
pub enum ToolCallContent {
    /// What came out, bounded: the middle of long output is left out.
    Content {
        /// The block.
        content: ContentBlock,
    },
    /// A program's output, which arrives as `redline/job/changed`.
    Terminal {
        /// `job_…`.
        terminal_id: String,
    },
    /// Hunks that the call proposed.
    #[serde(rename = "_transaction")]
    Transaction {
        /// `tx_…`.
        transaction_id: String,
        /// Its hunks that the call made or changed.
        hunk_ids: Vec<String>,
    },
}

wire! {
/// What kind of thing a tool does.
pub enum ToolKind {
    /// Reads.
    Read,
    /// Proposes edits.
    Edit,
    /// Finds.
    Search,
    /// Runs a program.
    Execute,
    /// Plans and notes.
    Think,
    /// Fetches from elsewhere.
    Fetch,
    /// Anything else.
    Other,
}
}

wire! {
/// How far a tool call is.
pub enum ToolCallStatus {
    /// Its arguments still arrive, or it waits for an approval.
    Pending,
    /// It runs.
    InProgress,
    /// It did what it was asked.
    Completed,
    /// It did not; the content says why.
    Failed,
    /// The turn was stopped before it ended.
    Cancelled,
}
}

wire! {
/// A place that a tool call touches.
pub struct ToolCallLocation {
    /// Absolute path.
    pub path: String,
    /// 1-based line.
    #[serde(default)]
    pub line: Option<u32>,
}
}

wire! {
/// How far an entry of the model's list is.
pub enum PlanEntryStatus {
    /// Not begun.
    Pending,
    /// Under way.
    InProgress,
    /// Done.
    Completed,
}
}

wire! {
/// How much an entry matters.
pub enum PlanEntryPriority {
    /// Much.
    High,
    /// As usual.
    Medium,
    /// Little.
    Low,
}
}

wire! {
/// One entry of the model's list of what it is doing.
pub struct PlanEntry {
    /// What is to be done.
    pub content: String,
    /// How much it matters.
    pub priority: PlanEntryPriority,
    /// How far it is.
    pub status: PlanEntryStatus,
}
}

/// The model's list of what it is doing; not a [`Plan`](super::Plan), which asks for a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[ts(optional_fields = nullable)]
pub enum PlanContent {
    /// The whole list as it stands.
    Items {
        /// The list of the turn.
        plan_id: String,
        /// In order.
        entries: Vec<PlanEntry>,
    },
}

wire! {
/// An amount of money.
pub struct Cost {
    /// How much.
    pub amount: f64,
    /// ISO 4217.
    pub currency: String,
}
}

/// Why a turn ended. What begins with `_` is not of the Agent Client Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model said all that it had to say.
    EndTurn,
    /// A limit of tokens was reached: the answer's, or the turn's budget.
    MaxTokens,
    /// The turn's budget of steps was used up.
    MaxTurnRequests,
    /// The model declined.
    Refusal,
    /// The user stopped it.
    Cancelled,
    /// It took too long.
    #[serde(rename = "_timeout")]
    Timeout,
    /// The turn's budget of money was used up.
    #[serde(rename = "_max_cost")]
    MaxCost,
    /// It could not go on.
    #[serde(rename = "_error")]
    Error,
    /// The sidecar ended while it ran; the session can go on.
    #[serde(rename = "_interrupted")]
    Interrupted,
}

wire! {
/// What went wrong, and what to do.
pub struct ErrorInfo {
    /// `PROVIDER`, `TIMEOUT`, …
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// Whether asking again may help.
    #[serde(default)]
    pub retryable: bool,
}
}

wire! {
/// How much the user should care.
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something was not as it should be; the turn goes on.
    Warning,
}
}

wire! {
/// A tool call, as far as an update knows it.
#[derive(Default)]
pub struct ToolCallUpdate {
    /// Unique in the session.
    pub tool_call_id: String,
    /// Name of the tool; always there the first time.
    #[serde(default, rename = "_tool", skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// One line for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What kind of thing it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
    /// How far it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolCallStatus>,
    /// What it shows: replaces what was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolCallContent>>,
    /// Places that it touches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<ToolCallLocation>>,
    /// Its arguments; left out when they are long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    pub raw_input: Option<serde_json::Value>,
    /// The approval that it waits for.
    #[serde(
        default,
        rename = "_approvalId",
        skip_serializing_if = "Option::is_none"
    )]
    pub approval_id: Option<String>,
}
}

wire! {
/// Tokens and money. What is not known is absent, never 0.
#[derive(Default)]
pub struct UsageUpdate {
    /// Tokens that the conversation takes in the model's context now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// Tokens that the model's context holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Of the turn.
    #[serde(default, rename = "_turnCost", skip_serializing_if = "Option::is_none")]
    pub turn_cost: Option<Cost>,
    /// Prompt tokens of the turn, cached ones included.
    #[serde(rename = "_inputTokens")]
    pub input_tokens: u64,
    /// Of these, read from the vendor's cache.
    #[serde(rename = "_cachedTokens")]
    pub cached_tokens: u64,
    /// Answer tokens of the turn, reasoning included.
    #[serde(rename = "_outputTokens")]
    pub output_tokens: u64,
    /// Of these, reasoning.
    #[serde(rename = "_reasoningTokens")]
    pub reasoning_tokens: u64,
    /// Some of these are estimates.
    #[serde(default, rename = "_estimated")]
    pub estimated: bool,
}
}

wire! {
/// What a session does. With `idle`, a turn ended: the last update of the turn, exactly once.
pub struct StateUpdate {
    /// Now.
    pub state: SessionState,
    /// Why the turn ended, with `idle`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// What went wrong, when it ended for that.
    #[serde(default, rename = "_error", skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorInfo>,
}
}

/// One thing that happened. An absent field of an update says nothing about it: what was said before stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(
    tag = "sessionUpdate",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[ts(optional_fields = nullable)]
pub enum SessionUpdate {
    /// The user's prompt, where it stands in the conversation.
    UserMessage {
        /// Of the conversation.
        message_id: String,
        /// The whole of it.
        content: Vec<ContentBlock>,
    },
    /// A piece of the answer, to be appended to the message of that id.
    AgentMessageChunk {
        /// Of the conversation.
        message_id: String,
        /// The piece.
        content: ContentBlock,
    },
    /// A piece of reasoning, to be appended to the thought of that id.
    AgentThoughtChunk {
        /// Of the conversation.
        message_id: String,
        /// The piece.
        content: ContentBlock,
    },
    /// A tool call began, went on or ended.
    ToolCallUpdate(ToolCallUpdate),
    /// The model's list of what it is doing.
    PlanUpdate {
        /// The whole of it.
        plan: PlanContent,
    },
    /// Tokens and money so far.
    UsageUpdate(UsageUpdate),
    /// What the session does now.
    StateUpdate(StateUpdate),
    /// The permission mode changed.
    CurrentModeUpdate {
        /// Now.
        current_mode_id: Mode,
    },
    /// The model changed.
    CurrentModelUpdate {
        /// `PROVIDER/MODEL`.
        current_model_id: String,
    },
    /// What lists say of the session changed.
    SessionInfoUpdate {
        /// Its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Unix seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_at: Option<u64>,
    },
    /// All that happened before has been sent again.
    ReplayComplete {},
    /// The turn's transaction grew.
    #[serde(rename = "_transaction")]
    Transaction {
        /// `tx_…`.
        transaction_id: String,
    },
    /// What the model was told of the user's decisions.
    #[serde(rename = "_decisions")]
    Decisions {
        /// As the model reads it.
        text: String,
    },
    /// Something that the user should know; the turn goes on.
    #[serde(rename = "_notice")]
    Notice {
        /// How much to care.
        level: NoticeLevel,
        /// One sentence.
        text: String,
    },
}

wire! {
/// Notification `redline/session/update`: what happened since the last one, at most one each 16 ms.
///
/// Sent to the clients that take part in the session: who made, loaded or prompted it.
pub struct SessionUpdateNotification {
    /// `se_…`.
    pub session_id: String,
    /// `turn_…`; absent when it is of no turn.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// In order; adjacent pieces of one message are merged.
    pub updates: Vec<SessionUpdate>,
}
}
