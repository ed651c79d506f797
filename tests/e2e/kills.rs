//! Bridge, sidecar and parent killed in every order: no process is left, and nothing is lost.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::client::{Client, Null};
use redline_tests::editor::Profile;
use redline_tests::processes::{self, Process};
use redline_tests::program;
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        test(
            "kills::every_order_leaves_no_process_and_loses_nothing",
            every_order_leaves_no_process_and_loses_nothing,
        ),
        test(
            "kills::a_bridge_outlives_its_sidecar",
            a_bridge_outlives_its_sidecar,
        ),
        test(
            "kills::the_sidecar_inherits_no_stdio_and_no_files",
            the_sidecar_inherits_no_stdio_and_no_files,
        ),
        test(
            "kills::an_idle_sidecar_ends_itself",
            an_idle_sidecar_ends_itself,
        ),
        test(
            "kills::exit_codes_follow_shutdown",
            exit_codes_follow_shutdown,
        ),
        test(
            "kills::in_process_ends_with_its_stdin",
            in_process_ends_with_its_stdin,
        ),
    ]
}

const TEXT: &str = "one\ntwo\nthree\n";

fn proposal() -> String {
    json!({"edits": [{"path": "a.txt", "search": "two", "replace": "TWO"}]}).to_string()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Who {
    Bridge,
    Sidecar,
    Parent,
}

fn find(project: &Project, word: &str) -> Option<Process> {
    project.processes().into_iter().find(|process| {
        let mut words = process.command.split(' ');
        words
            .next()
            .is_some_and(|program| program.ends_with("redline"))
            && words.next() == Some(word)
    })
}

/// An editor process with a bridge below it, as a shell: its stdin and stdout are the bridge's.
fn parent_with_bridge(project: &Project) -> Result<Client> {
    let binary = program::redline()?;
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg("\"$0\" lsp; exit $?")
        .arg(&binary)
        .current_dir(project.root())
        .env_clear()
        .envs(project.environment());
    let client = Client::spawn(command, Stdio::null(), Box::new(Null))?;
    let mut params = Profile::full().initialize(&project.root());
    params["processId"] = client.pid().context("a pid")?.into();
    client.request("initialize", params)?;
    client.notify("initialized", json!({}))?;
    Ok(client)
}

fn every_order_leaves_no_process_and_loses_nothing() -> Result<()> {
    use Who::{Bridge, Parent, Sidecar};
    let orders = [
        [Bridge, Sidecar, Parent],
        [Bridge, Parent, Sidecar],
        [Sidecar, Bridge, Parent],
        [Sidecar, Parent, Bridge],
        [Parent, Bridge, Sidecar],
        [Parent, Sidecar, Bridge],
    ];
    for order in orders {
        let project = Project::with_files(&[("a.txt", TEXT)])?;
        project.configure("[sidecar]\nidle_seconds = 1\n")?;
        let client = parent_with_bridge(&project)?;
        let uri = redline_tests::editor::uri_of(&project.root().join("a.txt"));
        client.notify(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": uri, "languageId": "x", "version": 0, "text": TEXT}}),
        )?;
        let transaction = client.request(
            "redline/transaction/propose",
            json!({"content": proposal()}),
        )?;
        let id = transaction["id"]
            .as_str()
            .context("a transaction")?
            .to_owned();
        for who in order {
            let pid = match who {
                Bridge => find(&project, "lsp").map(|process| process.pid),
                Sidecar => find(&project, "serve").map(|process| process.pid),
                Parent => client.pid(),
            };
            // It may have ended by itself when another was killed, as it should.
            if let Some(pid) = pid {
                processes::kill(pid);
            }
        }
        drop(client);
        // What was killed last may just have been followed by a new sidecar, which ends when it is idle.
        wait_only_sidecar(&project).with_context(|| format!("{order:?}"))?;
        let status = project.run(&["status", "--json"])?.expect_code(0)?.json()?;
        let list = status["transactions"].as_array().context("transactions")?;
        ensure!(
            list.len() == 1
                && list[0]["transaction"] == id.as_str()
                && list[0]["state"] == "pending",
            "{order:?}: the proposal is lost: {status}"
        );
        project.run(&["accept"])?.expect_code(0)?;
        ensure!(
            project.read("a.txt")? == TEXT.replace("two", "TWO"),
            "{order:?}: not what was proposed"
        );
        crate::cli::stop_sidecar(&project)?;
    }
    Ok(())
}

/// Waits until at most a sidecar is left: no bridge, no parent.
fn wait_only_sidecar(project: &Project) -> Result<()> {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let left: Vec<Process> = project
            .processes()
            .into_iter()
            .filter(|process| !process.command.contains(" serve"))
            .collect();
        if left.is_empty() {
            return Ok(());
        }
        ensure!(Instant::now() < end, "still running: {left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn a_bridge_outlives_its_sidecar() -> Result<()> {
    let project = Project::with_files(&[("a.txt", TEXT)])?;
    let editor = project.editor(&Profile::full())?;
    editor.open("a.txt")?;
    editor.replace("a.txt", 0..0, "typed, not saved\n")?;
    project
        .run_with(&["propose"], proposal().as_bytes())?
        .expect_code(0)?;
    editor.wait_diagnostics("a.txt", |list| list.len() == 1)?;
    for _ in 0..3 {
        let sidecar = find(&project, "serve").context("no sidecar")?;
        processes::kill(sidecar.pid);
        // The bridge finds or starts another, and opens there what the editor has open.
        let end = Instant::now() + Duration::from_secs(30);
        let text = loop {
            match editor
                .client
                .ask("redline/document/text", json!({"uri": editor.uri("a.txt")}))?
            {
                Ok(text) => break text,
                // Requests in flight get an error.
                Err(error) => ensure!(Instant::now() < end, "{error}"),
            }
        };
        ensure!(text.to_string().contains("typed, not saved"), "{text}");
        let status = editor
            .client
            .request("redline/status", Value::Null)
            .or_else(|_| editor.client.request("redline/status", json!({})))?;
        ensure!(
            status["transactions"]
                .as_array()
                .is_some_and(|list| list.len() == 1),
            "{status}"
        );
    }
    let line = u32::try_from(
        editor
            .text("a.txt")?
            .lines()
            .position(|line| line == "two")
            .context("two")?,
    )?;
    let actions = editor.actions("a.txt", line, line)?;
    let accept = actions.iter().find(|action| {
        action["title"]
            .as_str()
            .is_some_and(|title| title.starts_with("Accept hunk"))
    });
    let reply = editor.invoke(accept.context("no accept")?)?;
    ensure!(reply.is_ok(), "{reply:?}");
    editor.wait_text("a.txt", "typed, not saved\none\nTWO\nthree\n")?;
    Ok(())
}

fn the_sidecar_inherits_no_stdio_and_no_files() -> Result<()> {
    let project = Project::with_files(&[("a.txt", TEXT)])?;
    let editor = project.editor(&Profile::full())?;
    editor.client.request("redline/status", json!({}))?;
    let sidecar = find(&project, "serve").context("no sidecar")?;
    let bridge = editor.client.pid().context("a bridge")?;
    let theirs = processes::open_files(bridge);
    for (fd, target) in processes::open_files(sidecar.pid) {
        if matches!(fd.as_str(), "0" | "1" | "2") {
            ensure!(
                target == "/dev/null" || target.contains("/state/"),
                "fd {fd} is {target}"
            );
        }
        let shared =
            target.starts_with("pipe:") && theirs.iter().any(|(_, other)| *other == target);
        ensure!(!shared, "fd {fd} is {target}, which is the bridge's");
    }
    // It is nobody's child that waits for it: the bridge's end does not take it along.
    ensure!(
        sidecar.parent != bridge,
        "the sidecar is a child of the bridge"
    );
    Ok(())
}

fn an_idle_sidecar_ends_itself() -> Result<()> {
    let project = Project::with_files(&[("a.txt", TEXT)])?;
    let mut sidecar = project.command(&["serve", "--idle-ms", "300"])?;
    sidecar
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = sidecar.spawn()?;
    let status = redline_tests::client::wait_exit(&mut child, Duration::from_secs(30))?;
    ensure!(status.success(), "{status}");
    project.wait_no_process(Duration::from_secs(30))
}

fn exit_codes_follow_shutdown() -> Result<()> {
    for arguments in [&["lsp"][..], &["lsp", "--in-process"]] {
        let project = Project::with_files(&[("a.txt", TEXT)])?;
        let editor = project.editor_with(&Profile::full(), arguments)?;
        let status = editor.client.shut_down()?.context("a status")?;
        ensure!(
            status.code() == Some(0),
            "{arguments:?}: {status} after shutdown and exit"
        );
        let editor = project.editor_with(&Profile::full(), arguments)?;
        editor.client.notify("exit", Value::Null)?;
        let status = editor.client.hang_up()?.context("a status")?;
        ensure!(
            status.code() == Some(1),
            "{arguments:?}: {status} after exit alone"
        );
    }
    Ok(())
}

fn in_process_ends_with_its_stdin() -> Result<()> {
    let project = Project::with_files(&[("a.txt", TEXT)])?;
    let editor = project.editor_with(&Profile::full(), &["lsp", "--in-process"])?;
    ensure!(find(&project, "serve").is_none(), "a sidecar was started");
    let status = editor.client.hang_up()?.context("a status")?;
    ensure!(status.code() == Some(1), "{status}");
    project.wait_no_process(Duration::from_secs(30))
}
