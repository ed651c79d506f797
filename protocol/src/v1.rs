//! Version one of the protocol: methods, params, results and notifications.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

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
    /// Request: [`super::PromptParams`] -> [`super::PromptResult`], answered on acceptance.
    pub const SESSION_PROMPT: &str = "redline/session/prompt";
    /// Request: [`super::CancelParams`] -> null.
    pub const SESSION_CANCEL: &str = "redline/session/cancel";
    /// Notification to the client: [`super::SessionUpdateNotification`].
    pub const SESSION_UPDATE: &str = "redline/session/update";
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
/// Where a transaction stands.
pub enum TransactionState {
    /// Something in it still waits for a decision.
    Pending,
    /// All that was accepted is applied, and nothing waits.
    Committed,
    /// Everything in it was rejected or withdrawn.
    Rejected,
    /// Nothing pending is left but conflicts.
    Conflicted,
    /// The last commit failed and was taken back; the evidence is kept.
    Failed,
    /// What had been committed was undone.
    Undone,
}
}

wire! {
/// Where one hunk stands.
pub enum HunkState {
    /// Waits for a decision.
    Pending,
    /// Its base lines are no longer what it was written against.
    Conflict,
    /// Accepted; in an open document it may still be unsaved.
    Accepted,
    /// Rejected by the user.
    Rejected,
    /// Withdrawn: by its agent, or by `Keep mine`.
    Withdrawn,
}
}

wire! {
/// How the proposal's text was found in the file.
pub enum MatchRung {
    /// Byte for byte (line endings aside).
    Exact,
    /// Exact, but not at the line the diff named.
    Offset,
    /// After ignoring trailing white space.
    Whitespace,
    /// After one uniform shift of indentation.
    Indentation,
    /// After folding typographic look-alikes.
    Lookalike,
}
}

wire! {
/// What a file of a transaction would undergo.
pub enum OperationKind {
    /// Lines change.
    Edit,
    /// The file appears.
    Create,
    /// The file goes.
    Delete,
    /// The file moves to `newPath`; it may be edited too.
    Rename,
    /// Only the mode changes.
    SetMode,
}
}

wire! {
/// A zero-based LSP position in the encoding negotiated with this client.
#[derive(Copy, Eq)]
pub struct Position {
    /// Zero-based line.
    pub line: u32,
    /// Zero-based offset in the negotiated encoding.
    pub character: u32,
}
}

wire! {
/// A half-open LSP range.
#[derive(Copy, Eq)]
pub struct Range {
    /// First position.
    pub start: Position,
    /// One past the last position.
    pub end: Position,
}
}

wire! {
/// The three sides of a conflict.
pub struct Conflict {
    /// One sentence: what changed.
    pub reason: String,
    /// Lines the hunk was written against.
    pub base: Vec<String>,
    /// Lines that stand there now.
    pub current: Vec<String>,
    /// Lines the agent proposes.
    pub proposed: Vec<String>,
}
}

wire! {
/// One contiguous replacement under review.
pub struct Hunk {
    /// `h_…`, stable while its base range overlaps.
    pub id: String,
    /// Grows with every change of the hunk; a decision names the one that was shown.
    pub revision: u64,
    /// Where it stands.
    pub state: HunkState,
    /// 1-based place among the hunks of the transaction.
    pub index: u32,
    /// 1-based first line in the text as it stands now; for an insertion the line before which it goes.
    pub start_line: u32,
    /// Lines that go, without line endings.
    pub removed: Vec<String>,
    /// Lines that come, without line endings.
    pub added: Vec<String>,
    /// The text after the hunk has no newline at its very end (only at the end of a file).
    #[serde(default)]
    pub no_newline_at_end: bool,
    /// Why, in the agent's words.
    #[serde(default)]
    pub rationale: Option<String>,
    /// How its place was found.
    #[serde(rename = "match")]
    pub matched: MatchRung,
    /// The user amended the proposed text.
    #[serde(default)]
    pub amended: bool,
    /// Accepted in an open document and not yet saved.
    #[serde(default)]
    pub unsaved: bool,
    /// The call that makes it is still arriving.
    #[serde(default)]
    pub incomplete: bool,
    /// Present when the state is `conflict`.
    #[serde(default)]
    pub conflict: Option<Conflict>,
}
}

wire! {
/// One file of a transaction.
pub struct FileChange {
    /// Path from the workspace root, `/`-separated.
    pub path: String,
    /// The same as a document URI.
    pub uri: String,
    /// What happens to it.
    pub operation: OperationKind,
    /// Target of a rename.
    #[serde(default)]
    pub new_path: Option<String>,
    /// New mode, octal, when it changes.
    #[serde(default)]
    pub mode: Option<String>,
    /// State of the file's own operation (create, delete, rename, set_mode), or of its hunks together.
    pub state: HunkState,
    /// Revision of the file's operation.
    pub revision: u64,
    /// Facts a reviewer must see: `reanchored`, `overwrite`, `recounted`, `inexact:indentation`, …
    #[serde(default)]
    pub flags: Vec<String>,
    /// Its hunks, by place.
    pub hunks: Vec<Hunk>,
}
}

wire! {
/// A set of operations under review together.
pub struct Transaction {
    /// `tx_…`.
    pub id: String,
    /// Grows with every change of the transaction.
    pub revision: u64,
    /// Where it stands.
    pub state: TransactionState,
    /// Short name for lists.
    pub title: String,
    /// Who proposed it.
    pub proposed_by: String,
    /// Unix seconds.
    pub created_at: u64,
    /// The turn that made it, if one did.
    #[serde(default)]
    pub turn_id: Option<String>,
    /// Why, for the whole of it.
    #[serde(default)]
    pub rationale: Option<String>,
    /// Its files, in the order proposed.
    pub files: Vec<FileChange>,
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
/// Params of `redline/transaction/list`.
#[derive(Default)]
pub struct ListTransactionsParams {
    /// Also those that are settled, newest first, at most 100.
    #[serde(default)]
    pub settled: bool,
}
}

wire! {
/// Result of `redline/transaction/list`.
pub struct ListTransactionsResult {
    /// Oldest first.
    pub transactions: Vec<Transaction>,
}
}

wire! {
/// Params of `redline/transaction/get`.
pub struct GetTransactionParams {
    /// `tx_…`.
    pub transaction_id: String,
}
}

wire! {
/// Formats that a proposal can come in.
pub enum ProposalFormat {
    /// `<<<<<<< SEARCH` blocks.
    SearchReplace,
    /// `diff -u` or `git diff`.
    UnifiedDiff,
    /// `*** Begin Patch`.
    ApplyPatch,
    /// JSON: whole files, search/replace edits or LSP text edits.
    Json,
}
}

wire! {
/// Params of `redline/transaction/propose`.
pub struct ProposeParams {
    /// The proposal as text.
    pub content: String,
    /// Its format; absent means that the server tells it.
    #[serde(default)]
    pub format: Option<ProposalFormat>,
    /// Leading path components to strip from diff headers; absent means that the server tells it.
    #[serde(default)]
    pub strip: Option<u32>,
    /// Why.
    #[serde(default)]
    pub rationale: Option<String>,
    /// Short name for lists.
    #[serde(default)]
    pub title: Option<String>,
    /// Who proposes; shown to the reviewer.
    #[serde(default)]
    pub proposed_by: Option<String>,
}
}

wire! {
/// One hunk as it was shown.
pub struct HunkRef {
    /// `h_…`.
    pub id: String,
    /// The revision that was shown; absent means the present one.
    #[serde(default)]
    pub revision: Option<u64>,
}
}

wire! {
/// One file as it was shown.
pub struct FileRef {
    /// Path from the workspace root.
    pub path: String,
    /// The transaction revision that was shown; absent means the present one.
    #[serde(default)]
    pub revision: Option<u64>,
}
}

wire! {
/// A 1-based, inclusive range of lines of today's text, as `startLine` counts.
pub struct LineRange {
    /// Path from the workspace root.
    pub path: String,
    /// First line.
    pub start: u32,
    /// Last line.
    pub end: u32,
}
}

wire! {
/// Params of `redline/transaction/accept` and `/reject`: the decision on part of a transaction.
///
/// With no hunk, file or range it decides all that is pending.
#[derive(Default)]
pub struct DecideParams {
    /// `tx_…`; absent means the only unsettled one.
    #[serde(default)]
    pub transaction_id: Option<String>,
    /// The transaction revision that was shown, when the whole is decided.
    #[serde(default)]
    pub revision: Option<u64>,
    /// Hunks decided.
    #[serde(default)]
    pub hunks: Vec<HunkRef>,
    /// Files decided.
    #[serde(default)]
    pub files: Vec<FileRef>,
    /// Line ranges decided.
    #[serde(default)]
    pub lines: Vec<LineRange>,
    /// For a rejection: why, told to the agent. For `Keep mine`: `withdraw` is true.
    #[serde(default)]
    pub reason: Option<String>,
    /// Withdraw rather than reject.
    #[serde(default)]
    pub withdraw: bool,
}
}

wire! {
/// The record of a decision.
pub struct Receipt {
    /// `rc_…`.
    pub id: String,
    /// The transaction.
    pub transaction_id: String,
    /// `accept`, `reject`, `undo` or `redo`.
    pub action: String,
    /// Who decided: `cli`, `neovim`, …
    pub decided_by: String,
    /// Unix seconds.
    pub decided_at: u64,
    /// The hunks decided, with the revisions shown.
    pub hunks: Vec<HunkRef>,
    /// Paths written on disk.
    pub written: Vec<String>,
    /// Paths changed in open documents, not saved by us.
    pub unsaved: Vec<String>,
    /// Facts: `reanchored`, `by_hand`, …
    #[serde(default)]
    pub flags: Vec<String>,
}
}

wire! {
/// Result of a decision.
pub struct DecideResult {
    /// The transaction after it.
    pub transaction: Transaction,
    /// The receipt, when anything was decided.
    #[serde(default)]
    pub receipt: Option<Receipt>,
}
}

wire! {
/// Params of `redline/transaction/amend`.
pub struct AmendParams {
    /// `tx_…`; absent means the one that holds the hunk.
    #[serde(default)]
    pub transaction_id: Option<String>,
    /// The hunk as shown.
    pub hunk: HunkRef,
    /// The user's version of the proposed lines.
    pub added: Vec<String>,
}
}

wire! {
/// Params of `redline/transaction/split`.
pub struct SplitParams {
    /// `tx_…`; absent means the one that holds the hunk.
    #[serde(default)]
    pub transaction_id: Option<String>,
    /// The hunk as shown.
    pub hunk: HunkRef,
}
}

wire! {
/// Params of `redline/transaction/repropose`: propose a conflict again.
///
/// Today's lines become its base, so that it waits for a decision as any other hunk.
pub struct ReproposeParams {
    /// `tx_…`; absent means the one that holds the hunk.
    #[serde(default)]
    pub transaction_id: Option<String>,
    /// The conflict as shown.
    pub hunk: HunkRef,
}
}

wire! {
/// Params of `redline/checkpoint/list`.
#[derive(Default)]
pub struct CheckpointListParams {}
}

wire! {
/// What an undo would take back, or a redo would put back.
pub struct Checkpoint {
    /// The turn or transaction it belongs to.
    pub id: String,
    /// Short name.
    pub title: String,
    /// Unix seconds of the last change it covers.
    pub created_at: u64,
    /// Paths it touches.
    pub paths: Vec<String>,
    /// It was undone and can be redone.
    pub undone: bool,
}
}

wire! {
/// Result of `redline/checkpoint/list`.
pub struct CheckpointListResult {
    /// Newest first.
    pub checkpoints: Vec<Checkpoint>,
}
}

wire! {
/// Direction of a restore.
pub enum RestoreDirection {
    /// Take back.
    Undo,
    /// Put back.
    Redo,
}
}

wire! {
/// Params of `redline/checkpoint/restore`.
pub struct RestoreParams {
    /// Turn or transaction; absent means the latest.
    #[serde(default)]
    pub id: Option<String>,
    /// Undo or redo.
    pub direction: RestoreDirection,
}
}

wire! {
/// Result of `redline/checkpoint/restore`.
pub struct RestoreResult {
    /// The turn or transaction restored.
    pub id: String,
    /// Paths restored on disk or in documents.
    pub paths: Vec<String>,
    /// The receipt.
    pub receipt: Receipt,
}
}

wire! {
/// Params of `redline/session/new`.
#[derive(Default)]
pub struct NewSessionParams {
    /// `PROVIDER/MODEL`; absent means the configured one.
    #[serde(default)]
    pub model: Option<String>,
}
}

wire! {
/// Result of `redline/session/new`.
pub struct NewSessionResult {
    /// `se_…`.
    pub session_id: String,
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
pub struct PromptParams {
    /// `se_…`; absent means the client's current one, made when there is none.
    #[serde(default)]
    pub session_id: Option<String>,
    /// What the user says.
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
    /// The turn it started.
    pub turn_id: String,
}
}

wire! {
/// Params of `redline/session/cancel`.
#[derive(Default)]
pub struct CancelParams {
    /// Absent means the client's current session.
    #[serde(default)]
    pub session_id: Option<String>,
}
}

/// One event of a turn, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
#[ts(optional_fields = nullable)]
pub enum SessionEvent {
    /// Text of the answer, to be appended.
    Text {
        /// The piece.
        text: String,
    },
    /// Reasoning, to be appended.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// A tool call began, went on or ended.
    ToolCall {
        /// Id of the call.
        id: String,
        /// Tool name.
        name: String,
        /// One line for people.
        title: String,
        /// `running`, `ok` or `error`.
        status: String,
        /// What came out, or the error, in one line.
        #[serde(default)]
        detail: Option<String>,
    },
    /// The turn's transaction grew.
    Transaction {
        /// `tx_…`.
        transaction_id: String,
    },
    /// Totals so far.
    Usage {
        /// Prompt tokens, cached ones included.
        input_tokens: u64,
        /// Answer tokens, reasoning included.
        output_tokens: u64,
    },
    /// The turn ended; always last, exactly once.
    End {
        /// `done`, `cancelled`, `error`, `budget` or `timeout`.
        reason: String,
        /// For people, when the reason is not `done`.
        #[serde(default)]
        message: Option<String>,
    },
}

wire! {
/// Notification `redline/session/update`: what happened since the last one.
pub struct SessionUpdateNotification {
    /// `se_…`.
    pub session_id: String,
    /// `turn_…`.
    pub turn_id: String,
    /// In order; adjacent text pieces are merged.
    pub events: Vec<SessionEvent>,
}
}

wire! {
/// A hunk placed in a document that this client has open.
pub struct DocumentHunk {
    /// The transaction it belongs to.
    pub transaction_id: String,
    /// How many hunks that transaction has.
    pub total: u32,
    /// Base lines in the document: from column 0 of the first to column 0 of the line after the last; empty for an insertion.
    pub range: Range,
    /// The hunk.
    pub hunk: Hunk,
}
}

wire! {
/// All hunks of one open document.
pub struct DocumentHunks {
    /// As the client spelled it.
    pub uri: String,
    /// Document version that the ranges count in.
    pub version: i32,
    /// By place. Empty clears the document.
    pub hunks: Vec<DocumentHunk>,
}
}

wire! {
/// Numbers for a status line.
#[derive(Copy, Eq, Default)]
pub struct Counts {
    /// Pending hunks in the workspace.
    pub pending: u32,
    /// Conflicts in the workspace.
    pub conflicts: u32,
    /// Files with either.
    pub files: u32,
    /// Unsettled transactions.
    pub transactions: u32,
}
}

wire! {
/// Notification `redline/transaction/changed`, sent to clients with the `review` capability.
///
/// Ranges that merely moved with the text are not sent again: the editor moves its own marks.
pub struct TransactionChangedNotification {
    /// Transactions that changed.
    pub transaction_ids: Vec<String>,
    /// Documents open in this client whose hunks changed.
    pub documents: Vec<DocumentHunks>,
    /// For the status line.
    pub counts: Counts,
}
}
