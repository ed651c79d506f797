//! The turn loop: ask the model, run what it calls, tell it the results, until there is nothing left.

mod calls;
mod events;
mod step;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use redline_providers::{ChatRequest, StopReason, ToolSpec};
use redline_tools::ErrorCode;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::context::user_message;
use crate::steering::{Memory, StepModel};
use crate::usage::{self, Meter};
use crate::{BudgetLimit, EventSink, Session, TurnEnd, TurnError, TurnEventKind, TurnInput};

use events::Events;
use step::Step;

/// Steps in a row whose calls were all unusable before the turn gives up on the model.
const MAX_BAD_STEPS: u32 = 4;

/// How long an endpoint may take to count a prompt.
const COUNT_PATIENCE: Duration = Duration::from_secs(5);

/// What can end a turn from outside.
#[derive(Clone)]
pub(crate) struct Stop {
    cancel: CancellationToken,
    deadline: Arc<Mutex<Instant>>,
}

impl Stop {
    fn new(cancel: CancellationToken, time: Duration) -> Self {
        Self {
            cancel,
            deadline: Arc::new(Mutex::new(Instant::now() + time)),
        }
    }

    /// Waits for the user or the clock.
    async fn wait(&self) -> TurnEnd {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => TurnEnd::Cancelled,
            () = tokio::time::sleep_until(deadline) => TurnEnd::Budget { limit: BudgetLimit::Time },
        }
    }

    /// Waits for the user alone.
    async fn cancelled(&self) -> TurnEnd {
        self.cancel.cancelled().await;
        TurnEnd::Cancelled
    }

    /// Puts the deadline off: while the user is asked, the turn does not use up its time.
    fn put_off(&self, by: Duration) {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) += by;
    }
}

/// Runs a turn. Whatever happens inside, its last event says how it ended.
pub(crate) async fn run(
    session: &Arc<Session>,
    input: TurnInput,
    sink: Arc<dyn EventSink>,
    cancel: CancellationToken,
) -> TurnEnd {
    let mut events = Events::open(
        &input.turn_id,
        Arc::clone(&session.history),
        Arc::clone(&session.log),
        sink,
    );
    events.emit(TurnEventKind::Started {
        prompt: input.prompt.clone(),
    });
    let mut turn = Turn {
        session,
        stop: Stop::new(cancel, input.budget.time),
        model: input.model.clone(),
        hints: None,
        input: &input,
        stopped: Arc::default(),
        meter: Meter::new(session.cost()),
        is_cost_told: false,
    };
    let end = AssertUnwindSafe(turn.whole(&mut events)).catch_unwind();
    let end = end.await.unwrap_or_else(|_| TurnEnd::Failed {
        error: TurnError::new(
            ErrorCode::Internal,
            "the turn failed inside; the log has more",
        ),
    });
    // Whatever a tool still does, it is told that nobody waits.
    turn.stopped
        .store(true, std::sync::atomic::Ordering::Relaxed);
    if matches!(end, TurnEnd::Cancelled) {
        turn.model.provider.close_idle();
    }
    events.end(end.clone()).await;
    end
}

struct Turn<'a> {
    session: &'a Arc<Session>,
    input: &'a TurnInput,
    /// Asked in this step.
    model: StepModel,
    /// As the model was last told them.
    hints: Option<String>,
    stop: Stop,
    /// Tells running tools that the turn has ended.
    stopped: Arc<AtomicBool>,
    meter: Meter,
    /// The user knows that the limit of money does not hold.
    is_cost_told: bool,
}

impl Turn<'_> {
    async fn whole(&mut self, events: &mut Events) -> TurnEnd {
        match self.steps(events).await {
            Ok(TurnEnd::Completed) => match self.commit_edits(events).await {
                Ok(()) => TurnEnd::Completed,
                Err(end) => end,
            },
            Ok(end) | Err(end) => end,
        }
    }

    /// `Err` is an end from outside the conversation, `Ok` one that the model came to.
    async fn steps(&mut self, events: &mut Events) -> Result<TurnEnd, TurnEnd> {
        let mut steps = 0;
        let mut bad_steps = 0;
        loop {
            if let Some(limit) = self.input.budget.forbids_step(steps, &self.meter) {
                return Err(TurnEnd::Budget { limit });
            }
            steps += 1;
            self.tell(steps, events).await?;
            events.emit(TurnEventKind::StepStarted {
                step: steps,
                model: self.model.id(),
            });
            let step = self.ask(events).await?;
            if step.calls.is_empty() {
                match step.reason {
                    // The vendor paused a long answer; sending it back goes on.
                    StopReason::Pause => continue,
                    reason => return Ok(ended_without_calls(reason, step.is_answer, events)),
                }
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
    async fn tell(&mut self, step: u32, events: &mut Events) -> Result<(), TurnEnd> {
        let state = tokio::select! {
            biased;
            end = self.stop.wait() => return Err(end),
            state = self.session.steering.before_step() => state,
        };
        let note = state.note();
        if step == 1 {
            let memory = match self.session.is_new() {
                true => self.memory().await?,
                false => Memory::default(),
            };
            let text = user_message(
                &self.input.prompt,
                &self.input.context,
                &state.pending,
                state.hints.as_deref(),
                &memory,
            );
            events.emit(TurnEventKind::Asked { text });
        }
        // What stood before the prompt is told again where it is no longer so.
        let changed = state.hints.clone().filter(|_| step > 1);
        let changed = changed.filter(|hints| self.hints.as_ref() != Some(hints));
        let told: Vec<String> = note.into_iter().chain(changed).collect();
        if !told.is_empty() {
            let text = told.join("\n\n");
            events.emit(TurnEventKind::Told { text });
        }
        if state.hints.is_some() {
            self.hints = state.hints;
        }
        if let Some(model) = state.model {
            self.model = model;
        }
        Ok(())
    }

    async fn memory(&self) -> Result<Memory, TurnEnd> {
        tokio::select! {
            biased;
            end = self.stop.wait() => Err(end),
            memory = self.session.steering.memory() => Ok(memory),
        }
    }

    fn request(&self) -> ChatRequest {
        let tools = self.session.tools.iter().map(|tool| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            parameters: tool.schema().source().clone(),
        });
        ChatRequest {
            model: self.model.name.clone(),
            system: self.session.system.clone(),
            messages: self.session.told_to(&self.model.id()),
            tools: tools.collect(),
            max_output_tokens: self.input.max_output_tokens,
            reasoning_effort: self.input.reasoning_effort.clone(),
            ..ChatRequest::default()
        }
    }

    /// One model call, asked again by itself while nothing of it was shown.
    async fn ask(&mut self, events: &mut Events) -> Result<Step, TurnEnd> {
        let mut retries = 0;
        loop {
            let mut request = self.request();
            let estimate = self.model.provider.estimate(&request);
            request.estimated_prompt_tokens = self.meter.expect(&self.model.id(), estimate);
            let stream = self.model.provider.stream(request.clone());
            let step = step::run(stream, &self.stop, events).await;
            self.meter(&request, estimate, &step, events).await;
            if let Some(end) = step.stopped {
                return Err(end);
            }
            let Some(error) = &step.error else {
                return Ok(step);
            };
            let jitter = jitter(&self.input.turn_id, retries);
            let wait = match step.is_answer {
                true => None,
                false => self.input.retry.wait(retries, error, jitter),
            };
            let Some(wait) = wait else {
                return Err(TurnEnd::Failed {
                    error: error.into(),
                });
            };
            retries += 1;
            events.emit(TurnEventKind::Retrying {
                attempt: retries,
                wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
                error: TurnError::from(error),
            });
            tokio::select! {
                biased;
                end = self.stop.wait() => return Err(end),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Adds up what a model call took, also one that failed later: the vendor counts it too.
    async fn meter(
        &mut self,
        request: &ChatRequest,
        estimate: Option<u64>,
        step: &Step,
        events: &mut Events,
    ) {
        let mut call = usage::Call {
            model: self.model.id(),
            estimate,
            counted: None,
            told: step.usage,
            answer_bytes: step.answer_bytes,
        };
        if Meter::wants_count(&call) {
            // Nobody knows that a call was billed which failed, or was stopped, without a word about it.
            if step.error.is_some() || step.stopped.is_some() {
                return;
            }
            let counted = self.model.provider.count(request);
            call.counted = tokio::select! {
                biased;
                _ = self.stop.wait() => None,
                // An endpoint that does not count now leaves the estimate.
                counted = tokio::time::timeout(COUNT_PATIENCE, counted) => {
                    counted.ok().and_then(Result::ok).flatten()
                }
            };
        }
        let facts = (self.model.facts)();
        for told in self.meter.take(&call, facts) {
            events.emit(told);
        }
        if let Some(limit) = self.input.budget.cost
            && facts.price.is_none()
            && !self.is_cost_told
        {
            self.is_cost_told = true;
            let model = self.model.id();
            let text = format!(
                "What {model} costs is not known, so the limit of {limit} US dollars does not hold; [prices.\"{model}\"] sets it."
            );
            events.emit(TurnEventKind::Notice { text });
        }
    }

    /// Commits the turn's own edits, where the user's policy says so.
    async fn commit_edits(&self, events: &mut Events) -> Result<(), TurnEnd> {
        // What the commit writes must not be on the disk before what led to it is in the record.
        events.recorded().await;
        let committed = tokio::select! {
            biased;
            end = self.stop.wait() => return Err(end),
            committed = self.session.steering.commit_edits() => committed,
        };
        if let Some(commit) = committed {
            events.emit(if commit.is_committed {
                TurnEventKind::Committed {
                    transaction_id: commit.transaction_id,
                    text: commit.text,
                }
            } else {
                TurnEventKind::Notice { text: commit.text }
            });
        }
        Ok(())
    }
}

fn ended_without_calls(reason: StopReason, is_answer: bool, events: &mut Events) -> TurnEnd {
    let notice = match reason {
        StopReason::Length => "The answer was cut: the model reached its limit of output tokens.",
        StopReason::ContentFilter => "The answer was cut by the vendor's content filter.",
        StopReason::ContextLength => "The answer was cut: the model's context window is full.",
        StopReason::End if !is_answer => "The model answered nothing.",
        StopReason::End
        | StopReason::Pause
        | StopReason::ToolCalls
        | StopReason::Refusal
        | StopReason::Error => return TurnEnd::Completed,
    };
    events.emit(TurnEventKind::Notice {
        text: notice.to_owned(),
    });
    TurnEnd::Completed
}

/// A number in `0.0..1.0` that differs by turn and try, so that many clients do not come back at once.
fn jitter(turn_id: &str, retries: u32) -> f64 {
    let mut hash: u32 = 2_166_136_261;
    for byte in turn_id.bytes().chain(retries.to_le_bytes()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    }
    f64::from(hash % 1000) / 1000.0
}
