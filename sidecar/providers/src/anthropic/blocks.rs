//! The content blocks of one answer: several may be open at once, each known by its index.
//!
//! What a block is replayed as is what its start said, with what its deltas told put in: the vendor
//! wants it back unchanged.

use serde_json::{Map, Value, json};

use super::wire::Delta;
use crate::draft::Draft;
use crate::{Arguments, Event, OpaqueBlock, ReasoningKind, ToolCall};

/// The open blocks of one answer.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    open: Vec<Block>,
    /// A call whose arguments were blank at its stop. What comes next tells whether it has none, or
    /// was cut before the first.
    blank: Option<Call>,
    n_calls: usize,
}

#[derive(Debug)]
struct Block {
    index: Option<i64>,
    start: Map<String, Value>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    Redacted,
    Call(Call),
    /// A block of another type; whole unless a delta came that is not understood.
    Other {
        input: String,
        is_whole: bool,
    },
}

#[derive(Debug)]
struct Call {
    id: String,
    wire_id: Option<String>,
    name: String,
    arguments: String,
}

impl Blocks {
    /// A block begins.
    pub(super) fn start(
        &mut self,
        index: Option<i64>,
        block: Map<String, Value>,
        draft: &mut Draft,
        out: &mut Vec<Event>,
    ) {
        self.settle_blank(false, draft, out);
        let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
        let kind = match text("type") {
            "text" => {
                draft.text(text("text").to_owned(), out);
                Kind::Text
            }
            "thinking" => {
                let thinking = text("thinking").to_owned();
                draft.reasoning(ReasoningKind::Summary, thinking.clone(), None, out);
                Kind::Thinking {
                    text: thinking,
                    signature: text("signature").to_owned(),
                }
            }
            "redacted_thinking" => Kind::Redacted,
            "tool_use" => {
                self.n_calls += 1;
                let wire_id = Some(text("id").to_owned()).filter(|id| !id.is_empty());
                let wanted = wire_id.clone();
                let wanted = wanted.unwrap_or_else(|| format!("call_{}", self.n_calls));
                let call = Call {
                    id: draft.ids.unique(wanted),
                    wire_id,
                    name: text("name").to_owned(),
                    arguments: String::new(),
                };
                draft.call_started(&call.id, &call.name, out);
                Kind::Call(call)
            }
            _ => Kind::Other {
                input: String::new(),
                is_whole: true,
            },
        };
        self.open.push(Block {
            index,
            start: block,
            kind,
        });
    }

    /// A piece of a block.
    pub(super) fn delta(
        &mut self,
        index: Option<i64>,
        delta: Delta,
        draft: &mut Draft,
        out: &mut Vec<Event>,
    ) {
        let at = self.find(index);
        let block = at.map(|at| &mut self.open[at]);
        match delta.kind.as_deref() {
            Some("text_delta") => draft.text(delta.text.unwrap_or_default(), out),
            Some("thinking_delta") => {
                let piece = delta.thinking.unwrap_or_default();
                if let Some(Kind::Thinking { text, .. }) = block.map(|block| &mut block.kind) {
                    text.push_str(&piece);
                }
                draft.reasoning(ReasoningKind::Summary, piece, None, out);
            }
            Some("signature_delta") => {
                if let Some(Kind::Thinking { signature, .. }) = block.map(|block| &mut block.kind) {
                    signature.push_str(&delta.signature.unwrap_or_default());
                }
            }
            Some("input_json_delta") => {
                let piece = delta.partial_json.unwrap_or_default();
                match block.map(|block| &mut block.kind) {
                    Some(Kind::Call(call)) if !piece.is_empty() => {
                        call.arguments.push_str(&piece);
                        out.push(Event::ToolCallDelta {
                            id: call.id.clone(),
                            fragment: piece,
                        });
                    }
                    Some(Kind::Other { input, .. }) => input.push_str(&piece),
                    _ => {}
                }
            }
            _ => {
                if let Some(Kind::Other { is_whole, .. }) = block.map(|block| &mut block.kind) {
                    *is_whole = false;
                }
            }
        }
    }

    /// A block is whole.
    pub(super) fn stop(&mut self, index: Option<i64>, draft: &mut Draft, out: &mut Vec<Event>) {
        if let Some(at) = self.find(index) {
            let block = self.open.remove(at);
            self.close(block, draft, out);
        }
    }

    /// The answer is whole: so is what is still open. When its limit cut it, the last call may have
    /// been cut before its first argument.
    pub(super) fn finish(&mut self, cut: bool, draft: &mut Draft, out: &mut Vec<Event>) {
        for block in std::mem::take(&mut self.open) {
            self.close(block, draft, out);
        }
        self.settle_blank(cut, draft, out);
    }

    /// Whether a call has begun that is not whole.
    pub(super) fn is_inside_call(&self) -> bool {
        let is_call = |block: &Block| matches!(block.kind, Kind::Call(_));
        self.blank.is_some() || self.open.iter().any(is_call)
    }

    /// The open block of an index; without one, the newest.
    fn find(&self, index: Option<i64>) -> Option<usize> {
        match index {
            Some(_) => self.open.iter().rposition(|block| block.index == index),
            None => self.open.len().checked_sub(1),
        }
    }

    fn close(&mut self, block: Block, draft: &mut Draft, out: &mut Vec<Event>) {
        let mut start = block.start;
        match block.kind {
            Kind::Text => {}
            Kind::Thinking { text, signature } => {
                // Unsigned thinking is not taken back.
                if !signature.is_empty() {
                    start.insert("thinking".to_owned(), json!(text));
                    start.insert("signature".to_owned(), json!(signature));
                    let replay = Some(Value::Object(start));
                    draft.reasoning(ReasoningKind::Summary, String::new(), replay, out);
                }
            }
            Kind::Redacted => {
                let replay = Some(Value::Object(start));
                draft.reasoning(ReasoningKind::Redacted, String::new(), replay, out);
            }
            Kind::Call(mut call) => {
                // Some servers send the whole input at the start and no deltas.
                if call.arguments.is_empty()
                    && let Some(Value::Object(input)) = start.remove("input")
                    && !input.is_empty()
                {
                    call.arguments = Value::Object(input).to_string();
                    out.push(Event::ToolCallDelta {
                        id: call.id.clone(),
                        fragment: call.arguments.clone(),
                    });
                }
                self.settle_blank(false, draft, out);
                if call.arguments.trim().is_empty() {
                    self.blank = Some(call);
                } else {
                    call.ready(false, draft, out);
                }
            }
            Kind::Other { input, is_whole } => {
                let input = match input.trim() {
                    "" => Some(None),
                    text => serde_json::from_str::<Value>(text).ok().map(Some),
                };
                if let Some(input) = input
                    && is_whole
                {
                    if let Some(input) = input {
                        start.insert("input".to_owned(), input);
                    }
                    out.push(Event::Opaque(OpaqueBlock {
                        api: super::NAME.to_owned(),
                        block: Value::Object(start),
                    }));
                }
            }
        }
    }

    fn settle_blank(&mut self, cut: bool, draft: &mut Draft, out: &mut Vec<Event>) {
        if let Some(call) = self.blank.take() {
            call.ready(cut, draft, out);
        }
    }
}

impl Call {
    fn ready(self, cut: bool, draft: &mut Draft, out: &mut Vec<Event>) {
        let arguments = if cut {
            Arguments::parse_cut(&self.arguments)
        } else {
            Arguments::parse(&self.arguments)
        };
        let call = ToolCall {
            id: self.id,
            wire_id: self.wire_id,
            name: self.name,
            arguments,
        };
        draft.call_ready(call, out);
    }
}
