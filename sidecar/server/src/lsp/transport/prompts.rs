//! Which turn each prompt started, so that cancelling the prompt stops the turn.
//!
//! A prompt is answered when its turn begins, and `$/cancelRequest` may name it before and after that. The
//! framework would drop the answer of one that is open, with the turn already on its way, and ignore one that
//! was answered: so these cancels are taken here, and become the client's stop button.
//!
//! Owns: ids of prompts. Must not know: what a turn is.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use redline_protocol::v1::method;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower_lsp::jsonrpc::{Id, Request};

use crate::lsp::actions::command;

/// Answered prompts that can still be cancelled; of older ones the turn has long ended.
const MOST_ANSWERED: usize = 64;

/// The prompts of one connection.
pub(super) struct Prompts {
    state: Mutex<State>,
    /// Takes the stops of turns whose prompt was cancelled before it was answered.
    stops: mpsc::UnboundedSender<Request>,
}

#[derive(Default)]
struct State {
    /// Not answered yet; true once cancelled.
    open: HashMap<Id, bool>,
    /// Answered, oldest first, with the turn that began.
    answered: VecDeque<(Id, String)>,
}

/// What becomes of a message of the client.
#[derive(Debug, PartialEq)]
pub(super) enum Then {
    /// It goes on as it is, or in another form.
    Handle(Request),
    /// There is nothing to do, or not yet.
    Nothing,
}

impl Prompts {
    pub(super) fn new(stops: mpsc::UnboundedSender<Request>) -> Self {
        Self {
            state: Mutex::default(),
            stops,
        }
    }

    /// Looks at a message before anybody handles it.
    pub(super) fn see(&self, request: Request) -> Then {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = request.id().filter(|_| is_prompt(&request)) {
            state.open.insert(id.clone(), false);
            return Then::Handle(request);
        }
        let Some(id) = cancelled(&request) else {
            return Then::Handle(request);
        };
        if let Some(is_cancelled) = state.open.get_mut(&id) {
            *is_cancelled = true;
            return Then::Nothing;
        }
        match state
            .answered
            .iter()
            .rev()
            .find(|(prompt, _)| *prompt == id)
        {
            Some((_, turn)) => Then::Handle(stop(turn)),
            None => Then::Handle(request),
        }
    }

    /// Takes note of the answer to a request.
    pub(super) fn answered(&self, id: &Id, answer: Option<&Value>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(is_cancelled) = state.open.remove(id) else {
            return;
        };
        let turn = answer.and_then(|answer| answer.get("turnId")?.as_str());
        // A prompt that was refused, or was for Redline itself, began none.
        let Some(turn) = turn.filter(|turn| !turn.is_empty()) else {
            return;
        };
        if is_cancelled {
            // A connection that is gone reads no more.
            let _ = self.stops.send(stop(turn));
            return;
        }
        if state.answered.len() >= MOST_ANSWERED {
            state.answered.pop_front();
        }
        state.answered.push_back((id.clone(), turn.to_owned()));
    }
}

fn is_prompt(request: &Request) -> bool {
    match request.method() {
        method::SESSION_PROMPT => true,
        "workspace/executeCommand" => {
            let name = request.params().and_then(|params| params.get("command"));
            matches!(
                name.and_then(Value::as_str),
                Some(command::ASK | command::ASK_COMMENT)
            )
        }
        _ => false,
    }
}

/// The request that a message cancels.
fn cancelled(request: &Request) -> Option<Id> {
    if request.method() != "$/cancelRequest" {
        return None;
    }
    serde_json::from_value(request.params()?.get("id")?.clone()).ok()
}

/// What a client sends when its user stops the progress of a turn.
fn stop(turn: &str) -> Request {
    Request::build("window/workDoneProgress/cancel")
        .params(json!({"token": format!("redline/{turn}")}))
        .finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn prompts() -> (Prompts, mpsc::UnboundedReceiver<Request>) {
        let (stops, stopped) = mpsc::unbounded_channel();
        (Prompts::new(stops), stopped)
    }

    fn prompt(id: i64) -> Request {
        Request::build(method::SESSION_PROMPT)
            .id(id)
            .params(json!({"text": "go"}))
            .finish()
    }

    fn cancel(id: i64) -> Request {
        Request::build("$/cancelRequest")
            .params(json!({"id": id}))
            .finish()
    }

    #[test]
    fn a_cancel_stops_the_turn_before_and_after_the_answer() {
        let (prompts, mut stopped) = prompts();
        assert_eq!(prompts.see(prompt(1)), Then::Handle(prompt(1)));
        assert_eq!(prompts.see(cancel(1)), Then::Nothing);
        prompts.answered(&Id::Number(1), Some(&json!({"turnId": "turn_a"})));
        assert_eq!(stopped.try_recv().unwrap(), stop("turn_a"));

        let ask = Request::build("workspace/executeCommand")
            .id(2)
            .params(json!({"command": command::ASK, "arguments": ["go"]}))
            .finish();
        assert_eq!(prompts.see(ask.clone()), Then::Handle(ask));
        prompts.answered(&Id::Number(2), Some(&json!({"turnId": "turn_b"})));
        assert_eq!(prompts.see(cancel(2)), Then::Handle(stop("turn_b")));
        assert!(stopped.try_recv().is_err());
    }

    #[test]
    fn what_began_no_turn_is_the_frameworks() {
        let (prompts, mut stopped) = prompts();
        for (id, answer) in [(1, None), (2, Some(json!({"turnId": ""})))] {
            prompts.see(prompt(id));
            prompts.answered(&Id::Number(id), answer.as_ref());
            assert_eq!(prompts.see(cancel(id)), Then::Handle(cancel(id)));
        }
        assert_eq!(prompts.see(cancel(9)), Then::Handle(cancel(9)));
        assert!(stopped.try_recv().is_err());
    }

    #[test]
    fn only_the_newest_are_remembered() {
        let (prompts, _stopped) = prompts();
        for id in 0..=MOST_ANSWERED as i64 {
            prompts.see(prompt(id));
            prompts.answered(
                &Id::Number(id),
                Some(&json!({"turnId": format!("turn_{id}")})),
            );
        }
        assert_eq!(prompts.see(cancel(0)), Then::Handle(cancel(0)));
        assert_eq!(prompts.see(cancel(1)), Then::Handle(stop("turn_1")));
    }
}
