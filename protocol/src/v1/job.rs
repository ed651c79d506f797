//! Running programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

wire! {
/// Where a job stands.
pub enum JobState {
    /// It runs.
    Running,
    /// It ended by itself; `exitCode` or `signal` says how.
    Exited,
    /// The user or the agent stopped it.
    Cancelled,
    /// Its time was over.
    TimedOut,
    /// It was running when the sidecar ended.
    Orphaned,
}
}

wire! {
/// A program that runs or has run.
pub struct Job {
    /// `job_…`.
    pub id: String,
    /// The session that started it.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The tool call that started it.
    #[serde(default)]
    pub tool_call_id: Option<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder that it runs in, from the workspace root.
    pub cwd: String,
    /// Where it stands.
    pub state: JobState,
    /// How it ended.
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default)]
    pub signal: Option<i32>,
    /// Unix seconds.
    pub started_at: u64,
    /// Unix seconds.
    #[serde(default)]
    pub ended_at: Option<u64>,
    /// Bytes of output so far.
    pub output_bytes: u64,
    /// What confines it: `none`, `bubblewrap`, …
    pub sandbox: String,
}
}

wire! {
/// Params of `redline/job/list`.
#[derive(Default)]
pub struct ListJobsParams {
    /// Also those that have ended, newest first, at most 100.
    #[serde(default)]
    pub ended: bool,
}
}

wire! {
/// Result of `redline/job/list`.
pub struct ListJobsResult {
    /// Oldest first.
    pub jobs: Vec<Job>,
}
}

wire! {
/// Params of `redline/job/output`.
pub struct JobOutputParams {
    /// `job_…`.
    pub job_id: String,
    /// First byte wanted; absent means the tail.
    #[serde(default)]
    pub offset: Option<u64>,
    /// Most bytes in the answer; absent means 64 KiB.
    #[serde(default)]
    pub limit: Option<u64>,
}
}

wire! {
/// Result of `redline/job/output`.
pub struct JobOutputResult {
    /// The job.
    pub job: Job,
    /// Standard output as safe text, without what steers a terminal; with a terminal, all output.
    pub text: String,
    /// The head of standard error, likewise.
    pub errors: String,
    /// Offset of the first byte of `text`.
    pub offset: u64,
    /// Offset of the byte after it: where to read on.
    pub next_offset: u64,
}
}

wire! {
/// Params of `redline/job/cancel`.
pub struct CancelJobParams {
    /// `job_…`.
    pub job_id: String,
}
}

wire! {
/// Notification `redline/job/changed`, to clients with the `session` capability.
pub struct JobChangedNotification {
    /// The job as it stands.
    pub job: Job,
    /// New output; what a slow reader missed is left out, and `offset` shows the gap.
    #[serde(default)]
    pub output: Option<String>,
    /// Offset of the first byte of `output`.
    #[serde(default)]
    pub offset: Option<u64>,
}
}
