//! What the answers of all vendors share: what was shown, usage, refusals, failures, and the one end.
//!
//! An adapter's assembler reads the vendor's events and tells the draft what they mean; the draft
//! makes our events of it and holds the rules of their order: usage, then an error, then the end.

use serde_json::Value;

use crate::ids::Ids;
use crate::{
    ChatRequest, ErrorKind, Event, Message, ProviderError, ReasoningKind, StopReason, ToolCall,
    ToolSpec, Usage, alias,
};

/// How an answer came to its end, as the vendor tells it.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The vendor ended it. [`StopReason::End`] becomes what the calls say.
    Complete(StopReason),
    /// It broke off, or the vendor said that it failed.
    Failed(ProviderError),
}

/// The state of one answer.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) ids: Ids,
    offered: Vec<ToolSpec>,
    usage: Option<Usage>,
    error: Option<ProviderError>,
    refusal: Option<ProviderError>,
    warning: Option<ProviderError>,
    shown: bool,
    calls: usize,
    may_be_empty: bool,
}

impl Draft {
    /// The state before anything came.
    pub(crate) fn new(request: &ChatRequest) -> Self {
        Self {
            ids: Ids::of(request),
            offered: request.tools.clone(),
            ..Self::default()
        }
    }

    /// The state of an answer that may hold nothing when it follows results: the model has no more to
    /// say. Only for vendors that say their own failures; others answer so when a prompt is too long.
    pub(crate) fn may_add_nothing(request: &ChatRequest) -> Self {
        Self {
            may_be_empty: matches!(request.messages.last(), Some(Message::ToolResult { .. })),
            ..Self::new(request)
        }
    }

    /// A piece of the answer; nothing when it is empty.
    pub(crate) fn text(&mut self, text: String, out: &mut Vec<Event>) {
        if !text.is_empty() {
            self.shown = true;
            out.push(Event::Text { text });
        }
    }

    /// A piece of reasoning, or the block that ends it; nothing when both are empty.
    pub(crate) fn reasoning(
        &mut self,
        kind: ReasoningKind,
        text: String,
        replay: Option<Value>,
        out: &mut Vec<Event>,
    ) {
        if !text.is_empty() || replay.is_some() {
            self.shown = true;
            out.push(Event::Reasoning { kind, text, replay });
        }
    }

    /// A call has begun; `id` is unique already.
    pub(crate) fn call_started(&mut self, id: &str, name: &str, out: &mut Vec<Event>) {
        self.shown = true;
        out.push(Event::ToolCallStarted {
            id: id.to_owned(),
            name: name.to_owned(),
        });
    }

    /// A whole call, or what it means when its name is one of other products.
    pub(crate) fn call_ready(&mut self, call: ToolCall, out: &mut Vec<Event>) {
        self.calls_event(alias::event(call, &self.offered), out);
    }

    /// An event that stands for a whole call.
    pub(crate) fn calls_event(&mut self, event: Event, out: &mut Vec<Event>) {
        self.shown = true;
        self.calls += 1;
        out.push(event);
    }

    /// Totals so far; the last ones count. Nothing but zeros is what servers say that do not count.
    pub(crate) fn usage(&mut self, usage: Usage) {
        if usage != Usage::default() {
            self.usage = Some(usage);
        }
    }

    /// The totals that were told last.
    pub(crate) fn usage_so_far(&self) -> Option<Usage> {
        self.usage
    }

    /// The model declined, in these words.
    pub(crate) fn refused(&mut self, words: &str) {
        let refusal = self
            .refusal
            .get_or_insert_with(|| ProviderError::new(ErrorKind::Refusal, ""));
        refusal.message.push_str(words);
    }

    /// What the vendor calls the subject of the refusal.
    pub(crate) fn refused_category(&mut self, category: Option<String>) {
        if let Some(refusal) = &mut self.refusal {
            refusal.code = category.map(Into::into);
        }
    }

    /// The vendor says that the answer failed; the first time counts.
    pub(crate) fn failed(&mut self, error: ProviderError) {
        self.error.get_or_insert(error);
    }

    /// Something to tell the user besides the answer.
    pub(crate) fn warn(&mut self, warning: ProviderError) {
        self.warning = Some(warning);
    }

    /// Ends the answer. The last event is always [`Event::Done`].
    pub(crate) fn finish(mut self, outcome: Outcome, out: &mut Vec<Event>) {
        let (error, reason) = match (self.error.take(), outcome) {
            (Some(error), _) | (None, Outcome::Failed(error)) => (Some(error), StopReason::Error),
            (None, Outcome::Complete(_)) if self.refusal.is_some() => {
                (self.refusal.take(), StopReason::Refusal)
            }
            // The reason is believed only where the calls cannot tell: servers say `stop` with calls,
            // and `tool_calls` without any.
            (None, Outcome::Complete(StopReason::End | StopReason::ToolCalls)) => {
                match self.end_of_all() {
                    Ok(reason) => (None, reason),
                    Err(error) => (Some(error), StopReason::Error),
                }
            }
            (None, Outcome::Complete(reason)) => (None, reason),
        };
        if let Some(usage) = self.usage {
            out.push(Event::Usage(usage));
        }
        if let Some(mut error) = error {
            if error.message.is_empty() {
                "the model declined to answer".clone_into(&mut error.message);
            }
            // A refusal is a whole answer; only what failed is a part of one.
            error.partial = self.shown && reason == StopReason::Error;
            out.push(Event::Error(error));
        } else if let Some(warning) = self.warning {
            out.push(Event::Warning(warning));
        }
        out.push(Event::Done { reason });
    }

    fn end_of_all(&self) -> Result<StopReason, ProviderError> {
        if self.calls > 0 {
            return Ok(StopReason::ToolCalls);
        }
        if self.shown || self.may_be_empty {
            return Ok(StopReason::End);
        }
        Err(ProviderError::new(
            ErrorKind::EmptyResponse,
            "the model answered with nothing at all",
        ))
    }
}

/// The error of an answer that ended before its end.
pub(crate) fn interrupted(message: &str) -> ProviderError {
    ProviderError::new(ErrorKind::StreamInterrupted, message)
}
