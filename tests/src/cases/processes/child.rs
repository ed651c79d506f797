//! The child: one call of the real tool over a real folder, and how much memory it took.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use redline_edits::{FileError, FileState, Files};
use redline_tools::gate::{Admission, Claim, GatedCall, Gatekeeper, Start};
use redline_tools::{
    CallContext, CommandHost, ErrorCode, Operation, Proposed, ToolError, ToolSet, ViewProposal,
    WorkspaceCommand, WorkspaceView,
};
use redline_workspace::{
    EnvSnapshot, Ids, JobOptions, JobView, Jobs, JournalOptions, Overlay, RootOptions, SealKey,
    SessionEnv, Workspace, WorkspaceOptions, WorkspaceRoot,
};
use serde_json::{Value, json};

use crate::processes;

/// Reads what to call from stdin, and tells on stdout what came of it.
#[allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program of the tests"
)]
pub fn command() -> ExitCode {
    match run() {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<Value> {
    let asked: Value = serde_json::from_reader(std::io::stdin())?;
    let root = asked["root"].as_str().context("it names a folder")?;
    let session = Arc::new(Session::open(Path::new(root))?);
    let tool = WorkspaceCommand::new(session.clone())?;
    let tools = ToolSet::new(vec![Arc::new(tool)])?;
    let view = Disk(session.root.clone());
    let context = CallContext {
        view: &view,
        gate: &OpenGate,
        session: "se_1",
        turn: "turn_1",
        call_id: "call_1",
        resumes: None,
        admitted: None,
        cancel: &AtomicBool::new(false),
    };
    let arguments = asked["arguments"].as_object().context("arguments")?;
    let pid = std::process::id();
    let before = processes::peak_resident_bytes(pid).unwrap_or(0);
    let envelope = tools.run(&context, "workspace_command", arguments);
    let after = processes::peak_resident_bytes(pid).unwrap_or(0);
    let id = envelope.recovery.ids.get("job").and_then(Value::as_str);
    let view = id.map(|id| session.jobs.output(id)).transpose()?;
    let stream = |of: fn(&JobView) -> [&[u8]; 2]| {
        let bytes = view.as_ref().map(|view| of(view).concat());
        STANDARD.encode(bytes.unwrap_or_default())
    };
    Ok(json!({
        "envelope": envelope,
        "stdout": stream(|view| [&view.stdout.head, &view.stdout.tail]),
        "stderr": stream(|view| [&view.stderr.head, &view.stderr.tail]),
        "resident_growth_bytes": after.saturating_sub(before),
    }))
}

/// A session in the folder, with the env that the child has.
struct Session {
    root: WorkspaceRoot,
    jobs: Jobs,
    env: Arc<EnvSnapshot>,
}

impl Session {
    fn open(root: &Path) -> Result<Self> {
        let options = WorkspaceOptions {
            root: RootOptions::default(),
            key: SealKey::new([3; 32]),
            clock: Arc::new(|| 1_000),
            journal: JournalOptions::default(),
        };
        let (workspace, _) = Workspace::open(root, options)?;
        let root = workspace.root().clone();
        let options = JobOptions::new(Arc::new(|| 1_000), Arc::new(Numbers::default()));
        let (jobs, _) = Jobs::open(workspace, options);
        Ok(Self {
            root,
            jobs,
            env: SessionEnv::new(std::env::vars()).snapshot(),
        })
    }
}

impl CommandHost for Session {
    fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    fn workspace_id(&self) -> &str {
        "ws_1"
    }

    fn env(&self) -> Arc<EnvSnapshot> {
        self.env.clone()
    }

    fn digest_key(&self) -> [u8; 32] {
        [3; 32]
    }

    fn secrets(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn turn_title(&self) -> Option<String> {
        None
    }

    fn unsaved(&self) -> Vec<String> {
        Vec::new()
    }
}

#[derive(Default)]
struct Numbers(AtomicU64);

impl Ids for Numbers {
    fn next(&self, prefix: &str) -> String {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}{count:016}{:010}", std::process::id())
    }
}

/// Lets everything through.
struct OpenGate;

impl Gatekeeper for OpenGate {
    fn admit(&self, _: &GatedCall<'_>, _: &Operation) -> Admission {
        Admission::Run(None)
    }

    fn settle(&self, _: Claim, _: Start) {}
}

/// The disk alone: commands neither read through a view nor propose.
struct Disk(WorkspaceRoot);

impl Files for Disk {
    fn admit(&self, path: &str) -> Result<String, FileError> {
        let admitted = self.0.admit(path);
        admitted
            .map(|path| path.to_string())
            .map_err(|error| FileError::new(error.code(), error.to_string(), error.hint()))
    }

    fn read(&self, path: &str) -> Result<FileState, FileError> {
        Err(FileError::new("UNSUPPORTED", path, "run a command"))
    }
}

impl WorkspaceView for Disk {
    fn root(&self) -> &WorkspaceRoot {
        &self.0
    }

    fn overlay(&self) -> Result<Overlay, ToolError> {
        Ok(BTreeMap::new())
    }

    fn propose(&self, _: ViewProposal) -> Result<Proposed, ToolError> {
        Err(ToolError::new(
            ErrorCode::Unsupported,
            "only commands run here",
        ))
    }
}
