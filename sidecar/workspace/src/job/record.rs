//! The durable record of a job, `jobs/<id>/job.json`: what was run, who let it, how it ended.
//!
//! It is the receipt of a command. Values of secrets are masked before it is made; of the env only the digest
//! is kept.

use serde::{Deserialize, Serialize};

use super::capture::StreamTotals;
use super::program::{Program, ProgramPlace};
use crate::changes::ChangeSummary;
use crate::store::{Store, StoreError, StorePath};

/// The version that this code writes.
pub(super) const VERSION: u32 = 1;

/// The folder of all jobs in the store.
pub(super) const JOBS: &str = "jobs";

/// The record's name in a job's folder.
const FILE: &str = "job.json";

/// A job as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobRecord {
    /// The version of this form.
    pub version: u32,
    /// `job_…`.
    pub id: String,
    /// How it stands.
    #[serde(flatten)]
    pub state: JobState,
    /// For whom it runs.
    #[serde(default)]
    pub origin: JobOrigin,
    /// The program.
    pub program: ProgramRecord,
    /// Its arguments, secrets masked.
    pub arguments: Vec<String>,
    /// The folder it runs in, relative to the root; empty for the root.
    pub folder: String,
    /// A keyed digest of its env, which tells nothing of it.
    pub env_digest: String,
    /// What it is confined by; `none` when by nothing.
    pub sandbox: String,
    /// It talks to a pseudo-terminal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
    /// How long it may run; None without a clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Milliseconds since 1970.
    pub started_at_ms: u64,
    /// Milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at_ms: Option<u64>,
    /// The program's process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<ProcessRecord>,
    /// Its standard output; with a terminal, all of it.
    #[serde(default)]
    pub stdout: StreamTotals,
    /// Its standard error.
    #[serde(default)]
    pub stderr: StreamTotals,
    /// Processes that it left behind and that were ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ended_processes: usize,
    /// What it changed in the workspace; None when that was not followed, or is not known yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangeSummary>,
    /// What is worth knowing about how it went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum JobState {
    /// It runs.
    Running,
    /// Its program ended by itself.
    Exited {
        /// Its exit code.
        code: i32,
    },
    /// A signal that we did not send ended it.
    Signaled {
        /// The signal's number.
        signal: i32,
    },
    /// It was ended at its time limit.
    TimedOut,
    /// It was cancelled.
    Cancelled,
    /// The process that watched it is gone, and so is how it ended.
    Orphaned,
}

impl JobState {
    /// The state in one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Exited { .. } => "exited",
            Self::Signaled { .. } => "signaled",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Orphaned => "orphaned",
        }
    }
}

/// For whom a job runs, and who let it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobOrigin {
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The turn: its checkpoint gets what the job changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The turn in a few words: the name of its checkpoint, when the job begins it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The approval that let it run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// The hash of the operation that was let.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation_hash: Option<String>,
}

/// A program as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRecord {
    /// As it was asked for.
    pub asked: String,
    /// The file that ran.
    pub path: String,
    /// Where it lies.
    pub place: ProgramPlace,
    /// blake3 of its bytes.
    pub revision: String,
}

impl From<&Program> for ProgramRecord {
    fn from(program: &Program) -> Self {
        Self {
            asked: program.asked.clone(),
            path: program.path.display().to_string(),
            place: program.place,
            revision: program.revision.clone(),
        }
    }
}

/// A process, so that it is not mistaken for another that got its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// Its id.
    pub pid: i32,
    /// When it started, in ticks of the system's clock.
    pub started: u64,
}

/// The folder of a job.
pub(super) fn folder(id: &str) -> Result<StorePath, StoreError> {
    StorePath::new(format!("{JOBS}/{id}"))
}

impl JobRecord {
    /// Writes the record in a new folder, whole or not at all.
    pub(super) fn install(&self, store: &Store) -> Result<(), StoreError> {
        store.install(&folder(&self.id)?, &[(FILE, &self.bytes(store)?)])
    }

    /// Replaces the record.
    pub(super) fn save(&self, store: &Store) -> Result<(), StoreError> {
        store.write(&folder(&self.id)?.join(FILE)?, &self.bytes(store)?)
    }

    /// Reads a record; None when there is none.
    pub(super) fn load(store: &Store, id: &str) -> Result<Option<Self>, StoreError> {
        // An id comes from a model: one that is no name is none of ours.
        let Ok(folder) = folder(id) else {
            return Ok(None);
        };
        let path = folder.join(FILE)?;
        let Some(bytes) = store.read(&path)? else {
            return Ok(None);
        };
        let corrupt = |reason| StoreError::Corrupt {
            path: store.shown(path.as_str()),
            reason,
        };
        let record: Self =
            serde_json::from_slice(&bytes).map_err(|error| corrupt(error.to_string()))?;
        if record.version == VERSION {
            Ok(Some(record))
        } else {
            Err(corrupt(format!(
                "version {} is not known here",
                record.version
            )))
        }
    }

    fn bytes(&self, store: &Store) -> Result<Vec<u8>, StoreError> {
        serde_json::to_vec_pretty(self)
            .map_err(|error| store.io(JOBS, "writing the record", error.into()))
    }
}
