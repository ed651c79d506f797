//! What the store keeps of a transaction.

use crate::*;

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
fn what_is_changed_after_a_conflict_was_proposed_again_can_be_loaded() {
    let ground = Ground::new(&[("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n")]);
    let mut transaction = ground.propose(vec![
        edit("a.txt", "2\n", "two\n"),
        edit("a.txt", "7\n", "seven\n"),
    ]);
    let ids: Vec<HunkId> = transaction
        .file("a.txt")
        .unwrap()
        .hunks
        .iter()
        .map(|hunk| hunk.id.clone())
        .collect();
    let typed = |transaction: &mut redline_workspace::Transaction, text: &str| {
        ground.write("a.txt", text);
        let text = ropey::Rope::from_str(text);
        transaction.file_mut("a.txt").unwrap().reanchor(&text);
    };
    let stored = |transaction: &redline_workspace::Transaction, record| {
        let transactions = ground.ws.transactions();
        transactions.append(transaction, &[record], None).unwrap()
    };
    typed(&mut transaction, "0\n1\nmine\n3\n4\n5\n6\n7\n8\n");
    let record = transaction.propose_again(&ids[0]).unwrap();
    stored(&transaction, record);
    typed(&mut transaction, "00\n0\n1\nmine\n3\n4\n5\n6\n7\n8\n");
    let record = transaction.amend(&ids[1], "SEVEN\n").unwrap();
    stored(&transaction, record);

    let loaded = ground.ws.transactions().load(transaction.id());
    let mut loaded = loaded.unwrap().unwrap();
    let text = ropey::Rope::from_str(&ground.read("a.txt").unwrap());
    loaded.file_mut("a.txt").unwrap().reanchor(&text);
    assert_eq!(standings(&loaded), standings(&transaction));
    ground.accept(&mut loaded).unwrap();
    assert_eq!(
        ground.read("a.txt").unwrap(),
        "00\n0\n1\ntwo\n3\n4\n5\n6\nSEVEN\n8\n"
    );
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
