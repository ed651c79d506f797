//! From exec to the answer of a first request, in process and attached, beside `/bin/true` and another app server.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use redline_tests::client::Null;
use redline_tests::editor::Profile;
use redline_tests::machine::{cache_dir, npm};
use redline_tests::processes;
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::measure::{figure, median_ms, time};

/// The peer, by its npm package.
const PEER: &str = "@openai/codex@0.171";

pub(crate) fn run(quick: bool) -> Result<()> {
    let runs = if quick { 2 } else { 20 };
    let project = Project::with_files(&[("a.txt", "a\n")])?;
    let in_process = median_ms(runs, || first_answer(&project, &["lsp", "--in-process"]))?;
    let _editor = project.editor(&Profile::full())?;
    let attached = median_ms(runs, || first_answer(&project, &["lsp"]))?;
    let nothing = median_ms(runs, || time(|| Ok(Command::new("/bin/true").status()?)))?;
    figure(
        "lsp in process: exec to a first status",
        in_process,
        "ms",
        Some(20.0),
    );
    figure(
        "lsp attached: exec to a first status",
        attached,
        "ms",
        Some(10.0),
    );
    figure("/bin/true", nothing, "ms", None);
    match peer(&project) {
        Ok(mut once) => figure(
            "codex app-server: exec to its initialize",
            median_ms(runs, &mut once)?,
            "ms",
            None,
        ),
        Err(error) => println!("codex app-server: not measured: {error:#}"),
    }
    let sidecar = project
        .processes()
        .into_iter()
        .find(|process| process.command.contains(" serve"))
        .context("no sidecar runs")?;
    let resident = processes::resident_bytes(sidecar.pid).context("no status")?;
    figure(
        "sidecar, resident",
        resident as f64 / f64::from(1 << 20),
        "MiB",
        Some(25.0),
    );
    Ok(())
}

fn first_answer(project: &Project, arguments: &[&str]) -> Result<Duration> {
    let params = Profile::full().initialize(&project.root());
    let begun = std::time::Instant::now();
    let client = project.bridge(arguments, Box::new(Null))?;
    client.request("initialize", params)?;
    client.notify("initialized", json!({}))?;
    client.request("redline/status", json!({}))?;
    let spent = begun.elapsed();
    client.shut_down()?;
    Ok(spent)
}

/// How to start the peer and wait for its first answer.
fn peer(project: &Project) -> Result<impl FnMut() -> Result<Duration>> {
    let folder = cache_dir().join("codex");
    let program = folder.join("node_modules/.bin/codex");
    if !program.exists() {
        let mut npm = npm().context("there is no npm (`cargo verify prepare` brings one)")?;
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("package.json"), "{\"private\":true}")?;
        let output = npm
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
                PEER,
            ])
            .current_dir(&folder)
            .output()?;
        ensure!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let environment = project.environment();
    let root = project.root();
    Ok(move || {
        let mut command = Command::new(&program);
        command
            .arg("app-server")
            .current_dir(&root)
            .env_clear()
            .envs(environment.clone())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let begun = std::time::Instant::now();
        let mut child = command.spawn()?;
        let mut stdin = child.stdin.take().context("stdin")?;
        let request = json!({"id": 0, "method": "initialize",
            "params": {"clientInfo": {"name": "bench", "version": "1"}}});
        writeln!(stdin, "{request}")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("stdout")?).read_line(&mut line)?;
        let spent = begun.elapsed();
        let answer: Value =
            serde_json::from_str(&line).with_context(|| format!("it said {line:?}"))?;
        ensure!(answer.get("result").is_some(), "{answer}");
        child.kill()?;
        child.wait()?;
        Ok(spent)
    })
}
