//! Commits that open documents take part in.

use crate::*;

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
