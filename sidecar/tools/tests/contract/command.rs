//! `workspace_command` on real processes: what it runs, what it refuses, and what it says.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use redline_tools::gate::{Admission, Claim, ClosedGate, GatedCall, Gatekeeper, Start};
use redline_tools::{
    CallContext, Class, CommandHost, Envelope, ErrorCode, MutationKind, Operation, Status, ToolSet,
    WorkspaceCommand,
};
use redline_workspace::{
    EnvSnapshot, Ids, JobLimits, JobOptions, Jobs, JournalOptions, RootOptions, SealKey,
    SessionEnv, Workspace, WorkspaceOptions,
};
use serde_json::{Map, Value, json};

use crate::view::FolderView;

struct Counting;

impl Ids for Counting {
    fn next(&self, prefix: &str) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        // Unlike those of every other test and process: jobs are found by their ids.
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}{count:016}{:010}", std::process::id())
    }
}

/// A session in a real folder.
pub struct Host {
    jobs: Jobs,
    env: Mutex<Arc<EnvSnapshot>>,
}

impl Host {
    pub fn new(view: &FolderView) -> Arc<Self> {
        let options = WorkspaceOptions {
            root: RootOptions::default(),
            key: SealKey::new([7; 32]),
            clock: Arc::new(|| 1_700_000_000_000),
            journal: JournalOptions::default(),
        };
        let (workspace, _) = Workspace::open(view.path(), options).unwrap();
        let ids = Arc::new(Counting);
        let options = JobOptions {
            limits: JobLimits {
                head_bytes: 200,
                tail_bytes: 200,
                ..JobLimits::default()
            },
            ..JobOptions::new(Arc::new(|| 1_700_000_000_000), ids)
        };
        let (jobs, _) = Jobs::open(workspace, options);
        let env = SessionEnv::new([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        Arc::new(Self {
            jobs,
            env: Mutex::new(env.snapshot()),
        })
    }

    fn set(&self, name: &str, value: &str) {
        let mut env = self.env.lock().unwrap();
        let own = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        *env = Arc::new(env.with(&own).unwrap());
    }
}

impl CommandHost for Host {
    fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    fn workspace_id(&self) -> &str {
        "ws_test"
    }

    fn env(&self) -> Arc<EnvSnapshot> {
        self.env.lock().unwrap().clone()
    }

    fn digest_key(&self) -> [u8; 32] {
        [3; 32]
    }

    fn secrets(&self) -> Vec<(String, String)> {
        vec![("provider key".to_owned(), "canary-provider".to_owned())]
    }

    fn turn_title(&self) -> Option<String> {
        None
    }

    fn unsaved(&self) -> Vec<String> {
        vec!["src/open.rs".to_owned()]
    }
}

/// Lets everything through, keeps what it saw, and does something first.
#[derive(Default)]
struct OpenGate {
    seen: Mutex<Vec<Operation>>,
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Gatekeeper for OpenGate {
    fn admit(&self, _: &GatedCall<'_>, operation: &Operation) -> Admission {
        self.seen.lock().unwrap().push(operation.clone());
        if let Some(meanwhile) = self.meanwhile.lock().unwrap().take() {
            meanwhile();
        }
        Admission::Run(None)
    }

    fn settle(&self, _: Claim, _: Start) {}
}

struct Session {
    view: FolderView,
    host: Arc<Host>,
    tools: ToolSet,
    gate: OpenGate,
}

impl Session {
    fn new() -> Self {
        let view = FolderView::new(&[("sub/hello.sh", "echo hello\n"), ("notes.txt", "one\n")]);
        let host = Host::new(&view);
        let tool = WorkspaceCommand::new(host.clone()).unwrap();
        Self {
            view,
            host,
            tools: ToolSet::new(vec![Arc::new(tool)]).unwrap(),
            gate: OpenGate::default(),
        }
    }

    fn call_as(&self, session: &str, gate: &dyn Gatekeeper, arguments: Value) -> Envelope {
        let Value::Object(arguments): Value = arguments else {
            panic!("an object")
        };
        let context = CallContext {
            view: &self.view,
            gate,
            session,
            turn: "turn_1",
            call_id: "call_1",
            resumes: None,
            admitted: None,
            cancel: &AtomicBool::new(false),
        };
        self.tools.run(&context, "workspace_command", &arguments)
    }

    fn call(&self, arguments: Value) -> Envelope {
        self.call_as("se_1", &self.gate, arguments)
    }

    fn code(&self, arguments: Value) -> Option<ErrorCode> {
        self.call(arguments).code()
    }

    fn operation(&self) -> Operation {
        self.gate.seen.lock().unwrap().last().unwrap().clone()
    }
}

fn words(arguments: &[&str]) -> Value {
    json!(arguments)
}

#[test]
fn run_returns_output_and_how_it_ended() {
    let session = Session::new();
    let told = session.call(json!({"action": "run", "program": "sh", "arguments": ["-c", "cat; echo no >&2; exit 3"], "stdin": "yes\n"}));
    assert_eq!(told.status, Status::Ok, "{told:?}");
    assert_eq!(told.recovery.state, "exited");
    let id = told.recovery.ids["job"].as_str().unwrap();
    assert!(id.starts_with("job_"), "{id}");
    let names: Vec<&String> = told.data.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "command",
            "exit_code",
            "duration_ms",
            "sandbox",
            "unsaved_documents_not_seen",
            "stdout",
            "stderr"
        ]
    );
    assert_eq!(told.data["command"], "sh -c 'cat; echo no >&2; exit 3'");
    assert_eq!(
        (&told.data["exit_code"], &told.data["sandbox"]),
        (&json!(3), &json!("none"))
    );
    assert_eq!(
        (&told.data["stdout"], &told.data["stderr"]),
        (&json!("yes\n"), &json!("no\n"))
    );
    assert_eq!(
        told.data["unsaved_documents_not_seen"],
        json!(["src/open.rs"])
    );
    assert_eq!(
        told.retention.omit_when_summarizing,
        ["/data/stdout", "/data/stderr"]
    );
}

#[test]
fn the_operation_says_all_that_a_decision_needs() {
    let session = Session::new();
    session.host.set("API_TOKEN", "canary-token");
    let arguments = json!({"action": "run", "program": "sh", "arguments": ["./hello.sh", "canary-token"], "cwd": "sub/",
        "env": ["MODE=fast", "MY_SECRET=canary-own"]});
    let told = session.call(arguments.clone());
    assert_eq!(told.data["stdout"], "hello\n", "{told:?}");
    let operation = session.operation();
    assert_eq!(operation.kind, MutationKind::Command);
    assert_eq!(
        (operation.cwd.as_str(), operation.session.as_str()),
        ("sub", "se_1")
    );
    assert_eq!(
        operation.summary,
        "MODE=… MY_SECRET=… sh ./hello.sh [masked API_TOKEN] (in sub)"
    );
    let command = operation.command.as_ref().unwrap();
    assert_eq!(command.resolved, "/usr/bin/sh");
    assert_eq!(command.env["MY_SECRET"], "canary-own");
    let files: Vec<&String> = operation.base_revisions.keys().collect();
    assert_eq!(files, ["sub/hello.sh"]);
    assert!(
        !operation.arguments.to_string().contains("canary"),
        "{}",
        operation.arguments
    );
    session.call(arguments.clone());
    assert_eq!(
        session.operation().hash(),
        operation.hash(),
        "the same again"
    );
    session.host.set("OTHER", "1");
    session.call(arguments);
    assert_ne!(session.operation().hash(), operation.hash(), "another env");
}

#[test]
fn its_class_and_what_it_writes_are_those_that_the_gate_knows() {
    let session = Session::new();
    let of = |program: &str, arguments: &[&str], cwd: &str| {
        session
            .call(json!({"action": "run", "program": program, "arguments": arguments, "cwd": cwd}));
        let operation = session.operation();
        (operation.class, operation.paths)
    };
    assert_eq!(of("ls", &["-l"], ""), (Class::Reversible, vec![]));
    assert_eq!(of("rm", &["-f", "gone.txt"], "sub").1, ["sub/gone.txt"]);
    assert_eq!(of("cat", &["/no/such/file"], "").0, Class::Outside);
}

#[test]
fn what_changed_after_it_was_let_run_does_not_run() {
    let session = Session::new();
    let script = session.view.path().join("sub/hello.sh");
    *session.gate.meanwhile.lock().unwrap() = Some(Box::new(move || {
        std::fs::write(script, "touch PWNED\n").unwrap()
    }));
    let told =
        session.call(json!({"action": "run", "program": "sh", "arguments": ["sub/hello.sh"]}));
    assert_eq!(told.code(), Some(ErrorCode::StaleVersion));
    let message = &told.recovery.error.unwrap().message;
    assert!(message.contains("sub/hello.sh changed"), "{message}");
    assert!(!session.view.path().join("PWNED").exists());
}

#[test]
fn nothing_runs_that_the_gate_does_not_let_through() {
    let session = Session::new();
    for action in ["run", "start"] {
        let told = session.call_as(
            "se_1",
            &ClosedGate,
            json!({"action": action, "program": "touch", "arguments": ["x"]}),
        );
        assert_eq!(told.code(), Some(ErrorCode::ApprovalRequired));
    }
    assert!(!session.view.path().join("x").exists());
    let listed = session.call_as("se_1", &ClosedGate, json!({"action": "list"}));
    assert_eq!(listed.data["count"], 0);
}

#[test]
fn long_output_is_cut_in_the_middle_and_can_be_read_on() {
    let session = Session::new();
    let told = session.call(json!({"action": "run", "program": "seq", "arguments": ["1", "1000"]}));
    let shown = told.data["stdout"].as_str().unwrap();
    assert!(
        shown.starts_with("1\n2\n") && shown.ends_with("\n1000\n"),
        "{shown}"
    );
    let kept: usize = shown
        .lines()
        .filter(|line| !line.contains("dropped"))
        .map(|line| line.len() + 1)
        .sum();
    let dropped = 3893 - kept;
    assert!(
        shown.contains(&format!("\n[… {dropped} bytes dropped …]\n")),
        "{shown}"
    );
    assert_eq!(
        told.data["stdout_truncated"],
        json!({"total_bytes": 3893, "dropped_bytes": 3493})
    );
    let mut whole = String::new();
    let mut next = json!({"action": "output", "job_id": told.recovery.ids["job"], "limit": 1000});
    loop {
        let part = session.call(next);
        whole.push_str(part.data["text"].as_str().unwrap());
        match part.recovery.resume {
            Some(on) => next = on["arguments"].clone(),
            None => break,
        }
    }
    let expected: String = (1..=1000).map(|number| format!("{number}\n")).collect();
    assert_eq!(whole, expected);
    assert_eq!(told.recovery.resume.unwrap()["arguments"]["offset"], 200);
}

#[test]
fn a_timeout_is_an_error_with_the_output_so_far() {
    let session = Session::new();
    let told = session.call(json!({"action": "run", "program": "sh", "arguments": ["-c", "echo so far; sleep 300"], "timeout_seconds": 0.2}));
    assert_eq!(
        (told.code(), told.recovery.state.as_str()),
        (Some(ErrorCode::Timeout), "timed_out")
    );
    assert_eq!(told.data["stdout"], "so far\n");
}

#[test]
fn a_server_is_started_looked_after_and_cancelled() {
    let session = Session::new();
    let script = "echo listening; exec sleep 300";
    let told =
        session.call(json!({"action": "start", "program": "sh", "arguments": ["-c", script]}));
    assert_eq!(
        (told.status, told.recovery.state.as_str()),
        (Status::Ok, "running"),
        "{told:?}"
    );
    let job = told.recovery.ids["job"].clone();
    // How much of its output has come by then is the machine's affair.
    let listens = || {
        let told = session.call(json!({"action": "output", "job_id": job, "wait_seconds": 0.05}));
        told.data["stdout"] == "listening\n"
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !listens() {
        assert!(std::time::Instant::now() < end, "it never said a word");
    }
    let status = session.call(json!({"action": "status", "job_id": job, "wait_seconds": 0.05}));
    assert_eq!(status.recovery.state, "running");
    let foreign = session.call_as(
        "se_2",
        &session.gate,
        json!({"action": "cancel", "job_id": job}),
    );
    assert_eq!(foreign.code(), Some(ErrorCode::NotAllowed));
    let ended = session.call(json!({"action": "cancel", "job_id": job}));
    assert_eq!(
        (ended.status, ended.recovery.state.as_str()),
        (Status::Ok, "cancelled")
    );
    let listed = session.call(json!({"action": "list"}));
    assert_eq!(listed.data["jobs"][0]["state"], "cancelled");
    // One that fails is told with its failure.
    let told = session.call(
        json!({"action": "start", "program": "sh", "arguments": ["-c", "echo bad >&2; exit 1"]}),
    );
    let job = told.recovery.ids["job"].clone();
    let told = session.call(json!({"action": "output", "job_id": job, "wait_seconds": 60}));
    assert_eq!(
        (
            told.recovery.state.as_str(),
            &told.data["exit_code"],
            &told.data["stderr"]
        ),
        ("exited", &json!(1), &json!("bad\n"))
    );
}

#[test]
fn secrets_are_masked_in_what_a_program_prints() {
    let session = Session::new();
    session.host.set("API_TOKEN", "canary-token");
    let told = session.call(json!({"action": "run", "program": "sh", "arguments": ["-c", "echo $API_TOKEN $MY_SECRET canary-provider"], "env": ["MY_SECRET=canary-own"]}));
    assert_eq!(
        told.data["stdout"],
        "[masked API_TOKEN] [masked MY_SECRET] [masked provider key]\n"
    );
}

#[test]
fn wrong_arguments_say_what_is_wrong() {
    let session = Session::new();
    let bad = Some(ErrorCode::InvalidArguments);
    for arguments in [
        json!({"action": "run"}),
        json!({"action": "status"}),
        json!({"action": "list", "program": "ls"}),
        json!({"action": "run", "program": "ls", "job_id": "x"}),
        json!({"action": "run", "program": "ls", "env": ["NOVALUE"]}),
        json!({"action": "run", "program": "ls", "env": ["A B=1"]}),
        json!({"action": "run", "program": "ls", "arguments": words(&["a\0b"])}),
        json!({"action": "run", "program": "ls -l"}).clone(),
    ] {
        let told = session.call(arguments.clone());
        assert!(
            told.code() == bad || told.code() == Some(ErrorCode::NotFound),
            "{arguments}: {told:?}"
        );
        assert!(!told.recovery.error.unwrap().hint.is_empty());
    }
    let run = |program: &str, cwd: &str| {
        session.code(json!({"action": "run", "program": program, "cwd": cwd}))
    };
    assert_eq!(run("no-such-program", ""), Some(ErrorCode::NotFound));
    assert_eq!(run("ls", "gone"), Some(ErrorCode::NotFound));
    assert_eq!(run("ls", "../.."), Some(ErrorCode::OutsideWorkspace));
    assert_eq!(run("../../bin/ls", ""), Some(ErrorCode::OutsideWorkspace));
    assert_eq!(run("./sub/hello.sh", ""), bad, "it is not executable");
    let unknown = json!({"action": "output", "job_id": "../../x"});
    assert_eq!(session.code(unknown), Some(ErrorCode::UnknownJob));
    let none: Map<String, Value> = Map::new();
    assert_eq!(session.code(Value::Object(none)), bad);
}
