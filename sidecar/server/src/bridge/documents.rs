//! The text of every document that the editor has open, as the editor sees it.
//!
//! Owns: applying the editor's own notifications, and saying `didOpen` again for each document to
//! a sidecar that has not heard the first. Must not know: who listens.

use redline_edits::{Encoding, LineCol, to_byte};
use ropey::Rope;
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use std::collections::BTreeMap;

/// Documents by URI, spelled as the editor spells it.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    encoding: Encoding,
    open: BTreeMap<String, Document>,
}

#[derive(Debug)]
struct Document {
    language_id: String,
    version: i64,
    text: Rope,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenParams {
    text_document: OpenedItem,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpenedItem {
    uri: String,
    #[serde(default)]
    language_id: String,
    #[serde(default)]
    version: i64,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChangeParams {
    text_document: Versioned,
    content_changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Versioned {
    uri: String,
    #[serde(default)]
    version: Option<i64>,
}

#[derive(Deserialize)]
struct Change {
    #[serde(default)]
    range: Option<ChangeRange>,
    text: String,
}

#[derive(Deserialize)]
struct ChangeRange {
    start: LineCol,
    end: LineCol,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CloseParams {
    text_document: Versioned,
}

impl Documents {
    /// Counts columns as the server and the editor agreed.
    pub(crate) fn set_encoding(&mut self, encoding: Encoding) {
        self.encoding = encoding;
    }

    /// Takes note of a notification; those that are about no document's text change nothing.
    pub(crate) fn notice(&mut self, method: &str, params: &RawValue) {
        let noticed = match method {
            "textDocument/didOpen" => serde_json::from_str(params.get()).map(|it| self.opened(it)),
            "textDocument/didChange" => {
                serde_json::from_str(params.get()).map(|it| self.changed(it))
            }
            "textDocument/didClose" => serde_json::from_str(params.get()).map(|it: CloseParams| {
                self.open.remove(&it.text_document.uri);
            }),
            _ => return,
        };
        if let Err(error) = noticed {
            tracing::warn!(method, %error, "a document notification could not be read");
        }
    }

    fn opened(&mut self, params: OpenParams) {
        let item = params.text_document;
        self.open.insert(
            item.uri,
            Document {
                language_id: item.language_id,
                version: item.version,
                text: Rope::from_str(&item.text),
            },
        );
    }

    fn changed(&mut self, params: ChangeParams) {
        let Some(document) = self.open.get_mut(&params.text_document.uri) else {
            tracing::warn!("a change came for a document that is not open");
            return;
        };
        if let Some(version) = params.text_document.version {
            document.version = version;
        }
        for change in params.content_changes {
            apply(&mut document.text, change, self.encoding);
        }
    }

    /// A `didOpen` for each document as it stands.
    pub(crate) fn replay(&self) -> impl Iterator<Item = Vec<u8>> {
        self.open.iter().map(|(uri, document)| {
            let params = json!({
                "textDocument": {
                    "uri": uri,
                    "languageId": document.language_id,
                    "version": document.version,
                    "text": document.text.to_string(),
                }
            });
            // Plain JSON always serializes.
            crate::wire::call(None, "textDocument/didOpen", &params).unwrap_or_default()
        })
    }
}

fn apply(text: &mut Rope, change: Change, encoding: Encoding) {
    let Some(range) = change.range else {
        *text = Rope::from_str(&change.text);
        return;
    };
    let start = text.byte_to_char(to_byte(text, range.start, encoding));
    let end = text
        .byte_to_char(to_byte(text, range.end, encoding))
        .max(start);
    text.remove(start..end);
    text.insert(start, &change.text);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use serde_json::Value;

    fn notice(documents: &mut Documents, method: &str, params: Value) {
        let raw = RawValue::from_string(params.to_string()).unwrap();
        documents.notice(method, &raw);
    }

    fn replayed(documents: &Documents) -> Vec<Value> {
        documents
            .replay()
            .map(|body| {
                serde_json::from_slice::<Value>(&body).unwrap()["params"]["textDocument"].clone()
            })
            .collect()
    }

    fn change(range: [u32; 4], text: &str) -> Value {
        json!({
            "textDocument": {"uri": "file:///a", "version": 3},
            "contentChanges": [{
                "range": {
                    "start": {"line": range[0], "character": range[1]},
                    "end": {"line": range[2], "character": range[3]},
                },
                "text": text,
            }],
        })
    }

    #[test]
    fn replays_the_text_after_all_changes_in_each_encoding() {
        for (encoding, column) in [
            (Encoding::Utf8, 5),
            (Encoding::Utf16, 3),
            (Encoding::Utf32, 2),
        ] {
            let mut documents = Documents::default();
            documents.set_encoding(encoding);
            let open = json!({"textDocument": {
                "uri": "file:///a", "languageId": "text", "version": 1, "text": "a\u{1F980}b\r\nc"
            }});
            notice(&mut documents, "textDocument/didOpen", open);
            notice(
                &mut documents,
                "textDocument/didChange",
                change([0, column, 0, column], "X"),
            );
            notice(
                &mut documents,
                "textDocument/didChange",
                change([1, 0, 9, 9], "end"),
            );
            let expected = json!({
                "uri": "file:///a", "languageId": "text", "version": 3,
                "text": "a\u{1F980}Xb\r\nend",
            });
            assert_eq!(replayed(&documents), [expected], "{encoding:?}");
        }
    }

    #[test]
    fn a_whole_text_change_replaces_and_a_close_forgets() {
        let mut documents = Documents::default();
        let open =
            json!({"textDocument": {"uri": "u", "languageId": "", "version": 0, "text": "x"}});
        notice(&mut documents, "textDocument/didOpen", open);
        notice(
            &mut documents,
            "textDocument/didChange",
            json!({"textDocument": {"uri": "u", "version": 1}, "contentChanges": [{"text": "y"}]}),
        );
        assert_eq!(replayed(&documents)[0]["text"], "y");
        notice(
            &mut documents,
            "textDocument/didClose",
            json!({"textDocument": {"uri": "u"}}),
        );
        assert!(replayed(&documents).is_empty());
    }

    #[test]
    fn nonsense_changes_nothing() {
        let mut documents = Documents::default();
        notice(
            &mut documents,
            "textDocument/didOpen",
            json!({"textDocument": 1}),
        );
        notice(
            &mut documents,
            "textDocument/didChange",
            change([0, 0, 0, 0], "x"),
        );
        assert!(replayed(&documents).is_empty());
    }
}
