//! `redline demo`: the whole of it in a scratch project, with no key and no network.
//!
//! Owns: the scratch project and the order of the commands. Must not know: how anything works; it
//! starts this very binary as a person's terminal would, and prints what that prints.
#![expect(
    clippy::disallowed_methods,
    reason = "the demo is a person at a terminal: it makes a project and starts programs"
)]

use crate::{failure::Failure, paths::Paths, sidecar};
use serde::Serialize;
use std::{
    ffi::OsString,
    io::{self, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The scratch project.
const PROJECT: [(&str, &str); 3] = [
    ("stats.lua", include_str!("../demo/project/stats.lua")),
    ("report.lua", include_str!("../demo/project/report.lua")),
    ("README.md", include_str!("../demo/project/README.md")),
];

const PROMPT: &str =
    "Make the statistics safe for empty lists, and let none of them reorder its input";

/// What the reviewer answers: the first hunk, then the rest of its file; the next file's; not the
/// boast in the README; the new test.
const ANSWERS: &str = "y\na\ny\nn\ny\n";

/// How long the sidecar of the demo may take to end.
const END_LIMIT: Duration = Duration::from_secs(10);

/// How the demo is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Open the project in Neovim instead of walking through it here.
    pub nvim: bool,
    /// Use color.
    pub color: bool,
    /// Stdout belongs to a program: show everything on stderr.
    pub quiet_stdout: bool,
}

/// What the demo did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ran {
    /// Commands, as they were started.
    pub commands: Vec<String>,
    /// Whether every file is, after the undo, byte for byte what it was.
    pub restored: bool,
}

/// Runs the demo.
///
/// # Errors
///
/// When a command fails, or the undo does not bring the project back; `NOT_FOUND` when Neovim is
/// wanted and not there.
pub fn run(options: Options) -> Result<Ran, Failure> {
    let mut demo = Demo::new(options)?;
    let ran = if options.nvim {
        demo.in_neovim()
    } else {
        demo.in_terminal()
    };
    let ended = demo.end_sidecar();
    ran?;
    ended?;
    let restored = demo.is_restored();
    if !options.nvim && !restored {
        return Err(Failure::internal("the undo did not bring the project back"));
    }
    Ok(Ran {
        commands: demo.commands,
        restored,
    })
}

struct Demo {
    options: Options,
    exe: PathBuf,
    base: TempDir,
    commands: Vec<String>,
}

impl Demo {
    fn new(options: Options) -> Result<Self, Failure> {
        let broken = |error: &io::Error| Failure::io("cannot make the scratch project", error);
        let exe = std::env::current_exe().map_err(|error| broken(&error))?;
        let base = tempfile::Builder::new()
            .prefix("redline-demo-")
            .tempdir()
            .map_err(|error| broken(&error))?;
        let project = base.path().join("project");
        std::fs::create_dir(&project).map_err(|error| broken(&error))?;
        for (name, text) in PROJECT {
            std::fs::write(project.join(name), text).map_err(|error| broken(&error))?;
        }
        Ok(Self {
            options,
            exe,
            base,
            commands: Vec::new(),
        })
    }

    fn project(&self) -> PathBuf {
        self.base.path().join("project")
    }

    /// The user's own folders, sidecar and configuration stay out of it.
    fn env(&self) -> Vec<(&'static str, PathBuf)> {
        let names = [
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_STATE_HOME", "state"),
            ("XDG_RUNTIME_DIR", "run"),
            ("XDG_DATA_HOME", "data"),
            ("XDG_CACHE_HOME", "cache"),
        ];
        names
            .map(|(name, folder)| (name, self.base.path().join(folder)))
            .to_vec()
    }

    fn in_terminal(&mut self) -> Result<(), Failure> {
        self.say("A scratch project, a recorded model, and this very binary.");
        self.say(
            "A prompt is a turn; what it edits is a pending transaction, and no file changes:",
        );
        self.redline(&["ask", PROMPT], "")?;
        self.say("What it would do, and why:");
        self.redline(&["show"], "")?;
        self.say("Reviewed hunk by hunk. What is accepted is committed, all of it or nothing:");
        self.redline(&["review"], ANSWERS)?;
        self.say("What was accepted is on the disk:");
        self.diff()?;
        self.say("The whole turn is taken back:");
        self.redline(&["undo"], "")?;
        self.redline(&["journal", "verify"], "")?;
        let restored = self.is_restored();
        self.say(match restored {
            true => "Every file is byte for byte what it was.",
            false => "The files are NOT what they were.",
        });
        Ok(())
    }

    fn in_neovim(&mut self) -> Result<(), Failure> {
        let plugin = plugin(&self.exe).ok_or_else(|| {
            Failure::new(
                "NOT_FOUND",
                "the Neovim plugin (clients/nvim) is not beside this binary",
                "run it from the sources: cargo demo -- --nvim",
            )
        })?;
        self.redline(&["ask", PROMPT], "")?;
        let mut path = OsString::from(self.exe.parent().unwrap_or(Path::new("")));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut load = OsString::from("set runtimepath^=");
        load.push(&plugin);
        self.commands.push("nvim stats.lua".to_owned());
        let status = Command::new("nvim")
            .arg("--cmd")
            .arg(load)
            .arg("stats.lua")
            .current_dir(self.project())
            .envs(self.env())
            .env("PATH", path)
            .status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::new("IO", format!("nvim ended with {status}"), "")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::new(
                "NOT_FOUND",
                "nvim is not on the PATH",
                "install Neovim 0.10 or newer, or leave --nvim out",
            )),
            Err(error) => Err(Failure::io("cannot start nvim", &error)),
        }
    }

    /// Starts this binary with `arguments`, as a person would, and waits for it.
    fn redline(&mut self, arguments: &[&str], input: &str) -> Result<(), Failure> {
        let quoted: Vec<String> = arguments
            .iter()
            .map(|argument| match argument.contains(' ') {
                true => format!("\"{argument}\""),
                false => (*argument).to_owned(),
            })
            .collect();
        let mut command = Command::new(&self.exe);
        let color = if self.options.color {
            "always"
        } else {
            "never"
        };
        command.args(["--color", color]).args(arguments);
        self.start(format!("redline {}", quoted.join(" ")), command, input)
    }

    /// Shows what the disk says now of one file.
    fn diff(&mut self) -> Result<(), Failure> {
        let (name, text) = PROJECT[1];
        std::fs::write(self.base.path().join(name), text)
            .map_err(|error| Failure::io("cannot keep a file as it was", &error))?;
        let mut command = Command::new("diff");
        command.args(["-u", &format!("../{name}"), name]);
        self.start(format!("diff -u ../{name} {name}"), command, "")
    }

    fn start(&mut self, line: String, mut command: Command, input: &str) -> Result<(), Failure> {
        self.say(&format!("$ {line}"));
        command
            .current_dir(self.project())
            .envs(self.env())
            .stdin(Stdio::piped());
        if self.options.quiet_stdout {
            command.stdout(io::stderr());
        }
        let broken = |error: &io::Error| Failure::io(format!("cannot run `{line}`"), error);
        let mut child = command.spawn().map_err(|error| broken(&error))?;
        if let Some(mut stdin) = child.stdin.take() {
            match stdin.write_all(input.as_bytes()) {
                // It may end before it has read everything.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    return Err(broken(&error));
                }
                _ => {}
            }
        }
        let status = child.wait().map_err(|error| broken(&error))?;
        self.commands.push(line.clone());
        // `diff` says 1 when there is a difference.
        if status.success() || (line.starts_with("diff ") && status.code() == Some(1)) {
            self.say("");
            return Ok(());
        }
        Err(Failure::new(
            "INTERNAL",
            format!("`{line}` ended with {status}"),
            "its output says why",
        ))
    }

    fn is_restored(&self) -> bool {
        let project = self.project();
        let same = |(name, text): &(&str, &str)| {
            std::fs::read(project.join(name)).is_ok_and(|bytes| bytes == text.as_bytes())
        };
        PROJECT.iter().all(same) && !project.join("stats_test.lua").exists()
    }

    /// Ends the sidecar that the commands started, so that nothing of the demo stays.
    fn end_sidecar(&self) -> Result<(), Failure> {
        let folders = self.env();
        let paths = Paths::from_env(|name| {
            let found = folders.iter().find(|(known, _)| *known == name);
            found.map(|(_, folder)| folder.clone().into_os_string())
        })?;
        let deadline = Instant::now() + END_LIMIT;
        while let Some(pid) = sidecar::running(&paths) {
            if Instant::now() > deadline {
                return Err(Failure::new(
                    "TIMEOUT",
                    format!("the sidecar {pid} does not end"),
                    "",
                ));
            }
            if let Some(pid) = i32::try_from(pid)
                .ok()
                .and_then(rustix::process::Pid::from_raw)
            {
                // It may have ended meanwhile, which is what is wanted.
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn say(&self, line: &str) {
        let line = match self.options.color && !line.is_empty() {
            true => format!("\x1b[1;34m{line}\x1b[0m\n"),
            false => format!("{line}\n"),
        };
        // A demo that nobody looks at is not worth an error.
        let _ = if self.options.quiet_stdout {
            io::stderr().write_all(line.as_bytes())
        } else {
            io::stdout()
                .write_all(line.as_bytes())
                .and_then(|()| io::stdout().flush())
        };
    }
}

/// The plugin's folder: beside the sources that this binary was built from.
fn plugin(exe: &Path) -> Option<PathBuf> {
    // Cargo says where the package is that it runs.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let places = package
        .iter()
        .flat_map(|path| path.ancestors())
        .chain(exe.ancestors());
    places
        .map(|folder| folder.join("clients/nvim"))
        .find(|folder| folder.join("plugin/redline.lua").is_file())
}
#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    #[test]
    fn the_recording_can_be_played() {
        let recording = redline_providers::replay::Recording::parse(
            "it",
            include_str!("../demo/recording.jsonl"),
        )
        .unwrap();
        assert_eq!(recording.turns(), 1);
        assert_eq!(recording.steps(0), 6);
    }
}
