//! Puts the fragments of tool calls together.
//!
//! The rules, each from servers that need it: an index names a call, but another id at the same
//! index is another call; without an index a new id begins a call and anything else continues the
//! last; empty ids and names are absent; an equal name is not appended, and pieces of a name join
//! only before the first byte of arguments; ids are made unique in the conversation.

use serde_json::Value;

use super::details;
use super::wire::CallFragment;
use crate::draft::Draft;
use crate::{Arguments, Event, ToolCall};

#[derive(Debug)]
struct Partial {
    index: Option<i64>,
    wire_id: Option<String>,
    id: String,
    name: String,
    arguments: String,
    /// What the vendor wants back with it.
    extra: Value,
    started: bool,
}

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    partial: Vec<Partial>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// Takes in a fragment.
    pub(super) fn push(&mut self, fragment: CallFragment, draft: &mut Draft, out: &mut Vec<Event>) {
        let function = fragment.function.unwrap_or_default();
        let arguments = function.arguments.unwrap_or_default();
        let known = self.find(
            fragment.index,
            fragment.id.as_deref(),
            function.name.as_deref(),
            &arguments,
        );
        let at = known.unwrap_or_else(|| self.open(fragment.index));
        if let Some(wire_id) = fragment.id
            && self.partial[at].wire_id.is_none()
        {
            if !self.partial[at].started {
                let id = draft.ids.unique(wire_id.clone());
                self.partial[at].id = id;
            }
            self.partial[at].wire_id = Some(wire_id);
        }
        let call = &mut self.partial[at];
        if !fragment.extra_content.is_null() {
            call.extra = fragment.extra_content;
        }
        if let Some(name) = function.name
            && call.arguments.is_empty()
            && call.name != name
        {
            call.name.push_str(&name);
        }
        if !arguments.is_empty() {
            self.start(at, draft, out);
            let call = &mut self.partial[at];
            call.arguments.push_str(&arguments);
            out.push(Event::ToolCallDelta {
                id: call.id.clone(),
                fragment: arguments,
            });
        }
    }

    fn find(
        &self,
        index: Option<i64>,
        id: Option<&str>,
        name: Option<&str>,
        arguments: &str,
    ) -> Option<usize> {
        let at = match (index, id) {
            (Some(index), _) => self
                .partial
                .iter()
                .rposition(|call| call.index == Some(index)),
            (None, Some(id)) => {
                let same = |call: &Partial| call.wire_id.as_deref() == Some(id);
                return self.partial.iter().rposition(same);
            }
            (None, None) => self.partial.len().checked_sub(1),
        }?;
        let call = &self.partial[at];
        let another_id = id
            .zip(call.wire_id.as_deref())
            .is_some_and(|(new, old)| new != old);
        // Servers that send neither distinct indexes nor ids send each call whole.
        let another_whole = id.is_none()
            && name.is_some()
            && arguments.trim_start().starts_with('{')
            && is_whole_object(&call.arguments);
        (!another_id && !another_whole).then_some(at)
    }

    fn open(&mut self, index: Option<i64>) -> usize {
        self.partial.push(Partial {
            index,
            wire_id: None,
            id: String::new(),
            name: String::new(),
            arguments: String::new(),
            extra: Value::Null,
            started: false,
        });
        self.partial.len() - 1
    }

    fn start(&mut self, at: usize, draft: &mut Draft, out: &mut Vec<Event>) {
        if self.partial[at].started {
            return;
        }
        if self.partial[at].id.is_empty() {
            self.partial[at].id = draft.ids.unique(format!("call_{}", at + 1));
        }
        let call = &mut self.partial[at];
        call.started = true;
        draft.call_started(&call.id, &call.name, out);
    }

    /// Ends the answer: every call is whole now, or known to be unusable. When the answer's limit cut
    /// it, the last call may have been cut before its first argument.
    pub(super) fn finish(&mut self, cut: bool, draft: &mut Draft, out: &mut Vec<Event>) {
        for at in 0..self.partial.len() {
            self.start(at, draft, out);
        }
        let calls = std::mem::take(&mut self.partial);
        let last = calls.len().saturating_sub(1);
        for (at, call) in calls.into_iter().enumerate() {
            let arguments = if cut && at == last {
                Arguments::parse_cut(&call.arguments)
            } else {
                Arguments::parse(&call.arguments)
            };
            if !call.extra.is_null() {
                out.push(details::extra_of_call(&call.id, call.extra));
            }
            let call = ToolCall {
                id: call.id,
                wire_id: call.wire_id,
                name: call.name,
                arguments,
            };
            draft.call_ready(call, out);
        }
    }
}

fn is_whole_object(text: &str) -> bool {
    text.trim_end().ends_with('}')
        && serde_json::from_str::<serde::de::IgnoredAny>(text.trim()).is_ok()
}
