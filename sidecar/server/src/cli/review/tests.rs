//! The review's dialogue against a scripted sidecar.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::{
    cli::render::tests::{file, hunk, transaction},
    connect::{Link, ServedBy},
    wire::{FrameSource, write_frame},
};
use redline_protocol::v1::{HunkState, OperationKind};
use serde_json::Value;
use std::{os::unix::net::UnixStream, thread};

/// A reviewer that types `input`, before a sidecar that gives `answers` in order. Gives what was
/// printed, and what was asked of the sidecar after `initialize`.
fn reviewed(input: &str, json: bool, answers: Vec<Value>) -> (String, Vec<(String, Value)>, i32) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let sidecar = thread::spawn(move || serve(theirs, answers));
    let link = Link::new(ours, ServedBy::InProcess);
    let client = Client::over(link, PathBuf::from("/nowhere"), false).unwrap();
    let mut terminal = Terminal::of_test(json, input);
    let renderer = Renderer {
        paint: terminal.paint,
        width: 80,
    };
    let code = review(
        &mut terminal,
        renderer,
        client,
        Surroundings {
            root: PathBuf::from("/nowhere"),
            editing: Arc::default(),
        },
        None,
    )
    .unwrap();
    (terminal.printed().to_owned(), sidecar.join().unwrap(), code)
}

fn serve(mut stream: UnixStream, answers: Vec<Value>) -> Vec<(String, Value)> {
    let mut frames = FrameSource::new(stream.try_clone().unwrap());
    let mut answers = answers.into_iter();
    let mut asked = Vec::new();
    while let Ok(Some(Ok(body))) = frames.next_frame() {
        let message: Value = serde_json::from_slice(&body).unwrap();
        let method = message["method"].as_str().unwrap().to_owned();
        if message["id"].is_null() {
            continue;
        }
        let mut reply = match method.as_str() {
            "initialize" => json!({"result": {"capabilities": {}}}),
            _ => {
                asked.push((method, message["params"].clone()));
                answers.next().expect("an answer for each question")
            }
        };
        reply["jsonrpc"] = json!("2.0");
        reply["id"] = message["id"].clone();
        write_frame(&mut stream, reply.to_string().as_bytes()).unwrap();
    }
    asked
}

fn two_hunks() -> Transaction {
    let mut second = hunk("h2", 5);
    second.index = 2;
    transaction(vec![file(
        "a",
        OperationKind::Edit,
        vec![hunk("h1", 1), second],
    )])
}

fn status(transaction: &Transaction) -> Value {
    json!({"result": {
        "version": "0", "workspace": "/nowhere", "mode": "manual", "model": "m", "inProcess": false,
        "transactions": [transaction], "approvals": [], "recovery": [],
    }})
}

fn decided(transaction: &Transaction, action: &str, hunks: &[&str]) -> Value {
    let hunks: Vec<Value> = hunks
        .iter()
        .map(|id| json!({"id": id, "revision": 1}))
        .collect();
    json!({"result": {"transaction": transaction, "left": 0, "receipt": {
        "id": "rc_1", "transactionId": "tx_1", "action": action, "decidedBy": "redline-cli",
        "decidedAt": 0, "hunks": hunks, "written": ["a"], "unsaved": [],
    }}})
}

fn ids(params: &Value) -> Vec<&str> {
    let hunks = params["hunks"].as_array().unwrap();
    hunks
        .iter()
        .map(|hunk| hunk["id"].as_str().unwrap())
        .collect()
}

#[test]
fn each_choice_is_carried_out_once_and_together() {
    let transaction = two_hunks();
    let answers = vec![
        status(&transaction),
        decided(&transaction, "accept", &["h1"]),
        decided(&transaction, "reject", &["h2"]),
    ];
    let (printed, asked, code) = reviewed("y\nn\n", false, answers);
    assert_eq!(code, exit::DONE);
    assert_eq!(asked[1].0, method::TRANSACTION_ACCEPT);
    assert_eq!(ids(&asked[1].1), ["h1"]);
    assert_eq!(asked[1].1["hunks"][0]["revision"], 1);
    assert_eq!(asked[2].0, method::TRANSACTION_REJECT);
    assert_eq!(ids(&asked[2].1), ["h2"]);
    assert!(
        printed.contains("(1/2) Accept this hunk [y,n,s,e,a,d,p,q,j,k,?]? y\n"),
        "{printed}"
    );
    assert!(printed.contains("receipt rc_1"), "{printed}");
}

#[test]
fn the_end_of_input_keeps_what_was_decided_and_leaves_the_rest() {
    let transaction = two_hunks();
    let answers = vec![
        status(&transaction),
        decided(&transaction, "accept", &["h1"]),
    ];
    let (_, asked, _) = reviewed("y\n", false, answers);
    assert_eq!(asked.len(), 2);
    assert_eq!(ids(&asked[1].1), ["h1"]);
    let (_, asked, _) = reviewed("j\nk\nq\n", false, vec![status(&transaction)]);
    assert_eq!(
        asked.len(),
        1,
        "nothing was decided, so nothing is carried out"
    );
}

#[test]
fn a_split_is_walked_in_its_parts() {
    let transaction = two_hunks();
    let mut split = two_hunks();
    split.revision += 1;
    split.files[0].hunks[0].revision += 1;
    split.files[0].hunks.insert(1, hunk("h3", 2));
    let answers = vec![
        status(&transaction),
        json!({"result": split}),
        decided(&split, "accept", &["h3"]),
        decided(&split, "reject", &["h1"]),
    ];
    let (printed, asked, _) = reviewed("s\nn\ny\nq\n", false, answers);
    assert!(printed.contains("split into 2 hunks"), "{printed}");
    assert_eq!(asked[1].1["hunk"], json!({"id": "h1", "revision": 1}));
    assert_eq!(ids(&asked[2].1), ["h3"]);
    assert_eq!(asked[3].1["hunks"][0], json!({"id": "h1", "revision": 2}));
}

#[test]
fn what_moved_under_the_reviewer_is_shown_again() {
    let transaction = two_hunks();
    let mut moved = two_hunks();
    moved.files[0].hunks[0].state = HunkState::Accepted;
    moved.files[0].hunks[1].revision = 2;
    let stale = json!({"error": {"code": -32801, "message": "h2 has changed",
        "data": {"code": "STALE_HUNK", "hint": "look again", "exit": 1}}});
    let answers = vec![
        status(&transaction),
        stale,
        json!({"result": moved}),
        decided(&moved, "accept", &["h2"]),
    ];
    let (printed, asked, code) = reviewed("j\ny\ny\n", false, answers);
    assert_eq!(code, exit::DONE);
    assert!(
        printed.contains("! STALE_HUNK: h2 has changed"),
        "{printed}"
    );
    assert_eq!(asked[3].1["hunks"][0], json!({"id": "h2", "revision": 2}));
}

#[test]
fn a_conflict_offers_no_acceptance() {
    let mut transaction = two_hunks();
    transaction.files[0].hunks.pop();
    transaction.files[0].hunks[0].state = HunkState::Conflict;
    let answers = vec![
        status(&transaction),
        decided(&transaction, "withdraw", &["h1"]),
    ];
    let (printed, asked, _) = reviewed("y\nw\n", false, answers);
    assert!(
        printed.contains("w - keep mine"),
        "a y is answered with help: {printed}"
    );
    assert_eq!(asked[1].1["withdraw"], true);
}

#[test]
fn a_conflict_is_proposed_again_and_then_decided() {
    let mut transaction = two_hunks();
    transaction.files[0].hunks.pop();
    let mut again = transaction.clone();
    again.files[0].hunks[0].revision = 2;
    let conflicting = &mut transaction.files[0].hunks[0];
    conflicting.state = HunkState::Conflict;
    conflicting.conflict = Some(redline_protocol::v1::Conflict {
        reason: "line 1 changed".to_owned(),
        base: vec!["was".to_owned()],
        current: vec!["is".to_owned()],
        proposed: vec!["is to be".to_owned()],
    });
    let answers = vec![
        status(&transaction),
        json!({"result": again}),
        decided(&again, "accept", &["h1"]),
    ];
    let (printed, asked, _) = reviewed("r\ny\n", false, answers);
    assert!(printed.contains(CONFLICT_CHOICES), "{printed}");
    assert_eq!(asked[1].0, method::TRANSACTION_REPROPOSE);
    assert_eq!(asked[1].1["hunk"], json!({"id": "h1", "revision": 1}));
    assert_eq!(asked[2].0, method::TRANSACTION_ACCEPT);
    assert_eq!(asked[2].1["hunks"][0], json!({"id": "h1", "revision": 2}));
}

#[test]
fn json_is_one_object_of_what_was_decided() {
    let transaction = two_hunks();
    let answers = vec![
        status(&transaction),
        decided(&transaction, "accept", &["h1", "h2"]),
    ];
    let (printed, ..) = reviewed("A\n", true, answers);
    let object = printed.lines().last().unwrap();
    let object: Value = serde_json::from_str(object).unwrap();
    assert_eq!(object["decided"][0]["receipt"]["id"], "rc_1");
    assert_eq!(object["decided"][0]["transaction"], "tx_1");
}

#[test]
fn nothing_pending_is_said() {
    let mut transaction = two_hunks();
    for hunk in &mut transaction.files[0].hunks {
        hunk.state = HunkState::Accepted;
    }
    transaction.files[0].state = HunkState::Accepted;
    let (printed, ..) = reviewed("", false, vec![status(&transaction)]);
    assert_eq!(printed, "nothing waits for a decision\n");
}
