//! What the end-to-end tests, the case corpus, the benches and `cargo verify` share.
//!
//! Owns: everything that drives Redline from outside, as its users do. The real binary over stdio and over
//! its socket, scripted editors that speak LSP by a codec of our own, projects in temp folders with XDG folders of
//! their own, what has to be on the machine, and the steps of `cargo verify`.
//!
//! Must not know: how any of the crates works inside. A test that needs that lives in its crate.
//!
//! - `frames`: the Content-Length codec
//! - `client`: an LSP client that waits for conditions, never for time
//! - `editor`: a scripted editor on top of it: documents, encodings, how it answers `workspace/applyEdit`
//! - `project`: a temp project with its own home, state, runtime and config folders
//! - `program`: the binary under test, run as a terminal would
//! - `processes`: who is still alive
//! - `strace`: system calls seen, and failures injected into them
//! - `tree`: a folder as data, for comparisons of bytes, modes and kinds
//! - `aimock`: a running third-party model server
//! - `machine`: tools and editors that the tests need, and how they get here
//! - `cases`: the case corpus and its runner
//! - `streams`: the corpus of provider streams and its runner
//! - `verify`: the steps of `cargo verify`

#![allow(
    clippy::disallowed_methods,
    reason = "tests stand outside the house: they read the environment, start processes and touch files"
)]

pub mod aimock;
pub mod cases;
pub mod client;
pub mod editor;
pub mod frames;
pub mod machine;
pub mod processes;
pub mod program;
pub mod project;
pub mod strace;
pub mod streams;
pub mod tree;
pub mod verify;
