//! The Neovim client, in each supported Neovim, with the real binary behind it.
//!
//! The tests are written in Lua, in `clients/nvim/tests`: each runs in a Neovim that starts others as its children,
//! types into them, and waits for what they show. Here each becomes a trial for each release.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use libtest_mimic::{Failed, Trial};
use redline_tests::aimock::Aimock;
use redline_tests::machine::{self, Neovim};
use redline_tests::program::{self, repository};
use redline_tests::project::Project;

/// One trial for each test of each file, in each release; ignored where that release is not installed.
pub(crate) fn trials() -> Vec<Trial> {
    let folder = repository().join("clients/nvim/tests");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with("_spec.lua"))
        .collect();
    files.sort();
    let mut trials = Vec::new();
    for neovim in Neovim::ALL {
        for file in &files {
            for test in tests_of(file) {
                trials.push(trial(neovim, file.clone(), test));
            }
        }
    }
    trials
}

fn trial(neovim: Neovim, file: PathBuf, test: String) -> Trial {
    let subject = file
        .file_name()
        .map(|name| name.to_string_lossy().replace("_spec.lua", ""))
        .unwrap_or_default();
    let name = format!(
        "neovim_{}::{subject}::{}",
        neovim.release().replace('.', "_"),
        test.replace(|c: char| !c.is_alphanumeric(), "_")
    );
    let installed = neovim.installed();
    let script = script_of(&file);
    let absent = installed.is_none() || (script.is_some() && machine::aimock().is_none());
    Trial::test(name, move || {
        let program = installed.context("this Neovim is not installed: cargo verify brings it");
        program
            .and_then(|program| run(&program, &file, &test, script.as_deref()))
            .map_err(|error| Failed::from(format!("{error:?}")))
    })
    .with_ignored_flag(absent)
}

/// Names of the tests of a file: the lines that begin `test("NAME"`.
fn tests_of(file: &Path) -> Vec<String> {
    fs::read_to_string(file)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.strip_prefix("test(\"")?.split('"').next())
        .map(str::to_owned)
        .collect()
}

/// The script of the model that a file's tests speak to: its first line reads `-- model: SCRIPT`.
fn script_of(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let script = text.lines().next()?.strip_prefix("-- model: ")?;
    Some(script.to_owned())
}

fn run(neovim: &Path, file: &Path, test: &str, script: Option<&str>) -> Result<()> {
    let project = Project::new()?;
    let server = script.map(Aimock::start).transpose()?;
    if let Some(server) = &server {
        project.configure(&format!(
            "model = \"mock/gpt-4o\"\n\n[providers.mock]\napi = \"openai-chat\"\nbase_url = \"{}\"\napi_key_env = \"MOCK_KEY\"\n",
            server.base_url()
        ))?;
    }
    let mut command = Command::new(neovim);
    command
        .args(["--clean", "-l"])
        .arg(file.with_file_name("run.lua"))
        .arg(file)
        .arg(test)
        .current_dir(project.root())
        .env_clear()
        .envs(project.environment())
        .env("MOCK_KEY", "none")
        .env("REDLINE_BIN", program::redline()?)
        .env("REDLINE_TEST_ROOT", project.root())
        .env("REDLINE_TEST_NVIM", neovim);
    let output = program::run(command, b"")?;
    ensure!(
        output.code() == 0,
        "{test} ({})\n{}{}",
        neovim.display(),
        output.stdout,
        output.stderr
    );
    Ok(())
}
