//! How many tokens a request holds.

use crate::{AssistantPart, ChatRequest, Message};

/// Bytes of text to a token, as a lower bound over the vocabularies and languages that were measured:
/// English and code lie between 3.6 and 3.8, other scripts below 3.
const BYTES_PER_TOKEN: u64 = 4;

/// Estimates the prompt of a request in tokens; rather too low than too high.
pub fn estimate(request: &ChatRequest) -> u64 {
    let len = |text: &str| text.len() as u64;
    let messages = request.messages.iter().map(|message| match message {
        Message::User { text } | Message::Note { text } => len(text),
        Message::ToolResult { name, content, .. } => len(name) + len(content),
        Message::Assistant { parts } => parts.iter().map(part_bytes).sum(),
    });
    let tools = request
        .tools
        .iter()
        .map(|tool| len(&tool.name) + len(&tool.description) + len(&tool.parameters.to_string()));
    let bytes = len(&request.system) + messages.sum::<u64>() + tools.sum::<u64>();
    bytes / BYTES_PER_TOKEN
}

/// Reasoning is left out: whether it is part of a later prompt differs by model.
fn part_bytes(part: &AssistantPart) -> u64 {
    match part {
        AssistantPart::Text(text) => text.len() as u64,
        AssistantPart::ToolCall(call) => {
            let arguments = crate::history::arguments_text(&call.arguments);
            (call.name.len() + arguments.len()) as u64
        }
        AssistantPart::Reasoning { .. } | AssistantPart::Opaque(_) => 0,
    }
}
