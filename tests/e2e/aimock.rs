//! Turns of the real binary against a third-party server that speaks Chat Completions.

mod deciding;
mod replaying;
mod stopping;
mod support;
mod surviving;
mod terminal;

use std::io::Read;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::aimock::Aimock;
use redline_tests::machine;
use redline_tests::program::Output;
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

/// Must never appear in anything that a run writes.
const CANARY: &str = "sk-canary-5f0c1b7e";

pub(crate) fn trials() -> Vec<Trial> {
    let absent = machine::aimock().is_none();
    let own = [
        test(
            "aimock::a_turn_reads_searches_edits_repairs_and_ends",
            a_turn_reads_searches_edits_repairs_and_ends,
        ),
        test(
            "aimock::a_busy_server_is_asked_again",
            a_busy_server_is_asked_again,
        ),
        test("aimock::failures_exit_with_5", failures_exit_with_5),
        test(
            "aimock::bad_arguments_are_repaired_and_never_run",
            bad_arguments_are_repaired_and_never_run,
        ),
        test(
            "aimock::the_key_is_written_nowhere",
            the_key_is_written_nowhere,
        ),
        test(
            "aimock::an_interrupt_ends_the_turn",
            an_interrupt_ends_the_turn,
        ),
    ];
    let all = own
        .into_iter()
        .chain(deciding::trials())
        .chain(stopping::trials())
        .chain(replaying::trials())
        .chain(terminal::trials())
        .chain(surviving::trials());
    all.map(|trial| trial.with_ignored_flag(absent)).collect()
}

fn project(server: &Aimock) -> Result<Project> {
    let project = Project::with_files(&[
        (
            "src/greet.rs",
            "pub fn hello() {\n    println!(\"hello\");\n}\n\npub fn hello_twice() {\n    println!(\"hello\");\n    println!(\"hello again\");\n}\n",
        ),
        ("src/main.rs", "fn main() {\n    hello();\n}\n"),
        ("README.md", "# Greeter\n\nIt says hello.\n"),
    ])?;
    project.configure(&format!(
        "model = \"mock/gpt-4o\"\n\n[providers.mock]\napi = \"openai-chat\"\nbase_url = \"{}\"\napi_key_env = \"MOCK_KEY\"\n",
        server.base_url()
    ))?;
    Ok(project)
}

fn ask(project: &Project, arguments: &[&str]) -> Result<Output> {
    let mut command = project.command(&[&["ask", "--json"], arguments].concat())?;
    command.env("MOCK_KEY", CANARY);
    redline_tests::program::run(command, b"")
}

fn a_turn_reads_searches_edits_repairs_and_ends() -> Result<()> {
    let server = Aimock::start("turn.json")?;
    let project = project(&server)?;
    let before = project.tree()?;
    let answer = ask(&project, &["Use one greeting everywhere"])?
        .expect_code(0)?
        .json()?;
    ensure!(answer["end"] == "done", "{answer}");
    let text = answer["text"].as_str().context("text")?;
    for said in [
        "I look at the callers first.",
        "I take more of it.",
        "Three files greet politely now.",
    ] {
        ensure!(text.contains(said), "{text}");
    }
    let files: Vec<(&str, usize)> = answer["transaction"]["files"]
        .as_array()
        .context("files")?
        .iter()
        .map(|file| {
            (
                file["path"].as_str().unwrap_or_default(),
                file["hunks"].as_array().map_or(0, Vec::len),
            )
        })
        .collect();
    ensure!(
        files == [("src/greet.rs", 1), ("src/main.rs", 1), ("README.md", 1)],
        "{answer:#}"
    );
    let hunk = &answer["transaction"]["files"][0]["hunks"][0];
    ensure!(
        hunk["start_line"] == 2 && hunk["rationale"] == "Greet politely",
        "{hunk}"
    );
    // Nothing reached the project: what was proposed waits.
    let differences = before.differences(&project.tree()?);
    ensure!(
        differences.is_empty(),
        "the turn wrote to the project: {differences:?}"
    );

    // What the server heard: four steps, each with the results of the one before.
    let requests = server.requests()?;
    ensure!(requests.len() == 4, "{} requests", requests.len());
    let roles = |request: &Value| -> Vec<String> {
        request["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|message| message["role"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let last = roles(&requests[3]);
    ensure!(
        last == [
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
            "assistant",
            "tool",
            "assistant",
            "tool"
        ],
        "{last:?}"
    );

    let id = answer["transaction"]["id"]
        .as_str()
        .or(answer["transaction"]["transaction"].as_str())
        .context("id")?;
    project.run(&["accept", id, "--all"])?.expect_code(0)?;
    ensure!(project.read("README.md")? == "# Greeter\n\nIt says good day.\n");
    ensure!(
        project
            .read("src/main.rs")?
            .contains("hello(); // politely")
    );
    project.run(&["undo"])?.expect_code(0)?;
    let differences = before.differences(&project.tree()?);
    ensure!(
        differences.is_empty(),
        "one undo takes the turn back: {differences:?}"
    );
    Ok(())
}

fn a_busy_server_is_asked_again() -> Result<()> {
    let server = Aimock::start("failures.json")?;
    let project = project(&server)?;
    let answer = ask(&project, &["You are busy at first"])?
        .expect_code(0)?
        .json()?;
    ensure!(answer["text"] == "Here I am.", "{answer}");
    ensure!(server.requests()?.len() == 3);
    Ok(())
}

fn failures_exit_with_5() -> Result<()> {
    let server = Aimock::start("failures.json")?;
    let project = project(&server)?;
    let cases = [
        ("out of credit", "exceeded your current quota"),
        ("break off", "stream ended"),
        ("nobody expects this", ""),
        ("hang up", "no answer from"),
    ];
    for (prompt, said) in cases {
        let answer = ask(&project, &[prompt])?.expect_code(5)?.json()?;
        let error = &answer["error"];
        ensure!(error["code"] == "PROVIDER", "{prompt}: {answer}");
        ensure!(
            error["message"]
                .as_str()
                .is_some_and(|message| message.contains(said)),
            "{prompt}: {answer}"
        );
        ensure!(
            error["hint"].as_str().is_some_and(|hint| !hint.is_empty()),
            "{prompt}: {answer}"
        );
    }
    // What was shown before a stream broke stays shown.
    let cut = ask(&project, &["break off"])?.json()?;
    ensure!(
        cut["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("This answer is")),
        "{cut}"
    );
    Ok(())
}

fn bad_arguments_are_repaired_and_never_run() -> Result<()> {
    let server = Aimock::start("failures.json")?;
    let project = project(&server)?;
    let answer = ask(&project, &["bad arguments"])?.expect_code(0)?.json()?;
    ensure!(answer["text"] == "Read after all.", "{answer}");
    Ok(())
}

fn the_key_is_written_nowhere() -> Result<()> {
    let server = Aimock::start("turn.json")?;
    let project = project(&server)?;
    ask(&project, &["Use one greeting everywhere"])?.expect_code(0)?;
    let mut searched = 0;
    let mut folders = vec![project.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let bytes = std::fs::read(entry.path())?;
                let found = bytes
                    .windows(CANARY.len())
                    .any(|window| window == CANARY.as_bytes());
                ensure!(!found, "the key stands in {}", entry.path().display());
                searched += 1;
            }
        }
    }
    ensure!(searched > 5, "only {searched} files were searched");
    let heard = json!(server.requests()?).to_string();
    ensure!(!heard.contains(CANARY), "the key was sent in a body");
    Ok(())
}

fn an_interrupt_ends_the_turn() -> Result<()> {
    let server = Aimock::start("failures.json")?;
    let project = project(&server)?;
    let mut command = project.command(&["ask", "take your time"])?;
    command
        .env("MOCK_KEY", CANARY)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    // The first words show that the answer is on its way; the rest would take many seconds.
    let mut first = [0; 4];
    let mut stdout = child.stdout.take().context("stdout")?;
    stdout.read_exact(&mut first)?;
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
    let mut rest = String::new();
    stdout.read_to_string(&mut rest)?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.code() == Some(130),
        "{:?} {said}",
        output.status
    );
    ensure!(said.starts_with("CANCELLED: "), "{said}");
    ensure!(
        !rest.contains("word by word by word by word"),
        "the answer went on: {rest}"
    );
    Ok(())
}
