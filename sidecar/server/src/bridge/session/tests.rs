//! What a bridge remembers and replays.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

fn say(session: &mut Session, message: Value) -> FromEditor {
    session.take_from_editor(message.to_string().into_bytes())
}

fn hear(session: &mut Session, message: Value) -> Option<Value> {
    session
        .take_from_sidecar(message.to_string().into_bytes())
        .map(|body| serde_json::from_slice(&body).unwrap())
}

fn values(bodies: Vec<Vec<u8>>) -> Vec<Value> {
    bodies
        .iter()
        .map(|body| serde_json::from_slice(body).unwrap())
        .collect()
}

fn started() -> Session {
    let mut session = Session::default();
    say(
        &mut session,
        json!({"id": 1, "method": "initialize", "params": {
            "processId": 42, "workspaceFolders": [{"uri": "file:///a", "name": "a"}],
        }}),
    );
    hear(
        &mut session,
        json!({"id": 1, "result": {"capabilities": {"positionEncoding": "utf-8"}}}),
    );
    say(&mut session, json!({"method": "initialized", "params": {}}));
    session
}

#[test]
fn requests_in_flight_get_an_error_when_the_sidecar_is_lost() {
    let mut session = started();
    say(
        &mut session,
        json!({"id": "x", "method": "textDocument/codeAction", "params": {}}),
    );
    say(
        &mut session,
        json!({"id": 3, "method": "redline/status", "params": {}}),
    );
    hear(&mut session, json!({"id": 3, "result": null}));
    let told = values(session.lost());
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["id"], "x");
    assert_eq!(told[0]["error"]["code"], SERVER_CANCELLED);
    assert!(!session.is_waiting());
}

#[test]
fn only_who_shows_conversations_is_told_of_a_new_sidecar() {
    assert_eq!(started().replaced(), None);
    let mut session = Session::default();
    let redline = json!({"version": 1, "session": true});
    say(
        &mut session,
        json!({"id": 1, "method": "initialize", "params": {
            "capabilities": {"experimental": {"redline": redline}},
        }}),
    );
    assert_eq!(session.replaced(), None, "it waits for its first answer");
    hear(
        &mut session,
        json!({"id": 1, "result": {"capabilities": {}}}),
    );
    let told = values(session.replaced().into_iter().collect());
    assert_eq!(told[0]["method"], v1::method::SIDECAR_REPLACED);
}

#[test]
fn a_first_initialize_is_said_again_under_its_own_id() {
    let mut session = Session::default();
    say(
        &mut session,
        json!({"id": 7, "method": "initialize", "params": {"processId": null}}),
    );
    assert!(session.lost().is_empty());
    let (body, own) = session.replay_initialize().unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((body["id"].clone(), own), (json!(7), false));
}

#[test]
fn replay_says_initialize_with_todays_folders_then_the_rest_in_order() {
    let mut session = started();
    let change = json!({"event": {
        "added": [{"uri": "file:///b", "name": "b"}], "removed": [{"uri": "file:///a", "name": "a"}],
    }});
    say(
        &mut session,
        json!({"method": "workspace/didChangeWorkspaceFolders", "params": change}),
    );
    let document = json!({"uri": "file:///b/x", "languageId": "rust", "version": 4, "text": "t"});
    say(
        &mut session,
        json!({"method": "textDocument/didOpen", "params": {"textDocument": document}}),
    );
    session.lost();
    let (body, own) = session.replay_initialize().unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert!(own);
    assert_eq!(body["id"].to_string(), REPLAY_ID);
    assert_eq!(
        body["params"]["workspaceFolders"],
        json!([{"uri": "file:///b", "name": "b"}])
    );
    let rest = values(session.replay_rest());
    let methods: Vec<&str> = rest
        .iter()
        .map(|it| it["method"].as_str().unwrap())
        .collect();
    assert_eq!(methods, ["initialized", "textDocument/didOpen"]);
    assert_eq!(rest[1]["params"]["textDocument"], document);
}

#[test]
fn an_answer_to_a_lost_sidecar_is_dropped_and_one_to_a_new_one_arrives() {
    let mut session = started();
    let ask = json!({"id": 0, "method": "workspace/applyEdit", "params": {}});
    let first = hear(&mut session, ask.clone()).unwrap();
    session.lost();
    let second = hear(&mut session, ask).unwrap();
    assert_ne!(first["id"], second["id"]);
    let late = say(
        &mut session,
        json!({"id": first["id"], "result": {"applied": true}}),
    );
    assert_eq!(late, FromEditor::Drop);
    let FromEditor::Forward(body) = say(
        &mut session,
        json!({"id": second["id"], "result": {"applied": true}}),
    ) else {
        panic!("dropped");
    };
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(
        body,
        json!({"jsonrpc": "2.0", "id": 0, "result": {"applied": true}})
    );
}

#[test]
fn a_cancel_of_the_sidecar_names_the_id_that_the_editor_knows() {
    let mut session = started();
    hear(&mut session, json!({"id": 8, "method": "a", "params": {}}));
    let asked = hear(&mut session, json!({"id": 9, "method": "b", "params": {}})).unwrap();
    let cancel = json!({"method": "$/cancelRequest", "params": {"id": 9}});
    let cancelled = hear(&mut session, cancel.clone()).unwrap();
    assert_eq!(cancelled["params"]["id"], asked["id"]);
    say(&mut session, json!({"id": asked["id"], "result": null}));
    assert_eq!(hear(&mut session, cancel), None);
}

#[test]
fn what_a_lost_sidecar_showed_is_taken_away() {
    let mut session = started();
    let show = |uri: &str, diagnostics: Value| {
        json!({"method": "textDocument/publishDiagnostics",
            "params": {"uri": uri, "diagnostics": diagnostics}})
    };
    hear(&mut session, show("file:///a", json!([{"message": "m"}])));
    hear(&mut session, show("file:///b", json!([{"message": "m"}])));
    hear(&mut session, show("file:///b", json!([])));
    let progress = |token: Value, kind: &str| json!({"method": "$/progress", "params": {"token": token, "value": {"kind": kind}}});
    hear(&mut session, progress(json!("t"), "begin"));
    hear(&mut session, progress(json!(5), "begin"));
    hear(&mut session, progress(json!(5), "end"));
    let told = values(session.lost());
    assert_eq!(told.len(), 2);
    assert_eq!(told[0]["params"]["token"], "t");
    assert_eq!(told[0]["params"]["value"]["kind"], "end");
    assert_eq!(
        told[1]["params"],
        json!({"uri": "file:///a", "diagnostics": []})
    );
    assert!(session.lost().is_empty());
}

#[test]
fn shutdown_in_flight_counts_as_done() {
    let mut session = started();
    say(&mut session, json!({"id": 2, "method": "shutdown"}));
    assert!(session.is_shut_down());
    let told = values(session.lost());
    assert_eq!(told, [json!({"jsonrpc": "2.0", "id": 2, "result": null})]);
}

#[test]
fn what_is_no_message_is_answered_here() {
    let mut session = started();
    for (body, code) in [
        (&b"{"[..], PARSE_ERROR),
        (b"\xff\xfe", PARSE_ERROR),
        (b"[1, 2]", INVALID_REQUEST),
        (b"[\"x\"]", INVALID_REQUEST),
        (b"null", INVALID_REQUEST),
        (b"{}", INVALID_REQUEST),
        (b"{\"method\": 1}", INVALID_REQUEST),
    ] {
        let FromEditor::Answer(answer) = session.take_from_editor(body.to_vec()) else {
            panic!("{body:?} was not answered");
        };
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!(
            answer["error"]["code"],
            code,
            "{}",
            String::from_utf8_lossy(body)
        );
        assert_eq!(answer["id"], Value::Null);
    }
}
