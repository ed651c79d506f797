//! The binary under test, run as a terminal would.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::client::{PATIENCE, wait_exit};

/// Path of the `redline` binary: `REDLINE_BIN`, else the one that cargo builds now beside the running test.
///
/// # Errors
///
/// When it does not build.
pub fn redline() -> Result<PathBuf> {
    static BUILT: OnceLock<std::result::Result<PathBuf, String>> = OnceLock::new();
    if let Some(path) = std::env::var_os("REDLINE_BIN") {
        return Ok(path.into());
    }
    BUILT
        .get_or_init(|| build().map_err(|error| format!("{error:#}")))
        .clone()
        .map_err(anyhow::Error::msg)
}

fn build() -> Result<PathBuf> {
    // …/target/PROFILE/deps/TEST-HASH, or …/target/PROFILE/BIN
    let me = std::env::current_exe()?;
    let folder = me
        .ancestors()
        .skip(1)
        .find(|folder| folder.file_name().is_none_or(|name| name != "deps"))
        .context("the running test has no folder")?;
    let binary = folder.join("redline");
    let release = folder.file_name().is_some_and(|name| name == "release");
    let mut cargo = cargo();
    cargo.args([
        "build",
        "--quiet",
        "--package",
        "redline",
        "--bin",
        "redline",
    ]);
    if release {
        cargo.arg("--release");
    }
    let status = cargo.status().context("cannot start cargo")?;
    ensure!(status.success(), "the redline binary does not build");
    ensure!(binary.exists(), "cargo built no {}", binary.display());
    Ok(binary)
}

/// Cargo, in the root of the workspace.
#[must_use]
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(repository());
    command
}

/// Root of the repository.
#[must_use]
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// What a run left behind.
#[derive(Debug)]
pub struct Output {
    /// How it ended.
    pub status: ExitStatus,
    /// All of stdout.
    pub stdout: String,
    /// All of stderr.
    pub stderr: String,
}

impl Output {
    /// Exit code; -1 when a signal ended it.
    #[must_use]
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or(-1)
    }

    /// Stdout as the one JSON object that `--json` promises.
    ///
    /// # Errors
    ///
    /// When it is not exactly one object.
    pub fn json(&self) -> Result<Value> {
        let value: Value = serde_json::from_str(&self.stdout).with_context(|| {
            format!(
                "stdout is not one JSON value: {:?}; stderr: {:?}",
                self.stdout, self.stderr
            )
        })?;
        if !value.is_object() {
            bail!("not an object: {value}");
        }
        Ok(value)
    }

    /// This output, if the exit code is the one wanted.
    ///
    /// # Errors
    ///
    /// Shows both streams when it is not.
    pub fn expect_code(self, code: i32) -> Result<Output> {
        ensure!(
            self.code() == code,
            "exit code {} instead of {code}; stdout: {:?}; stderr: {:?}",
            self.code(),
            self.stdout,
            self.stderr
        );
        Ok(self)
    }
}

/// Runs a program to its end with this on its stdin.
///
/// # Errors
///
/// When it cannot be started, or does not end in time.
pub fn run(command: Command, stdin: &[u8]) -> Result<Output> {
    run_within(command, stdin, PATIENCE * 2)
}

/// How long a file of tests in a real VS Code may take on a busy machine.
pub const EDITOR_PATIENCE: Duration = Duration::from_secs(300);

/// Runs a program to its end with this on its stdin, within `limit`.
///
/// # Errors
///
/// When it cannot be started, or does not end in time.
pub fn run_within(mut command: Command, stdin: &[u8], limit: Duration) -> Result<Output> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let mut pipe = child.stdin.take().context("no stdin")?;
    let stdin = stdin.to_owned();
    // A program that does not read its stdin is no error.
    let feeding = thread::spawn(move || drop(pipe.write_all(&stdin)));
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status = wait_exit(&mut child, limit).with_context(|| format!("ran {command:?}"))?;
    let _ = feeding.join();
    Ok(Output {
        status,
        stdout: String::from_utf8_lossy(&stdout.join().unwrap_or_default()).into_owned(),
        stderr: String::from_utf8_lossy(&stderr.join().unwrap_or_default()).into_owned(),
    })
}

fn drain(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}
