//! The journal under damage, rotation and several processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use std::time::Duration;

use proptest::prelude::*;
use rustix::io::Errno;
use serde_json::json;

use super::*;
use crate::effect::Effect;
use crate::testing::{Scratch, child};

const ON_DISK: &str = ".agentic/journal.ndjson";

fn journal(scratch: &Scratch) -> Journal {
    Journal::new(
        scratch.store(),
        Arc::new(|| 1_700_000_000_000),
        JournalOptions::default(),
    )
}

fn small(scratch: &Scratch) -> Journal {
    let options = JournalOptions {
        rotate_at: 600,
        kept: 3,
    };
    Journal::new(scratch.store(), Arc::new(|| 1_700_000_000_000), options)
}

fn append(scratch: &Scratch, journal: &Journal, kind: &str) -> u64 {
    let lock = scratch
        .store()
        .lock(Duration::from_secs(60), "test")
        .unwrap();
    journal.append(&lock, kind, &json!({ "of": kind })).unwrap()
}

fn kinds(records: &[Record]) -> Vec<&str> {
    records.iter().map(|record| record.kind.as_str()).collect()
}

fn findings(journal: &Journal) -> Vec<String> {
    journal
        .verify()
        .unwrap()
        .findings
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn what_was_appended_is_read_in_order() {
    let scratch = Scratch::new(&[]);
    let journal = journal(&scratch);
    assert_eq!(journal.last_seq().unwrap(), 0);
    assert!(journal.changed_since(0).unwrap().is_empty());
    assert_eq!(journal.verify().unwrap(), Report::default());
    assert!(
        !scratch.on_disk(".agentic").exists(),
        "looking makes nothing"
    );

    let first = append(&scratch, &journal, "prepared");
    let second = append(&scratch, &journal, "committed");
    assert_eq!((first, second), (2, 3), "1 is the header");
    let records = journal.changed_since(0).unwrap();
    assert_eq!(kinds(&records), ["prepared", "committed"]);
    assert_eq!(records[0].data, json!({ "of": "prepared" }));
    assert_eq!(records[0].at, 1_700_000_000_000);
    assert_eq!(kinds(&journal.changed_since(2).unwrap()), ["committed"]);
    assert!(journal.changed_since(3).unwrap().is_empty());
    assert_eq!(journal.last_seq().unwrap(), 3);
    let report = journal.verify().unwrap();
    assert!(report.is_sound() && report.records == 3, "{report:?}");
}

#[test]
fn every_changed_byte_is_found_at_its_line() {
    let scratch = Scratch::new(&[]);
    let journal = journal(&scratch);
    for kind in ["one", "two", "three"] {
        append(&scratch, &journal, kind);
    }
    let good = std::fs::read(scratch.on_disk(ON_DISK)).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        std::fs::write(scratch.on_disk(ON_DISK), &bad).unwrap();
        let line = 1 + good[..at].iter().filter(|&&byte| byte == b'\n').count();
        let report = journal.verify().unwrap();
        let first = report
            .findings
            .first()
            .unwrap_or_else(|| panic!("byte {at} was changed unseen"));
        assert!(
            first.line == line || (good[at] == b'\n' && first.line <= line),
            "byte {at}: {report:?}"
        );
    }
    let lines: Vec<&[u8]> = good.split_inclusive(|&byte| byte == b'\n').collect();
    type Row<'a> = (&'a str, Vec<&'a [u8]>, &'a [&'a str]);
    let rows: [Row<'_>; 4] = [
        (
            "a line is missing",
            vec![lines[0], lines[1], lines[3]],
            &["its number is 4, not 3", "its sum is wrong"],
        ),
        (
            "two are swapped",
            vec![lines[0], lines[2], lines[1], lines[3]],
            &["its number is 3, not 2"],
        ),
        (
            "one stands twice",
            vec![lines[0], lines[1], lines[1], lines[2]],
            &["its number is 2, not 3"],
        ),
        (
            "no header",
            vec![lines[1], lines[2]],
            &["not the journal's header"],
        ),
    ];
    for (what, lines, expected) in rows {
        std::fs::write(scratch.on_disk(ON_DISK), lines.concat()).unwrap();
        let found = findings(&journal);
        for expected in expected {
            assert!(
                found.iter().any(|found| found.contains(expected)),
                "{what}: {found:?}"
            );
        }
    }
}

#[test]
fn a_torn_last_line_is_cut_off_and_told() {
    let scratch = Scratch::new(&[]);
    let whole = {
        let journal = journal(&scratch);
        append(&scratch, &journal, "one");
        let before = std::fs::read(scratch.on_disk(ON_DISK)).unwrap();
        append(&scratch, &journal, "two");
        (before, std::fs::read(scratch.on_disk(ON_DISK)).unwrap())
    };
    for cut in whole.0.len() + 1..whole.1.len() {
        std::fs::write(scratch.on_disk(ON_DISK), &whole.1[..cut]).unwrap();
        // A new process.
        let journal = journal(&scratch);
        assert_eq!(kinds(&journal.changed_since(0).unwrap()), ["one"]);
        assert!(journal.verify().unwrap().is_sound());
        assert_eq!(
            findings(&journal),
            ["journal.ndjson:3: the last line is torn"]
        );
        assert_eq!(append(&scratch, &journal, "three"), 3);
        assert_eq!(journal.take_repairs().len(), 1);
        assert_eq!(kinds(&journal.changed_since(0).unwrap()), ["one", "three"]);
        assert_eq!(findings(&journal), Vec::<String>::new());
    }
}

#[test]
fn a_damaged_journal_is_set_aside_and_the_numbers_go_on() {
    let scratch = Scratch::new(&[]);
    for kind in ["one", "two", "three"] {
        append(&scratch, &journal(&scratch), kind);
    }
    let mut bytes = std::fs::read(scratch.on_disk(ON_DISK)).unwrap();
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(scratch.on_disk(ON_DISK), &bytes).unwrap();
    let journal = journal(&scratch);
    assert_eq!(
        append(&scratch, &journal, "four"),
        6,
        "after 4, which the last sound line claims, and a header"
    );
    assert_eq!(
        std::fs::read(scratch.on_disk(".agentic/journal.ndjson.corrupt")).unwrap(),
        bytes
    );
    assert!(
        journal
            .take_repairs()
            .iter()
            .any(|repair| repair.problem == "set aside")
    );
    assert_eq!(kinds(&journal.changed_since(4).unwrap()), ["four"]);
    assert_eq!(findings(&journal), ["journal.ndjson.corrupt: set aside"]);
    for garbage in [&b""[..], b"\n", b"\0\0\0\0", b"{}\n", &[0xff; 4096]] {
        std::fs::write(scratch.on_disk(ON_DISK), garbage).unwrap();
        append(&scratch, &super::tests::journal(&scratch), "again");
        assert_eq!(kinds(&journal.changed_since(0).unwrap()), ["again"]);
    }
}

#[test]
fn rotation_keeps_the_chain_and_followers_miss_nothing() {
    let scratch = Scratch::new(&[]);
    let writer = small(&scratch);
    let mut follower = small(&scratch).follow(0);
    let mut seldom = small(&scratch).follow(0);
    let mut seen = Vec::new();
    for number in 0..40 {
        append(&scratch, &writer, &format!("k{number}"));
        seen.extend(follower.poll().unwrap());
        if number == 5 {
            assert_eq!(seldom.poll().unwrap().len(), 6);
        }
        if number == 9 {
            assert_eq!(seldom.poll().unwrap().len(), 4, "across a rotation");
        }
    }
    assert_eq!(seen.len(), 40);
    assert!(seen.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    let files = std::fs::read_dir(scratch.on_disk(".agentic"))
        .unwrap()
        .flatten();
    let rotated = files
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("journal.0"))
        .count();
    assert_eq!(rotated, 3, "older ones go");
    let report = writer.verify().unwrap();
    assert!(
        report.findings.is_empty() && report.files == 4,
        "{report:?}"
    );
    assert_eq!(
        append(&scratch, &small(&scratch), "last"),
        writer.last_seq().unwrap()
    );
}

#[test]
fn a_rotation_cut_short_goes_on() {
    let scratch = Scratch::new(&[]);
    let journal = small(&scratch);
    while std::fs::metadata(scratch.on_disk(ON_DISK)).map_or(0, |file| file.len()) < 600 {
        append(&scratch, &journal, "x");
    }
    let last = journal.last_seq().unwrap();
    for effect in [Effect::Write, Effect::Fsync, Effect::Rename] {
        scratch
            .faults
            .fail(effect, ON_DISK, 1, Errno::NOSPC.raw_os_error());
        let lock = scratch.store().lock(Duration::ZERO, "test").unwrap();
        assert_eq!(
            journal.append(&lock, "y", &json!({})).unwrap_err().code(),
            "IO"
        );
        assert_eq!(
            journal.verify().unwrap().findings,
            [],
            "the current file has two names now"
        );
    }
    assert_eq!(append(&scratch, &journal, "y"), last + 2);
    assert_eq!(journal.verify().unwrap().findings, []);
}

#[test]
fn a_failed_append_leaves_no_trace() {
    let scratch = Scratch::new(&[]);
    let journal = journal(&scratch);
    append(&scratch, &journal, "one");
    let before = std::fs::read(scratch.on_disk(ON_DISK)).unwrap();
    for effect in [Effect::Write, Effect::Fsync] {
        scratch
            .faults
            .fail(effect, ON_DISK, 1, Errno::NOSPC.raw_os_error());
        let lock = scratch.store().lock(Duration::ZERO, "test").unwrap();
        assert_eq!(
            journal.append(&lock, "two", &json!({})).unwrap_err().code(),
            "IO"
        );
        assert_eq!(std::fs::read(scratch.on_disk(ON_DISK)).unwrap(), before);
    }
    assert_eq!(append(&scratch, &journal, "two"), 3);
}

#[test]
fn processes_share_one_journal() {
    let scratch = Scratch::new(&[]);
    scratch.store().ensure().unwrap();
    let mut children: Vec<_> = (0..4)
        .map(|_| child("journal::tests::child_appends", &scratch))
        .collect();
    let mut follower = small(&scratch).follow(0);
    let mut seen = Vec::new();
    while children
        .iter_mut()
        .any(|child| child.try_wait().unwrap().is_none())
    {
        seen.extend(follower.poll().unwrap());
        std::thread::yield_now();
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    seen.extend(follower.poll().unwrap());
    assert!(seen.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    let report = small(&scratch).verify().unwrap();
    assert_eq!(report.findings, []);
    // Every process's own records are there, in its order.
    let mut by_process = std::collections::BTreeMap::<u64, Vec<u64>>::new();
    for record in &seen {
        by_process
            .entry(record.data["process"].as_u64().unwrap())
            .or_default()
            .push(record.data["n"].as_u64().unwrap());
    }
    assert_eq!(by_process.len(), 4);
    assert!(
        by_process
            .values()
            .all(|numbers| *numbers == (0..25).collect::<Vec<_>>()),
        "{by_process:?}"
    );
}

/// Run in processes of its own by the test above.
#[test]
fn child_appends() {
    let Some(scratch) = Scratch::of_parent() else {
        return;
    };
    let options = JournalOptions {
        rotate_at: 2000,
        kept: 1000,
    };
    let journal = Journal::new(scratch.store(), Arc::new(|| 0), options);
    for n in 0..25 {
        let lock = scratch
            .store()
            .lock(Duration::from_secs(60), "child")
            .unwrap();
        journal
            .append(
                &lock,
                "child",
                &json!({ "process": std::process::id(), "n": n }),
            )
            .unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is in the file: it is read, checked and gone on with, and what was appended is there.
    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), keep in 0usize..400) {
        let scratch = Scratch::new(&[]);
        append(&scratch, &journal(&scratch), "one");
        let mut content = std::fs::read(scratch.on_disk(ON_DISK)).unwrap();
        content.truncate(keep);
        content.extend(bytes);
        std::fs::write(scratch.on_disk(ON_DISK), content).unwrap();
        let journal = journal(&scratch);
        journal.verify().unwrap();
        journal.changed_since(0).unwrap();
        let seq = append(&scratch, &journal, "two");
        let records = journal.changed_since(seq - 1).unwrap();
        prop_assert_eq!(kinds(&records), ["two"]);
    }
}
