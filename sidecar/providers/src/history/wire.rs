//! Ids, names and arguments of calls as vendors accept them when they are sent back.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use crate::{Arguments, AssistantPart, Message, ToolCall};

/// Longest name that vendors accept, and longest call id, in bytes.
const MAX_LEN: usize = 64;

/// What a model is shown again of arguments that were not usable, in characters.
const MAX_INVALID: usize = 2000;

/// From a call's id to the one it is sent back under.
#[derive(Debug, Default)]
pub(crate) struct WireIds(HashMap<String, String>);

impl WireIds {
    /// The server's own ids, where they tell the calls of one answer apart; some servers check their
    /// form, and none compares them across answers.
    pub(crate) fn of_each_answer(messages: &[Message]) -> Self {
        let mut ids = HashMap::new();
        for message in messages {
            let mut used = HashSet::new();
            for call in calls(message) {
                let own = call.wire_id.clone().filter(|id| !id.is_empty());
                let id = own
                    .filter(|id| !used.contains(id))
                    .unwrap_or_else(|| call.id.clone());
                used.insert(id.clone());
                ids.insert(call.id.clone(), id);
            }
        }
        Self(ids)
    }

    /// Ids of letters, digits, `_` and `-` only, each once in the whole conversation.
    pub(crate) fn of_conversation(messages: &[Message]) -> Self {
        let mut ids = HashMap::new();
        let mut used = HashSet::new();
        for call in messages.iter().flat_map(calls) {
            let plain = plain(&call.id, "call");
            let mut id = plain.clone();
            let mut number = 2u64;
            while !used.insert(id.clone()) {
                let suffix = format!("_{number}");
                let room = plain.len().min(MAX_LEN - suffix.len());
                id = format!("{}{suffix}", &plain[..room]);
                number += 1;
            }
            ids.insert(call.id.clone(), id);
        }
        Self(ids)
    }

    /// The id that the call `id` is sent under.
    pub(crate) fn get<'a>(&'a self, id: &'a str) -> &'a str {
        self.0.get(id).map_or(id, String::as_str)
    }
}

fn calls(message: &Message) -> impl Iterator<Item = &ToolCall> {
    let parts = match message {
        Message::Assistant { parts } => parts.as_slice(),
        Message::User { .. } | Message::Note { .. } | Message::ToolResult { .. } => &[],
    };
    parts.iter().filter_map(|part| match part {
        AssistantPart::ToolCall(call) => Some(call),
        AssistantPart::Text(_) | AssistantPart::Reasoning { .. } | AssistantPart::Opaque(_) => None,
    })
}

/// A tool's name as vendors accept it. A name that the model made up must not make every further
/// request fail.
pub(crate) fn wire_name(name: &str) -> String {
    plain(name, "unknown")
}

/// `text` in ASCII letters, digits, `_` and `-`, of at most [`MAX_LEN`]; `fallback` when it is empty.
fn plain(text: &str, fallback: &str) -> String {
    let plain: String = text
        .chars()
        .take(MAX_LEN)
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
            _ => '_',
        })
        .collect();
    if plain.is_empty() {
        fallback.to_owned()
    } else {
        plain
    }
}

/// A call's arguments as an object. Vendors accept nothing else, so what was no object is wrapped.
pub(crate) fn arguments_object(arguments: &Arguments) -> Map<String, Value> {
    let wrap = |key: &str, text: &str| {
        let shown: String = text.chars().take(MAX_INVALID).collect();
        Map::from_iter([(key.to_owned(), json!(shown))])
    };
    match arguments {
        Arguments::Json(map) => map.clone(),
        Arguments::Freeform(text) => Map::from_iter([("input".to_owned(), json!(text))]),
        Arguments::Invalid { raw, .. } => wrap("invalid_arguments", raw),
    }
}

/// [`arguments_object`] as JSON text.
pub(crate) fn arguments_text(arguments: &Arguments) -> String {
    Value::Object(arguments_object(arguments)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(ids: &[(&str, &str)]) -> Message {
        let call = |(id, wire_id): &(&str, &str)| {
            AssistantPart::ToolCall(ToolCall {
                id: (*id).to_owned(),
                wire_id: Some((*wire_id).to_owned()),
                name: "ls".to_owned(),
                arguments: Arguments::parse(""),
            })
        };
        Message::Assistant {
            parts: ids.iter().map(call).collect(),
        }
    }

    #[test]
    fn the_servers_own_ids_go_back_where_they_tell_calls_apart() {
        let messages = [
            answer(&[("a", "a"), ("a#2", "a"), ("call_3", "")]),
            answer(&[("a#3", "a")]),
        ];
        let ids = WireIds::of_each_answer(&messages);
        let sent = ["a", "a#2", "call_3", "a#3"].map(|id| ids.get(id));
        assert_eq!(sent, ["a", "a#2", "call_3", "a"]);
    }

    #[test]
    fn ids_of_a_conversation_are_plain_and_differ() {
        let long = "x".repeat(80);
        let messages = [answer(&[
            ("functions.ls:0", ""),
            ("functions.ls:0#2", ""),
            ("functions_ls_0", ""),
            ("", ""),
            (&long, ""),
            (&format!("{long}y"), ""),
        ])];
        let ids = WireIds::of_conversation(&messages);
        let sent: HashSet<&str> = messages
            .iter()
            .flat_map(calls)
            .map(|call| ids.get(&call.id))
            .collect();
        assert_eq!(sent.len(), 6);
        for id in sent {
            assert!((1..=64).contains(&id.len()), "{id}");
            assert!(
                id.bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)),
                "{id}"
            );
        }
        assert_eq!(ids.get("functions.ls:0"), "functions_ls_0");
    }

    #[test]
    fn made_up_names_become_ones_that_vendors_accept() {
        assert_eq!(wire_name("functions.read file"), "functions_read_file");
        assert_eq!(wire_name(""), "unknown");
        assert_eq!(wire_name("workspace_read"), "workspace_read");
    }
}
