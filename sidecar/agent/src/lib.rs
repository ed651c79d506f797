//! Agents, sessions, and the turn loop.
//!
//! Owns who acts (instruction, model, tools), the conversation, what a model is told of the
//! workspace and of the user's decisions, the budget of a turn, and the order of its events. Must
//! not know LSP, the terminal, the clock, files or vendors: models are [`redline_providers::Provider`],
//! the workspace is a [`redline_tools::WorkspaceView`], ids and paths are passed in.
//!
//! ```text
//! agent     identity, instruction, tools       session   one conversation
//! prompt    the system prompt                  context   what stands around a prompt
//! steering  decisions of the user, per step    budget    limits of a turn
//! turn      the loop                           event     what it says, in order
//! log       who records it, and is shown it    history   what the model is told of it again
//! store     sessions as they are kept          export    a recorded turn, to be played again
//! ```
//!
//! **Invariant:** a turn ends in exactly one [`TurnEventKind::Ended`], the last of its events; a
//! tool call that was begun ends in exactly one [`TurnEventKind::ToolFinished`] before it.
//! **Invariant:** arguments that are cut, no JSON, or against the schema are never run and never
//! become `{}`.
//! **Invariant:** nothing is shown that is not recorded, unless the record failed, and then that is said.
//! **Invariant:** the conversation is a fold over recorded events, so a session that is loaded goes on as if
//! the process had never ended.
//! **Invariant:** dropping or cancelling a turn drops the provider's stream, and with it the connection.

mod agent;
mod budget;
mod context;
mod event;
mod export;
mod history;
mod log;
mod prompt;
mod session;
mod steering;
mod store;
mod turn;
mod usage;

pub use agent::{Agent, AgentError};
pub use budget::{Budget, BudgetLimit};
pub use context::{Document, PromptContext, Selection, excerpt};
pub use event::{Meant, ToolStatus, TurnEnd, TurnError, TurnEvent, TurnEventKind};
pub use export::export;
pub use history::History;
pub use log::{EventLog, EventSink, LogError, NoLog};
pub use session::{Busy, Ground, Session, TurnInput};
pub use steering::{
    AutoCommit, Decision, Memory, NoSteering, PendingHunk, Steering, StepContext, StepModel,
    Verdict,
};
pub use store::{Past, Recorder, SessionStore};
pub use usage::ModelFacts;
