//! From the events of one answer to ours. Pure: no socket, no clock.

use serde_json::Value;

use super::items::{Items, Name};
use super::wire::{Response, StreamEvent};
use crate::draft::{Draft, Outcome, interrupted};
use crate::stream::{Assemble, End, Progress};
use crate::{
    ChatRequest, ErrorKind, Event, ProviderError, ReasoningKind, StopReason, error, lenient,
};

/// The state of one answer.
#[derive(Debug)]
pub(crate) struct Assembler {
    draft: Draft,
    items: Items,
    /// How the response ended, once it did.
    reason: Option<StopReason>,
}

impl Assemble for Assembler {
    fn event(
        &mut self,
        name: &str,
        json: &str,
        out: &mut Vec<Event>,
    ) -> Result<Progress, serde_json::Error> {
        let mut event: StreamEvent = lenient::parse(json)?;
        let kind = event.kind.take();
        // Proxies leave the `event:` lines out, so the JSON's own word comes first.
        let kind = kind.as_deref().unwrap_or(name);
        if !event.error.is_null() || kind == "error" {
            let value = serde_json::from_str(json).unwrap_or_default();
            self.draft.failed(error::in_stream(&value));
            return Ok(Progress::Last);
        }
        let kind = kind.strip_prefix("response.").unwrap_or(kind);
        if matches!(kind, "completed" | "incomplete" | "failed" | "cancelled") {
            self.ended(kind, event.response.unwrap_or_default(), out);
            return Ok(Progress::Last);
        }
        self.item_event(kind, event, out);
        Ok(Progress::More)
    }

    fn done(&mut self) {
        // Proxies that send it leave the last event out at times.
        self.reason.get_or_insert(StopReason::End);
    }

    fn whole(&mut self, answer: Value, out: &mut Vec<Event>) {
        let response: Response = lenient::from_tree(answer.clone());
        if !response.error.is_null() {
            self.draft.failed(error::in_stream(&answer));
        } else if answer.get("output").is_some_and(Value::is_array) {
            let status = response.status.clone().unwrap_or_default();
            self.ended(&status, response, out);
        } else {
            let message = "the answer is JSON without output: is this the right API?";
            self.failed(ProviderError::new(ErrorKind::Protocol, message));
        }
    }

    fn failed(&mut self, error: ProviderError) {
        self.draft.failed(error);
    }

    fn finish(mut self, end: End, out: &mut Vec<Event>) {
        let outcome = match (self.reason, end) {
            (Some(reason), _) => {
                self.items.finish(is_cut(reason), &mut self.draft, out);
                Outcome::Complete(reason)
            }
            (None, End::Failed(error)) => Outcome::Failed(error),
            (None, End::Closed) if self.items.is_inside_call() => {
                Outcome::Failed(interrupted("stream ended inside a tool call"))
            }
            (None, End::Closed) => {
                Outcome::Failed(interrupted("stream ended before response.completed"))
            }
        };
        self.draft.finish(outcome, out);
    }
}

/// Whether the answer's last item may be cut.
fn is_cut(reason: StopReason) -> bool {
    matches!(reason, StopReason::Length | StopReason::ContentFilter)
}

impl Assembler {
    pub(crate) fn new(request: &ChatRequest) -> Self {
        Self {
            draft: Draft::may_add_nothing(request),
            items: Items::default(),
            reason: None,
        }
    }

    fn item_event(&mut self, kind: &str, event: StreamEvent, out: &mut Vec<Event>) {
        let (items, draft) = (&mut self.items, &mut self.draft);
        let name = Name {
            id: event.item_id.as_deref(),
            call_id: None,
            place: event.output_index,
        };
        let piece = event.delta.unwrap_or_default();
        match kind {
            "output_text.delta" => items.text(name, piece, false, draft, out),
            "output_text.done" => {
                items.text(name, event.text.unwrap_or_default(), true, draft, out);
            }
            "function_call_arguments.delta" | "custom_tool_call_input.delta" => {
                items.arguments(name, piece, out);
            }
            "function_call_arguments.done" => {
                items.all_arguments(name, event.arguments.unwrap_or_default(), out);
            }
            "custom_tool_call_input.done" => {
                items.all_arguments(name, event.input.unwrap_or_default(), out);
            }
            "reasoning_summary_text.delta" | "reasoning_summary.delta" => {
                let told = (ReasoningKind::Summary, event.summary_index);
                items.reasoning(name, piece, told, draft, out);
            }
            "reasoning_text.delta" | "reasoning.delta" => {
                items.reasoning(name, piece, (ReasoningKind::Raw, None), draft, out);
            }
            "refusal.delta" => items.refusal(name, &piece, false, draft),
            "refusal.done" => {
                items.refusal(name, &event.refusal.unwrap_or_default(), true, draft);
            }
            "output_item.added" => {
                if let Some(item) = &event.item {
                    items.added(item, event.output_index, draft, out);
                }
            }
            "output_item.done" => {
                if let Some(item) = event.item {
                    items.done(item, event.output_index, draft, out);
                }
            }
            // The beginnings and ends of parts, built-in tools, and whatever comes to be.
            _ => {}
        }
    }

    /// The response ended with this status.
    fn ended(&mut self, status: &str, response: Response, out: &mut Vec<Event>) {
        if let Some(usage) = response.usage.and_then(|usage| usage.usage()) {
            self.draft.usage(usage);
        }
        if status == "failed" || status == "cancelled" || !response.error.is_null() {
            let error = if response.error.is_null() {
                ProviderError::new(ErrorKind::Server, format!("the response was {status}"))
            } else {
                error::in_stream(&response.error)
            };
            self.draft.failed(error);
            return;
        }
        // Some servers tell only the whole at the end.
        if self.items.none_seen() {
            for (place, item) in (0..).zip(response.output) {
                self.items.done(item, Some(place), &mut self.draft, out);
            }
        }
        let why = response
            .incomplete_details
            .and_then(|details| details.reason);
        self.reason = Some(match (status, why.as_deref()) {
            (_, Some("content_filter")) => StopReason::ContentFilter,
            ("incomplete", _) => StopReason::Length,
            _ => StopReason::End,
        });
    }
}
