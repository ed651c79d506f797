//! The tools that keep something in the durable store: plans, notes, memory.

use redline_tools::{ErrorCode, Status};
use redline_workspace::{NoteName, PlanState, Voice};
use serde_json::json;

use crate::view::FolderView;
use crate::{run, workspace};

fn project() -> FolderView {
    FolderView::new(&[("src/a.rs", "fn a() {}\n")])
}

fn propose(view: &FolderView) -> redline_tools::Envelope {
    run(
        view,
        "workspace_plan",
        json!({
            "action": "propose", "title": "Rename a", "steps": ["Edit", "Test"],
            "kinds": ["transaction", "command"], "paths": ["src/**"], "commands": [["cargo", "test"]],
        }),
    )
}

#[test]
fn a_plan_is_proposed_decided_and_completed() {
    let view = project();
    let proposed = propose(&view);
    assert_eq!(
        proposed.status,
        Status::PendingApproval,
        "{}",
        proposed.to_text()
    );
    assert_eq!(proposed.recovery.ids["plan"], "plan_1");
    assert_eq!(
        proposed.retention.facts["document"],
        ".agentic/plans/plan_1/plan.md"
    );
    assert!(view.path().join(".agentic/plans/plan_1/plan.md").exists());

    let early = run(
        &view,
        "workspace_plan",
        json!({"action": "complete", "plan": "plan_1"}),
    );
    assert_eq!(early.code(), Some(ErrorCode::AlreadySettled));
    let plans = workspace(&view).plans().clone();
    plans
        .decide("plan_1", None, Voice::Yes, "ann", Some("go on"))
        .unwrap();
    let resume = proposed.recovery.resume.unwrap();
    let listed = run(&view, "workspace_plan", resume["arguments"].clone());
    assert_eq!(listed.recovery.state, "approved");
    assert_eq!(listed.data["reason"], "go on");
    let done = run(
        &view,
        "workspace_plan",
        json!({"action": "complete", "plan": "plan_1", "done": [1]}),
    );
    assert_eq!(done.recovery.state, "approved");
    assert_eq!(done.data["steps"][0]["done"], true);
    let done = run(
        &view,
        "workspace_plan",
        json!({"action": "complete", "plan": "plan_1"}),
    );
    assert_eq!(done.recovery.state, "completed");
    assert_eq!(plans.get("plan_1").unwrap().state, PlanState::Completed);
    let all = run(&view, "workspace_plan", json!({"action": "list"}));
    assert_eq!(all.data["count"], 1);
}

#[test]
fn a_plan_that_covers_nothing_is_refused_with_what_is_missing() {
    let view = project();
    let base = json!({"action": "propose", "title": "t", "steps": ["s"]});
    for (more, message) in [
        (
            json!({}),
            "`propose` needs `kinds`: a plan lets through the kinds of change that it lists, and no others",
        ),
        (
            json!({"kinds": ["transaction"]}),
            "the kind `transaction` needs `paths`: a plan covers what it lists, and nothing else",
        ),
        (
            json!({"kinds": ["command"]}),
            "the kind `command` needs `commands`: a plan covers what it lists, and nothing else",
        ),
        (
            json!({"kinds": ["web"]}),
            "the kind `web` needs `hosts`: a plan covers what it lists, and nothing else",
        ),
        (
            json!({"kinds": ["vcs"], "paths": ["a{"]}),
            "the glob `a{/**` does not parse: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)",
        ),
    ] {
        let mut arguments = base.clone();
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let envelope = run(&view, "workspace_plan", arguments);
        let error = envelope.recovery.error.unwrap();
        assert_eq!(error.code, ErrorCode::InvalidArguments);
        if !message.contains("does not parse") {
            assert_eq!(error.message, message);
        } else {
            assert!(
                error.message.contains("does not parse"),
                "{}",
                error.message
            );
        }
    }
    assert!(!view.path().join(".agentic").exists());
    let unknown = run(
        &view,
        "workspace_plan",
        json!({"action": "complete", "plan": "plan_../x"}),
    );
    assert_eq!(unknown.code(), Some(ErrorCode::NotFound));
}

#[test]
fn notes_are_kept_and_never_replaced_unseen() {
    let view = project();
    let note = |arguments| run(&view, "workspace_notes", arguments);
    let written = note(json!({"action": "write", "name": "build", "text": "cargo build\n"}));
    assert_eq!(written.recovery.state, "written", "{}", written.to_text());
    let again = note(json!({"action": "write", "name": "build", "text": "x"}));
    assert_eq!(again.code(), Some(ErrorCode::Exists));
    note(json!({"action": "append", "name": "build", "text": "cargo test\n"}));
    let stale = note(
        json!({"action": "write", "name": "build", "text": "x", "revision": written.recovery.ids["revision"]}),
    );
    assert_eq!(stale.code(), Some(ErrorCode::StaleVersion));
    let read = note(json!({"action": "read", "name": "build"}));
    assert_eq!(read.data["text"], "cargo build\ncargo test\n");
    note(json!({"action": "append", "name": "memory", "text": "Use tabs.\n"}));
    let memory = workspace(&view)
        .notes()
        .read(&NoteName::Memory)
        .unwrap()
        .unwrap();
    assert_eq!(memory.text, "Use tabs.\n");
    let listed = note(json!({"action": "list"}));
    assert_eq!(
        (&listed.data["notes"], &listed.data["memory_bytes"]),
        (&json!(["build"]), &json!(10))
    );
    let removed = note(
        json!({"action": "remove", "name": "build", "revision": read.recovery.ids["revision"]}),
    );
    assert_eq!(removed.recovery.state, "removed");
    assert_eq!(
        note(json!({"action": "read", "name": "build"})).code(),
        Some(ErrorCode::NotFound)
    );
    for (arguments, code) in [
        (json!({"action": "read"}), ErrorCode::InvalidArguments),
        (
            json!({"action": "write", "name": "a"}),
            ErrorCode::InvalidArguments,
        ),
        (
            json!({"action": "remove", "name": "a"}),
            ErrorCode::InvalidArguments,
        ),
        (
            json!({"action": "read", "name": "../../x"}),
            ErrorCode::BadPath,
        ),
        (json!({"action": "erase"}), ErrorCode::InvalidArguments),
    ] {
        assert_eq!(note(arguments.clone()).code(), Some(code), "{arguments}");
    }
}

#[test]
fn no_other_tool_writes_notes_plans_or_approvals() {
    let view = project();
    run(
        &view,
        "workspace_notes",
        json!({"action": "append", "name": "memory", "text": "x"}),
    );
    for path in [
        "MEMORY.md",
        "notes/a.md",
        "plans/plan_1/record.json",
        "approvals/state.json",
    ] {
        let path = format!(".agentic/{path}");
        let edit = json!({"edits": [{"path": path, "content": "forged", "overwrite": true}]});
        let envelope = run(&view, "workspace_edit", edit);
        // The view of these tests proposes anything: what counts is the boundary, where it would be written.
        let root = workspace(&view).root().clone();
        let refused = root.batch().admit_write(&path).unwrap_err();
        assert_eq!(
            refused.code(),
            "PROTECTED_PATH",
            "{path} {}",
            envelope.to_text()
        );
    }
}
