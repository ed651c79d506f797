//! What listing and resuming sessions cost, beside what the system and the JSON library cost for the same.
//!
//! Run with `cargo bench -p redline-workspace --bench sessions`. A list grows with the number of sessions, a
//! resume with the session's bytes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs
)]

use divan::Bencher;
use redline_workspace::{PrivateStore, SessionSummary, Sessions};
use serde_json::{Value, json};

const SESSIONS: usize = 10_000;
const EVENTS: usize = 10_000;

fn main() {
    divan::main();
}

struct Home {
    _temp: tempfile::TempDir,
    sessions: Sessions,
    folder: std::path::PathBuf,
}

fn home() -> Home {
    let temp = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let private = PrivateStore::new(temp.path().join("redline"));
    Home {
        sessions: private.sessions("redline", "ws_1"),
        folder: private.folder_of("redline", "ws_1", "sessions").unwrap(),
        _temp: temp,
    }
}

fn summary(number: usize) -> SessionSummary {
    SessionSummary {
        id: format!("se_01J{number:023}"),
        title: Some(format!("Make the parser of part {number} iterative")),
        model: "anthropic/claude-sonnet".to_owned(),
        mode: "manual".to_owned(),
        created_at: 1_700_000_000,
        updated_at: 1_700_000_000 + number as u64,
        turns: 3,
    }
}

fn many() -> Home {
    let home = home();
    for number in 0..SESSIONS {
        let log = home.sessions.create(summary(number)).unwrap();
        log.append(&[json!("a record")], false).unwrap();
    }
    home
}

fn long() -> Home {
    let home = home();
    let log = home.sessions.create(summary(0)).unwrap();
    let events: Vec<Value> = (0..EVENTS)
        .map(|seq| json!({"turn_id": "turn_1", "seq": seq, "event": "text", "text": "a piece of the answer ".repeat(8)}))
        .collect();
    log.append(&events, false).unwrap();
    home
}

#[divan::bench(sample_count = 20)]
fn list_10000_sessions(bencher: Bencher) {
    let home = many();
    bencher.bench(|| assert_eq!(home.sessions.list(false).unwrap().len(), SESSIONS));
}

/// The reference: the names and times of the same files, as `ls -l` reads them.
#[divan::bench(sample_count = 20)]
fn reference_ls_l_10000_files(bencher: Bencher) {
    let home = many();
    bencher.bench(|| {
        let entries = std::fs::read_dir(&home.folder).unwrap();
        let times = entries.map(|entry| entry.unwrap().metadata().unwrap().modified().unwrap());
        assert!(times.count() > SESSIONS);
    });
}

#[divan::bench(sample_count = 20)]
fn resume_10000_events(bencher: Bencher) {
    let home = long();
    bencher.bench(|| {
        let (_, loaded) = home.sessions.open::<Value>(&summary(0).id).unwrap();
        assert_eq!(loaded.records.len(), EVENTS);
    });
}

/// The reference: the same bytes by `serde_json` alone, unchecked.
#[divan::bench(sample_count = 20)]
fn reference_serde_json_10000_values(bencher: Bencher) {
    let home = long();
    let file = home.folder.join(format!("{}.ndjson", summary(0).id));
    bencher.bench(|| {
        let text = std::fs::read_to_string(&file).unwrap();
        let values = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(&line[17..]).unwrap());
        assert!(values.count() > EVENTS);
    });
}
