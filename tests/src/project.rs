//! A project in a temp folder, with a home, a state, a runtime and a config folder of its own.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

use crate::client::{Answer, Client};
use crate::editor::{Editor, Profile};
use crate::processes;
use crate::program::{self, Output};
use crate::tree::Tree;

/// A project and all that belongs to its user. When dropped, its processes are ended and its folder goes.
pub struct Project {
    folder: TempDir,
}

impl Project {
    /// Makes an empty project.
    ///
    /// # Errors
    ///
    /// When the temp folder cannot be made.
    pub fn new() -> Result<Project> {
        // Short, since the path of a Unix socket has room for 108 bytes.
        let folder = tempfile::Builder::new().prefix("rl").tempdir()?;
        let project = Project { folder };
        for name in [
            "p", "p/ws", "home", "state", "run", "config", "cache", "data",
        ] {
            fs::create_dir(project.folder.path().join(name))?;
        }
        fs::set_permissions(project.runtime_dir(), fs::Permissions::from_mode(0o700))?;
        Ok(project)
    }

    /// Makes a project with these files.
    ///
    /// # Errors
    ///
    /// When one cannot be written.
    pub fn with_files(files: &[(&str, &str)]) -> Result<Project> {
        let project = Project::new()?;
        for (path, text) in files {
            project.write(path, text)?;
        }
        Ok(project)
    }

    /// The folder that holds the project and its user's folders.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The workspace root.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("p/ws")
    }

    /// The folder around the workspace, which holds nothing else at first.
    #[must_use]
    pub fn outside(&self) -> PathBuf {
        self.folder.path().join("p")
    }

    /// `XDG_STATE_HOME`.
    #[must_use]
    pub fn state_dir(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// `XDG_RUNTIME_DIR`.
    #[must_use]
    pub fn runtime_dir(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    /// `XDG_CONFIG_HOME`.
    #[must_use]
    pub fn config_dir(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    /// The socket of this user's sidecar.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.runtime_dir().join("redline/sidecar.sock")
    }

    /// Writes a file of the project, with its folders.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> Result<()> {
        let path = self.root().join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Reads a file of the project.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn read(&self, path: &str) -> Result<String> {
        fs::read_to_string(self.root().join(path)).with_context(|| format!("cannot read {path}"))
    }

    /// Writes the user's `config.toml`.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn configure(&self, toml: &str) -> Result<()> {
        let folder = self.config_dir().join("redline");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("config.toml"), toml)?;
        Ok(())
    }

    /// Everything in the workspace but its durable store.
    ///
    /// # Errors
    ///
    /// When something cannot be read.
    pub fn tree(&self) -> Result<Tree> {
        Tree::read(&self.root(), &[".agentic"])
    }

    /// The environment of this project's user; nothing else is inherited but `PATH`.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, OsString)> {
        let at = |name: &str| self.folder.path().join(name).into_os_string();
        vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
            ("HOME".into(), at("home")),
            ("XDG_STATE_HOME".into(), at("state")),
            ("XDG_RUNTIME_DIR".into(), at("run")),
            ("XDG_CONFIG_HOME".into(), at("config")),
            ("XDG_CACHE_HOME".into(), at("cache")),
            ("XDG_DATA_HOME".into(), at("data")),
            ("LANG".into(), "C.UTF-8".into()),
            ("TERM".into(), "xterm-256color".into()),
            ("GIT_CONFIG_GLOBAL".into(), "/dev/null".into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
        ]
    }

    /// The binary under test, in this project, as this user.
    ///
    /// # Errors
    ///
    /// When the binary cannot be built.
    pub fn command(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = Command::new(program::redline()?);
        command
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .envs(self.environment());
        Ok(command)
    }

    /// Runs the binary to its end.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or does not end.
    pub fn run(&self, arguments: &[&str]) -> Result<Output> {
        program::run(self.command(arguments)?, b"")
    }

    /// Runs the binary to its end, with this on its stdin.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or does not end.
    pub fn run_with(&self, arguments: &[&str], stdin: &[u8]) -> Result<Output> {
        program::run(self.command(arguments)?, stdin)
    }

    /// An editor of this kind, behind `redline lsp` as editors start it.
    ///
    /// # Errors
    ///
    /// When the server does not come up.
    pub fn editor(&self, profile: &Profile) -> Result<Editor> {
        self.editor_with(profile, &["lsp"])
    }

    /// An editor of this kind, behind the binary with these arguments.
    ///
    /// # Errors
    ///
    /// When the server does not come up.
    pub fn editor_with(&self, profile: &Profile, arguments: &[&str]) -> Result<Editor> {
        Editor::start(&self.root(), profile, |answer| {
            self.bridge(arguments, answer)
        })
    }

    /// The binary over stdio; what it says on stderr is kept in `bridge.err` beside the project.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub fn bridge(&self, arguments: &[&str], answer: Box<dyn Answer>) -> Result<Client> {
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.folder.path().join("bridge.err"))?;
        Client::spawn(self.command(arguments)?, log.into(), answer)
    }

    /// Processes that belong to this project: bridges, sidecars, and what they started.
    #[must_use]
    pub fn processes(&self) -> Vec<processes::Process> {
        processes::with_environment(&self.marker())
    }

    /// Waits until no process of this project is left.
    ///
    /// # Errors
    ///
    /// Names those that are still there at the limit.
    pub fn wait_no_process(&self, limit: Duration) -> Result<()> {
        processes::wait_none(&self.marker(), limit)
    }

    fn marker(&self) -> String {
        format!("XDG_RUNTIME_DIR={}", self.runtime_dir().display())
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        for process in self.processes() {
            processes::kill(process.pid);
        }
    }
}
