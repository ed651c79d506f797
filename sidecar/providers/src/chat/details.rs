//! What vendors behind this API want back and the API itself has no word for.
//!
//! OpenRouter streams `reasoning_details`, pieces of blocks that hold signatures and encrypted thoughts, and wants
//! the whole blocks back beside the answer. Gemini puts a thought signature into the `extra_content` of a call, and
//! refuses the next request when it is missing. Both are kept as opaque blocks, and sent to this API alone.

use serde_json::{Map, Value, json};

use crate::{Event, OpaqueBlock};

const REASONING: &str = "reasoning_details";
const EXTRA: &str = "extra_content";
const CALL: &str = "call";

/// Fields of a block whose pieces are joined; of all others the last that says something counts.
const TEXTS: [&str; 3] = ["text", "summary", "data"];

/// The reasoning blocks of one answer, as far as they arrived.
#[derive(Debug, Default)]
pub(super) struct ReasoningDetails {
    blocks: Vec<Map<String, Value>>,
}

impl ReasoningDetails {
    /// Takes in the pieces of one chunk. A piece of the same kind and index goes on with the last block.
    pub(super) fn push(&mut self, pieces: Vec<Value>) {
        for piece in pieces {
            let Value::Object(piece) = piece else {
                continue;
            };
            match self.blocks.last_mut().filter(|last| is_more(last, &piece)) {
                Some(last) => join(last, piece),
                None => self.blocks.push(piece),
            }
        }
    }

    /// The block that is kept, unless there was nothing.
    pub(super) fn finish(self) -> Option<Event> {
        (!self.blocks.is_empty()).then(|| opaque(json!({ REASONING: self.blocks })))
    }
}

fn is_more(last: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    let same = |key: &str| last.get(key) == piece.get(key);
    // An encrypted block comes whole.
    let is_text = piece.get("type").and_then(Value::as_str) != Some("reasoning.encrypted");
    is_text && same("type") && same("index")
}

fn join(block: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, value) in piece {
        match (block.get_mut(&key), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) if TEXTS.contains(&key.as_str()) => {
                text.push_str(&more);
            }
            (_, value) => {
                block.insert(key, value);
            }
        }
    }
}

/// What came with a call, `id` as the conversation knows it.
pub(super) fn extra_of_call(id: &str, extra: Value) -> Event {
    opaque(json!({ CALL: id, EXTRA: extra }))
}

fn opaque(block: Value) -> Event {
    Event::Opaque(OpaqueBlock {
        api: super::NAME.to_owned(),
        block,
    })
}

/// What an answer is sent back with.
#[derive(Debug, Default)]
pub(super) struct Returned<'a> {
    reasoning: Vec<&'a Value>,
    extra: Vec<(&'a str, &'a Value)>,
}

impl<'a> Returned<'a> {
    /// Takes in a kept block; those of other APIs are left out.
    pub(super) fn push(&mut self, opaque: &'a OpaqueBlock) {
        if opaque.api != super::NAME {
            return;
        }
        let block = &opaque.block;
        let reasoning = block.get(REASONING).and_then(Value::as_array);
        self.reasoning.extend(reasoning.into_iter().flatten());
        if let (Some(call), Some(extra)) =
            (block.get(CALL).and_then(Value::as_str), block.get(EXTRA))
        {
            self.extra.push((call, extra));
        }
    }

    /// Puts what came with the call `id` into its wire form.
    pub(super) fn add_to_call(&self, id: &str, call: &mut Value) {
        let own = self.extra.iter().find(|(call, _)| *call == id);
        if let Some((_, extra)) = own {
            call[EXTRA] = (*extra).clone();
        }
    }

    /// Puts the reasoning blocks beside the answer.
    pub(super) fn add_to_message(&self, message: &mut Value) {
        if !self.reasoning.is_empty() {
            message[REASONING] = json!(self.reasoning);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn pieces_of_a_block_are_joined_and_blocks_kept_apart() {
        let mut details = ReasoningDetails::default();
        let pieces = [
            json!([{"type": "reasoning.text", "text": "I ", "index": 0, "format": "anthropic-claude-v1"}]),
            json!([{"type": "reasoning.text", "text": "think", "index": 0, "signature": null}]),
            json!([{"type": "reasoning.text", "signature": "c2ln", "index": 0}, 7]),
            json!([{"type": "reasoning.encrypted", "data": "AA", "index": 1}]),
            json!([{"type": "reasoning.encrypted", "data": "BB", "index": 1}]),
        ];
        for chunk in pieces {
            let Value::Array(chunk) = chunk else { continue };
            details.push(chunk);
        }
        let Some(Event::Opaque(block)) = details.finish() else {
            panic!("nothing was kept");
        };
        assert_eq!(
            block.block,
            json!({"reasoning_details": [
                {"type": "reasoning.text", "text": "I think", "index": 0,
                 "format": "anthropic-claude-v1", "signature": "c2ln"},
                {"type": "reasoning.encrypted", "data": "AA", "index": 1},
                {"type": "reasoning.encrypted", "data": "BB", "index": 1},
            ]})
        );
        assert_eq!(ReasoningDetails::default().finish(), None);
    }

    #[test]
    fn blocks_of_another_api_are_not_sent() {
        let block = OpaqueBlock {
            api: "anthropic".to_owned(),
            block: json!({"reasoning_details": [{"type": "x"}]}),
        };
        let mut returned = Returned::default();
        returned.push(&block);
        let mut message = json!({});
        returned.add_to_message(&mut message);
        assert_eq!(message, json!({}));
    }
}
