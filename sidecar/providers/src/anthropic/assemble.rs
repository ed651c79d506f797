//! From the events of one answer to ours. Pure: no socket, no clock.

use serde_json::Value;

use super::blocks::Blocks;
use super::wire::{Delta, Message, StopDetails, StreamEvent, WireUsage};
use crate::draft::{Draft, Outcome, interrupted};
use crate::stream::{Assemble, End, Progress};
use crate::{ChatRequest, ErrorKind, Event, ProviderError, StopReason, error, lenient};

/// The state of one answer.
#[derive(Debug)]
pub(crate) struct Assembler {
    draft: Draft,
    blocks: Blocks,
    usage: WireUsage,
    stop_reason: Option<String>,
    is_over: bool,
}

impl Assemble for Assembler {
    fn event(
        &mut self,
        name: &str,
        json: &str,
        out: &mut Vec<Event>,
    ) -> Result<Progress, serde_json::Error> {
        let event: StreamEvent = lenient::parse(json)?;
        if let Some(usage) = event.usage {
            self.count(usage);
        }
        // Proxies leave the `event:` lines out, so the JSON's own word comes first.
        let kind = event.kind.as_deref().unwrap_or(name);
        if !event.error.is_null() || kind == "error" {
            let value = serde_json::from_str(json).unwrap_or_default();
            self.draft.failed(error::in_stream(&value));
            return Ok(Progress::Last);
        }
        match kind {
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.blocks.delta(event.index, delta, &mut self.draft, out);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.blocks.start(event.index, block, &mut self.draft, out);
                }
            }
            "content_block_stop" => self.blocks.stop(event.index, &mut self.draft, out),
            "message_start" => {
                if let Some(usage) = event.message.and_then(|message| message.usage) {
                    self.count(usage);
                }
            }
            "message_delta" => {
                if let Some(Delta {
                    stop_reason: Some(reason),
                    stop_details,
                    ..
                }) = event.delta
                {
                    self.stopped(reason, stop_details);
                }
            }
            "message_stop" => {
                self.is_over = true;
                return Ok(Progress::Last);
            }
            // `ping`, and whatever comes to be.
            _ => {}
        }
        Ok(Progress::More)
    }

    fn done(&mut self) {
        self.is_over = true;
    }

    fn whole(&mut self, answer: Value, out: &mut Vec<Event>) {
        let failed = answer.get("error").is_some_and(|error| !error.is_null());
        if failed || answer.get("type").and_then(Value::as_str) == Some("error") {
            self.draft.failed(error::in_stream(&answer));
            return;
        }
        if !answer.get("content").is_some_and(Value::is_array) {
            let message = "the answer is JSON without content: is this the right API?";
            self.failed(ProviderError::new(ErrorKind::Protocol, message));
            return;
        }
        let message: Message = lenient::from_tree(answer);
        if let Some(usage) = message.usage {
            self.count(usage);
        }
        for (index, block) in (0..).zip(message.content) {
            self.blocks.start(Some(index), block, &mut self.draft, out);
            self.blocks.stop(Some(index), &mut self.draft, out);
        }
        if let Some(reason) = message.stop_reason {
            self.stopped(reason, message.stop_details);
        }
        self.is_over = true;
    }

    fn failed(&mut self, error: ProviderError) {
        self.draft.failed(error);
    }

    fn finish(mut self, end: End, out: &mut Vec<Event>) {
        let outcome = match end {
            // What comes after the reason is only bookkeeping.
            _ if self.stop_reason.is_some() || self.is_over => self.complete(out),
            End::Failed(error) => Outcome::Failed(error),
            End::Closed if self.blocks.is_inside_call() => {
                Outcome::Failed(interrupted("stream ended inside a tool call"))
            }
            End::Closed => Outcome::Failed(interrupted("stream ended before message_stop")),
        };
        if let Some(usage) = self.usage.usage() {
            self.draft.usage(usage);
        }
        self.draft.finish(outcome, out);
    }
}

impl Assembler {
    pub(crate) fn new(request: &ChatRequest) -> Self {
        Self {
            draft: Draft::may_add_nothing(request),
            blocks: Blocks::default(),
            usage: WireUsage::default(),
            stop_reason: None,
            is_over: false,
        }
    }

    fn count(&mut self, usage: WireUsage) {
        self.usage.update(usage);
    }

    fn stopped(&mut self, reason: String, details: Option<StopDetails>) {
        if reason == "refusal" {
            let details = details.unwrap_or_default();
            self.draft.refused(&details.explanation.unwrap_or_default());
            self.draft.refused_category(details.category);
        }
        self.stop_reason = Some(reason);
    }

    fn complete(&mut self, out: &mut Vec<Event>) -> Outcome {
        let reason = match self.stop_reason.as_deref() {
            Some("max_tokens") => StopReason::Length,
            Some("model_context_window_exceeded") => StopReason::ContextLength,
            Some("pause_turn") => StopReason::Pause,
            Some("refusal") => StopReason::Refusal,
            _ => StopReason::End,
        };
        let cut = matches!(reason, StopReason::Length | StopReason::ContextLength);
        self.blocks.finish(cut, &mut self.draft, out);
        Outcome::Complete(reason)
    }
}
