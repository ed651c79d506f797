//! What each step runs.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result, bail};

use super::{Counts, Step, vscode};
use crate::program::{cargo, redline, repository};

/// In the order in which they run: quick ones first.
pub(super) const ALL: &[Step] = &[
    Step {
        name: "format",
        run: format,
    },
    Step {
        name: "Lua format",
        run: lua_format,
    },
    Step {
        name: "Lua lints",
        run: lua_lints,
    },
    Step {
        name: "VS Code types",
        run: vscode::types,
    },
    Step {
        name: "VS Code lints",
        run: vscode::lints,
    },
    Step {
        name: "VS Code unit tests",
        run: vscode::unit_tests,
    },
    Step {
        name: "VS Code package",
        run: vscode::package,
    },
    Step {
        name: "clippy",
        run: clippy,
    },
    Step {
        name: "tests",
        run: tests,
    },
    Step {
        name: "doc tests",
        run: doc_tests,
    },
    Step {
        name: "documentation",
        run: documentation,
    },
    Step {
        name: "generated contracts",
        run: contracts,
    },
    Step {
        name: "provider streams",
        run: streams,
    },
    Step {
        name: "case corpus",
        run: corpus,
    },
];

fn format() -> Result<Counts> {
    let mut command = cargo();
    command.args(["fmt", "--all", "--", "--check"]);
    let held = stream(command, Show::All, |_| {})?;
    if !held {
        bail!(
            "not formatted, or rustfmt is missing: run `cargo fmt --all` (`rustup component add rustfmt`)"
        );
    }
    Ok(Counts::one(true))
}

/// Folders of the Neovim client that hold Lua.
const LUA: [&str; 4] = ["lsp", "lua", "plugin", "tests"];

fn lua_format() -> Result<Counts> {
    let client = repository().join("clients/nvim");
    let mut files = Vec::new();
    for folder in LUA {
        lua_files(&client.join(folder), &mut files)?;
    }
    // What is generated has the generator's form.
    files.retain(|file| !file.ends_with("redline/protocol.lua"));
    let mut command = crate::machine::stylua()?;
    command.arg("--check").arg(client.join("stylua.toml"));
    command.args(files);
    Ok(Counts::one(stream(command, Show::All, |_| {})?))
}

fn lua_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            lua_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "lua") {
            files.push(path);
        }
    }
    Ok(())
}

fn lua_lints() -> Result<Counts> {
    let mut command = Command::new("luacheck");
    command
        .args(["--no-color", "--quiet"])
        .args(LUA)
        .current_dir(repository().join("clients/nvim"));
    Ok(Counts::one(stream(command, Show::All, |_| {})?))
}

fn clippy() -> Result<Counts> {
    let mut command = cargo();
    command.args([
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--",
        "--deny",
        "warnings",
    ]);
    let held = stream(command, Show::All, |_| {})?;
    if !held {
        bail!("clippy found something, or is missing (`rustup component add clippy`)");
    }
    Ok(Counts::one(true))
}

/// The whole suite, with nextest where the machine has it.
fn tests() -> Result<Counts> {
    // Once here, not in each test that drives it.
    let binary = redline()?;
    let mut counts = Counts::default();
    let nextest = cargo()
        .args(["nextest", "--version"])
        .output()
        .is_ok_and(|output| output.status.success());
    let mut command = cargo();
    command.env("REDLINE_BIN", binary);
    let held = if nextest {
        command.args(["nextest", "run", "--workspace", "--no-fail-fast"]);
        command.args(["--status-level", "skip", "--final-status-level", "skip"]);
        command.args(["--color", "never"]);
        stream(command, Show::Troubles, |line| counts.see_nextest(line))?
    } else {
        command.args(["test", "--workspace", "--no-fail-fast", "--quiet"]);
        command.args([
            "--lib", "--bins", "--tests", "--", "--format", "pretty", "--color", "never",
        ]);
        stream(command, Show::Troubles, |line| counts.see_cargo_test(line))?
    };
    settle(counts, held)
}

fn doc_tests() -> Result<Counts> {
    let mut command = cargo();
    command.args(["test", "--quiet", "--workspace", "--doc"]);
    let mut counts = Counts::default();
    let held = stream(command, Show::Troubles, |line| counts.see_cargo_test(line))?;
    settle(counts, held)
}

fn documentation() -> Result<Counts> {
    let mut command = cargo();
    command.args(["doc", "--quiet", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "--deny warnings");
    Ok(Counts::one(stream(command, Show::All, |_| {})?))
}

/// The committed contracts equal freshly generated ones.
fn contracts() -> Result<Counts> {
    let mut command = cargo();
    command.args([
        "run",
        "--quiet",
        "--package",
        "redline-tests",
        "--bin",
        "codegen",
        "--",
        "--check",
    ]);
    Ok(Counts::one(stream(command, Show::All, |_| {})?))
}

fn streams() -> Result<Counts> {
    runner(
        "streams",
        &["--exact", "--quick"],
        &["tests/streams", "tests/own-streams"],
    )
}

fn corpus() -> Result<Counts> {
    runner("cases", &[], &["tests/cases", "tests/own-cases"])
}

/// Plays folders of data with one of our programs, whose last line is `N passed, N failed`.
fn runner(program: &str, options: &[&str], folders: &[&str]) -> Result<Counts> {
    let mut command = cargo();
    command.args(["run", "--quiet", "--package", "redline-tests", "--bin"]);
    command.arg(program).arg("--").args(options);
    command.args(folders.iter().map(|folder| repository().join(folder)));
    let mut counts = Counts::default();
    let mut total = false;
    let held = stream(command, Show::All, |line| total |= counts.see_total(line))?;
    if !total {
        bail!("{program} did not say how many passed");
    }
    settle(counts, held)
}

/// A runner that failed without counting a failure did not get as far as its tests.
pub(super) fn settle(mut counts: Counts, held: bool) -> Result<Counts> {
    if !held && counts.failures() == 0 {
        counts.failed = 1;
    }
    Ok(counts)
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Show {
    All,
    /// Leaves out a line for each test that passed.
    Troubles,
    /// Only what does not hold, of a runner that writes TAP.
    Failures,
}

/// Runs a command, passes its output on line by line, and says whether it succeeded.
#[allow(clippy::print_stdout, reason = "a program for a terminal")]
pub(super) fn stream(mut command: Command, show: Show, mut see: impl FnMut(&str)) -> Result<bool> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let (sender, receiver) = mpsc::channel();
    let out = forward(child.stdout.take().context("no stdout")?, sender.clone());
    let err = forward(child.stderr.take().context("no stderr")?, sender);
    let mut trouble = Trouble::default();
    for line in receiver {
        see(&line);
        let shown = match show {
            Show::All => true,
            Show::Troubles => {
                !(line.trim_start().starts_with("PASS ") || line.ends_with(" ... ok"))
            }
            Show::Failures => trouble.shows(&line),
        };
        if shown {
            println!("   {line}");
        }
    }
    let _ = (out.join(), err.join());
    Ok(child.wait()?.success())
}

/// Follows TAP: a test that failed, and the block that says why.
#[derive(Default)]
struct Trouble {
    telling: bool,
}

impl Trouble {
    fn shows(&mut self, line: &str) -> bool {
        let begins = line.trim_start();
        if begins.starts_with("not ok ") {
            self.telling = true;
        } else if begins.starts_with("ok ") || begins.starts_with('#') {
            self.telling = false;
        }
        self.telling
    }
}

fn forward(pipe: impl Read + Send + 'static, to: mpsc::Sender<String>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&line);
            if to
                .send(text.trim_end_matches(['\r', '\n']).to_owned())
                .is_err()
            {
                return;
            }
            line.clear();
        }
    })
}
