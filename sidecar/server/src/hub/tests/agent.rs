//! Conversations over real connections: sessions, approvals, modes, jobs, slow readers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use redline_protocol::v1;
use redline_providers::replay::{Recording, ReplayProvider};
use serde_json::{Value, json};

use super::{Client, PATIENCE, editor, hubs_with};
use crate::config::Config;
use crate::env::Env;
use crate::failure::Failure;
use crate::hubs::{Hubs, Model, Models};

/// One recording, under the name that is asked for.
struct Recorded(String);

impl Recorded {
    fn new(lines: &[Value]) -> Arc<Self> {
        let mut text = json!({"replay": "redline/v1"}).to_string();
        for line in lines {
            text.push('\n');
            text.push_str(&line.to_string());
        }
        Arc::new(Self(text))
    }
}

impl Models for Recorded {
    fn open(&self, _: &Config, wanted: Option<&str>, _: &Env) -> Result<Model, Failure> {
        let recording = Recording::parse("test", &self.0).unwrap();
        let name = wanted.unwrap_or("replay/one").rsplit('/').next().unwrap();
        let provider = Arc::new(ReplayProvider::new("replay", recording));
        Ok(Model::new(provider, name))
    }

    fn list(&self, _: Arc<Config>, _: &Env) -> BoxFuture<'static, v1::ListModelsResult> {
        Box::pin(std::future::ready(v1::ListModelsResult {
            models: Vec::new(),
            notices: Vec::new(),
        }))
    }

    fn secrets(&self, _: &Config, _: &Env) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
}

pub(super) fn conversing() -> Value {
    json!({"experimental": {"redline": {"version": 1, "review": true, "session": true}}})
}

pub(super) fn text(text: &str) -> Value {
    json!({"event": "text", "text": text})
}

pub(super) fn call(tool: &str, arguments: Value) -> Value {
    json!({"event": "tool_call", "name": tool, "arguments": arguments})
}

pub(super) fn results() -> Value {
    json!({"event": "done", "reason": "tool_calls"})
}

pub(super) fn ends() -> Value {
    json!({"event": "done", "reason": "end"})
}

pub(super) fn run(program: &str, arguments: &[&str]) -> Value {
    call(
        "workspace_command",
        json!({"action": "run", "program": program, "arguments": arguments}),
    )
}

pub(super) struct Project {
    folder: tempfile::TempDir,
    state: tempfile::TempDir,
    models: Arc<Recorded>,
}

impl Project {
    pub(super) fn new(lines: &[Value]) -> Self {
        let project = Self {
            folder: tempfile::tempdir().unwrap(),
            state: tempfile::tempdir().unwrap(),
            models: Recorded::new(lines),
        };
        std::fs::write(project.root().join("a.txt"), "one\ntwo\nthree\n").unwrap();
        project
    }

    pub(super) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The hubs of a sidecar; another call is another one, after a restart.
    pub(super) fn sidecar(&self) -> Arc<Hubs> {
        hubs_with(self.state.path(), self.models.clone())
    }
}

/// The updates of a message, if it is one of a session.
pub(super) fn updates(message: &Value) -> Vec<Value> {
    if message["method"] != "redline/session/update" {
        return Vec::new();
    }
    message["params"]["updates"].as_array().unwrap().clone()
}

pub(super) fn is_update(message: &Value, wanted: impl Fn(&Value) -> bool) -> bool {
    updates(message).iter().any(wanted)
}

pub(super) fn is_idle(update: &Value) -> bool {
    update["sessionUpdate"] == "state_update" && update["state"] == "idle"
}

impl Client {
    pub(super) async fn prompt(&mut self, text: &str) -> Value {
        let prompt = json!({"prompt": [{"type": "text", "text": text}]});
        self.ask("redline/session/prompt", prompt).await.unwrap()
    }

    /// All updates up to the end of the turn, in order.
    pub(super) async fn turn(&mut self) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            let message = self
                .wait(|message| message["method"] == "redline/session/update")
                .await;
            let new = updates(&message);
            let is_last = new.iter().any(is_idle);
            all.extend(new);
            if is_last {
                return all;
            }
        }
    }

    pub(super) async fn approval(&mut self) -> Value {
        let waits = |message: &Value| {
            message["method"] == "redline/approval/changed"
                && message["params"]["approvals"][0]["state"] == "pending"
        };
        let message = self.wait(waits).await;
        message["params"]["approvals"][0].clone()
    }
}

pub(super) fn said(updates: &[Value]) -> String {
    let chunks = updates
        .iter()
        .filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    chunks
        .map(|update| update["content"]["text"].as_str().unwrap())
        .collect()
}

/// Sends a decision on an approval.
pub(super) async fn decide(
    client: &mut Client,
    approval: &Value,
    decision: &str,
) -> Result<Value, Value> {
    let params = json!({"approvalId": approval["id"], "decision": decision, "reason": "because"});
    client.ask("redline/approval/decide", params).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_outlives_its_sidecar_and_its_history_is_told_again_as_it_was() {
    let project = Project::new(&[
        json!({"event": "reasoning", "text": "Hm."}),
        text("I look."),
        call("workspace_read", json!({"path": "a.txt"})),
        results(),
        text("Done."),
        ends(),
        json!({"event": "prompt"}),
        text("Again."),
        ends(),
    ]);
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let begun = client.prompt("Look at it").await;
    let live = client.turn().await;
    assert_eq!(said(&live), "I look.Done.");
    drop(client);
    hubs.stop();

    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let listed = client.ask("redline/session/list", json!({})).await.unwrap();
    let session = &listed["sessions"][0];
    assert_eq!(session["sessionId"], begun["sessionId"]);
    assert_eq!(session["title"], "Look at it");
    assert_eq!(
        (&session["state"], &session["turns"]),
        (&json!("idle"), &json!(1))
    );
    let load = json!({"sessionId": begun["sessionId"]});
    let loaded = client.ask("redline/session/load", load).await.unwrap();
    assert_eq!(loaded["session"]["sessionId"], begun["sessionId"]);
    let mut told = Vec::new();
    while !told
        .iter()
        .any(|update: &Value| update["sessionUpdate"] == "replay_complete")
    {
        let message = client
            .wait(|message| message["method"] == "redline/session/update")
            .await;
        told.extend(updates(&message));
    }
    let joined = |updates: &[Value]| {
        let mut all: Vec<v1::SessionUpdate> = Vec::new();
        for update in updates {
            let update = serde_json::from_value(update.clone()).unwrap();
            crate::hub::updates::join(&mut all, vec![update]);
        }
        all
    };
    let turn = told
        .iter()
        .position(|update| update["sessionUpdate"] == "replay_complete");
    assert_eq!(joined(&told[..turn.unwrap()]), joined(&live));
    // And it goes on: the recording's second turn is played only when the first is in the conversation.
    client.prompt("Go on").await;
    assert_eq!(said(&client.turn().await), "Again.");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_asked_for_and_the_exact_call_runs_once_it_is_given() {
    let project = Project::new(&[
        run("touch", &["made.txt"]),
        results(),
        text("It is there."),
        ends(),
    ]);
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let mut other = Client::connect(&hubs, project.root(), conversing()).await;
    client.prompt("Make it").await;
    let approval = client.approval().await;
    assert_eq!(approval["command"], json!(["touch", "made.txt"]));
    assert!(!project.root().join("made.txt").exists());
    client
        .wait(|message| is_update(message, |update| update["state"] == "requires_action"))
        .await;
    let listed = client
        .ask("redline/approval/list", json!({}))
        .await
        .unwrap();
    assert_eq!(listed["approvals"][0]["id"], approval["id"]);
    let status = client.ask("redline/status", json!({})).await.unwrap();
    assert_eq!(status["approvals"], json!([approval["id"]]));
    // Another client sees it too, and is the first to decide; the second is told who was.
    assert_eq!(other.approval().await["id"], approval["id"]);
    decide(&mut other, &approval, "approve").await.unwrap();
    let late = decide(&mut client, &approval, "deny").await.unwrap_err();
    assert_eq!(late["data"]["code"], "ALREADY_SETTLED", "{late}");
    let told = client.turn().await;
    assert_eq!(said(&told), "It is there.");
    assert!(project.root().join("made.txt").exists());
    let settled = client
        .ask("redline/approval/list", json!({"settled": true}))
        .await
        .unwrap();
    assert_eq!(settled["approvals"][0]["state"], "spent");
    assert_eq!(settled["approvals"][0]["decidedBy"], "test");
    // The job was told of as well.
    let jobs = client
        .ask("redline/job/list", json!({"ended": true}))
        .await
        .unwrap();
    assert_eq!(jobs["jobs"][0]["state"], "exited");
    assert_eq!(jobs["jobs"][0]["sandbox"], "none");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plain_editor_is_asked_by_a_message_an_action_and_a_diagnostic() {
    let project = Project::new(&[run("touch", &["made.txt"]), results(), text("No."), ends()]);
    let hubs = project.sidecar();
    let mut capabilities = editor();
    capabilities["window"] = json!({"showMessage": {"messageActionItem": {}}});
    let mut client = Client::connect(&hubs, project.root(), capabilities).await;
    client.open("a.txt", "one\ntwo\nthree\n").await;
    let ask = json!({"command": "redline.ask", "arguments": ["Make it"]});
    client.ask("workspace/executeCommand", ask).await.unwrap();
    let question = client
        .wait(|message| message["method"] == "window/showMessageRequest")
        .await;
    assert!(
        question["params"]["message"]
            .as_str()
            .unwrap()
            .contains("touch made.txt")
    );
    let shows = |message: &Value| {
        message["method"] == "textDocument/publishDiagnostics"
            && message["params"]["diagnostics"]
                .as_array()
                .unwrap()
                .iter()
                .any(|diagnostic| diagnostic["code"] == "approval")
    };
    client.wait(shows).await;
    let at = json!({"line": 1, "character": 0});
    let params = json!({
        "textDocument": {"uri": client.uri("a.txt")},
        "range": {"start": at, "end": at},
        "context": {"diagnostics": []},
    });
    let actions = client.ask("textDocument/codeAction", params).await.unwrap();
    let deny = actions
        .as_array()
        .unwrap()
        .iter()
        .find(|action| action["title"].as_str().unwrap().starts_with("Deny"))
        .unwrap();
    let command =
        json!({"command": deny["command"]["command"], "arguments": deny["command"]["arguments"]});
    client
        .ask("workspace/executeCommand", command)
        .await
        .unwrap();
    client
        .wait(|message| {
            message["method"] == "window/showMessage"
                && message["params"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("done, nothing to review")
        })
        .await;
    assert!(!project.root().join("made.txt").exists());
    // The answer to the question comes too late, and is told so.
    client
        .send(json!({"jsonrpc": "2.0", "id": question["id"], "result": {"title": "Approve"}}))
        .await;
    client
        .wait(|message| {
            message["method"] == "window/showMessage"
                && message["params"]["message"]
                    .as_str()
                    .unwrap()
                    .contains("ALREADY_SETTLED")
        })
        .await;
    assert!(!project.root().join("made.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_was_cancelled_leaves_nothing_to_approve() {
    let project = Project::new(&[run("touch", &["made.txt"]), results(), text("x"), ends()]);
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    client.prompt("Make it").await;
    let approval = client.approval().await;
    client
        .ask("redline/session/cancel", json!({}))
        .await
        .unwrap();
    let told = client.turn().await;
    assert_eq!(told.last().unwrap()["stopReason"], "cancelled");
    client
        .wait(|message| {
            message["method"] == "redline/approval/changed"
                && message["params"]["approvals"][0]["state"] == "withdrawn"
        })
        .await;
    let late = decide(&mut client, &approval, "approve").await.unwrap_err();
    assert_eq!(late["data"]["code"], "ALREADY_SETTLED", "{late}");
    assert!(!project.root().join("made.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn in_mode_auto_a_turn_commits_its_own_edits_before_a_command_and_at_its_end() {
    let edit = |from: &str, to: &str| {
        call(
            "workspace_edit",
            json!({"edits": [{"path": "a.txt", "search": from, "replace": to}]}),
        )
    };
    let project = Project::new(&[
        edit("two", "TWO"),
        results(),
        // What it finds shows that the edit was on the disk when it ran.
        run("grep", &["-c", "TWO", "a.txt"]),
        results(),
        edit("three", "THREE"),
        results(),
        text("ok"),
        ends(),
    ]);
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let mode = json!({"modeId": "auto"});
    client.ask("redline/session/set_mode", mode).await.unwrap();
    let status = client.ask("redline/status", json!({})).await.unwrap();
    assert_eq!(status["mode"], "auto");
    client.prompt("Shout").await;
    let told = client.turn().await;
    let text = serde_json::to_string(&told).unwrap();
    assert_eq!(text.matches("Committed 1 file").count(), 2, "{text}");
    let on_disk = || std::fs::read_to_string(project.root().join("a.txt")).unwrap();
    assert_eq!(on_disk(), "one\nTWO\nTHREE\n");
    let ran = told
        .iter()
        .find(|update| update["_tool"] == "workspace_command" && update["status"] == "completed");
    assert!(ran.is_some(), "{text}");
    // One undo takes the whole turn back.
    client
        .ask("redline/checkpoint/restore", json!({"direction": "undo"}))
        .await
        .unwrap();
    assert_eq!(on_disk(), "one\ntwo\nthree\n");
    // The mode that was chosen for the project holds after a restart.
    drop(client);
    hubs.stop();
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let status = client.ask("redline/status", json!({})).await.unwrap();
    assert_eq!(status["mode"], "auto");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_slowly_gets_merged_text_and_no_growing_queue() {
    let mut lines: Vec<Value> = (0..20_000).map(|n| text(&format!("{n} "))).collect();
    lines.push(ends());
    let project = Project::new(&lines);
    let hubs = project.sidecar();
    let mut reader = Client::connect(&hubs, project.root(), conversing()).await;
    let mut sleeper = Client::connect(&hubs, project.root(), conversing()).await;
    let begun = reader.prompt("Count").await;
    let load = json!({"sessionId": begun["sessionId"]});
    sleeper.ask("redline/session/load", load).await.unwrap();
    // Nobody reads the sleeper's stream until the turn is over.
    let expected: String = (0..20_000).map(|n| format!("{n} ")).collect();
    assert_eq!(said(&reader.turn().await), expected);
    let told = tokio::time::timeout(PATIENCE, sleeper.turn())
        .await
        .unwrap();
    assert_eq!(said(&told), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_env_and_the_model_change_at_the_next_step_and_never_within_one() {
    let project = Project::new(&[
        run("printenv", &["COLOR"]),
        results(),
        run("printenv", &["COLOR"]),
        results(),
        text("ok"),
        ends(),
    ]);
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let set = |value: &str| json!({"set": {"COLOR": value, "API_TOKEN": "geheim-42"}});
    let shown = client.ask("redline/env/patch", set("red")).await.unwrap();
    let text = shown.to_string();
    assert!(
        text.contains("\"red\"") && !text.contains("geheim-42"),
        "{text}"
    );
    client.prompt("Look").await;
    // The first step waits in its middle; what is changed now must not reach the call that waits.
    let approval = client.approval().await;
    client.ask("redline/env/patch", set("blue")).await.unwrap();
    let model = json!({"modelId": "replay/two"});
    client
        .ask("redline/session/set_model", model)
        .await
        .unwrap();
    decide(&mut client, &approval, "approve").await.unwrap();
    let next = client.approval().await;
    decide(&mut client, &next, "approve").await.unwrap();
    client.turn().await;
    let jobs = client
        .ask("redline/job/list", json!({"ended": true}))
        .await
        .unwrap();
    let mut colors = Vec::new();
    for job in jobs["jobs"].as_array().unwrap() {
        let output = json!({"jobId": job["id"]});
        let output = client.ask("redline/job/output", output).await.unwrap();
        colors.push(output["text"].as_str().unwrap().trim().to_owned());
    }
    assert_eq!(colors, ["red", "blue"]);
    let listed = client.ask("redline/session/list", json!({})).await.unwrap();
    assert_eq!(listed["sessions"][0]["model"], "replay/two");
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_fork_and_are_put_away() {
    let project = Project::new(&[
        text("One."),
        ends(),
        json!({"event": "prompt"}),
        text("Two."),
        ends(),
    ]);
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    let first = client.prompt("First").await;
    client.turn().await;
    let fork = json!({"sessionId": first["sessionId"]});
    let forked = client
        .ask("redline/session/fork", fork.clone())
        .await
        .unwrap();
    assert_ne!(forked["sessionId"], first["sessionId"]);
    let go_on = json!({"sessionId": forked["sessionId"], "text": "Second"});
    client.ask("redline/session/prompt", go_on).await.unwrap();
    assert_eq!(said(&client.turn().await), "Two.");
    client.ask("redline/session/archive", fork).await.unwrap();
    let ids = |listed: &Value| -> Vec<Value> {
        let sessions = listed["sessions"].as_array().unwrap();
        sessions
            .iter()
            .map(|each| each["sessionId"].clone())
            .collect()
    };
    let listed = client.ask("redline/session/list", json!({})).await.unwrap();
    assert_eq!(ids(&listed), [forked["sessionId"].clone()]);
    let archived = client
        .ask("redline/session/list", json!({"archived": true}))
        .await
        .unwrap();
    assert_eq!(ids(&archived), [first["sessionId"].clone()]);
    let export = json!({"turnId": first["turnId"]});
    let exported = client.ask("redline/turn/export", export).await.unwrap();
    assert!(exported["content"].as_str().unwrap().contains("One."));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_conversation_writes_down_the_next_begins_with() {
    let project = Project::new(&[
        call(
            "workspace_notes",
            json!({"action": "write", "name": "memory", "text": "Tests run with just."}),
        ),
        results(),
        ends(),
    ]);
    let hubs = project.sidecar();
    let mut client = Client::connect(&hubs, project.root(), conversing()).await;
    client.prompt("Remember it").await;
    client.turn().await;
    let told = |state: &Path| {
        let mut told = 0;
        let mut folders = vec![state.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => {
                        let text = std::fs::read(&path).unwrap();
                        told += String::from_utf8_lossy(&text)
                            .matches("Material to weigh")
                            .count();
                    }
                }
            }
        }
        told
    };
    assert_eq!(told(project.state.path()), 0, "there was nothing yet");
    client.ask("redline/session/new", json!({})).await.unwrap();
    client.prompt("Go on").await;
    client.turn().await;
    assert_eq!(told(project.state.path()), 1);
}
