//! The lines of a recording, as they are stored, and their validation.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Recording;
use crate::{
    Arguments, EditOp, ErrorKind, Event, OpaqueBlock, PlanStep, ProviderError, ReasoningKind,
    StopReason, ToolCall, Usage,
};

pub(super) const VERSION: &str = "redline/v1";

/// A recording that cannot be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}:{line}: {message}")]
pub struct RecordingError {
    /// The file, or `built in`.
    pub origin: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong there, and what was expected.
    pub message: String,
}

/// One step: what comes before a `done`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) lines: Vec<Line>,
    pub(super) reason: StopReason,
}

/// One event with the wait before it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) delay: Duration,
    stored: Stored,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    replay: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    piece_chars: usize,
    #[serde(default)]
    piece_delay_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
enum Stored {
    Text {
        text: String,
    },
    Reasoning {
        text: String,
        #[serde(default = "raw")]
        kind: ReasoningKind,
        #[serde(default)]
        replay: Option<Value>,
    },
    ToolCall {
        name: String,
        #[serde(default)]
        arguments: Option<Map<String, Value>>,
        #[serde(default)]
        arguments_raw: Option<String>,
        #[serde(default)]
        input: Option<String>,
        #[serde(default)]
        id: Option<String>,
    },
    Plan {
        steps: Vec<PlanStep>,
        #[serde(default)]
        id: Option<String>,
    },
    Edit {
        path: String,
        #[serde(default)]
        old: Option<String>,
        #[serde(default)]
        new: Option<String>,
        #[serde(default)]
        op: Option<PatchOp>,
        #[serde(default)]
        diff: Option<String>,
        #[serde(default)]
        id: Option<String>,
    },
    Opaque {
        api: String,
        block: Value,
    },
    Usage {
        input: u64,
        output: u64,
        #[serde(default)]
        input_cached: u64,
        #[serde(default)]
        input_cache_write: u64,
        #[serde(default)]
        output_reasoning: u64,
    },
    Error {
        kind: ErrorKind,
        message: String,
        #[serde(default)]
        retryable: Option<bool>,
        #[serde(default)]
        retry_after_ms: Option<u64>,
        #[serde(default)]
        status: Option<u16>,
    },
    Warning {
        kind: ErrorKind,
        message: String,
    },
    Done {
        reason: StopReason,
    },
    Prompt {
        #[serde(default)]
        text: Option<String>,
    },
}

/// Operations of patch tools, as they are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum PatchOp {
    #[serde(rename = "create_file")]
    Create,
    #[serde(rename = "update_file")]
    Update,
    #[serde(rename = "delete_file")]
    Delete,
}

impl PatchOp {
    fn with(self, diff: Option<String>) -> Option<EditOp> {
        match (self, diff) {
            (Self::Create, Some(diff)) => Some(EditOp::Create { diff }),
            (Self::Update, Some(diff)) => Some(EditOp::Update { diff }),
            (Self::Delete, None) => Some(EditOp::Delete),
            _ => None,
        }
    }
}

fn raw() -> ReasoningKind {
    ReasoningKind::Raw
}

pub(super) fn parse(origin: &str, text: &str) -> Result<Recording, RecordingError> {
    let fail = |line: usize, message: String| RecordingError {
        origin: origin.to_owned(),
        line,
        message,
    };
    let mut lines = text
        .trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with("//"));
    let Some((number, first)) = lines.next() else {
        return Err(fail(1, "the recording is empty".to_owned()));
    };
    let header: Header = serde_json::from_str(first).map_err(|error| {
        fail(
            number,
            format!(
                "the first line must be {{\"replay\": \"{VERSION}\"}}: {}",
                reason(&error)
            ),
        )
    })?;
    if header.replay != VERSION {
        return Err(fail(
            number,
            format!("version `{}`: this plays `{VERSION}`", header.replay),
        ));
    }

    let mut turns: Vec<Vec<Step>> = vec![Vec::new()];
    let mut open: Vec<Line> = Vec::new();
    let mut last = number;
    for (number, line) in lines {
        last = number;
        let line = parse_line(line).map_err(|message| fail(number, message))?;
        match &line.stored {
            Stored::Prompt { .. } => {
                if !open.is_empty() {
                    return Err(fail(
                        number,
                        "`prompt` inside a step: `done` is missing before it".to_owned(),
                    ));
                }
                // One at the head of the file only says with which words the first turn began.
                if turns.last().is_some_and(|steps| !steps.is_empty()) {
                    turns.push(Vec::new());
                }
            }
            Stored::Done { reason } => {
                let step = Step {
                    lines: std::mem::take(&mut open),
                    reason: *reason,
                };
                check_step(&step).map_err(|message| fail(number, message))?;
                if let Some(steps) = turns.last_mut() {
                    steps.push(step);
                }
            }
            _ => open.push(line),
        }
    }
    if !open.is_empty() {
        return Err(fail(last, "the last step has no `done`".to_owned()));
    }
    if turns.last().is_some_and(Vec::is_empty) {
        return Err(fail(
            last,
            "a turn without steps: `done` is missing".to_owned(),
        ));
    }
    Ok(Recording {
        title: header.title,
        piece_chars: header.piece_chars,
        piece_delay: Duration::from_millis(header.piece_delay_ms),
        turns,
    })
}

fn parse_line(line: &str) -> Result<Line, String> {
    let mut value: Value = serde_json::from_str(line).map_err(|error| reason(&error))?;
    let Some(map) = value.as_object_mut() else {
        return Err(
            "an event must be an object like {\"event\": \"text\", \"text\": \"…\"}".to_owned(),
        );
    };
    let delay = match map.shift_remove("delay_ms") {
        None => 0,
        Some(delay) => delay
            .as_u64()
            .ok_or("`delay_ms` must be a number of milliseconds".to_owned())?,
    };
    let stored: Stored = serde_json::from_value(value).map_err(|error| error.to_string())?;
    match &stored {
        Stored::ToolCall {
            arguments,
            arguments_raw,
            input,
            ..
        } => {
            let told = [
                arguments.is_some(),
                arguments_raw.is_some(),
                input.is_some(),
            ];
            if told.iter().filter(|told| **told).count() != 1 {
                let needs = "a `tool_call` needs one of `arguments`, `arguments_raw` and `input`";
                return Err(needs.to_owned());
            }
        }
        Stored::Edit {
            old, new, op, diff, ..
        } => {
            let replaces = old.is_some() && new.is_some() && op.is_none() && diff.is_none();
            let patches = old.is_none() && new.is_none();
            let patches = patches && op.is_some_and(|op| op.with(diff.clone()).is_some());
            if !replaces && !patches {
                let needs =
                    "an `edit` needs `old` and `new`, or an `op` with the `diff` that it takes";
                return Err(needs.to_owned());
            }
        }
        _ => {}
    }
    Ok(Line {
        delay: Duration::from_millis(delay),
        stored,
    })
}

fn check_step(step: &Step) -> Result<(), String> {
    let wants_results = step.lines.iter().any(|line| line.is_call());
    let failed = step
        .lines
        .iter()
        .any(|line| matches!(line.stored, Stored::Error { .. }));
    match step.reason {
        StopReason::ToolCalls if !wants_results => {
            Err("`done` says tool_calls, but the step has no call".to_owned())
        }
        StopReason::End if wants_results => {
            Err("the step has calls: `done` must say tool_calls".to_owned())
        }
        StopReason::Error | StopReason::Refusal if !failed => {
            Err("`done` says that it failed, but the step has no `error`".to_owned())
        }
        _ => Ok(()),
    }
}

/// serde_json's message without its own line number, which is always 1 here.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line 1 column ") {
        Some(at) => format!("{}, column {}", &text[..at], error.column()),
        None => text,
    }
}

impl Line {
    fn is_call(&self) -> bool {
        matches!(
            self.stored,
            Stored::ToolCall { .. } | Stored::Plan { .. } | Stored::Edit { .. }
        )
    }

    /// The event of this line; `new_id` names a call whose id was not recorded.
    pub(super) fn event(&self, new_id: &mut (dyn FnMut() -> String + Send)) -> Event {
        let mut call = |id: &Option<String>, name: &str, arguments: Arguments| ToolCall {
            id: id.clone().unwrap_or_else(&mut *new_id),
            wire_id: id.clone(),
            name: name.to_owned(),
            arguments,
        };
        match self.stored.clone() {
            Stored::Text { text } => Event::Text { text },
            Stored::Reasoning { text, kind, replay } => Event::Reasoning { kind, text, replay },
            Stored::ToolCall {
                name,
                id,
                input: Some(input),
                ..
            } => Event::ToolCallReady(call(&id, &name, Arguments::Freeform(input))),
            Stored::ToolCall { name, id, .. } => {
                Event::ToolCallReady(call(&id, &name, Arguments::parse(&self.arguments_text())))
            }
            Stored::Plan { steps, id } => {
                let arguments = object(json!({ "plan": steps }));
                Event::Plan {
                    call: call(&id, "update_plan", arguments),
                    steps,
                }
            }
            Stored::Edit {
                path,
                old,
                new,
                op: None,
                id,
                ..
            } => {
                let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
                let arguments = object(json!({"path": path, "old": old, "new": new}));
                let call = call(&id, "edit_file", arguments);
                Event::Edit {
                    call,
                    path,
                    op: EditOp::Replace { old, new },
                }
            }
            Stored::Edit {
                path,
                op: Some(op),
                diff,
                id,
                ..
            } => {
                let mut operation = json!({"type": op, "path": path});
                if let Some(diff) = &diff {
                    operation["diff"] = json!(diff);
                }
                let call = call(&id, "apply_patch", object(operation));
                // The line was checked when it was read.
                let op = op.with(diff).unwrap_or(EditOp::Delete);
                Event::Edit { call, path, op }
            }
            Stored::Opaque { api, block } => Event::Opaque(OpaqueBlock { api, block }),
            Stored::Warning { kind, message } => Event::Warning(ProviderError::new(kind, message)),
            Stored::Usage {
                input,
                output,
                input_cached,
                input_cache_write,
                output_reasoning,
            } => Event::Usage(Usage {
                input,
                input_cached,
                input_cache_write,
                output,
                output_reasoning,
            }),
            Stored::Error {
                kind,
                message,
                retryable,
                retry_after_ms,
                status,
            } => {
                let mut error = ProviderError::new(kind, message);
                error.retryable = retryable.unwrap_or(error.retryable);
                error.retry_after = retry_after_ms.map(Duration::from_millis);
                error.status = status;
                Event::Error(error)
            }
            // Taken out while the file was read.
            Stored::Done { reason } => Event::Done { reason },
            Stored::Prompt { text } => Event::Text {
                text: text.unwrap_or_default(),
            },
        }
    }

    /// A call's arguments as a model would write them.
    pub(super) fn arguments_text(&self) -> String {
        match &self.stored {
            Stored::ToolCall {
                arguments_raw: Some(raw),
                ..
            }
            | Stored::ToolCall {
                input: Some(raw), ..
            } => raw.clone(),
            Stored::ToolCall {
                arguments: Some(map),
                ..
            } => serde_json::to_string(map).unwrap_or_default(),
            _ => String::new(),
        }
    }
}

fn object(value: Value) -> Arguments {
    match value {
        Value::Object(map) => Arguments::Json(map),
        _ => Arguments::Json(Map::new()),
    }
}
