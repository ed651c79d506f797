//! One call of an answer, in each of the forms that this API has.

use serde_json::{Map, Value};

use super::wire::text;
use crate::draft::Draft;
use crate::{Arguments, EditOp, Event, ToolCall};

/// A call that has begun.
#[derive(Debug)]
pub(super) struct Call {
    id: String,
    wire_id: Option<String>,
    name: String,
    arguments: String,
    form: Form,
}

/// What a call's arguments are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A JSON object, as text.
    Json,
    /// Text.
    Free,
    /// An operation of the built-in patch tool.
    Patch,
}

impl Form {
    const ALL: [Self; 3] = [Self::Json, Self::Free, Self::Patch];

    /// The item type on the wire.
    pub(super) fn wire(self) -> &'static str {
        match self {
            Self::Json => "function_call",
            Self::Free => "custom_tool_call",
            Self::Patch => "apply_patch_call",
        }
    }

    /// The form of an item type, if it is a call.
    pub(super) fn of(wire: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.wire() == wire)
    }
}

impl Call {
    /// The item of a call begins; `number` names one that has no id.
    pub(super) fn started(
        item: &Map<String, Value>,
        form: Form,
        number: usize,
        draft: &mut Draft,
        out: &mut Vec<Event>,
    ) -> Self {
        let wire_id = text(item, "call_id").or_else(|| text(item, "id"));
        let wanted = wire_id.map_or_else(|| format!("call_{number}"), str::to_owned);
        let name = match form {
            Form::Patch => "apply_patch",
            Form::Json | Form::Free => text(item, "name").unwrap_or_default(),
        };
        let call = Self {
            id: draft.ids.unique(wanted),
            wire_id: wire_id.map(str::to_owned),
            name: name.to_owned(),
            arguments: String::new(),
            form,
        };
        draft.call_started(&call.id, &call.name, out);
        call
    }

    /// The item type on the wire.
    pub(super) fn wire(&self) -> &'static str {
        self.form.wire()
    }

    /// Takes in a piece of its arguments.
    pub(super) fn push(&mut self, piece: String, out: &mut Vec<Event>) {
        if piece.is_empty() {
            return;
        }
        self.arguments.push_str(&piece);
        out.push(Event::ToolCallDelta {
            id: self.id.clone(),
            fragment: piece,
        });
    }

    /// Takes in what a `done` repeats: it is trusted over the pieces, but blank it says nothing.
    pub(super) fn take_all(&mut self, all: String, out: &mut Vec<Event>) {
        if all.is_empty() || all == self.arguments {
            return;
        }
        if self.arguments.is_empty() {
            out.push(Event::ToolCallDelta {
                id: self.id.clone(),
                fragment: all.clone(),
            });
        }
        self.arguments = all;
    }

    /// Its item is whole.
    pub(super) fn close(
        mut self,
        item: &Map<String, Value>,
        draft: &mut Draft,
        out: &mut Vec<Event>,
    ) {
        let all = match (self.form, item.get("arguments")) {
            (Form::Patch, _) => return self.patch(item, draft, out),
            (Form::Free, _) => text(item, "input").unwrap_or_default().to_owned(),
            (Form::Json, Some(Value::String(all))) => all.clone(),
            (Form::Json, Some(object @ Value::Object(_))) => object.to_string(),
            (Form::Json, _) => String::new(),
        };
        self.take_all(all, out);
        let cut = text(item, "status") == Some("incomplete");
        self.ready(cut, draft, out);
    }

    /// The answer ended before its item did; `cut` by its limit.
    pub(super) fn end(self, cut: bool, draft: &mut Draft, out: &mut Vec<Event>) {
        // Half an operation is none, and its pieces are not told.
        if self.form != Form::Patch {
            self.ready(cut, draft, out);
        }
    }

    fn ready(self, cut: bool, draft: &mut Draft, out: &mut Vec<Event>) {
        let arguments = match self.form {
            Form::Free => Arguments::Freeform(self.arguments),
            _ if cut => Arguments::parse_cut(&self.arguments),
            _ => Arguments::parse(&self.arguments),
        };
        let call = ToolCall {
            id: self.id,
            wire_id: self.wire_id,
            name: self.name,
            arguments,
        };
        draft.call_ready(call, out);
    }

    /// One operation on one path.
    fn patch(self, item: &Map<String, Value>, draft: &mut Draft, out: &mut Vec<Event>) {
        let empty = Map::new();
        let operation = item.get("operation").and_then(Value::as_object);
        let operation = operation.unwrap_or(&empty);
        let diff = || {
            let diff = operation.get("diff").and_then(Value::as_str);
            diff.map(str::to_owned)
        };
        let op = match text(operation, "type").unwrap_or_default() {
            "create_file" => diff().map(|diff| EditOp::Create { diff }),
            "update_file" => diff().map(|diff| EditOp::Update { diff }),
            "delete_file" => Some(EditOp::Delete),
            _ => None,
        };
        let path = text(operation, "path").map(str::to_owned);
        let call = ToolCall {
            id: self.id,
            wire_id: self.wire_id,
            name: self.name,
            arguments: Arguments::Json(operation.clone()),
        };
        match op.zip(path) {
            Some((op, path)) => draft.calls_event(Event::Edit { call, path, op }, out),
            None => draft.call_ready(call, out),
        }
    }
}
