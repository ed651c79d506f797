//! What a client asks of transactions: proposals, decisions, undo.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Transaction;

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
    /// Answer with every file of the transaction; else only with those that were decided.
    #[serde(default)]
    pub all_files: bool,
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
    /// The transaction after it. `files` holds those that were decided, or all when `allFiles` asked for them.
    pub transaction: Transaction,
    /// Hunks, and operations of whole files, that still wait for a decision in it, conflicts among them.
    pub left: u32,
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
