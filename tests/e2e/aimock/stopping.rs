//! A turn that is stopped, at every point where it can stand and by every way to say so: one end, and nothing left.

use std::io::Read;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::aimock::Aimock;
use redline_tests::client::PATIENCE;
use redline_tests::editor::{Editor, Profile};
use redline_tests::project::Project;
use serde_json::{Value, json};

use super::support::{Turn, editor, greeting, json_of, wait, wait_nothing_left};
use crate::test;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        test(
            "aimock::stopping::at_every_point_it_ends_once_and_leaves_nothing",
            at_every_point_it_ends_once_and_leaves_nothing,
        ),
        test(
            "aimock::stopping::every_way_to_say_so_works",
            every_way_to_say_so_works,
        ),
        test(
            "aimock::stopping::an_interrupt_of_ask_leaves_nothing",
            an_interrupt_of_ask_leaves_nothing,
        ),
        test(
            "aimock::stopping::a_prompt_that_is_cancelled_at_once_never_runs_on",
            a_prompt_that_is_cancelled_at_once_never_runs_on,
        ),
    ]
}

/// A program that ends by no polite signal, with a child that does neither.
const STUBBORN: &str = "#!/bin/sh\ntrap '' TERM INT HUP\nsh -c 'trap \"\" TERM; while :; do sleep 600; done' &\nwhile :; do sleep 600; done\n";

/// Where a turn can stand.
#[derive(Debug, Clone, Copy)]
enum Point {
    /// The model has not said a word.
    BeforeTheAnswer,
    /// In the middle of a sentence.
    InTheAnswer,
    /// It waits to ask again.
    BeforeARetry,
    /// A call waits for an approval.
    AtAnApproval,
    /// A plan waits.
    AtAPlan,
    /// A program runs.
    InACommand,
}

impl Point {
    const ALL: [Self; 6] = [
        Self::BeforeTheAnswer,
        Self::InTheAnswer,
        Self::BeforeARetry,
        Self::AtAnApproval,
        Self::AtAPlan,
        Self::InACommand,
    ];

    /// Brings a turn there.
    fn reach<'a>(self, project: &Project, server: &Aimock, editor: &'a Editor) -> Result<Turn<'a>> {
        let prompt = |text: &str| Turn::prompt(editor, None, text);
        let notice = |update: &Value| (update["sessionUpdate"] == "_notice").then_some(());
        Ok(match self {
            Self::BeforeTheAnswer => {
                let before = server.requests()?.len();
                let turn = prompt("say nothing yet")?;
                // The server writes a request down when it begins to answer it.
                wait("the request is there", || {
                    let open = super::support::connections(server.port())?;
                    Ok((server.requests()?.len() > before || open > 0).then_some(()))
                })?;
                turn
            }
            Self::InTheAnswer => {
                let turn = prompt("take your time")?;
                turn.wait_words("A slow")?;
                turn
            }
            Self::BeforeARetry => {
                let turn = prompt("be busy for long")?;
                turn.wait("it will ask again", notice)?;
                turn
            }
            Self::AtAnApproval => {
                let turn = prompt("copy the greeting")?;
                turn.wait_staged()?;
                turn
            }
            Self::AtAPlan => {
                let params = json!({"mode": "plan"});
                let new = editor.client.request("redline/session/new", params)?;
                let turn = Turn::prompt(editor, new["sessionId"].as_str(), "plan it first")?;
                turn.wait_staged()?;
                turn
            }
            Self::InACommand => {
                let turn = prompt("run for long")?;
                let approval = turn.wait_staged()?;
                let params = json!({"approvalId": approval, "decision": "approve"});
                editor.client.request("redline/approval/decide", params)?;
                wait("the program and its child run", || {
                    let processes = project.processes();
                    let sleeping = processes.iter().filter(|one| one.command == "sleep 600");
                    Ok((sleeping.count() == 2).then_some(()))
                })?;
                turn
            }
        })
    }
}

fn stubborn_project(server: &Aimock) -> Result<Project> {
    use std::os::unix::fs::PermissionsExt;
    let project = greeting(server)?;
    project.write("stubborn.sh", STUBBORN)?;
    let script = project.root().join("stubborn.sh");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755))?;
    Ok(project)
}

fn at_every_point_it_ends_once_and_leaves_nothing() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = stubborn_project(&server)?;
    let editor = editor(&project)?;
    for point in Point::ALL {
        let turn = point
            .reach(&project, &server, &editor)
            .with_context(|| format!("{point:?}"))?;
        let cancel = json!({"sessionId": turn.session});
        editor.client.request("redline/session/cancel", cancel)?;
        let end = turn.wait_end().with_context(|| format!("{point:?}"))?;
        ensure!(end == "cancelled", "{point:?}: {end}");
        turn.ensure_one_end()
            .with_context(|| format!("{point:?}"))?;
        wait_nothing_left(&project, &server).with_context(|| format!("{point:?}"))?;
        wait("no approval waits any more", || {
            let listed = json_of(&project, &["approvals"], 0)?;
            Ok((listed["approvals"] == json!([])).then_some(()))
        })?;
        // The conversation goes on, and the history that the model is sent is whole.
        let next = Turn::prompt(&editor, Some(&turn.session), "carry on, please")?;
        let end = next
            .wait_end()
            .with_context(|| format!("after {point:?}"))?;
        ensure!(end == "end_turn", "after {point:?}: {end}");
        ensure!(next.words() == "Where were we?", "{point:?}");
    }
    Ok(())
}

fn every_way_to_say_so_works() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let editor = project.editor(&Profile::full().with_redline())?;
    let client = &editor.client;
    type Way = fn(&Editor, &Turn<'_>, i64) -> Result<()>;
    let ways: [(&str, Way); 5] = [
        ("$/cancelRequest", |editor, _, prompt| {
            editor
                .client
                .notify("$/cancelRequest", json!({"id": prompt}))
        }),
        ("redline.cancel", |editor, _, _| {
            let params = json!({"command": "redline.cancel", "arguments": []});
            editor.client.request("workspace/executeCommand", params)?;
            Ok(())
        }),
        ("redline/session/cancel", |editor, turn, _| {
            let params = json!({"sessionId": turn.session});
            editor.client.request("redline/session/cancel", params)?;
            Ok(())
        }),
        ("redline/session/cancel of the turn", |editor, turn, _| {
            let params = json!({"turnId": turn.id});
            editor.client.request("redline/session/cancel", params)?;
            Ok(())
        }),
        ("the progress of the turn", |editor, turn, _| {
            let token = format!("redline/{}", turn.id);
            editor
                .client
                .notify("window/workDoneProgress/cancel", json!({"token": token}))
        }),
    ];
    for (way, stop) in ways {
        // By the request that draws conversations, and by the command of editors that know none.
        let new = client.request("redline/session/new", json!({}))?;
        let prompts = [
            (
                "redline/session/prompt",
                json!({"sessionId": new["sessionId"], "text": "take your time"}),
            ),
            (
                "workspace/executeCommand",
                json!({"command": "redline.ask", "arguments": ["take your time"]}),
            ),
        ];
        for (method, params) in prompts {
            let id = client.start(method, params)?;
            let prompted = client
                .wait_reply(id, PATIENCE)?
                .with_context(|| method.to_owned())?;
            let turn = Turn::of(&editor, &prompted)?;
            turn.wait_words("A slow")?;
            stop(&editor, &turn, id).with_context(|| way.to_owned())?;
            ensure!(turn.wait_end()? == "cancelled", "{way} after {method}");
            turn.ensure_one_end()
                .with_context(|| format!("{way} after {method}"))?;
            wait_nothing_left(&project, &server)?;
        }
    }
    Ok(())
}

fn an_interrupt_of_ask_leaves_nothing() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let mut child = project
        .command(&["ask", "take your time"])?
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdout = child.stdout.take().context("stdout")?;
    let mut first = [0; 6];
    stdout.read_exact(&mut first)?;
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(
        output.status.code() == Some(130),
        "{:?} {said}",
        output.status
    );
    wait_nothing_left(&project, &server)?;
    let listed = json_of(&project, &["sessions"], 0)?;
    ensure!(listed["sessions"][0]["state"] == "idle", "{listed:#}");
    Ok(())
}

fn a_prompt_that_is_cancelled_at_once_never_runs_on() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let editor = editor(&project)?;
    let client = &editor.client;
    let new = client.request("redline/session/new", json!({}))?;
    // Both are on the wire before the first is answered.
    let params = json!({"sessionId": new["sessionId"], "text": "take your time"});
    let id = client.start("redline/session/prompt", params)?;
    client.notify("$/cancelRequest", json!({"id": id}))?;
    let prompted = client
        .wait_reply(id, PATIENCE)?
        .context("a prompt is answered, cancelled or not")?;
    let turn = Turn::of(&editor, &prompted)?;
    ensure!(turn.wait_end()? == "cancelled");
    turn.ensure_one_end()?;
    wait_nothing_left(&project, &server)
}
