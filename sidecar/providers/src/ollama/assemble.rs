//! From the lines of one answer to events. Pure: no socket, no clock.

use serde_json::Value;

use super::wire::{Call, Line, Message};
use crate::draft::{Draft, Outcome, interrupted};
use crate::stream::{Assemble, End, Progress};
use crate::think::Splitter;
use crate::{
    Arguments, ChatRequest, ErrorKind, Event, ProviderError, ReasoningKind, StopReason, ToolCall,
    Usage, error, lenient,
};

/// Prompts estimated below this are not judged: a template alone can make such a difference.
const JUDGED_FROM: u64 = 500;

/// The state of one answer.
#[derive(Debug)]
pub(crate) struct Assembler {
    draft: Draft,
    splitter: Splitter,
    /// About how many tokens were sent, to notice that the server read only a part of them.
    prompt_tokens: u64,
    n_calls: usize,
    done_reason: Option<String>,
    is_done: bool,
}

impl Assemble for Assembler {
    fn event(
        &mut self,
        _: &str,
        json: &str,
        out: &mut Vec<Event>,
    ) -> Result<Progress, serde_json::Error> {
        let line: Line = lenient::parse(json)?;
        let failed = !line.error.is_null();
        let done = line.done;
        self.line(line, out);
        if failed {
            let value = serde_json::from_str(json).unwrap_or_default();
            self.draft.failed(error::in_stream(&value));
        }
        Ok(if failed || done {
            Progress::Last
        } else {
            Progress::More
        })
    }

    fn done(&mut self) {
        self.is_done = true;
    }

    fn whole(&mut self, answer: Value, out: &mut Vec<Event>) {
        let json = answer.to_string();
        if let Err(error) = self.event("", &json, out) {
            self.failed(ProviderError::new(ErrorKind::Protocol, error.to_string()));
        }
    }

    fn failed(&mut self, error: ProviderError) {
        self.draft.failed(error);
    }

    fn finish(mut self, end: End, out: &mut Vec<Event>) {
        self.splitter.end(&mut self.draft, out);
        let outcome = match end {
            _ if self.is_done => Outcome::Complete(match self.done_reason.as_deref() {
                Some("length") => StopReason::Length,
                _ => StopReason::End,
            }),
            End::Failed(error) => Outcome::Failed(error),
            End::Closed => Outcome::Failed(interrupted("stream ended before done")),
        };
        if let Some(warning) = self
            .draft
            .usage_so_far()
            .and_then(|usage| self.truncated(usage))
        {
            self.draft.warn(warning);
        }
        self.draft.finish(outcome, out);
    }
}

impl Assembler {
    pub(crate) fn new(request: &ChatRequest, prompt_tokens: u64) -> Self {
        Self {
            draft: Draft::new(request),
            splitter: Splitter::default(),
            prompt_tokens,
            n_calls: 0,
            done_reason: None,
            is_done: false,
        }
    }

    fn line(&mut self, line: Line, out: &mut Vec<Event>) {
        if let Some(usage) = line.usage() {
            self.draft.usage(usage);
        }
        if let Some(message) = line.message {
            self.message(message, out);
        }
        if line.done {
            self.is_done = true;
            self.done_reason = line.done_reason;
        }
    }

    fn message(&mut self, message: Message, out: &mut Vec<Event>) {
        let thinking = message.thinking.or(message.reasoning_content);
        let thinking = thinking.unwrap_or_default();
        self.draft
            .reasoning(ReasoningKind::Raw, thinking, None, out);
        if let Some(content) = message.content {
            self.splitter.push(&content, &mut self.draft, out);
        }
        for call in message.tool_calls {
            self.call(call, out);
        }
    }

    fn call(&mut self, call: Call, out: &mut Vec<Event>) {
        self.n_calls += 1;
        let function = call.function.unwrap_or_default();
        let arguments = function.arguments.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        let wanted = call.id.clone();
        let id = wanted.unwrap_or_else(|| format!("call_{}", self.n_calls));
        let id = self.draft.ids.unique(id);
        self.draft.call_started(&id, &name, out);
        if !arguments.is_empty() {
            out.push(Event::ToolCallDelta {
                id: id.clone(),
                fragment: arguments.clone(),
            });
        }
        let call = ToolCall {
            id,
            wire_id: call.id,
            name,
            arguments: Arguments::parse(&arguments),
        };
        self.draft.call_ready(call, out);
    }

    /// The warning for a prompt of which the server read clearly less than was sent: servers that do
    /// not know `truncate` cut it from the front, with no word and status 200.
    fn truncated(&self, usage: Usage) -> Option<ProviderError> {
        let estimated = self.prompt_tokens;
        let read_most = usage.input.saturating_mul(10) >= estimated.saturating_mul(7);
        if usage.input == 0 || estimated < JUDGED_FROM || read_most {
            return None;
        }
        let message = format!(
            "the server read {} of about {estimated} prompt tokens; raise num_ctx",
            usage.input
        );
        Some(ProviderError::new(ErrorKind::ContextTruncated, message))
    }
}
