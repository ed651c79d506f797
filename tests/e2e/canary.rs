//! A key must appear nowhere: not in what a run writes, not in what it prints, not in what clients are sent.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::client::{Client, Null, PATIENCE};
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::cli::stop_sidecar;
use crate::test;

/// No other text has it.
const CANARY: &str = "sk-canary-0b7d94e1c35f";

pub(crate) fn trials() -> Vec<Trial> {
    vec![test(
        "canary::the_key_is_nowhere_after_a_whole_day_of_work",
        the_key_is_nowhere_after_a_whole_day_of_work,
    )]
}

/// An endpoint that plays its answers in order, and says what was sent to it.
struct Endpoint {
    url: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Endpoint {
    /// Each answer is a status and a body; `{key}` in it becomes what stood in the request's Authorization.
    fn start(answers: Vec<(u16, String)>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&heard);
        std::thread::spawn(move || {
            let mut answers = answers.into_iter();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Ok(request) = read_request(&mut stream) else {
                    continue;
                };
                // What is asked beside the conversation is not known here.
                let (status, body) = match request.starts_with("POST /v1/chat/completions") {
                    true => answers
                        .next()
                        .unwrap_or((500, "no more answers".to_owned())),
                    false => (404, "{}".to_owned()),
                };
                let key = request.lines().find_map(|line| {
                    let (name, value) = line.split_once(": ")?;
                    name.eq_ignore_ascii_case("authorization")
                        .then(|| value.to_owned())
                });
                let body = body.replace("{key}", key.as_deref().unwrap_or("none"));
                log.lock().unwrap().push(request);
                let kind = if status == 200 {
                    "text/event-stream"
                } else {
                    "application/json"
                };
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                // A client that has left hears nothing.
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Ok(Self { url, heard })
    }
}

/// Headers and body of one request.
fn read_request(stream: &mut TcpStream) -> Result<String> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.parse().ok())?
            });
            if body.len() >= length.unwrap_or(0) {
                return Ok(text);
            }
        }
        match stream.read(&mut chunk)? {
            0 => anyhow::bail!("cut"),
            n => bytes.extend_from_slice(&chunk[..n]),
        }
    }
}

fn chunk(delta: &Value, reason: &str) -> String {
    let event = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
    format!("data: {event}\n\ndata: [DONE]\n\n")
}

fn calls(tool: &str, arguments: &Value) -> (u16, String) {
    let call = json!({"index": 0, "id": "c", "function": {"name": tool, "arguments": arguments.to_string()}});
    (200, chunk(&json!({"tool_calls": [call]}), "tool_calls"))
}

fn says(text: &str) -> (u16, String) {
    (200, chunk(&json!({"content": text}), "stop"))
}

struct Day {
    project: Project,
    /// All that was printed, and all that clients were sent.
    seen: String,
}

impl Day {
    fn run(&mut self, arguments: &[&str]) -> Result<Value> {
        let mut command = self.project.command(&[arguments, &["--json"]].concat())?;
        command.env("MOCK_KEY", CANARY);
        let output = redline_tests::program::run(command, b"")?;
        self.seen.push_str(&output.stdout);
        self.seen.push_str(&output.stderr);
        serde_json::from_str(&output.stdout)
            .with_context(|| format!("{arguments:?}: {}", output.stderr))
    }
}

fn the_key_is_nowhere_after_a_whole_day_of_work() -> Result<()> {
    let edit = json!({"edits": [{"path": "a.txt", "search": "one", "replace": "ONE"}]});
    // The command reads what the user carelessly left in a file: the model is not to have it, nor is any log.
    let leak = json!({"action": "run", "program": "cat", "arguments": ["leak.txt"]});
    let endpoint = Endpoint::start(vec![
        calls("workspace_command", &leak),
        calls("workspace_edit", &edit),
        says("Done."),
        (401, r#"{"error": {"message": "Incorrect API key provided: {key}", "code": "invalid_api_key"}}"#.to_owned()),
    ])?;
    let project =
        Project::with_files(&[("a.txt", "one\n"), ("leak.txt", &format!("key={CANARY}\n"))])?;
    project.configure(&format!(
        "model = \"mock/m\"\n[log]\nlevel = \"trace\"\n[providers.mock]\napi = \"openai-chat\"\nbase_url = \"{}\"\napi_key_env = \"MOCK_KEY\"\n",
        endpoint.url
    ))?;
    let mut day = Day {
        project,
        seen: String::new(),
    };
    // A client that draws conversations sees all of it too.
    let mut bridge = day.project.command(&["lsp"])?;
    bridge.env("MOCK_KEY", CANARY);
    let client = Client::spawn(bridge, std::process::Stdio::null(), Box::new(Null))?;
    let root = format!("file://{}", day.project.root().display());
    client.request(
        "initialize",
        json!({"processId": null, "rootUri": root, "capabilities": {"experimental": {"redline": {"version": 1, "review": true, "session": true}}}}),
    )?;
    client.notify("initialized", json!({}))?;
    let begun = client.request(
        "redline/session/prompt",
        json!({"prompt": [{"type": "text", "text": "Change it"}]}),
    )?;
    let waits = |params: &Value| params["approvals"][0]["state"] == "pending";
    client.wait_for("the approval", PATIENCE, |arrived| {
        arrived.newest("redline/approval/changed", waits).map(drop)
    })?;
    let waiting = day.run(&["approvals"])?;
    ensure!(
        waiting["approvals"][0]["command"] == json!(["cat", "leak.txt"]),
        "{waiting}"
    );
    day.run(&["approve"])?;
    let idle = |params: &Value| {
        params["updates"]
            .as_array()
            .is_some_and(|updates| updates.iter().any(|update| update["state"] == "idle"))
    };
    client.wait_for("the end of the turn", PATIENCE, |arrived| {
        arrived.newest("redline/session/update", idle).map(drop)
    })?;
    let accepted = day.run(&["accept"])?;
    ensure!(
        accepted["transaction"]["state"] == "committed" || accepted["state"] == "committed",
        "{accepted}"
    );
    // The endpoint refuses, and its refusal quotes the key.
    let refused = day.run(&["ask", "Again"])?;
    ensure!(
        refused["error"]["message"]
            .as_str()
            .is_some_and(|said| said.contains("Incorrect API key")),
        "{refused}"
    );
    for arguments in [
        &["status"][..],
        &["models"],
        &["env"],
        &["auth"],
        &["sessions"],
        &["jobs", "--ended"],
        &["approvals", "--settled"],
        &["doctor"],
    ] {
        day.run(arguments)?;
    }
    let jobs = day.run(&["jobs", "--ended"])?;
    let job = jobs["jobs"][0]["id"].as_str().context("a job")?.to_owned();
    let output = day.run(&["jobs", "output", &job])?;
    ensure!(
        output.to_string().contains("key="),
        "the command ran: {output}"
    );
    let turn = begun["turnId"].as_str().context("a turn")?.to_owned();
    day.run(&["turn", "export", &turn])?;
    client.look(|arrived| {
        for (_, params) in arrived.notifications.iter().chain(&arrived.requests) {
            day.seen.push_str(&params.to_string());
        }
    });
    drop(client);
    stop_sidecar(&day.project)?;

    ensure!(
        !day.seen.contains(CANARY),
        "the key was shown: {}",
        around(&day.seen)
    );
    let heard = endpoint.heard.lock().unwrap().join("\n");
    ensure!(heard.contains(&format!("Bearer {CANARY}")), "it is used");
    ensure!(
        !heard
            .replace(&format!("Bearer {CANARY}"), "")
            .contains(CANARY),
        "the model was told: {}",
        around(&heard.replace(&format!("Bearer {CANARY}"), ""))
    );
    let mut searched = 0;
    let mut folders = vec![day.project.folder().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && entry.file_name() != "leak.txt" {
                let text = std::fs::read(entry.path())?;
                let text = String::from_utf8_lossy(&text);
                ensure!(
                    !text.contains(CANARY),
                    "{}: {}",
                    entry.path().display(),
                    around(&text)
                );
                searched += 1;
            }
        }
    }
    ensure!(searched > 12, "only {searched} files were searched");
    Ok(())
}

/// What stands around the key, for the one who has to find out why.
fn around(text: &str) -> String {
    let at = text.find(CANARY).unwrap_or(0);
    text.chars()
        .skip(at.saturating_sub(200))
        .take(400)
        .collect()
}
