//! The way out of a turn: numbered, put into the conversation, recorded, then shown; a frame at a time.
//!
//! The turn never waits here. What it says is merged into the frame that is open; a task of its own records
//! the frame and shows it. So a hundred thousand pieces cost one string, and whoever reads what is shown
//! has never seen more than the record holds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::history::History;
use crate::{EventLog, EventSink, TurnEnd, TurnEvent, TurnEventKind};

/// Frames are at least so far apart.
const FRAME: Duration = Duration::from_millis(16);

/// The events of one turn.
pub(super) struct Events {
    turn_id: String,
    next_seq: u64,
    history: Arc<Mutex<History>>,
    frame: Arc<Frame>,
    recorder: JoinHandle<()>,
}

/// What was said and is not recorded yet.
#[derive(Default)]
struct Frame {
    open: Mutex<Open>,
    changed: Notify,
}

#[derive(Default)]
struct Open {
    events: Vec<TurnEvent>,
    /// Who waits until all of `events` is recorded.
    waiting: Vec<oneshot::Sender<()>>,
    is_last: bool,
}

impl Frame {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events {
    /// Opens the way, and starts the task that records and shows.
    pub(super) fn open(
        turn_id: &str,
        history: Arc<Mutex<History>>,
        log: Arc<dyn EventLog>,
        sink: Arc<dyn EventSink>,
    ) -> Self {
        let frame = Arc::new(Frame::default());
        let recorder = Recorder {
            turn_id: turn_id.to_owned(),
            frame: Arc::clone(&frame),
            log: Some(log),
            sink,
        };
        Self {
            turn_id: turn_id.to_owned(),
            next_seq: 0,
            history,
            frame,
            recorder: tokio::spawn(recorder.run()),
        }
    }

    /// Says something. It is recorded and shown within a frame.
    pub(super) fn emit(&mut self, kind: TurnEventKind) {
        self.history
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .apply(&kind);
        let mut open = self.frame.open();
        if let Some(last) = open.events.last_mut()
            && merge(&mut last.kind, &kind)
        {
            return;
        }
        open.events.push(TurnEvent {
            turn_id: self.turn_id.clone(),
            seq: self.next_seq,
            kind,
        });
        self.next_seq += 1;
        drop(open);
        self.frame.changed.notify_one();
    }

    /// Waits until all that was said is recorded: what follows may change something.
    pub(super) async fn recorded(&self) {
        let (sender, done) = oneshot::channel();
        self.frame.open().waiting.push(sender);
        self.frame.changed.notify_one();
        // Dropped only when the recorder is gone, and then there is nothing to wait for.
        let _ = done.await;
    }

    /// Says the last event, and returns when it is recorded and shown.
    pub(super) async fn end(mut self, end: TurnEnd) {
        self.emit(TurnEventKind::Ended { end });
        self.frame.open().is_last = true;
        self.frame.changed.notify_one();
        // A panic in it was reported where it happened.
        let _ = self.recorder.await;
    }
}

/// Records and shows, frame by frame.
struct Recorder {
    turn_id: String,
    frame: Arc<Frame>,
    /// None after it failed once.
    log: Option<Arc<dyn EventLog>>,
    sink: Arc<dyn EventSink>,
}

impl Recorder {
    async fn run(mut self) {
        let mut next = Instant::now();
        let mut unshown = Vec::new();
        loop {
            self.due(next, !unshown.is_empty()).await;
            let (events, waiting, is_last) = {
                let mut open = self.frame.open();
                let events = std::mem::take(&mut open.events);
                (events, std::mem::take(&mut open.waiting), open.is_last)
            };
            if !events.is_empty() {
                unshown.extend(self.record(events).await);
            }
            for waiting in waiting {
                // Whoever waited may have been stopped.
                let _ = waiting.send(());
            }
            if is_last {
                tokio::time::sleep_until(next).await;
            }
            if !unshown.is_empty() && Instant::now() >= next {
                self.sink.show(std::mem::take(&mut unshown));
                next = Instant::now() + FRAME;
            }
            if is_last {
                return;
            }
        }
    }

    /// Waits until something was said and the frame is over, or somebody waits for the record.
    async fn due(&self, next: Instant, is_unshown: bool) {
        loop {
            let (is_filled, is_urgent) = {
                let open = self.frame.open();
                let is_urgent = open.is_last || !open.waiting.is_empty();
                (is_unshown || !open.events.is_empty(), is_urgent)
            };
            if is_urgent || (is_filled && Instant::now() >= next) {
                return;
            }
            if is_filled {
                tokio::select! {
                    () = tokio::time::sleep_until(next) => {}
                    () = self.frame.changed.notified() => {}
                }
            } else {
                self.frame.changed.notified().await;
            }
        }
    }

    /// Records events; returns them, with a notice when that failed.
    async fn record(&mut self, events: Vec<TurnEvent>) -> Vec<TurnEvent> {
        let Some(log) = self.log.clone() else {
            return events;
        };
        let durable = events.iter().any(|event| is_kept(&event.kind));
        let events = Arc::new(events);
        let recorded = tokio::task::spawn_blocking({
            let events = Arc::clone(&events);
            move || log.append(&events, durable)
        });
        let failed = match recorded.await {
            Ok(result) => result.err().map(|error| error.to_string()),
            Err(panic) => Some(format!("the session's record failed inside: {panic}")),
        };
        let mut events = Arc::try_unwrap(events).unwrap_or_else(|shared| (*shared).clone());
        if let Some(error) = failed {
            self.log = None;
            let text = format!("{error}. The turn goes on without a record.");
            // Before the last event: an end stays the last.
            let at = events.len().saturating_sub(1);
            let seq = events.get(at).map_or(0, |event| event.seq);
            let turn_id = self.turn_id.clone();
            let kind = TurnEventKind::Notice { text };
            events.insert(at, TurnEvent { turn_id, seq, kind });
        }
        events
    }
}

/// Whether an event must outlive the machine: what the user said, what a call did, how it ended.
fn is_kept(kind: &TurnEventKind) -> bool {
    matches!(
        kind,
        TurnEventKind::Started { .. }
            | TurnEventKind::ToolStaged { .. }
            | TurnEventKind::ToolFinished { .. }
            | TurnEventKind::Committed { .. }
            | TurnEventKind::Ended { .. }
    )
}

/// Adds a piece to a run of the same kind.
fn merge(run: &mut TurnEventKind, piece: &TurnEventKind) -> bool {
    match (run, piece) {
        (TurnEventKind::Text { text }, TurnEventKind::Text { text: more }) => {
            text.push_str(more);
            true
        }
        (
            TurnEventKind::Reasoning {
                reasoning,
                text,
                replay,
            },
            TurnEventKind::Reasoning {
                reasoning: same,
                text: more,
                replay: block,
            },
        ) if reasoning == same && replay.is_none() => {
            text.push_str(more);
            replay.clone_from(block);
            true
        }
        _ => false,
    }
}
