//! The `redline` server: the LSP face, the CLI, and the one place where everything is composed.
//!
//! Owns: the hub of each workspace, the connections of its clients, the sidecar process, the command
//! line, configuration, logs. It alone knows LSP, the terminal, the clock, the home directory and the
//! environment, and passes them down.
//!
//! Must not know: how text is matched or anchored (`edits`), how a commit is made durable
//! (`workspace`), what a vendor's stream looks like (`providers`).
//!
//! - [`config`], [`paths`], [`log`], [`crash`]: what belongs to the user
//! - [`hello`]: the first words between a client and the sidecar
//! - [`frame`]: Content-Length framing, bounded, for every reader; [`wire`]: JSON-RPC over it
//! - [`failure`]: the one error of the edge: code, message, hint, exit code

pub mod config;
pub mod crash;
pub mod failure;
pub mod frame;
pub mod hello;
pub mod log;
pub mod paths;
pub mod wire;
