//! Plans over a real store.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::journal::JournalOptions;
use crate::store::SealKey;
use crate::testing::Scratch;
use expect_test::expect;

fn plans(scratch: &Scratch) -> Plans {
    plans_of(scratch.store())
}

fn plans_of(store: Store) -> Plans {
    let clock: Arc<dyn Clock> = Arc::new(|| 1_000);
    let journal = Journal::new(store.clone(), clock.clone(), JournalOptions::default());
    Plans::new(store, journal, clock)
}

fn new(id: &str) -> NewPlan {
    NewPlan {
        id: format!("plan_{id}"),
        session: "se_1".into(),
        turn: "turn_1".into(),
        title: "Rename the parser".into(),
        steps: vec!["Edit".into(), "Test".into()],
        body: "First the edits.\n\n# Not a heading".into(),
        scope: PlanScope {
            kinds: vec!["transaction".into(), "command".into()],
            paths: vec!["src/**".into()],
            commands: vec![vec!["cargo".into(), "test".into()]],
            hosts: vec![],
        },
    }
}

fn state(plans: &Plans, id: &str) -> PlanState {
    plans.get(id).unwrap().state
}

#[test]
fn a_plan_goes_from_proposed_to_completed_and_survives_a_restart() {
    let scratch = Scratch::new(&[]);
    plans(&scratch).propose(new("1")).unwrap();
    assert!(plans(&scratch).approved("se_1").unwrap().is_none());
    let read = plans(&scratch).get("plan_1").unwrap();
    let decided = plans(&scratch)
        .decide(
            "plan_1",
            Some(read.revision),
            Voice::Yes,
            "ann in nvim",
            None,
        )
        .unwrap();
    assert_eq!(plans(&scratch).approved("se_1").unwrap(), Some(decided));
    assert!(plans(&scratch).approved("se_2").unwrap().is_none());
    let halfway = plans(&scratch).complete("plan_1", &[1]).unwrap();
    assert_eq!(
        (halfway.state, halfway.steps[0].done),
        (PlanState::Approved, true)
    );
    assert_eq!(
        plans(&scratch)
            .complete("plan_1", &[3])
            .unwrap_err()
            .to_string(),
        "plan_1 has 2 steps; there is no step 3"
    );
    assert_eq!(
        plans(&scratch).complete("plan_1", &[2]).unwrap().state,
        PlanState::Completed
    );
    assert!(plans(&scratch).approved("se_1").unwrap().is_none());
    assert_eq!(
        plans(&scratch).complete("plan_1", &[]).unwrap_err().code(),
        "ALREADY_SETTLED"
    );
}

#[test]
fn the_document_tells_the_scope_before_the_agents_words() {
    let scratch = Scratch::new(&[]);
    let plans = plans(&scratch);
    let mut hostile = new("1");
    hostile.title = "Nice\n**Approved** by you\u{202e}".into();
    hostile
        .scope
        .commands
        .push(vec!["rm".into(), "a b".into(), "`x`".into()]);
    plans.propose(hostile).unwrap();
    let path = plans.document("plan_1").unwrap();
    let text = std::fs::read_to_string(scratch.on_disk(&path)).unwrap();
    expect![[r#"
        # Nice **Approved** by you

        **It waits for your decision** · plan_1

        ## What it would let the agent do unasked

        - kinds of change: `transaction`, `command`
        - files: `src/**`
        - commands that begin with: `cargo test`, `` rm "a b" "`x`" ``
        - hosts: none

        Nothing else; and never above the ceiling of your configuration.

        ## Steps

        1. [ ] Edit
        2. [ ] Test

        ## In the agent's words

        > First the edits.
        >
        > # Not a heading
    "#]]
    .assert_eq(&text);
    plans
        .decide("plan_1", None, Voice::No, "ann", Some("too much"))
        .unwrap();
    let text = std::fs::read_to_string(scratch.on_disk(&path)).unwrap();
    assert!(text.contains("**Rejected by ann: too much**"), "{text}");
}

#[test]
fn one_decision_wins_and_it_is_about_what_was_read() {
    let scratch = Scratch::new(&[]);
    let plans = plans(&scratch);
    let plan = plans.propose(new("1")).unwrap();
    let other = Some(plan.revision + 1);
    assert_eq!(
        plans
            .decide("plan_1", other, Voice::Yes, "ann", None)
            .unwrap_err()
            .code(),
        "APPROVAL_STALE"
    );
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|number| {
                let plans = self::plans(&scratch);
                scope.spawn(move || {
                    plans.decide(
                        "plan_1",
                        None,
                        Voice::Yes,
                        &format!("editor {number}"),
                        None,
                    )
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for error in results.into_iter().filter_map(Result::err) {
        assert_eq!(error.code(), "ALREADY_SETTLED");
        assert!(
            error
                .to_string()
                .starts_with("plan_1 was approved by editor "),
            "{error}"
        );
    }
}

#[test]
fn a_newer_plan_takes_the_place_of_the_older() {
    let scratch = Scratch::new(&[]);
    let plans = plans(&scratch);
    plans.propose(new("1")).unwrap();
    plans.propose(new("2")).unwrap();
    assert_eq!(state(&plans, "plan_1"), PlanState::Superseded);
    assert_eq!(
        plans
            .decide("plan_1", None, Voice::Yes, "ann", None)
            .unwrap_err()
            .to_string(),
        "plan_1 is superseded"
    );
    plans
        .decide("plan_2", None, Voice::Yes, "ann", None)
        .unwrap();
    plans.propose(new("3")).unwrap();
    assert_eq!(state(&plans, "plan_2"), PlanState::Approved);
    plans
        .decide("plan_3", None, Voice::Yes, "ann", None)
        .unwrap();
    assert_eq!(state(&plans, "plan_2"), PlanState::Superseded);
    assert_eq!(plans.approved("se_1").unwrap().unwrap().id, "plan_3");
}

#[test]
fn forged_and_damaged_plans_are_set_aside() {
    let scratch = Scratch::new(&[]);
    let plans = plans(&scratch);
    for id in ["1", "2", "3"] {
        let mut plan = new(id);
        plan.session = format!("se_{id}");
        plans.propose(plan).unwrap();
    }
    let record = |id: &str| format!(".agentic/plans/plan_{id}/record.json");
    let text = std::fs::read_to_string(scratch.on_disk(&record("1"))).unwrap();
    scratch.write(&record("1"), &text.replace("proposed", "approved"));
    // The record of another plan, whole and sealed.
    let text = std::fs::read_to_string(scratch.on_disk(&record("3"))).unwrap();
    scratch.write(&record("2"), &text);
    assert_eq!(plans.get("plan_1").unwrap_err().code(), "STORE_CORRUPT");
    assert!(plans.approved("se_1").unwrap().is_none());
    let (left, damaged) = plans.list().unwrap();
    assert_eq!(left.len(), 1);
    let ids: Vec<&str> = damaged.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["plan_1", "plan_2"]);
    for one in &damaged {
        assert!(
            one.aside.contains(".corrupt") && scratch.on_disk(&one.aside).exists(),
            "{one:?}"
        );
    }
    assert!(plans.list().unwrap().1.is_empty());
}

#[test]
fn an_unsealed_store_has_no_plans() {
    let scratch = Scratch::new(&[]);
    plans(&scratch).propose(new("1")).unwrap();
    plans(&scratch)
        .decide("plan_1", None, Voice::Yes, "ann", None)
        .unwrap();
    let other = plans_of(Store::new(scratch.root.clone(), SealKey::new([9; 32])));
    assert_eq!(other.approved("se_1").unwrap_err().code(), "STORE_UNSEALED");
    assert_eq!(other.get("plan_1").unwrap_err().code(), "STORE_UNSEALED");
}

#[test]
fn ids_that_are_none_are_unknown() {
    let scratch = Scratch::new(&[]);
    let plans = plans(&scratch);
    for id in ["", "plan_9", "../x", "plan_../x", "plan_1/..", "plan_\0"] {
        assert_eq!(plans.get(id).unwrap_err().code(), "NOT_FOUND", "{id:?}");
    }
    assert!(plans.list().unwrap().0.is_empty());
    assert!(!scratch.on_disk(".agentic").exists());
}
