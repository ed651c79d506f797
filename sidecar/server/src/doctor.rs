//! `redline doctor`: the set-up checked, in a report that is safe to paste.
//!
//! Owns: what is checked, and the advice for what is wrong. Must not know: the terminal.
//! Invariant: no secret, no file content; the home folder is written `~`.
#![expect(
    clippy::disallowed_methods,
    reason = "it looks at the user's own folders and environment"
)]

use crate::{
    config::{Config, ProviderKind},
    connect::{self, Attempt, ServedBy},
    crash,
    env::Env,
    failure::Failure,
    hello::PROTOCOL_VERSION,
    keys::Keys,
    paths::{Paths, private_folder},
};
use redline_workspace::{
    Journal, JournalOptions, PrivateStore, RootOptions, Store, StoreState, WorkspaceRoot,
};
use serde::Serialize;
use std::{fmt, path::Path, sync::Arc};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// As it should be.
    Ok,
    /// Works, but the user should know.
    Warning,
    /// Does not work.
    Failed,
}

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// How it came out.
    pub outcome: Outcome,
    /// What was found.
    pub found: String,
    /// What to do; empty when nothing is to be done.
    pub advice: String,
}

/// All that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Version of this binary.
    pub version: String,
    /// Version of the protocol.
    pub protocol: u32,
    /// Operating system and architecture.
    pub platform: String,
    /// The checks, in order.
    pub checks: Vec<Check>,
}

impl Report {
    /// Whether something does not work.
    pub fn has_failed(&self) -> bool {
        self.checks
            .iter()
            .any(|check| check.outcome == Outcome::Failed)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "redline {} · protocol {} · {}",
            self.version, self.protocol, self.platform
        )?;
        for check in &self.checks {
            let mark = match check.outcome {
                Outcome::Ok => "ok  ",
                Outcome::Warning => "warn",
                Outcome::Failed => "FAIL",
            };
            writeln!(f, "{mark} {}: {}", check.name, check.found)?;
            if !check.advice.is_empty() {
                writeln!(f, "     → {}", check.advice)?;
            }
        }
        Ok(())
    }
}

/// Checks everything that can be checked without changing anything but making private folders.
pub fn check(paths: &Paths, root: Result<&Path, &Failure>) -> Report {
    let config = Config::load(paths);
    let mut checks = workspace(paths, root);
    checks.extend(configuration(paths, &config));
    if let Ok(config) = &config {
        checks.extend(model(config));
    }
    checks.push(private("state folder", &paths.state_dir, paths));
    checks.push(private("runtime folder", &paths.runtime_dir, paths));
    checks.push(sidecar(paths));
    checks.push(log(paths));
    checks.push(crashes(paths));
    Report {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL_VERSION,
        platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        checks,
    }
}

fn of(name: &'static str, outcome: Outcome, found: impl Into<String>, advice: &str) -> Check {
    Check {
        name,
        outcome,
        found: found.into(),
        advice: advice.to_owned(),
    }
}

fn failed(name: &'static str, failure: &Failure, paths: &Paths) -> Check {
    let found = shorten(&failure.to_string(), paths);
    of(name, Outcome::Failed, found, &shorten(&failure.hint, paths))
}

/// `text` with the home folder written `~` wherever it stands.
fn shorten(text: &str, paths: &Paths) -> String {
    match paths
        .home
        .as_ref()
        .and_then(|home| home.to_str())
        .filter(|home| home.len() > 1)
    {
        Some(home) => text.replace(home, "~"),
        None => text.to_owned(),
    }
}

fn workspace(paths: &Paths, root: Result<&Path, &Failure>) -> Vec<Check> {
    const NAME: &str = "workspace";
    let root = match root {
        Ok(root) => root,
        Err(failure) => return vec![failed(NAME, failure, paths)],
    };
    match WorkspaceRoot::open(root, RootOptions::default()) {
        Ok(opened) => vec![
            of(NAME, Outcome::Ok, paths.display(root), ""),
            store(opened, paths),
        ],
        Err(error) => {
            let failure = Failure::new(error.code(), error.to_string(), error.hint());
            vec![failed(NAME, &failure, paths)]
        }
    }
}

/// The durable store of the project, and its journal.
fn store(root: WorkspaceRoot, paths: &Paths) -> Check {
    const NAME: &str = "durable store";
    let key = match PrivateStore::new(paths.state_dir.clone()).seal_key() {
        Ok(key) => key,
        Err(error) => {
            let failure = Failure::new(error.code(), error.to_string(), error.hint());
            return failed(NAME, &failure, paths);
        }
    };
    let store = Store::new(root, key);
    // Nothing is written, so no time is told.
    let journal = Journal::new(store.clone(), Arc::new(|| 0), JournalOptions::default());
    let looked = store.state().and_then(|state| match state {
        StoreState::Absent => Ok(of(
            NAME,
            Outcome::Ok,
            "none yet; it is made on first need",
            "",
        )),
        StoreState::Unsealed => Ok(of(
            NAME,
            Outcome::Warning,
            "it was not made here, so nothing in it is trusted",
            "if it came with a clone, remove .agentic; nothing of yours is in it",
        )),
        StoreState::Sealed => journal.verify().map(|report| match report.is_sound() {
            true => {
                let found = format!("sound, {} journal records", report.records);
                of(NAME, Outcome::Ok, found, "")
            }
            false => of(
                NAME,
                Outcome::Failed,
                format!("the journal has {} findings", report.findings.len()),
                "run `redline journal verify`",
            ),
        }),
    });
    looked.unwrap_or_else(|error| {
        let failure = Failure::new(error.code(), error.to_string(), error.hint());
        failed(NAME, &failure, paths)
    })
}

fn configuration(paths: &Paths, config: &Result<Config, Failure>) -> Vec<Check> {
    const NAME: &str = "configuration";
    let file = paths.config_file();
    match config {
        Err(failure) => vec![failed(NAME, failure, paths)],
        Ok(config) if config.warnings.is_empty() => {
            let found = match file.exists() {
                true => paths.display(&file),
                false => format!("none at {}; defaults hold", paths.display(&file)),
            };
            vec![of(NAME, Outcome::Ok, found, "")]
        }
        Ok(config) => {
            let warnings = config.warnings.iter();
            warnings
                .map(|warning| {
                    let advice = "correct the name, or remove the line";
                    of(NAME, Outcome::Warning, shorten(warning, paths), advice)
                })
                .collect()
        }
    }
}

fn model(config: &Config) -> Vec<Check> {
    const NAME: &str = "model";
    let Some(model) = &config.model else {
        let found = "none is configured; the recording that is built in answers";
        let advice = "set model and a [providers.NAME] in the configuration to use a real one";
        return vec![of(NAME, Outcome::Warning, found, advice)];
    };
    let mut checks = vec![of(NAME, Outcome::Ok, model.to_string(), "")];
    let (keys, env) = (Keys::default(), Env::of_process());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    if let Ok(runtime) = runtime {
        runtime.block_on(keys.renew(config, &env));
    }
    for (name, provider) in &config.providers {
        let is_known = keys.of(name, provider, &env).is_some();
        checks.push(credentials(name, provider, is_known));
    }
    checks
}

fn credentials(name: &str, provider: &crate::config::ProviderConfig, is_known: bool) -> Check {
    const NAME: &str = "provider";
    match (provider.kind, &provider.api_key_env, &provider.file) {
        (ProviderKind::Replay, _, Some(file)) if !file.is_file() => {
            let advice = "record a turn, or correct `file`";
            of(
                NAME,
                Outcome::Failed,
                format!("{name}: its recording is not there"),
                advice,
            )
        }
        (ProviderKind::Replay, ..) => of(
            NAME,
            Outcome::Ok,
            format!("{name}: replays a recording"),
            "",
        ),
        (ProviderKind::Api(_), None, _) => {
            of(NAME, Outcome::Ok, format!("{name}: needs no key"), "")
        }
        (ProviderKind::Api(_), Some(variable), _) => {
            if std::env::var_os(variable).is_some_and(|value| !value.is_empty()) {
                return of(
                    NAME,
                    Outcome::Ok,
                    format!("{name}: ready, key in {variable}"),
                    "",
                );
            }
            if is_known {
                let found = format!("{name}: ready, key in the keyring");
                return of(NAME, Outcome::Ok, found, "");
            }
            let advice = "set it where your editor is started, or run `redline auth set`";
            of(
                NAME,
                Outcome::Failed,
                format!("{name}: missing {variable}"),
                advice,
            )
        }
    }
}

fn private(name: &'static str, folder: &Path, paths: &Paths) -> Check {
    match private_folder(folder) {
        Ok(()) => of(name, Outcome::Ok, paths.display(folder), ""),
        Err(failure) => failed(name, &failure, paths),
    }
}

fn sidecar(paths: &Paths) -> Check {
    const NAME: &str = "sidecar";
    match connect::attempt(paths) {
        Ok(Attempt::Link(link)) => {
            let found = match &link.served_by {
                ServedBy::Sidecar { pid, version } => {
                    format!("runs as process {pid}, version {version}")
                }
                ServedBy::InProcess => "none".to_owned(),
            };
            link.close();
            of(NAME, Outcome::Ok, found, "")
        }
        Ok(Attempt::Absent) => of(
            NAME,
            Outcome::Ok,
            "none runs; the next client starts one",
            "",
        ),
        Ok(Attempt::Refused(failure)) | Err(failure) => {
            let mut check = failed(NAME, &failure, paths);
            // Without it every client serves itself.
            check.outcome = Outcome::Warning;
            check
        }
    }
}

fn log(paths: &Paths) -> Check {
    let folder = paths.log_dir();
    let size: u64 = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.metadata().ok())
        .map(|meta| meta.len())
        .sum();
    let found = format!("{} ({} KiB)", paths.display(&folder), size.div_ceil(1024));
    of("log", Outcome::Ok, found, "")
}

fn crashes(paths: &Paths) -> Check {
    const NAME: &str = "crash reports";
    let reports = crash::list(&paths.crash_dir());
    match reports.last() {
        None => of(NAME, Outcome::Ok, "none", ""),
        Some(newest) => of(
            NAME,
            Outcome::Warning,
            format!("{}; the newest is {}", reports.len(), paths.display(newest)),
            "report it; it holds no file content. Remove it when you have",
        ),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn paths(base: &Path) -> Paths {
        Paths {
            config_dir: base.join("config"),
            state_dir: base.join("state"),
            runtime_dir: base.join("run"),
            home: Some(base.to_owned()),
        }
    }

    #[test]
    fn a_fresh_set_up_passes_and_names_no_home_folder() {
        let base = tempfile::tempdir().unwrap();
        let paths = paths(base.path());
        let report = check(&paths, Ok(base.path()));
        assert!(!report.has_failed(), "{report}");
        let text = report.to_string();
        assert!(!text.contains(base.path().to_str().unwrap()), "{text}");
        assert!(text.contains("~/state"), "{text}");
    }

    #[test]
    fn what_is_wrong_is_named_with_advice() {
        let base = tempfile::tempdir().unwrap();
        let paths = paths(base.path());
        std::fs::create_dir(&paths.config_dir).unwrap();
        let config = "model = \"p/m\"\n[providers.p]\napi = \"openai-chat\"\nbase_url = \"http://h\"\n\
                      api_key_env = \"REDLINE_TEST_NO_SUCH_KEY\"\n";
        std::fs::write(paths.config_file(), config).unwrap();
        let report = check(
            &paths,
            Err(&Failure::new("NOT_FOUND", "no folder", "make one")),
        );
        let wrong: Vec<&str> = report
            .checks
            .iter()
            .filter(|check| check.outcome == Outcome::Failed)
            .map(|check| check.name)
            .collect();
        assert_eq!(wrong, ["workspace", "provider"]);
        assert!(
            report
                .to_string()
                .contains("missing REDLINE_TEST_NO_SUCH_KEY")
        );
    }
}
