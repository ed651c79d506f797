//! One conversation of one agent in one workspace.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use redline_providers::{Message, RetryPolicy};
use redline_tools::gate::Gatekeeper;
use redline_tools::{ToolSet, WorkspaceView};
use tokio_util::sync::CancellationToken;

use crate::history::History;
use crate::{Budget, EventLog, EventSink, PromptContext, Steering, StepModel, TurnEnd, turn};

/// A conversation. Share it by `Arc`; one turn runs at a time.
pub struct Session {
    pub(crate) id: String,
    pub(crate) system: String,
    pub(crate) tools: ToolSet,
    pub(crate) view: Arc<dyn WorkspaceView>,
    pub(crate) gate: Arc<dyn Gatekeeper>,
    pub(crate) steering: Arc<dyn Steering>,
    pub(crate) log: Arc<dyn EventLog>,
    /// Everything said so far; the running turn adds to it as it goes.
    pub(crate) history: Arc<Mutex<History>>,
    busy: AtomicBool,
}

/// What a session stands on, and whom it asks.
#[derive(Clone)]
pub struct Ground {
    /// What tools read and propose through.
    pub view: Arc<dyn WorkspaceView>,
    /// Who decides whether a mutation runs.
    pub gate: Arc<dyn Gatekeeper>,
    /// What the user decides meanwhile.
    pub steering: Arc<dyn Steering>,
    /// Where events are recorded.
    pub log: Arc<dyn EventLog>,
}

/// What a turn runs with.
#[derive(Clone)]
pub struct TurnInput {
    /// `turn_…`, unique.
    pub turn_id: String,
    /// The prompt as the user wrote it.
    pub prompt: String,
    /// What stands around it.
    pub context: PromptContext,
    /// The model of the first step.
    pub model: StepModel,
    /// Limits.
    pub budget: Budget,
    /// When to ask again by itself.
    pub retry: RetryPolicy,
    /// Limit of generated tokens for each step; `None` leaves it to the server.
    pub max_output_tokens: Option<u64>,
    /// How hard to think, in the vendor's own word.
    pub reasoning_effort: Option<String>,
}

/// Another turn of the session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a turn of this session is running: wait for its end, or cancel it")]
pub struct Busy;

impl TurnInput {
    /// A turn with the defaults for all that is optional.
    pub fn new(turn_id: impl Into<String>, prompt: impl Into<String>, model: StepModel) -> Self {
        Self {
            turn_id: turn_id.into(),
            prompt: prompt.into(),
            context: PromptContext::default(),
            model,
            budget: Budget::default(),
            retry: RetryPolicy::default(),
            max_output_tokens: None,
            reasoning_effort: None,
        }
    }
}

impl Session {
    pub(crate) fn new(
        id: String,
        system: String,
        tools: ToolSet,
        ground: Ground,
        history: History,
    ) -> Self {
        Self {
            id,
            system,
            tools,
            view: ground.view,
            gate: ground.gate,
            steering: ground.steering,
            log: ground.log,
            history: Arc::new(Mutex::new(history)),
            busy: AtomicBool::new(false),
        }
    }

    /// `se_…`.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether a turn runs.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }

    /// The conversation so far.
    pub fn history(&self) -> Vec<Message> {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.messages().to_vec()
    }

    /// Whether nothing was asked yet.
    pub(crate) fn is_new(&self) -> bool {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.messages().is_empty()
    }

    /// US dollars of the turns so far; none when something of it is unknown.
    pub(crate) fn cost(&self) -> Option<f64> {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.cost()
    }

    /// The conversation as it is sent to a model.
    pub(crate) fn told_to(&self, model: &str) -> Vec<Message> {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.told_to(model)
    }

    /// Runs one turn to its end and returns how it ended.
    ///
    /// Its events go to `sink`, in order, [`crate::TurnEventKind::Ended`] last, each recorded before it is
    /// shown. Must run on a tokio runtime with a timer; tools run on its blocking threads.
    ///
    /// # Errors
    ///
    /// [`Busy`] when a turn of this session runs already; nothing is sent then.
    pub async fn run_turn(
        self: &Arc<Self>,
        input: TurnInput,
        sink: Arc<dyn EventSink>,
        cancel: CancellationToken,
    ) -> Result<TurnEnd, Busy> {
        if self.busy.swap(true, Ordering::AcqRel) {
            return Err(Busy);
        }
        let _free = Free(&self.busy);
        Ok(turn::run(self, input, sink, cancel).await)
    }
}

/// Frees the session also when the turn's future is dropped.
struct Free<'a>(&'a AtomicBool);

impl Drop for Free<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("id", &self.id)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}
