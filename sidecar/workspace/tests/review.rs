//! Proposing, deciding, committing and undoing, on a real folder.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

mod support;

use redline_edits::{Change, ChangeKind, HunkId};
use redline_workspace::{
    Action, CommitError, DecisionRequest, Effect, LineRange, Outcome, PathEffect, Settlement,
    Standing, TransactionState,
};
use support::{Ground, Node, Refused, document};

fn edit(path: &str, search: &str, replace: &str) -> Change {
    Change::replace(path, search, replace)
}

fn standings(transaction: &redline_workspace::Transaction) -> Vec<(String, Standing)> {
    transaction
        .files()
        .flat_map(|file| file.hunks.iter().map(move |hunk| (file, hunk)))
        .map(|(file, hunk)| (file.path.clone(), file.standing(hunk)))
        .collect()
}

const DONE: Standing = Standing::Accepted {
    unsaved: false,
    by_hand: false,
};

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

    ground.undo(None, Action::Undo).unwrap();
    assert_eq!(ground.read("g.txt").unwrap(), text);
    let undone = ground
        .ws
        .transactions()
        .load(transaction.id())
        .unwrap()
        .unwrap();
    assert_eq!(undone.state(), TransactionState::Undone);
    ground.undo(None, Action::Redo).unwrap();
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
fn open_documents_get_edits_and_the_disk_is_left_alone() {
    let ground = Ground::new(&[("todo.md", "one\ntwo\nthree\n"), ("b.txt", "b\n")]);
    let mut transaction =
        ground.propose(vec![edit("todo.md", "two", "TWO"), edit("b.txt", "b", "B")]);
    let mut open = [document(
        "todo.md",
        "one\ntwo\nthree\ntyped but not saved\n",
        4,
        true,
    )];
    let committed = ground
        .accept_part(&mut transaction, &DecisionRequest::default(), &mut open)
        .unwrap();

    assert_eq!(
        open[0].text.to_string(),
        "one\nTWO\nthree\ntyped but not saved\n"
    );
    assert_eq!(ground.read("todo.md").unwrap(), "one\ntwo\nthree\n");
    assert_eq!(ground.read("b.txt").unwrap(), "B\n");
    assert_eq!(committed.receipt.unsaved().collect::<Vec<_>>(), ["todo.md"]);
    assert_eq!(committed.receipt.written().collect::<Vec<_>>(), ["b.txt"]);
}

#[test]
fn what_was_accepted_and_never_saved_waits_again() {
    let ground = Ground::new(&[("a.txt", "one\ntwo\n")]);
    let mut transaction = ground.propose(vec![edit("a.txt", "two", "TWO")]);
    let mut open = [document("a.txt", "one\ntwo\n", 1, false)];
    ground
        .accept_part(&mut transaction, &DecisionRequest::default(), &mut open)
        .unwrap();

    let (unsettled, _) = ground.ws.transactions().list_unsettled().unwrap();
    assert_eq!(
        standings(&unsettled[0]),
        [("a.txt".to_owned(), Standing::Pending)]
    );

    // Saved, and said so: settled for good.
    ground.write("a.txt", "one\nTWO\n");
    let file = transaction.file_mut("a.txt").unwrap();
    file.reanchor(&open[0].text);
    let record = transaction.saved("a.txt").unwrap();
    ground
        .ws
        .transactions()
        .append(&transaction, &[record], None)
        .unwrap();
    assert!(
        ground
            .ws
            .transactions()
            .list_unsettled()
            .unwrap()
            .0
            .is_empty()
    );
    let loaded = ground
        .ws
        .transactions()
        .load(transaction.id())
        .unwrap()
        .unwrap();
    assert_eq!(standings(&loaded), [("a.txt".to_owned(), DONE)]);
}

#[test]
fn a_rename_or_delete_under_an_unsaved_document_is_refused() {
    let ground = Ground::new(&[("pack/a.go", "package pack\n")]);
    let mut transaction = ground.propose(vec![Change::rename("pack/a.go", "pkg/a.go")]);
    let mut open = [document(
        "pack/a.go",
        "package pack\n// not saved yet\n",
        2,
        true,
    )];
    let before = ground.tree();
    let error = ground
        .accept_part(&mut transaction, &DecisionRequest::default(), &mut open)
        .unwrap_err();
    assert_eq!(error.code(), "DIRTY_BUFFER");
    assert!(error.to_string().contains("pack/a.go"));
    assert_eq!(ground.tree(), before);
}

#[test]
fn a_file_that_another_process_holds_unsaved_is_not_written() {
    let ground = Ground::new(&[("a.txt", "a\n")]);
    let mut transaction = ground.propose(vec![edit("a.txt", "a", "A")]);
    let mut other = redline_workspace::Announcement::new(ground.ws.store().clone(), "hub_B".into());
    let unsaved = redline_workspace::UnsavedDocument {
        path: "a.txt".into(),
        text_revision: "x".into(),
    };
    assert!(other.publish(&[unsaved]).unwrap());
    let error = ground.accept(&mut transaction).unwrap_err();
    assert_eq!(error.code(), "DIRTY_BUFFER");
    drop(other);
    ground.accept(&mut transaction).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "A\n");
}

#[test]
fn one_undo_brings_back_edit_delete_rename_create_link_and_mode_byte_for_byte() {
    let ground = Ground::new(&[
        ("a.txt", "one\ntwo\n"),
        ("c.txt", "cc\n"),
        ("run.sh", "#!/bin/sh\n"),
    ]);
    std::fs::write(
        ground.root.join("b.bin"),
        b"\x00\xff\xfe\x0a\x0d\x0a\xc3\x28",
    )
    .unwrap();
    ground.chmod("b.bin", 0o640);
    ground.link("l", "a.txt");
    let before = ground.tree();
    let mut transaction = ground.propose(vec![
        Change::write("a.txt", "one\nTWO\n"),
        Change::delete("b.bin"),
        Change::rename("c.txt", "sub/d.txt"),
        Change::write("sub/d.txt", "dd\n"),
        Change::create("e.txt", "e\n"),
        Change::delete("l"),
        Change::new("run.sh", ChangeKind::SetMode { mode: 0o755 }),
    ]);
    ground.accept(&mut transaction).unwrap();
    let after = ground.tree();
    assert_ne!(after, before);
    assert!(!after.contains_key("l") && !after.contains_key("b.bin"));
    assert_eq!(after["run.sh"], Node::File(b"#!/bin/sh\n".to_vec(), 0o755));

    ground.undo(Some(transaction.id()), Action::Undo).unwrap();
    assert_eq!(ground.tree(), before);
    ground.undo(Some(transaction.id()), Action::Redo).unwrap();
    assert_eq!(ground.tree(), after);
    ground.undo(None, Action::Undo).unwrap();
    assert_eq!(ground.tree(), before);
    assert!(ground.ws.journal().verify().unwrap().is_sound());
}

#[test]
fn undo_keeps_what_the_user_changed_since() {
    let ground = Ground::new(&[("app.py", "v1\nmore\nend\n"), ("data.csv", "mine\n")]);
    let mut transaction = ground.propose(vec![
        edit("app.py", "v1", "v2"),
        Change::create("gen.py", "g\n"),
    ]);
    ground.accept(&mut transaction).unwrap();
    ground.write("results.csv", "1,2\n");
    ground.write("app.py", "v2\nmore\nend, by hand\n");
    ground.undo(None, Action::Undo).unwrap();
    assert_eq!(ground.read("app.py").unwrap(), "v1\nmore\nend, by hand\n");
    assert_eq!(ground.read("gen.py"), None);
    assert_eq!(ground.read("results.csv").unwrap(), "1,2\n");
    assert_eq!(ground.read("data.csv").unwrap(), "mine\n");
}

#[test]
fn undo_of_a_created_file_that_the_user_edited_touches_nothing() {
    let ground = Ground::new(&[("keep.txt", "k\n")]);
    let mut transaction = ground.propose(vec![
        Change::create("plan.md", "# plan\nstep 1\n"),
        edit("keep.txt", "k", "K"),
    ]);
    ground.accept(&mut transaction).unwrap();
    ground.write("plan.md", "# plan\nstep 1\nmy own line\n");
    let before = ground.tree();
    let Err(Refused::Undo(error)) = ground.undo(None, Action::Undo) else {
        panic!("undone")
    };
    assert_eq!(error.code(), "CONFLICT");
    assert!(
        error.to_string().contains("plan.md changed since"),
        "{error}"
    );
    assert_eq!(ground.tree(), before);

    // Without the user's line it goes.
    ground.write("plan.md", "# plan\nstep 1\n");
    ground.undo(None, Action::Undo).unwrap();
    assert_eq!(ground.read("plan.md"), None);
    ground.undo(None, Action::Redo).unwrap();
    assert_eq!(ground.read("plan.md").unwrap(), "# plan\nstep 1\n");
}

#[test]
fn undo_of_a_part_takes_back_that_part_and_leaves_the_rest_pending() {
    let ground = Ground::new(&[("a.txt", "1\n2\n3\n4\n5\n")]);
    let mut transaction = ground.propose(vec![
        edit("a.txt", "1\n", "one\n"),
        edit("a.txt", "5\n", "five\n"),
    ]);
    let first = transaction
        .file("a.txt")
        .unwrap()
        .hunks
        .iter()
        .next()
        .unwrap()
        .id
        .clone();
    let part = DecisionRequest {
        hunks: vec![(first, None)],
        ..Default::default()
    };
    ground
        .accept_part(&mut transaction, &part, &mut [])
        .unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "one\n2\n3\n4\n5\n");
    let committed = ground.undo(None, Action::Undo).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\n4\n5\n");
    for (id, record) in &committed.concerns {
        assert_eq!(id, transaction.id());
        transaction.apply(record);
    }
    let expected = [
        ("a.txt".to_owned(), Standing::Undone),
        ("a.txt".to_owned(), Standing::Pending),
    ];
    assert_eq!(standings(&transaction), expected);
    let loaded = ground
        .ws
        .transactions()
        .load(transaction.id())
        .unwrap()
        .unwrap();
    assert_eq!(standings(&loaded), expected);
    ground.accept(&mut transaction).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\n4\nfive\n");
    ground.undo(None, Action::Undo).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "1\n2\n3\n4\n5\n");
}

#[test]
fn undo_reaches_into_an_open_document() {
    let ground = Ground::new(&[("a.txt", "one\ntwo\n")]);
    let mut transaction = ground.propose(vec![edit("a.txt", "two", "TWO")]);
    let mut open = [document("a.txt", "one\ntwo\n", 1, false)];
    ground
        .accept_part(&mut transaction, &DecisionRequest::default(), &mut open)
        .unwrap();
    open[0].text = ropey::Rope::from_str("zero\none\nTWO\n");
    ground.undo_with(None, Action::Undo, &mut open).unwrap();
    assert_eq!(open[0].text.to_string(), "zero\none\ntwo\n");
    assert_eq!(ground.read("a.txt").unwrap(), "one\ntwo\n");
}

#[test]
fn a_checkpoint_costs_what_was_changed() {
    let ground = Ground::new(&[("a.txt", "a\n")]);
    std::fs::File::create(ground.root.join("big.bin"))
        .unwrap()
        .set_len(64 << 20)
        .unwrap();
    let mut transaction = ground.propose(vec![edit("a.txt", "a", "b")]);
    ground.accept(&mut transaction).unwrap();
    ground.undo(None, Action::Undo).unwrap();
    let grown = size_of(&ground.root.join(".agentic"));
    assert!(grown < 64 << 10, "{grown} bytes");
}

fn size_of(path: &std::path::Path) -> u64 {
    let metadata = path.symlink_metadata().unwrap();
    if !metadata.is_dir() {
        return metadata.len();
    }
    std::fs::read_dir(path)
        .unwrap()
        .map(|entry| size_of(&entry.unwrap().path()))
        .sum()
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
fn rejecting_costs_one_line_whatever_the_size() {
    let text: String = (0..2000).map(|line| format!("line {line}\n")).collect();
    let changed: String = (0..2000)
        .map(|line| {
            if line % 2 == 0 {
                format!("LINE {line}\n")
            } else {
                format!("line {line}\n")
            }
        })
        .collect();
    let ground = Ground::new(&[("a.txt", &text)]);
    let mut transaction = ground.propose(vec![Change::write("a.txt", changed)]);
    assert_eq!(transaction.files().next().unwrap().hunks.len(), 1000);
    let log = ground
        .root
        .join(".agentic/transactions")
        .join(transaction.id())
        .join("log.ndjson");
    let first = transaction
        .files()
        .next()
        .unwrap()
        .hunks
        .iter()
        .next()
        .unwrap()
        .id
        .clone();
    let part = DecisionRequest {
        hunks: vec![(first, Some(1))],
        ..Default::default()
    };
    let selection = transaction.select(&part).unwrap();
    let record = transaction
        .refuse(&selection, Settlement::Rejected, None)
        .unwrap();
    ground
        .ws
        .transactions()
        .append(&transaction, &[record], None)
        .unwrap();
    assert!(std::fs::metadata(log).unwrap().len() < 300);
    let loaded = ground
        .ws
        .transactions()
        .load(transaction.id())
        .unwrap()
        .unwrap();
    assert_eq!(loaded.totals(), transaction.totals());
    assert_eq!(loaded.totals().rejected, 1);
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
fn an_amendment_is_kept_beside_what_the_agent_wrote() {
    let ground = Ground::new(&[("a.txt", "a\n")]);
    let mut transaction = ground.propose(vec![edit("a.txt", "a", "b")]);
    let id = transaction
        .files()
        .next()
        .unwrap()
        .hunks
        .iter()
        .next()
        .unwrap()
        .id
        .clone();
    let record = transaction.amend(&id, "better\n").unwrap();
    ground
        .ws
        .transactions()
        .append(&transaction, &[record], None)
        .unwrap();
    let mut transaction = ground
        .ws
        .transactions()
        .load(transaction.id())
        .unwrap()
        .unwrap();
    let stale = DecisionRequest {
        hunks: vec![(id, Some(1))],
        ..Default::default()
    };
    assert_eq!(transaction.select(&stale).unwrap_err().code(), "STALE_HUNK");
    let committed = ground.accept(&mut transaction).unwrap();
    assert_eq!(ground.read("a.txt").unwrap(), "better\n");
    let amended = committed.receipt.shown[0].amended.clone().unwrap();
    assert_eq!(
        (amended.proposed.as_str(), amended.accepted.as_str()),
        ("b\n", "better\n")
    );
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
    ground.undo(None, Action::Undo).unwrap();
    assert_eq!(ground.tree(), before);
}

#[test]
fn a_damaged_transaction_is_set_aside_and_the_others_keep_working() {
    let ground = Ground::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let bad = ground.propose(vec![edit("a.txt", "a", "A")]);
    let mut good = ground.propose(vec![edit("b.txt", "b", "B")]);
    let file = ground
        .root
        .join(".agentic/transactions")
        .join(bad.id())
        .join("snapshots");
    let mut bytes = std::fs::read(&file).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let (found, aside) = ground.ws.transactions().list_unsettled().unwrap();
    assert_eq!(
        found.iter().map(|one| one.id()).collect::<Vec<_>>(),
        [good.id()]
    );
    assert_eq!(aside.len(), 1);
    assert_eq!(aside[0].id, bad.id());
    assert!(aside[0].path.ends_with(".corrupt"), "{}", aside[0].path);
    ground.accept(&mut good).unwrap();
    assert_eq!(ground.read("b.txt").unwrap(), "B\n");
}

#[test]
fn the_stored_patch_applies_with_git() {
    let text: String = (0..40).map(|line| format!("line {line}\n")).collect();
    let ground = Ground::new(&[
        ("a b.txt", &text),
        ("gone.txt", "bye\n"),
        ("old.txt", "x\ny\n"),
        ("end", "no newline"),
    ]);
    let transaction = ground.propose(vec![
        edit("a b.txt", "line 3\n", "LINE 3\nand more\n"),
        edit("a b.txt", "line 5\n", ""),
        edit("a b.txt", "line 30\n", "line thirty\n"),
        Change::create("new/made.txt", "made\n"),
        Change::delete("gone.txt"),
        edit("old.txt", "y", "Y"),
        Change::rename("old.txt", "moved.txt"),
        edit("end", "no newline", "still none"),
    ]);
    let patch = ground
        .root
        .join(".agentic/transactions")
        .join(transaction.id())
        .join("diff.patch");
    let git = |arguments: &[&str]| {
        let status = std::process::Command::new("git")
            .args(arguments)
            .current_dir(&ground.root)
            .status();
        assert!(status.unwrap().success(), "git {arguments:?}");
    };
    git(&["apply", patch.to_str().unwrap()]);
    let by_git = ground.tree();
    git(&["apply", "-R", patch.to_str().unwrap()]);
    let mut transaction = transaction;
    ground.accept(&mut transaction).unwrap();
    assert_eq!(ground.tree(), by_git);
}

mod any_order {
    use proptest::prelude::*;
    use redline_edits::HunkState;
    use redline_workspace::Transaction;

    use super::*;

    const LINES: usize = 24;

    /// What may happen to a transaction; the numbers pick a hunk or a line.
    #[derive(Debug, Clone)]
    enum Event {
        Accept(usize),
        Reject(usize),
        Amend(usize),
        UserEdits(usize),
        Undo,
        Redo,
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            4 => any::<usize>().prop_map(Event::Accept),
            2 => any::<usize>().prop_map(Event::Reject),
            1 => any::<usize>().prop_map(Event::Amend),
            2 => (0..LINES).prop_map(Event::UserEdits),
            1 => Just(Event::Undo),
            1 => Just(Event::Redo),
        ]
    }

    fn pending(transaction: &Transaction) -> Vec<HunkId> {
        let hunks = transaction.files().flat_map(|file| file.hunks.iter());
        hunks
            .filter(|hunk| hunk.state == HunkState::Pending)
            .map(|hunk| hunk.id.clone())
            .collect()
    }

    /// Lines that the user wrote.
    fn typed(text: &str) -> Vec<String> {
        text.lines()
            .filter(|line| line.starts_with("typed"))
            .map(str::to_owned)
            .collect()
    }

    fn follow(ground: &Ground, transaction: &mut Transaction) {
        for path in ["a.txt", "b.txt"] {
            let text = ropey::Rope::from_str(&ground.read(path).unwrap());
            let file = transaction.file_mut(path).unwrap();
            let events = file.reanchor(&text);
            let records = transaction.note_events(path, &events, false);
            if !records.is_empty() {
                ground
                    .ws
                    .transactions()
                    .append(transaction, &records, None)
                    .unwrap();
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        /// After every event: what is loaded is what is in memory, nothing that the user typed is gone, and
        /// the journal is sound.
        #[test]
        fn what_is_stored_is_what_is_in_memory(events in prop::collection::vec(event(), 1..14)) {
            let before: String = (0..LINES).map(|line| format!("line {line}\n")).collect();
            let after: String = (0..LINES)
                .map(|line| if line % 3 == 1 { format!("LINE {line}\n") } else { format!("line {line}\n") })
                .collect();
            let ground = Ground::new(&[("a.txt", &before), ("b.txt", &before)]);
            let mut transaction =
                ground.propose(vec![Change::write("a.txt", after.clone()), Change::write("b.txt", after)]);
            for (round, event) in events.iter().enumerate() {
                let kept = [typed(&ground.read("a.txt").unwrap()), typed(&ground.read("b.txt").unwrap())];
                let waiting = pending(&transaction);
                let pick = |n: usize| waiting.get(n % waiting.len().max(1)).cloned();
                let part = |id| DecisionRequest { hunks: vec![(id, None)], ..Default::default() };
                match event {
                    Event::Accept(n) => {
                        if let Some(id) = pick(*n)
                            && let Err(error) = ground.accept_part(&mut transaction, &part(id), &mut [])
                        {
                            prop_assert_eq!(error.code(), "CONFLICT");
                        }
                    }
                    Event::Reject(n) => {
                        if let Some(id) = pick(*n) {
                            let selection = transaction.select(&part(id)).unwrap();
                            let record = transaction.refuse(&selection, Settlement::Rejected, None).unwrap();
                            ground.ws.transactions().append(&transaction, &[record], None).unwrap();
                        }
                    }
                    Event::Amend(n) => {
                        if let Some(id) = pick(*n) {
                            let record = transaction.amend(&id, &format!("amended {round}\n")).unwrap();
                            ground.ws.transactions().append(&transaction, &[record], None).unwrap();
                        }
                    }
                    Event::UserEdits(line) => {
                        let text = ground.read("a.txt").unwrap();
                        let at = *line % text.lines().count();
                        let lines: String = text
                            .lines()
                            .enumerate()
                            .map(|(n, line)| if n == at && !line.starts_with("typed") {
                                format!("{line}\ntyped {round}\n")
                            } else {
                                format!("{line}\n")
                            })
                            .collect();
                        ground.write("a.txt", &lines);
                    }
                    Event::Undo | Event::Redo => {
                        let action = if matches!(event, Event::Undo) { Action::Undo } else { Action::Redo };
                        match ground.undo(None, action) {
                            Ok(committed) => {
                                for (_, record) in &committed.concerns {
                                    transaction.apply(record);
                                }
                            }
                            Err(Refused::Undo(error)) => {
                                prop_assert!(["CONFLICT", "NOTHING_PENDING"].contains(&error.code()), "{error}");
                            }
                            Err(Refused::Commit(error)) => prop_assert_eq!(error.code(), "CONFLICT"),
                        }
                    }
                }
                follow(&ground, &mut transaction);
                let mut loaded = ground.ws.transactions().load(transaction.id()).unwrap().unwrap();
                follow(&ground, &mut loaded);
                prop_assert_eq!(standings(&loaded), standings(&transaction), "after {:?}", event);
                for (path, kept) in ["a.txt", "b.txt"].into_iter().zip(kept) {
                    let now = typed(&ground.read(path).unwrap());
                    prop_assert!(kept.iter().all(|line| now.contains(line)), "after {event:?}: {now:?}");
                }
            }
            prop_assert!(ground.ws.journal().verify().unwrap().is_sound());
        }
    }
}
