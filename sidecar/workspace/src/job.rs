//! Jobs: programs that run in the workspace for a session, with bounds, and a record of each.
//!
//! A command is a program and its arguments; there is no shell. It runs in a folder of the workspace, in the
//! reduced env of its session, in a process session of its own, and within stated bounds of time, input and
//! output ([`JobLimits`]). [`Jobs`] starts, watches and ends them; `jobs/<id>/` keeps what was run and what it
//! wrote.
//!
//! ```text
//! spec      what is to be run          program   which file that is        sandbox   what confines it
//! launch    the process and its pipes  tree      all that descends from it  pump     its thread
//! capture   what is kept of output     plain     output as safe text       watch     live output
//! record    the durable record         files     what lies beside it       running   while it runs
//! jobs      all of them                begin     starting one            archive   those in the store
//! overlaps  which were there together
//! ```
//!
//! **Invariant:** no process of a job outlives it (best effort where `tree` says so).
//! **Invariant:** what is kept, shown or told of a job has no secret in it that its masker knows.
//! It must not know who may run what: the gate has decided before.

mod archive;
mod begin;
mod capture;
mod error;
mod files;
mod jobs;
mod launch;
mod limits;
mod overlaps;
mod plain;
mod program;
mod pump;
mod record;
mod running;
mod sandbox;
mod spec;
mod tree;
mod watch;

#[cfg(test)]
mod tests;

pub use capture::{Kept, StreamTotals};
pub use error::JobError;
pub use jobs::{EditorSaves, JobOptions, Jobs, NoEditors, Started as JobStarted};
pub use limits::{JobLimits, MAX_STDIN_BYTES};
pub use plain::{Plain, Removed, plain};
pub use program::{Program, ProgramPlace, Programs};
pub use record::{JobOrigin, JobRecord, JobState, ProcessRecord, ProgramRecord};
pub use running::JobView;
pub use sandbox::{Borders, Launch, NoSandbox, Sandbox};
pub use spec::JobSpec;
pub use tree::{MARK as JOB_MARK, job_of_process};
pub use watch::{Heard, JobListener, JobStream, Wake};
