//! The gate: whether a mutation may run now.
//!
//! Owns the decision and its rules. Must not know how approvals are stored, which model asks, or which editor answers.
//!
//! ```text
//! decision   whether an operation may run now: the table
//! rules      what the user says beforehand
//! command    what is known of programs
//! shell      what a shell script runs
//! policy     all of it together, and what is told of it
//! session    the gate of one session, over the durable approvals
//! prompt     decisions at the start of a prompt         hints   what the model is told of the gate
//! keeper     the seam to whoever holds the approvals
//! ```

mod command;
mod decision;
mod hints;
mod keeper;
pub(crate) mod names;
mod policy;
mod prompt;
mod rules;
mod session;
mod shell;

pub use command::{CommandEffect, effect_of};

pub use decision::{
    Ceiling, Decision, Facts, Mode, PlanStanding, Row, Ruling, Standing, Target, UnknownWord,
    Verdict, decide,
};
pub use hints::Workflow;
pub use keeper::{Admission, Claim, ClosedGate, GatedCall, Gatekeeper, Start};
pub use policy::{Answer, Circumstances, Policy, pending_envelope, stale_approval};
pub use prompt::{Directive, Prompt, Subject, read_prompt};
pub use rules::{CommandSpec, Doubt, Judgement, Place, RuleError, RuleSpec, Rules, RulesSpec};
pub use session::{GateHost, SessionGate, files_of_command, target};
