//! Ctrl-C, for commands that have something to do about it.
//!
//! Owns: listening. Must not know: what is to be done.

use crate::failure::Failure;
use std::{io, thread};
use tokio::signal::unix::{SignalKind, signal};

/// Calls `act` for each Ctrl-C from now on, on a thread of its own; the process no longer ends by it.
///
/// # Errors
///
/// `IO` when the system lets nobody listen.
pub(crate) fn on_interrupt(mut act: impl FnMut() + Send + 'static) -> Result<(), Failure> {
    let broken = |error: &io::Error| Failure::io("cannot listen for Ctrl-C", error);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| broken(&error))?;
    let mut interrupts = runtime
        .block_on(async { signal(SignalKind::interrupt()) })
        .map_err(|error| broken(&error))?;
    thread::Builder::new()
        .name("interrupt".to_owned())
        .spawn(move || {
            while runtime.block_on(interrupts.recv()).is_some() {
                act();
            }
        })
        .map(|_| ())
        .map_err(|error| broken(&error))
}
