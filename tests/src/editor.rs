//! A scripted editor: open documents, an encoding, and a way of answering `workspace/applyEdit`.
//!
//! It keeps its own text by its own rules (an independent oracle for the server's copy), speaks plain LSP, and can
//! misbehave in the ways that real editors were seen to: stale edits answered as applied, half of an edit
//! applied, no answer, text changed on the way in.

mod positions;
mod profile;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

pub use positions::{Encoding, apply_edits, byte_of, place_of};
pub use profile::Profile;

use crate::client::{Answer, Client, Outgoing, PATIENCE, Reply, RpcError, lock};

/// One open document, as the editor holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// What the user sees.
    pub text: String,
    /// LSP version.
    pub version: i32,
    /// It differs from what was last read or saved.
    pub dirty: bool,
}

/// How the editor answers one `workspace/applyEdit`.
#[derive(Debug, Clone, Default)]
pub struct ApplyScript {
    /// What it answers; absent means the truth.
    pub reply: Option<ApplyReply>,
    /// URIs that it really applies; absent means all.
    pub only: Option<Vec<String>>,
    /// What it does to the text on its way in.
    pub mangle: Option<Mangle>,
    /// Contents changed at the very moment the edit arrives, before it is looked at.
    pub typed_first: Vec<(String, Value)>,
}

/// A scripted answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ApplyReply {
    /// `{"applied": …}`, whatever happened.
    Applied(bool),
    /// A JSON-RPC error.
    Error,
    /// Nothing at all.
    Silence,
    /// The connection ends instead.
    HangUp,
}

/// What an editor may do to incoming text.
#[derive(Debug, Clone, PartialEq)]
pub enum Mangle {
    /// Removes white space at the ends of the new lines.
    TrimTrailing,
    /// Turns LF into CRLF in the new text.
    CrLf,
    /// Turns the new text into upper case.
    Upper,
    /// Appends this after each new text.
    Append(String),
    /// Applies each edit one line too low.
    ShiftDown,
}

/// What the editor holds, shared between the test and the reading thread.
#[derive(Default)]
pub struct Desk {
    /// Open documents by URI.
    pub documents: BTreeMap<String, Document>,
    /// How the next edits are answered; empty means as a good editor does.
    pub scripts: VecDeque<ApplyScript>,
    /// Params of every `workspace/applyEdit` received.
    pub edits: Vec<Value>,
    /// Answers of `window/showMessageRequest`: titles to pick, in order.
    pub picks: VecDeque<String>,
    encoding: Encoding,
    /// A stale edit is answered `applied: true`, and not applied.
    pretends: bool,
    /// `didChange` is sent after the reply.
    change_after_reply: bool,
    waiting: Vec<(String, Value)>,
}

impl Desk {
    fn apply(&mut self, out: &Outgoing, params: &Value) -> Option<Reply> {
        self.edits.push(params.clone());
        let script = self.scripts.pop_front().unwrap_or_default();
        for (uri, changes) in script.typed_first.clone() {
            let _ = self.change(out, &uri, None, &changes);
        }
        let outcome = self.apply_documents(out, params, &script);
        match script.reply {
            None => Some(Ok(match outcome {
                Ok(()) => json!({"applied": true}),
                Err(_) if self.pretends => json!({"applied": true}),
                Err(reason) => {
                    json!({"applied": false, "failureReason": reason, "failedChange": 0})
                }
            })),
            Some(ApplyReply::Applied(applied)) => Some(Ok(json!({"applied": applied}))),
            Some(ApplyReply::Error) => Some(Err(RpcError {
                code: -32603,
                message: "the editor failed".into(),
                data: Value::Null,
            })),
            Some(ApplyReply::Silence) => None,
            Some(ApplyReply::HangUp) => {
                out.close();
                None
            }
        }
    }

    fn apply_documents(
        &mut self,
        out: &Outgoing,
        params: &Value,
        script: &ApplyScript,
    ) -> std::result::Result<(), String> {
        for (uri, version, edits) in document_edits(&params["edit"])? {
            if script
                .only
                .as_ref()
                .is_some_and(|only| !only.contains(&uri))
            {
                continue;
            }
            let document = self
                .documents
                .get(&uri)
                .ok_or_else(|| format!("{uri} is not open"))?;
            if version.is_some_and(|version| version != i64::from(document.version)) {
                return Err(format!(
                    "{uri} is at version {}, the edit is for {version:?}",
                    document.version
                ));
            }
            let edits = match &script.mangle {
                None => edits,
                Some(mangle) => mangle_edits(edits, mangle),
            };
            let changes = positions::as_changes(&document.text, &edits, self.encoding)?;
            if changes.as_array().is_none_or(Vec::is_empty) {
                continue;
            }
            if self.change_after_reply {
                self.waiting.push((uri, changes));
            } else {
                self.change(out, &uri, None, &changes)
                    .map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    /// Changes a document and tells the server, in one step.
    fn change(
        &mut self,
        out: &Outgoing,
        uri: &str,
        version: Option<i32>,
        changes: &Value,
    ) -> Result<()> {
        let encoding = self.encoding;
        let document = self
            .documents
            .get_mut(uri)
            .with_context(|| format!("{uri} is not open"))?;
        for change in changes.as_array().context("changes are an array")? {
            document.text = positions::apply_change(&document.text, change, encoding)?;
        }
        document.version = version.unwrap_or(document.version + 1);
        document.dirty = true;
        out.notify(
            "textDocument/didChange",
            json!({
                "textDocument": {"uri": uri, "version": document.version},
                "contentChanges": changes,
            }),
        )
    }
}

/// URI, version if there is one, and LSP text edits.
type DocumentEdit = (String, Option<i64>, Vec<Value>);

/// Lists what a `WorkspaceEdit` does to texts: URI, version, edits.
fn document_edits(edit: &Value) -> std::result::Result<Vec<DocumentEdit>, String> {
    let mut list = Vec::new();
    if let Some(changes) = edit.get("documentChanges").and_then(Value::as_array) {
        for change in changes {
            if let Some(kind) = change.get("kind").and_then(Value::as_str) {
                return Err(format!("resource operation {kind} is not supported"));
            }
            let uri = change["textDocument"]["uri"]
                .as_str()
                .ok_or("an edit without a URI")?;
            let edits = change["edits"].as_array().ok_or("edits are an array")?;
            list.push((
                uri.to_owned(),
                change["textDocument"]["version"].as_i64(),
                edits.clone(),
            ));
        }
    } else if let Some(changes) = edit.get("changes").and_then(Value::as_object) {
        for (uri, edits) in changes {
            let edits = edits.as_array().ok_or("edits are an array")?;
            list.push((uri.clone(), None, edits.clone()));
        }
    }
    Ok(list)
}

fn mangle_edits(mut edits: Vec<Value>, mangle: &Mangle) -> Vec<Value> {
    for edit in &mut edits {
        let text = edit["newText"].as_str().unwrap_or("").to_owned();
        match mangle {
            Mangle::TrimTrailing => {
                let trimmed: Vec<&str> = text.split('\n').map(str::trim_end).collect();
                edit["newText"] = trimmed.join("\n").into();
            }
            Mangle::CrLf => {
                edit["newText"] = text.replace("\r\n", "\n").replace('\n', "\r\n").into();
            }
            Mangle::Upper => edit["newText"] = text.to_uppercase().into(),
            Mangle::Append(more) => edit["newText"] = format!("{text}{more}").into(),
            Mangle::ShiftDown => {
                for end in ["start", "end"] {
                    let line = edit["range"][end]["line"].as_u64().unwrap_or(0) + 1;
                    edit["range"][end]["line"] = line.into();
                }
            }
        }
    }
    edits
}

struct Answers(Arc<Mutex<Desk>>);

impl Answer for Answers {
    fn request(&mut self, out: &Outgoing, method: &str, params: &Value) -> Option<Reply> {
        match method {
            "workspace/applyEdit" => lock(&self.0).apply(out, params),
            "window/showMessageRequest" => {
                let pick = lock(&self.0).picks.pop_front();
                let chosen = params["actions"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .find(|action| action["title"].as_str() == pick.as_deref());
                Some(Ok(chosen.cloned().unwrap_or(Value::Null)))
            }
            "window/showDocument" => Some(Ok(json!({"success": true}))),
            "workspace/configuration" => {
                let n = params["items"].as_array().map_or(0, Vec::len);
                Some(Ok(Value::Array(vec![Value::Null; n])))
            }
            "workspace/workspaceFolders"
            | "client/registerCapability"
            | "client/unregisterCapability"
            | "workspace/codeLens/refresh"
            | "workspace/inlayHint/refresh"
            | "workspace/diagnostic/refresh"
            | "window/workDoneProgress/create" => Some(Ok(Value::Null)),
            _ => Some(Err(RpcError {
                code: -32601,
                message: format!("no such method: {method}"),
                data: Value::Null,
            })),
        }
    }

    fn replied(&mut self, out: &Outgoing, method: &str, _: &Value) {
        if method == "workspace/applyEdit" {
            let mut desk = lock(&self.0);
            for (uri, changes) in std::mem::take(&mut desk.waiting) {
                let _ = desk.change(out, &uri, None, &changes);
            }
        }
    }
}

/// An editor with a server behind it.
pub struct Editor {
    /// The connection.
    pub client: Client,
    /// What the server said in `initialize`.
    pub server: Value,
    desk: Arc<Mutex<Desk>>,
    root: PathBuf,
    profile: Profile,
}

impl Editor {
    /// Connects and initialises.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached or refuses.
    pub fn start(
        root: &Path,
        profile: &Profile,
        connect: impl FnOnce(Box<dyn Answer>) -> Result<Client>,
    ) -> Result<Editor> {
        let desk = Arc::new(Mutex::new(Desk {
            pretends: profile.pretends_applied,
            change_after_reply: profile.change_after_reply,
            ..Desk::default()
        }));
        let client = connect(Box::new(Answers(desk.clone())))?;
        let mut editor = Editor {
            client,
            server: Value::Null,
            desk,
            root: root.to_owned(),
            profile: profile.clone(),
        };
        editor.initialize()?;
        Ok(editor)
    }

    fn initialize(&mut self) -> Result<()> {
        let params = self.profile.initialize(&self.root);
        self.server = self.client.request("initialize", params)?;
        let encoding = self.server["capabilities"]["positionEncoding"]
            .as_str()
            .unwrap_or("utf-16");
        lock(&self.desk).encoding = Encoding::named(encoding)
            .with_context(|| format!("the server chose the encoding {encoding}"))?;
        self.client.notify("initialized", json!({}))
    }

    /// The same editor on a new server, with the same documents open.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached or refuses.
    pub fn reconnected(
        &self,
        connect: impl FnOnce(Box<dyn Answer>) -> Result<Client>,
    ) -> Result<Editor> {
        let mut editor = Editor {
            client: connect(Box::new(Answers(self.desk.clone())))?,
            server: Value::Null,
            desk: self.desk.clone(),
            root: self.root.clone(),
            profile: self.profile.clone(),
        };
        editor.initialize()?;
        let documents = lock(&self.desk).documents.clone();
        for (uri, document) in documents {
            editor.send_open(&uri, &document)?;
        }
        Ok(editor)
    }

    /// The encoding that the two agreed on.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        lock(&self.desk).encoding
    }

    /// URI of a path of the project.
    #[must_use]
    pub fn uri(&self, path: &str) -> String {
        uri_of(&self.root.join(path))
    }

    /// Looks at what the editor holds.
    pub fn desk<T>(&self, see: impl FnOnce(&mut Desk) -> T) -> T {
        see(&mut lock(&self.desk))
    }

    /// Text of an open document.
    ///
    /// # Errors
    ///
    /// When it is not open.
    pub fn text(&self, path: &str) -> Result<String> {
        Ok(self.document(path)?.text)
    }

    /// An open document.
    ///
    /// # Errors
    ///
    /// When it is not open.
    pub fn document(&self, path: &str) -> Result<Document> {
        let uri = self.uri(path);
        lock(&self.desk)
            .documents
            .get(&uri)
            .cloned()
            .with_context(|| format!("{path} is not open"))
    }

    /// Opens a document with this text.
    ///
    /// # Errors
    ///
    /// When the server no longer reads.
    pub fn open_with(&self, path: &str, document: Document) -> Result<()> {
        let uri = self.uri(path);
        lock(&self.desk)
            .documents
            .insert(uri.clone(), document.clone());
        self.send_open(&uri, &document)
    }

    /// Opens a document with the text on disk, at version 0 as most editors do. The server has it when this
    /// returns, so that what is asked over another connection comes after it.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn open(&self, path: &str) -> Result<()> {
        let text = std::fs::read_to_string(self.root.join(path))
            .with_context(|| format!("cannot read {path}"))?;
        self.open_with(
            path,
            Document {
                text,
                version: 0,
                dirty: false,
            },
        )?;
        let asked = json!({"uri": self.uri(path)});
        self.client.ask("redline/document/text", asked).map(drop)
    }

    fn send_open(&self, uri: &str, document: &Document) -> Result<()> {
        self.client.notify(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": uri, "languageId": "plaintext",
                "version": document.version, "text": document.text}}),
        )
    }

    /// Closes a document without saving.
    ///
    /// # Errors
    ///
    /// When the server no longer reads.
    pub fn close(&self, path: &str) -> Result<()> {
        let uri = self.uri(path);
        lock(&self.desk).documents.remove(&uri);
        self.client.notify(
            "textDocument/didClose",
            json!({"textDocument": {"uri": uri}}),
        )
    }

    /// Writes a document to disk and says so.
    ///
    /// # Errors
    ///
    /// When it is not open, or cannot be written.
    pub fn save(&self, path: &str) -> Result<()> {
        let uri = self.uri(path);
        let mut desk = lock(&self.desk);
        let document = desk.documents.get_mut(&uri).context("not open")?;
        std::fs::write(self.root.join(path), &document.text)?;
        document.dirty = false;
        drop(desk);
        self.client.notify(
            "textDocument/didSave",
            json!({"textDocument": {"uri": uri}}),
        )
    }

    /// Sends a `didChange` with LSP content changes; absent version means the next.
    ///
    /// # Errors
    ///
    /// When it is not open.
    pub fn change(&self, path: &str, version: Option<i32>, changes: &Value) -> Result<()> {
        let uri = self.uri(path);
        lock(&self.desk).change(self.client.out(), &uri, version, changes)
    }

    /// Replaces bytes of an open document, as one change.
    ///
    /// # Errors
    ///
    /// When it is not open.
    pub fn replace(&self, path: &str, bytes: std::ops::Range<usize>, with: &str) -> Result<()> {
        let document = self.document(path)?;
        let encoding = self.encoding();
        let start = place_of(&document.text, bytes.start, encoding);
        let end = place_of(&document.text, bytes.end, encoding);
        self.change(
            path,
            None,
            &json!([{"range": {
                "start": {"line": start.0, "character": start.1},
                "end": {"line": end.0, "character": end.1}}, "text": with}]),
        )
    }

    /// Replaces the only occurrence of some text of an open document.
    ///
    /// # Errors
    ///
    /// When it is not there exactly once.
    pub fn replace_text(&self, path: &str, old: &str, new: &str) -> Result<()> {
        let text = self.text(path)?;
        let mut places = text.match_indices(old);
        let Some((at, _)) = places.next() else {
            bail!("{old:?} is not in {path}");
        };
        if places.next().is_some() {
            bail!("{old:?} is in {path} more than once");
        }
        self.replace(path, at..at + old.len(), new)
    }

    /// Waits until the document reads this.
    ///
    /// # Errors
    ///
    /// When it does not in time.
    pub fn wait_text(&self, path: &str, text: &str) -> Result<()> {
        let end = std::time::Instant::now() + PATIENCE;
        loop {
            let now = self.text(path)?;
            if now == text {
                return Ok(());
            }
            if std::time::Instant::now() > end {
                bail!("{path} reads {now:?}, not {text:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Diagnostics that the server published last for this document.
    #[must_use]
    pub fn diagnostics(&self, path: &str) -> Option<Vec<Value>> {
        let uri = self.uri(path);
        self.client.look(|arrived| {
            arrived
                .newest("textDocument/publishDiagnostics", |p| {
                    p["uri"] == uri.as_str()
                })
                .and_then(|params| params["diagnostics"].as_array().cloned())
        })
    }

    /// Waits until the newest diagnostics of this document pass.
    ///
    /// # Errors
    ///
    /// When they do not in time.
    pub fn wait_diagnostics(
        &self,
        path: &str,
        pass: impl Fn(&[Value]) -> bool,
    ) -> Result<Vec<Value>> {
        let uri = self.uri(path);
        self.client
            .wait_for(&format!("diagnostics of {path}"), PATIENCE, |arrived| {
                arrived
                    .newest("textDocument/publishDiagnostics", |p| {
                        p["uri"] == uri.as_str()
                    })
                    .and_then(|params| params["diagnostics"].as_array())
                    .filter(|list| pass(list))
                    .cloned()
            })
            .with_context(|| format!("newest: {:?}", self.diagnostics(path)))
    }

    /// Asks for the code actions on a range of lines.
    ///
    /// # Errors
    ///
    /// When the server refuses.
    pub fn actions(&self, path: &str, first: u32, last: u32) -> Result<Vec<Value>> {
        let params = json!({
            "textDocument": {"uri": self.uri(path)},
            "range": {"start": {"line": first, "character": 0},
                      "end": {"line": last, "character": 0}},
            "context": {"diagnostics": [], "triggerKind": 1},
        });
        let answer = self.client.request("textDocument/codeAction", params)?;
        Ok(answer.as_array().cloned().unwrap_or_default())
    }

    /// Does what an editor does with a picked action: resolve it, apply its edit, run its command.
    ///
    /// # Errors
    ///
    /// When the server does not answer. An error answer is returned as such.
    pub fn invoke(&self, action: &Value) -> Result<Reply> {
        let mut action = action.clone();
        // A bare command has a string under `command`; an action has an object.
        if action["command"].is_string() {
            return self.execute(&action);
        }
        if action.get("edit").is_none() && action.get("command").is_none() && self.profile.resolve {
            match self.client.ask("codeAction/resolve", action.clone())? {
                Ok(resolved) => action = resolved,
                Err(error) => return Ok(Err(error)),
            }
        }
        if let Some(edit) = action.get("edit") {
            let params = json!({"edit": edit});
            let outcome = {
                let mut desk = lock(&self.desk);
                let outcome =
                    desk.apply_documents(self.client.out(), &params, &ApplyScript::default());
                // No reply is due: the changes follow at once.
                for (uri, changes) in std::mem::take(&mut desk.waiting) {
                    desk.change(self.client.out(), &uri, None, &changes)?;
                }
                outcome
            };
            if let Err(reason) = outcome {
                return Ok(Err(RpcError {
                    code: 0,
                    message: reason,
                    data: Value::Null,
                }));
            }
        }
        match action.get("command") {
            Some(command) => self.execute(command),
            None => Ok(Ok(Value::Null)),
        }
    }

    /// Does what an editor does with a picked code lens, or with a command that its user named.
    ///
    /// # Errors
    ///
    /// When the server does not answer. An error answer is returned as such.
    pub fn execute(&self, command: &Value) -> Result<Reply> {
        self.client.ask(
            "workspace/executeCommand",
            json!({"command": command["command"], "arguments": command["arguments"]}),
        )
    }
}

/// The `file:` URI of a path, escaped as most editors do.
#[must_use]
pub fn uri_of(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(*byte)),
            b if b.is_ascii_alphanumeric() => uri.push(char::from(*b)),
            b => uri.push_str(&format!("%{b:02X}")),
        }
    }
    uri
}
