//! Recordings: what plays, and what is refused with which words.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use expect_test::{Expect, expect};
use futures_util::StreamExt;

use super::*;
use crate::{Arguments, AssistantPart, EditOp, ToolCall};
use serde_json::json;

const TWO_TURNS: &str = r#"
// a comment
{"replay": "redline/v1", "title": "Two turns", "piece_chars": 4}
{"event": "text", "text": "héllo wörld"}
{"event": "tool_call", "name": "workspace_read", "arguments": {"path": "a"}}
{"event": "usage", "input": 3, "output": 2}
{"event": "done", "reason": "tool_calls"}
{"event": "text", "text": "done"}
{"event": "done", "reason": "end"}
{"event": "prompt", "text": "again"}
{"event": "tool_call", "name": "x", "arguments_raw": "{\"a\":"}
{"event": "done", "reason": "length"}
"#;

async fn play(messages: Vec<Message>) -> Vec<Event> {
    let recording = Recording::parse("test", TWO_TURNS).unwrap();
    let provider = ReplayProvider::new("replay", recording);
    provider
        .stream(ChatRequest {
            messages,
            ..ChatRequest::default()
        })
        .collect()
        .await
}

fn user() -> Message {
    Message::User {
        text: "go".to_owned(),
    }
}

fn answer() -> Message {
    Message::Assistant {
        parts: vec![AssistantPart::Text("…".to_owned())],
    }
}

#[tokio::test]
async fn the_conversation_chooses_turn_and_step() {
    let first = play(vec![user()]).await;
    let text: Vec<_> = first
        .iter()
        .filter_map(|event| match event {
            Event::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, ["héll", "o wö", "rld"]);
    assert_eq!(
        first.last(),
        Some(&Event::Done {
            reason: StopReason::ToolCalls
        })
    );
    assert!(
        first
            .iter()
            .any(|event| matches!(event, Event::ToolCallReady(call) if call.id == "call_1_1_1"))
    );

    let note = Message::Note {
        text: "hunk 1 was accepted".to_owned(),
    };
    let second = play(vec![user(), answer(), note]).await;
    assert_eq!(
        second[0],
        Event::Text {
            text: "done".to_owned()
        }
    );

    let third = play(vec![user(), answer(), answer(), user()]).await;
    let Some(Event::ToolCallReady(call)) = third.iter().rev().nth(1) else {
        panic!("{third:?}")
    };
    assert!(matches!(call.arguments, Arguments::Invalid { .. }));

    let over = play(vec![user(), user(), user()]).await;
    assert!(
        matches!(&over[0], Event::Error(error) if error.message.contains("it holds 2 turn(s)"))
    );
    assert_eq!(
        over[1],
        Event::Done {
            reason: StopReason::Error
        }
    );
}

fn check_refused(text: &str, expected: Expect) {
    let error = Recording::parse("a.jsonl", text)
        .expect_err("refused")
        .to_string();
    expected.assert_eq(&error);
}

#[test]
fn a_recording_that_cannot_play_is_refused_by_line() {
    check_refused("", expect!["a.jsonl:1: the recording is empty"]);
    check_refused(
        "{}",
        expect![[
            r#"a.jsonl:1: the first line must be {"replay": "redline/v1"}: missing field `replay`, column 2"#
        ]],
    );
    check_refused(
        r#"{"replay": "v0"}"#,
        expect!["a.jsonl:1: version `v0`: this plays `redline/v1`"],
    );
    let after_header = |line: &str| format!("{{\"replay\": \"redline/v1\"}}\n{line}\n");
    check_refused(
        &after_header("nonsense"),
        expect!["a.jsonl:2: expected ident, column 2"],
    );
    check_refused(
        &after_header("[]"),
        expect![[r#"a.jsonl:2: an event must be an object like {"event": "text", "text": "…"}"#]],
    );
    check_refused(
        &after_header(r#"{"event": "txt"}"#),
        expect![
            "a.jsonl:2: unknown variant `txt`, expected one of `text`, `reasoning`, `tool_call`, `plan`, `edit`, `opaque`, `usage`, `error`, `warning`, `done`, `prompt`"
        ],
    );
    check_refused(
        &after_header(r#"{"event": "text", "texts": "a"}"#),
        expect!["a.jsonl:2: unknown field `texts`, expected `text`"],
    );
    check_refused(
        &after_header(r#"{"event": "text", "text": "a", "delay_ms": "1"}"#),
        expect!["a.jsonl:2: `delay_ms` must be a number of milliseconds"],
    );
    check_refused(
        &after_header(r#"{"event": "tool_call", "name": "x"}"#),
        expect!["a.jsonl:2: a `tool_call` needs one of `arguments`, `arguments_raw` and `input`"],
    );
    check_refused(
        &after_header(r#"{"event": "text", "text": "a"}"#),
        expect!["a.jsonl:2: the last step has no `done`"],
    );
    check_refused(
        &after_header(r#"{"event": "done", "reason": "tool_calls"}"#),
        expect!["a.jsonl:2: `done` says tool_calls, but the step has no call"],
    );
    check_refused(
        &after_header(r#"{"event": "prompt"}"#),
        expect!["a.jsonl:2: a turn without steps: `done` is missing"],
    );
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused_by_line(
        lines in proptest::collection::vec(
            proptest::prop_oneof![
                proptest::prelude::Just(r#"{"replay": "redline/v1"}"#.to_owned()),
                proptest::prelude::Just(r#"{"event": "text", "text": "a"}"#.to_owned()),
                proptest::prelude::Just(r#"{"event": "done", "reason": "end"}"#.to_owned()),
                proptest::prelude::Just(r#"{"event": "prompt"}"#.to_owned()),
                ".{0,20}",
            ],
            0..8,
        ),
    ) {
        match Recording::parse("f", &lines.join("\n")) {
            Ok(recording) => {
                for turn in 0..recording.turns() {
                    proptest::prop_assert!(recording.steps(turn) > 0 || recording.turns() == 1);
                }
            }
            Err(error) => proptest::prop_assert!(error.line >= 1 && error.line <= lines.len().max(1) + 1),
        }
    }
}

#[test]
fn what_is_written_plays_the_same_events() {
    let call = |arguments| ToolCall {
        id: "c".to_owned(),
        wire_id: Some("c".to_owned()),
        name: "apply_patch".to_owned(),
        arguments,
    };
    let patch = |kind: &str, diff: Option<&str>, op| {
        let mut operation = json!({"type": kind, "path": "a"});
        if let Some(diff) = diff {
            operation["diff"] = json!(diff);
        }
        let call = call(Arguments::parse(&operation.to_string()));
        let path = "a".to_owned();
        Event::Edit { call, path, op }
    };
    let (diff, line) = ("@@\n-a\n+b\n".to_owned(), "+a\n".to_owned());
    let events = vec![
        Event::Opaque(crate::OpaqueBlock {
            api: "anthropic".to_owned(),
            block: json!({"type": "fallback"}),
        }),
        patch("update_file", Some(&diff.clone()), EditOp::Update { diff }),
        patch(
            "create_file",
            Some(&line.clone()),
            EditOp::Create { diff: line },
        ),
        patch("delete_file", None, EditOp::Delete),
        Event::Warning(ProviderError::new(ErrorKind::ContextTruncated, "cut")),
    ];
    let step = RecordedStep {
        events: events.clone(),
        reason: StopReason::ToolCalls,
    };
    let recording = Recording::parse("written", &write("go", &[step])).unwrap();
    let mut played = Vec::new();
    for line in &recording.turns[0][0].lines {
        played.push(line.event(&mut || "new".to_owned()));
    }
    assert_eq!(played, events);
    let half = concat!(
        r#"{"replay": "redline/v1"}"#,
        "\n",
        r#"{"event": "edit", "path": "a", "op": "update_file"}"#
    );
    let refusal = Recording::parse("half", half).unwrap_err().to_string();
    assert!(
        refusal.contains("an `op` with the `diff` that it takes"),
        "{refusal}"
    );
}
