//! The seam for sandboxes: what a command is wrapped in before it starts.
//!
//! An adapter is passed in; it sees the whole launch and may replace program, arguments and env, or refuse.
//! Its name stands in the record of every job.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A process about to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The file that runs.
    pub program: PathBuf,
    /// Its name as it sees it (`argv[0]`).
    pub name: OsString,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// All of its env.
    pub env: Vec<(OsString, OsString)>,
}

/// What a sandbox has to know to draw its borders.
#[derive(Debug, Clone, Copy)]
pub struct Borders<'a> {
    /// The workspace: writable but for protected paths.
    pub root: &'a Path,
    /// Whether the network may be reached.
    pub network: bool,
}

/// Confines commands.
pub trait Sandbox: Send + Sync {
    /// `bubblewrap`, `landlock`, `seatbelt`, or `none`.
    fn name(&self) -> &'static str;

    /// Wraps a launch.
    ///
    /// # Errors
    ///
    /// Why this machine cannot confine it; it is not started then.
    fn wrap(&self, launch: Launch, borders: Borders<'_>) -> Result<Launch, String>;
}

/// No sandbox: commands may do what the user may.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSandbox;

impl Sandbox for NoSandbox {
    fn name(&self) -> &'static str {
        "none"
    }

    fn wrap(&self, launch: Launch, _: Borders<'_>) -> Result<Launch, String> {
        Ok(launch)
    }
}
