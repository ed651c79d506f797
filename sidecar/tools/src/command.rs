//! `workspace_command`: runs programs in the workspace, and looks after those that go on.
//!
//! | action | does | passes the gate |
//! |---|---|---|
//! | `run` | runs a program, waits for its end, returns its output | yes |
//! | `start` | runs a program that goes on: a server, a watcher | yes |
//! | `status`, `output`, `list` | tells of jobs | no: nothing changes |
//! | `cancel` | ends a job of the same session | no: what was let run may be stopped |
//!
//! **Class.** What the gate's knowledge of programs makes of the command line; in a sandbox without network never
//! more than `workspace`. Without a sandbox it is an estimate, and the record says `none`.
//!
//! A command sees the disk, not the proposed view; the envelope names what editors hold unsaved.

mod arguments;
mod host;
mod operation;
mod report;

use std::sync::Arc;
use std::time::Duration;

use redline_workspace::{JobError, JobOrigin, JobRecord, JobSpec, JobState};
use serde_json::{Map, Value, json};

use crate::tool::{CallContext, Tool};
use crate::{Envelope, ErrorCode, Operation, Schema, SchemaError, ToolError, env_digest};

use arguments::{Action, Arguments, Command};
pub use host::CommandHost;

const NAME: &str = "workspace_command";

/// How long a program that was started is watched before it is told that it runs: most failures come at once.
const SETTLE: Duration = Duration::from_millis(250);

/// Most jobs in a list.
const MOST_LISTED: usize = 50;

/// Runs programs in the workspace.
pub struct WorkspaceCommand {
    schema: Schema,
    host: Arc<dyn CommandHost>,
}

impl WorkspaceCommand {
    /// Makes the tool of one session.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when its schema does not compile.
    pub fn new(host: Arc<dyn CommandHost>) -> Result<Self, SchemaError> {
        Ok(Self {
            schema: Schema::compile(NAME, arguments::schema())?,
            host,
        })
    }

    /// What is run, for whom.
    fn spec(
        &self,
        context: &CallContext<'_>,
        command: &Command,
        timeout: Option<Duration>,
    ) -> Result<JobSpec, ToolError> {
        let resolved = operation::resolve(&*self.host, context, command)?;
        let env = operation::with_own(&resolved.env, command)?;
        let operation = operation::of(&*self.host, context, command, &resolved)?;
        operation::check_same(context, &operation)?;
        Ok(JobSpec {
            program: resolved.program,
            arguments: command.arguments.clone(),
            folder: resolved.folder,
            masker: operation::masker(&*self.host, &env),
            env_digest: env_digest(
                &self.host.digest_key(),
                env.iter().map(|(name, value, _)| (name, value)),
            ),
            env: Arc::new(env),
            stdin: command.stdin.clone().map(String::into_bytes),
            terminal: command.terminal,
            timeout,
            background: command.action == "start",
            undoable: true,
            network: true,
            origin: JobOrigin {
                session_id: Some(context.session.to_owned()),
                turn_id: Some(context.turn.to_owned()),
                title: self.host.turn_title(),
                call_id: Some(context.call_id.to_owned()),
                approval_id: context.resumes.map(str::to_owned),
                operation_hash: Some(operation.hash().as_str().to_owned()),
            },
        })
    }

    fn run(&self, context: &CallContext<'_>, command: &Command) -> Result<Envelope, ToolError> {
        let spec = self.spec(context, command, Some(command.run_time()))?;
        let jobs = self.host.jobs();
        let view = jobs.run(spec, context.cancel).map_err(failed)?;
        Ok(report::ended(&view, &self.host.unsaved()))
    }

    fn start(&self, context: &CallContext<'_>, command: &Command) -> Result<Envelope, ToolError> {
        let spec = self.spec(context, command, command.start_time())?;
        let jobs = self.host.jobs();
        let record = jobs.start(spec).map_err(failed)?;
        jobs.wait(&record.id, SETTLE, context.cancel);
        let view = jobs.output(&record.id).map_err(failed)?;
        Ok(report::ended(&view, &self.host.unsaved()))
    }

    fn output(
        &self,
        context: &CallContext<'_>,
        asked: &arguments::OfJob,
    ) -> Result<Envelope, ToolError> {
        let jobs = self.host.jobs();
        jobs.status(&asked.job).map_err(failed)?;
        jobs.wait(&asked.job, asked.wait, context.cancel);
        let view = jobs.output(&asked.job).map_err(failed)?;
        let Some((stream, offset)) = asked.part else {
            return Ok(report::ended(&view, &[]));
        };
        let part = jobs.read(&asked.job, stream, offset, asked.limit);
        let (at, bytes) = part.map_err(failed)?;
        Ok(report::part(&view.record, stream, offset, at, &bytes))
    }

    fn status(
        &self,
        context: &CallContext<'_>,
        asked: &arguments::OfJob,
    ) -> Result<Envelope, ToolError> {
        let jobs = self.host.jobs();
        jobs.status(&asked.job).map_err(failed)?;
        jobs.wait(&asked.job, asked.wait, context.cancel);
        let record = jobs.status(&asked.job).map_err(failed)?;
        Ok(report::status(&record))
    }

    fn cancel(&self, context: &CallContext<'_>, id: &str) -> Result<Envelope, ToolError> {
        let jobs = self.host.jobs();
        let record = jobs.status(id).map_err(failed)?;
        if record.state == JobState::Running && !is_of(&record, context.session) {
            return Err(ToolError::new(
                ErrorCode::NotAllowed,
                format!("{id} was started in another conversation"),
            )
            .with_hint("Ask the user to stop it, if it is in the way."));
        }
        jobs.cancel(id).map_err(failed)?;
        let view = jobs.output(id).map_err(failed)?;
        Ok(report::cancelled(&view))
    }

    fn list(&self) -> Result<Envelope, ToolError> {
        let (jobs, damaged) = self.host.jobs().list(MOST_LISTED).map_err(failed)?;
        Ok(report::list(&jobs, &damaged))
    }
}

impl Tool for WorkspaceCommand {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Runs a program in the workspace: `run` waits for its end, `start` lets it go on (a server, a watcher) and `status`, `output`, `cancel` and `list` look after it. There is no shell: give the program and each argument on its own; pipes, `&&`, redirections, globs and $VARIABLES mean nothing. A program of the workspace is named by its path, like ./gradlew. Programs see the files on disk, not pending edits."
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn mutates(&self) -> bool {
        true
    }

    fn reads_disk(&self) -> bool {
        true
    }

    fn operation(
        &self,
        context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Option<Operation>, ToolError> {
        match Arguments::read(arguments)?.action {
            Action::Run(command) | Action::Start(command) => {
                let resolved = operation::resolve(&*self.host, context, &command)?;
                operation::of(&*self.host, context, &command, &resolved).map(Some)
            }
            Action::Status(_) | Action::Output(_) | Action::Cancel(_) | Action::List => Ok(None),
        }
    }

    fn call(
        &self,
        context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, ToolError> {
        match Arguments::read(arguments)?.action {
            Action::Run(command) => self.run(context, &command),
            Action::Start(command) => self.start(context, &command),
            Action::Status(asked) => self.status(context, &asked),
            Action::Output(asked) => self.output(context, &asked),
            Action::Cancel(id) => self.cancel(context, &id),
            Action::List => self.list(),
        }
    }
}

fn is_of(record: &JobRecord, session: &str) -> bool {
    record.origin.session_id.as_deref() == Some(session)
}

fn failed(error: JobError) -> ToolError {
    ToolError::from_code(error.code(), error.to_string()).with_hint(error.hint())
}

/// The call that reads on in a job's output.
fn read_on(job: &str, stream: &str, offset: u64) -> Value {
    json!({
        "tool": NAME,
        "arguments": {"action": "output", "job_id": job, "stream": stream, "offset": offset},
    })
}
