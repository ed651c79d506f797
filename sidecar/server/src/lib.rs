//! The `redline` server: the LSP face, the CLI, and the one place where everything is composed.
//!
//! Owns: the hub of each workspace, the connections of its clients, the sidecar process, the command
//! line, configuration, logs. It alone knows LSP, the terminal, the clock, the home directory and the
//! environment, and passes them down.
//!
//! Must not know: how text is matched or anchored (`edits`), how a commit is made durable
//! (`workspace`), what a vendor's stream looks like (`providers`).
//!
//! The process starts here:
//!
//! - [`cli`]: the command line; every command is a client of the same protocol
//! - [`bridge`]: `redline lsp`, between an editor's stdio and the sidecar
//! - [`connect`], [`hello`]: finding or starting the sidecar, and the first words with it
//! - [`sidecar`]: the process behind the socket
//! - [`host`]: hubs composed from what the user configured
//! - [`hubs`], `hub`: one hub for each workspace: its documents, anchors, transactions, turns
//! - [`lsp`]: one connection, from bytes to a hub's events and back
//! - `setup`: what the user has set up, as it is now; [`mod@env`]: the environment of a client
//! - `project`: what came with a project, and whether the user trusts it
//! - `keys`: keys of endpoints, from the keyring of the operating system
//! - `models`: from the configuration to a provider; `clock`: time and ids
//! - [`config`], [`paths`], [`log`], [`crash`]: what belongs to the user
//! - [`doctor`], [`demo`]: the set-up checked, the product shown
//! - [`frame`]: Content-Length framing, bounded, for every reader; [`wire`]: JSON-RPC over it
//! - [`failure`]: the one error of the edge: code, message, hint, exit code

pub mod bridge;
pub mod cli;
mod clock;
pub mod config;
pub mod connect;
pub mod crash;
pub mod demo;
pub mod doctor;
pub mod env;
pub mod failure;
pub mod frame;
pub mod hello;
pub mod host;
mod hub;
pub mod hubs;
mod keys;
pub mod log;
pub mod lsp;
mod models;
pub mod paths;
mod project;
mod setup;
pub mod sidecar;
pub mod wire;
