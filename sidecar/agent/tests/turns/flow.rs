//! The way of a turn: steps, calls, results, decisions, history, the record.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use redline_agent::{Decision, PendingHunk, StepContext, TurnEnd, TurnEventKind, Verdict};
use redline_providers::Message;
use serde_json::json;

use crate::server::{Close, Server};
use crate::support::*;

#[tokio::test]
async fn a_turn_reads_searches_edits_is_refused_repairs_and_ends() {
    let view = project();
    let provider = replay(&[
        text("I look first."),
        call("workspace_read", json!({"path": "src/a.rs"})),
        call("workspace_search", json!({"pattern": "one()"})),
        results(),
        call(
            "workspace_edit",
            json!({"edits": [{"path": "src/a.rs", "search": "    one();", "replace": "    two();"}]}),
        ),
        results(),
        call(
            "workspace_edit",
            json!({"edits": [
                {"path": "src/a.rs", "search": "fn b() {\n    one();", "replace": "fn b() {\n    two();", "rationale": "Use two"},
                {"path": "src/b.rs", "search": "fn c() {}", "replace": "fn c() { two() }"},
                {"path": "README.md", "search": "# Project", "replace": "# The project"},
            ]}),
        ),
        results(),
        text("Done: b uses two now."),
        ends(),
    ]);
    let (events, end) = run(&session(&view), input(provider)).await;
    assert_eq!(end, TurnEnd::Completed);
    expect![[r#"
        step 1
        text "I look first."
        run read src/a.rs
        run search "one()"
        done workspace_read read
        done workspace_search read
        step 2
        run edit src/a.rs
        done workspace_edit AMBIGUOUS_MATCH
        step 3
        run edit src/a.rs, src/b.rs, README.md
        done workspace_edit pending
        step 4
        text "Done: b uses two now."
        end {"reason":"completed"}
    "#]]
    .assert_eq(&sorted_reads(&outline(&events)));
    assert_eq!(
        view.proposed("src/a.rs").unwrap(),
        "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n"
    );
    assert_eq!(view.proposed("README.md").unwrap(), "# The project\n");
    assert_eq!(
        std::fs::read_to_string(view.path().join("README.md")).unwrap(),
        "# Project\n"
    );
}

/// Reads run side by side, so either may end first.
fn sorted_reads(outline: &str) -> String {
    outline.replace(
        "done workspace_search read\ndone workspace_read read\n",
        "done workspace_read read\ndone workspace_search read\n",
    )
}

#[tokio::test]
async fn decisions_reach_the_model_in_the_next_step() {
    let view = project();
    let answers = vec![
        calls("call_1", "workspace_list", "{}"),
        says("Understood."),
        says("Again."),
    ];
    let server = Server::routes(vec![("/v1/chat/completions", answers)]).await;
    let decision = Decision {
        path: "src/a.rs".to_owned(),
        line: 2,
        verdict: Verdict::Rejected,
        reason: Some("wrong name".to_owned()),
        rationale: None,
        removed: "    one();\n".to_owned(),
        added: "    uno();\n".to_owned(),
        amended: None,
    };
    let pending = PendingHunk {
        path: "src/b.rs".to_owned(),
        line: 1,
        removed: 1,
        added: 1,
        rationale: None,
    };
    let steering = Script(Mutex::new(vec![
        StepContext {
            decisions: vec![],
            pending: vec![pending],
            ..StepContext::default()
        },
        StepContext {
            decisions: vec![decision],
            ..StepContext::default()
        },
    ]));
    let session = session_with(
        &view,
        Arc::new(steering),
        Arc::new(redline_agent::NoLog),
        vec![],
    );
    let (events, end) = run(&session, input(chat(&server))).await;
    assert_eq!(end, TurnEnd::Completed);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, TurnEventKind::Told { .. }))
    );
    let (_, end) = run(&session, input(chat(&server))).await;
    assert_eq!(end, TurnEnd::Completed);

    // Since its answers say nothing of tokens, it is also asked whether it counts.
    let mut requests = server.requests().await;
    requests.retain(|request| request.head.contains("/chat/completions"));
    let message = |request: usize, at: usize| requests[request].body["messages"][at].clone();
    assert_eq!(message(0, 0)["role"], "system");
    assert!(
        message(0, 0)["content"]
            .as_str()
            .unwrap()
            .contains("workspace_edit")
    );
    assert!(
        message(0, 1)["content"]
            .as_str()
            .unwrap()
            .contains("src/b.rs line 1 (+1 -1)")
    );
    let tools: Vec<_> = requests[0].body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].clone())
        .collect();
    assert_eq!(
        tools,
        [
            "workspace_list",
            "workspace_read",
            "workspace_search",
            "workspace_edit"
        ]
    );

    let roles: Vec<_> = requests[1].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].clone())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
    assert_eq!(message(1, 3)["tool_call_id"], "call_1");
    assert!(message(1, 3)["content"].as_str().unwrap().starts_with(
        r#"{"protocol":"agentic-workspace/v1","tool":"workspace_list","status":"ok""#
    ));
    let note = message(1, 4)["content"].as_str().unwrap().to_owned();
    assert!(
        note.contains("REJECTED") && note.contains("wrong name") && note.contains("uno();"),
        "{note}"
    );
    // The next turn goes on with the same conversation.
    let last: Vec<_> = requests[2].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].clone())
        .collect();
    assert_eq!(
        last,
        [
            "system",
            "user",
            "assistant",
            "tool",
            "user",
            "assistant",
            "user"
        ]
    );
}

#[tokio::test]
async fn a_call_that_never_got_its_result_is_answered_before_the_next_request() {
    let view = project();
    // The first answer breaks off after a whole call was shown: it never runs.
    let call = json!({"index": 0, "id": "call_1", "function": {"name": "workspace_list", "arguments": "{}"}});
    let chunk =
        json!({"choices": [{"index": 0, "delta": {"content": "Hm. ", "tool_calls": [call]}}]});
    let server = Server::start(vec![
        answer(
            200,
            "text/event-stream",
            &format!("data: {chunk}\n\n"),
            Close::Reset,
        ),
        says("Fine."),
    ])
    .await;
    let session = session(&view);
    let (events, end) = run(&session, input(chat(&server))).await;
    let TurnEnd::Failed { error } = end else {
        panic!("{end:?}")
    };
    assert_eq!(error.kind.as_deref(), Some("stream_interrupted"));
    assert!(
        outline(&events).contains("done workspace_list INCOMPLETE"),
        "{}",
        outline(&events)
    );
    let (_, end) = run(&session, input(chat(&server))).await;
    assert_eq!(end, TurnEnd::Completed);
    let messages = server.requests().await[1].body["messages"].clone();
    let roles: Vec<_> = messages
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].clone())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert_eq!(messages[2]["content"], "Hm. ");
}

#[tokio::test]
async fn what_failed_before_anything_was_shown_is_asked_again_by_itself() {
    let view = project();
    let mut busy = answer(
        429,
        "application/json",
        r#"{"error":{"message":"Slow down"}}"#,
        Close::Eof,
    );
    busy.headers
        .push(("retry-after-ms".to_owned(), "1".to_owned()));
    let overloaded = answer(
        529,
        "application/json",
        r#"{"error":{"message":"Busy"}}"#,
        Close::Eof,
    );
    let server = Server::start(vec![busy, overloaded, says("Here.")]).await;
    let (events, end) = run(&session(&view), input(chat(&server))).await;
    assert_eq!(end, TurnEnd::Completed);
    expect![[r#"
        step 1
        retry 1 Slow down
        retry 2 Busy
        text "Here."
        end {"reason":"completed"}
    "#]]
    .assert_eq(&outline(&events));
}

#[tokio::test]
async fn what_cannot_succeed_is_told_at_once() {
    let view = project();
    let refused = answer(
        401,
        "application/json",
        r#"{"error":{"message":"no such key"}}"#,
        Close::Eof,
    );
    let server = Server::start(vec![refused]).await;
    let (events, end) = run(&session(&view), input(chat(&server))).await;
    assert_eq!(
        outline(&events),
        "step 1\nend failed PROVIDER: no such key\n"
    );
    let TurnEnd::Failed { error } = end else {
        panic!("{end:?}")
    };
    assert!(error.hint.contains("api_key_env"));
    assert_eq!(server.requests().await.len(), 1);
}

#[tokio::test]
async fn edits_and_plans_by_other_names_run_and_are_answered() {
    let view = project();
    let provider = replay(&[
        json!({"event": "plan", "steps": [{"step": "Do it", "status": "in_progress"}]}),
        json!({"event": "edit", "path": "README.md", "old": "# Project", "new": "# P"}),
        results(),
        text("Done."),
        ends(),
    ]);
    let session = session(&view);
    let (events, _) = run(&session, input(provider)).await;
    let outline = outline(&events);
    assert!(
        outline.contains("plan 1\n") && outline.contains("done workspace_edit pending\n"),
        "{outline}"
    );
    assert_eq!(view.proposed("README.md").unwrap(), "# P\n");
    let results = session
        .history()
        .into_iter()
        .filter(|message| {
            matches!(
                message,
                Message::ToolResult {
                    is_error: false,
                    ..
                }
            )
        })
        .count();
    assert_eq!(results, 2);
}

#[tokio::test]
async fn the_record_holds_runs_merged_and_everything_else_in_order() {
    let view = project();
    let log = Arc::new(Kept::default());
    let session = session_with(
        &view,
        Arc::new(redline_agent::NoSteering),
        log.clone(),
        vec![],
    );
    let provider = replay(&[
        text("a"),
        text("b"),
        call("workspace_list", json!({})),
        results(),
        text("c"),
        ends(),
    ]);
    run(&session, input(provider)).await;
    let kinds: Vec<String> = log
        .0
        .lock()
        .unwrap()
        .iter()
        .map(|event| serde_json::to_value(event).unwrap())
        .map(|event| {
            format!(
                "{}{}",
                event["kind"]["event"].as_str().unwrap(),
                event["kind"]
                    .get("text")
                    .filter(|_| event["kind"]["event"] == "text")
                    .map(|t| format!(" {t}"))
                    .unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "started",
            "asked",
            "step_started",
            "text \"ab\"",
            "tool_started",
            "tool_called",
            "step_ended",
            "tool_running",
            "tool_finished",
            "step_started",
            "text \"c\"",
            "step_ended",
            "ended",
        ]
    );
}
