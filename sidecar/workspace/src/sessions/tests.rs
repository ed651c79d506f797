//! Sessions survive what can happen to a file that is being appended.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

struct Home {
    temp: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            temp: tempfile::tempdir().unwrap(),
        }
    }

    fn sessions(&self) -> Sessions {
        PrivateStore::new(self.temp.path().join("redline")).sessions("redline", "ws_1")
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.temp
            .path()
            .join("redline/agents/redline/workspaces/ws_1")
            .join(name)
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder("sessions").join(format!("{id}.ndjson"))
    }
}

fn summary(id: &str, updated_at: u64) -> SessionSummary {
    SessionSummary {
        id: id.to_owned(),
        title: Some(format!("about {id}")),
        model: "local/m".to_owned(),
        mode: "manual".to_owned(),
        created_at: 1,
        updated_at,
        turns: 0,
    }
}

fn make(home: &Home, id: &str, records: &[Value]) {
    let log = home.sessions().create(summary(id, 1)).unwrap();
    log.append(records, false).unwrap();
}

fn ids(list: &[SessionSummary]) -> Vec<&str> {
    list.iter().map(|summary| summary.id.as_str()).collect()
}

#[test]
fn what_was_appended_is_read_again_in_order() {
    let home = Home::new();
    let log = home.sessions().create(summary("se_1", 5)).unwrap();
    assert!(!home.file("se_1").exists(), "no prompt, no file");
    log.append(&[json!({"a": 1}), json!("two")], true).unwrap();
    log.update(|summary| summary.turns = 1).unwrap();
    log.append(&[json!(null)], false).unwrap();

    let expected = vec![json!({"a": 1}), json!("two"), json!(null)];
    let read: Loaded<Value> = home.sessions().read("se_1").unwrap();
    assert_eq!(read.records, expected);
    assert_eq!(read.summary.turns, 1);
    assert_eq!(read.repaired, None);
    drop(log);
    let (log, opened) = home.sessions().open::<Value>("se_1").unwrap();
    assert_eq!(opened, read);
    log.append(&[json!(4)], false).unwrap();
    let read: Loaded<Value> = home.sessions().read("se_1").unwrap();
    assert_eq!(read.records.len(), 4);
}

#[test]
fn the_files_are_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    make(&home, "se_1", &[json!(1)]);
    for path in [home.file("se_1"), home.folder("sessions").join("index")] {
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn one_process_writes_and_anybody_reads() {
    let home = Home::new();
    let log = home.sessions().create(summary("se_1", 1)).unwrap();
    log.append(&[json!(1)], false).unwrap();
    let busy = home.sessions().open::<Value>("se_1").unwrap_err();
    assert!(matches!(busy, SessionError::Busy { .. }), "{busy}");
    assert_eq!(
        home.sessions().read::<Value>("se_1").unwrap().records.len(),
        1
    );
    drop(log);
    home.sessions().open::<Value>("se_1").unwrap();
}

#[test]
fn a_kill_at_any_byte_of_an_append_loses_no_earlier_record() {
    let home = Home::new();
    make(
        &home,
        "se_1",
        &[json!({"text": "first"}), json!({"text": "é\n"})],
    );
    let whole = std::fs::read(home.file("se_1")).unwrap();
    let kept = whole.len();
    let (log, _) = home.sessions().open::<Value>("se_1").unwrap();
    log.append(
        &[json!({"text": "third"}), json!({"text": "fourth"})],
        false,
    )
    .unwrap();
    drop(log);
    let longer = std::fs::read(home.file("se_1")).unwrap();
    for end in kept..=longer.len() {
        std::fs::write(home.file("se_1"), &longer[..end]).unwrap();
        let (log, loaded) = home.sessions().open::<Value>("se_1").unwrap();
        let whole_lines = longer[..end].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(loaded.records.len(), whole_lines - 1, "cut at {end}");
        assert_eq!(
            loaded.records[..2],
            [json!({"text": "first"}), json!({"text": "é\n"})]
        );
        assert_eq!(
            loaded.repaired.is_some(),
            longer[end - 1] != b'\n',
            "cut at {end}"
        );
        log.append(&[json!("after")], false).unwrap();
        drop(log);
        let again: Loaded<Value> = home.sessions().read("se_1").unwrap();
        assert_eq!(again.records.last(), Some(&json!("after")));
        assert_eq!(again.records.len(), whole_lines);
        assert_eq!(again.repaired, None);
    }
}

#[test]
fn damage_is_set_aside_and_said() {
    let home = Home::new();
    make(&home, "se_1", &[json!("one"), json!("two"), json!("three")]);
    let mut bytes = std::fs::read(home.file("se_1")).unwrap();
    let at = memchr::memmem::find(&bytes, b"two").unwrap();
    bytes[at] = b'T';
    std::fs::write(home.file("se_1"), &bytes).unwrap();
    let (_log, loaded) = home.sessions().open::<Value>("se_1").unwrap();
    assert_eq!(loaded.records, [json!("one")]);
    assert!(loaded.repaired.unwrap().contains("set aside from line 3"));
    let aside: Vec<_> = std::fs::read_dir(home.folder("sessions"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "corrupt"))
        .collect();
    assert_eq!(aside.len(), 1);
    let kept = std::fs::read_to_string(&aside[0]).unwrap();
    assert!(kept.contains("Two") && kept.contains("three"), "{kept}");
}

#[test]
fn a_record_of_another_version_is_an_error_that_changes_nothing() {
    let home = Home::new();
    make(&home, "se_1", &[json!({"new": true})]);
    let before = std::fs::read(home.file("se_1")).unwrap();
    let error = home.sessions().open::<u64>("se_1").unwrap_err();
    assert!(
        matches!(error, SessionError::Format { line: 2, .. }),
        "{error}"
    );
    assert_eq!(std::fs::read(home.file("se_1")).unwrap(), before);
}

#[test]
fn the_list_has_the_one_used_last_first_and_does_without_the_index() {
    let home = Home::new();
    for (id, at) in [("se_a", 10), ("se_b", 30), ("se_c", 20)] {
        let log = home.sessions().create(summary(id, at)).unwrap();
        log.append(&[json!(1)], false).unwrap();
    }
    let sessions = home.sessions();
    let list = sessions.list(false).unwrap();
    assert_eq!(ids(&list), ["se_b", "se_c", "se_a"]);
    std::fs::remove_file(home.folder("sessions").join("index")).unwrap();
    assert_eq!(sessions.list(false).unwrap(), list);
    // A torn index line of a process that died hides nothing either.
    std::fs::write(home.folder("sessions").join("index"), "0123").unwrap();
    assert_eq!(sessions.list(false).unwrap(), list);
    std::fs::remove_file(home.file("se_c")).unwrap();
    assert_eq!(ids(&sessions.list(false).unwrap()), ["se_b", "se_a"]);
}

#[test]
fn the_index_does_not_grow_without_end() {
    let home = Home::new();
    let log = home.sessions().create(summary("se_1", 1)).unwrap();
    log.append(&[json!(1)], false).unwrap();
    for turn in 0..2000 {
        log.update(|summary| {
            summary.turns = turn;
            summary.title = Some("t".repeat(200));
        })
        .unwrap();
    }
    let index = home.folder("sessions").join("index");
    assert!(std::fs::metadata(&index).unwrap().len() > 300_000);
    assert_eq!(home.sessions().list(false).unwrap()[0].turns, 1999);
    assert!(std::fs::metadata(&index).unwrap().len() < 1000);
    log.update(|summary| summary.turns = 7).unwrap();
    assert_eq!(home.sessions().list(false).unwrap()[0].turns, 7);
}

#[test]
fn put_away_is_out_of_the_list_and_comes_back() {
    let home = Home::new();
    make(&home, "se_1", &[json!(1)]);
    make(&home, "se_2", &[json!(2)]);
    let sessions = home.sessions();
    sessions.archive("se_1", true).unwrap();
    assert_eq!(ids(&sessions.list(false).unwrap()), ["se_2"]);
    assert_eq!(ids(&sessions.list(true).unwrap()), ["se_1"]);
    assert!(sessions.is_archived("se_1").unwrap());
    assert_eq!(sessions.read::<Value>("se_1").unwrap().records, [json!(1)]);
    sessions.archive("se_1", false).unwrap();
    assert_eq!(sessions.list(false).unwrap().len(), 2);
    assert_eq!(sessions.list(true).unwrap(), []);
}

#[test]
fn ids_cannot_climb() {
    let home = Home::new();
    for bad in ["", "se_", "../se_1", "se_/x", "se_..", "tx_1", "se_1\0"] {
        assert!(home.sessions().read::<Value>(bad).is_err(), "{bad:?}");
        assert!(home.sessions().create(summary(bad, 1)).is_err(), "{bad:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever stands in the file: an answer, and never more records than were written.
    #[test]
    fn any_bytes_are_survived(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
        let home = Home::new();
        make(&home, "se_1", &[json!("one")]);
        let mut bytes = std::fs::read(home.file("se_1")).unwrap();
        bytes.extend(&tail);
        std::fs::write(home.file("se_1"), &bytes).unwrap();
        let (_log, loaded) = home.sessions().open::<Value>("se_1").unwrap();
        prop_assert_eq!(loaded.records, vec![json!("one")]);
        prop_assert_eq!(loaded.repaired.is_some(), !tail.is_empty());
    }
}
