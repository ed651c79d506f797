//! The `redline` server: the LSP face, the CLI, and the one place where everything is composed.
//!
//! Owns: the hub of each workspace, the connections of its clients, the sidecar process, the command
//! line, configuration, logs. It alone knows LSP, the terminal, the clock, the home directory and the
//! environment, and passes them down.
//!
//! Must not know: how text is matched or anchored (`edits`), how a commit is made durable
//! (`workspace`), what a vendor's stream looks like (`providers`).
//!
//! - [`frame`]: Content-Length framing, bounded, for every reader
//! - [`failure`]: the one error of the edge: code, message, hint, exit code

pub mod failure;
pub mod frame;
