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
//! log       the durable record
//! ```
//!
//! **Invariant:** a turn ends in exactly one [`TurnEventKind::Ended`], the last of its events; a
//! tool call that was begun ends in exactly one [`TurnEventKind::ToolFinished`] before it.
//! **Invariant:** arguments that are cut, no JSON, or against the schema are never run and never
//! become `{}`.
//! **Invariant:** dropping or cancelling a turn drops the provider's stream, and with it the connection.

mod agent;
mod budget;
mod context;
mod event;
mod log;
mod prompt;
mod session;
mod steering;
mod turn;

pub use agent::{Agent, AgentError};
pub use budget::{Budget, BudgetLimit};
pub use context::{Document, PromptContext, Selection, excerpt};
pub use event::{ToolStatus, TurnEnd, TurnError, TurnEvent, TurnEventKind};
pub use log::{EventLog, LogError, NoLog};
pub use session::{Busy, Session, TurnInput};
pub use steering::{Decision, NoSteering, PendingHunk, Steering, StepContext, Verdict};
pub use turn::TurnSink;
