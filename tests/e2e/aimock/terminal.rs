//! The agent's side on the command line: what each command prints under `--json`, and its exit codes.

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::aimock::Aimock;
use redline_tests::client::{PATIENCE, wait_exit};
use redline_tests::project::Project;
use serde_json::{Value, json};
use std::process::Stdio;

use super::support::{greeting, json_of, text_at, wait, wait_idle};
use crate::test;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        test(
            "aimock::terminal::sessions_are_listed_forked_and_put_away",
            sessions_are_listed_forked_and_put_away,
        ),
        test(
            "aimock::terminal::modes_models_and_env_are_shown_and_set",
            modes_models_and_env_are_shown_and_set,
        ),
        test(
            "aimock::terminal::jobs_are_listed_read_and_stopped",
            jobs_are_listed_read_and_stopped,
        ),
        test(
            "aimock::terminal::ask_can_wait_for_a_decision_elsewhere",
            ask_can_wait_for_a_decision_elsewhere,
        ),
        test(
            "aimock::terminal::what_is_not_there_is_refused",
            what_is_not_there_is_refused,
        ),
    ]
}

fn list_of<'a>(value: &'a Value, key: &str) -> Result<&'a Vec<Value>> {
    let found = value[key].as_array();
    found.with_context(|| format!("no list {key} in {value:#}"))
}

fn sessions_are_listed_forked_and_put_away() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    ensure!(json_of(&project, &["sessions"], 0)? == json!({"sessions": []}));
    let said = json_of(&project, &["ask", "carry on, please"], 0)?;
    let (session, turn) = (text_at(&said, "/session")?, text_at(&said, "/turn")?);
    let listed = json_of(&project, &["sessions"], 0)?;
    let [only] = list_of(&listed, "sessions")?.as_slice() else {
        anyhow::bail!("{listed:#}");
    };
    for (key, expected) in [
        ("session_id", json!(session)),
        ("title", json!("carry on, please")),
        ("model", json!("mock/gpt-4o")),
        ("mode", json!("manual")),
        ("state", json!("idle")),
        ("turns", json!(1)),
        ("archived", json!(false)),
    ] {
        ensure!(only[key] == expected, "{key}: {only:#}");
    }

    let forked = json_of(&project, &["sessions", "fork", session, "--turn", turn], 0)?;
    let fork = text_at(&forked, "/session")?;
    ensure!(fork != session, "{forked}");
    // The fork remembers what was said.
    json_of(&project, &["ask", "--session", fork, "carry on, please"], 0)?;
    let requests = server.requests()?;
    let last = requests.last().context("a request")?;
    let messages = list_of(last, "messages")?;
    ensure!(
        messages
            .iter()
            .filter(|message| message["role"] == "assistant")
            .count()
            == 1,
        "{last:#}"
    );
    ensure!(list_of(&json_of(&project, &["sessions"], 0)?, "sessions")?.len() == 2);

    let away = json_of(&project, &["sessions", "archive", session], 0)?;
    ensure!(
        away["session_id"] == session && away["archived"] == true,
        "{away:#}"
    );
    let left = json_of(&project, &["sessions"], 0)?;
    ensure!(left["sessions"][0]["session_id"] == fork, "{left:#}");
    let archived = json_of(&project, &["sessions", "--archived"], 0)?;
    ensure!(
        archived["sessions"][0]["session_id"] == session,
        "{archived:#}"
    );
    let back = json_of(&project, &["sessions", "archive", session, "--back"], 0)?;
    ensure!(back["archived"] == false, "{back:#}");
    ensure!(list_of(&json_of(&project, &["sessions"], 0)?, "sessions")?.len() == 2);
    Ok(())
}

fn modes_models_and_env_are_shown_and_set() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    ensure!(json_of(&project, &["mode"], 0)? == json!({"mode": "manual"}));
    ensure!(json_of(&project, &["mode", "plan"], 0)? == json!({"mode": "plan"}));
    ensure!(json_of(&project, &["mode"], 0)? == json!({"mode": "plan"}));
    let status = json_of(&project, &["status"], 0)?;
    ensure!(status["mode"] == "plan", "{status:#}");
    project.run(&["mode", "yolo"])?.expect_code(2)?;

    let listed = json_of(&project, &["models"], 0)?;
    let models = list_of(&listed, "models")?;
    let ours = models.iter().find(|model| model["id"] == "mock/gpt-4o");
    let ours = ours.with_context(|| format!("{listed:#}"))?;
    ensure!(
        ours["configured"] == true && ours["credentials"] == "ready" && ours["reachable"] == true,
        "{ours:#}"
    );

    let set = json_of(
        &project,
        &["env", "GREETING=hello", "API_TOKEN=hunter2hunter2"],
        0,
    )?;
    let variable = |list: &Value, name: &str| -> Option<Value> {
        let variables = list["variables"].as_array()?;
        variables.iter().find(|one| one["name"] == name).cloned()
    };
    let greeting = variable(&set, "GREETING").with_context(|| format!("{set:#}"))?;
    ensure!(greeting["value"] == "hello", "{greeting}");
    ensure!(
        !set.to_string().contains("hunter2hunter2"),
        "a secret is shown"
    );
    let unset = json_of(&project, &["env", "--unset", "GREETING"], 0)?;
    ensure!(variable(&unset, "GREETING").is_none(), "{unset:#}");
    ensure!(variable(&unset, "API_TOKEN").is_some(), "{unset:#}");
    project.run(&["env", "NO_VALUE"])?.expect_code(2)?;
    Ok(())
}

fn jobs_are_listed_read_and_stopped() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let left = json_of(&project, &["ask", "start a server"], 4)?;
    json_of(
        &project,
        &["approve", text_at(&left, "/approvals/0/id")?],
        0,
    )?;
    wait_idle(&project, text_at(&left, "/session")?)?;
    // The turn has ended, and what it started goes on.
    let listed = json_of(&project, &["jobs"], 0)?;
    let [job] = list_of(&listed, "jobs")?.as_slice() else {
        anyhow::bail!("{listed:#}");
    };
    ensure!(
        job["command"] == json!(["sleep", "600"]) && job["state"] == "running",
        "{job:#}"
    );
    let id = text_at(job, "/id")?;
    let output = json_of(&project, &["jobs", "output", id], 0)?;
    ensure!(
        output["text"] == "" && output["job"]["id"] == id,
        "{output:#}"
    );
    let stopped = json_of(&project, &["jobs", "cancel", id], 0)?;
    ensure!(stopped["state"] == "cancelled", "{stopped:#}");
    ensure!(json_of(&project, &["jobs"], 0)? == json!({"jobs": []}));
    let ended = json_of(&project, &["jobs", "--ended"], 0)?;
    ensure!(ended["jobs"][0]["state"] == "cancelled", "{ended:#}");
    wait("the program is gone", || {
        let processes = project.processes();
        let runs = processes.iter().any(|one| one.command == "sleep 600");
        Ok((!runs).then_some(()))
    })
}

fn ask_can_wait_for_a_decision_elsewhere() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let mut waiting = project
        .command(&["ask", "--wait", "--json", "copy the greeting"])?
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let approval = wait_approval(&project)?;
    json_of(&project, &["approve", &approval], 0)?;
    let status = wait_exit(&mut waiting, PATIENCE)?;
    let output = waiting.wait_with_output()?;
    let said: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(
        status.code() == Some(0) && said["end"] == "done",
        "{said:#}"
    );
    ensure!(project.root().join("the copy.txt").exists());
    Ok(())
}

fn wait_approval(project: &Project) -> Result<String> {
    wait("an approval waits", || {
        let listed = json_of(project, &["approvals"], 0)?;
        let id = listed["approvals"][0]["id"].as_str();
        Ok(id.map(str::to_owned))
    })
}

fn what_is_not_there_is_refused() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let id = |kind: &str| format!("{kind}_{ulid}");
    for (arguments, code) in [
        (vec!["approve".to_owned()], "NOTHING_PENDING"),
        (vec!["deny".to_owned(), id("approval")], "NOT_FOUND"),
        (
            vec!["plan".to_owned(), "accept".to_owned(), id("plan")],
            "NOT_FOUND",
        ),
        (
            vec!["sessions".to_owned(), "archive".to_owned(), id("se")],
            "NOT_FOUND",
        ),
        (
            vec!["jobs".to_owned(), "cancel".to_owned(), id("job")],
            "UNKNOWN_JOB",
        ),
        (
            vec!["turn".to_owned(), "export".to_owned(), id("turn")],
            "NOT_FOUND",
        ),
    ] {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let refused = json_of(&project, &arguments, 1)?;
        let error = &refused["error"];
        ensure!(error["code"] == code, "{arguments:?}: {refused:#}");
        ensure!(
            error["message"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
                && error["hint"].as_str().is_some_and(|text| !text.is_empty()),
            "{arguments:?}: {refused:#}"
        );
    }
    Ok(())
}
