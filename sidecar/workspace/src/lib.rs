//! Redline's resource boundary: the project's files, and what is kept beside them.
//!
//! It owns the rooted paths and every effect on them, the durable store with its lock and journal, the
//! transactions and their commits, listing and search, and the start of processes. It must not know an
//! agent, a model, an editor, a terminal or the network.
//!
//! **Invariant:** nothing here reads the clock, the environment or the home directory; they are passed in.
//! **Invariant:** no other crate touches project files.
//!
//! In reading order:
//! `boundary` paths and the handles that reach them ·
//! `read` what a path holds ·
//! `effect` staged changes and their undoing ·
//! `store` `.agentic`, its seal and its lock ·
//! `journal` what happened, checked ·
//! `transaction` what is under review, in memory and on disk ·
//! `receipt` who decided what ·
//! `approvals`, `plans` what the user lets run ·
//! `notes` what agents write down ·
//! `trust` which files of a project the user trusts ·
//! `commit` applying what was accepted, all or nothing, and recovering ·
//! `checkpoint`, `undo` taking back ·
//! `unsaved` what other processes hold open ·
//! `workspace` all of it, opened together ·
//! `uri` what editors call a file ·
//! `walk`, `list`, `search` finding files and text ·
//! `view` what a proposal is resolved against ·
//! `private` what belongs to the user alone ·
//! `sessions` conversations as they are kept ·
//! `env` what commands see, and which values are secrets ·
//! `job` running commands · `changes` what they change ·
//! `process` starting programs that outlive us ·
//! `named_files`, `git_programs` what a command would meet.
#![expect(
    clippy::disallowed_methods,
    reason = "this crate is the one that touches files and starts processes"
)]

mod approvals;
mod boundary;
mod changes;
mod checkpoint;
mod commit;
mod effect;
mod env;
mod git_programs;
mod handle;
mod job;
mod journal;
mod lines;
mod list;
mod named_files;
mod notes;
mod plans;
mod private;
mod process;
mod read;
mod receipt;
mod revision;
mod sealed;
mod search;
mod sessions;
mod sources;
mod store;
#[cfg(test)]
mod testing;
mod transaction;
mod trust;
mod undo;
mod unsaved;
mod uri;
mod view;
mod walk;
mod workspace;

pub use approvals::{
    Approval, ApprovalDamage, ApprovalError, ApprovalState, Approvals, Decided, NewApproval,
    OperationStanding, Shown, Voice,
};
pub use boundary::{
    Batch, Folding, PathError, PathRules, Place, RootOptions, WorkspacePath, WorkspaceRoot,
};
pub use changes::{ChangeLimits, ChangeSummary, Gap, Observed};
pub use checkpoint::{CheckpointSummary, Refusal};
pub use commit::{
    CommitError, CommitRequest, Committed, ConflictReport, Delivery, OpenDocument, Prepared,
    Recovery, RecoveryAction, prepare,
};
pub use effect::{Area, Effect, Expect, FaultPlan, Faults, FsError, NewMode, Stage, Staged};
pub use env::{
    DotEnv, DotEnvProblem, DotEnvState, EnvError, EnvSnapshot, EnvSource, MaskStream, Masker,
    SessionEnv, is_inherited, is_secret_name, parse_dotenv, read_dotenv,
};
pub use git_programs::git_programs;
pub use handle::{Kind, Stat};
pub use job::{
    Borders, EditorSaves, Heard, JOB_MARK, JobError, JobLimits, JobListener, JobOptions, JobOrigin,
    JobRecord, JobSpec, JobStarted, JobState, JobStream, JobView, Jobs, Kept, Launch,
    MAX_STDIN_BYTES, NoEditors, NoSandbox, Plain, ProcessRecord, Program, ProgramPlace,
    ProgramRecord, Programs, Removed, Sandbox, StreamTotals, Wake, job_of_process, plain,
};
pub use journal::{Finding, Follower, Journal, JournalOptions, Record as JournalRecord, Report};
pub use list::{Listed, ListedKind, Listing, list};
pub use named_files::{MISSING, named_files};
pub use notes::{
    MAX_MEMORY_BYTES, MAX_NOTE_BYTES, MAX_NOTES, Note, NoteDamage, NoteError, NoteName, Notes,
    WriteMode,
};
pub use plans::{NewPlan, Plan, PlanDamage, PlanError, PlanScope, PlanState, PlanStep, Plans};
pub use private::{PrivateError, PrivateStore};
pub use process::{Detached, spawn_detached};
pub use read::{Entry, FileEntry};
pub use receipt::{
    Action, Amendment, Effect as PathEffect, Outcome, PathResult, Receipt, ShownHunk,
};
pub use search::{Case, Found, Match, Query, search};
pub use sessions::{Loaded, SessionError, SessionLog, SessionSummary, Sessions};
pub use sources::{Clock, Ids};
pub use store::{SealKey, Store, StoreError, StoreLock, StorePath, StoreState};
pub use transaction::{
    Before, Concerns, DecisionRequest, Fate, FileReview, FileState, GrowError, Growth, LineRange,
    Purpose, Record, SelectError, Selection, SetAside, SettledFile, SettledHunk, Settlement,
    Standing, Totals, Transaction, TransactionMeta, TransactionState, Transactions,
};
pub use trust::{Trust, Trusted};
pub use undo::{Direction, Undo, UndoError, UndoRequest};
pub use unsaved::{Announcement, UnsavedDocument};
pub use uri::{path_to_uri, uri_to_path};
pub use view::View;
pub use walk::{Overlay, Scope, SearchError};
pub use workspace::{Workspace, WorkspaceOptions};
