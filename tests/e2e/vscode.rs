//! The VS Code client, packaged, in a real VS Code with the real binary behind it.
//!
//! The tests are written in TypeScript, in `clients/vscode/tests/ui`: each file starts the server of VS Code with the
//! package installed, and a browser in front, in which it does what a user does. Here each file becomes a trial.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use libtest_mimic::{Failed, Trial};
use redline_tests::aimock::Aimock;
use redline_tests::machine;
use redline_tests::program;
use redline_tests::project::Project;

/// One trial for each file; ignored where VS Code, a browser or the extension's packages are not on the machine.
pub(crate) fn trials() -> Vec<Trial> {
    let mut files: Vec<PathBuf> = fs::read_dir(machine::extension().join("tests/ui"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".test.ts"))
        .collect();
    files.sort();
    files.into_iter().map(trial).collect()
}

fn trial(file: PathBuf) -> Trial {
    let name = file
        .file_name()
        .map(|name| name.to_string_lossy().replace(".test.ts", ""))
        .unwrap_or_default();
    let script = script_of(&file);
    let absent = machine::vscode().is_none()
        || !machine::extension_is_ready()
        || (script.is_some() && machine::aimock().is_none());
    Trial::test(format!("vscode::{name}"), move || {
        run(&file, script.as_deref()).map_err(|error| Failed::from(format!("{error:?}")))
    })
    .with_ignored_flag(absent)
}

/// The script of the model that a file's tests speak to: its first line reads `// model: SCRIPT`.
fn script_of(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let script = text.lines().next()?.strip_prefix("// model: ")?;
    Some(script.to_owned())
}

#[expect(clippy::print_stdout, reason = "what was measured is for people")]
fn run(file: &Path, script: Option<&str>) -> Result<()> {
    let server = machine::vscode().context("VS Code is not installed: cargo verify brings it")?;
    let chromium = machine::chromium().context("chromium is missing")?;
    let node = machine::node().context("Node.js is missing")?;
    let project = Project::new()?;
    let model = script.map(Aimock::start).transpose()?;
    if let Some(model) = &model {
        project.configure(&format!(
            "model = \"mock/gpt-4o\"\n\n[providers.mock]\napi = \"openai-chat\"\nbase_url = \"{}\"\napi_key_env = \"MOCK_KEY\"\n",
            model.base_url()
        ))?;
    }
    let mut command = Command::new(node);
    command
        .arg("--disable-warning=MODULE_TYPELESS_PACKAGE_JSON")
        .arg(file)
        .current_dir(project.root())
        .env_clear()
        .envs(project.environment())
        .env("MOCK_KEY", "none")
        .env("REDLINE_BIN", program::redline()?)
        .env("REDLINE_TEST_ROOT", project.root())
        .env("REDLINE_TEST_VSCODE", server)
        .env("REDLINE_TEST_CHROMIUM", chromium)
        .env("REDLINE_TEST_VSIX", machine::packaged_extension()?);
    if let Some(folder) = std::env::var_os("REDLINE_TEST_PICTURES") {
        command.env("REDLINE_TEST_PICTURES", folder);
    }
    let output = program::run_within(command, b"", program::EDITOR_PATIENCE)?;
    for line in output.stdout.lines() {
        if let Some(measured) = line.strip_prefix("measured: ") {
            println!("{measured}");
        }
    }
    ensure!(
        output.code() == 0,
        "{}\n{}{}",
        file.display(),
        output.stdout,
        output.stderr
    );
    Ok(())
}
