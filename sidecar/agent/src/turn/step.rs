//! One model call: its stream becomes events and the assistant's message.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use redline_providers::{
    AssistantPart, EditOp, Event, EventStream, ProviderError, StopReason, ToolCall, Usage,
};
use redline_tools::{Envelope, ErrorCode, ToolError};

use super::Stop;
use super::events::Events;
use crate::{ToolStatus, TurnEnd, TurnEventKind};

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
    pub(super) parts: Vec<AssistantPart>,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Usage,
    pub(super) reason: StopReason,
    pub(super) error: Option<ProviderError>,
    pub(super) stopped: Option<TurnEnd>,
}

/// Reads a stream to its end, or to the end of the turn.
pub(super) async fn run(mut stream: EventStream, stop: &Stop, events: &mut Events) -> Step {
    let mut step = Step {
        parts: Vec::new(),
        calls: Vec::new(),
        usage: Usage::default(),
        reason: StopReason::End,
        error: None,
        stopped: None,
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
        step.take(event, &mut open, events).await;
    }
    // The connection goes before anything else happens.
    drop(stream);
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
        events
            .emit(TurnEventKind::ToolFinished {
                title: tool.strip_prefix("workspace_").unwrap_or(&tool).to_owned(),
                call_id,
                tool,
                status: ToolStatus::Error,
                envelope: Box::new(envelope),
            })
            .await;
    }
    step
}

impl Step {
    async fn take(
        &mut self,
        event: Event,
        open: &mut BTreeSet<(String, String)>,
        events: &mut Events,
    ) {
        match event {
            Event::Text { text } => {
                match self.parts.last_mut() {
                    Some(AssistantPart::Text(so_far)) => so_far.push_str(&text),
                    _ => self.parts.push(AssistantPart::Text(text.clone())),
                }
                events.emit(TurnEventKind::Text { text }).await;
            }
            Event::Reasoning { text, replay, .. } => {
                match self.parts.last_mut() {
                    Some(AssistantPart::Reasoning {
                        text: so_far,
                        replay: block,
                    }) if block.is_none() => {
                        so_far.push_str(&text);
                        *block = replay;
                    }
                    _ => self.parts.push(AssistantPart::Reasoning {
                        text: text.clone(),
                        replay,
                    }),
                }
                if !text.is_empty() {
                    events.emit(TurnEventKind::Reasoning { text }).await;
                }
            }
            Event::ToolCallStarted { id, name } => {
                open.insert((id.clone(), name.clone()));
                events
                    .emit(TurnEventKind::ToolStarted {
                        call_id: id,
                        tool: name,
                    })
                    .await;
            }
            Event::ToolCallDelta { id, fragment } => {
                events
                    .emit(TurnEventKind::ToolArguments {
                        call_id: id,
                        fragment,
                    })
                    .await;
            }
            Event::ToolCallReady(call) => self.call(Call::Tool(call)),
            Event::Edit { call, path, op } => self.call(Call::Edit { call, path, op }),
            Event::Plan { call, steps } => {
                self.call(Call::Plan(call));
                events.emit(TurnEventKind::Plan { steps }).await;
            }
            Event::Usage(usage) => self.usage = usage,
            Event::Error(error) => self.error = Some(error),
            // Ends the loop above.
            Event::Done { .. } => {}
        }
    }

    fn call(&mut self, call: Call) {
        self.parts
            .push(AssistantPart::ToolCall(call.call().clone()));
        self.calls.push(call);
    }
}
