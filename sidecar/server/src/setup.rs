//! What the user has set up, as it is now.
//!
//! Owns: the configuration and what is to be said of it and of crashes, read again whenever a client
//! comes: a sidecar lives for days, and what was corrected since counts.
//! Must not know: what a setting means to whom.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::config::Config;
use crate::crash;
use crate::paths::Paths;

/// Crashes that are still told of; the reports themselves stay.
const CRASHES_TOLD: usize = 8;

/// The set-up of one user.
pub(crate) struct Setup {
    paths: Paths,
    now: Mutex<Now>,
}

struct Now {
    config: Arc<Config>,
    crashes: Vec<String>,
}

impl Setup {
    /// Reads it for the first time.
    pub(crate) fn read(paths: &Paths) -> Self {
        let now = Now {
            config: Arc::new(Config::load_or_default(paths)),
            crashes: crash::take_notices(paths),
        };
        Self {
            paths: paths.clone(),
            now: Mutex::new(now),
        }
    }

    /// Reads it again.
    pub(crate) fn renew(&self) {
        let config = Arc::new(Config::load_or_default(&self.paths));
        let crashes = crash::take_notices(&self.paths);
        let mut now = self.now();
        now.config = config;
        now.crashes.extend(crashes);
        let surplus = now.crashes.len().saturating_sub(CRASHES_TOLD);
        now.crashes.drain(..surplus);
    }

    /// The configuration.
    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.now().config)
    }

    /// What a person should know: a setting that nobody knows, a crash.
    pub(crate) fn notices(&self) -> Vec<String> {
        let now = self.now();
        let warnings = now.config.warnings.iter();
        warnings.chain(&now.crashes).cloned().collect()
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods)]
    use super::*;
    use std::fs;

    #[test]
    fn what_was_corrected_counts_from_the_next_client_on() {
        let base = tempfile::tempdir().unwrap();
        let paths = Paths {
            config_dir: base.path().join("config"),
            state_dir: base.path().join("state"),
            runtime_dir: base.path().join("run"),
            home: None,
        };
        fs::create_dir_all(&paths.config_dir).unwrap();
        let config =
            |key: &str| format!("{key} = \"a/b\"\n[providers.a]\napi = \"replay\"\nfile = \"x\"\n");
        fs::write(paths.config_file(), config("modle")).unwrap();
        let setup = Setup::read(&paths);
        let notices = setup.notices();
        assert!(
            notices[0].contains("modle") && notices[0].contains("model"),
            "{notices:?}"
        );
        fs::write(paths.config_file(), config("model")).unwrap();
        setup.renew();
        assert_eq!(setup.notices(), Vec::<String>::new());
        let model = setup.config().model.clone().unwrap();
        assert_eq!(model.to_string(), "a/b");
    }
}
