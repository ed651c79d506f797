//! Transactions as they are shown: files, hunks, and where each stands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

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
