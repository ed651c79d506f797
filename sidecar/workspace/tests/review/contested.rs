//! Undo and redo of what somebody changed since: it waits for a person.

use redline_edits::HunkState;
use redline_workspace::{FileState, Transaction, Undo};

use crate::*;

/// An undo that must wait for a person; nothing may have changed yet.
fn contested(ground: &Ground, id: Option<&str>, direction: Direction) -> Undo {
    let before = ground.tree();
    let Err(Refused::Review(undo)) = ground.undo(id, direction) else {
        panic!("nothing was in its way")
    };
    assert_eq!(ground.tree(), before);
    *undo
}

/// What each hunk would do, in order: path, state, its three sides or its two.
fn shown(transaction: &Transaction) -> Vec<String> {
    let mut all = Vec::new();
    for file in transaction.files() {
        let operation = match file.operation_state() {
            Some(state) => format!(" {state:?}"),
            None => String::new(),
        };
        all.push(format!("{} {:?}{operation}", file.path, file.operation));
        for hunk in file.hunks.iter() {
            all.push(match file.hunks.conflict(&hunk.id, &file.text) {
                Some(sides) => format!(
                    "  conflict {:?} | {:?} | {:?}",
                    sides.base, sides.current, sides.proposed
                ),
                None => format!(
                    "  {:?} {:?} -> {:?}",
                    hunk.state, hunk.removed, hunk.replacement
                ),
            });
        }
    }
    all
}

fn load(ground: &Ground, id: &str) -> Transaction {
    ground.ws.transactions().load(id).unwrap().unwrap()
}

/// Loads a transaction as the next process would, anchored on today's text.
fn anchored(ground: &Ground, id: &str) -> Transaction {
    let mut transaction = load(ground, id);
    let paths: Vec<String> = transaction.files().map(|file| file.path.clone()).collect();
    for path in paths {
        let text = ropey::Rope::from_str(&ground.read(&path).unwrap_or_default());
        transaction.file_mut(&path).unwrap().reanchor(&text);
    }
    transaction
}

fn conflicts(transaction: &Transaction) -> Vec<HunkId> {
    let hunks = transaction.files().flat_map(|file| file.hunks.iter());
    hunks
        .filter(|hunk| matches!(hunk.state, HunkState::Conflict(_)))
        .map(|hunk| hunk.id.clone())
        .collect()
}

fn store(ground: &Ground, transaction: &Transaction, record: redline_workspace::Record) {
    ground
        .ws
        .transactions()
        .append(transaction, &[record], None)
        .unwrap();
}

/// One file with three changed lines, all accepted; then somebody changes the middle one.
fn middle_changed() -> (Ground, Transaction) {
    let ground = Ground::new(&[("a.txt", "1\n2\n3\n4\n5\n6\n7\n"), ("b.txt", "b\n")]);
    let mut transaction = ground.propose(vec![
        edit("a.txt", "1\n", "one\n"),
        edit("a.txt", "4\n", "four\n"),
        edit("a.txt", "7\n", "seven\n"),
        edit("b.txt", "b", "B"),
    ]);
    ground.accept(&mut transaction).unwrap();
    ground.write("a.txt", "one\n2\n3\nmine\n5\n6\nseven\n");
    (ground, transaction)
}

#[test]
fn the_reverse_hunks_wait_with_the_three_sides_of_each_conflict() {
    let (ground, transaction) = middle_changed();
    let undo = contested(&ground, None, Direction::Undo);
    assert_eq!(undo.of, transaction.id());
    assert_eq!(undo.transaction.meta().title, "undo of a change");
    let error = redline_workspace::UndoError::from(&undo);
    assert_eq!(error.code(), "CONFLICT");
    let said = error.to_string();
    assert!(
        said.contains("a.txt changed since (line 4)") && said.contains(undo.transaction.id()),
        "{said}"
    );

    let expected = [
        "a.txt Edit",
        "  Pending \"one\\n\" -> \"1\\n\"",
        "  conflict \"four\\n\" | \"mine\\n\" | \"4\\n\"",
        "  Pending \"seven\\n\" -> \"7\\n\"",
        "b.txt Edit",
        "  Pending \"B\\n\" -> \"b\\n\"",
    ];
    assert_eq!(shown(&undo.transaction), expected);
    // The next process finds the same.
    let loaded = anchored(&ground, undo.transaction.id());
    assert_eq!(shown(&loaded), expected);
    let (unsettled, _) = ground.ws.transactions().list_unsettled().unwrap();
    assert_eq!(unsettled.len(), 1);
    assert_eq!(unsettled[0].state(), TransactionState::Pending);

    // Accepting it as it is touches nothing, and asking again makes no second one.
    let mut review = undo.transaction;
    let before = ground.tree();
    assert_eq!(ground.accept(&mut review).unwrap_err().code(), "CONFLICT");
    let Err(Refused::Undo(error)) = ground.undo(None, Direction::Undo) else {
        panic!("two undos of one transaction")
    };
    assert!(error.to_string().contains(review.id()), "{error}");
    assert_eq!(error.code(), "CONFLICT");
    assert_eq!(ground.tree(), before);
}

#[test]
fn accepting_the_rest_completes_it_and_redo_puts_it_back() {
    let (ground, transaction) = middle_changed();
    let undo = contested(&ground, None, Direction::Undo);
    let mut review = undo.transaction;
    let conflict = conflicts(&review)[0].clone();
    let again = review.propose_again(&conflict).unwrap();
    store(&ground, &review, again);

    let committed = ground.accept(&mut review).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\n4\n5\n6\n7\n");
    assert_eq!(ground.read("b.txt").unwrap(), "b\n");
    assert_eq!(committed.receipt.action.as_str(), "undo");
    assert_eq!(committed.receipt.transaction_id, review.id());
    assert_eq!(committed.concerns[0].0, transaction.id());
    let receipts = ground.ws.transactions().receipts(review.id()).unwrap();
    assert_eq!(receipts.len(), 1);
    assert_eq!(
        load(&ground, transaction.id()).state(),
        TransactionState::Undone
    );
    assert_eq!(
        load(&ground, review.id()).state(),
        TransactionState::Committed
    );
    let (checkpoints, _) = ground.ws.list_checkpoints().unwrap();
    assert_eq!(checkpoints.len(), 1);
    assert!(checkpoints[0].undone);

    // What was put back is what the undo found, the user's line included.
    ground.undo(None, Direction::Redo).unwrap();
    assert_eq!(
        ground.read("a.txt").unwrap(),
        "one\n2\n3\nmine\n5\n6\nseven\n"
    );
    assert_eq!(
        load(&ground, transaction.id()).state(),
        TransactionState::Committed
    );
    assert!(ground.ws.journal().verify().unwrap().is_sound());
}

#[test]
fn deciding_it_in_parts_completes_it_with_the_last_one() {
    for last_is_kept in [true, false] {
        let (ground, transaction) = middle_changed();
        let undo = contested(&ground, None, Direction::Undo);
        let mut review = undo.transaction;
        let conflict = conflicts(&review)[0].clone();
        let part = DecisionRequest {
            files: vec![("b.txt".into(), None)],
            ..Default::default()
        };
        ground.accept_part(&mut review, &part, &mut []).unwrap();
        assert_eq!(ground.read("b.txt").unwrap(), "b\n");
        // Not undone yet, neither for lists nor for the next undo.
        assert_eq!(
            load(&ground, transaction.id()).state(),
            TransactionState::Committed
        );
        let Err(Refused::Undo(error)) = ground.undo(None, Direction::Undo) else {
            panic!("it is under review")
        };
        assert_eq!(error.code(), "CONFLICT");

        let rest: Vec<(HunkId, Option<u64>)> = review
            .file("a.txt")
            .unwrap()
            .hunks
            .pending()
            .map(|(hunk, _)| (hunk.id.clone(), None))
            .collect();
        let rest = DecisionRequest {
            hunks: rest,
            ..Default::default()
        };
        let keep = |review: &mut Transaction| {
            let kept = review.keep_mine(&conflict).unwrap();
            let transactions = ground.ws.transactions();
            transactions.append(review, &[kept], None).unwrap()
        };
        let concerns = if last_is_kept {
            ground.accept_part(&mut review, &rest, &mut []).unwrap();
            keep(&mut review)
        } else {
            assert!(keep(&mut review).is_empty());
            ground
                .accept_part(&mut review, &rest, &mut [])
                .unwrap()
                .concerns
        };
        assert_eq!(concerns.len(), 1, "{last_is_kept}");
        assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\nmine\n5\n6\n7\n");
        assert_eq!(
            load(&ground, transaction.id()).state(),
            TransactionState::Undone
        );

        ground.undo(None, Direction::Redo).unwrap();
        assert_eq!(
            ground.read("a.txt").unwrap(),
            "one\n2\n3\nmine\n5\n6\nseven\n"
        );
        assert_eq!(ground.read("b.txt").unwrap(), "B\n");
        assert_eq!(
            load(&ground, transaction.id()).state(),
            TransactionState::Committed
        );
        assert!(ground.ws.journal().verify().unwrap().is_sound());
    }
}

#[test]
fn rejecting_it_leaves_everything_as_it_is() {
    let (ground, transaction) = middle_changed();
    let undo = contested(&ground, None, Direction::Undo);
    let mut review = undo.transaction;
    let all = review.select(&DecisionRequest::default()).unwrap();
    let refused = review.refuse(&all, Settlement::Rejected, None).unwrap();
    store(&ground, &review, refused);
    assert_eq!(
        load(&ground, transaction.id()).state(),
        TransactionState::Committed
    );
    // And it can be undone another time.
    ground.write("a.txt", "one\n2\n3\nfour\n5\n6\nseven\n");
    ground.undo(None, Direction::Undo).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\n4\n5\n6\n7\n");
}

#[test]
fn an_undo_makes_way_once_nothing_is_in_its_way_or_its_turn_went_on() {
    let (ground, transaction) = middle_changed();
    let undo = contested(&ground, None, Direction::Undo);
    ground.write("a.txt", "one\n2\n3\nfour\n5\n6\nseven\n");
    ground
        .undo(Some(transaction.id()), Direction::Undo)
        .unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\n4\n5\n6\n7\n");
    assert!(load(&ground, undo.transaction.id()).is_settled());

    let ground = Ground::new(&[("a.txt", "1\n2\n3\n4\n5\n")]);
    let mut transaction = ground.propose(vec![
        edit("a.txt", "1\n", "one\n"),
        edit("a.txt", "5\n", "five\n"),
    ]);
    let ids: Vec<HunkId> = transaction
        .file("a.txt")
        .unwrap()
        .hunks
        .iter()
        .map(|hunk| hunk.id.clone())
        .collect();
    let part = |at: usize| DecisionRequest {
        hunks: vec![(ids[at].clone(), None)],
        ..Default::default()
    };
    ground
        .accept_part(&mut transaction, &part(0), &mut [])
        .unwrap();
    ground.write("a.txt", "mine\n2\n3\n4\n5\n");
    let mut first = contested(&ground, None, Direction::Undo).transaction;
    ground
        .accept_part(&mut transaction, &part(1), &mut [])
        .unwrap();
    // The first one would leave the second hunk behind and call the whole undone.
    let again = first.propose_again(&conflicts(&first)[0]).unwrap();
    store(&ground, &first, again);
    let error = ground.accept(&mut first).unwrap_err();
    assert_eq!(error.code(), "STALE_VERSION");
    let mut second = contested(&ground, None, Direction::Undo).transaction;
    assert!(load(&ground, first.id()).is_settled());
    let again = second.propose_again(&conflicts(&second)[0]).unwrap();
    store(&ground, &second, again);
    ground.accept(&mut second).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\n4\n5\n");
}

#[test]
fn a_redo_that_meets_conflicts_waits_too() {
    let (ground, transaction) = middle_changed();
    ground.write("a.txt", "one\n2\n3\nfour\n5\n6\nseven\n");
    ground.undo(None, Direction::Undo).unwrap();
    ground.write("a.txt", "1\n2\n3\nmine\n5\n6\n7\n");
    let undo = contested(&ground, None, Direction::Redo);
    assert_eq!(undo.transaction.meta().title, "redo of a change");
    let mut review = undo.transaction;
    let kept = review.keep_mine(&conflicts(&review)[0]).unwrap();
    store(&ground, &review, kept);
    let committed = ground.accept(&mut review).unwrap();
    assert_eq!(committed.receipt.action.as_str(), "redo");
    assert_eq!(
        ground.read("a.txt").unwrap(),
        "one\n2\n3\nmine\n5\n6\nseven\n"
    );
    assert_eq!(
        load(&ground, transaction.id()).state(),
        TransactionState::Committed
    );
    ground.undo(None, Direction::Undo).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\nmine\n5\n6\n7\n");
}

#[test]
fn a_created_file_that_the_user_edited_keeps_their_lines() {
    let ground = Ground::new(&[("keep.txt", "k\n")]);
    let mut transaction = ground.propose(vec![
        Change::create("plan.md", "# plan\nstep 1\n"),
        edit("keep.txt", "k", "K"),
    ]);
    ground.accept(&mut transaction).unwrap();
    ground.write("plan.md", "# plan\nstep 1\nmy own line\n");
    let undo = contested(&ground, None, Direction::Undo);
    let said = redline_workspace::UndoError::from(&undo).to_string();
    assert!(said.contains("plan.md changed since"), "{said}");
    let mut review = undo.transaction;
    assert_eq!(
        shown(&review),
        [
            "keep.txt Edit",
            "  Pending \"K\\n\" -> \"k\\n\"",
            "plan.md Edit",
            "  Pending \"# plan\\nstep 1\\n\" -> \"\"",
        ]
    );
    ground.accept(&mut review).unwrap();
    assert_eq!(ground.read("plan.md").unwrap(), "my own line\n");
    ground.undo(None, Direction::Redo).unwrap();
    assert_eq!(
        ground.read("plan.md").unwrap(),
        "# plan\nstep 1\nmy own line\n"
    );

    // Lines among those that were created are the user's to give up, with the file.
    let ground = Ground::new(&[]);
    let mut transaction = ground.propose(vec![Change::create("plan.md", "# plan\nstep 1\n")]);
    ground.accept(&mut transaction).unwrap();
    ground.write("plan.md", "# plan\nmy own line\nstep 1\n");
    let mut review = contested(&ground, None, Direction::Undo).transaction;
    assert_eq!(
        shown(&review),
        [
            "plan.md Delete",
            "  conflict \"# plan\\nstep 1\\n\" | \"# plan\\nmy own line\\nstep 1\\n\" | \"\"",
        ]
    );
    let again = review.propose_again(&conflicts(&review)[0]).unwrap();
    store(&ground, &review, again);
    ground.accept(&mut review).unwrap();
    assert_eq!(ground.read("plan.md"), None);
}

#[test]
fn an_edited_file_that_is_gone_comes_back_whole_or_not_at_all() {
    let ground = Ground::new(&[("a.txt", "1\n2\n3\n")]);
    let mut transaction = ground.propose(vec![
        edit("a.txt", "1\n", "one\n"),
        edit("a.txt", "3\n", "three\n"),
    ]);
    ground.accept(&mut transaction).unwrap();
    std::fs::remove_file(ground.root.join("a.txt")).unwrap();
    let mut review = contested(&ground, None, Direction::Undo).transaction;
    let expected = [
        "a.txt Create",
        "  conflict \"one\\n2\\nthree\\n\" | \"\" | \"1\\n2\\n3\\n\"",
    ];
    assert_eq!(shown(&review), expected);
    assert_eq!(ground.accept(&mut review).unwrap_err().code(), "CONFLICT");
    let mut review = anchored(&ground, review.id());
    assert_eq!(shown(&review), expected);
    let again = review.propose_again(&conflicts(&review)[0]).unwrap();
    store(&ground, &review, again);
    let mut review = anchored(&ground, review.id());
    ground.accept(&mut review).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\n");
    ground.undo(None, Direction::Redo).unwrap();
    assert_eq!(ground.read("a.txt"), None);
}

#[test]
fn a_deleted_file_that_exists_again_is_not_overwritten() {
    let ground = Ground::new(&[("a.txt", "old\n")]);
    std::fs::write(ground.root.join("b.bin"), b"\x00\xff old").unwrap();
    let before = ground.tree();
    let mut transaction = ground.propose(vec![Change::delete("a.txt"), Change::delete("b.bin")]);
    ground.accept(&mut transaction).unwrap();
    ground.write("a.txt", "new\n");
    std::fs::write(ground.root.join("b.bin"), b"\x00\xff new").unwrap();
    let mut review = contested(&ground, None, Direction::Undo).transaction;
    let reason = "exists again, so it changed since";
    assert_eq!(
        shown(&review),
        [
            "a.txt Edit".to_owned(),
            "  conflict \"\" | \"new\\n\" | \"old\\n\"".to_owned(),
            format!("b.bin Create Conflict {{ reason: {reason:?} }}"),
        ]
    );
    let file = review.file("b.bin").unwrap();
    assert!(matches!(
        file.operation_state(),
        Some(FileState::Conflict { .. })
    ));
    let now = ground.tree();
    let part = DecisionRequest {
        files: vec![("b.bin".into(), None)],
        ..Default::default()
    };
    let error = ground.accept_part(&mut review, &part, &mut []).unwrap_err();
    assert_eq!(error.code(), "CONFLICT");
    assert_eq!(ground.tree(), now);
    // Out of the way both come back byte for byte, whoever asks.
    std::fs::remove_file(ground.root.join("b.bin")).unwrap();
    std::fs::remove_file(ground.root.join("a.txt")).unwrap();
    let mut review = anchored(&ground, review.id());
    ground.accept(&mut review).unwrap();
    assert_eq!(ground.tree(), before);
}

#[test]
fn a_renamed_file_whose_old_name_is_taken_waits_until_it_is_free() {
    let ground = Ground::new(&[("a.txt", "1\n2\n3\n")]);
    let mut transaction = ground.propose(vec![
        edit("a.txt", "2\n", "two\n"),
        Change::rename("a.txt", "b.txt"),
    ]);
    ground.accept(&mut transaction).unwrap();
    ground.write("a.txt", "somebody else\n");
    let undo = contested(&ground, None, Direction::Undo);
    let said = redline_workspace::UndoError::from(&undo).to_string();
    assert!(said.contains("a.txt exists again"), "{said}");
    let mut review = undo.transaction;
    assert_eq!(ground.accept(&mut review).unwrap_err().code(), "CONFLICT");
    assert_eq!(ground.read("a.txt").unwrap(), "somebody else\n");
    std::fs::rename(ground.root.join("a.txt"), ground.root.join("c.txt")).unwrap();
    ground.accept(&mut review).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\n");
    assert_eq!(ground.read("b.txt"), None);
    assert_eq!(ground.read("c.txt").unwrap(), "somebody else\n");
    ground.undo(None, Direction::Redo).unwrap();
    assert_eq!(ground.read("b.txt").unwrap(), "1\ntwo\n3\n");
}
