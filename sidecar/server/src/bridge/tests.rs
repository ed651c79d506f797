//! The bridge between a scripted editor and scripted sidecars.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::connect::ServedBy;
use serde_json::{Value, json};
use std::sync::mpsc;

/// The far end of one connection, played by the test.
struct Peer {
    stream: UnixStream,
    frames: FrameSource<UnixStream>,
}

impl Peer {
    fn new(stream: UnixStream) -> Self {
        let frames = FrameSource::new(stream.try_clone().unwrap());
        Self { stream, frames }
    }

    fn read(&mut self) -> Value {
        let body = self.frames.next_frame().unwrap().expect("a frame").unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    fn say(&mut self, message: Value) {
        write_frame(&mut self.stream, message.to_string().as_bytes()).unwrap();
    }
}

/// An editor, a bridge, and a sidecar for each connection that the bridge opens.
struct Rig {
    editor: Peer,
    sidecars: mpsc::Receiver<Peer>,
    code: mpsc::Receiver<i32>,
}

fn rig() -> Rig {
    let (editor, bridge_end) = UnixStream::pair().unwrap();
    let (opened, sidecars) = mpsc::channel();
    let (ended, code) = mpsc::channel();
    let connector = move |_| {
        let (ours, theirs) = UnixStream::pair().unwrap();
        // The test is over when nobody takes it.
        let _ = opened.send(Peer::new(theirs));
        Ok(Link::new(ours, ServedBy::InProcess))
    };
    thread::spawn(move || {
        let out = bridge_end.try_clone().unwrap();
        let patience = Duration::from_secs(600);
        let code = bridge(Box::new(connector), bridge_end, out, |_| (), patience).unwrap();
        let _ = ended.send(code);
    });
    Rig {
        editor: Peer::new(editor),
        sidecars,
        code,
    }
}

fn initialize(rig: &mut Rig) -> Peer {
    let mut sidecar = rig.sidecars.recv().unwrap();
    rig.editor
        .say(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}));
    assert_eq!(sidecar.read()["method"], "initialize");
    sidecar.say(json!({"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {}}}));
    assert_eq!(rig.editor.read()["id"], 1);
    rig.editor
        .say(json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    assert_eq!(sidecar.read()["method"], "initialized");
    sidecar
}

fn open(uri: &str, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {
        "textDocument": {"uri": uri, "languageId": "rust", "version": 1, "text": text},
    }})
}

fn insert(uri: &str, version: i32, text: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
        "textDocument": {"uri": uri, "version": version},
        "contentChanges": [{
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
            "text": text,
        }],
    }})
}

#[test]
fn a_dead_sidecar_is_replaced_and_told_everything_the_editor_said() {
    let mut rig = rig();
    let mut sidecar = initialize(&mut rig);
    rig.editor.say(open("file:///a", "world"));
    rig.editor.say(insert("file:///a", 2, "hello "));
    sidecar.read();
    sidecar.read();
    rig.editor
        .say(json!({"jsonrpc": "2.0", "id": 2, "method": "redline/status", "params": {}}));
    sidecar.read();
    drop(sidecar);

    let failed = rig.editor.read();
    assert_eq!(failed["id"], 2);
    assert!(
        failed["error"]["message"]
            .as_str()
            .unwrap()
            .contains("ask again")
    );
    let mut sidecar = rig.sidecars.recv().unwrap();
    let replayed = sidecar.read();
    assert_eq!(replayed["method"], "initialize");
    // Said while the new one is still starting: must come after the replayed document.
    rig.editor.say(insert("file:///a", 3, "oh, "));
    sidecar.say(json!({"jsonrpc": "2.0", "id": replayed["id"], "result": {"capabilities": {}}}));
    assert_eq!(sidecar.read()["method"], "initialized");
    let document = &sidecar.read()["params"]["textDocument"];
    assert_eq!(document["text"], "hello world");
    assert_eq!(document["version"], 2);
    assert_eq!(sidecar.read()["params"]["textDocument"]["version"], 3);

    rig.editor
        .say(json!({"jsonrpc": "2.0", "id": 3, "method": "redline/status", "params": {}}));
    let asked = sidecar.read();
    sidecar.say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": "again"}));
    assert_eq!(rig.editor.read()["result"], "again");
}

#[test]
fn ends_with_the_input_and_says_whether_it_was_shut_down() {
    let mut rig1 = rig();
    let sidecar = initialize(&mut rig1);
    rig1.editor.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rig1.code.recv().unwrap(), 1);
    drop(sidecar);

    let mut rig2 = rig();
    let mut sidecar = initialize(&mut rig2);
    rig2.editor
        .say(json!({"jsonrpc": "2.0", "id": 9, "method": "shutdown"}));
    sidecar.read();
    sidecar.say(json!({"jsonrpc": "2.0", "id": 9, "result": null}));
    rig2.editor.read();
    rig2.editor.say(json!({"jsonrpc": "2.0", "method": "exit"}));
    assert_eq!(rig2.code.recv().unwrap(), 0);
}

#[test]
fn requests_are_still_answered_after_the_end_of_input() {
    let mut rig = rig();
    let mut sidecar = initialize(&mut rig);
    rig.editor
        .say(json!({"jsonrpc": "2.0", "id": 2, "method": "redline/status", "params": {}}));
    rig.editor.stream.shutdown(Shutdown::Write).unwrap();
    sidecar.read();
    sidecar.say(json!({"jsonrpc": "2.0", "id": 2, "result": "late"}));
    assert_eq!(rig.editor.read()["result"], "late");
    assert_eq!(rig.code.recv().unwrap(), 1);
}

#[test]
fn garbage_is_answered_and_the_next_message_is_read() {
    let mut rig = rig();
    let mut sidecar = initialize(&mut rig);
    rig.editor
        .stream
        .write_all(b"\xff\xff not a header\r\n\r\n")
        .unwrap();
    rig.editor
        .stream
        .write_all(b"Content-Length: 3\r\n\r\n{]}")
        .unwrap();
    rig.editor
        .say(json!({"jsonrpc": "2.0", "id": 2, "method": "redline/status"}));
    assert_eq!(sidecar.read()["id"], 2);
    for _ in 0..2 {
        assert_eq!(rig.editor.read()["error"]["code"], -32700);
    }
}

#[test]
fn both_ends_may_talk_much_before_they_listen() {
    const MESSAGES: usize = 2000;
    let mut rig = rig();
    let mut sidecar = initialize(&mut rig);
    let note = json!({"jsonrpc": "2.0", "method": "x", "params": {"text": "y".repeat(2000)}});
    let (said_by_sidecar, said_by_editor) = (note.clone(), note);
    let far = thread::spawn(move || {
        for _ in 0..MESSAGES {
            sidecar.say(said_by_sidecar.clone());
        }
        for _ in 0..MESSAGES {
            sidecar.read();
        }
    });
    let mut writer = Peer::new(rig.editor.stream.try_clone().unwrap());
    let near = thread::spawn(move || {
        for _ in 0..MESSAGES {
            writer.say(said_by_editor.clone());
        }
    });
    for _ in 0..MESSAGES {
        assert_eq!(rig.editor.read()["method"], "x");
    }
    near.join().unwrap();
    far.join().unwrap();
}
