//! The hubs of this process, composed from what the user configured.
//!
//! Owns: handing configuration, folders, clock and environment down to the hubs, for the sidecar
//! and for `--in-process` alike. Must not know: what a hub does.

use std::sync::Arc;

use redline_workspace::{Faults, PrivateStore};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::hubs::{Hubs, HubsOptions, Origin};
use crate::keys::Keys;
use crate::models::ConfiguredModels;
use crate::paths::Paths;
use crate::setup::Setup;

/// What serves connections in this process.
#[derive(Clone)]
pub struct Host {
    hubs: Arc<Hubs>,
    setup: Arc<Setup>,
    keys: Arc<Keys>,
}

impl Host {
    /// Composes the hubs. Nothing of a workspace is touched until a client names one.
    ///
    /// A configuration that cannot be used is a notice, and stops turns alone.
    pub fn open(paths: &Paths, in_process: bool) -> Self {
        Self::open_with_faults(paths, in_process, None)
    }

    /// The same, with a seam through which tests make the disk fail.
    pub fn open_with_faults(
        paths: &Paths,
        in_process: bool,
        faults: Option<Arc<dyn Faults>>,
    ) -> Self {
        let setup = Arc::new(Setup::read(paths));
        let keys = Arc::new(Keys::default());
        let (told, held) = (Arc::clone(&setup), Arc::clone(&keys));
        let configured = Arc::clone(&setup);
        Self {
            setup,
            keys: Arc::clone(&keys),
            hubs: Hubs::new(HubsOptions {
                private: Arc::new(PrivateStore::new(paths.state_dir.clone())),
                models: Arc::new(ConfiguredModels::new(keys)),
                in_process,
                notices: Arc::new(move || {
                    let mut notices = told.notices();
                    notices.extend(held.trouble());
                    notices
                }),
                config: Arc::new(move || configured.config()),
                faults,
            }),
        }
    }

    /// Serves one client to the end of its connection.
    pub async fn serve<R, W>(&self, reader: R, writer: W, origin: Origin)
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        self.setup.renew();
        self.keys.renew(&self.setup.config(), &origin.env).await;
        let hubs = Arc::clone(&self.hubs);
        let reason = crate::lsp::serve_connection(hubs, reader, writer, origin).await;
        tracing::debug!(?reason, "a client has left");
    }

    /// Whether a turn or a job runs.
    pub fn is_busy(&self) -> bool {
        !self.hubs.is_idle()
    }

    /// Ends the hubs; returns when what they hold is stored.
    pub async fn stop(&self) {
        let hubs = Arc::clone(&self.hubs);
        // The hubs' threads are joined, which blocks; a panic there was reported where it happened.
        let _ = tokio::task::spawn_blocking(move || hubs.stop()).await;
    }
}
