//! Cancel, at any point: one terminal event, soon, and no connection left.

use std::sync::Arc;
use std::time::Duration;

use redline_agent::{NoLog, NoSteering, TurnEnd, TurnEvent, TurnEventKind};
use redline_tools::{CallContext, Envelope, Schema, Tool, ToolError};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::server::{Close, Server};
use crate::support::*;

/// Runs a turn and cancels it at the first event that `at` names. Returns all events and the time
/// from the cancel to the end.
async fn cancelled_at(
    session: &Arc<redline_agent::Session>,
    input: redline_agent::TurnInput,
    at: impl Fn(&TurnEventKind) -> bool,
) -> (Vec<TurnEvent>, Duration) {
    let (sink, mut events) = channel();
    let cancel = CancellationToken::new();
    let turn = tokio::spawn({
        let (session, cancel) = (session.clone(), cancel.clone());
        async move { session.run_turn(input, sink, cancel).await.unwrap() }
    });
    let mut all = Vec::new();
    let mut began = None;
    while let Some(event) = events.recv().await {
        if began.is_none() && at(&event.kind) {
            began = Some(tokio::time::Instant::now());
            cancel.cancel();
        }
        all.push(event);
    }
    let end = turn.await.unwrap();
    assert_eq!(end, TurnEnd::Cancelled);
    check_order(&all, &end);
    (all, began.expect("the event came").elapsed())
}

#[tokio::test(start_paused = true)]
async fn cancel_ends_a_silent_model_at_once() {
    let view = project();
    let lines = [
        text("a"),
        json!({"event": "text", "text": "b", "delay_ms": 3_600_000}),
        ends(),
    ];
    let (_, took) = cancelled_at(&session(&view), input(replay(&lines)), |event| {
        matches!(event, TurnEventKind::Text { .. })
    })
    .await;
    assert!(took <= Duration::from_millis(200), "{took:?}");
}

#[tokio::test]
async fn cancel_closes_the_connection() {
    let view = project();
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "a"}}]});
    let server = Server::start(vec![answer(
        200,
        "text/event-stream",
        &format!("data: {chunk}\n\n"),
        Close::Hang,
    )])
    .await;
    let session = session(&view);
    cancelled_at(&session, input(chat(&server)), |event| {
        matches!(event, TurnEventKind::Text { .. })
    })
    .await;
    // Returns only when the server has read the end of the connection.
    tokio::time::timeout(Duration::from_secs(10), server.closed(1))
        .await
        .expect("closed");
}

#[tokio::test(start_paused = true)]
async fn cancel_ends_the_wait_before_a_retry() {
    let view = project();
    let busy = json!({"event": "error", "kind": "rate_limit", "message": "Slow", "retry_after_ms": 50_000});
    let lines = [busy, json!({"event": "done", "reason": "error"})];
    let (_, took) = cancelled_at(&session(&view), input(replay(&lines)), |event| {
        matches!(event, TurnEventKind::Retrying { .. })
    })
    .await;
    assert!(took <= Duration::from_millis(200), "{took:?}");
}

/// A tool that runs until the turn is stopped, or longer.
struct Slow {
    schema: Schema,
    heeds: bool,
    release: std::sync::Mutex<std::sync::mpsc::Receiver<()>>,
    /// What the user presses while it runs.
    cancel: CancellationToken,
}

impl Tool for Slow {
    fn name(&self) -> &str {
        "slow"
    }
    fn description(&self) -> &str {
        "Takes long."
    }
    fn schema(&self) -> &Schema {
        &self.schema
    }
    fn mutates(&self) -> bool {
        false
    }
    fn call(
        &self,
        context: &CallContext<'_>,
        _: &Map<String, Value>,
    ) -> Result<Envelope, ToolError> {
        let release = self.release.lock().unwrap();
        self.cancel.cancel();
        while self.heeds && !context.cancel.load(std::sync::atomic::Ordering::Relaxed) {
            std::thread::yield_now();
        }
        if !self.heeds {
            let _ = release.recv();
        }
        Ok(Envelope::ok("slow", "late", Value::Null))
    }
}

// The clock stands still while a tool runs, so the tool has all the time that it needs to heed the cancel.
#[tokio::test(start_paused = true)]
async fn cancel_takes_the_result_of_a_tool_that_heeds_it() {
    cancelled_during_a_call(true, "done slow late").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancel_ends_a_turn_whose_tool_runs_on() {
    cancelled_during_a_call(false, "done slow CANCELLED").await;
}

async fn cancelled_during_a_call(heeds: bool, said: &str) {
    let view = project();
    let (done, release) = std::sync::mpsc::channel();
    let cancel = CancellationToken::new();
    let slow = Arc::new(Slow {
        schema: Schema::compile("slow", json!({"type": "object"})).unwrap(),
        heeds,
        release: std::sync::Mutex::new(release),
        cancel: cancel.clone(),
    });
    let session = session_with(&view, Arc::new(NoSteering), Arc::new(NoLog), vec![slow]);
    let lines = [call("slow", json!({})), results(), text("never"), ends()];
    let (sink, mut events) = channel();
    let turn = session.run_turn(input(replay(&lines)), sink, cancel);
    assert_eq!(turn.await.unwrap(), TurnEnd::Cancelled);
    let mut all = Vec::new();
    while let Ok(event) = events.try_recv() {
        all.push(event);
    }
    check_order(&all, &TurnEnd::Cancelled);
    let kinds: Vec<TurnEventKind> = all.into_iter().map(|event| event.kind).collect();
    let outline = outline(&kinds);
    assert!(outline.contains(said), "{outline}");
    drop(done);
}
