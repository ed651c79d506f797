//! What counts as the same.
//!
//! Everything a vendor sent must come through to the letter. What we word or make up ourselves, an error's sentence or a
//! call's id where the server sent none, is a matter of style: with [`Wording::Free`] it has only to be there, and an id to
//! be unique. Which of the two it is, the body tells: what is ours does not stand in it.

use std::collections::HashSet;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Whether our own words must be the fixture's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wording {
    Exact,
    Free,
}

/// Says the first difference, if there is one.
pub(super) fn difference(
    wanted: &[Value],
    got: &[Value],
    body: &[u8],
    wording: Wording,
) -> Option<String> {
    let body = Body::new(body);
    for (at, want) in wanted.iter().enumerate() {
        let same = got
            .get(at)
            .is_some_and(|got| is_same(want, got, &body, wording));
        if !same {
            let got = got.get(at).map_or_else(|| "nothing".to_owned(), shown);
            return Some(format!(
                "event {}: wanted {}, got {got}",
                at + 1,
                shown(want)
            ));
        }
    }
    if let Some(more) = got.get(wanted.len()) {
        return Some(format!(
            "{} too many: {}",
            got.len() - wanted.len(),
            shown(more)
        ));
    }
    let mut ids = HashSet::new();
    let twice = got
        .iter()
        .filter_map(|event| event["id"].as_str())
        .find(|id| !ids.insert(*id));
    twice.map(|id| format!("the id {id} stands for two calls"))
}

fn is_same(want: &Value, got: &Value, body: &Body, wording: Wording) -> bool {
    let (Some(want), Some(got)) = (want.as_object(), got.as_object()) else {
        return want == got;
    };
    let known = |key: &String| !matches!(key.as_str(), "text_len" | "text_sha256");
    let described = want.contains_key("text_len") || want.contains_key("text_sha256");
    let expected = |key: &String| want.contains_key(key) || (described && key == "text");
    if !got.keys().all(expected) {
        return false;
    }
    if described && !text_is(want, got.get("text")) {
        return false;
    }
    want.iter()
        .filter(|(key, _)| known(key))
        .all(|(key, want)| {
            let Some(got) = got.get(key) else {
                return false;
            };
            let ours = |text| match key.as_str() {
                "message" => body.lacks_words(text),
                "id" => body.lacks_string(text),
                _ => false,
            };
            want == got || (wording == Wording::Free && ours(want) && ours(got))
        })
}

/// Whether a text that the fixture only describes is the one.
fn text_is(want: &serde_json::Map<String, Value>, text: Option<&Value>) -> bool {
    let text = text.and_then(Value::as_str).unwrap_or_default();
    let len_is = want.get("text_len").is_none_or(|len| *len == text.len());
    let sum = || {
        let digest = Sha256::digest(text.as_bytes());
        digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let sum_is = want
        .get("text_sha256")
        .is_none_or(|wanted| *wanted == sum());
    len_is && sum_is
}

/// A body, to look for words in.
struct Body(String);

impl Body {
    fn new(bytes: &[u8]) -> Self {
        Self(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Whether a sentence does not stand in the body, plain or as JSON writes it.
    fn lacks_words(&self, text: &Value) -> bool {
        let Some(plain) = text.as_str().filter(|text| !text.is_empty()) else {
            return false;
        };
        let written = text.to_string();
        !self.0.contains(plain) && !self.0.contains(written.trim_matches('"'))
    }

    /// Whether no string of the body's JSON is this one.
    fn lacks_string(&self, text: &Value) -> bool {
        text.as_str().is_some_and(|text| !text.is_empty()) && !self.0.contains(&text.to_string())
    }
}

fn shown(event: &Value) -> String {
    let text = event.to_string();
    match text.char_indices().nth(400) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn the_vendors_words_are_compared_and_ours_are_free() {
        let body = br#"{"error":{"message":"Over\nloaded"},"id":"call_x"}"#;
        let error = |message: &str| json!({"event": "error", "message": message});
        let same = |want: &Value, got: &Value, wording| {
            difference(
                std::slice::from_ref(want),
                std::slice::from_ref(got),
                body,
                wording,
            )
            .is_none()
        };
        let free = Wording::Free;
        assert!(same(&error("Over\nloaded"), &error("Over\nloaded"), free));
        assert!(!same(&error("busy"), &error("Over\nloaded"), free));
        assert!(!same(&error("Over\nloaded"), &error("busy"), free));
        assert!(same(&error("stream ended"), &error("it broke off"), free));
        assert!(!same(
            &error("stream ended"),
            &error("it broke off"),
            Wording::Exact
        ));
        assert!(!same(&error("stream ended"), &error(""), free));
        let call = |id: &str| json!({"event": "tool-call", "id": id, "name": "ls"});
        assert!(same(&call("a"), &call("b"), free));
        assert!(!same(&call("call_x"), &call("b"), free));
        assert!(!same(
            &json!({"event": "text", "text": "a"}),
            &json!({"event": "text", "text": "b"}),
            free
        ));
        let twice = [call("a"), call("a")];
        assert!(
            difference(&twice, &twice, body, free)
                .unwrap()
                .contains("two calls")
        );
    }

    #[test]
    fn fields_that_are_missing_or_too_many_differ() {
        let want = [json!({"event": "stop", "reason": "end"})];
        let more = [json!({"event": "stop", "reason": "end", "partial": true})];
        assert!(difference(&want, &more, b"", Wording::Free).is_some());
        assert!(difference(&more, &want, b"", Wording::Free).is_some());
        assert!(difference(&want, &[], b"", Wording::Free).is_some());
        assert!(difference(&[], &want, b"", Wording::Free).is_some());
    }

    #[test]
    fn a_text_may_be_described_by_length_and_sum() {
        let sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let want = [json!({"event": "text", "text_len": 3, "text_sha256": sum})];
        let text = |text: &str| [json!({"event": "text", "text": text})];
        assert!(difference(&want, &text("abc"), b"", Wording::Exact).is_none());
        assert!(difference(&want, &text("abd"), b"", Wording::Exact).is_some());
    }
}
