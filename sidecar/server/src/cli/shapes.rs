//! The shapes that `--json` prints: snake_case, stable, and apart from the wire types.
//!
//! Owns: field names and their order. Must not know: where the values come from.

use redline_protocol::v1;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

/// A wire type in the spelling of `--json`: `session_id` for `sessionId`. Values stay as they are.
///
/// Only for types without maps, whose keys would be data.
pub(crate) fn snake(value: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(value)
        .map(spell)
        .map_err(|error| Failure::internal(format!("an answer cannot be printed: {error}")))
}

fn spell(value: Value) -> Value {
    match value {
        Value::Array(all) => all.into_iter().map(spell).collect(),
        Value::Object(fields) => {
            let spelled = fields.into_iter().map(|(name, value)| {
                let mut key = String::with_capacity(name.len() + 4);
                for c in name.chars() {
                    if c.is_ascii_uppercase() {
                        key.push('_');
                    }
                    key.push(c.to_ascii_lowercase());
                }
                (key, spell(value))
            });
            Value::Object(spelled.collect())
        }
        other => other,
    }
}

/// One transaction.
#[derive(Debug, Serialize)]
pub(crate) struct Transaction<'a> {
    transaction: &'a str,
    state: v1::TransactionState,
    files: Vec<File<'a>>,
    revision: u64,
    title: &'a str,
    proposed_by: &'a str,
    created_at: u64,
    turn: Option<&'a str>,
    rationale: Option<&'a str>,
}

/// One file of a transaction.
#[derive(Debug, Serialize)]
struct File<'a> {
    path: &'a str,
    operation: v1::OperationKind,
    hunks: Vec<Hunk<'a>>,
    state: v1::HunkState,
    revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'a str>,
    flags: &'a [String],
}

/// One hunk of a file.
#[derive(Debug, Serialize)]
struct Hunk<'a> {
    id: &'a str,
    revision: u64,
    state: v1::HunkState,
    start_line: u32,
    removed: &'a [String],
    added: &'a [String],
    rationale: Option<&'a str>,
    #[serde(rename = "match")]
    matched: v1::MatchRung,
    no_newline_at_end: bool,
    amended: bool,
    unsaved: bool,
    incomplete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict: Option<&'a v1::Conflict>,
}

impl<'a> From<&'a v1::Transaction> for Transaction<'a> {
    fn from(it: &'a v1::Transaction) -> Self {
        Self {
            transaction: &it.id,
            state: it.state,
            files: it.files.iter().map(File::from).collect(),
            revision: it.revision,
            title: &it.title,
            proposed_by: &it.proposed_by,
            created_at: it.created_at,
            turn: it.turn_id.as_deref(),
            rationale: it.rationale.as_deref(),
        }
    }
}

impl<'a> From<&'a v1::FileChange> for File<'a> {
    fn from(it: &'a v1::FileChange) -> Self {
        Self {
            path: &it.path,
            operation: it.operation,
            hunks: it.hunks.iter().map(Hunk::from).collect(),
            state: it.state,
            revision: it.revision,
            new_path: it.new_path.as_deref(),
            mode: it.mode.as_deref(),
            flags: &it.flags,
        }
    }
}

impl<'a> From<&'a v1::Hunk> for Hunk<'a> {
    fn from(it: &'a v1::Hunk) -> Self {
        Self {
            id: &it.id,
            revision: it.revision,
            state: it.state,
            start_line: it.start_line,
            removed: &it.removed,
            added: &it.added,
            rationale: it.rationale.as_deref(),
            matched: it.matched,
            no_newline_at_end: it.no_newline_at_end,
            amended: it.amended,
            unsaved: it.unsaved,
            incomplete: it.incomplete,
            conflict: it.conflict.as_ref(),
        }
    }
}

/// The record of a decision.
#[derive(Debug, Serialize)]
pub(crate) struct Receipt<'a> {
    id: &'a str,
    transaction: &'a str,
    action: &'a str,
    decided_by: &'a str,
    decided_at: u64,
    hunks: &'a [v1::HunkRef],
    written: &'a [String],
    unsaved: &'a [String],
    flags: &'a [String],
}

impl<'a> From<&'a v1::Receipt> for Receipt<'a> {
    fn from(it: &'a v1::Receipt) -> Self {
        Self {
            id: &it.id,
            transaction: &it.transaction_id,
            action: &it.action,
            decided_by: &it.decided_by,
            decided_at: it.decided_at,
            hunks: &it.hunks,
            written: &it.written,
            unsaved: &it.unsaved,
            flags: &it.flags,
        }
    }
}

/// A transaction after a decision, and the decision's receipt.
#[derive(Debug, Serialize)]
pub(crate) struct Decided<'a> {
    #[serde(flatten)]
    pub(crate) transaction: Transaction<'a>,
    pub(crate) receipt: Option<Receipt<'a>>,
}

/// What an undo or a redo did.
#[derive(Debug, Serialize)]
pub(crate) struct Restored<'a> {
    pub(crate) id: &'a str,
    pub(crate) direction: v1::RestoreDirection,
    pub(crate) restored: &'a [String],
    pub(crate) receipt: Receipt<'a>,
}

/// What waits, and what happened at the start.
#[derive(Debug, Serialize)]
pub(crate) struct Status<'a> {
    pub(crate) transactions: Vec<Transaction<'a>>,
    pub(crate) approvals: &'a [String],
    pub(crate) recovery: Vec<Recovery<'a>>,
    pub(crate) notices: &'a [String],
    pub(crate) workspace: &'a str,
    pub(crate) mode: &'a str,
    pub(crate) model: &'a str,
    pub(crate) version: &'a str,
    pub(crate) in_process: bool,
}

/// What became of an interrupted commit.
#[derive(Debug, Serialize)]
pub(crate) struct Recovery<'a> {
    transaction: &'a str,
    action: &'a str,
    message: &'a str,
}

impl<'a> From<&'a v1::Recovery> for Recovery<'a> {
    fn from(it: &'a v1::Recovery) -> Self {
        Self {
            transaction: &it.transaction_id,
            action: &it.action,
            message: &it.message,
        }
    }
}

impl<'a> From<&'a v1::StatusResult> for Status<'a> {
    fn from(it: &'a v1::StatusResult) -> Self {
        Self {
            transactions: it.transactions.iter().map(Transaction::from).collect(),
            approvals: &it.approvals,
            recovery: it.recovery.iter().map(Recovery::from).collect(),
            notices: &it.notices,
            workspace: &it.workspace,
            mode: &it.mode,
            model: &it.model,
            version: &it.version,
            in_process: it.in_process,
        }
    }
}
