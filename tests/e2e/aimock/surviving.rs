//! What a turn outlives: its editor, its server's silence, its sidecar.

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::aimock::Aimock;
use redline_tests::client::PATIENCE;
use redline_tests::processes::{self, Process};
use redline_tests::project::Project;
use serde_json::{Value, json};

use super::support::{
    GREETING, Turn, configure, editor, greeting, json_of, text_at, wait, wait_idle,
};
use crate::test;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        test(
            "aimock::surviving::a_turn_goes_on_while_its_editor_restarts",
            a_turn_goes_on_while_its_editor_restarts,
        ),
        test(
            "aimock::surviving::a_silent_server_is_a_timeout",
            a_silent_server_is_a_timeout,
        ),
        test(
            "aimock::surviving::only_what_was_never_shown_is_asked_again",
            only_what_was_never_shown_is_asked_again,
        ),
        test(
            "aimock::surviving::a_killed_sidecar_loses_no_turn",
            a_killed_sidecar_loses_no_turn,
        ),
        test(
            "aimock::surviving::what_waited_when_the_sidecar_died_runs_only_when_asked_again",
            what_waited_when_the_sidecar_died_runs_only_when_asked_again,
        ),
        test(
            "aimock::surviving::what_was_decided_after_a_restart_is_told",
            what_was_decided_after_a_restart_is_told,
        ),
        test(
            "aimock::surviving::a_torn_record_is_mended_and_said",
            a_torn_record_is_mended_and_said,
        ),
    ]
}

/// The sidecar of this project.
fn sidecar(project: &Project) -> Result<Process> {
    let all = project.processes();
    let serves = |process: &&Process| process.command.contains(" serve");
    let found = all.iter().find(serves).cloned();
    found.with_context(|| format!("no sidecar among {all:?}"))
}

fn kill_sidecar(project: &Project) -> Result<()> {
    let pid = sidecar(project)?.pid;
    processes::kill(pid);
    wait("the sidecar is gone", || {
        Ok((!processes::is_alive(pid)).then_some(()))
    })
}

fn a_turn_goes_on_while_its_editor_restarts() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let first = editor(&project)?;
    let turn = Turn::prompt(&first, None, "a few words")?;
    turn.wait_words("One")?;
    let (session, id) = (turn.session.clone(), turn.id.clone());
    first.client.hang_up()?;

    let second = editor(&project)?;
    let loaded = second
        .client
        .request("redline/session/load", json!({"sessionId": session}))?;
    ensure!(
        loaded["session"]["sessionId"] == session.as_str(),
        "{loaded}"
    );
    // It took part by itself as soon as it came, and what it heard since then is told again.
    second
        .client
        .wait_for("the replay is over", PATIENCE, |arrived| {
            let update = arrived.newest("redline/session/update", |params| {
                params["updates"].to_string().contains("replay_complete")
            });
            update.map(drop)
        })?;
    let turn = Turn::of(&second, &json!({"sessionId": session, "turnId": id}))?;
    ensure!(turn.wait_end()? == "end_turn");
    turn.ensure_one_end()?;
    // What was said before, and while nobody listened, and after: each word once.
    let words = turn.words();
    ensure!(
        words == "One two three four five six seven eight nine ten eleven twelve, and that is all.",
        "{words}"
    );
    Ok(())
}

fn a_silent_server_is_a_timeout() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    configure(
        &project,
        &server,
        "first_byte_seconds = 1\nidle_seconds = 1\n",
    )?;
    // The first step says something; the second one nothing at all, however often it is asked.
    let answer = json_of(&project, &["ask", "pause after a word"], 5)?;
    ensure!(answer["error"]["code"] == "TIMEOUT", "{answer:#}");
    let hint = text_at(&answer, "/error/hint")?;
    ensure!(!hint.is_empty(), "{answer:#}");
    ensure!(
        text_at(&answer, "/text")?.starts_with("Wait"),
        "what was shown stays: {answer:#}"
    );
    Ok(())
}

fn only_what_was_never_shown_is_asked_again() -> Result<()> {
    let server = Aimock::start("failures.json")?;
    let project = greeting(&server)?;
    json_of(&project, &["ask", "break off"], 5)?;
    ensure!(
        server.requests()?.len() == 1,
        "words were shown, so nothing is asked again by itself"
    );
    let answer = json_of(&project, &["ask", "You are busy at first"], 0)?;
    ensure!(answer["text"] == "Here I am.", "{answer:#}");
    ensure!(server.requests()?.len() == 4);
    Ok(())
}

fn a_killed_sidecar_loses_no_turn() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let first = editor(&project)?;
    let turn = Turn::prompt(&first, None, "edit and talk on")?;
    turn.wait_words("A slow")?;
    let (session, id) = (turn.session.clone(), turn.id.clone());
    kill_sidecar(&project)?;
    drop(first);

    // The record says that it broke off, before anybody asks it to go on.
    let listed = json_of(&project, &["sessions"], 0)?;
    let found = &listed["sessions"][0];
    ensure!(
        found["session_id"] == session.as_str()
            && found["title"] == "edit and talk on"
            && found["state"] == "idle",
        "{listed:#}"
    );
    let status = json_of(&project, &["status"], 0)?;
    ensure!(
        status["transactions"][0]["state"] == "pending",
        "the edit is still there: {status:#}"
    );

    let second = editor(&project)?;
    second
        .client
        .request("redline/session/load", json!({"sessionId": session}))?;
    let turn = Turn::of(&second, &json!({"sessionId": session, "turnId": id}))?;
    let end = turn.wait("its end is told", |update| {
        (!update["stopReason"].is_null()).then(|| update.clone())
    })?;
    ensure!(
        end["stopReason"] == "_interrupted"
            && end["_error"]["code"] == "INTERRUPTED"
            && text_at(&end, "/_error/message")?.contains("the sidecar ended")
            && !text_at(&end, "/_error/hint")?.is_empty(),
        "{end:#}"
    );
    turn.ensure_one_end()?;
    ensure!(turn.words().starts_with("A slow"), "{}", turn.words());
    let next = Turn::prompt(&second, Some(&session), "carry on, please")?;
    ensure!(next.wait_end()? == "end_turn");
    project.run(&["accept"])?.expect_code(0)?;
    ensure!(project.read("greeting.txt")? == "good day\nworld\n");
    Ok(())
}

fn what_waited_when_the_sidecar_died_runs_only_when_asked_again() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let left = json_of(&project, &["ask", "copy the greeting"], 4)?;
    let session = text_at(&left, "/session")?.to_owned();
    let approval = text_at(&left, "/approvals/0/id")?.to_owned();
    kill_sidecar(&project)?;

    // It still waits for a yes, which is kept, and says how to go on; nothing runs by itself.
    let listed = json_of(&project, &["approvals"], 0)?;
    let waits = &listed["approvals"][0];
    ensure!(
        waits["id"] == approval.as_str() && waits["turn_id"].is_null(),
        "no turn waits for it: {listed:#}"
    );
    let approved = project.run(&["approve", &approval])?.expect_code(0)?;
    ensure!(
        approved
            .stdout
            .contains(&format!("redline ask --session {session}")),
        "{}",
        approved.stdout
    );
    let listed = wait_idle(&project, &session)?;
    ensure!(listed["turns"] == 1, "{listed:#}");
    ensure!(
        !project.root().join("the copy.txt").exists(),
        "nobody asked it to run again"
    );

    // Going on runs exactly that call, once.
    let went = json_of(
        &project,
        &["ask", "--session", &session, "now carry it out"],
        0,
    )?;
    ensure!(went["text"] == "Carried out.", "{went:#}");
    let heard = server.requests()?;
    let heard = heard.get(1).context("the second request")?.to_string();
    ensure!(
        heard.contains("Approved by the user, and not run"),
        "the model is not told: {heard}"
    );
    ensure!(project.read("the copy.txt")? == GREETING);
    let settled = json_of(&project, &["approvals", "--settled"], 0)?;
    ensure!(
        settled["approvals"][0]["id"] == approval.as_str()
            && settled["approvals"][0]["state"] == "spent",
        "{settled:#}"
    );
    Ok(())
}

fn what_was_decided_after_a_restart_is_told() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let first = editor(&project)?;
    let turn = Turn::prompt(&first, None, "edit and talk on")?;
    turn.wait_words("A slow")?;
    let session = turn.session.clone();
    kill_sidecar(&project)?;
    drop(first);
    // Nobody has opened the conversation when this is decided.
    project
        .run(&["reject", "--reason", "plain words are fine"])?
        .expect_code(0)?;
    json_of(
        &project,
        &["ask", "--session", &session, "carry on, please"],
        0,
    )?;
    let requests = server.requests()?;
    let last = requests.last().context("a request")?.to_string();
    ensure!(
        last.contains("REJECTED") && last.contains("The user says: plain words are fine"),
        "the model is not told: {last}"
    );
    Ok(())
}

/// The record of the only session of a project.
fn record_of(project: &Project, session: &str) -> Result<std::path::PathBuf> {
    let mut folders = vec![project.state_dir()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_record = name.contains(session) && name.ends_with(".ndjson");
            if path.is_dir() {
                folders.push(path);
            } else if is_record {
                return Ok(path);
            }
        }
    }
    anyhow::bail!("no record of {session}")
}

fn a_torn_record_is_mended_and_said() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let said = json_of(&project, &["ask", "carry on, please"], 0)?;
    let session = text_at(&said, "/session")?.to_owned();
    crate::cli::stop_sidecar(&project)?;
    let record = record_of(&project, &session)?;
    let whole = std::fs::read_to_string(&record)?;
    // Of the turn's last event only a half reached the disk.
    let cut = whole
        .rfind("\"event\":\"ended\"")
        .context("the turn's end is in its record")?;
    std::fs::write(&record, &whole[..cut])?;

    let editor = editor(&project)?;
    let loaded = editor
        .client
        .request("redline/session/load", json!({"sessionId": session}))?;
    let repaired = text_at(&loaded, "/repaired")?;
    ensure!(!repaired.is_empty(), "{loaded}");
    let turn = text_at(&said, "/turn")?;
    let turn = Turn::of(&editor, &json!({"sessionId": session, "turnId": turn}))?;
    ensure!(turn.wait_end()? == "_interrupted", "the end was torn off");
    ensure!(turn.words() == "Where were we?");
    let next = Turn::prompt(&editor, Some(&session), "carry on, please")?;
    ensure!(next.wait_end()? == "end_turn");
    // It was mended once; the next one who reads it is told of nothing.
    let again = editor.client.request(
        "redline/session/load",
        json!({"sessionId": session, "replay": false}),
    )?;
    ensure!(again["repaired"] == Value::Null, "{again}");
    Ok(())
}
