//! What a turn says, in order.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use redline_providers::{
    EditOp, OpaqueBlock, PlanStep, ProviderError, ReasoningKind, StopReason, ToolCall, Usage,
};
use redline_tools::{Envelope, ErrorCode, Status};

use crate::BudgetLimit;

/// One event of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnEvent {
    /// The turn.
    pub turn_id: String,
    /// Counts from 0 without gaps; pieces that came within a frame are one event.
    pub seq: u64,
    /// What happened.
    pub kind: TurnEventKind,
}

/// Kinds of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum TurnEventKind {
    /// The turn began. Always the first.
    Started {
        /// The prompt as the user wrote it.
        prompt: String,
    },
    /// The prompt with all that stands around it, as the model reads it.
    Asked {
        /// The user's message.
        text: String,
    },
    /// A model call begins.
    StepStarted {
        /// From 1.
        step: u32,
        /// `PROVIDER/MODEL`.
        model: String,
    },
    /// A piece of the answer.
    Text {
        /// Not empty.
        text: String,
    },
    /// A piece of reasoning.
    Reasoning {
        /// What kind of reasoning text it is.
        reasoning: ReasoningKind,
        /// Empty when only the block matters.
        text: String,
        /// The opaque block that the vendor wants back; ends the piece.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replay: Option<Value>,
    },
    /// A block of the answer that only the vendor understands, and wants back at its place.
    Opaque {
        /// The block.
        block: OpaqueBlock,
    },
    /// The model's plan as it stands.
    Plan {
        /// All steps.
        steps: Vec<PlanStep>,
    },
    /// A tool call begins to arrive.
    ToolStarted {
        /// Unique in the conversation.
        call_id: String,
        /// Name of the tool.
        tool: String,
    },
    /// The call arrived whole.
    ToolCalled {
        /// The call as the model made it.
        call: ToolCall,
        /// What it stands for, when it is no call of our own tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        meant: Option<Meant>,
    },
    /// The model's answer of this step ended.
    StepEnded {
        /// Why.
        reason: StopReason,
        /// What failed, where something did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<TurnError>,
    },
    /// The call runs now.
    ToolRunning {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// One line for people: `read src/main.rs`.
        title: String,
        /// Its arguments; `null` when they were unusable.
        arguments: Value,
    },
    /// The call waits for the user; once they have decided it runs, or is refused.
    ToolStaged {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// One line for people: what exactly would happen.
        title: String,
        /// What it waits for: `approval_…` or `plan_…`.
        waits_for: String,
        /// What stands in for its result until then.
        envelope: Box<Envelope>,
    },
    /// The call ended. Exactly one for each call that was started.
    ToolFinished {
        /// The call.
        call_id: String,
        /// Name of the tool.
        tool: String,
        /// One line for people, as in [`TurnEventKind::ToolRunning`].
        title: String,
        /// How it ended.
        status: ToolStatus,
        /// The result as the model reads it.
        envelope: Box<Envelope>,
    },
    /// What the model was told of the user's decisions.
    Told {
        /// The note.
        text: String,
    },
    /// Tokens of one step, and of the turn so far.
    Usage {
        /// This step.
        step: Usage,
        /// All steps of the turn together.
        turn: Usage,
        /// Tokens that the conversation takes in the model's context now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        used: Option<u64>,
        /// Tokens that the context holds; absent when it is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64>,
        /// US dollars of the turn so far; absent when it is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_cost: Option<f64>,
        /// US dollars of the session so far; absent when it is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_cost: Option<f64>,
        /// Some of the turn's tokens were estimated.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        estimated: bool,
    },
    /// The model is asked again by itself, since nothing had been shown yet.
    Retrying {
        /// From 1.
        attempt: u32,
        /// How long it waits before that.
        wait_ms: u64,
        /// What failed.
        error: TurnError,
    },
    /// Something that the user should know; the turn goes on.
    Notice {
        /// One sentence.
        text: String,
    },
    /// The turn's own edits were committed, by the policy that the user chose.
    Committed {
        /// `tx_…`.
        transaction_id: String,
        /// What became of them, in one sentence.
        text: String,
    },
    /// The turn ended. Always the last.
    Ended {
        /// How.
        end: TurnEnd,
    },
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It did what it was asked.
    Ok,
    /// It waits for the user.
    PendingApproval,
    /// It failed, or was stopped.
    Error,
}

impl From<Status> for ToolStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Ok => Self::Ok,
            Status::PendingApproval => Self::PendingApproval,
            Status::Error => Self::Error,
        }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model said all that it had to say.
    Completed,
    /// The user stopped it.
    Cancelled,
    /// A limit of the budget was reached.
    Budget {
        /// Which one.
        limit: BudgetLimit,
    },
    /// It could not go on.
    Failed {
        /// Why.
        error: TurnError,
    },
    /// The process ended while it ran. Recorded by the next one.
    Interrupted,
}

/// What a call by another product's name stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Meant {
    /// An edit.
    Edit {
        /// Path as the model wrote it.
        path: String,
        /// What to do.
        op: EditOp,
    },
    /// A plan.
    Plan {
        /// All steps.
        steps: Vec<PlanStep>,
    },
}

/// An error as the user reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnError {
    /// `PROVIDER` and `TIMEOUT` for model calls, `INVALID_ARGUMENTS` when a model cannot be repaired.
    pub code: ErrorCode,
    /// The provider's kind of failure, where it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What happened.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// Whether asking again may help.
    pub retryable: bool,
}

impl TurnError {
    /// Makes an error that is not a provider's.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            kind: None,
            message: message.into(),
            hint: code.hint().to_owned(),
            retryable: false,
        }
    }
}

impl From<&ProviderError> for TurnError {
    fn from(error: &ProviderError) -> Self {
        use redline_providers::ErrorKind;
        let code = match error.kind {
            ErrorKind::Timeout => ErrorCode::Timeout,
            ErrorKind::Cancelled => ErrorCode::Cancelled,
            _ => ErrorCode::Provider,
        };
        Self {
            code,
            kind: Some(error.kind.as_str().to_owned()),
            message: error.message.clone(),
            hint: error.kind.hint().to_owned(),
            retryable: error.retryable,
        }
    }
}
