//! Plays bytes as a session of a user and an agent, and checks that hunks stay right.
//!
//! For fuzzers and property tests; not part of the product (feature `checks`). Everything here is
//! written the slow and plain way, over strings and line numbers, so that it shares no cleverness
//! with what it checks. A broken promise panics.
//!
//! The base is made of digits, the user types small letters, the agent writes capitals, amendments
//! are made of punctuation: so it can be told from any text who wrote it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a check that fails is meant to panic"
)]

mod input;
mod model;
mod play;
#[cfg(test)]
mod tests;

use input::Input;
use play::Session;

/// Plays `data` and checks every promise after every step.
///
/// # Panics
///
/// When a promise is broken.
pub fn anchoring(data: &[u8]) {
    let mut input = Input::new(data);
    let mut session = Session::new(&mut input);
    while let Some(op) = input.byte() {
        session.step(op, &mut input);
    }
}
