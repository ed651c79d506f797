//! From the chunks of one answer to events. Pure: no socket, no clock.

use std::collections::HashSet;

use serde_json::Value;

use super::alias;
use super::calls::Calls;
use super::think::{Piece, Splitter};
use super::wire::{CallFragment, Chunk, Content, Delta};
use crate::error::{self, Answer};
use crate::{ErrorKind, Event, ProviderError, ReasoningKind, StopReason, ToolSpec, Usage};

/// How the bytes of an answer ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The connection was closed, or broke.
    Closed,
    /// The framing, the server or a time limit said so.
    Failed(ProviderError),
}

/// What one `data` of the stream was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More may come.
    More,
    /// `[DONE]`, or an error: there is nothing left to read.
    Last,
}

/// The state of one answer.
#[derive(Debug)]
pub(crate) struct Assembler {
    offered: Vec<ToolSpec>,
    calls: Calls,
    splitter: Splitter,
    usage: Option<Usage>,
    refusal: String,
    finish_reason: Option<String>,
    saw_done: bool,
    error: Option<ProviderError>,
    shown: bool,
}

impl Assembler {
    /// `used_ids` are the call ids of the conversation so far; `offered` the tools of the request.
    pub(crate) fn new(used_ids: HashSet<String>, offered: Vec<ToolSpec>) -> Self {
        Self {
            offered,
            calls: Calls::new(used_ids),
            splitter: Splitter::default(),
            usage: None,
            refusal: String::new(),
            finish_reason: None,
            saw_done: false,
            error: None,
            shown: false,
        }
    }

    /// Whether the model itself ended its answer; what comes after is only bookkeeping.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish_reason.is_some() || self.saw_done
    }

    /// Takes in the data of one event.
    pub(crate) fn data(&mut self, data: &str, out: &mut Vec<Event>) -> Progress {
        let data = data.trim();
        // Gateways wrap comments and pings as data.
        if data.is_empty() || data.starts_with(':') {
            return Progress::More;
        }
        if data == "[DONE]" {
            self.saw_done = true;
            return Progress::Last;
        }
        // JSON of another shape says nothing.
        if !data.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok() {
            return Progress::More;
        }
        // A repeated key stops the direct way; the way over a tree lets the last one win.
        let parsed = serde_json::from_str::<Chunk>(data)
            .or_else(|_| serde_json::from_str::<Value>(data).map(tree_chunk));
        match parsed {
            Ok(chunk) => self.chunk(chunk, out, || {
                serde_json::from_str(data).unwrap_or_default()
            }),
            Err(error) => {
                let message = format!("an event of the stream is not JSON: {error}");
                self.error = Some(ProviderError::new(ErrorKind::Protocol, message));
                Progress::Last
            }
        }
    }

    /// Takes in the data of an event that was not closed: it counts only when it is whole.
    pub(crate) fn unclosed(&mut self, data: &str, out: &mut Vec<Event>) -> Progress {
        let whole = data.trim() == "[DONE]"
            || serde_json::from_str::<serde::de::IgnoredAny>(data.trim()).is_ok();
        if whole {
            self.data(data, out)
        } else {
            Progress::More
        }
    }

    /// Takes in an answer that came as one JSON text.
    pub(crate) fn whole(&mut self, value: Value, out: &mut Vec<Event>) {
        let chunk = tree_chunk(value.clone());
        let is_answer = !chunk.choices.is_empty();
        self.chunk(chunk, out, || value);
        if is_answer {
            self.saw_done = true;
        } else if self.error.is_none() {
            let message = "the answer is JSON without choices: is this the right API?";
            self.error = Some(ProviderError::new(ErrorKind::Protocol, message));
        }
    }

    fn chunk(
        &mut self,
        chunk: Chunk,
        out: &mut Vec<Event>,
        full: impl FnOnce() -> Value,
    ) -> Progress {
        let before = out.len();
        if let Some(usage) = chunk.usage.and_then(|usage| usage.usage()) {
            self.usage = Some(usage);
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
        self.shown |= out.len() > before;
        if !chunk.error.is_null() || chunk.object.as_deref() == Some("error") {
            self.error = Some(error::from_error_value(&Answer::default(), &full()));
            return Progress::Last;
        }
        Progress::More
    }

    fn delta(&mut self, delta: Delta, out: &mut Vec<Event>) {
        let Content {
            text,
            reasoning: thoughts,
        } = delta.content;
        // Several names for the same text: the first that holds some counts.
        let named = delta.reasoning_content.or(delta.reasoning);
        for reasoning in named
            .into_iter()
            .chain([thoughts])
            .filter(|text| !text.is_empty())
        {
            out.push(reasoning_event(reasoning));
        }
        if !text.is_empty() {
            let mut pieces = Vec::new();
            self.splitter.push(&text, &mut pieces);
            out.extend(pieces.into_iter().map(piece_event));
        }
        if let Some(refusal) = delta.refusal {
            self.refusal.push_str(&refusal);
        }
        for fragment in delta.tool_calls {
            self.calls.push(fragment, out);
        }
        if let Some(function) = delta.function_call {
            self.calls.push(
                CallFragment {
                    index: None,
                    id: None,
                    function: Some(function),
                },
                out,
            );
        }
    }

    /// Ends the answer. The last event is always [`Event::Done`].
    pub(crate) fn finish(mut self, end: End, out: &mut Vec<Event>) {
        let before = out.len();
        let mut pieces = Vec::new();
        self.splitter.end(&mut pieces);
        out.extend(pieces.into_iter().map(piece_event));
        self.shown |= out.len() > before;

        let failed = self.error.take().or(match end {
            End::Failed(error) if !self.is_finished() => Some(error),
            End::Closed if !self.is_finished() => Some(self.interrupted()),
            End::Failed(_) | End::Closed => None,
        });
        let reason = match failed {
            Some(error) => self.fail(error, StopReason::Error, out),
            None => self.complete(out),
        };
        if let Some(usage) = self.usage {
            out.push(Event::Usage(usage));
        }
        out.push(Event::Done { reason });
    }

    fn interrupted(&self) -> ProviderError {
        let message = if self.calls.is_empty() {
            "stream ended without finish_reason"
        } else {
            "stream ended inside a tool call"
        };
        ProviderError::new(ErrorKind::StreamInterrupted, message)
    }

    fn fail(
        &self,
        mut error: ProviderError,
        reason: StopReason,
        out: &mut Vec<Event>,
    ) -> StopReason {
        error.partial = self.shown;
        out.push(Event::Error(error));
        reason
    }

    fn complete(&mut self, out: &mut Vec<Event>) -> StopReason {
        if !self.refusal.is_empty() {
            let error = ProviderError::new(ErrorKind::Refusal, std::mem::take(&mut self.refusal));
            return self.fail(error, StopReason::Refusal, out);
        }
        let has_calls = !self.calls.is_empty();
        for call in self.calls.finish(out) {
            out.push(alias::event(call, &self.offered));
        }
        match self.finish_reason.as_deref() {
            Some("length" | "max_tokens") => StopReason::Length,
            Some("content_filter") => StopReason::ContentFilter,
            Some("error") => {
                let message = "the server ended the answer with an error and no reason";
                self.fail(
                    ProviderError::new(ErrorKind::Server, message),
                    StopReason::Error,
                    out,
                )
            }
            // The reason is believed only where the calls cannot tell: servers say `stop` with calls.
            _ if has_calls => StopReason::ToolCalls,
            _ if !self.shown => {
                let message = "the model answered with nothing at all";
                let error = ProviderError::new(ErrorKind::EmptyResponse, message);
                self.fail(error, StopReason::Error, out)
            }
            _ => StopReason::End,
        }
    }
}

/// JSON that is no object at all says nothing.
fn tree_chunk(value: Value) -> Chunk {
    serde_json::from_value(value).unwrap_or_default()
}

fn reasoning_event(text: String) -> Event {
    Event::Reasoning {
        kind: ReasoningKind::Raw,
        text,
        replay: None,
    }
}

fn piece_event(piece: Piece) -> Event {
    match piece {
        Piece::Text(text) => Event::Text { text },
        Piece::Reasoning(text) => reasoning_event(text),
    }
}

#[cfg(test)]
mod tests;
