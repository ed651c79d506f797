//! The conversation as the model is told it: a fold over the events of its turns.
//!
//! The running turn and a session that is loaded again build it by the same steps, so that what a model
//! reads after a restart is what it would have read without one, down to opaque blocks and the ids of calls.

use redline_providers::{AssistantPart, Message};
use redline_tools::Envelope;

use crate::TurnEventKind;

/// What was said so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    messages: Vec<Message>,
    /// For each message the place in `models` of who wrote it; only answers have one.
    authors: Vec<Option<usize>>,
    models: Vec<String>,
    /// The step's answer is open at the end of `messages`.
    is_open: bool,
    /// The session's cost cannot be known any more.
    is_cost_unknown: bool,
    /// US dollars of the session so far.
    cost: f64,
}

impl History {
    /// The messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// US dollars of the session so far; none when something of it is unknown.
    pub(crate) fn cost(&self) -> Option<f64> {
        (!self.is_cost_unknown).then_some(self.cost)
    }

    /// The messages as they are sent to `model` (`PROVIDER/MODEL`): what only another model's vendor
    /// understands is left out as far as that one answered.
    pub(crate) fn told_to(&self, model: &str) -> Vec<Message> {
        let is_other = |author: &Option<usize>| author.is_some_and(|at| self.models[at] != model);
        let foreign = self.authors.iter().rposition(is_other);
        let mut messages = self.messages.clone();
        for message in messages.iter_mut().take(foreign.map_or(0, |at| at + 1)) {
            let Message::Assistant { parts } = message else {
                continue;
            };
            parts.retain(|part| !matches!(part, AssistantPart::Opaque(_)));
            for part in parts {
                if let AssistantPart::Reasoning { replay, .. } = part {
                    *replay = None;
                }
            }
        }
        messages
    }

    /// Takes in what happened next. Cost: constant, but for a result, which looks for its call.
    pub(crate) fn apply(&mut self, event: &TurnEventKind) {
        match event {
            TurnEventKind::Asked { text } => self.push(Message::User { text: text.clone() }, None),
            TurnEventKind::Told { text } => self.push(Message::Note { text: text.clone() }, None),
            TurnEventKind::StepStarted { model, .. } => self.begin_step(model),
            TurnEventKind::Text { text } => self.answer(|parts| match parts.last_mut() {
                Some(AssistantPart::Text(so_far)) => so_far.push_str(text),
                _ => parts.push(AssistantPart::Text(text.clone())),
            }),
            TurnEventKind::Reasoning { text, replay, .. } => {
                self.answer(|parts| match parts.last_mut() {
                    Some(AssistantPart::Reasoning {
                        text: so_far,
                        replay: block,
                    }) if block.is_none() => {
                        so_far.push_str(text);
                        block.clone_from(replay);
                    }
                    _ => parts.push(AssistantPart::Reasoning {
                        text: text.clone(),
                        replay: replay.clone(),
                    }),
                });
            }
            TurnEventKind::Opaque { block } => {
                self.answer(|parts| parts.push(AssistantPart::Opaque(block.clone())));
            }
            TurnEventKind::ToolCalled { call, .. } => {
                self.answer(|parts| parts.push(AssistantPart::ToolCall(call.clone())));
            }
            TurnEventKind::StepEnded { .. } => self.is_open = false,
            TurnEventKind::ToolFinished {
                call_id, envelope, ..
            } => self.result(call_id, envelope),
            TurnEventKind::Ended { .. } => self.is_open = false,
            TurnEventKind::Usage { session_cost, .. } => match session_cost {
                Some(cost) => self.cost = *cost,
                None => self.is_cost_unknown = true,
            },
            TurnEventKind::Started { .. }
            | TurnEventKind::Plan { .. }
            | TurnEventKind::ToolStarted { .. }
            | TurnEventKind::ToolRunning { .. }
            | TurnEventKind::ToolStaged { .. }
            | TurnEventKind::Retrying { .. }
            | TurnEventKind::Notice { .. }
            | TurnEventKind::Committed { .. } => {}
        }
    }

    fn push(&mut self, message: Message, author: Option<usize>) {
        self.is_open = false;
        self.messages.push(message);
        self.authors.push(author);
    }

    fn begin_step(&mut self, model: &str) {
        self.is_open = false;
        if self.models.last().is_none_or(|last| last != model) {
            self.models.push(model.to_owned());
        }
    }

    /// Changes the step's answer, which begins with the first of its parts.
    fn answer(&mut self, change: impl FnOnce(&mut Vec<AssistantPart>)) {
        if self.is_open
            && let Some(Message::Assistant { parts }) = self.messages.last_mut()
        {
            return change(parts);
        }
        let mut parts = Vec::new();
        change(&mut parts);
        let author = self.models.len().checked_sub(1);
        self.push(Message::Assistant { parts }, author);
        self.is_open = true;
    }

    /// Keeps a call's result; one that broke off before it arrived whole has no call to answer.
    fn result(&mut self, call_id: &str, envelope: &Envelope) {
        let name = self.messages.iter().rev().find_map(|message| {
            let Message::Assistant { parts } = message else {
                return None;
            };
            parts.iter().find_map(|part| match part {
                AssistantPart::ToolCall(call) if call.id == call_id => Some(call.name.clone()),
                _ => None,
            })
        });
        let Some(name) = name else { return };
        let result = Message::ToolResult {
            call_id: call_id.to_owned(),
            name,
            content: envelope.to_text(),
            is_error: envelope.status == redline_tools::Status::Error,
        };
        self.push(result, None);
    }
}
