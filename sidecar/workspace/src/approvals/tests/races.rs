//! Several decide, several claim, at once: in threads and in processes.

use super::*;
use crate::testing::child;

#[test]
fn of_many_threads_that_decide_one_wins_and_the_others_are_told() {
    let scratch = Scratch::new(&[]);
    approvals(&scratch).ask(new("1", "op")).unwrap();
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let approvals = approvals(&scratch);
                scope.spawn(move || {
                    let voice = if number % 2 == 0 {
                        Voice::Yes
                    } else {
                        Voice::No
                    };
                    approvals.decide("approval_1", voice, &format!("editor {number}"), None)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let winners: Vec<_> = results.iter().flatten().collect();
    assert_eq!(winners.len(), 1);
    let winner = winners[0].decided.clone().unwrap();
    for error in results.iter().filter_map(|result| result.as_ref().err()) {
        let ApprovalError::Decided { decided, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(decided, &winner);
        assert_eq!(error.code(), "ALREADY_SETTLED");
    }
}

#[test]
fn of_many_threads_that_claim_one_runs() {
    let scratch = Scratch::new(&[]);
    let first = approvals(&scratch);
    first.ask(new("1", "op")).unwrap();
    first.decide("approval_1", Voice::Yes, "ann", None).unwrap();
    // Half of them share a handle, as the turns of one sidecar do.
    let claims: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|number| {
                let approvals = if number % 2 == 0 {
                    first.clone()
                } else {
                    approvals(&scratch)
                };
                scope.spawn(move || usize::from(approvals.claim("approval_1", "op").is_ok()))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(claims, 1);
}

/// Run as a child by the test below: claims and decides what it can, and writes down what it got.
#[test]
fn child_claims() {
    let Some(scratch) = Scratch::of_parent() else {
        return;
    };
    let approvals = approvals(&scratch);
    let who = format!("process {}", std::process::id());
    let mut got = String::new();
    for number in 0..20 {
        let id = format!("approval_{number}");
        if approvals.claim(&id, "op").is_ok() {
            got.push_str(&format!("claimed {id}\n"));
        }
        let waiting = format!("approval_w{number}");
        if approvals.decide(&waiting, Voice::Yes, &who, None).is_ok() {
            got.push_str(&format!("decided {waiting}\n"));
        }
    }
    std::fs::write(scratch.on_disk(&format!("got.{}", std::process::id())), got).unwrap();
}

#[test]
fn of_several_processes_one_wins_each_time() {
    let scratch = Scratch::new(&[]);
    let approvals = approvals(&scratch);
    for number in 0..20 {
        // Turns differ, so that the same question is asked each time.
        let mut asked = new(&number.to_string(), "op");
        asked.turn = format!("turn_{number}");
        approvals.ask(asked).unwrap();
        approvals
            .decide(&format!("approval_{number}"), Voice::Yes, "ann", None)
            .unwrap();
        approvals
            .ask(new(&format!("w{number}"), &format!("op{number}")))
            .unwrap();
    }
    let test = "approvals::tests::races::child_claims";
    let mut children: Vec<_> = (0..3).map(|_| child(test, &scratch)).collect();
    let mut lines = Vec::new();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
        let got = std::fs::read_to_string(scratch.on_disk(&format!("got.{}", child.id()))).unwrap();
        lines.extend(got.lines().map(str::to_owned));
    }
    lines.sort();
    let all = lines.len();
    lines.dedup();
    assert_eq!((all, lines.len()), (40, 40), "each was won once");
    for approval in approvals.list().unwrap() {
        let expected = if approval.id.contains('w') {
            ApprovalState::Approved
        } else {
            ApprovalState::Claimed
        };
        assert_eq!(approval.state, expected, "{}", approval.id);
    }
}
