//! What a turn took, as the user reads it: over real sockets, with vendors that tell and vendors that do not.

use std::sync::Arc;

use redline_agent::{Budget, BudgetLimit, ModelFacts, StepModel, TurnEnd, TurnEventKind};
use redline_providers::{Api, ApiOptions, Connection, Price, Provider, Rates};
use serde_json::{Value, json};

use crate::server::{Answer, Close, Server};
use crate::support::*;

/// One dollar for a million tokens in, ten for a million out.
fn priced(provider: Arc<dyn Provider>) -> StepModel {
    let rates = Rates {
        input: 1.0,
        cache_read: None,
        cache_write: None,
        output: 10.0,
    };
    let price = Some(Price {
        rates,
        long_prompts: None,
    });
    let facts = ModelFacts {
        price,
        window: Some(10_000),
    };
    StepModel {
        facts: Arc::new(move || facts),
        ..StepModel::new(provider, "m")
    }
}

fn over(api: &str, server: &Server) -> Arc<dyn Provider> {
    let connection = Connection {
        name: "real".to_owned(),
        base_url: server.base.clone(),
        ..Connection::default()
    };
    let api = Api::parse(api).unwrap();
    api.open(connection, ApiOptions::default()).unwrap()
}

/// Input and output of the turn, its cost, and whether that is an estimate; the last that was told.
fn last(events: &[TurnEventKind]) -> Option<(u64, u64, Option<f64>, bool)> {
    events.iter().rev().find_map(|event| match event {
        TurnEventKind::Usage {
            turn,
            turn_cost,
            estimated,
            ..
        } => Some((turn.input, turn.output, *turn_cost, *estimated)),
        _ => None,
    })
}

fn notices(events: &[TurnEventKind]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| match event {
            TurnEventKind::Notice { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

fn recorded(input: u64, output: u64) -> Value {
    json!({"event": "usage", "input": input, "output": output})
}

#[tokio::test]
async fn money_is_limited_where_its_amount_is_known() {
    let mut lines = Vec::new();
    for _ in 0..10 {
        lines.extend([
            call("workspace_list", json!({})),
            recorded(100_000, 10_000),
            results(),
        ]);
    }
    let view = project();
    let limited = |model: StepModel| {
        let mut input = input(replay(&[ends()]));
        input.model = model;
        input.budget = Budget {
            steps: 5,
            cost: Some(0.5),
            ..Budget::default()
        };
        input
    };
    // Each step costs 0.1 + 0.1.
    let (events, end) = run(&session(&view), limited(priced(replay(&lines)))).await;
    let limit = BudgetLimit::Cost;
    assert_eq!(end, TurnEnd::Budget { limit });
    let (input, _, cost, estimated) = last(&events).unwrap();
    assert!((cost.unwrap() - 0.6).abs() < 1e-9 && input == 300_000 && !estimated);
    // Of a model without a price nobody knows, and it is said, once.
    let unknown = StepModel::new(replay(&lines), "m");
    let (events, end) = run(&session(&view), limited(unknown)).await;
    let limit = BudgetLimit::Steps;
    assert_eq!(end, TurnEnd::Budget { limit });
    assert_eq!(last(&events).unwrap().2, None);
    let told = notices(&events);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("0.5 US dollars") && told[0].contains("replay/m"));
}

#[tokio::test]
async fn the_next_turn_goes_on_counting_for_the_session() {
    let view = project();
    let session = session(&view);
    let lines = [
        recorded(1000, 0),
        ends(),
        json!({"event": "prompt"}),
        recorded(1000, 0),
        ends(),
    ];
    let provider = replay(&lines);
    let mut totals = Vec::new();
    for _ in 0..2 {
        let mut input = input(provider.clone());
        input.model = priced(provider.clone());
        let (events, _) = run(&session, input).await;
        totals.extend(events.iter().filter_map(|event| match event {
            TurnEventKind::Usage {
                turn_cost,
                session_cost,
                ..
            } => Some((turn_cost.unwrap(), session_cost.unwrap())),
            _ => None,
        }));
    }
    assert_eq!(totals.len(), 2);
    assert!((totals[1].0 - 0.001).abs() < 1e-9 && (totals[1].1 - 0.002).abs() < 1e-9);
}

#[tokio::test]
async fn a_server_that_counts_nothing_is_estimated_and_it_is_said() {
    let server = Server::start(vec![says("Hello, and this is all.")]).await;
    let view = project();
    let mut input = input(chat(&server));
    input.model = priced(chat(&server));
    let (events, _) = run(&session(&view), input).await;
    let (read, written, cost, estimated) = last(&events).unwrap();
    assert!(estimated && read > 100 && written == 6, "{read} {written}");
    assert!(cost.is_some_and(|cost| cost > 0.0));
    // A recording without totals took nothing, so nothing is told.
    let (events, _) = run(&session(&view), self::input(replay(&[text("x"), ends()]))).await;
    assert_eq!(last(&events), None);
}

#[tokio::test]
async fn an_endpoint_that_counts_is_asked_when_the_answer_says_nothing() {
    let start = json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}});
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi."}});
    let stop = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
    let body: String = [
        &start,
        &block,
        &delta,
        &json!({"type": "content_block_stop", "index": 0}),
        &stop,
        &json!({"type": "message_stop"}),
    ]
    .iter()
    .map(|event| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    })
    .collect();
    let streamed = answer(200, "text/event-stream", &body, Close::Eof);
    let counted = answer(
        200,
        "application/json",
        r#"{"input_tokens": 4321}"#,
        Close::Eof,
    );
    let server = Server::routes(vec![
        ("/v1/messages", vec![streamed]),
        ("/v1/messages/count_tokens", vec![counted]),
    ])
    .await;
    let view = project();
    let (events, end) = run(&session(&view), input(over("anthropic", &server))).await;
    assert_eq!(end, TurnEnd::Completed);
    let (read, written, cost, estimated) = last(&events).unwrap();
    assert_eq!((read, written, cost, estimated), (4321, 1, None, true));
}

#[tokio::test]
async fn a_prompt_that_the_server_cut_without_a_word_is_noticed_and_said() {
    let answer_of = |read: u64| -> Answer {
        let line = json!({
            "model": "m", "message": {"role": "assistant", "content": "What?"}, "done": true,
            "done_reason": "stop", "prompt_eval_count": read, "eval_count": 3,
        });
        answer(
            200,
            "application/x-ndjson",
            &format!("{line}\n"),
            Close::Eof,
        )
    };
    let view = project();
    let prompt = "A long prompt of many words. ".repeat(2_000);
    for (read, is_cut) in [(2_048, true), (15_000, false)] {
        let server = Server::routes(vec![("/api/chat", vec![answer_of(read)])]).await;
        let mut input = input(over("ollama", &server));
        input.prompt.clone_from(&prompt);
        let (events, end) = run(&session(&view), input).await;
        assert_eq!(end, TurnEnd::Completed);
        let told = notices(&events);
        assert_eq!(
            told.iter()
                .any(|text| text.contains("the server read 2048 of about")),
            is_cut,
            "{told:?}"
        );
        // What it read is what it took.
        assert_eq!(last(&events).unwrap().0, read);
    }
}

#[tokio::test]
async fn what_a_broken_answer_took_is_counted_too() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 700, "completion_tokens": 5}});
    let text = json!({"choices": [{"index": 0, "delta": {"content": "Half"}}]});
    let broken = answer(
        200,
        "text/event-stream",
        &format!("data: {usage}\n\ndata: {text}\n\n"),
        Close::Reset,
    );
    let server = Server::start(vec![broken]).await;
    let view = project();
    let (events, end) = run(&session(&view), input(chat(&server))).await;
    assert!(matches!(end, TurnEnd::Failed { .. }), "{end:?}");
    assert_eq!(last(&events), Some((700, 5, None, false)));
}
