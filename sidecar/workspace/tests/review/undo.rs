//! Undo and redo, with nobody in the way.

use crate::*;

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

    ground
        .undo(Some(transaction.id()), Direction::Undo)
        .unwrap();
    assert_eq!(ground.tree(), before);
    ground
        .undo(Some(transaction.id()), Direction::Redo)
        .unwrap();
    assert_eq!(ground.tree(), after);
    ground.undo(None, Direction::Undo).unwrap();
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
    ground.undo(None, Direction::Undo).unwrap();
    assert_eq!(ground.read("app.py").unwrap(), "v1\nmore\nend, by hand\n");
    assert_eq!(ground.read("gen.py"), None);
    assert_eq!(ground.read("results.csv").unwrap(), "1,2\n");
    assert_eq!(ground.read("data.csv").unwrap(), "mine\n");
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
    let committed = ground.undo(None, Direction::Undo).unwrap();
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
    ground.undo(None, Direction::Undo).unwrap();
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
    ground.undo_with(None, Direction::Undo, &mut open).unwrap();
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
    ground.undo(None, Direction::Undo).unwrap();
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
