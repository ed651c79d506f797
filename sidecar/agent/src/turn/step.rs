//! One model call: its stream becomes events and the assistant's message.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use redline_providers::{EditOp, Event, EventStream, ProviderError, StopReason, ToolCall, Usage};
use redline_tools::{Envelope, ErrorCode, ToolError};

use super::Stop;
use super::events::Events;
use crate::{Meant, ToolStatus, TurnEnd, TurnError, TurnEventKind};

/// A call to run, or one that is answered already.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Call {
    /// One of our tools, or a name that is none.
    Tool(ToolCall),
    /// An edit by another product's name; it runs as our own edit tool.
    Edit {
        call: ToolCall,
        path: String,
        op: EditOp,
    },
    /// A plan by another product's name: it was shown, and that is all.
    Plan(ToolCall),
}

impl Call {
    pub(super) fn call(&self) -> &ToolCall {
        match self {
            Self::Tool(call) | Self::Edit { call, .. } | Self::Plan(call) => call,
        }
    }
}

/// What a step came to.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) calls: Vec<Call>,
    pub(super) usage: Usage,
    pub(super) reason: StopReason,
    pub(super) error: Option<ProviderError>,
    pub(super) stopped: Option<TurnEnd>,
    /// It said something, or called a tool.
    pub(super) is_answer: bool,
    /// Bytes of text, reasoning and calls.
    pub(super) answer_bytes: u64,
}

/// Reads a stream to its end, or to the end of the turn.
pub(super) async fn run(mut stream: EventStream, stop: &Stop, events: &mut Events) -> Step {
    let mut step = Step {
        calls: Vec::new(),
        usage: Usage::default(),
        reason: StopReason::End,
        error: None,
        stopped: None,
        is_answer: false,
        answer_bytes: 0,
    };
    let mut open = BTreeSet::new();
    loop {
        let event = tokio::select! {
            biased;
            end = stop.wait() => {
                step.stopped = Some(end);
                break;
            }
            event = stream.next() => event,
        };
        let Some(event) = event else { break };
        if let Event::Done { reason } = event {
            step.reason = reason;
            break;
        }
        step.take(event, &mut open, events);
    }
    // The connection goes before anything else happens.
    drop(stream);
    if step.stopped.is_none() {
        events.emit(TurnEventKind::StepEnded {
            reason: step.reason,
            error: step.error.as_ref().map(TurnError::from),
        });
    }
    // A call that will not run still ends, for whoever saw it begin.
    if step.stopped.is_none() && step.error.is_none() {
        for call in step.calls.iter().map(Call::call) {
            open.retain(|(id, _)| *id != call.id);
        }
    }
    for (call_id, tool) in open {
        let error = ToolError::new(
            ErrorCode::Incomplete,
            "the answer broke off before this call ran",
        );
        let envelope = Envelope::error(&tool, error);
        events.emit(TurnEventKind::ToolFinished {
            title: tool.strip_prefix("workspace_").unwrap_or(&tool).to_owned(),
            call_id,
            tool,
            status: ToolStatus::Error,
            envelope: Box::new(envelope),
        });
    }
    step
}

impl Step {
    fn take(&mut self, event: Event, open: &mut BTreeSet<(String, String)>, events: &mut Events) {
        match event {
            Event::Text { text } => {
                self.is_answer = true;
                self.answer_bytes += text.len() as u64;
                events.emit(TurnEventKind::Text { text });
            }
            Event::Reasoning { kind, text, replay } => {
                self.answer_bytes += text.len() as u64;
                events.emit(TurnEventKind::Reasoning {
                    reasoning: kind,
                    text,
                    replay,
                });
            }
            Event::ToolCallStarted { id, name } => {
                open.insert((id.clone(), name.clone()));
                events.emit(TurnEventKind::ToolStarted {
                    call_id: id,
                    tool: name,
                });
            }
            // A call is shown when it has arrived whole.
            Event::ToolCallDelta { fragment, .. } => self.answer_bytes += fragment.len() as u64,
            Event::ToolCallReady(call) => self.call(Call::Tool(call), None, events),
            Event::Edit { call, path, op } => {
                let meant = Meant::Edit {
                    path: path.clone(),
                    op: op.clone(),
                };
                self.call(Call::Edit { call, path, op }, Some(meant), events);
            }
            Event::Plan { call, steps } => {
                events.emit(TurnEventKind::Plan {
                    steps: steps.clone(),
                });
                self.call(Call::Plan(call), Some(Meant::Plan { steps }), events);
            }
            Event::Opaque(block) => events.emit(TurnEventKind::Opaque { block }),
            Event::Usage(usage) => self.usage = usage,
            Event::Warning(warning) => {
                let text = format!("{}. {}", warning.message, warning.kind.hint());
                events.emit(TurnEventKind::Notice { text });
            }
            Event::Error(error) => self.error = Some(error),
            // Ends the loop above.
            Event::Done { .. } => {}
        }
    }

    fn call(&mut self, call: Call, meant: Option<Meant>, events: &mut Events) {
        self.is_answer = true;
        events.emit(TurnEventKind::ToolCalled {
            call: call.call().clone(),
            meant,
        });
        self.calls.push(call);
    }
}
