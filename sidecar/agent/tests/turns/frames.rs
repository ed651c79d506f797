//! Recorded before it is shown, a frame at a time, however fast the model speaks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use redline_agent::{EventLog, EventSink, LogError, NoSteering, TurnEnd, TurnEvent, TurnEventKind};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::*;

/// Notes when each frame was shown.
#[derive(Default)]
struct Frames(Mutex<Vec<(tokio::time::Instant, Vec<TurnEvent>)>>);

impl EventSink for Frames {
    fn show(&self, events: Vec<TurnEvent>) {
        let now = tokio::time::Instant::now();
        self.0.lock().unwrap().push((now, events));
    }
}

fn text_of(events: &[TurnEvent]) -> String {
    events
        .iter()
        .filter_map(|event| match &event.kind {
            TurnEventKind::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn frames_are_sixteen_milliseconds_apart_and_hold_merged_text() {
    let view = project();
    // A thousand pieces, one each millisecond.
    let mut lines: Vec<_> = (0..1000)
        .map(|n| json!({"event": "text", "text": format!("{n} "), "delay_ms": 1}))
        .collect();
    lines.push(ends());
    let frames = Arc::new(Frames::default());
    let session = session(&view);
    let end = session
        .run_turn(
            input(replay(&lines)),
            frames.clone(),
            CancellationToken::new(),
        )
        .await;
    assert_eq!(end, Ok(TurnEnd::Completed));
    let frames = frames.0.lock().unwrap();
    for pair in frames.windows(2) {
        let apart = pair[1].0 - pair[0].0;
        assert!(apart >= Duration::from_millis(16), "{apart:?}");
    }
    // About one each 16 ms of the second that it took, and one text in each.
    assert!((55..=65).contains(&frames.len()), "{}", frames.len());
    let all: Vec<TurnEvent> = frames
        .iter()
        .flat_map(|(_, events)| events.clone())
        .collect();
    let expected: String = (0..1000).map(|n| format!("{n} ")).collect();
    assert_eq!(text_of(&all), expected);
    for (_, events) in frames.iter() {
        let texts = events
            .iter()
            .filter(|event| matches!(event.kind, TurnEventKind::Text { .. }));
        assert!(texts.count() <= 1);
    }
}

/// A log, and a sink that finds everything it is shown in that log.
#[derive(Default)]
struct Recorded(Mutex<Vec<TurnEvent>>);

impl EventLog for Recorded {
    fn append(&self, events: &[TurnEvent], _: bool) -> Result<(), LogError> {
        self.0.lock().unwrap().extend_from_slice(events);
        Ok(())
    }
}

impl EventSink for Recorded {
    fn show(&self, events: Vec<TurnEvent>) {
        let recorded = self.0.lock().unwrap();
        for event in events {
            assert!(
                recorded.contains(&event),
                "shown and not recorded: {event:?}"
            );
        }
    }
}

#[tokio::test]
async fn nothing_is_shown_that_is_not_recorded() {
    let view = project();
    let recorded = Arc::new(Recorded::default());
    let session = session_with(&view, Arc::new(NoSteering), recorded.clone(), Vec::new());
    let lines = [
        text("a"),
        json!({"event": "reasoning", "text": "b"}),
        call("workspace_list", json!({})),
        results(),
        json!({"event": "text", "text": "c", "delay_ms": 40}),
        json!({"event": "text", "text": "d", "delay_ms": 40}),
        ends(),
    ];
    let end = session
        .run_turn(
            input(replay(&lines)),
            recorded.clone(),
            CancellationToken::new(),
        )
        .await;
    assert_eq!(end, Ok(TurnEnd::Completed));
    let recorded = recorded.0.lock().unwrap();
    check_order(&recorded, &TurnEnd::Completed);
    assert_eq!(text_of(&recorded), "acd");
}

/// A disk that is full.
struct Full;

impl EventLog for Full {
    fn append(&self, _: &[TurnEvent], _: bool) -> Result<(), LogError> {
        Err(LogError("no space left".to_owned()))
    }
}

#[tokio::test]
async fn a_record_that_fails_is_said_once_and_the_turn_goes_on() {
    let view = project();
    let session = session_with(&view, Arc::new(NoSteering), Arc::new(Full), Vec::new());
    let (sink, mut events) = channel();
    let lines = [
        call("workspace_list", json!({})),
        results(),
        text("ok"),
        ends(),
    ];
    let end = session
        .run_turn(input(replay(&lines)), sink, CancellationToken::new())
        .await;
    assert_eq!(end, Ok(TurnEnd::Completed));
    let mut kinds = Vec::new();
    while let Ok(event) = events.try_recv() {
        kinds.push(event.kind);
    }
    let outline = outline(&kinds);
    assert_eq!(outline.matches("no space left").count(), 1, "{outline}");
    assert!(
        outline.ends_with("end {\"reason\":\"completed\"}\n"),
        "{outline}"
    );
}
