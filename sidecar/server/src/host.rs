//! The hubs of this process, composed from what the user configured.
//!
//! Owns: handing configuration, folders, clock and environment down to the hubs, for the sidecar
//! and for `--in-process` alike. Must not know: what a hub does.

use crate::{failure::Failure, paths::Paths};
use tokio::io::{AsyncRead, AsyncWrite};

/// What serves connections in this process.
#[derive(Debug, Clone)]
pub struct Host {}

impl Host {
    /// Composes the hubs.
    ///
    /// # Errors
    ///
    /// When the configuration cannot be used.
    pub fn open(_paths: &Paths, _in_process: bool) -> Result<Self, Failure> {
        // Until the hubs are joined in, nothing may look as if it were served.
        Err(Failure::new(
            "UNSUPPORTED",
            "this build has no hubs yet",
            "",
        ))
    }

    /// Serves one client to the end of its connection.
    pub async fn serve<R, W>(&self, _reader: R, _writer: W)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
    }

    /// Whether a turn or a job runs.
    pub fn is_busy(&self) -> bool {
        false
    }

    /// Ends the hubs; returns when what they hold is stored.
    pub async fn stop(&self) {}
}
