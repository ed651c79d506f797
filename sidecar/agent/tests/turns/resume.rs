//! A session that is loaded again goes on as if the process had never ended.

use std::sync::Arc;

use redline_agent::{
    Agent, EventLog, EventSink, Ground, History, NoSteering, Past, Session, SessionStore, TurnEnd,
    TurnEvent, TurnEventKind, export,
};
use redline_providers::{AssistantPart, Message};
use redline_tools::gate::ClosedGate;
use redline_workspace::PrivateStore;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::*;
use crate::view::FolderView;

struct Home {
    temp: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            temp: tempfile::tempdir().unwrap(),
        }
    }

    fn store(&self) -> SessionStore {
        let private = PrivateStore::new(self.temp.path().join("redline"));
        SessionStore::new(
            private.sessions("agent", "ws_1"),
            Arc::new(|| 1_700_000_000_123u64),
        )
    }
}

fn session(view: &Arc<FolderView>, log: Arc<dyn EventLog>, history: History) -> Arc<Session> {
    let agent = Agent::new("agent", "", Vec::new()).unwrap();
    let ground = Ground {
        view: view.clone(),
        gate: Arc::new(ClosedGate),
        steering: Arc::new(NoSteering),
        log,
    };
    Arc::new(agent.session("se_1", "", ground, history))
}

fn nowhere() -> Arc<dyn EventSink> {
    Arc::new(|_: Vec<TurnEvent>| {})
}

async fn turn(session: &Arc<Session>, id: &str, prompt: &str, lines: &[Value]) -> TurnEnd {
    let mut input = input(replay(lines));
    input.turn_id = id.to_owned();
    input.prompt = prompt.to_owned();
    let end = session.run_turn(input, nowhere(), CancellationToken::new());
    end.await.unwrap()
}

/// Everything that a vendor may want back: opaque blocks, ids, arguments that are none.
fn rich() -> Vec<Value> {
    vec![
        json!({"event": "reasoning", "text": "Hm, ", "kind": "summary"}),
        json!({"event": "reasoning", "text": "yes.", "kind": "summary", "replay": {"signature": "sig=="}}),
        json!({"event": "reasoning", "text": "", "kind": "redacted", "replay": {"data": "opaque"}}),
        text("I look "),
        text("first."),
        json!({"event": "tool_call", "id": "toolu_1", "name": "workspace_read", "arguments": {"path": "README.md"}}),
        json!({"event": "tool_call", "id": "toolu_2", "name": "workspace_read", "arguments_raw": "{\"path\": \"cut"}),
        text("And then."),
        json!({"event": "usage", "input": 10, "output": 4, "input_cached": 3, "output_reasoning": 2}),
        results(),
        json!({"event": "plan", "id": "plan_1", "steps": [{"step": "Do it", "status": "pending"}]}),
        json!({"event": "edit", "id": "edit_1", "path": "README.md", "old": "# Project", "new": "# P"}),
        results(),
        text("Done."),
        ends(),
    ]
}

#[tokio::test]
async fn the_conversation_is_rebuilt_exactly() {
    let home = Home::new();
    let recorder = Arc::new(home.store().create("se_1", "replay/m", "manual").unwrap());
    let live = session(&project(), recorder.clone(), History::default());
    turn(&live, "turn_1", "\n  Make it short\nand good", &rich()).await;
    let mut second = rich();
    second.insert(0, json!({"event": "prompt"}));
    let both = [rich(), second].concat();
    turn(&live, "turn_2", "Again", &both).await;
    drop(recorder);
    let told = live.history();
    drop(live);

    let (recorder, past) = home.store().open("se_1").unwrap();
    assert_eq!(past.history.messages(), told);
    assert_eq!(past.repaired, None);
    let calls = told.iter().flat_map(Message::call_ids);
    assert_eq!(calls.take(2).collect::<Vec<_>>(), ["toolu_1", "toolu_2"]);
    let has_block = |message: &Message| {
        let Message::Assistant { parts } = message else {
            return false;
        };
        parts.iter().any(|part| {
            matches!(part, AssistantPart::Reasoning { replay: Some(block), .. } if block == &json!({"signature": "sig=="}))
        })
    };
    assert!(told.iter().any(has_block));
    let summary = recorder.summary();
    assert_eq!(summary.title.as_deref(), Some("Make it short"));
    assert_eq!((summary.turns, summary.updated_at), (2, 1_700_000_000));
    // And it goes on.
    let again = session(&project(), Arc::new(recorder), past.history);
    let mut third = rich();
    third.insert(0, json!({"event": "prompt"}));
    assert_eq!(
        turn(&again, "turn_3", "More", &[both, third].concat()).await,
        TurnEnd::Completed
    );
    assert_eq!(home.store().list(false).unwrap()[0].turns, 3);
}

/// What must hold of a session's events, whenever its process died.
fn check_past(past: &Past) {
    let turns: std::collections::BTreeSet<&str> = past
        .events
        .iter()
        .map(|event| event.turn_id.as_str())
        .collect();
    for turn in turns {
        let events: Vec<TurnEvent> = past
            .events
            .iter()
            .filter(|event| event.turn_id == turn)
            .cloned()
            .collect();
        let Some(TurnEventKind::Ended { end }) = events.last().map(|event| event.kind.clone())
        else {
            panic!("a turn without an end");
        };
        check_order(&events, &end);
    }
}

#[tokio::test]
async fn a_kill_after_any_event_leaves_a_session_that_goes_on() {
    let home = Home::new();
    let recorder = Arc::new(
        home.store()
            .create("se_whole", "replay/m", "manual")
            .unwrap(),
    );
    let live = session(&project(), recorder, History::default());
    turn(&live, "turn_1", "Go", &rich()).await;
    drop(live);
    let whole = home.store().read("se_whole").unwrap();
    for cut in 1..=whole.events.len() {
        let id = format!("se_{cut}");
        let recorder = home.store().create(&id, "replay/m", "manual").unwrap();
        recorder.append(&whole.events[..cut], false).unwrap();
        drop(recorder);
        let (recorder, past) = home.store().open(&id).unwrap();
        check_past(&past);
        let is_whole = cut == whole.events.len();
        let ended = past.events.last().map(|event| event.kind.clone());
        let end = if is_whole {
            TurnEnd::Completed
        } else {
            TurnEnd::Interrupted
        };
        assert_eq!(ended, Some(TurnEventKind::Ended { end }), "cut after {cut}");
        // What was ended is recorded: the next one finds nothing to do.
        drop(recorder);
        let (recorder, again) = home.store().open(&id).unwrap();
        assert_eq!(again.events, past.events);
        // The next prompt is taken, whatever stands before it.
        let session = session(&project(), Arc::new(recorder), again.history);
        let lines = [
            text("a"),
            ends(),
            json!({"event": "prompt"}),
            text("Fine."),
            ends(),
        ];
        assert_eq!(
            turn(&session, "turn_2", "Go on", &lines).await,
            TurnEnd::Completed,
            "cut after {cut}"
        );
    }
}

#[tokio::test]
async fn a_fork_has_the_past_as_far_as_the_turn_that_was_named() {
    let home = Home::new();
    let recorder = Arc::new(home.store().create("se_1", "replay/m", "manual").unwrap());
    let live = session(&project(), recorder, History::default());
    let lines = [
        text("one"),
        ends(),
        json!({"event": "prompt"}),
        text("two"),
        ends(),
    ];
    turn(&live, "turn_1", "First", &lines).await;
    turn(&live, "turn_2", "Second", &lines).await;
    // Also while the first is open here.
    let (_, whole) = home.store().fork("se_1", None, "se_2").unwrap();
    assert_eq!(whole.history.messages(), live.history());
    let (recorder, past) = home.store().fork("se_1", Some("turn_1"), "se_3").unwrap();
    assert_eq!(past.history.messages(), &live.history()[..2]);
    assert_eq!(past.summary.turns, 1);
    drop(recorder);
    let (_, read) = home.store().open("se_3").unwrap();
    assert_eq!(read.history, past.history);
    assert_eq!(read.summary.title.as_deref(), Some("First"));
    let error = home
        .store()
        .fork("se_1", Some("turn_9"), "se_4")
        .unwrap_err();
    assert_eq!(error.code(), "NOT_FOUND");
}

/// The events of a session without what only time decides: where a frame cut a run, and which of two calls
/// that ran side by side ended first.
fn said(past: &Past) -> (Vec<TurnEventKind>, Vec<Message>) {
    let mut kinds: Vec<TurnEventKind> = Vec::new();
    for event in &past.events {
        match (kinds.last_mut(), &event.kind) {
            (Some(TurnEventKind::Text { text }), TurnEventKind::Text { text: more }) => {
                text.push_str(more);
            }
            _ => kinds.push(event.kind.clone()),
        }
    }
    let ended = |kind: &TurnEventKind| match kind {
        TurnEventKind::ToolFinished { call_id, .. } => Some(call_id.clone()),
        _ => None,
    };
    for run in kinds.chunk_by_mut(|a, b| ended(a).is_some() && ended(b).is_some()) {
        run.sort_by_key(ended);
    }
    let messages = redline_providers::history::repaired(past.history.messages());
    (kinds, messages)
}

#[tokio::test]
async fn an_exported_turn_plays_the_same_events_and_proposes_the_same() {
    let home = Home::new();
    let mut plays = Vec::new();
    let mut lines = None;
    for id in ["se_1", "se_2"] {
        let view = project();
        let recorder = Arc::new(home.store().create(id, "replay/m", "manual").unwrap());
        let live = session(&view, recorder, History::default());
        let played = lines.take().unwrap_or_else(rich);
        assert_eq!(
            turn(&live, "turn_1", "Go", &played).await,
            TurnEnd::Completed
        );
        drop(live);
        let past = home.store().read(id).unwrap();
        let exported = export(&past.events, "turn_1").unwrap();
        let values = exported
            .lines()
            .skip(1)
            .map(|line| serde_json::from_str(line).unwrap());
        lines = Some(values.collect::<Vec<Value>>());
        assert_eq!(export(&past.events, "turn_9"), None);
        plays.push((said(&past), view.proposed("README.md"), exported));
    }
    assert_eq!(plays[0], plays[1]);
}

#[tokio::test]
async fn another_model_is_not_sent_what_only_the_first_understands() {
    let (view, server) = (
        project(),
        crate::server::Server::start(vec![says("Here.")]).await,
    );
    let live = session(&view, Arc::new(redline_agent::NoLog), History::default());
    turn(&live, "turn_1", "Go", &rich()).await;
    let mut other = input(chat(&server));
    other.turn_id = "turn_2".to_owned();
    let end = live.run_turn(other, nowhere(), CancellationToken::new());
    assert_eq!(end.await.unwrap(), TurnEnd::Completed);
    let sent = server.requests().await[0].body.to_string();
    assert!(
        sent.contains("I look first.") && sent.contains("toolu_1"),
        "{sent}"
    );
    assert!(
        !sent.contains("sig==") && !sent.contains("opaque"),
        "{sent}"
    );
}
