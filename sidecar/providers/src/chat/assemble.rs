//! From the chunks of one answer to events. Pure: no socket, no clock.

use serde_json::Value;

use super::calls::Calls;
use super::details::ReasoningDetails;
use super::wire::{CallFragment, Chunk, Content, Delta};
use crate::draft::{Draft, Outcome, interrupted};
use crate::stream::{Assemble, End, Progress};
use crate::think::Splitter;
use crate::{
    ChatRequest, ErrorKind, Event, ProviderError, ReasoningKind, StopReason, error, lenient,
};

/// The state of one answer.
#[derive(Debug)]
pub(crate) struct Assembler {
    draft: Draft,
    calls: Calls,
    details: ReasoningDetails,
    splitter: Splitter,
    finish_reason: Option<String>,
    saw_done: bool,
}

impl Assemble for Assembler {
    fn event(
        &mut self,
        name: &str,
        json: &str,
        out: &mut Vec<Event>,
    ) -> Result<Progress, serde_json::Error> {
        let chunk: Chunk = lenient::parse(json)?;
        let failed = chunk.says_error() || name == "error";
        self.chunk(chunk, out);
        if failed {
            let value = serde_json::from_str(json).unwrap_or_default();
            self.draft.failed(error::in_stream(&value));
            return Ok(Progress::Last);
        }
        Ok(Progress::More)
    }

    fn done(&mut self) {
        self.saw_done = true;
    }

    fn whole(&mut self, answer: Value, out: &mut Vec<Event>) {
        let chunk: Chunk = lenient::from_tree(answer.clone());
        let is_answer = !chunk.choices.is_empty();
        let failed = chunk.says_error();
        self.chunk(chunk, out);
        if failed {
            self.draft.failed(error::in_stream(&answer));
        } else if is_answer {
            self.saw_done = true;
        } else {
            let message = "the answer is JSON without choices: is this the right API?";
            self.failed(ProviderError::new(ErrorKind::Protocol, message));
        }
    }

    fn failed(&mut self, error: ProviderError) {
        self.draft.failed(error);
    }

    fn finish(mut self, end: End, out: &mut Vec<Event>) {
        self.splitter.end(&mut self.draft, out);
        let outcome = match end {
            // What comes after the model's own end is only bookkeeping.
            _ if self.finish_reason.is_some() || self.saw_done => self.complete(out),
            End::Failed(error) => Outcome::Failed(error),
            End::Closed if self.calls.is_empty() => {
                Outcome::Failed(interrupted("stream ended without finish_reason"))
            }
            End::Closed => Outcome::Failed(interrupted("stream ended inside a tool call")),
        };
        self.draft.finish(outcome, out);
    }
}

impl Assembler {
    pub(crate) fn new(request: &ChatRequest) -> Self {
        Self {
            draft: Draft::new(request),
            calls: Calls::default(),
            details: ReasoningDetails::default(),
            splitter: Splitter::default(),
            finish_reason: None,
            saw_done: false,
        }
    }

    fn chunk(&mut self, chunk: Chunk, out: &mut Vec<Event>) {
        if let Some(usage) = chunk.usage.and_then(|usage| usage.usage()) {
            self.draft.usage(usage);
        }
        for choice in chunk.choices {
            // One answer was asked for; some servers send several.
            if choice.index.unwrap_or(0) != 0 {
                continue;
            }
            for delta in [choice.delta, choice.message].into_iter().flatten() {
                self.delta(delta, out);
            }
            if choice.finish_reason.is_some() {
                self.finish_reason = choice.finish_reason;
            }
        }
    }

    fn delta(&mut self, delta: Delta, out: &mut Vec<Event>) {
        let Content {
            text,
            reasoning: thoughts,
        } = delta.content;
        // Several names for the same text: the first that holds some counts.
        let named = delta.reasoning_content.or(delta.reasoning);
        for reasoning in named.into_iter().chain([thoughts]) {
            self.draft
                .reasoning(ReasoningKind::Raw, reasoning, None, out);
        }
        self.details.push(delta.reasoning_details);
        if !text.is_empty() {
            self.splitter.push(&text, &mut self.draft, out);
        }
        if let Some(refusal) = delta.refusal {
            self.draft.refused(&refusal);
        }
        for fragment in delta.tool_calls {
            self.calls.push(fragment, &mut self.draft, out);
        }
        if let Some(function) = delta.function_call {
            let fragment = CallFragment {
                function: Some(function),
                ..CallFragment::default()
            };
            self.calls.push(fragment, &mut self.draft, out);
        }
    }

    fn complete(&mut self, out: &mut Vec<Event>) -> Outcome {
        let reason = match self.finish_reason.as_deref() {
            Some("length" | "max_tokens") => StopReason::Length,
            Some("content_filter") => StopReason::ContentFilter,
            Some("error") => {
                let message = "the server ended the answer with an error and no reason";
                return Outcome::Failed(ProviderError::new(ErrorKind::Server, message));
            }
            _ => StopReason::End,
        };
        out.extend(std::mem::take(&mut self.details).finish());
        let cut = reason == StopReason::Length;
        self.calls.finish(cut, &mut self.draft, out);
        Outcome::Complete(reason)
    }
}

#[cfg(test)]
mod tests;
