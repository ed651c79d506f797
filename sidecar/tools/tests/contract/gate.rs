//! Calls at the gate of a session: staged, approved, resumed, denied, void, planned.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use redline_tools::gate::{Ceiling, GateHost, Mode, Policy, RulesSpec, SessionGate, effect_of};
use redline_tools::{
    CallContext, Class, Envelope, ErrorCode, MutationKind, Operation, Schema, Status, Tool,
    ToolError, ToolSet,
};
use redline_workspace::{ApprovalState, NewPlan, PlanScope, Voice, Workspace, named_files};
use serde_json::{Map, Value, json};

use crate::view::FolderView;
use crate::{Numbers, workspace};

/// A tool that writes `text` to `path`, and counts its runs.
struct Touch {
    schema: Schema,
    runs: Arc<AtomicUsize>,
}

impl Tool for Touch {
    fn name(&self) -> &str {
        "touch"
    }

    fn description(&self) -> &str {
        "Writes."
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn mutates(&self) -> bool {
        true
    }

    fn operation(
        &self,
        context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Option<Operation>, ToolError> {
        let path = arguments["path"].as_str().unwrap().to_owned();
        let root = context.view.root();
        Ok(Some(Operation {
            tool: "touch".into(),
            kind: MutationKind::Transaction,
            class: Class::Reversible,
            reads_only: false,
            arguments: Value::Object(arguments.clone()),
            base_revisions: named_files(root, "", std::slice::from_ref(&path)),
            summary: format!("write {path}"),
            paths: vec![path],
            hosts: vec![],
            command: None,
            workspace: root.id(),
            session: context.session.into(),
            cwd: String::new(),
            env_digest: String::new(),
        }))
    }

    fn call(
        &self,
        context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, ToolError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let path = context
            .view
            .root()
            .path()
            .join(arguments["path"].as_str().unwrap());
        std::fs::write(path, "written").unwrap();
        Ok(Envelope::ok("touch", "written", Value::Null))
    }
}

struct Host {
    mode: Mutex<Mode>,
    policy: Arc<Policy>,
    changed: Mutex<Vec<String>>,
}

impl GateHost for Host {
    fn mode(&self) -> Mode {
        *self.mode.lock().unwrap()
    }

    fn policy(&self) -> Arc<Policy> {
        self.policy.clone()
    }

    fn changed(&self, approval: &str) {
        self.changed.lock().unwrap().push(approval.to_owned());
    }
}

struct Session {
    view: FolderView,
    workspace: Workspace,
    host: Arc<Host>,
    gate: SessionGate,
    tools: ToolSet,
    runs: Arc<AtomicUsize>,
    turn: &'static str,
}

impl Session {
    fn new(mode: Mode, rules: Value) -> Self {
        let view = FolderView::new(&[("a.txt", "one\n"), (".git/config", "x")]);
        let workspace = workspace(&view);
        let rules: RulesSpec = serde_json::from_value(rules).unwrap();
        let host = Arc::new(Host {
            mode: Mutex::new(mode),
            policy: Arc::new(Policy::new(Ceiling::Workspace, &rules).unwrap()),
            changed: Mutex::default(),
        });
        let runs = Arc::new(AtomicUsize::new(0));
        let schema = json!({"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}});
        let touch = Touch {
            schema: Schema::compile("touch", schema).unwrap(),
            runs: runs.clone(),
        };
        Self {
            gate: SessionGate::new(&workspace, Arc::new(Numbers::default()), host.clone()),
            tools: ToolSet::new(vec![Arc::new(touch)]).unwrap(),
            view,
            workspace,
            host,
            runs,
            turn: "turn_1",
        }
    }

    fn call(&self, path: &str, resumes: Option<&str>) -> Envelope {
        let cancel = AtomicBool::new(false);
        let context = CallContext {
            view: &self.view,
            gate: &self.gate,
            session: "se_1",
            turn: self.turn,
            call_id: "call_1",
            resumes,
            admitted: None,
            cancel: &cancel,
        };
        let arguments = Map::from_iter([("path".to_owned(), json!(path))]);
        self.tools.run(&context, "touch", &arguments)
    }

    /// Makes a call that is staged; the approval's id.
    fn staged(&self, path: &str) -> String {
        let envelope = self.call(path, None);
        assert_eq!(
            envelope.status,
            Status::PendingApproval,
            "{}",
            envelope.to_text()
        );
        envelope.recovery.ids["approval"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    fn decide(&self, approval: &str, voice: Voice) {
        self.workspace
            .approvals()
            .decide(approval, voice, "ann", None)
            .unwrap();
    }

    fn state(&self, approval: &str) -> ApprovalState {
        self.workspace.approvals().get(approval).unwrap().state
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

#[test]
fn a_staged_call_runs_once_it_is_approved_and_only_once() {
    let session = Session::new(Mode::Manual, json!({}));
    let approval = session.staged("a.txt");
    assert_eq!(
        session.staged("a.txt"),
        approval,
        "the same question is asked once"
    );
    assert_eq!(session.runs(), 0);
    let kept = session.workspace.approvals().get(&approval).unwrap();
    assert_eq!(
        kept.resume,
        json!({"tool": "touch", "arguments": {"path": "a.txt"}})
    );
    assert_eq!(kept.shown.summary, "write a.txt");
    assert!(kept.shown.why.contains("mode manual"), "{}", kept.shown.why);

    let early = session.call("a.txt", Some(&approval));
    assert_eq!(early.code(), Some(ErrorCode::ApprovalRequired));
    session.decide(&approval, Voice::Yes);
    let ran = session.call("a.txt", Some(&approval));
    assert_eq!(ran.status, Status::Ok, "{}", ran.to_text());
    assert_eq!(session.state(&approval), ApprovalState::Spent);
    let twice = session.call("a.txt", Some(&approval));
    assert_eq!(twice.code(), Some(ErrorCode::AlreadySettled));
    assert_eq!(session.runs(), 1);
    assert!(session.host.changed.lock().unwrap().contains(&approval));
}

#[test]
fn an_approval_is_used_by_the_same_call_made_again() {
    let mut session = Session::new(Mode::Manual, json!({}));
    let approval = session.staged("a.txt");
    session.decide(&approval, Voice::Yes);
    session.turn = "turn_2";
    assert_eq!(session.call("a.txt", None).status, Status::Ok);
    // The file is another one now: so is the operation.
    assert_ne!(session.staged("a.txt"), approval);
}

#[test]
fn what_changed_after_it_was_shown_does_not_run() {
    let session = Session::new(Mode::Manual, json!({}));
    let approval = session.staged("a.txt");
    session.decide(&approval, Voice::Yes);
    std::fs::write(session.view.path().join("a.txt"), "other\n").unwrap();
    let envelope = session.call("a.txt", Some(&approval));
    let error = envelope.recovery.error.unwrap();
    assert_eq!(error.code, ErrorCode::ApprovalStale);
    assert!(error.message.contains("write a.txt"), "{}", error.message);
    assert_eq!(session.state(&approval), ApprovalState::Void);
    assert_eq!(session.runs(), 0);
}

#[test]
fn a_no_lasts_for_its_turn() {
    let mut session = Session::new(Mode::Manual, json!({}));
    let approval = session.staged("a.txt");
    session.decide(&approval, Voice::No);
    assert_eq!(
        session.call("a.txt", None).code(),
        Some(ErrorCode::ApprovalDenied)
    );
    assert_eq!(
        session.call("a.txt", Some(&approval)).code(),
        Some(ErrorCode::ApprovalDenied)
    );
    session.turn = "turn_2";
    assert_ne!(session.staged("a.txt"), approval);
    assert_eq!(session.runs(), 0);
}

#[test]
fn a_no_is_told_with_its_reason() {
    let session = Session::new(Mode::Manual, json!({}));
    let approval = session.staged("a.txt");
    session
        .workspace
        .approvals()
        .decide(&approval, Voice::No, "ann", Some("it is generated"))
        .unwrap();
    let error = session
        .call("a.txt", Some(&approval))
        .recovery
        .error
        .unwrap();
    assert_eq!(error.code, ErrorCode::ApprovalDenied);
    assert!(
        error.message.contains("write a.txt") && error.message.contains("it is generated"),
        "{}",
        error.message
    );
    assert_eq!(error.hint, ErrorCode::ApprovalDenied.hint());
}

#[test]
fn no_approval_lifts_protection_or_a_deny_rule() {
    let session = Session::new(Mode::Auto, json!({"deny": [{"paths": ["secret.txt"]}]}));
    assert_eq!(session.call("a.txt", None).status, Status::Ok);
    assert_eq!(
        session.call("secret.txt", None).code(),
        Some(ErrorCode::ApprovalDenied)
    );
    assert_eq!(
        session.call(".git/config", None).code(),
        Some(ErrorCode::ProtectedPath)
    );
    assert_eq!(
        session.call(".agentic/MEMORY.md", None).code(),
        Some(ErrorCode::ProtectedPath)
    );
    assert_eq!(
        session.call("../x", None).code(),
        Some(ErrorCode::OutsideWorkspace)
    );
    // The rule came after the approval.
    let manual = Session::new(Mode::Manual, json!({}));
    let approval = manual.staged("secret.txt");
    manual.decide(&approval, Voice::Yes);
    let denying = Arc::new(Host {
        mode: Mutex::new(Mode::Manual),
        policy: session.host.policy.clone(),
        changed: Mutex::default(),
    });
    let gate = SessionGate::new(&manual.workspace, Arc::new(Numbers::default()), denying);
    let manual = Session { gate, ..manual };
    assert_eq!(
        manual.call("secret.txt", Some(&approval)).code(),
        Some(ErrorCode::ApprovalDenied)
    );
    assert_eq!(
        manual.state(&approval),
        ApprovalState::Approved,
        "it was not used"
    );
}

#[test]
fn mode_plan_refuses_until_a_plan_is_approved_and_then_lets_through_what_it_covers() {
    let session = Session::new(Mode::Plan, json!({"allow": [{"kind": "transaction"}]}));
    let refused = session.call("a.txt", None);
    assert_eq!(refused.code(), Some(ErrorCode::ApprovalRequired));
    assert!(
        refused
            .recovery
            .error
            .unwrap()
            .hint
            .contains("workspace_plan")
    );
    let plans = session.workspace.plans();
    let propose = |id: &str, path: &str| {
        plans
            .propose(NewPlan {
                id: id.into(),
                session: "se_1".into(),
                turn: "turn_1".into(),
                title: "t".into(),
                steps: vec!["s".into()],
                body: String::new(),
                scope: PlanScope {
                    kinds: vec!["transaction".into()],
                    paths: vec![path.into()],
                    ..PlanScope::default()
                },
            })
            .unwrap();
    };
    propose("plan_1", "a.txt");
    assert_eq!(
        session.call("a.txt", None).code(),
        Some(ErrorCode::ApprovalRequired)
    );
    plans
        .decide("plan_1", None, Voice::Yes, "ann", None)
        .unwrap();
    assert_eq!(session.call("a.txt", None).status, Status::Ok);
    plans.complete("plan_1", &[]).unwrap();
    assert_eq!(
        session.call("a.txt", None).code(),
        Some(ErrorCode::ApprovalRequired)
    );
}

#[test]
fn what_an_approved_plan_does_not_cover_is_staged() {
    let session = Session::new(Mode::Plan, json!({}));
    let plans = session.workspace.plans();
    plans
        .propose(NewPlan {
            id: "plan_1".into(),
            session: "se_1".into(),
            turn: "turn_1".into(),
            title: "t".into(),
            steps: vec!["s".into()],
            body: String::new(),
            scope: PlanScope {
                kinds: vec!["transaction".into()],
                paths: vec!["docs/**".into()],
                ..PlanScope::default()
            },
        })
        .unwrap();
    plans
        .decide("plan_1", None, Voice::Yes, "ann", None)
        .unwrap();
    let approval = session.staged("a.txt");
    let why = session
        .workspace
        .approvals()
        .get(&approval)
        .unwrap()
        .shown
        .why
        .clone();
    assert_eq!(why, "the approved plan does not cover it");
}

#[test]
fn of_two_that_carry_out_one_decision_one_runs() {
    let session = Session::new(Mode::Manual, json!({}));
    let approval = session.staged("new.txt");
    session.decide(&approval, Voice::Yes);
    let envelopes: Vec<Envelope> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| session.call("new.txt", Some(&approval))))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(session.runs(), 1);
    assert_eq!(
        envelopes
            .iter()
            .filter(|one| one.status == Status::Ok)
            .count(),
        1
    );
}

#[test]
fn a_call_that_is_stopped_at_the_gate_gives_its_approval_back() {
    let session = Session::new(Mode::Manual, json!({}));
    let approval = session.staged("a.txt");
    session.decide(&approval, Voice::Yes);
    let cancel = AtomicBool::new(false);
    let stopping = Stopping(&session.gate, &cancel);
    let context = CallContext {
        view: &session.view,
        gate: &stopping,
        session: "se_1",
        turn: "turn_1",
        call_id: "call_1",
        resumes: Some(&approval),
        admitted: None,
        cancel: &cancel,
    };
    let arguments = Map::from_iter([("path".to_owned(), json!("a.txt"))]);
    let envelope = session.tools.run(&context, "touch", &arguments);
    assert_eq!(envelope.code(), Some(ErrorCode::Cancelled));
    assert_eq!(session.runs(), 0);
    assert_eq!(session.state(&approval), ApprovalState::Approved);
}

/// A gate at which the turn is stopped while it waits.
struct Stopping<'a>(&'a SessionGate, &'a AtomicBool);

impl redline_tools::gate::Gatekeeper for Stopping<'_> {
    fn admit(
        &self,
        call: &redline_tools::gate::GatedCall<'_>,
        operation: &Operation,
    ) -> redline_tools::gate::Admission {
        let admission = self.0.admit(call, operation);
        self.1.store(true, Ordering::SeqCst);
        admission
    }

    fn settle(&self, claim: redline_tools::gate::Claim, start: redline_tools::gate::Start) {
        self.0.settle(claim, start);
    }
}

#[test]
fn a_command_of_the_user_s_own_rule_runs_and_its_evil_twin_asks() {
    let session = Session::new(Mode::Manual, json!({"allow": [{"command": "git log"}]}));
    let owned = |arguments: &[&str]| {
        arguments
            .iter()
            .map(|&one| one.to_owned())
            .collect::<Vec<_>>()
    };
    let operation = |arguments: &[&str]| Operation {
        tool: "workspace_command".into(),
        kind: MutationKind::Command,
        class: effect_of("git", &owned(arguments), "/p").class,
        reads_only: false,
        arguments: json!({}),
        paths: vec![],
        hosts: vec![],
        command: Some(redline_tools::CommandLine {
            program: "git".into(),
            resolved: "/usr/bin/git".into(),
            revision: String::new(),
            arguments: owned(arguments),
            env: BTreeMap::new(),
        }),
        base_revisions: BTreeMap::new(),
        workspace: "ws".into(),
        session: "se_1".into(),
        cwd: String::new(),
        env_digest: String::new(),
        summary: "git".into(),
    };
    use redline_tools::gate::{Standing, Verdict};
    let verdict = |arguments: &[&str]| {
        let answer = session.gate.judge(&operation(arguments), Standing::Unasked);
        (
            answer.decision.verdict,
            answer.doubt.map(|doubt| doubt.to_string()),
        )
    };
    assert_eq!(verdict(&["log", "-3"]), (Verdict::Allow, None));
    assert_eq!(
        verdict(&["log", "--output=x"]),
        (
            Verdict::Stage,
            Some("`--output=x` writes or removes a file".into())
        )
    );
    // The project's own configuration runs a program.
    std::fs::write(session.view.path().join(".git/HEAD"), "ref: x\n").unwrap();
    std::fs::write(
        session.view.path().join(".git/config"),
        "[core]\npager = x\n",
    )
    .unwrap();
    let (decision, doubt) = verdict(&["log", "-3"]);
    assert_eq!(decision, Verdict::Stage);
    assert!(doubt.unwrap().contains("core.pager"));
}
