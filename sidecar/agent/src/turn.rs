//! The turn loop: ask the model, run what it calls, tell it the results, until there is nothing left.

mod calls;
mod events;
mod step;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use redline_providers::{ChatRequest, Message, StopReason, ToolSpec, Usage};
use redline_tools::ErrorCode;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::user_message;
use crate::{
    BudgetLimit, Session, TurnEnd, TurnError, TurnEvent, TurnEventKind, TurnInput, budget,
};

use events::Events;
use step::Step;

/// Where the events of a turn go. Bounded: whoever reads slowly holds the turn back, so a reader
/// for people takes events at once and merges text itself.
pub type TurnSink = mpsc::Sender<TurnEvent>;

/// Steps in a row whose calls were all unusable before the turn gives up on the model.
const MAX_BAD_STEPS: u32 = 4;

/// What can end a turn from outside.
#[derive(Clone)]
pub(crate) struct Stop {
    cancel: CancellationToken,
    deadline: Instant,
}

impl Stop {
    /// Waits for the user or the clock.
    async fn wait(&self) -> TurnEnd {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => TurnEnd::Cancelled,
            () = tokio::time::sleep_until(self.deadline) => TurnEnd::Budget { limit: BudgetLimit::Time },
        }
    }
}

/// Runs a turn. Whatever happens inside, its last event says how it ended.
pub(crate) async fn run(
    session: &Arc<Session>,
    input: TurnInput,
    sink: TurnSink,
    cancel: CancellationToken,
) -> TurnEnd {
    let stop = Stop {
        cancel,
        deadline: Instant::now() + input.budget.time,
    };
    let mut events =
        Events::open(&input.turn_id, sink, Arc::clone(&session.log), stop.clone()).await;
    events
        .emit(TurnEventKind::Started {
            prompt: input.prompt.clone(),
        })
        .await;
    let mut turn = Turn {
        session,
        input: &input,
        stop,
        stopped: Arc::default(),
        usage: Usage::default(),
    };
    let end = match turn.steps(&mut events).await {
        Ok(end) | Err(end) => end,
    };
    events.end(end.clone()).await;
    end
}

struct Turn<'a> {
    session: &'a Arc<Session>,
    input: &'a TurnInput,
    stop: Stop,
    /// Tells running tools that the turn has ended.
    stopped: Arc<AtomicBool>,
    usage: Usage,
}

impl Turn<'_> {
    /// `Err` is an end from outside the conversation, `Ok` one that the model came to.
    async fn steps(&mut self, events: &mut Events) -> Result<TurnEnd, TurnEnd> {
        let mut steps = 0;
        let mut bad_steps = 0;
        loop {
            if let Some(limit) = self.input.budget.forbids_step(steps, &self.usage) {
                return Err(TurnEnd::Budget { limit });
            }
            steps += 1;
            self.tell(steps, events).await?;
            let model = format!("{}/{}", self.input.provider.name(), self.input.model);
            events
                .emit(TurnEventKind::StepStarted { step: steps, model })
                .await;
            let step = self.ask(events).await?;
            budget::add(&mut self.usage, &step.usage);
            if step.usage != Usage::default() {
                let usage = TurnEventKind::Usage {
                    step: step.usage,
                    turn: self.usage,
                };
                events.emit(usage).await;
            }
            if step.calls.is_empty() {
                return Ok(self.ended_without_calls(step.reason, events).await);
            }
            let all_bad = self.run_calls(step.calls, events).await?;
            bad_steps = if all_bad { bad_steps + 1 } else { 0 };
            if bad_steps >= MAX_BAD_STEPS {
                let message = format!(
                    "the model sent {bad_steps} steps of calls in a row whose arguments cannot be used"
                );
                let mut error = TurnError::new(ErrorCode::InvalidArguments, message);
                error.hint = "Use a model that is better at calling tools.".to_owned();
                return Err(TurnEnd::Failed { error });
            }
        }
    }

    /// Puts the prompt, or what the user decided since the last step, into the conversation.
    async fn tell(&self, step: u32, events: &mut Events) -> Result<(), TurnEnd> {
        let state = tokio::select! {
            biased;
            end = self.stop.wait() => return Err(end),
            state = self.session.steering.before_step() => state,
        };
        let note = state.note();
        let mut history = self.session.history.lock().await;
        if step == 1 {
            let text = user_message(&self.input.prompt, &self.input.context, &state.pending);
            history.push(Message::User { text });
        }
        if let Some(text) = note {
            history.push(Message::Note { text: text.clone() });
            drop(history);
            events.emit(TurnEventKind::Told { text }).await;
        }
        Ok(())
    }

    async fn request(&self) -> ChatRequest {
        let tools = self.session.tools.iter().map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.schema().source().clone(),
        });
        ChatRequest {
            model: self.input.model.clone(),
            system: self.session.system.clone(),
            messages: self.session.history.lock().await.clone(),
            tools: tools.collect(),
            max_output_tokens: self.input.max_output_tokens,
            reasoning_effort: self.input.reasoning_effort.clone(),
            ..ChatRequest::default()
        }
    }

    /// One model call, asked again by itself while nothing of it was shown.
    async fn ask(&self, events: &mut Events) -> Result<Step, TurnEnd> {
        let mut retries = 0;
        loop {
            let stream = self.input.provider.stream(self.request().await);
            let step = step::run(stream, &self.stop, events).await;
            if !step.parts.is_empty() {
                // Also what a broken step said: the user has seen it, so the model must know it.
                let message = Message::Assistant {
                    parts: step.parts.clone(),
                };
                self.session.history.lock().await.push(message);
            }
            if let Some(end) = step.stopped {
                return Err(end);
            }
            let Some(error) = &step.error else {
                return Ok(step);
            };
            let jitter = jitter(&self.input.turn_id, retries);
            let Some(wait) = self.input.retry.wait(retries, error, jitter) else {
                return Err(TurnEnd::Failed {
                    error: error.into(),
                });
            };
            retries += 1;
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            let error = TurnError::from(error);
            events
                .emit(TurnEventKind::Retrying {
                    attempt: retries,
                    wait_ms,
                    error,
                })
                .await;
            tokio::select! {
                biased;
                end = self.stop.wait() => return Err(end),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    async fn ended_without_calls(&self, reason: StopReason, events: &mut Events) -> TurnEnd {
        let notice = match reason {
            StopReason::Length => {
                "The answer was cut: the model reached its limit of output tokens."
            }
            StopReason::ContentFilter => "The answer was cut by the vendor's content filter.",
            StopReason::ContextLength => "The answer was cut: the model's context window is full.",
            StopReason::Pause => "The vendor paused the answer; ask again to go on.",
            StopReason::End | StopReason::ToolCalls | StopReason::Refusal | StopReason::Error => {
                return TurnEnd::Completed;
            }
        };
        events
            .emit(TurnEventKind::Notice {
                text: notice.to_owned(),
            })
            .await;
        TurnEnd::Completed
    }
}

/// A number in `0.0..1.0` that differs by turn and try, so that many clients do not come back at once.
fn jitter(turn_id: &str, retries: u32) -> f64 {
    let mut hash: u32 = 2_166_136_261;
    for byte in turn_id.bytes().chain(retries.to_le_bytes()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    }
    f64::from(hash % 1000) / 1000.0
}
