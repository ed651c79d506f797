//! Whole turns: recordings and real sockets for the model, a real folder for the workspace.
#![allow(
    missing_docs,
    unreachable_pub,
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods
)]

mod calls;
mod flow;
mod frames;
mod limits;
mod memory;
mod resume;
#[path = "../../../providers/tests/streams/server.rs"]
mod server;
mod spending;
mod staged;
mod stopping;
mod support;
#[path = "../../../tools/tests/support/view.rs"]
mod view;
