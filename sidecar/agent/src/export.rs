//! A recorded turn as a `replay` file: what the model said, to be played again.

use redline_providers::replay::{self, RecordedStep};
use redline_providers::{ErrorKind, Event, ProviderError, StopReason};

use crate::{Meant, TurnError, TurnEvent, TurnEventKind};

/// Writes the turn `turn_id` of `events`; `None` when there is no such turn, or its model never answered.
///
/// What is played: text, reasoning, calls, plans, edits, totals, how each step ended. What the workspace and
/// the user answered is not in it: calls really run again. An attempt that was made again by itself is
/// left out: the model had said nothing in it.
pub fn export(events: &[TurnEvent], turn_id: &str) -> Option<String> {
    let turn = events.iter().filter(|event| event.turn_id == turn_id);
    let mut prompt = "";
    let mut steps: Vec<RecordedStep> = Vec::new();
    let mut open: Option<Vec<Event>> = None;
    for event in turn {
        match &event.kind {
            TurnEventKind::Started { prompt: text } => prompt = text,
            TurnEventKind::StepStarted { .. } => open = Some(Vec::new()),
            TurnEventKind::StepEnded { reason, error } => {
                let mut said = open.take().unwrap_or_default();
                said.extend(
                    error
                        .as_ref()
                        .map(|error| Event::Error(provider_error(error))),
                );
                steps.push(RecordedStep {
                    events: said,
                    reason: *reason,
                });
            }
            TurnEventKind::Retrying { .. } => {
                steps.pop();
                open = Some(Vec::new());
            }
            // The totals come when the answer is over.
            // What was estimated nobody told.
            TurnEventKind::Usage {
                step,
                estimated: false,
                ..
            } => {
                if let Some(last) = steps.last_mut() {
                    last.events.push(Event::Usage(*step));
                }
            }
            kind => {
                if let (Some(open), Some(event)) = (&mut open, said(kind)) {
                    open.push(event);
                }
            }
        }
    }
    if let Some(said) = open.filter(|said| !said.is_empty()) {
        steps.push(broken_off(said));
    }
    if steps.is_empty() {
        return None;
    }
    Some(replay::write(prompt, &steps))
}

/// What the model said by an event.
fn said(kind: &TurnEventKind) -> Option<Event> {
    Some(match kind {
        TurnEventKind::Text { text } => Event::Text { text: text.clone() },
        TurnEventKind::Reasoning {
            reasoning,
            text,
            replay,
        } => Event::Reasoning {
            kind: *reasoning,
            text: text.clone(),
            replay: replay.clone(),
        },
        TurnEventKind::Opaque { block } => Event::Opaque(block.clone()),
        // Followed by the call behind it, which carries it.
        TurnEventKind::Plan { .. } => return None,
        TurnEventKind::ToolCalled { call, meant } => match meant {
            None => Event::ToolCallReady(call.clone()),
            Some(Meant::Edit { path, op }) => Event::Edit {
                call: call.clone(),
                path: path.clone(),
                op: op.clone(),
            },
            Some(Meant::Plan { steps }) => Event::Plan {
                call: call.clone(),
                steps: steps.clone(),
            },
        },
        _ => return None,
    })
}

/// An answer that was stopped in the middle plays as one that broke off there.
fn broken_off(mut events: Vec<Event>) -> RecordedStep {
    let mut error = ProviderError::new(ErrorKind::Cancelled, "the turn was stopped here");
    error.retryable = false;
    events.push(Event::Error(error));
    RecordedStep {
        events,
        reason: StopReason::Error,
    }
}

fn provider_error(error: &TurnError) -> ProviderError {
    let kind = error.kind.as_deref().unwrap_or_default();
    let kind = serde_json::from_value(kind.into()).unwrap_or(ErrorKind::Server);
    let mut made = ProviderError::new(kind, error.message.clone());
    made.retryable = error.retryable;
    made
}
