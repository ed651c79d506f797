//! The durable record of a session's events.

use crate::TurnEvent;

/// Where events are recorded, before they are shown.
///
/// Pieces of text, reasoning and arguments come merged: one event for each run of them, recorded
/// when the run ends. Called on a worker of the turn, in order; it may block for a file write.
pub trait EventLog: Send + Sync {
    /// Appends one event.
    ///
    /// # Errors
    ///
    /// [`LogError`]; the turn says so once and goes on.
    fn append(&self, event: &TurnEvent) -> Result<(), LogError>;
}

/// A record that could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session's log cannot be written: {0}")]
pub struct LogError(pub String);

/// Nothing is kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoLog;

impl EventLog for NoLog {
    fn append(&self, _: &TurnEvent) -> Result<(), LogError> {
        Ok(())
    }
}
