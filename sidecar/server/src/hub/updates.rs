//! A turn's events as a client of the conversation reads them.
//!
//! Owns: the way from [`TurnEvent`] to [`v1::SessionUpdate`], live and from the record alike.
//! Must not know: who is told, or when.

use std::collections::BTreeSet;

use redline_agent::{BudgetLimit, ToolStatus, TurnEnd, TurnError, TurnEvent, TurnEventKind};
use redline_protocol::v1::{
    self, ContentBlock, NoticeLevel, PlanContent, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    SessionState, SessionUpdate, StopReason, ToolCallContent, ToolCallStatus, ToolKind,
};
use redline_providers::PlanStep;
use redline_tools::{Envelope, ErrorCode};
use serde_json::Value;

/// Longest arguments that are shown with a call, in bytes of JSON.
const RAW_INPUT_BYTES: usize = 4096;

/// What runs of pieces belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run {
    Message,
    Thought,
}

/// Tells one turn. A run of pieces is one message, named after the turn and the first piece's number,
/// so that what is told from the record has the same ids as what was told live.
#[derive(Debug)]
pub(crate) struct Narrator {
    turn_id: String,
    run: Option<(Run, String)>,
    /// Who answers, as it was last told.
    model: Option<String>,
    /// Calls that wait for the user.
    staged: BTreeSet<String>,
    /// Calls that waited for the user when the process ended.
    left: bool,
}

impl Narrator {
    pub(crate) fn new(turn_id: impl Into<String>) -> Self {
        Self {
            turn_id: turn_id.into(),
            run: None,
            model: None,
            staged: BTreeSet::new(),
            left: false,
        }
    }

    /// Whether a call waits for the user.
    pub(crate) fn waits(&self) -> bool {
        !self.staged.is_empty()
    }

    /// The updates that one event makes, in order.
    pub(crate) fn tell(&mut self, event: &TurnEvent) -> Vec<SessionUpdate> {
        match &event.kind {
            TurnEventKind::Text { text } => {
                let message_id = self.message(Run::Message, event.seq);
                return vec![SessionUpdate::AgentMessageChunk {
                    message_id,
                    content: block(text),
                }];
            }
            TurnEventKind::Reasoning { text, .. } if !text.is_empty() => {
                let message_id = self.message(Run::Thought, event.seq);
                return vec![SessionUpdate::AgentThoughtChunk {
                    message_id,
                    content: block(text),
                }];
            }
            // A block of reasoning without text ends nothing that is seen, nor does one of the vendor's.
            TurnEventKind::Reasoning { .. } | TurnEventKind::Opaque { .. } => return Vec::new(),
            _ => self.run = None,
        }
        self.other(event)
    }

    fn message(&mut self, kind: Run, seq: u64) -> String {
        match &self.run {
            Some((run, id)) if *run == kind => id.clone(),
            _ => {
                let id = format!("{}:{seq}", self.turn_id);
                self.run = Some((kind, id.clone()));
                id
            }
        }
    }

    /// What a session does changes with the first call that waits, and with the last that no longer does.
    fn other(&mut self, event: &TurnEvent) -> Vec<SessionUpdate> {
        let waited = !self.staged.is_empty();
        match &event.kind {
            TurnEventKind::ToolStaged { call_id, .. } => {
                self.staged.insert(call_id.clone());
            }
            TurnEventKind::ToolRunning { call_id, .. } => {
                self.staged.remove(call_id);
            }
            TurnEventKind::ToolFinished {
                call_id, status, ..
            } => {
                self.staged.remove(call_id);
                self.left |= *status == ToolStatus::PendingApproval;
            }
            TurnEventKind::StepStarted { model, .. } => {
                if self.model.as_ref() == Some(model) {
                    return Vec::new();
                }
                self.model = Some(model.clone());
            }
            _ => {}
        }
        let mut updates = self.updates(event);
        let waits = !self.staged.is_empty();
        if waits != waited {
            updates.push(state(if waits {
                SessionState::RequiresAction
            } else {
                SessionState::Running
            }));
        }
        updates
    }

    fn updates(&self, event: &TurnEvent) -> Vec<SessionUpdate> {
        let update = match &event.kind {
            TurnEventKind::Started { prompt } => {
                return vec![
                    SessionUpdate::UserMessage {
                        message_id: format!("{}:{}", self.turn_id, event.seq),
                        content: vec![block(prompt)],
                    },
                    state(SessionState::Running),
                ];
            }
            TurnEventKind::ToolStarted { call_id, tool } => {
                let title = tool.strip_prefix("workspace_").unwrap_or(tool);
                let begun = call(call_id, tool, title, ToolCallStatus::Pending);
                SessionUpdate::ToolCallUpdate(begun)
            }
            TurnEventKind::ToolRunning {
                call_id,
                tool,
                title,
                arguments,
            } => running(call_id, tool, title, arguments),
            TurnEventKind::ToolStaged {
                call_id,
                tool,
                title,
                waits_for,
                ..
            } => SessionUpdate::ToolCallUpdate(v1::ToolCallUpdate {
                approval_id: Some(waits_for.clone()),
                ..call(call_id, tool, title, ToolCallStatus::Pending)
            }),
            TurnEventKind::Committed {
                transaction_id,
                text,
            } => {
                return vec![
                    SessionUpdate::Transaction {
                        transaction_id: transaction_id.clone(),
                    },
                    notice(NoticeLevel::Info, text.clone()),
                ];
            }
            TurnEventKind::ToolFinished {
                call_id,
                tool,
                title,
                status,
                envelope,
            } => finished(call_id, tool, title, *status, envelope),
            TurnEventKind::Plan { steps } => plan(&self.turn_id, steps),
            TurnEventKind::Usage {
                step: _,
                turn,
                used,
                size,
                turn_cost,
                session_cost,
                estimated,
            } => SessionUpdate::UsageUpdate(v1::UsageUpdate {
                used: *used,
                size: *size,
                cost: dollars(*session_cost),
                turn_cost: dollars(*turn_cost),
                input_tokens: turn.input,
                cached_tokens: turn.input_cached,
                output_tokens: turn.output,
                reasoning_tokens: turn.output_reasoning,
                estimated: *estimated,
            }),
            TurnEventKind::Told { text } => SessionUpdate::Decisions { text: text.clone() },
            TurnEventKind::Notice { text } => notice(NoticeLevel::Info, text.clone()),
            TurnEventKind::Retrying { wait_ms, error, .. } => {
                let seconds = std::time::Duration::from_millis(*wait_ms).as_secs_f64();
                let text = format!("{}; asking again in {seconds:.1} s", error.message);
                notice(NoticeLevel::Warning, text)
            }
            // With each turn, so that a conversation that is read again says who answered what.
            TurnEventKind::StepStarted { model, .. } => SessionUpdate::CurrentModelUpdate {
                current_model_id: model.clone(),
            },
            TurnEventKind::Ended { end } => ended(end, self.left),
            TurnEventKind::Asked { .. }
            | TurnEventKind::StepEnded { .. }
            | TurnEventKind::ToolCalled { .. }
            | TurnEventKind::Text { .. }
            | TurnEventKind::Reasoning { .. }
            | TurnEventKind::Opaque { .. } => return Vec::new(),
        };
        vec![update]
    }
}

/// Why a turn ended, in the protocol's words.
pub(crate) fn stop_reason(end: &TurnEnd) -> StopReason {
    match end {
        TurnEnd::Completed => StopReason::EndTurn,
        TurnEnd::Cancelled => StopReason::Cancelled,
        TurnEnd::Budget { limit } => match limit {
            BudgetLimit::Steps => StopReason::MaxTurnRequests,
            BudgetLimit::Tokens => StopReason::MaxTokens,
            BudgetLimit::Cost => StopReason::MaxCost,
            BudgetLimit::Time => StopReason::Timeout,
        },
        TurnEnd::Failed { error } if error.kind.as_deref() == Some("refusal") => {
            StopReason::Refusal
        }
        TurnEnd::Failed { .. } => StopReason::Error,
        TurnEnd::Interrupted => StopReason::Interrupted,
    }
}

/// Adds `new` to what waits to be sent: pieces of one message are joined, totals replaced.
pub(crate) fn join(waiting: &mut Vec<SessionUpdate>, new: Vec<SessionUpdate>) {
    for update in new {
        match (waiting.last_mut(), &update) {
            (
                Some(SessionUpdate::AgentMessageChunk {
                    message_id,
                    content: ContentBlock::Text { text },
                }),
                SessionUpdate::AgentMessageChunk {
                    message_id: same,
                    content: ContentBlock::Text { text: more },
                },
            )
            | (
                Some(SessionUpdate::AgentThoughtChunk {
                    message_id,
                    content: ContentBlock::Text { text },
                }),
                SessionUpdate::AgentThoughtChunk {
                    message_id: same,
                    content: ContentBlock::Text { text: more },
                },
            ) if message_id == same => text.push_str(more),
            (Some(last @ SessionUpdate::UsageUpdate(_)), SessionUpdate::UsageUpdate(_)) => {
                *last = update
            }
            _ => waiting.push(update),
        }
    }
}

fn block(text: &str) -> ContentBlock {
    ContentBlock::Text {
        text: text.to_owned(),
    }
}

fn state(state: SessionState) -> SessionUpdate {
    SessionUpdate::StateUpdate(v1::StateUpdate {
        state,
        stop_reason: None,
        error: None,
    })
}

fn notice(level: NoticeLevel, text: String) -> SessionUpdate {
    SessionUpdate::Notice { level, text }
}

fn call(call_id: &str, tool: &str, title: &str, status: ToolCallStatus) -> v1::ToolCallUpdate {
    v1::ToolCallUpdate {
        tool_call_id: call_id.to_owned(),
        tool: Some(tool.to_owned()),
        title: Some(title.to_owned()),
        kind: Some(kind_of(tool)),
        status: Some(status),
        ..v1::ToolCallUpdate::default()
    }
}

/// What kind of thing a tool of ours does.
fn kind_of(tool: &str) -> ToolKind {
    match tool {
        "workspace_read" | "workspace_list" => ToolKind::Read,
        "workspace_search" => ToolKind::Search,
        "workspace_edit" => ToolKind::Edit,
        "workspace_command" => ToolKind::Execute,
        "workspace_plan" | "workspace_notes" => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

fn running(call_id: &str, tool: &str, title: &str, arguments: &Value) -> SessionUpdate {
    let short = !arguments.is_null() && arguments.to_string().len() <= RAW_INPUT_BYTES;
    SessionUpdate::ToolCallUpdate(v1::ToolCallUpdate {
        raw_input: short.then(|| arguments.clone()),
        ..call(call_id, tool, title, ToolCallStatus::InProgress)
    })
}

fn finished(
    call_id: &str,
    tool: &str,
    title: &str,
    status: ToolStatus,
    envelope: &Envelope,
) -> SessionUpdate {
    let now = match status {
        ToolStatus::Ok => ToolCallStatus::Completed,
        // It is waited for no more: only the end of the process ends a call so.
        ToolStatus::PendingApproval => ToolCallStatus::Cancelled,
        ToolStatus::Error
            if matches!(
                envelope.code(),
                Some(ErrorCode::Cancelled | ErrorCode::Interrupted)
            ) =>
        {
            ToolCallStatus::Cancelled
        }
        ToolStatus::Error => ToolCallStatus::Failed,
    };
    let mut content = Vec::new();
    let ids = &envelope.recovery.ids;
    if let Some(Value::String(transaction_id)) = ids.get("transaction") {
        content.push(ToolCallContent::Transaction {
            transaction_id: transaction_id.clone(),
            hunk_ids: strings(ids.get("hunks")),
        });
    }
    let said = match &envelope.recovery.error {
        Some(error) => Some(format!("{}: {}", error.code, error.message)),
        None => (status == ToolStatus::PendingApproval).then(|| {
            format!(
                "{}: the sidecar ended while this waited for you; it did not run",
                ErrorCode::Interrupted
            )
        }),
    };
    content.extend(said.map(|text| ToolCallContent::Content {
        content: block(&text),
    }));
    SessionUpdate::ToolCallUpdate(v1::ToolCallUpdate {
        content: Some(content),
        ..call(call_id, tool, title, now)
    })
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array);
    let strings = list.into_iter().flatten().filter_map(Value::as_str);
    strings.map(str::to_owned).collect()
}

fn plan(turn_id: &str, steps: &[PlanStep]) -> SessionUpdate {
    let entry = |step: &PlanStep| PlanEntry {
        content: step.step.clone(),
        priority: PlanEntryPriority::Medium,
        status: match step.status.as_str() {
            "completed" => PlanEntryStatus::Completed,
            "in_progress" => PlanEntryStatus::InProgress,
            _ => PlanEntryStatus::Pending,
        },
    };
    SessionUpdate::PlanUpdate {
        plan: PlanContent::Items {
            plan_id: turn_id.to_owned(),
            entries: steps.iter().map(entry).collect(),
        },
    }
}

fn dollars(amount: Option<f64>) -> Option<v1::Cost> {
    let amount = amount?;
    Some(v1::Cost {
        amount,
        currency: "USD".to_owned(),
    })
}

/// `left` when a call waited for the user until the end.
fn ended(end: &TurnEnd, left: bool) -> SessionUpdate {
    let error = match end {
        TurnEnd::Failed { error } => Some(error_info(error)),
        TurnEnd::Budget { limit } => Some(v1::ErrorInfo {
            code: "TIMEOUT".to_owned(),
            message: format!("the turn's limit of {limit:?} is reached").to_lowercase(),
            hint: "ask for less at once, go on with another prompt, or raise it in [budget]"
                .to_owned(),
            retryable: true,
        }),
        TurnEnd::Interrupted => {
            let mut error = TurnError::new(
                ErrorCode::Interrupted,
                "the sidecar ended while this turn ran",
            );
            if left {
                error.hint =
                    "What waited for you did not run. Approve or deny it, then ask to go on: \
                              what you approved runs when the agent makes the call again."
                        .to_owned();
            }
            Some(error_info(&error))
        }
        TurnEnd::Completed | TurnEnd::Cancelled => None,
    };
    SessionUpdate::StateUpdate(v1::StateUpdate {
        state: SessionState::Idle,
        stop_reason: Some(stop_reason(end)),
        error,
    })
}

fn error_info(error: &TurnError) -> v1::ErrorInfo {
    v1::ErrorInfo {
        code: error.code.to_string(),
        message: error.message.clone(),
        hint: error.hint.clone(),
        retryable: error.retryable,
    }
}
