//! Approvals over a real store: races in threads and processes, restarts, damage, forgery.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod damage;
mod races;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::journal::JournalOptions;
use crate::testing::{Scratch, revision};
use serde_json::json;

/// A clock that is set by hand.
static NOW: AtomicU64 = AtomicU64::new(1_000);

fn approvals(scratch: &Scratch) -> Approvals {
    approvals_at(scratch, Arc::new(|| NOW.load(Ordering::Relaxed)))
}

fn approvals_at(scratch: &Scratch, clock: Arc<dyn Clock>) -> Approvals {
    let store = scratch.store();
    let journal = Journal::new(store.clone(), clock.clone(), JournalOptions::default());
    Approvals::new(store, journal, clock)
}

fn new(id: &str, operation: &str) -> NewApproval {
    NewApproval {
        id: format!("approval_{id}"),
        operation: operation.to_owned(),
        session: "se_1".into(),
        turn: "turn_1".into(),
        call_id: format!("call_{id}"),
        shown: Shown {
            tool: "workspace_command".into(),
            kind: "command".into(),
            class: "outside".into(),
            summary: "sh tool.sh".into(),
            argv: vec!["sh".into(), "tool.sh".into()],
            why: "its class is outside".into(),
            ..Shown::default()
        },
        resume: json!({"tool": "workspace_command", "arguments": {"program": "sh"}}),
        lifetime_ms: 10_000,
    }
}

#[test]
fn one_yes_is_good_for_one_run_and_survives_a_restart() {
    let scratch = Scratch::new(&[]);
    let first = approvals(&scratch);
    first.ask(new("1", "op")).unwrap();
    assert_eq!(
        first.standing("op", "turn_1").unwrap(),
        OperationStanding::Waiting("approval_1".into())
    );
    assert_eq!(first.waiting().unwrap().len(), 1);

    let decider = approvals(&scratch);
    let decided = decider
        .decide("approval_1", Voice::Yes, "ann in nvim", None)
        .unwrap();
    assert_eq!(decided.decided.as_ref().unwrap().by, "ann in nvim");

    // Another sidecar, and another turn of the session.
    let later = approvals(&scratch);
    assert_eq!(
        later.standing("op", "turn_2").unwrap(),
        OperationStanding::Approved("approval_1".into())
    );
    let claimed = later.claim("approval_1", "op").unwrap();
    assert_eq!(claimed.shown, new("1", "op").shown);
    assert_eq!(claimed.resume["tool"], "workspace_command");
    assert_eq!(
        first.standing("op", "turn_1").unwrap(),
        OperationStanding::Unasked
    );
    let again = first.claim("approval_1", "op").unwrap_err();
    assert_eq!(again.code(), "ALREADY_SETTLED");
    later.settle("approval_1", true).unwrap();
    assert_eq!(first.get("approval_1").unwrap().state, ApprovalState::Spent);
    assert_eq!(
        first.claim("approval_1", "op").unwrap_err().code(),
        "ALREADY_SETTLED"
    );
    assert_eq!(
        first.settle("approval_1", true).unwrap_err().code(),
        "ALREADY_SETTLED"
    );
}

#[test]
fn a_claim_of_which_nothing_began_goes_back() {
    let scratch = Scratch::new(&[]);
    let approvals = approvals(&scratch);
    approvals.ask(new("1", "op")).unwrap();
    assert_eq!(
        approvals.claim("approval_1", "op").unwrap_err().code(),
        "APPROVAL_REQUIRED"
    );
    approvals
        .decide("approval_1", Voice::Yes, "ann", None)
        .unwrap();
    approvals.claim("approval_1", "op").unwrap();
    approvals.settle("approval_1", false).unwrap();
    approvals.claim("approval_1", "op").unwrap();
}

#[test]
fn the_claim_of_a_process_that_died_is_not_used_again() {
    let scratch = Scratch::new(&[]);
    let before = approvals(&scratch);
    before.ask(new("1", "op")).unwrap();
    before
        .decide("approval_1", Voice::Yes, "ann", None)
        .unwrap();
    before.claim("approval_1", "op").unwrap();
    drop(before);
    let after = approvals(&scratch);
    assert_eq!(
        after.standing("op", "turn_1").unwrap(),
        OperationStanding::Unasked
    );
    assert_eq!(
        after.get("approval_1").unwrap().state,
        ApprovalState::Claimed
    );
    assert!(after.claim("approval_1", "op").is_err());
}

#[test]
fn a_no_lasts_for_its_turn() {
    let scratch = Scratch::new(&[]);
    let approvals = approvals(&scratch);
    approvals.ask(new("1", "op")).unwrap();
    approvals
        .decide("approval_1", Voice::No, "ann", Some("use the other script"))
        .unwrap();
    assert_eq!(
        approvals.standing("op", "turn_1").unwrap(),
        OperationStanding::Denied("approval_1".into())
    );
    assert_eq!(
        approvals.standing("op", "turn_2").unwrap(),
        OperationStanding::Unasked
    );
    assert_eq!(
        approvals.claim("approval_1", "op").unwrap_err().code(),
        "APPROVAL_DENIED"
    );
    let late = approvals
        .decide("approval_1", Voice::Yes, "bob", None)
        .unwrap_err();
    assert_eq!(
        late.to_string(),
        "approval_1 was denied by ann before, and is denied now"
    );
}

#[test]
fn another_operation_needs_another_approval() {
    let scratch = Scratch::new(&[]);
    let approvals = approvals(&scratch);
    approvals.ask(new("1", "op")).unwrap();
    approvals
        .decide("approval_1", Voice::Yes, "ann", None)
        .unwrap();
    assert_eq!(
        approvals.standing("other", "turn_1").unwrap(),
        OperationStanding::Unasked
    );
    let error = approvals.claim("approval_1", "other").unwrap_err();
    assert_eq!(error.code(), "APPROVAL_STALE");
    assert_eq!(
        approvals.get("approval_1").unwrap().state,
        ApprovalState::Void
    );
    assert_eq!(
        approvals.claim("approval_1", "op").unwrap_err().code(),
        "APPROVAL_STALE"
    );
}

#[test]
fn a_file_that_changed_since_it_was_shown_makes_it_void() {
    let with_file = |id: &str| {
        let mut asked = new(id, "op");
        asked.shown.files = BTreeMap::from([
            ("tool.sh".to_owned(), revision("echo hello\n")),
            ("gone.sh".to_owned(), crate::MISSING.to_owned()),
        ]);
        asked
    };
    let scratch = Scratch::new(&[("tool.sh", "echo hello\n")]);
    let approvals = approvals(&scratch);
    // Between the yes and the run.
    approvals.ask(with_file("1")).unwrap();
    approvals
        .decide("approval_1", Voice::Yes, "ann", None)
        .unwrap();
    scratch.write("tool.sh", "touch PWNED\n");
    let error = approvals.claim("approval_1", "op").unwrap_err();
    assert_eq!(
        error.to_string(),
        "approval_1 is void: tool.sh changed since it was shown"
    );
    // Back as it was: void is void.
    scratch.write("tool.sh", "echo hello\n");
    assert_eq!(
        approvals.claim("approval_1", "op").unwrap_err().code(),
        "APPROVAL_STALE"
    );
    assert_eq!(
        approvals.get("approval_1").unwrap().note.as_deref(),
        Some("changed: tool.sh")
    );
    // Between the question and the yes; by a file that appeared.
    approvals.ask(with_file("2")).unwrap();
    scratch.write("gone.sh", "x");
    let error = approvals
        .decide("approval_2", Voice::Yes, "ann", None)
        .unwrap_err();
    assert!(
        matches!(&error, ApprovalError::Stale { changed, .. } if changed == &["gone.sh"]),
        "{error}"
    );
    // A no needs no look at the files.
    std::fs::remove_file(scratch.on_disk("gone.sh")).unwrap();
    approvals.ask(with_file("3")).unwrap();
    scratch.write("tool.sh", "other");
    approvals
        .decide("approval_3", Voice::No, "ann", None)
        .unwrap();
}

#[test]
fn questions_and_answers_lapse() {
    let scratch = Scratch::new(&[]);
    let now = Arc::new(AtomicU64::new(0));
    let clock = {
        let now = now.clone();
        Arc::new(move || now.load(Ordering::Relaxed))
    };
    let approvals = approvals_at(&scratch, clock);
    approvals.ask(new("1", "op")).unwrap();
    approvals.ask(new("2", "op2")).unwrap();
    approvals
        .decide("approval_2", Voice::Yes, "ann", None)
        .unwrap();
    now.store(9_999, Ordering::Relaxed);
    assert_eq!(approvals.waiting().unwrap().len(), 1);
    now.store(10_000, Ordering::Relaxed);
    assert!(approvals.waiting().unwrap().is_empty());
    assert_eq!(
        approvals.standing("op", "turn_1").unwrap(),
        OperationStanding::Unasked
    );
    assert_eq!(
        approvals.standing("op2", "turn_1").unwrap(),
        OperationStanding::Unasked
    );
    let late = approvals
        .decide("approval_1", Voice::Yes, "ann", None)
        .unwrap_err();
    assert_eq!(late.code(), "APPROVAL_STALE");
    assert_eq!(
        approvals.claim("approval_2", "op2").unwrap_err().code(),
        "APPROVAL_STALE"
    );
}

#[test]
fn the_same_question_of_one_turn_is_asked_once() {
    let scratch = Scratch::new(&[]);
    let approvals = approvals(&scratch);
    let first = approvals.ask(new("1", "op")).unwrap();
    let second = approvals.ask(new("2", "op")).unwrap();
    assert_eq!(first.id, second.id);
    let mut other_turn = new("3", "op");
    other_turn.turn = "turn_2".into();
    assert_eq!(approvals.ask(other_turn).unwrap().id, "approval_3");
    assert_eq!(approvals.withdraw("turn_1").unwrap(), ["approval_1"]);
    assert_eq!(
        approvals.get("approval_1").unwrap().state,
        ApprovalState::Withdrawn
    );
    assert_eq!(
        approvals.get("approval_3").unwrap().state,
        ApprovalState::Waiting
    );
    assert_eq!(
        approvals
            .decide("approval_1", Voice::Yes, "ann", None)
            .unwrap_err()
            .code(),
        "ALREADY_SETTLED"
    );
}

#[test]
fn unknown_ids_are_told_and_asking_about_nothing_makes_no_store() {
    let scratch = Scratch::new(&[]);
    let approvals = approvals(&scratch);
    assert!(approvals.list().unwrap().is_empty());
    assert_eq!(
        approvals.get("approval_9").unwrap_err().to_string(),
        "there is no approval approval_9"
    );
    assert!(approvals.withdraw("turn_1").unwrap().is_empty());
    assert!(!scratch.on_disk(".agentic").exists());
}

#[test]
fn the_journal_keeps_what_was_shown_and_what_became_of_it() {
    let scratch = Scratch::new(&[]);
    let approvals = approvals(&scratch);
    approvals.ask(new("1", "op")).unwrap();
    approvals
        .decide("approval_1", Voice::Yes, "ann", None)
        .unwrap();
    approvals.claim("approval_1", "op").unwrap();
    approvals.settle("approval_1", true).unwrap();
    let records = approvals.journal.changed_since(0).unwrap();
    let states: Vec<&str> = records
        .iter()
        .filter(|record| record.kind == "approval")
        .map(|record| record.data["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["waiting", "approved", "claimed", "spent"]);
    let asked = records
        .iter()
        .find(|record| record.kind == "approval")
        .unwrap();
    assert_eq!(asked.data["shown"]["argv"], json!(["sh", "tool.sh"]));
}

#[test]
fn of_too_many_the_oldest_settled_go() {
    let mut state = State::default();
    for number in 0..6 {
        let mut approval = new(&number.to_string(), "op").at(0);
        if number % 2 == 0 {
            approval.settle(ApprovalState::Spent, 0);
        }
        state = state.with(vec![Arc::new(approval)], 4);
    }
    let left: Vec<&str> = state
        .all()
        .iter()
        .map(|approval| approval.id.as_str())
        .collect();
    assert_eq!(
        left,
        ["approval_1", "approval_3", "approval_4", "approval_5"]
    );
    assert_eq!(state.get("approval_4").unwrap().id, "approval_4");
    assert_eq!(state.of_operation("op").count(), 4);
}
