//! Calls by names that other products use: a plan and an edit, whatever the tool is called.
//!
//! Models trained with other tools call them even when they are not on offer. A name that the
//! request itself offers is never read as an alias.

use serde_json::{Map, Value};

use crate::{Arguments, EditOp, Event, PlanStep, ToolCall, ToolSpec};

/// Returns the event of a whole call.
pub(crate) fn event(call: ToolCall, offered: &[ToolSpec]) -> Event {
    if offered.iter().any(|tool| tool.name == call.name) {
        return Event::ToolCallReady(call);
    }
    let Arguments::Json(arguments) = &call.arguments else {
        return Event::ToolCallReady(call);
    };
    match call.name.as_str() {
        "update_plan" => match plan(arguments) {
            Some(steps) => Event::Plan { call, steps },
            None => Event::ToolCallReady(call),
        },
        "edit_file" => match replace(arguments) {
            Some((path, op)) => Event::Edit { call, path, op },
            None => Event::ToolCallReady(call),
        },
        _ => Event::ToolCallReady(call),
    }
}

fn plan(arguments: &Map<String, Value>) -> Option<Vec<PlanStep>> {
    arguments
        .get("plan")?
        .as_array()?
        .iter()
        .map(|step| serde_json::from_value(step.clone()).ok())
        .collect()
}

fn replace(arguments: &Map<String, Value>) -> Option<(String, EditOp)> {
    let text = |key: &str| {
        arguments
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    Some((
        text("path")?,
        EditOp::Replace {
            old: text("old")?,
            new: text("new")?,
        },
    ))
}
