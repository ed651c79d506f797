//! The durable record of a session's events, and who is shown them.

use crate::TurnEvent;

/// Where events are recorded, before they are shown.
///
/// Pieces of text and reasoning come merged, as many as came within a frame. Called on a worker thread, in
/// order; it may block for a file write.
pub trait EventLog: Send + Sync {
    /// Appends events. With `durable` they must outlive the machine, else this process.
    ///
    /// # Errors
    ///
    /// [`LogError`]; the turn says so once and goes on.
    fn append(&self, events: &[TurnEvent], durable: bool) -> Result<(), LogError>;
}

/// A record that could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session's record cannot be written: {0}")]
pub struct LogError(pub String);

/// Nothing is kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLog;

impl EventLog for NoLog {
    fn append(&self, _: &[TurnEvent], _: bool) -> Result<(), LogError> {
        Ok(())
    }
}

/// Who is shown the events of a turn, once they are recorded.
pub trait EventSink: Send + Sync {
    /// Takes the events of a frame, in order; at most one call each 16 ms, but for the last of a turn.
    ///
    /// Must not block: whoever shows them to a slow reader merges them.
    fn show(&self, events: Vec<TurnEvent>);
}

impl<F: Fn(Vec<TurnEvent>) + Send + Sync> EventSink for F {
    fn show(&self, events: Vec<TurnEvent>) {
        self(events);
    }
}
