//! The output items of one answer: several may be open at once.
//!
//! An event names its item by id, which some servers leave out and others change with each event, or
//! by place, which others leave out; llama.cpp's id may be the item's `call_id`. An item that was never
//! announced begins with its first event. The last word on an item is its `done`; what was shown before
//! is not shown again.

use serde_json::{Map, Value, json};

use super::call::{Call, Form};
use super::wire::{parts, text};
use crate::draft::Draft;
use crate::{Event, OpaqueBlock, ReasoningKind};

/// How an event names its item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) id: Option<&'a str>,
    /// Of a whole item, which has both.
    pub(super) call_id: Option<&'a str>,
    pub(super) place: Option<i64>,
}

/// The items of one answer.
#[derive(Debug, Default)]
pub(super) struct Items {
    open: Vec<Item>,
    n_seen: usize,
}

#[derive(Debug)]
struct Item {
    id: Option<String>,
    call_id: Option<String>,
    place: Option<i64>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Message {
        /// Text of it was shown.
        shown: bool,
        refused: bool,
    },
    Reasoning {
        kind: ReasoningKind,
        shown: bool,
        part: Option<i64>,
    },
    Call(Call),
    Other,
}

impl Items {
    /// Whether no item was ever seen.
    pub(super) fn none_seen(&self) -> bool {
        self.n_seen == 0
    }

    /// Whether a call has begun that is not whole.
    pub(super) fn is_inside_call(&self) -> bool {
        let is_call = |item: &Item| matches!(item.kind, Kind::Call(_));
        self.open.iter().any(is_call)
    }

    /// An item begins.
    pub(super) fn added(
        &mut self,
        item: &Map<String, Value>,
        place: Option<i64>,
        draft: &mut Draft,
        out: &mut Vec<Event>,
    ) {
        self.n_seen += 1;
        let owned = |key: &str| text(item, key).map(str::to_owned);
        let kind = match text(item, "type").unwrap_or_default() {
            "message" => {
                if let Some(phase) = text(item, "phase") {
                    // Goes back with the text that follows.
                    let block = json!({"type": "message", "phase": phase});
                    out.push(opaque(block));
                }
                Kind::Message {
                    shown: false,
                    refused: false,
                }
            }
            "reasoning" => Kind::Reasoning {
                kind: ReasoningKind::Summary,
                shown: false,
                part: None,
            },
            wire => match Form::of(wire) {
                Some(form) => Kind::Call(Call::started(item, form, self.n_seen, draft, out)),
                None => Kind::Other,
            },
        };
        self.open.push(Item {
            id: owned("id"),
            call_id: owned("call_id"),
            place,
            kind,
        });
    }

    /// A piece of a message's text, or all of it when no piece came before.
    pub(super) fn text(
        &mut self,
        name: Name<'_>,
        piece: String,
        is_all: bool,
        draft: &mut Draft,
        out: &mut Vec<Event>,
    ) {
        let is_message = |kind: &Kind| matches!(kind, Kind::Message { .. });
        let unannounced = || Kind::Message {
            shown: false,
            refused: false,
        };
        if let Kind::Message { shown, .. } = self.kind_or(name, is_message, unannounced) {
            if is_all && *shown {
                return;
            }
            *shown |= !piece.is_empty();
        }
        draft.text(piece, out);
    }

    /// A piece of a refusal, or all of it when no piece came before.
    pub(super) fn refusal(&mut self, name: Name<'_>, piece: &str, is_all: bool, draft: &mut Draft) {
        let is_message = |kind: &Kind| matches!(kind, Kind::Message { .. });
        let unannounced = || Kind::Message {
            shown: false,
            refused: false,
        };
        if let Kind::Message { refused, .. } = self.kind_or(name, is_message, unannounced) {
            if is_all && *refused {
                return;
            }
            *refused |= !piece.is_empty();
        }
        draft.refused(piece);
    }

    /// A piece of reasoning; `part` is its place in the item's summary.
    pub(super) fn reasoning(
        &mut self,
        name: Name<'_>,
        piece: String,
        told: (ReasoningKind, Option<i64>),
        draft: &mut Draft,
        out: &mut Vec<Event>,
    ) {
        let (told_kind, told_part) = told;
        let is_reasoning = |kind: &Kind| matches!(kind, Kind::Reasoning { .. });
        let unannounced = || Kind::Reasoning {
            kind: told_kind,
            shown: false,
            part: None,
        };
        let mut text = piece;
        if let Kind::Reasoning { kind, shown, part } = self.kind_or(name, is_reasoning, unannounced)
        {
            // The parts of a summary are paragraphs.
            if *shown && *part != told_part {
                text.insert_str(0, "\n\n");
            }
            (*kind, *shown, *part) = (told_kind, true, told_part);
        }
        draft.reasoning(told_kind, text, None, out);
    }

    /// A piece of a call's arguments or input.
    pub(super) fn arguments(&mut self, name: Name<'_>, piece: String, out: &mut Vec<Event>) {
        let is_call = |kind: &Kind| matches!(kind, Kind::Call(_));
        if let Some(Kind::Call(call)) = self.kind(name, is_call) {
            call.push(piece, out);
        }
    }

    /// All of a call's arguments or input.
    pub(super) fn all_arguments(&mut self, name: Name<'_>, all: String, out: &mut Vec<Event>) {
        let is_call = |kind: &Kind| matches!(kind, Kind::Call(_));
        if let Some(Kind::Call(call)) = self.kind(name, is_call) {
            call.take_all(all, out);
        }
    }

    /// An item is whole. One that was never added is added first.
    pub(super) fn done(
        &mut self,
        item: Map<String, Value>,
        place: Option<i64>,
        draft: &mut Draft,
        out: &mut Vec<Event>,
    ) {
        let kind = text(&item, "type").unwrap_or_default();
        let name = Name {
            id: text(&item, "id"),
            call_id: text(&item, "call_id"),
            place,
        };
        let at = self.find(name, |open| open.is(kind));
        let at = at.unwrap_or_else(|| {
            self.added(&item, place, draft, out);
            self.open.len() - 1
        });
        let open = self.open.remove(at);
        open.close(item, draft, out);
    }

    /// The answer is whole: so are the calls that are still open, unless its limit cut them.
    pub(super) fn finish(&mut self, cut: bool, draft: &mut Draft, out: &mut Vec<Event>) {
        for item in std::mem::take(&mut self.open) {
            if let Kind::Call(call) = item.kind {
                call.end(cut, draft, out);
            }
        }
    }

    /// The kind of the open item that an event names.
    fn kind(&mut self, name: Name<'_>, fits: impl Fn(&Kind) -> bool) -> Option<&mut Kind> {
        let at = self.find(name, |item| fits(&item.kind))?;
        Some(&mut self.open[at].kind)
    }

    /// The kind of the item that an event names; it begins with this event when it is not open.
    fn kind_or(
        &mut self,
        name: Name<'_>,
        fits: impl Fn(&Kind) -> bool,
        unannounced: impl FnOnce() -> Kind,
    ) -> &mut Kind {
        let at = self.find(name, |item| fits(&item.kind));
        let at = at.unwrap_or_else(|| {
            self.n_seen += 1;
            self.open.push(Item {
                id: name.id.map(str::to_owned),
                call_id: None,
                place: name.place,
                kind: unannounced(),
            });
            self.open.len() - 1
        });
        &mut self.open[at].kind
    }

    /// By id, else by place, else the newest that is not known by another id or place.
    fn find(&self, name: Name<'_>, fits: impl Fn(&Item) -> bool) -> Option<usize> {
        let newest = |is: &dyn Fn(&Item) -> bool| {
            let found = |item: &Item| fits(item) && is(item);
            self.open.iter().rposition(found)
        };
        let ids = [name.id, name.call_id].into_iter().flatten();
        let by_id = ids.filter_map(|id| newest(&|item| item.has_id(id))).next();
        let by_place = || {
            let place = name.place?;
            newest(&|item| item.place == Some(place))
        };
        let unknown = || {
            newest(&|item| {
                (name.id.is_none() || item.id.is_none())
                    && (name.place.is_none() || item.place.is_none())
            })
        };
        by_id.or_else(by_place).or_else(unknown)
    }
}

impl Item {
    fn has_id(&self, id: &str) -> bool {
        [&self.id, &self.call_id]
            .into_iter()
            .any(|own| own.as_deref() == Some(id))
    }

    /// Whether it is of this wire type.
    fn is(&self, wire: &str) -> bool {
        match &self.kind {
            Kind::Message { .. } => wire == "message",
            Kind::Reasoning { .. } => wire == "reasoning",
            Kind::Call(call) => wire == call.wire(),
            Kind::Other => true,
        }
    }

    fn close(self, item: Map<String, Value>, draft: &mut Draft, out: &mut Vec<Event>) {
        let encrypted = text(&item, "encrypted_content").is_some();
        match self.kind {
            Kind::Message { shown, refused } => {
                for (kind, part) in parts(&item, "content") {
                    if kind == "refusal" && !refused {
                        draft.refused(text(part, "refusal").unwrap_or_default());
                    } else if kind != "refusal" && !shown {
                        draft.text(text(part, "text").unwrap_or_default().to_owned(), out);
                    }
                }
            }
            Kind::Reasoning { kind, shown, .. } => {
                let mut kind = kind;
                if !shown {
                    let (told, all) = reasoning_text(&item);
                    kind = told;
                    draft.reasoning(kind, all, None, out);
                }
                // Without its content the vendor does not know the item again.
                if encrypted {
                    let replay = Some(Value::Object(item));
                    draft.reasoning(kind, String::new(), replay, out);
                }
            }
            Kind::Call(call) => call.close(&item, draft, out),
            Kind::Other if encrypted => out.push(opaque(Value::Object(item))),
            Kind::Other => {}
        }
    }
}

/// All reasoning that a whole item holds: its content, else its summary.
fn reasoning_text(item: &Map<String, Value>) -> (ReasoningKind, String) {
    let joined = |key: &str| {
        let texts: Vec<&str> = parts(item, key)
            .filter_map(|(_, part)| text(part, "text"))
            .collect();
        texts.join("\n\n")
    };
    let summary = joined("summary");
    let content = joined("content");
    if summary.is_empty() && !content.is_empty() {
        (ReasoningKind::Raw, content)
    } else {
        (ReasoningKind::Summary, summary)
    }
}

fn opaque(block: Value) -> Event {
    Event::Opaque(OpaqueBlock {
        api: super::NAME.to_owned(),
        block,
    })
}
