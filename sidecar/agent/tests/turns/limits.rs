//! The budget of a turn, and readers that are slow or gone.

use std::time::Duration;

use redline_agent::{Budget, BudgetLimit, Busy, TurnEnd};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::*;

fn endless() -> Vec<serde_json::Value> {
    let mut lines = Vec::new();
    for _ in 0..50 {
        lines.extend([
            call("workspace_list", json!({})),
            json!({"event": "usage", "input": 100, "output": 10}),
            results(),
        ]);
    }
    lines
}

#[tokio::test]
async fn steps_and_tokens_are_limited() {
    let view = project();
    let cases = [
        (
            Budget {
                steps: 3,
                ..Budget::default()
            },
            BudgetLimit::Steps,
            3,
        ),
        (
            Budget {
                tokens: Some(200),
                ..Budget::default()
            },
            BudgetLimit::Tokens,
            2,
        ),
    ];
    for (budget, limit, steps) in cases {
        let mut input = input(replay(&endless()));
        input.budget = budget;
        let (events, end) = run(&session(&view), input).await;
        assert_eq!(end, TurnEnd::Budget { limit });
        assert_eq!(
            outline(&events).matches("done workspace_list read").count(),
            steps
        );
    }
}

#[tokio::test(start_paused = true)]
async fn time_is_limited_also_while_the_model_is_silent() {
    let view = project();
    let mut input = input(replay(&[
        json!({"event": "text", "text": "late", "delay_ms": 3_600_000}),
        ends(),
    ]));
    input.budget.time = Duration::from_secs(60);
    let began = tokio::time::Instant::now();
    let (_, end) = run(&session(&view), input).await;
    assert_eq!(
        end,
        TurnEnd::Budget {
            limit: BudgetLimit::Time
        }
    );
    assert_eq!(began.elapsed().as_secs(), 60);
}

#[tokio::test]
async fn a_turn_goes_on_when_nobody_listens() {
    let view = project();
    let provider = replay(&[
        call(
            "workspace_edit",
            json!({"edits": [{"path": "README.md", "search": "# Project", "replace": "# P"}]}),
        ),
        results(),
        text("ok"),
        ends(),
    ]);
    let (sink, events) = channel();
    drop(events);
    let end = session(&view)
        .run_turn(input(provider), sink, CancellationToken::new())
        .await;
    assert_eq!(end, Ok(TurnEnd::Completed));
    assert_eq!(view.proposed("README.md").unwrap(), "# P\n");
}

#[tokio::test]
async fn one_turn_runs_at_a_time() {
    let view = project();
    let session = session(&view);
    let wait = json!({"event": "text", "text": "x", "delay_ms": 3_600_000});
    let (sink, mut events) = channel();
    let cancel = CancellationToken::new();
    let first = tokio::spawn({
        let (session, cancel) = (session.clone(), cancel.clone());
        async move {
            session
                .run_turn(input(replay(&[wait, ends()])), sink, cancel)
                .await
        }
    });
    events.recv().await.unwrap();
    let (second, _unread) = channel();
    let refused = session
        .run_turn(
            input(replay(&[text("x"), ends()])),
            second,
            CancellationToken::new(),
        )
        .await;
    assert_eq!(refused, Err(Busy));
    cancel.cancel();
    assert_eq!(first.await.unwrap(), Ok(TurnEnd::Cancelled));
    assert!(!session.is_busy());
}
