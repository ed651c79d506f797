//! Whatever a server sends: no panic, one end, the last event; nothing half is ever whole.
#![allow(clippy::unwrap_used)]

use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::{Map, json};

use super::*;
use crate::Arguments;
use crate::stream::{Decoder, Framing};

/// Plays the data of a stream as the adapter does.
fn play(data: &[String], end: End) -> Vec<Event> {
    let assembler = Assembler::new(&ChatRequest::default());
    let mut decoder = Decoder::new(Framing::Sse, assembler);
    let mut out = Vec::new();
    for data in data {
        let lines = data
            .split(['\n', '\r'])
            .map(|line| format!("data: {line}\n"));
        let event = lines.collect::<String>() + "\n";
        if decoder.push(event.as_bytes(), &mut out) == Progress::Last {
            break;
        }
    }
    decoder.finish(end, &mut out);
    out
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| json!(number)),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,8}".prop_map(Value::String),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::vec((any_key(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

const KEYS: &[&str] = &[
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "index",
    "id",
    "function",
    "name",
    "arguments",
    "finish_reason",
    "usage",
    "prompt_tokens",
    "error",
    "object",
    "reasoning",
    "reasoning_content",
    "refusal",
    "function_call",
    "type",
    "text",
    "code",
    "status",
];

fn any_key() -> impl Strategy<Value = String> {
    proptest::sample::select(KEYS).prop_map(str::to_owned)
}

/// Chunks as real servers send them, with any field replaced now and then.
fn chunk() -> impl Strategy<Value = String> {
    let fragment = (0i64..3, prop_oneof![Just(""), Just("a"), Just("b")], ".{0,6}", "[{}\":a,1]{0,6}")
        .prop_map(|(index, id, name, arguments)| {
            json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
        });
    let field = |likely: Value| prop_oneof![6 => Just(likely), 1 => any_json()];
    (
        prop_oneof![3 => "(<think>|</think>|[a<> ]{0,4}){0,3}".prop_map(|text| json!(text)), 1 => any_json()],
        proptest::collection::vec(fragment, 0..3),
        field(Value::Null),
        field(Value::Null),
    )
        .prop_map(|(content, calls, finish, usage)| {
            json!({
                "choices": [{"index": 0, "delta": {"content": content, "tool_calls": calls}, "finish_reason": finish}],
                "usage": usage,
            })
            .to_string()
        })
}

fn data() -> impl Strategy<Value = Vec<String>> {
    let one = prop_oneof![
        6 => chunk(),
        1 => any_json().prop_map(|value| value.to_string()),
        1 => ".{0,20}",
        1 => Just("[DONE]".to_owned()),
    ];
    proptest::collection::vec(one, 0..12)
}

proptest! {
    #[test]
    fn any_stream_ends_once(data in data(), broke in any::<bool>()) {
        let end = if broke {
            End::Failed(ProviderError::new(ErrorKind::Timeout, "silent"))
        } else {
            End::Closed
        };
        let events = play(&data, end);
        let ends = events.iter().filter(|event| matches!(event, Event::Done { .. })).count();
        prop_assert_eq!(ends, 1);
        let last_is_the_end = matches!(events.last(), Some(Event::Done { .. }));
        prop_assert!(last_is_the_end);

        let failed = events.iter().any(|event| matches!(event, Event::Error(_)));
        let says_failed = matches!(
            events.last(),
            Some(Event::Done { reason: StopReason::Error | StopReason::Refusal })
        );
        prop_assert_eq!(failed, says_failed);

        let mut started = HashSet::new();
        for event in &events {
            match event {
                Event::Text { text } => prop_assert!(!text.is_empty()),
                Event::ToolCallStarted { id, .. } => prop_assert!(started.insert(id.clone()), "{} twice", id),
                Event::ToolCallDelta { id, .. } => prop_assert!(started.contains(id)),
                Event::ToolCallReady(call) => {
                    prop_assert!(started.contains(&call.id));
                    // What is handed out as arguments is what was sent, never a repair of it.
                    let sent: String = events.iter().filter_map(|event| match event {
                        Event::ToolCallDelta { id, fragment } if *id == call.id => Some(fragment.as_str()),
                        _ => None,
                    }).collect();
                    prop_assert_eq!(&Arguments::parse(&sent), &call.arguments);
                }
                _ => {}
            }
        }
    }

    #[test]
    fn text_comes_whole_however_it_is_cut(pieces in proptest::collection::vec("[a<>/thinkéß ]{1,6}", 1..8)) {
        let one = |content: &str| json!({"choices": [{"delta": {"content": content}}]}).to_string();
        let texts = |data: Vec<String>| {
            let mut both = (String::new(), String::new());
            for event in play(&data, End::Closed) {
                match event {
                    Event::Text { text } => both.0.push_str(&text),
                    Event::Reasoning { text, .. } => both.1.push_str(&text),
                    _ => {}
                }
            }
            both
        };
        let cut: Vec<String> = pieces.iter().map(|piece| one(piece)).collect();
        prop_assert_eq!(texts(cut), texts(vec![one(&pieces.concat())]));
    }
}
