//! `redline undo` and `redline redo`.
//!
//! Owns: asking, and saying what was restored. Must not know: how.

use super::{Context, progress::Progress, shapes, terminal::clean};
use crate::failure::{Failure, exit};
use redline_protocol::v1::{RestoreDirection, RestoreParams, RestoreResult, method};

pub(crate) fn undo(context: &mut Context<'_>, id: Option<String>) -> Result<i32, Failure> {
    run(context, id, RestoreDirection::Undo)
}

pub(crate) fn redo(context: &mut Context<'_>, id: Option<String>) -> Result<i32, Failure> {
    run(context, id, RestoreDirection::Redo)
}

fn run(
    context: &mut Context<'_>,
    id: Option<String>,
    direction: RestoreDirection,
) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let progress = Progress::start("restoring");
    let params = RestoreParams { id, direction };
    let answer = client.request::<RestoreResult>(method::CHECKPOINT_RESTORE, &params);
    drop(progress);
    client.close();
    let result = answer?;
    if context.terminal.json {
        context.terminal.object(&shapes::Restored {
            id: &result.id,
            direction,
            restored: &result.paths,
            receipt: (&result.receipt).into(),
        });
        return Ok(exit::DONE);
    }
    let (what, other) = match direction {
        RestoreDirection::Undo => ("undid", "redo"),
        RestoreDirection::Redo => ("redid", "undo"),
    };
    let mut text = format!("{what} {}\n", result.id);
    for path in &result.paths {
        text.push_str(&format!("  restored {}\n", clean(path)));
    }
    text.push_str(&format!("take that back: redline {other} {}\n", result.id));
    context.terminal.say(&text);
    Ok(exit::DONE)
}
