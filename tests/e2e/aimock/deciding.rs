//! What a user decides while a turn waits for it: commands, plans, edits; and what the model hears of it.

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::aimock::Aimock;
use redline_tests::project::Project;
use serde_json::{Value, json};

use super::support::{
    GREETING, Turn, configure, editor, greeting, json_of, text_at, wait, wait_idle,
};
use crate::test;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        test(
            "aimock::deciding::an_approved_command_runs_and_one_undo_takes_the_turn_back",
            an_approved_command_runs_and_one_undo_takes_the_turn_back,
        ),
        test(
            "aimock::deciding::the_model_reads_why_it_was_denied",
            the_model_reads_why_it_was_denied,
        ),
        test(
            "aimock::deciding::an_accepted_plan_lets_its_work_run",
            an_accepted_plan_lets_its_work_run,
        ),
        test(
            "aimock::deciding::a_rejected_plan_runs_nothing_and_says_why",
            a_rejected_plan_runs_nothing_and_says_why,
        ),
        test(
            "aimock::deciding::a_prompt_can_decide_and_no_model_sees_it",
            a_prompt_can_decide_and_no_model_sees_it,
        ),
        test(
            "aimock::deciding::decisions_on_edits_reach_the_next_step",
            decisions_on_edits_reach_the_next_step,
        ),
        test(
            "aimock::deciding::another_process_may_decide",
            another_process_may_decide,
        ),
    ]
}

/// Asks on the command line for what needs an approval or a plan: exit code 4, and the turn goes on waiting.
fn ask_and_leave(project: &Project, arguments: &[&str]) -> Result<(String, Value)> {
    let left = json_of(project, &[&["ask"], arguments].concat(), 4)?;
    ensure!(
        left["end"] == "waits" && left["error"]["code"] == "APPROVAL_REQUIRED",
        "{left:#}"
    );
    Ok((text_at(&left, "/session")?.to_owned(), left))
}

fn an_approved_command_runs_and_one_undo_takes_the_turn_back() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let before = project.tree()?;
    let (session, left) = ask_and_leave(&project, &["copy the greeting"])?;
    let approval = text_at(&left, "/approvals/0/id")?;
    ensure!(
        left["approvals"][0]["command"] == json!(["cp", "greeting.txt", "the copy.txt"]),
        "{left:#}"
    );
    ensure!(before.differences(&project.tree()?).is_empty());

    let listed = json_of(&project, &["approvals"], 0)?;
    ensure!(listed["approvals"] == left["approvals"], "{listed:#}");
    let approved = json_of(&project, &["approve", approval], 0)?;
    ensure!(approved["state"] == "approved", "{approved:#}");
    wait_idle(&project, &session)?;
    ensure!(project.read("the copy.txt")? == GREETING);
    ensure!(
        project.read("greeting.txt")? == GREETING,
        "an edit was not reviewed"
    );
    // It was for one run, and somebody else comes too late.
    let settled = json_of(&project, &["approvals", "--settled"], 0)?;
    ensure!(settled["approvals"][0]["state"] == "spent", "{settled:#}");
    let late = json_of(&project, &["deny", approval], 1)?;
    ensure!(late["error"]["code"] == "ALREADY_SETTLED", "{late:#}");

    project.run(&["accept"])?.expect_code(0)?;
    ensure!(project.read("greeting.txt")? == "good day\nworld\n");
    project.run(&["undo"])?.expect_code(0)?;
    let differences = before.differences(&project.tree()?);
    ensure!(
        differences.is_empty(),
        "one undo takes the turn back: {differences:?}"
    );
    Ok(())
}

fn the_model_reads_why_it_was_denied() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let (session, left) = ask_and_leave(&project, &["remove everything"])?;
    let approval = text_at(&left, "/approvals/0/id")?;
    let denied = json_of(
        &project,
        &["deny", approval, "--reason", "greetings are kept"],
        0,
    )?;
    ensure!(
        denied["state"] == "denied" && denied["reason"] == "greetings are kept",
        "{denied:#}"
    );
    wait_idle(&project, &session)?;
    ensure!(project.read("greeting.txt")? == GREETING);
    // The script answers the second step only when the reason stands in the result.
    let requests = server.requests()?;
    ensure!(requests.len() == 2, "{} requests", requests.len());
    let result = last_of(&requests[1], "tool")?;
    ensure!(
        result.contains("APPROVAL_DENIED") && result.contains("greetings are kept"),
        "{result}"
    );
    Ok(())
}

/// The text of the last message of a role that a request holds.
fn last_of(request: &Value, role: &str) -> Result<String> {
    let messages = request["messages"].as_array().context("messages")?;
    let last = messages
        .iter()
        .rev()
        .find(|message| message["role"] == role);
    let text = last.and_then(|message| message["content"].as_str());
    Ok(text
        .with_context(|| format!("no {role} in {request:#}"))?
        .to_owned())
}

fn an_accepted_plan_lets_its_work_run() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let before = project.tree()?;
    let (session, left) = ask_and_leave(&project, &["--mode", "plan", "plan it first"])?;
    // What came before the plan was refused without asking anybody.
    ensure!(left["approvals"] == json!([]), "{left:#}");
    let plan = text_at(&left, "/plans/0/id")?;
    let listed = json_of(&project, &["plan", "list"], 0)?;
    ensure!(listed["plans"] == left["plans"], "{listed:#}");
    ensure!(listed["plans"][0]["state"] == "proposed", "{listed:#}");
    let shown = project.run(&["plan", "show", plan])?.expect_code(0)?;
    ensure!(
        shown.stdout.contains("The copy keeps the old words."),
        "{}",
        shown.stdout
    );
    ensure!(before.differences(&project.tree()?).is_empty());

    let accepted = json_of(&project, &["plan", "accept", plan], 0)?;
    ensure!(accepted["state"] == "approved", "{accepted:#}");
    wait_idle(&project, &session)?;
    ensure!(
        project.read("the copy.txt")? == GREETING,
        "the plan covers the copy"
    );
    ensure!(
        project.read("greeting.txt")? == "good day\nworld\n",
        "the plan covers the commit of its edits"
    );
    let late = json_of(&project, &["plan", "reject", plan], 1)?;
    ensure!(late["error"]["code"] == "ALREADY_SETTLED", "{late:#}");
    project.run(&["undo"])?.expect_code(0)?;
    ensure!(before.differences(&project.tree()?).is_empty());
    Ok(())
}

fn a_rejected_plan_runs_nothing_and_says_why() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let before = project.tree()?;
    let (session, _) = ask_and_leave(&project, &["--mode", "plan", "plan it first"])?;
    let rejected = json_of(
        &project,
        &["plan", "reject", "--reason", "say it in one word"],
        0,
    )?;
    ensure!(rejected["state"] == "rejected", "{rejected:#}");
    wait_idle(&project, &session)?;
    let requests = server.requests()?;
    let result = last_of(requests.last().context("requests")?, "tool")?;
    ensure!(result.contains("say it in one word"), "{result}");
    ensure!(before.differences(&project.tree()?).is_empty());
    Ok(())
}

fn a_prompt_can_decide_and_no_model_sees_it() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    let editor = editor(&project)?;
    let turn = Turn::prompt(&editor, None, "copy the greeting")?;
    turn.wait_staged()?;
    let params = json!({"sessionId": turn.session, "text": "/accept"});
    let answer = editor.client.request("redline/session/prompt", params)?;
    ensure!(
        answer["turnId"] == "" && text_at(&answer, "/message")?.contains("greeting.txt"),
        "{answer}"
    );
    ensure!(turn.wait_end()? == "end_turn");
    turn.ensure_one_end()?;
    ensure!(project.read("the copy.txt")? == GREETING);
    let heard = json!(server.requests()?).to_string();
    ensure!(!heard.contains("/accept"), "a model read the decision");
    Ok(())
}

/// The id, with its revision, of the hunk that was made to `why`.
fn hunk(transaction: &Value, why: &str) -> Result<Value> {
    let files = transaction["files"].as_array().context("files")?;
    let mut hunks = files
        .iter()
        .flat_map(|file| file["hunks"].as_array().into_iter().flatten());
    let found = hunks.find(|hunk| hunk.to_string().contains(why));
    let found = found.with_context(|| format!("no hunk to {why} in {transaction:#}"))?;
    Ok(json!({"id": found["id"], "revision": found["revision"]}))
}

fn decisions_on_edits_reach_the_next_step() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let poem = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";
    let project = Project::with_files(&[("poem.txt", poem), ("title.txt", "Numbers\n")])?;
    configure(&project, &server, "")?;
    let editor = editor(&project)?;
    let turn = Turn::prompt(&editor, None, "change four places")?;
    let approval = turn.wait_staged()?;
    let transaction = turn.wait("the edits are there", |update| {
        let content = update["content"].as_array()?;
        let found = content.iter().find_map(|one| one["transactionId"].as_str());
        found.map(str::to_owned)
    })?;
    let of = |method: &str, params: Value| {
        let mut params = params;
        params["transactionId"] = json!(transaction);
        editor
            .client
            .request(&format!("redline/transaction/{method}"), params)
    };
    let shown = of("get", json!({}))?;
    of(
        "accept",
        json!({"hunks": [hunk(&shown, "Shout the first")?]}),
    )?;
    of(
        "reject",
        json!({"hunks": [hunk(&shown, "Shout the third")?], "reason": "too loud for a poem"}),
    )?;
    of(
        "amend",
        json!({"hunk": hunk(&shown, "Shout the fifth")?, "added": ["Five"]}),
    )?;
    of("split", json!({"hunk": hunk(&shown, "Shout the last")?}))?;
    let params = json!({"approvalId": approval, "decision": "approve"});
    editor.client.request("redline/approval/decide", params)?;
    ensure!(turn.wait_end()? == "end_turn");
    turn.ensure_one_end()?;
    ensure!(turn.words().ends_with("I heard what you decided."));

    let requests = server.requests()?;
    ensure!(requests.len() == 2, "{} requests", requests.len());
    let told = last_of(&requests[1], "user")?;
    for line in [
        "- poem.txt line 1: ACCEPTED: it is in the file now. It was to: Shout the first.",
        "REJECTED: it is gone, the file reads as before there. It was to: Shout the third. The user says: too loud for a poem.",
        "AMENDED: the user's version is pending instead of yours. It was to: Shout the fifth.",
        "  + Five",
        "SPLIT: the user decides on its parts one by one; all are pending. It was to: Shout the last.",
    ] {
        ensure!(told.contains(line), "{line:?} is missing in {told}");
    }
    // And whoever draws the conversation sees what the model was told.
    turn.wait("the decisions are shown", |update| {
        (update["sessionUpdate"] == "_decisions").then_some(())
    })
}

fn another_process_may_decide() -> Result<()> {
    let server = Aimock::start("turns.json")?;
    let project = greeting(&server)?;
    // A sidecar of its own waits; another one is asked to decide.
    let editor = project.editor_with(
        &redline_tests::editor::Profile::full().with_redline(),
        &["lsp", "--in-process"],
    )?;
    let turn = Turn::prompt(&editor, None, "copy the greeting")?;
    let approval = turn.wait_staged()?;
    let listed = json_of(&project, &["approvals", "--in-process"], 0)?;
    ensure!(
        listed["approvals"][0]["id"] == approval.as_str(),
        "{listed:#}"
    );
    json_of(&project, &["approve", &approval, "--in-process"], 0)?;
    ensure!(turn.wait_end()? == "end_turn");
    turn.ensure_one_end()?;
    ensure!(project.read("the copy.txt")? == GREETING);
    wait("the approval is spent", || {
        let settled = json_of(&project, &["approvals", "--settled", "--in-process"], 0)?;
        Ok((settled["approvals"][0]["state"] == "spent").then_some(()))
    })
}
