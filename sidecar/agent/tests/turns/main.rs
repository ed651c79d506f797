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
mod limits;
#[path = "../../../providers/tests/streams/server.rs"]
mod server;
mod stopping;
mod support;
#[path = "../../../tools/tests/support/view.rs"]
mod view;
