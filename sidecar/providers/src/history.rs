//! Repairs a conversation before it is sent.
//!
//! A turn that was cancelled, or a crash, leaves calls without results; every vendor refuses the
//! next request then, for good. So each call gets a result directly after its message, results
//! without a call are dropped, and what is blank is left out. Ids and names become ones that the
//! vendor accepts.

mod wire;

use std::collections::{HashMap, HashSet};

use crate::{AssistantPart, Message};

pub(crate) use wire::{WireIds, arguments_object, arguments_text, wire_name};

/// What a call is told that never got its result.
pub const INTERRUPTED: &str = "interrupted by the user";

/// What stands for a result that is empty, which some vendors refuse.
pub const NO_OUTPUT: &str = "(no output)";

/// Returns `messages` in a form that vendors accept.
///
/// Results come directly after the message that made the calls, in the order of the calls, one
/// each; a missing one becomes [`INTERRUPTED`]. Cost: linear.
pub fn repaired(messages: &[Message]) -> Vec<Message> {
    let mut results: HashMap<&str, &Message> = HashMap::new();
    for message in messages {
        if let Message::ToolResult { call_id, .. } = message {
            results.entry(call_id).or_insert(message);
        }
    }
    let mut answered = HashSet::new();
    let mut out = Vec::with_capacity(messages.len());
    for message in messages {
        match message {
            Message::ToolResult { .. } => {}
            Message::User { text } | Message::Note { text } => {
                if !text.trim().is_empty() {
                    out.push(message.clone());
                }
            }
            Message::Assistant { parts } => {
                let parts = kept_parts(parts, &mut answered);
                let calls: Vec<_> = parts
                    .iter()
                    .filter_map(|part| match part {
                        AssistantPart::ToolCall(call) => Some((call.id.clone(), call.name.clone())),
                        AssistantPart::Text(_)
                        | AssistantPart::Reasoning { .. }
                        | AssistantPart::Opaque(_) => None,
                    })
                    .collect();
                if parts.is_empty() {
                    continue;
                }
                out.push(Message::Assistant { parts });
                for (id, name) in calls {
                    out.push(result_for(results.get(id.as_str()).copied(), id, name));
                }
            }
        }
    }
    out
}

/// Drops blank text, and a second call of an id that was already made: it cannot be answered apart.
fn kept_parts(parts: &[AssistantPart], seen: &mut HashSet<String>) -> Vec<AssistantPart> {
    parts
        .iter()
        .filter(|part| match part {
            AssistantPart::Text(text) => !text.trim().is_empty(),
            AssistantPart::Reasoning { text, replay } => {
                replay.is_some() || !text.trim().is_empty()
            }
            AssistantPart::ToolCall(call) => seen.insert(call.id.clone()),
            AssistantPart::Opaque(_) => true,
        })
        .cloned()
        .collect()
}

fn result_for(found: Option<&Message>, call_id: String, name: String) -> Message {
    match found {
        Some(Message::ToolResult {
            content, is_error, ..
        }) => {
            let content = if content.trim().is_empty() {
                NO_OUTPUT.to_owned()
            } else {
                content.clone()
            };
            Message::ToolResult {
                call_id,
                name,
                content,
                is_error: *is_error,
            }
        }
        _ => Message::ToolResult {
            call_id,
            name,
            content: INTERRUPTED.to_owned(),
            is_error: true,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arguments, ToolCall};

    fn call(id: &str) -> AssistantPart {
        AssistantPart::ToolCall(ToolCall {
            id: id.to_owned(),
            wire_id: None,
            name: "ls".to_owned(),
            arguments: Arguments::parse(""),
        })
    }

    fn result(id: &str, content: &str) -> Message {
        Message::ToolResult {
            call_id: id.to_owned(),
            name: "ls".to_owned(),
            content: content.to_owned(),
            is_error: false,
        }
    }

    fn user(text: &str) -> Message {
        Message::User {
            text: text.to_owned(),
        }
    }

    #[test]
    fn every_call_has_one_result_directly_after_it() {
        let messages = [
            user("go"),
            result("orphan", "x"),
            Message::Assistant {
                parts: vec![AssistantPart::Text(" ".to_owned()), call("a"), call("b")],
            },
            user("next"),
            result("b", ""),
            result("b", "again"),
            Message::Assistant {
                parts: vec![AssistantPart::Text("\n".to_owned())],
            },
            user("  "),
        ];
        let mut interrupted = result("a", INTERRUPTED);
        if let Message::ToolResult { is_error, .. } = &mut interrupted {
            *is_error = true;
        }
        let expected = vec![
            user("go"),
            Message::Assistant {
                parts: vec![call("a"), call("b")],
            },
            interrupted,
            result("b", NO_OUTPUT),
            user("next"),
        ];
        assert_eq!(repaired(&messages), expected);
    }

    #[test]
    fn repairing_twice_changes_nothing() {
        let messages = [
            user("go"),
            Message::Assistant {
                parts: vec![call("a"), call("a")],
            },
            result("a", "ok"),
        ];
        let once = repaired(&messages);
        assert_eq!(repaired(&once), once);
    }
}
