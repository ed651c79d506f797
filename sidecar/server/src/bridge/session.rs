//! What the bridge remembers of one editor, so that a sidecar can be replaced under it.
//!
//! Owns: `initialize`, the documents, the requests in flight both ways, and what the editor shows
//! because a sidecar said so. Must not know: streams; a message in, messages out.
//!
//! Requests of a sidecar go to the editor under ids of the bridge's own, because every sidecar
//! counts from zero and an editor may still owe an answer to one that is gone.

use super::documents::Documents;
use crate::wire::{Message, Outgoing, call, error_response};
use redline_edits::Encoding;
use redline_protocol::v1;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use std::collections::{BTreeMap, BTreeSet};

/// Id of the `initialize` that the bridge itself says to a new sidecar.
pub(crate) const REPLAY_ID: &str = "\"redline-bridge-initialize\"";
/// JSON-RPC: not valid JSON.
const PARSE_ERROR: i64 = -32700;
/// JSON-RPC: JSON, but no message.
const INVALID_REQUEST: i64 = -32600;
/// LSP `ServerCancelled`: the client may ask again.
const SERVER_CANCELLED: i64 = -32802;

/// So many unanswered requests of a sidecar are remembered.
const ASKED_LIMIT: usize = 4096;

/// What to do with a message from the editor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FromEditor {
    /// To the sidecar.
    Forward(Vec<u8>),
    /// Answered here.
    Answer(Vec<u8>),
    /// To nobody.
    Drop,
    /// `exit`: forward, then end.
    Exit(Vec<u8>),
}

/// One editor, from its first message to its last.
#[derive(Debug, Default)]
pub(crate) struct Session {
    documents: Documents,
    initialize: Option<(Box<RawValue>, Value)>,
    initialize_answered: bool,
    initialized: Option<Vec<u8>>,
    configuration: Option<Vec<u8>>,
    /// The editor's requests that nobody has answered yet: id and method.
    waiting: BTreeMap<String, String>,
    /// The sidecar's requests that the editor has not answered yet, by the bridge's id.
    asked: BTreeMap<u64, Box<RawValue>>,
    next_ask: u64,
    progress: BTreeSet<String>,
    diagnosed: BTreeSet<String>,
    shutdown: bool,
    process_id: Option<u32>,
}

impl Session {
    /// Whether the editor has said `shutdown`.
    pub(crate) fn is_shut_down(&self) -> bool {
        self.shutdown
    }

    /// The editor's process, once `initialize` has named it.
    pub(crate) fn process_id(&self) -> Option<u32> {
        self.process_id
    }

    /// Whether a request of the editor has no answer yet.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes one message of the editor.
    pub(crate) fn take_from_editor(&mut self, body: Vec<u8>) -> FromEditor {
        let message = match parse(&body) {
            Ok(message) => message,
            Err(answer) => return FromEditor::Answer(answer),
        };
        match (message.id, message.method.as_deref()) {
            (Some(id), Some(method)) => {
                self.waiting.insert(id.get().to_owned(), method.to_owned());
                match (method, message.params) {
                    ("initialize", Some(params)) => self.note_initialize(id, params),
                    ("shutdown", _) => self.shutdown = true,
                    _ => {}
                }
            }
            (None, Some("exit")) => return FromEditor::Exit(body),
            (None, Some("initialized")) => self.initialized = Some(body.clone()),
            (None, Some("workspace/didChangeConfiguration")) => {
                self.configuration = Some(body.clone());
            }
            (None, Some(method)) => {
                if let Some(params) = message.params {
                    self.note(method, params);
                }
            }
            (Some(id), None) => return self.answer_of_editor(id, &message),
            (None, None) => {
                let text = "neither a method nor the id of a request";
                return FromEditor::Answer(error_response(None, INVALID_REQUEST, text));
            }
        }
        FromEditor::Forward(body)
    }

    fn note_initialize(&mut self, id: &RawValue, params: &RawValue) {
        // What is not an object is refused by the sidecar, and then there is nothing to replay.
        let Ok(params) = serde_json::from_str::<Value>(params.get()) else {
            return;
        };
        let process_id = params.get("processId").and_then(Value::as_u64);
        self.process_id = process_id.and_then(|id| u32::try_from(id).ok());
        self.initialize = Some((id.to_owned(), params));
    }

    fn note(&mut self, method: &str, params: &RawValue) {
        if method == "workspace/didChangeWorkspaceFolders" {
            self.note_folders(params);
        } else {
            self.documents.notice(method, params);
        }
    }

    /// Folds a change of folders into `initialize`, so that a replay opens today's.
    fn note_folders(&mut self, params: &RawValue) {
        #[derive(Deserialize)]
        struct Params {
            event: Event,
        }
        #[derive(Deserialize)]
        struct Event {
            #[serde(default)]
            added: Vec<Value>,
            #[serde(default)]
            removed: Vec<Value>,
        }
        let (Ok(change), Some((_, initialize))) = (
            serde_json::from_str::<Params>(params.get()),
            self.initialize.as_mut(),
        ) else {
            return;
        };
        let mut folders: Vec<Value> = initialize
            .get("workspaceFolders")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let gone: Vec<&Value> = change
            .event
            .removed
            .iter()
            .filter_map(|it| it.get("uri"))
            .collect();
        folders.retain(|folder| folder.get("uri").is_none_or(|uri| !gone.contains(&uri)));
        folders.extend(change.event.added);
        if let Some(initialize) = initialize.as_object_mut() {
            initialize.insert("workspaceFolders".to_owned(), Value::Array(folders));
        }
    }

    fn answer_of_editor(&mut self, id: &RawValue, message: &Message<'_>) -> FromEditor {
        let asked = id
            .get()
            .parse()
            .ok()
            .and_then(|id: u64| self.asked.remove(&id));
        match asked {
            Some(id) => FromEditor::Forward(Outgoing::with_id(message, &id).body()),
            // Its sidecar is gone, or nobody has asked.
            None => FromEditor::Drop,
        }
    }

    /// Takes one message of the sidecar; gives what the editor is to see.
    pub(crate) fn take_from_sidecar(&mut self, body: Vec<u8>) -> Option<Vec<u8>> {
        let message: Message<'_> = match serde_json::from_slice(&body) {
            Ok(message) => message,
            Err(error) => {
                tracing::warn!(%error, "a message of the sidecar was dropped");
                return None;
            }
        };
        match (message.id, message.method.as_deref()) {
            (Some(id), Some(_)) => {
                let own = self.next_ask;
                self.next_ask += 1;
                self.asked.insert(own, id.to_owned());
                if self.asked.len() > ASKED_LIMIT {
                    // An editor that never answers costs no growing list.
                    self.asked.pop_first();
                }
                return Some(Outgoing::with_id(&message, &raw(own)).body());
            }
            (Some(id), None) => {
                if self.waiting.remove(id.get()).as_deref() == Some("initialize")
                    && let Some(result) = message.result
                {
                    self.note_capabilities(result);
                }
            }
            (None, Some("$/cancelRequest")) => return self.cancel_of_sidecar(message.params),
            (None, Some(method)) => {
                if let Some(params) = message.params {
                    self.note_shown(method, params);
                }
            }
            (None, None) => {}
        }
        Some(body)
    }

    fn note_capabilities(&mut self, result: &RawValue) {
        #[derive(Deserialize)]
        struct Initialized {
            capabilities: Capabilities,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Capabilities {
            #[serde(default)]
            position_encoding: Option<Encoding>,
        }
        self.initialize_answered = true;
        if let Ok(initialized) = serde_json::from_str::<Initialized>(result.get()) {
            let encoding = initialized.capabilities.position_encoding;
            self.documents.set_encoding(encoding.unwrap_or_default());
        }
    }

    fn cancel_of_sidecar(&mut self, params: Option<&RawValue>) -> Option<Vec<u8>> {
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow)]
            id: &'a RawValue,
        }
        let params: Params<'_> = serde_json::from_str(params?.get()).ok()?;
        let same = |id: &RawValue| id.get() == params.id.get();
        let (own, _) = self.asked.iter().find(|(_, id)| same(id))?;
        call(None, "$/cancelRequest", &json!({ "id": own })).ok()
    }

    /// Remembers what the editor shows for the sidecar, to take it away if that dies.
    fn note_shown(&mut self, method: &str, params: &RawValue) {
        #[derive(Deserialize)]
        struct Diagnostics {
            uri: String,
            diagnostics: Vec<serde::de::IgnoredAny>,
        }
        #[derive(Deserialize)]
        struct Progress<'a> {
            #[serde(borrow)]
            token: &'a RawValue,
            value: ProgressValue,
        }
        #[derive(Deserialize)]
        struct ProgressValue {
            #[serde(default)]
            kind: String,
        }
        match method {
            "textDocument/publishDiagnostics" => {
                if let Ok(shown) = serde_json::from_str::<Diagnostics>(params.get()) {
                    if shown.diagnostics.is_empty() {
                        self.diagnosed.remove(&shown.uri);
                    } else {
                        self.diagnosed.insert(shown.uri);
                    }
                }
            }
            "$/progress" => {
                if let Ok(progress) = serde_json::from_str::<Progress<'_>>(params.get()) {
                    let token = progress.token.get();
                    match progress.value.kind.as_str() {
                        "begin" => self.progress.insert(token.to_owned()),
                        "end" => self.progress.remove(token),
                        _ => false,
                    };
                }
            }
            _ => {}
        }
    }

    /// The sidecar is gone: gives what the editor is told, so that it waits for nothing and shows
    /// nothing of a sidecar that does not know of it.
    pub(crate) fn lost(&mut self) -> Vec<Vec<u8>> {
        self.asked.clear();
        let mut messages = Vec::new();
        let mut kept = BTreeMap::new();
        for (id, method) in std::mem::take(&mut self.waiting) {
            // The first `initialize` is said again, and then answered by the new sidecar.
            if method == "initialize" && !self.initialize_answered {
                kept.insert(id, method);
                continue;
            }
            let Ok(id) = RawValue::from_string(id) else {
                continue;
            };
            messages.push(if method == "shutdown" {
                Outgoing::result_null(&id).body()
            } else {
                let text = format!("{method} was interrupted: the sidecar ended; ask again");
                error_response(Some(&id), SERVER_CANCELLED, &text)
            });
        }
        self.waiting = kept;
        for token in std::mem::take(&mut self.progress) {
            if let Ok(token) = RawValue::from_string(token) {
                let end =
                    json!({"token": token, "value": {"kind": "end", "message": "interrupted"}});
                messages.extend(call(None, "$/progress", &end));
            }
        }
        for uri in std::mem::take(&mut self.diagnosed) {
            let none = json!({"uri": uri, "diagnostics": []});
            messages.extend(call(None, "textDocument/publishDiagnostics", &none));
        }
        messages
    }

    /// What a new sidecar is told first: an `initialize`, and whether its answer is the bridge's
    /// own (the editor has had one). None when the editor has not spoken yet.
    pub(crate) fn replay_initialize(&self) -> Option<(Vec<u8>, bool)> {
        let (id, params) = self.initialize.as_ref()?;
        let id = if self.initialize_answered {
            REPLAY_ID
        } else {
            id.get()
        };
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{params}}}"#);
        Some((body.into_bytes(), self.initialize_answered))
    }

    /// What the editor is told once a new sidecar knows where it is: to load again what it shows. None for
    /// one that shows no conversations, or that has had no answer yet.
    pub(crate) fn replaced(&self) -> Option<Vec<u8>> {
        let (_, initialize) = self.initialize.as_ref()?;
        let converses = &initialize["capabilities"]["experimental"]["redline"]["session"];
        if !self.initialize_answered || converses != &Value::Bool(true) {
            return None;
        }
        let told = v1::SidecarReplacedNotification::default();
        call(None, v1::method::SIDECAR_REPLACED, &told).ok()
    }

    /// What a new sidecar is told once it has answered `initialize`.
    pub(crate) fn replay_rest(&self) -> Vec<Vec<u8>> {
        let notes = [&self.initialized, &self.configuration];
        let notes = notes.into_iter().flatten().cloned();
        notes.chain(self.documents.replay()).collect()
    }
}

/// Reads a message of the editor, or gives the answer to what is none.
fn parse(body: &[u8]) -> Result<Message<'_>, Vec<u8>> {
    let refuse = |code, text: &str| Err(error_response(None, code, text));
    match serde_json::from_slice(body) {
        // An array with the right members would read as a message.
        Ok(_) if body.trim_ascii_start().first() != Some(&b'{') => refuse(
            INVALID_REQUEST,
            "a message is an object; LSP has no batches",
        ),
        Ok(message) => Ok(message),
        Err(error) if error.is_data() => refuse(INVALID_REQUEST, &error.to_string()),
        Err(error) => refuse(PARSE_ERROR, &error.to_string()),
    }
}

fn raw(number: u64) -> Box<RawValue> {
    RawValue::from_string(number.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

#[cfg(test)]
mod tests;
