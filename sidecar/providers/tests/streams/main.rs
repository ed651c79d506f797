//! What the adapters do around a stream, over a real socket. The streams themselves are a corpus of their own.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    clippy::disallowed_methods
)]

mod behavior;
mod dialects;
mod endpoints;
mod server;
mod support;
