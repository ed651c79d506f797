//! What accepting does to files.

use redline_workspace::{Folding, RootOptions};

use crate::*;

#[test]
fn accepting_all_writes_every_file_and_settles() {
    let ground = Ground::new(&[
        ("a.txt", "one\ntwo\n"),
        ("gone.txt", "bye\n"),
        ("old.txt", "x\ny\n"),
    ]);
    let mut transaction = ground.propose(vec![
        edit("a.txt", "two", "TWO"),
        Change::create("deep/er/new.txt", "hello\n"),
        Change::delete("gone.txt"),
        edit("old.txt", "y", "Y"),
        Change::rename("old.txt", "moved/here.txt"),
    ]);
    assert_eq!(transaction.state(), TransactionState::Pending);
    assert_eq!(ground.read("a.txt").unwrap(), "one\ntwo\n");

    let committed = ground.accept(&mut transaction).unwrap();

    assert_eq!(ground.read("a.txt").unwrap(), "one\nTWO\n");
    assert_eq!(ground.read("deep/er/new.txt").unwrap(), "hello\n");
    assert_eq!(ground.read("gone.txt"), None);
    assert_eq!(ground.read("old.txt"), None);
    assert_eq!(ground.read("moved/here.txt").unwrap(), "x\nY\n");
    assert_eq!(transaction.state(), TransactionState::Committed);
    assert_eq!(committed.receipt.outcome, Outcome::Complete);
    assert_eq!(committed.receipt.shown.len(), 4);
    assert!(committed.warnings.is_empty(), "{:?}", committed.warnings);

    let loaded = ground
        .ws
        .transactions()
        .load(transaction.id())
        .unwrap()
        .unwrap();
    assert_eq!(loaded.state(), TransactionState::Committed);
    assert_eq!(standings(&loaded), standings(&transaction));
    assert!(
        ground
            .ws
            .transactions()
            .list_unsettled()
            .unwrap()
            .0
            .is_empty()
    );
    assert_eq!(
        ground.ws.transactions().receipts(transaction.id()).unwrap(),
        [committed.receipt]
    );
    assert!(ground.ws.journal().verify().unwrap().is_sound());
}

#[test]
fn a_hunk_moves_with_what_was_accepted_before_it() {
    let text = "alpha\nbeta\ngamma\ndelta\nepsilon\nzeta\n";
    let ground = Ground::new(&[("g.txt", text)]);
    let mut transaction = ground.propose(vec![
        edit("g.txt", "alpha\n", "alpha\nalpha 2\nalpha 3\nalpha 4\n"),
        edit("g.txt", "epsilon\n", "EPSILON\n"),
    ]);
    let ids: Vec<HunkId> = transaction
        .file("g.txt")
        .unwrap()
        .hunks
        .iter()
        .map(|hunk| hunk.id.clone())
        .collect();
    let one = |id: &HunkId| DecisionRequest {
        hunks: vec![(id.clone(), Some(1))],
        ..Default::default()
    };

    ground
        .accept_part(&mut transaction, &one(&ids[0]), &mut [])
        .unwrap();
    assert_eq!(
        ground.read("g.txt").unwrap(),
        "alpha\nalpha 2\nalpha 3\nalpha 4\nbeta\ngamma\ndelta\nepsilon\nzeta\n"
    );
    // What the store knows is what the next process goes on with.
    let mut transaction = ground
        .ws
        .transactions()
        .load(transaction.id())
        .unwrap()
        .unwrap();
    assert_eq!(
        transaction.file("g.txt").unwrap().start_line(&ids[1]),
        Some(8)
    );
    ground
        .accept_part(&mut transaction, &one(&ids[1]), &mut [])
        .unwrap();
    assert_eq!(
        ground.read("g.txt").unwrap(),
        "alpha\nalpha 2\nalpha 3\nalpha 4\nbeta\ngamma\ndelta\nEPSILON\nzeta\n"
    );
    assert_eq!(
        standings(&transaction),
        [("g.txt".to_owned(), DONE), ("g.txt".to_owned(), DONE)]
    );

    ground.undo(None, Direction::Undo).unwrap();
    assert_eq!(ground.read("g.txt").unwrap(), text);
    let undone = ground
        .ws
        .transactions()
        .load(transaction.id())
        .unwrap()
        .unwrap();
    assert_eq!(undone.state(), TransactionState::Undone);
    ground.undo(None, Direction::Redo).unwrap();
    assert_eq!(
        ground.read("g.txt").unwrap(),
        "alpha\nalpha 2\nalpha 3\nalpha 4\nbeta\ngamma\ndelta\nEPSILON\nzeta\n"
    );
    let redone = ground
        .ws
        .transactions()
        .load(transaction.id())
        .unwrap()
        .unwrap();
    assert_eq!(redone.state(), TransactionState::Committed);
}

#[test]
fn lines_changed_on_disk_elsewhere_move_the_hunk_and_the_same_lines_are_a_conflict() {
    let ground = Ground::new(&[("list.txt", "1\n2\n3\n4\n5\n")]);
    let mut transaction = ground.propose(vec![edit("list.txt", "4", "four")]);
    ground.write("list.txt", "# head\n1\n2\n3\n4\n5\n");
    let committed = ground.accept(&mut transaction).unwrap();
    assert_eq!(
        ground.read("list.txt").unwrap(),
        "# head\n1\n2\n3\nfour\n5\n"
    );
    assert_eq!(committed.receipt.flags(), ["reanchored"]);

    let mut transaction = ground.propose(vec![edit("list.txt", "2", "two")]);
    ground.write("list.txt", "# head\n1\n2 (call the bank)\n3\nfour\n5\n");
    let before = ground.tree();
    let error = ground.accept(&mut transaction).unwrap_err();
    assert_eq!(error.code(), "CONFLICT");
    let message = error.to_string();
    for fact in ["list.txt line 3", "2 (call the bank)", "two"] {
        assert!(message.contains(fact), "{message}");
    }
    assert_eq!(ground.tree(), before);
    assert_eq!(transaction.state(), TransactionState::Pending);
}

#[test]
fn one_conflict_keeps_every_file_untouched() {
    let ground = Ground::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut transaction = ground.propose(vec![edit("a.txt", "a", "A"), edit("b.txt", "b", "B")]);
    ground.write("b.txt", "mine\n");
    assert_eq!(
        ground.accept(&mut transaction).unwrap_err().code(),
        "CONFLICT"
    );
    assert_eq!(ground.read("a.txt").unwrap(), "a\n");
    assert_eq!(ground.read("b.txt").unwrap(), "mine\n");
}

#[test]
fn the_same_change_made_by_hand_is_accepted_without_writing() {
    let ground = Ground::new(&[("a.txt", "one\ntwo\n")]);
    let mut transaction = ground.propose(vec![edit("a.txt", "two", "TWO")]);
    ground.write("a.txt", "one\nTWO\n");
    let committed = ground.accept(&mut transaction).unwrap();
    assert_eq!(committed.receipt.results[0].effect, PathEffect::Already);
    assert_eq!(transaction.state(), TransactionState::Committed);
}

#[test]
fn a_failure_in_the_middle_takes_everything_back_and_names_the_path() {
    for (effect, errno) in [
        (Effect::Write, 28),
        (Effect::Fsync, 5),
        (Effect::Rename, 13),
    ] {
        let ground = Ground::new(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c/d.txt", "d\n")]);
        let before = ground.tree();
        let mut transaction = ground.propose(vec![
            Change::write("a.txt", "A\n"),
            Change::create("new.txt", "n\n"),
            Change::write("c/d.txt", "D\n"),
            Change::write("b.txt", "B\n"),
        ]);
        ground.faults.fail(effect, "c/d.txt", 1, errno);
        let error = ground.accept(&mut transaction).unwrap_err();
        assert_eq!(error.code(), "IO", "{error}");
        assert!(error.to_string().contains("c/d.txt"), "{error}");
        assert_eq!(ground.tree(), before);
        let loaded = ground
            .ws
            .transactions()
            .load(transaction.id())
            .unwrap()
            .unwrap();
        if effect == Effect::Rename {
            assert!(error.to_string().contains("rolled back"), "{error}");
            assert_eq!(loaded.state(), TransactionState::Failed);
        } else {
            assert!(matches!(error, CommitError::Refused { .. }));
            assert_eq!(loaded.state(), TransactionState::Pending);
        }
        // The cause is gone: the same transaction goes in.
        let mut transaction = loaded;
        ground.accept(&mut transaction).unwrap();
        assert_eq!(ground.read("c/d.txt").unwrap(), "D\n");
        assert_eq!(transaction.state(), TransactionState::Committed);
    }
}

#[test]
fn accepting_a_line_range_divides_the_hunk() {
    let ground = Ground::new(&[("a.txt", "0\n1\n2\n3\n4\n")]);
    let mut transaction = ground.propose(vec![edit("a.txt", "1\n2\n3\n", "one\ntwo\nthree\n")]);
    let range = LineRange {
        path: "a.txt".into(),
        start: 3,
        end: 3,
    };
    let records = transaction
        .split_for_lines(&range, &mut || HunkId::new(ground.id("h")))
        .unwrap();
    ground
        .ws
        .transactions()
        .append(&transaction, &records, None)
        .unwrap();
    let part = DecisionRequest {
        lines: vec![range],
        ..Default::default()
    };
    ground
        .accept_part(&mut transaction, &part, &mut [])
        .unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "0\n1\ntwo\n3\n4\n");
    let loaded = ground
        .ws
        .transactions()
        .load(transaction.id())
        .unwrap()
        .unwrap();
    assert_eq!(standings(&loaded), standings(&transaction));
    let mut transaction = loaded;
    ground.accept(&mut transaction).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "0\none\ntwo\nthree\n4\n");
}

#[test]
fn mode_bom_and_line_endings_are_kept() {
    let ground = Ground::new(&[
        ("run.sh", "#!/bin/sh\necho one\n"),
        ("w.txt", "\u{feff}a\r\nb\r\nc"),
    ]);
    ground.chmod("run.sh", 0o755);
    ground.chmod("w.txt", 0o600);
    let before = ground.tree();
    let mut transaction = ground.propose(vec![
        edit("run.sh", "one", "two"),
        edit("w.txt", "b\n", "B\nBB\n"),
    ]);
    ground.accept(&mut transaction).unwrap();
    let after = ground.tree();
    assert_eq!(
        after["run.sh"],
        Node::File(b"#!/bin/sh\necho two\n".to_vec(), 0o755)
    );
    assert_eq!(
        after["w.txt"],
        Node::File("\u{feff}a\r\nB\r\nBB\r\nc".as_bytes().to_vec(), 0o600)
    );
    ground.undo(None, Direction::Undo).unwrap();
    assert_eq!(ground.tree(), before);
}

#[test]
fn two_names_that_the_disk_takes_for_one_are_not_written() {
    let mut ground = Ground::new(&[("a.txt", "a\n")]);
    if ground.root.join("A.TXT").exists() {
        return;
    }
    let mut legal_here = ground.propose(vec![
        Change::create("new/one.txt", "1\n"),
        Change::create("new/ONE.txt", "1\n"),
    ]);
    let mut also_legal = ground.propose(vec![Change::rename("a.txt", "New/a.txt")]);
    let rules = RootOptions {
        folding: Folding::Always,
        ..RootOptions::default()
    };
    let before = ground.tree();
    let sensitive = std::mem::replace(&mut ground.ws, support::open_with(&ground.root, rules).0);
    let error = ground.accept(&mut legal_here).unwrap_err();
    assert_eq!(error.code(), "NAME_COLLISION");
    assert!(error.to_string().contains("new/one.txt"), "{error}");
    assert_eq!(ground.tree(), before);
    // One of them alone is fine; then the folder has its name.
    let one = DecisionRequest {
        files: vec![("new/one.txt".into(), None)],
        ..Default::default()
    };
    ground.accept_part(&mut legal_here, &one, &mut []).unwrap();
    assert_eq!(
        ground.accept(&mut also_legal).unwrap_err().code(),
        "NAME_COLLISION"
    );

    ground.ws = sensitive;
    ground.accept(&mut legal_here).unwrap();
    ground.accept(&mut also_legal).unwrap();
    assert_eq!(ground.read("new/ONE.txt").unwrap(), "1\n");
    assert_eq!(ground.read("New/a.txt").unwrap(), "a\n");
}
