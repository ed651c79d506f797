//! The hub behind real connections, without a process around it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::panic
)]

mod agent;
mod decisions;
mod trust;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use redline_protocol::v1;
use redline_workspace::PrivateStore;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use crate::config::Config;
use crate::env::Env;
use crate::failure::Failure;
use crate::frame::{self, FrameReader};
use crate::hub::event::Event;
use crate::hubs::{Hubs, HubsOptions, Model, Models, Origin};
use crate::lsp::serve_connection;
use crate::lsp::transport::ExitReason;

/// How long anything may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

struct NoModels;

impl Models for NoModels {
    fn open(&self, _: &Config, _: Option<&str>, _: &Env) -> Result<Model, Failure> {
        Err(Failure::new("PROVIDER", "no model", ""))
    }

    fn list(
        &self,
        _: Arc<Config>,
        _: &Env,
    ) -> futures_util::future::BoxFuture<'static, v1::ListModelsResult> {
        Box::pin(std::future::ready(v1::ListModelsResult {
            models: Vec::new(),
            notices: Vec::new(),
        }))
    }

    fn secrets(&self, _: &Config, _: &Env) -> std::collections::BTreeMap<String, String> {
        std::collections::BTreeMap::new()
    }
}

fn hubs(state: &Path) -> Arc<Hubs> {
    hubs_with(state, Arc::new(NoModels))
}

fn hubs_with(state: &Path, models: Arc<dyn Models>) -> Arc<Hubs> {
    Hubs::new(HubsOptions {
        private: Arc::new(PrivateStore::new(state.to_owned())),
        models,
        in_process: true,
        notices: Arc::new(Vec::new),
        config: Arc::new(Arc::default),
        faults: None,
    })
}

struct Client {
    stream: DuplexStream,
    frames: FrameReader,
    next_id: i64,
    /// Messages that came while something else was waited for.
    notes: Vec<Value>,
    served: tokio::task::JoinHandle<ExitReason>,
    root: String,
}

impl Client {
    async fn connect(hubs: &Arc<Hubs>, root: &Path, capabilities: Value) -> Self {
        let (stream, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let served = tokio::spawn(serve_connection(
            Arc::clone(hubs),
            reader,
            writer,
            Origin::of_process(),
        ));
        let root = format!("file://{}", root.display());
        let mut client = Self {
            stream,
            frames: FrameReader::new(),
            next_id: 0,
            notes: Vec::new(),
            served,
            root,
        };
        let params = json!({
            "processId": null,
            "rootUri": client.root,
            "capabilities": capabilities,
            "clientInfo": {"name": "test"},
        });
        client.ask("initialize", params).await.unwrap();
        client.notify("initialized", json!({})).await;
        client
    }

    fn uri(&self, path: &str) -> String {
        format!("{}/{path}", self.root)
    }

    async fn send(&mut self, message: Value) {
        let frame = frame::encode(message.to_string().as_bytes());
        self.stream.write_all(&frame).await.unwrap();
    }

    async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    async fn receive(&mut self) -> Option<Value> {
        let mut chunk = [0; 16 * 1024];
        loop {
            if let Some(frame) = self.frames.next_frame() {
                return Some(serde_json::from_slice(&frame.unwrap()).unwrap());
            }
            let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut chunk));
            match read.await.expect("a message in time") {
                Ok(0) | Err(_) => return None,
                Ok(size) => self.frames.push(&chunk[..size]),
            }
        }
    }

    async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        loop {
            let message = self.receive().await.expect("an answer before the end");
            if message.get("method").is_none() && message["id"] == id {
                return match message.get("error") {
                    Some(error) => Err(error.clone()),
                    None => Ok(message["result"].clone()),
                };
            }
            self.notes.push(message);
        }
    }

    /// Waits for a message of the server that `wanted` takes.
    async fn wait(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.notes.iter().position(&wanted) {
            return self.notes.remove(at);
        }
        loop {
            let message = self.receive().await.expect("a message before the end");
            if wanted(&message) {
                return message;
            }
            self.notes.push(message);
        }
    }

    /// Opens a document; the hub has it when this returns, whoever asks next.
    async fn open(&mut self, path: &str, text: &str) {
        let document =
            json!({"uri": self.uri(path), "languageId": "x", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}))
            .await;
        self.ask("redline/status", json!({})).await.unwrap();
    }

    /// Asks again until the answer is as wanted.
    async fn ask_until(
        &mut self,
        method: &str,
        params: Value,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let asking = async {
            loop {
                let answer = self.ask(method, params.clone()).await.unwrap();
                if wanted(&answer) {
                    return answer;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, asking).await.expect(method)
    }

    async fn change_all(&mut self, path: &str, version: i32, text: &str) {
        let document = json!({"uri": self.uri(path), "version": version});
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": [{"text": text}]}),
        )
        .await;
    }

    /// Applies an edit that the server asks for, to the whole text given.
    async fn apply(&mut self, path: &str, version: i32, after: &str) {
        let request = self
            .wait(|message| message["method"] == "workspace/applyEdit")
            .await;
        self.change_all(path, version, after).await;
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": {"applied": true}}))
            .await;
    }
}

fn editor() -> Value {
    json!({
        "workspace": {"applyEdit": true, "workspaceEdit": {"documentChanges": true}},
        "textDocument": {
            "publishDiagnostics": {"versionSupport": true},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["quickfix"]}},
                "resolveSupport": {"properties": ["edit"]},
                "dataSupport": true,
            },
        },
    })
}

const TEXT: &str = "one\ntwo\nthree\n";

/// A project with one file and a pending change of its second line, proposed by another client.
async fn pending(root: &Path) -> (tempfile::TempDir, Arc<Hubs>, String) {
    std::fs::write(root.join("a.txt"), TEXT).unwrap();
    let state = tempfile::tempdir().unwrap();
    let hubs = hubs(state.path());
    let mut proposer = Client::connect(&hubs, root, json!({})).await;
    let content = json!({"edits": [{"path": "a.txt", "search": "two", "replace": "TWO"}]});
    let transaction = proposer
        .ask(
            "redline/transaction/propose",
            json!({"content": content.to_string()}),
        )
        .await
        .unwrap();
    (state, hubs, transaction["id"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_panics_is_rebuilt_and_nothing_is_lost() {
    let root = tempfile::tempdir().unwrap();
    let (_state, hubs, id) = pending(root.path()).await;
    let mut client = Client::connect(&hubs, root.path(), editor()).await;
    client.open("a.txt", TEXT).await;
    hubs.hub(root.path()).unwrap().send(Event::Panic);
    while client.receive().await.is_some() {}
    assert_eq!(client.served.await.unwrap(), ExitReason::HubLost);

    let mut again = Client::connect(&hubs, root.path(), editor()).await;
    let status = again.ask("redline/status", json!({})).await.unwrap();
    assert_eq!(status["transactions"][0]["id"], json!(id));
    assert_eq!(status["transactions"][0]["state"], "pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accept_reaches_the_buffer_and_a_receipt() {
    let root = tempfile::tempdir().unwrap();
    let (_state, hubs, id) = pending(root.path()).await;
    let mut client = Client::connect(&hubs, root.path(), editor()).await;
    client.open("a.txt", TEXT).await;
    let mut cli = Client::connect(&hubs, root.path(), json!({})).await;
    let deciding = tokio::spawn(async move {
        cli.ask("redline/transaction/accept", json!({"transactionId": id}))
            .await
    });
    client.apply("a.txt", 2, "one\nTWO\nthree\n").await;
    let decided = deciding.await.unwrap().unwrap();
    assert_eq!(decided["transaction"]["state"], "committed");
    assert_eq!(decided["receipt"]["unsaved"], json!(["a.txt"]));
    assert_eq!(decided["receipt"]["written"], json!([]));
    assert_eq!(
        std::fs::read_to_string(root.path().join("a.txt")).unwrap(),
        TEXT
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_that_lies_about_applying_is_noticed() {
    let root = tempfile::tempdir().unwrap();
    let (_state, hubs, id) = pending(root.path()).await;
    let mut client = Client::connect(&hubs, root.path(), editor()).await;
    client.open("a.txt", TEXT).await;
    let mut cli = Client::connect(&hubs, root.path(), json!({})).await;
    let deciding = tokio::spawn(async move {
        let answer = cli
            .ask("redline/transaction/accept", json!({"transactionId": id}))
            .await;
        (answer, cli.ask("redline/status", json!({})).await.unwrap())
    });
    let request = client
        .wait(|message| message["method"] == "workspace/applyEdit")
        .await;
    client
        .send(json!({"jsonrpc": "2.0", "id": request["id"], "result": {"applied": true}}))
        .await;
    let (answer, status) = deciding.await.unwrap();
    assert_eq!(answer.unwrap_err()["data"]["code"], "CLIENT_TIMEOUT");
    assert_eq!(status["transactions"][0]["state"], "pending");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_is_taken_is_a_decision_with_a_receipt() {
    let root = tempfile::tempdir().unwrap();
    let (_state, hubs, id) = pending(root.path()).await;
    let mut client = Client::connect(&hubs, root.path(), editor()).await;
    client.open("a.txt", TEXT).await;
    let place = json!({"line": 1, "character": 0});
    let params = json!({
        "textDocument": {"uri": client.uri("a.txt")},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
    });
    let actions = client.ask("textDocument/codeAction", params).await.unwrap();
    let accept = actions
        .as_array()
        .unwrap()
        .iter()
        .find(|action| action["title"].as_str().unwrap().starts_with("Accept hunk"))
        .unwrap()
        .clone();
    assert!(accept.get("edit").is_none() && accept.get("command").is_none());
    let resolved = client.ask("codeAction/resolve", accept).await.unwrap();
    let edit = &resolved["edit"]["documentChanges"][0];
    assert_eq!(edit["textDocument"]["version"], 1);
    assert_eq!(edit["edits"][0]["newText"], "TWO\n");
    client.change_all("a.txt", 2, "one\nTWO\nthree\n").await;

    // The decision is stored behind the change; undo sees it once it is.
    let listed = client
        .ask_until("redline/checkpoint/list", json!({}), |listed| {
            listed["checkpoints"] != json!([])
        })
        .await;
    assert_eq!(listed["checkpoints"][0]["id"], json!(id));
    let transaction = client
        .ask("redline/transaction/get", json!({"transactionId": id}))
        .await
        .unwrap();
    assert_eq!(transaction["state"], "committed");
    assert_eq!(transaction["files"][0]["hunks"][0]["unsaved"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_editor_settles_disappears_in_the_other() {
    let root = tempfile::tempdir().unwrap();
    let (_state, hubs, id) = pending(root.path()).await;
    let mut one = Client::connect(&hubs, root.path(), editor()).await;
    let mut two = Client::connect(&hubs, root.path(), editor()).await;
    one.open("a.txt", TEXT).await;
    two.open("a.txt", TEXT).await;
    let shown = |count: usize| {
        move |message: &Value| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["diagnostics"]
                    .as_array()
                    .is_some_and(|all| all.len() == count)
        }
    };
    two.wait(shown(1)).await;
    one.wait(shown(1)).await;
    one.ask("redline/transaction/reject", json!({"transactionId": id}))
        .await
        .unwrap();
    two.wait(shown(0)).await;
    one.wait(shown(0)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_closed_unsaved_waits_again() {
    let root = tempfile::tempdir().unwrap();
    let (_state, hubs, id) = pending(root.path()).await;
    let mut client = Client::connect(&hubs, root.path(), editor()).await;
    client.open("a.txt", TEXT).await;
    client.change_all("a.txt", 2, "one\nTWO\nthree\n").await;
    let get = json!({"transactionId": id});
    let done = client
        .ask("redline/transaction/get", get.clone())
        .await
        .unwrap();
    assert_eq!(done["state"], "committed");
    let document = json!({"textDocument": {"uri": client.uri("a.txt")}});
    client.notify("textDocument/didClose", document).await;
    client
        .ask_until("redline/transaction/get", get, |transaction| {
            transaction["state"] == "pending"
        })
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_is_answered_with_its_own_files_unless_all_are_wanted() {
    let root = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let hubs = hubs(state.path());
    let mut proposer = Client::connect(&hubs, root.path(), json!({})).await;
    let files: Vec<Value> = ["a", "b", "c"]
        .map(|path| json!({"path": path, "text": "new\n"}))
        .to_vec();
    let content = json!({ "files": files }).to_string();
    proposer
        .ask("redline/transaction/propose", json!({"content": content}))
        .await
        .unwrap();
    let mut client = Client::connect(&hubs, root.path(), json!({})).await;
    for (path, all, answered, left) in [
        ("a", false, vec!["a"], 2),
        ("b", true, vec!["a", "b", "c"], 1),
    ] {
        let params = json!({"files": [{"path": path}], "allFiles": all});
        let decided = client.ask("redline/transaction/reject", params).await;
        let decided = decided.unwrap();
        let files = decided["transaction"]["files"].as_array().unwrap();
        let paths: Vec<&str> = files
            .iter()
            .map(|file| file["path"].as_str().unwrap())
            .collect();
        assert_eq!((paths, decided["left"].as_u64()), (answered, Some(left)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_editor_that_asks_for_no_status_is_told_what_was_noticed() {
    let root = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    let hubs = Hubs::new(HubsOptions {
        private: Arc::new(PrivateStore::new(state.path().to_owned())),
        models: Arc::new(NoModels),
        in_process: true,
        notices: Arc::new(|| vec!["`modle` is no setting; did you mean `model`?".to_owned()]),
        config: Arc::new(Arc::default),
        faults: None,
    });
    let mut plain = Client::connect(&hubs, root.path(), editor()).await;
    let shown = plain
        .wait(|message| message["method"] == "window/showMessage")
        .await;
    assert_eq!(shown["params"]["type"], 2, "a warning");
    let text = shown["params"]["message"].as_str().unwrap();
    assert!(text.contains("did you mean `model`"), "{text}");

    let mut drawing = editor();
    drawing["experimental"] = json!({"redline": {"version": 1, "review": true}});
    let mut drawing = Client::connect(&hubs, root.path(), drawing).await;
    let status = drawing.ask("redline/status", json!({})).await.unwrap();
    assert!(status["notices"][0].as_str().unwrap().contains("modle"));
    let told = |note: &Value| note["method"] == "window/showMessage";
    assert!(!drawing.notes.iter().any(told), "it reads the status");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_user_protects_nobody_can_propose_to_change() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("key.pem"), TEXT).unwrap();
    let state = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.permissions.protected = vec!["*.pem".to_owned()];
    let config = Arc::new(config);
    let hubs = Hubs::new(HubsOptions {
        private: Arc::new(PrivateStore::new(state.path().to_owned())),
        models: Arc::new(NoModels),
        in_process: true,
        notices: Arc::new(Vec::new),
        config: Arc::new(move || Arc::clone(&config)),
        faults: None,
    });
    let mut client = Client::connect(&hubs, root.path(), json!({})).await;
    let files = json!({"files": [{"path": "key.pem", "text": "other\n"}]});
    let refused = client
        .ask(
            "redline/transaction/propose",
            json!({"content": files.to_string()}),
        )
        .await
        .unwrap_err();
    assert_eq!(refused["data"]["code"], "PROTECTED_PATH", "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_accepted_hunk_is_shown_until_it_is_saved() {
    let root = tempfile::tempdir().unwrap();
    let (_state, hubs, id) = pending(root.path()).await;
    let mut capabilities = editor();
    capabilities["experimental"] = json!({"redline": {"version": 1, "review": true}});
    let mut client = Client::connect(&hubs, root.path(), capabilities).await;
    client.open("a.txt", TEXT).await;
    let mut cli = Client::connect(&hubs, root.path(), json!({})).await;
    let deciding = tokio::spawn(async move {
        cli.ask("redline/transaction/accept", json!({"transactionId": id}))
            .await
    });
    client.apply("a.txt", 2, "one\nTWO\nthree\n").await;
    deciding.await.unwrap().unwrap();
    let hunks = |message: &Value| message["params"]["documents"][0]["hunks"].clone();
    let changed = |message: &Value| message["method"] == "redline/transaction/changed";
    let shown = client
        .wait(|message| changed(message) && hunks(message)[0]["hunk"]["unsaved"] == true)
        .await;
    let hunk = &hunks(&shown)[0];
    assert_eq!(hunk["hunk"]["state"], "accepted");
    assert_eq!(
        (
            &hunk["range"]["start"]["line"],
            &hunk["range"]["end"]["line"]
        ),
        (&json!(1), &json!(2))
    );
    assert_eq!(shown["params"]["counts"]["pending"], 0);
    std::fs::write(root.path().join("a.txt"), "one\nTWO\nthree\n").unwrap();
    let document = json!({"textDocument": {"uri": client.uri("a.txt")}});
    client.notify("textDocument/didSave", document).await;
    client
        .wait(|message| changed(message) && hunks(message) == json!([]))
        .await;
}
