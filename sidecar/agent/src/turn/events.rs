//! The way out of a turn: numbered, recorded, then shown.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::OwnedPermit;

use super::{Stop, TurnSink};
use crate::{EventLog, TurnEnd, TurnEvent, TurnEventKind};

/// How long the events after a cancel may wait for a slow reader, all together.
const GRACE: Duration = Duration::from_millis(100);

/// The events of one turn.
pub(super) struct Events {
    turn_id: String,
    next_seq: u64,
    sink: TurnSink,
    /// A place in the sink that is kept for the last event, so that a full sink cannot swallow it.
    last: Option<OwnedPermit<TurnEvent>>,
    log: Arc<dyn EventLog>,
    log_failed: bool,
    /// The run of pieces that the log has not seen yet.
    run: Option<TurnEvent>,
    stop: Stop,
    grace_until: Option<tokio::time::Instant>,
}

impl Events {
    /// Opens the way; waits for the one place that the last event needs.
    pub(super) async fn open(
        turn_id: &str,
        sink: TurnSink,
        log: Arc<dyn EventLog>,
        stop: Stop,
    ) -> Self {
        let last = tokio::select! {
            biased;
            permit = sink.clone().reserve_owned() => permit.ok(),
            _ = stop.wait() => None,
        };
        Self {
            turn_id: turn_id.to_owned(),
            next_seq: 0,
            sink,
            last,
            log,
            log_failed: false,
            run: None,
            stop,
            grace_until: None,
        }
    }

    /// Records an event and shows it. Waits for a slow reader, but not past a cancel.
    pub(super) async fn emit(&mut self, kind: TurnEventKind) {
        let event = self.number(kind);
        self.record(&event).await;
        self.send(event).await;
    }

    /// Shows the last event.
    pub(super) async fn end(mut self, end: TurnEnd) {
        let event = self.number(TurnEventKind::Ended { end });
        self.record(&event).await;
        match self.last.take() {
            Some(permit) => {
                permit.send(event);
            }
            // Only when the turn was stopped before its sink had a single place.
            None => self.send(event).await,
        }
    }

    fn number(&mut self, kind: TurnEventKind) -> TurnEvent {
        let seq = self.next_seq;
        self.next_seq += 1;
        TurnEvent {
            turn_id: self.turn_id.clone(),
            seq,
            kind,
        }
    }

    async fn send(&mut self, event: TurnEvent) {
        let event = match self.sink.try_send(event) {
            Ok(()) | Err(tokio::sync::mpsc::error::TrySendError::Closed(_)) => return,
            Err(tokio::sync::mpsc::error::TrySendError::Full(event)) => event,
        };
        let until = match self.grace_until {
            Some(until) => until,
            None => {
                tokio::select! {
                    biased;
                    // A closed sink takes nothing and stops nothing.
                    permit = self.sink.reserve() => {
                        if let Ok(permit) = permit {
                            permit.send(event);
                        }
                        return;
                    }
                    _ = self.stop.wait() => {}
                }
                let until = tokio::time::Instant::now() + GRACE;
                self.grace_until = Some(until);
                until
            }
        };
        if let Ok(Ok(permit)) = tokio::time::timeout_at(until, self.sink.reserve()).await {
            permit.send(event);
        }
    }

    /// Records an event. Pieces are merged: the log gets the run of them when another kind comes.
    async fn record(&mut self, event: &TurnEvent) {
        if let Some(run) = &mut self.run
            && merge(run, &event.kind)
        {
            return;
        }
        if let Some(run) = self.run.take() {
            self.append(run).await;
        }
        let is_piece = matches!(
            event.kind,
            TurnEventKind::Text { .. }
                | TurnEventKind::Reasoning { .. }
                | TurnEventKind::ToolArguments { .. }
        );
        if is_piece {
            self.run = Some(event.clone());
        } else {
            self.append(event.clone()).await;
        }
    }

    async fn append(&mut self, event: TurnEvent) {
        if self.log_failed {
            return;
        }
        let log = Arc::clone(&self.log);
        let result = tokio::task::spawn_blocking(move || log.append(&event)).await;
        if let Ok(Err(error)) = result {
            self.log_failed = true;
            let text = format!("{error}. The turn goes on without a record.");
            let notice = self.number(TurnEventKind::Notice { text });
            self.send(notice).await;
        }
    }
}

/// Adds a piece to a run of the same kind.
fn merge(run: &mut TurnEvent, piece: &TurnEventKind) -> bool {
    match (&mut run.kind, piece) {
        (TurnEventKind::Text { text }, TurnEventKind::Text { text: more })
        | (TurnEventKind::Reasoning { text }, TurnEventKind::Reasoning { text: more }) => {
            text.push_str(more);
            true
        }
        (
            TurnEventKind::ToolArguments { call_id, fragment },
            TurnEventKind::ToolArguments {
                call_id: same,
                fragment: more,
            },
        ) if call_id == same => {
            fragment.push_str(more);
            true
        }
        _ => false,
    }
}
