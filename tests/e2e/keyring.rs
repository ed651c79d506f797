//! `redline auth` against a real Secret Service, on a session bus of its own.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::machine::tool;
use redline_tests::program::{self, Output};
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

const KEY: &str = "sk-kept-in-the-keyring";

pub(crate) fn trials() -> Vec<Trial> {
    let absent = tool("gnome-keyring-daemon").is_none() || tool("dbus-daemon").is_none();
    vec![
        test(
            "keyring::a_key_is_kept_used_and_forgotten",
            a_key_is_kept_used_and_forgotten,
        )
        .with_ignored_flag(absent),
        test(
            "keyring::without_one_it_is_said_what_to_do",
            without_one_it_is_said_what_to_do,
        ),
    ]
}

/// A session bus with a Secret Service; both end with this.
struct Session {
    bus: Child,
    keyring: Child,
    address: String,
}

impl Session {
    fn start(project: &Project) -> Result<Self> {
        let mut bus = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address=1"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .env_clear()
            .envs(project.environment())
            .spawn()?;
        let mut address = String::new();
        BufReader::new(bus.stdout.take().context("stdout")?).read_line(&mut address)?;
        let address = address.trim().to_owned();
        let mut keyring = Command::new("gnome-keyring-daemon")
            .args(["--foreground", "--unlock", "--components=secrets"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .env_clear()
            .envs(project.environment())
            .env("DBUS_SESSION_BUS_ADDRESS", &address)
            .spawn()?;
        // The password of its login collection; the end of the input unlocks it.
        keyring
            .stdin
            .take()
            .context("stdin")?
            .write_all(b"password")?;
        Ok(Self {
            bus,
            keyring,
            address,
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for child in [&mut self.keyring, &mut self.bus] {
            // One that has ended already needs no more.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn configured() -> Result<Project> {
    let project = Project::with_files(&[("a.txt", "one\n")])?;
    project.configure(
        "model = \"mock/m\"\n[providers.mock]\napi = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key_env = \"MOCK_KEY\"\n",
    )?;
    Ok(project)
}

fn run(project: &Project, address: &str, arguments: &[&str], stdin: &str) -> Result<Output> {
    let mut command = project.command(&[arguments, &["--json"]].concat())?;
    command.env("DBUS_SESSION_BUS_ADDRESS", address);
    program::run(command, stdin.as_bytes())
}

fn source(project: &Project, address: &str) -> Result<Value> {
    let state = run(project, address, &["auth"], "")?
        .expect_code(0)?
        .json()?;
    Ok(json!([state["keyring"], state["providers"][0]["source"]]))
}

fn a_key_is_kept_used_and_forgotten() -> Result<()> {
    let project = configured()?;
    let session = Session::start(&project)?;
    let address = session.address.as_str();
    // The service comes up on the bus in its own time.
    let end = std::time::Instant::now() + redline_tests::client::PATIENCE;
    while source(&project, address)?[0] != "ready" {
        ensure!(std::time::Instant::now() < end, "no Secret Service came up");
    }
    ensure!(source(&project, address)? == json!(["ready", "missing"]));
    let asked = run(&project, address, &["ask", "x"], "")?
        .expect_code(5)?
        .json()?;
    let said = asked["error"].to_string();
    ensure!(
        said.contains("MOCK_KEY") && said.contains("redline auth set mock"),
        "{said}"
    );

    let kept = run(
        &project,
        address,
        &["auth", "set", "mock"],
        &format!("{KEY}\nrest"),
    )?;
    let kept = kept.expect_code(0)?;
    ensure!(!format!("{}{}", kept.stdout, kept.stderr).contains(KEY));
    ensure!(source(&project, address)? == json!(["ready", "keyring"]));
    // The same sidecar uses it at once: what fails now is the connection.
    let asked = run(&project, address, &["ask", "x"], "")?
        .expect_code(5)?
        .json()?;
    ensure!(!asked["error"].to_string().contains("MOCK_KEY"), "{asked}");
    let models = run(&project, address, &["models"], "")?.json()?.to_string();
    ensure!(
        models.contains("ready") && !models.contains("missing"),
        "{models}"
    );
    // Another in its place, then none.
    run(&project, address, &["auth", "set", "mock"], "other\n")?.expect_code(0)?;
    let removed = run(&project, address, &["auth", "remove", "mock"], "")?.json()?;
    ensure!(removed["key"] == "removed", "{removed}");
    ensure!(source(&project, address)? == json!(["ready", "missing"]));
    let again = run(&project, address, &["auth", "remove", "mock"], "")?.json()?;
    ensure!(again["key"] == "absent", "{again}");
    let unknown = run(&project, address, &["auth", "set", "mokc"], "k\n")?;
    let unknown = unknown.expect_code(1)?.json()?;
    ensure!(
        unknown["error"]["message"].to_string().contains("mock"),
        "{unknown}"
    );
    let empty = run(&project, address, &["auth", "set", "mock"], "\n")?.json()?;
    ensure!(empty["error"]["code"] == "INVALID_ARGUMENTS", "{empty}");
    Ok(())
}

fn without_one_it_is_said_what_to_do() -> Result<()> {
    let project = configured()?;
    let nowhere = format!("unix:path={}/no-bus", project.folder().display());
    let refused = run(&project, &nowhere, &["auth", "set", "mock"], "k\n")?;
    let refused = refused.expect_code(1)?.json()?;
    let error = &refused["error"];
    ensure!(error["code"] == "UNSUPPORTED", "{error}");
    ensure!(
        error["hint"]
            .as_str()
            .is_some_and(|hint| hint.contains("environment")),
        "{error}"
    );
    let state = source(&project, &nowhere)?;
    ensure!(
        state[0]
            .as_str()
            .is_some_and(|told| told.contains("no keyring")),
        "{state}"
    );
    ensure!(state[1] == "missing", "{state}");
    // And nothing else minds.
    run(&project, &nowhere, &["status"], "")?.expect_code(0)?;
    Ok(())
}
