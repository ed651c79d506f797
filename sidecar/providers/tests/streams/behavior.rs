//! What an adapter does around the stream: what it sends, whom it trusts, when it lets go.

use std::time::Duration;

use futures_util::StreamExt;
use redline_providers::chat::{ChatOptions, ChatProvider};
use redline_providers::{
    Arguments, AssistantPart, ChatRequest, Connection, ErrorKind, Event, HttpOptions, Message,
    Provider, Secret, StopReason, Timeouts, ToolCall, ToolChoice, ToolSpec,
};
use serde_json::{Value, json};

use crate::server::{Answer, Close, Server};

const KEY: &str = "sk-canary-0123456789";

fn options(server: &Server) -> Connection {
    Connection {
        name: "test".to_owned(),
        base_url: server.base.clone(),
        api_key: Some(Secret::new(KEY)),
        ..Connection::default()
    }
}

fn request(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        model: "m".to_owned(),
        messages,
        ..ChatRequest::default()
    }
}

fn user(text: &str) -> Message {
    Message::User {
        text: text.to_owned(),
    }
}

async fn ask(connection: Connection, request: ChatRequest) -> Vec<Event> {
    ChatProvider::new(connection, ChatOptions::default())
        .unwrap()
        .stream(request)
        .collect()
        .await
}

fn answer(status: u16, kind: &str, body: &str, close: Close) -> Answer {
    Answer {
        status,
        headers: vec![("content-type".to_owned(), kind.to_owned())],
        pieces: vec![body.as_bytes().to_vec()],
        close,
    }
}

fn fine() -> Answer {
    let chunk =
        json!({"choices": [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]});
    answer(
        200,
        "text/event-stream",
        &format!("data: {chunk}\n\ndata: [DONE]\n\n"),
        Close::Eof,
    )
}

fn error(events: &[Event]) -> &redline_providers::ProviderError {
    let found = events.iter().find_map(|event| match event {
        Event::Error(error) => Some(error),
        _ => None,
    });
    assert_eq!(
        events.last(),
        Some(&Event::Done {
            reason: StopReason::Error
        })
    );
    found.expect("an error")
}

#[tokio::test]
async fn a_conversation_becomes_the_request_that_servers_accept() {
    let server = Server::start(vec![fine()]).await;
    let call = |id: &str, raw: &str| {
        AssistantPart::ToolCall(ToolCall {
            id: id.to_owned(),
            wire_id: None,
            name: "read".to_owned(),
            arguments: Arguments::parse(raw),
        })
    };
    let mut asked = request(vec![
        user("go"),
        Message::Assistant {
            parts: vec![
                AssistantPart::Reasoning {
                    text: "hm".to_owned(),
                    replay: None,
                },
                AssistantPart::Text("I read.".to_owned()),
                call("a", r#"{"path":"x"}"#),
                call("b", "{'broken"),
            ],
        },
        Message::ToolResult {
            call_id: "a".to_owned(),
            name: "read".to_owned(),
            content: String::new(),
            is_error: false,
        },
        Message::Note {
            text: "decided".to_owned(),
        },
        user("and then?"),
    ]);
    asked.system = "Be brief.".to_owned();
    asked.max_output_tokens = Some(7);
    asked.tool_choice = ToolChoice::Named("read".to_owned());
    asked.tools = vec![ToolSpec {
        name: "read".to_owned(),
        description: "Reads.".to_owned(),
        parameters: json!({"type": "object"}),
    }];
    ask(options(&server), asked).await;
    let sent = &server.requests().await[0];
    assert!(
        sent.head.contains(&format!("authorization: Bearer {KEY}")),
        "{}",
        sent.head
    );
    assert!(
        sent.head.contains("accept: text/event-stream")
            && sent.head.contains("accept-encoding: identity")
    );
    assert!(sent.head.starts_with("POST /v1/chat/completions HTTP/1.1"));
    let expected = json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": "I read.", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"x\"}"}},
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{\"invalid_arguments\":\"{'broken\"}"}},
            ]},
            {"role": "tool", "tool_call_id": "a", "content": redline_providers::history::NO_OUTPUT},
            {"role": "tool", "tool_call_id": "b", "content": redline_providers::history::INTERRUPTED},
            {"role": "user", "content": "decided\n\nand then?"},
        ],
        "stream": true,
        "stream_options": {"include_usage": true},
        "tools": [{"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}}],
        "tool_choice": {"type": "function", "function": {"name": "read"}},
        "max_tokens": 7,
    });
    assert_eq!(sent.body, expected);
}

#[tokio::test]
async fn reasoning_goes_back_only_where_it_is_wanted() {
    for wanted in [false, true] {
        let server = Server::start(vec![fine()]).await;
        let parts = vec![
            AssistantPart::Reasoning {
                text: "hm".to_owned(),
                replay: None,
            },
            AssistantPart::Text("x".to_owned()),
        ];
        let replay_reasoning = wanted;
        let provider =
            ChatProvider::new(options(&server), ChatOptions { replay_reasoning }).unwrap();
        let asked = request(vec![user("go"), Message::Assistant { parts }, user("on")]);
        let _: Vec<Event> = provider.stream(asked).collect().await;
        let message = server.requests().await[0].body["messages"][1].clone();
        assert_eq!(message.get("reasoning_content").is_some(), wanted);
    }
}

#[tokio::test]
async fn a_key_that_a_server_refuses_by_name_is_left_out_from_then_on() {
    let refuse = |key: &str| {
        let body = json!({"error": {"message": format!("Unrecognized request argument: {key}"), "type": "invalid_request_error"}});
        answer(400, "application/json", &body.to_string(), Close::Eof)
    };
    let server = Server::start(vec![refuse("stream_options"), fine()]).await;
    let provider = ChatProvider::new(options(&server), ChatOptions::default()).unwrap();
    for _ in 0..2 {
        let events: Vec<Event> = provider.stream(request(vec![user("go")])).collect().await;
        assert_eq!(
            events.last(),
            Some(&Event::Done {
                reason: StopReason::End
            })
        );
    }
    let asked: Vec<bool> = server
        .requests()
        .await
        .iter()
        .map(|sent| sent.body.get("stream_options").is_some())
        .collect();
    assert_eq!(asked, [true, false, false]);
}

#[tokio::test]
async fn ids_stay_unique_over_the_whole_conversation() {
    let call = json!({"index": 0, "id": "call_0", "function": {"name": "read", "arguments": "{}"}});
    let chunk = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let server = Server::start(vec![answer(
        200,
        "text/event-stream",
        &format!("data: {chunk}\n\n"),
        Close::Eof,
    )])
    .await;
    let earlier = AssistantPart::ToolCall(ToolCall {
        id: "call_0".to_owned(),
        wire_id: Some("call_0".to_owned()),
        name: "read".to_owned(),
        arguments: Arguments::parse("{}"),
    });
    let events = ask(
        options(&server),
        request(vec![
            user("go"),
            Message::Assistant {
                parts: vec![earlier],
            },
        ]),
    )
    .await;
    let Some(Event::ToolCallReady(call)) = events
        .iter()
        .find(|event| matches!(event, Event::ToolCallReady(_)))
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        (call.id.as_str(), call.wire_id.as_deref()),
        ("call_0#2", Some("call_0"))
    );
}

#[tokio::test]
async fn a_name_that_is_on_offer_is_never_read_as_an_alias() {
    let call = json!({"index": 0, "id": "c", "function": {"name": "edit_file", "arguments": r#"{"path":"a","old":"x","new":"y"}"#}});
    let chunk = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let body = format!("data: {chunk}\n\n");
    for offered in [false, true] {
        let server = Server::start(vec![answer(200, "text/event-stream", &body, Close::Eof)]).await;
        let mut asked = request(vec![user("go")]);
        if offered {
            asked.tools.push(ToolSpec {
                name: "edit_file".to_owned(),
                description: String::new(),
                parameters: json!({}),
            });
        }
        let events = ask(options(&server), asked).await;
        assert_eq!(
            events
                .iter()
                .any(|event| matches!(event, Event::ToolCallReady(_))),
            offered
        );
        assert_eq!(
            events
                .iter()
                .any(|event| matches!(event, Event::Edit { .. })),
            !offered
        );
    }
}

#[tokio::test]
async fn a_silent_server_is_a_timeout() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "a"}}]});
    let server = Server::start(vec![answer(
        200,
        "text/event-stream",
        &format!("data: {chunk}\n\n"),
        Close::Hang,
    )])
    .await;
    let mut options = options(&server);
    options.http = HttpOptions {
        timeouts: Timeouts {
            idle: Duration::from_millis(50),
            ..Timeouts::default()
        },
        ..HttpOptions::default()
    };
    let events = ask(options, request(vec![user("go")])).await;
    let error = error(&events);
    assert_eq!((error.kind, error.partial), (ErrorKind::Timeout, true));
    assert!(error.message.contains("0.05 s"), "{}", error.message);
    server.closed(1).await;
}

#[tokio::test]
async fn a_connection_that_breaks_is_an_error_after_what_was_shown() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "a"}}]});
    let body = format!("data: {chunk}\n\n");
    let server = Server::start(vec![answer(200, "text/event-stream", &body, Close::Reset)]).await;
    let events = ask(options(&server), request(vec![user("go")])).await;
    assert!(
        matches!(&events[0], Event::Text { text } if text == "a"),
        "{events:?}"
    );
    let error = error(&events);
    assert_eq!(
        (error.kind, error.retryable, error.partial),
        (ErrorKind::StreamInterrupted, true, true)
    );
}

#[tokio::test]
async fn silence_after_the_models_own_end_is_no_failure() {
    let chunk =
        json!({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]});
    let server = Server::start(vec![answer(
        200,
        "text/event-stream",
        &format!("data: {chunk}\n\n"),
        Close::Hang,
    )])
    .await;
    let mut options = options(&server);
    options.http.timeouts.idle = Duration::from_millis(50);
    let events = ask(options, request(vec![user("go")])).await;
    assert_eq!(
        events.last(),
        Some(&Event::Done {
            reason: StopReason::End
        })
    );
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "a"}}]});
    let server = Server::start(vec![answer(
        200,
        "text/event-stream",
        &format!("data: {chunk}\n\n"),
        Close::Hang,
    )])
    .await;
    let provider = ChatProvider::new(options(&server), ChatOptions::default()).unwrap();
    let mut stream = provider.stream(request(vec![user("go")]));
    assert!(matches!(stream.next().await, Some(Event::Text { .. })));
    drop(stream);
    tokio::time::timeout(Duration::from_secs(10), server.closed(1))
        .await
        .expect("closed");
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let mut away = answer(302, "text/plain", "", Close::Eof);
    let other = Server::start(vec![fine()]).await;
    away.headers
        .push(("location".to_owned(), other.base.clone()));
    let server = Server::start(vec![away]).await;
    let events = ask(options(&server), request(vec![user("go")])).await;
    assert_eq!(error(&events).status, Some(302));
    assert!(other.requests().await.is_empty());
}

#[tokio::test]
async fn the_key_is_never_said() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}."), "code": "invalid_api_key"}});
    let server = Server::start(vec![answer(
        401,
        "application/json",
        &body.to_string(),
        Close::Eof,
    )])
    .await;
    let mut options = options(&server);
    options.headers = vec![("x-gateway".to_owned(), Secret::new("canary-of-the-gateway"))];
    let provider = ChatProvider::new(options.clone(), ChatOptions::default()).unwrap();
    let events: Vec<Event> = provider.stream(request(vec![user("go")])).collect().await;
    assert_eq!(error(&events).message, "Incorrect API key provided: ***.");
    let shown = format!("{provider:?} {options:?} {events:?}");
    assert!(!shown.contains("canary"), "{shown}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_secrets() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let options = Connection {
        base_url: format!("http://me:hush@127.0.0.1:{port}/v1?key=hush"),
        ..Connection::default()
    };
    let events = ask(options, request(vec![user("go")])).await;
    let error = error(&events);
    assert_eq!((error.kind, error.retryable), (ErrorKind::Server, true));
    assert!(
        error.message.contains(&format!(
            "cannot connect to http://127.0.0.1:{port}/v1/chat/completions"
        )),
        "{}",
        error.message
    );
    assert!(!error.message.contains("hush"), "{}", error.message);
}

#[tokio::test]
async fn an_answer_with_nothing_in_it_is_an_error() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": "stop"}]});
    for body in [
        format!("data: {chunk}\n\ndata: [DONE]\n\n"),
        "data: [DONE]\n\n".to_owned(),
    ] {
        let server = Server::start(vec![answer(200, "text/event-stream", &body, Close::Eof)]).await;
        let events = ask(options(&server), request(vec![user("go")])).await;
        assert_eq!(error(&events).kind, ErrorKind::EmptyResponse);
    }
}

#[tokio::test]
async fn odd_shapes_cost_nothing_of_the_text() {
    let bodies = [
        // Parts in place of a string; a usage of the wrong type; a key twice; a choice that is none.
        json!({"choices": [{"delta": {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "T"}]}, {"type": "text", "text": "a"}]}}]}).to_string(),
        json!({"choices": [{"delta": {"content": "b"}}, 7, null], "usage": "none"}).to_string(),
        r#"{"choices": [{"delta": {"content": "x", "content": "c"}}]}"#.to_owned(),
        r#"["not", "a", "chunk"]"#.to_owned(),
        json!({"choices": [{"delta": {"content": "d", "tool_calls": "none", "reasoning": {"a": 1}}, "finish_reason": "stop"}]}).to_string(),
    ];
    let body: String = bodies
        .iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect();
    let server = Server::start(vec![answer(200, "text/event-stream", &body, Close::Eof)]).await;
    let events = ask(options(&server), request(vec![user("go")])).await;
    let mut text = String::new();
    let mut reasoning = String::new();
    for event in &events {
        match event {
            Event::Text { text: piece } => text.push_str(piece),
            Event::Reasoning { text: piece, .. } => reasoning.push_str(piece),
            _ => {}
        }
    }
    assert_eq!((text.as_str(), reasoning.as_str()), ("abcd", "T"));
    assert_eq!(
        events.last(),
        Some(&Event::Done {
            reason: StopReason::End
        })
    );
}

#[tokio::test]
async fn calls_of_servers_that_number_them_badly_stay_apart() {
    let whole = |index: Value, id: Value, name: &str, arguments: &str| json!({"choices": [{"delta": {"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]}}]});
    /// Chunks, and the ids and names of the calls that they are.
    type Case = (Vec<Value>, Vec<(&'static str, &'static str)>);
    let cases: Vec<Case> = vec![
        // One index for all, ids differ.
        (
            vec![
                whole(json!(0), json!("a"), "x", "{}"),
                whole(json!(0), json!("b"), "y", "{}"),
            ],
            vec![("a", "x"), ("b", "y")],
        ),
        // Neither ids nor indexes.
        (
            vec![
                whole(Value::Null, Value::Null, "x", "{}"),
                whole(Value::Null, Value::Null, "y", "{}"),
            ],
            vec![("call_1", "x"), ("call_2", "y")],
        ),
        // A name in pieces.
        (
            vec![
                whole(json!(0), json!("a"), "ed", ""),
                whole(json!(0), Value::Null, "it", "{"),
                whole(json!(0), Value::Null, "", "}"),
            ],
            vec![("a", "edit")],
        ),
        // Arguments as an object.
        (
            vec![
                json!({"choices": [{"delta": {"tool_calls": [{"id": "a", "function": {"name": "x", "arguments": {"p": 1}}}]}}]}),
            ],
            vec![("a", "x")],
        ),
    ];
    for (chunks, expected) in cases {
        let mut body: String = chunks
            .iter()
            .map(|chunk| format!("data: {chunk}\n\n"))
            .collect();
        body.push_str("data: [DONE]\n\n");
        let server = Server::start(vec![answer(200, "text/event-stream", &body, Close::Eof)]).await;
        let events = ask(options(&server), request(vec![user("go")])).await;
        let got: Vec<(&str, &str)> = events
            .iter()
            .filter_map(|event| match event {
                Event::ToolCallReady(call) => {
                    assert!(matches!(call.arguments, Arguments::Json(_)), "{call:?}");
                    Some((call.id.as_str(), call.name.as_str()))
                }
                _ => None,
            })
            .collect();
        assert_eq!(got, expected);
    }
}
