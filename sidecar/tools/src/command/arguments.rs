//! The arguments of `workspace_command`: their schema, and what they mean.

use std::collections::BTreeMap;
use std::time::Duration;

use redline_workspace::{JobStream, MAX_STDIN_BYTES};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tool::parse;
use crate::{ErrorCode, ToolError};

/// How long `run` waits when nothing else is said, and at most.
const RUN_SECONDS: f64 = 120.0;
const MOST_RUN_SECONDS: f64 = 3600.0;

/// Longest clock of `start`.
const MOST_START_SECONDS: f64 = 86_400.0;

/// How long `status` and `output` wait at most.
const MOST_WAIT_SECONDS: f64 = 60.0;

/// Bytes of output in one answer: when nothing else is said, and at most.
const PART_BYTES: usize = 32 << 10;
const MOST_PART_BYTES: usize = 64 << 10;

/// What is asked for.
pub(super) struct Arguments {
    pub(super) action: Action,
}

/// One action with what belongs to it.
pub(super) enum Action {
    Run(Command),
    Start(Command),
    Status(OfJob),
    Output(OfJob),
    Cancel(String),
    List,
}

/// A program to run.
#[derive(Debug, Clone)]
pub(super) struct Command {
    /// `run` or `start`.
    pub(super) action: &'static str,
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    pub(super) cwd: String,
    pub(super) env: BTreeMap<String, String>,
    pub(super) stdin: Option<String>,
    pub(super) terminal: bool,
    pub(super) timeout_seconds: Option<f64>,
}

/// A question about one job.
#[derive(Debug, Clone)]
pub(super) struct OfJob {
    pub(super) job: String,
    pub(super) wait: Duration,
    /// A stream and the first byte wanted; None means the first and last bytes of both.
    pub(super) part: Option<(JobStream, u64)>,
    pub(super) limit: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Run,
    Start,
    Status,
    Output,
    Cancel,
    List,
}

#[derive(Deserialize)]
struct Raw {
    action: Word,
    program: Option<String>,
    arguments: Option<Vec<String>>,
    cwd: Option<String>,
    env: Option<Vec<String>>,
    stdin: Option<String>,
    terminal: Option<bool>,
    timeout_seconds: Option<f64>,
    job_id: Option<String>,
    wait_seconds: Option<f64>,
    stream: Option<JobStream>,
    offset: Option<u64>,
    limit: Option<usize>,
}

pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["action"],
        "properties": {
            "action": {"type": "string", "enum": ["run", "start", "status", "output", "cancel", "list"], "description": "`run` and `start` need `program`; `status`, `output` and `cancel` need `job_id`."},
            "program": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "run, start: a bare name, found on PATH, or the path of a program of the workspace, like ./gradlew, seen from `cwd`."},
            "arguments": {"type": "array", "maxItems": 4096, "items": {"type": "string"}, "description": "run, start: each argument on its own, without quotes."},
            "cwd": {"type": "string", "maxLength": 4096, "description": "run, start: the folder to run in, from the workspace's root; absent: the root."},
            "env": {"type": "array", "maxItems": 256, "items": {"type": "string", "minLength": 2}, "description": "run, start: further variables, each as NAME=value."},
            "stdin": {"type": "string", "maxLength": MAX_STDIN_BYTES, "description": "run, start: what the program reads; absent: nothing."},
            "terminal": {"type": "boolean", "description": "run, start: give it a pseudo-terminal, for programs that ask for one; error output is then part of the output."},
            "timeout_seconds": {"type": "number", "minimum": 0, "maximum": MOST_START_SECONDS, "description": "run: 120 if absent, 3600 at most. start: 0 or absent is without a limit."},
            "job_id": {"type": "string", "minLength": 1, "maxLength": 256, "description": "status, output, cancel: the job."},
            "wait_seconds": {"type": "number", "minimum": 0, "maximum": MOST_WAIT_SECONDS, "description": "status, output: wait so long for its end."},
            "stream": {"type": "string", "enum": ["stdout", "stderr"], "description": "output: one stream from `offset` on; absent: the first and last part of both."},
            "offset": {"type": "integer", "minimum": 0, "description": "output: first byte of the stream; 0 if absent."},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_PART_BYTES, "description": "output: most bytes; 32768 if absent."},
        },
    })
}

impl Arguments {
    /// Reads arguments that fit the schema.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENTS` for what the action lacks, or does not know.
    pub(super) fn read(arguments: &Map<String, Value>) -> Result<Self, ToolError> {
        let raw: Raw = parse(arguments)?;
        let (word, known): (&'static str, &[&str]) = match raw.action {
            Word::Run => ("run", COMMAND),
            Word::Start => ("start", COMMAND),
            Word::Status => ("status", &["job_id", "wait_seconds"]),
            Word::Output => (
                "output",
                &["job_id", "wait_seconds", "stream", "offset", "limit"],
            ),
            Word::Cancel => ("cancel", &["job_id"]),
            Word::List => ("list", &[]),
        };
        let other = arguments
            .keys()
            .find(|name| *name != "action" && !known.contains(&name.as_str()));
        if let Some(other) = other {
            return Err(ToolError::new(
                ErrorCode::InvalidArguments,
                format!("`{word}` takes no `{other}`"),
            )
            .with_hint(format!(
                "`{word}` takes: {}.",
                if known.is_empty() {
                    "nothing else".to_owned()
                } else {
                    known.join(", ")
                }
            )));
        }
        let job = || {
            raw.job_id
                .clone()
                .ok_or_else(|| missing(word, "job_id", "`list` shows the ids of jobs."))
        };
        let wait = Duration::from_secs_f64(
            raw.wait_seconds
                .unwrap_or(0.0)
                .clamp(0.0, MOST_WAIT_SECONDS),
        );
        let of_job = |part| -> Result<OfJob, ToolError> {
            Ok(OfJob {
                job: job()?,
                wait,
                part,
                limit: raw.limit.unwrap_or(PART_BYTES),
            })
        };
        let action = match raw.action {
            Word::Status => Action::Status(of_job(None)?),
            Word::Output => {
                let asks_for_part =
                    raw.stream.is_some() || raw.offset.is_some() || raw.limit.is_some();
                let part = (
                    raw.stream.unwrap_or(JobStream::Stdout),
                    raw.offset.unwrap_or(0),
                );
                Action::Output(of_job(asks_for_part.then_some(part))?)
            }
            Word::Cancel => Action::Cancel(job()?),
            Word::List => Action::List,
            Word::Run => Action::Run(command(word, raw)?),
            Word::Start => Action::Start(command(word, raw)?),
        };
        Ok(Self { action })
    }
}

const COMMAND: &[&str] = &[
    "program",
    "arguments",
    "cwd",
    "env",
    "stdin",
    "terminal",
    "timeout_seconds",
];

fn command(word: &'static str, raw: Raw) -> Result<Command, ToolError> {
    let program = raw
        .program
        .ok_or_else(|| missing(word, "program", "Name the program, without its arguments."))?;
    let mut env = BTreeMap::new();
    for pair in raw.env.unwrap_or_default() {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(ToolError::new(
                ErrorCode::InvalidArguments,
                // Not the whole of it: it may be a value that belongs to nobody.
                "an item of `env` has no `=`",
            )
            .with_hint("Write each variable as NAME=value."));
        };
        env.insert(name.to_owned(), value.to_owned());
    }
    Ok(Command {
        action: word,
        program,
        arguments: raw.arguments.unwrap_or_default(),
        cwd: raw.cwd.unwrap_or_default(),
        env,
        stdin: raw.stdin,
        terminal: raw.terminal.unwrap_or(false),
        timeout_seconds: raw.timeout_seconds,
    })
}

fn missing(word: &str, name: &str, hint: &str) -> ToolError {
    ToolError::new(
        ErrorCode::InvalidArguments,
        format!("`{word}` needs `{name}`"),
    )
    .with_hint(hint)
}

impl Command {
    /// The limit of `run`: never without one.
    pub(super) fn run_time(&self) -> Duration {
        let seconds = match self.timeout_seconds {
            Some(seconds) if seconds > 0.0 => seconds.min(MOST_RUN_SECONDS),
            Some(_) | None => RUN_SECONDS,
        };
        Duration::from_secs_f64(seconds)
    }

    /// The limit of `start`: 0 and nothing are without one.
    pub(super) fn start_time(&self) -> Option<Duration> {
        let seconds = self.timeout_seconds.filter(|seconds| *seconds > 0.0)?;
        Some(Duration::from_secs_f64(seconds.min(MOST_START_SECONDS)))
    }
}
