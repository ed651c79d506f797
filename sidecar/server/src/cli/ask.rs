//! `redline ask`: one turn, streamed, that ends with what it proposed and how to review it.
//!
//! Owns: printing a turn as it happens, and its cancel. Must not know: models or tools.

use super::{
    Context, args,
    client::{Client, cancel_body},
    decide::line_range,
    interrupt::on_interrupt,
    shapes::{self, snake},
    show::{get, status_of},
    terminal::{Paint, Style, clean, clean_lines, fit},
    usage,
    waiting::{Left, Patience, Waiting},
};
use crate::{
    failure::{Failure, exit},
    wire::write_frame,
};
use redline_protocol::v1::{
    ContentBlock, ErrorInfo, LoadSessionParams, LoadSessionResult, Mode, NewSessionParams,
    NewSessionResult, Position, PromptContext, PromptParams, PromptResult, Range, SessionState,
    SessionUpdate, SessionUpdateNotification, SetModeParams, SetModeResult, StateUpdate,
    StopReason, ToolCallContent, ToolCallStatus, ToolCallUpdate, Transaction, UsageUpdate, method,
};
use serde_json::json;
use std::{
    collections::HashMap,
    io::{self, Read},
    path::Path,
};

/// Id of the cancel request; the answers to it are not waited for.
const CANCEL_ID: u64 = u64::MAX >> 12;

pub(crate) fn run(context: &mut Context<'_>, options: args::Ask) -> Result<i32, Failure> {
    let text = text(&options.text)?;
    let mut client = context.client_of_session()?;
    let asked = ask(context, &mut client, text, options);
    client.close();
    asked
}

fn ask(
    context: &mut Context<'_>,
    client: &mut Client,
    text: String,
    options: args::Ask,
) -> Result<i32, Failure> {
    let root = context.root()?;
    let about = options
        .context
        .map(|about| place(client, &about, &root))
        .transpose()?;
    let patience = Patience {
        // What is asked on a terminal is answered there.
        asks: context.terminal.is_interactive(),
        waits: options.wait,
    };
    let session_id = session(client, options.session, options.model, options.mode)?;
    cancel_on_interrupt(client, &session_id)?;
    let prompt = PromptParams {
        session_id: Some(session_id),
        text,
        context: about,
        ..PromptParams::default()
    };
    let prompt: PromptResult = client.request(method::SESSION_PROMPT, &prompt)?;
    if prompt.turn_id.is_empty() {
        return Ok(carried_out(context, &prompt));
    }
    let mut turn = Turn::default();
    let mut waiting = Waiting::new(&prompt.session_id, patience);
    while turn.end.is_none() {
        if std::mem::take(&mut turn.waits) {
            turn.end_line(context);
            if let Some(left) = waiting.attend(context, client)? {
                return leave(context, client, &prompt, turn, left);
            }
        }
        let notification = client.next_notification()?;
        if notification.method != method::SESSION_UPDATE {
            continue;
        }
        let update: SessionUpdateNotification = serde_json::from_value(notification.params)
            .map_err(|error| Failure::internal(format!("an update cannot be read: {error}")))?;
        if update.turn_id.as_ref() == Some(&prompt.turn_id) {
            for update in update.updates {
                turn.take(update, context);
            }
        }
    }
    finish(context, client, &prompt, turn)
}

/// The conversation to ask in: the one that was named, or a new one.
fn session(
    client: &mut Client,
    named: Option<String>,
    model: Option<String>,
    mode: Option<args::ModeName>,
) -> Result<String, Failure> {
    let mode = mode.map(Mode::from);
    let Some(session_id) = named else {
        let params = NewSessionParams {
            model,
            mode,
            ..NewSessionParams::default()
        };
        let new: NewSessionResult = client.request(method::SESSION_NEW, &params)?;
        return Ok(new.session_id);
    };
    let params = LoadSessionParams {
        session_id: session_id.clone(),
        replay: Some(false),
    };
    client.request::<LoadSessionResult>(method::SESSION_LOAD, &params)?;
    if let Some(mode_id) = mode {
        let params = SetModeParams {
            session_id: Some(session_id.clone()),
            mode_id,
        };
        client.request::<SetModeResult>(method::SESSION_SET_MODE, &params)?;
    }
    Ok(session_id)
}

/// Prints what a prompt did that was for Redline, not for a model.
fn carried_out(context: &mut Context<'_>, prompt: &PromptResult) -> i32 {
    let message = prompt.message.as_deref().unwrap_or_default();
    if context.terminal.json {
        context.terminal.object(&json!({
            "session": prompt.session_id, "turn": null, "text": message, "end": "done",
        }));
    } else {
        context.terminal.say(&format!("{}\n", clean_lines(message)));
    }
    exit::DONE
}

/// What a turn has said so far.
#[derive(Debug, Default)]
struct Turn {
    text: String,
    transactions: Vec<String>,
    usage: Option<UsageUpdate>,
    end: Option<(StopReason, Option<ErrorInfo>)>,
    /// Something waits for a decision that may not have been asked for yet.
    waits: bool,
    /// Titles of calls that run, by id.
    running: HashMap<String, String>,
    in_line: bool,
}

impl Turn {
    fn take(&mut self, update: SessionUpdate, context: &mut Context<'_>) {
        let paint = context.terminal.paint;
        match update {
            SessionUpdate::AgentMessageChunk {
                content: ContentBlock::Text { text },
                ..
            } => {
                self.say(&clean_lines(&text), context);
                self.text.push_str(&text);
            }
            SessionUpdate::AgentThoughtChunk {
                content: ContentBlock::Text { text },
                ..
            } => {
                let text = dim(&clean_lines(&text), paint);
                self.say(&text, context);
            }
            SessionUpdate::ToolCallUpdate(call) => self.call(call, context),
            SessionUpdate::Notice { text, .. } => self.line(&clean(&text), context),
            SessionUpdate::Transaction { transaction_id }
                if !self.transactions.contains(&transaction_id) =>
            {
                self.transactions.push(transaction_id);
            }
            SessionUpdate::UsageUpdate(usage) => {
                self.usage = Some(usage);
            }
            SessionUpdate::StateUpdate(StateUpdate {
                state: SessionState::RequiresAction,
                ..
            }) => self.waits = true,
            SessionUpdate::StateUpdate(StateUpdate {
                stop_reason: Some(reason),
                error,
                ..
            }) => {
                self.end_line(context);
                self.end = Some((reason, error));
            }
            _ => {}
        }
    }

    fn call(&mut self, call: ToolCallUpdate, context: &mut Context<'_>) {
        let status = call.status.unwrap_or(ToolCallStatus::Pending);
        if status == ToolCallStatus::InProgress {
            let title = call.title.unwrap_or_default();
            self.running.insert(call.tool_call_id, title);
            return;
        }
        if status == ToolCallStatus::Pending && call.approval_id.is_none() {
            return;
        }
        self.waits |= call.approval_id.is_some() && status == ToolCallStatus::Pending;
        // The title of a call that runs says what it is about.
        let running = self.running.remove(&call.tool_call_id);
        let title = running.or(call.title).unwrap_or_default();
        let name = call.tool.unwrap_or_default();
        let detail = call.content.into_iter().flatten().find_map(|content| {
            let ToolCallContent::Content {
                content: ContentBlock::Text { text },
            } = content
            else {
                return None;
            };
            (status == ToolCallStatus::Failed).then_some(text)
        });
        let line = tool_line(&title, &name, status, detail.as_deref());
        self.line(&fit(&line, context.terminal.width), context);
    }

    /// Streams text of the model, which may stop in the middle of a line.
    fn say(&mut self, text: &str, context: &mut Context<'_>) {
        // With --json the text comes once, in the object.
        if text.is_empty() || context.terminal.json {
            return;
        }
        context.terminal.say(text);
        self.in_line = !text.ends_with('\n');
    }

    /// A line of its own for what a tool does.
    fn line(&mut self, line: &str, context: &mut Context<'_>) {
        self.end_line(context);
        let line = context.terminal.paint.text(Style::Dim, line);
        context.terminal.say(&format!("{line}\n"));
    }

    fn end_line(&mut self, context: &mut Context<'_>) {
        if std::mem::take(&mut self.in_line) {
            context.terminal.say("\n");
        }
    }
}

fn dim(text: &str, paint: Paint) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| paint.text(Style::Dim, line))
        .collect();
    lines.join("\n")
}

/// `✓ read src/lib.rs`, `✗ …` with the error, or `…` for one that waits for an approval.
fn tool_line(title: &str, name: &str, status: ToolCallStatus, detail: Option<&str>) -> String {
    let title = clean(if title.is_empty() { name } else { title });
    let mark = match status {
        ToolCallStatus::Completed => "✓",
        ToolCallStatus::Failed | ToolCallStatus::Cancelled => "✗",
        ToolCallStatus::Pending | ToolCallStatus::InProgress => "…",
    };
    match detail.filter(|detail| !detail.is_empty()) {
        Some(detail) => format!("{mark} {title} · {}", clean(detail)),
        None => format!("{mark} {title}"),
    }
}

/// Ends the command while the turn waits for a decision that nobody can give here.
fn leave(
    context: &mut Context<'_>,
    client: &mut Client,
    prompt: &PromptResult,
    turn: Turn,
    left: Left,
) -> Result<i32, Failure> {
    let shared = status_of(client).is_ok_and(|status| !status.in_process);
    let failure = left.failure(shared);
    if !context.terminal.json {
        return Err(failure);
    }
    let found = proposed(client, &turn)?;
    context.terminal.object(&json!({
        "session": prompt.session_id,
        "turn": prompt.turn_id,
        "text": turn.text,
        "transaction": found.first().map(shapes::Transaction::from),
        "approvals": snake(&left.approvals)?,
        "plans": snake(&left.plans)?,
        "end": "waits",
        "error": failure,
    }));
    Ok(failure.exit())
}

fn proposed(client: &mut Client, turn: &Turn) -> Result<Vec<Transaction>, Failure> {
    turn.transactions.iter().map(|id| get(client, id)).collect()
}

/// Says how the turn ended and what waits for review.
fn finish(
    context: &mut Context<'_>,
    client: &mut Client,
    prompt: &PromptResult,
    turn: Turn,
) -> Result<i32, Failure> {
    let found = proposed(client, &turn)?;
    let (reason, error) = turn.end.unwrap_or((StopReason::EndTurn, None));
    let failed = failure(reason, error);
    if context.terminal.json {
        context.terminal.object(&json!({
            "session": prompt.session_id,
            "turn": prompt.turn_id,
            "text": turn.text,
            "transaction": found.first().map(shapes::Transaction::from),
            "usage": turn.usage.as_ref().map(usage::json),
            "end": end_word(reason),
            "error": failed.as_ref().map(|(failure, _)| failure),
        }));
        return Ok(failed.map_or(exit::DONE, |(_, code)| code));
    }
    let renderer = context.renderer();
    for transaction in &found {
        let mut text = format!("\n{}", renderer.heading(transaction));
        for file in &transaction.files {
            text.push_str("  ");
            text.push_str(&renderer.file(file));
        }
        text.push_str(&format!("review it: redline review {}\n", transaction.id));
        context.terminal.say(&text);
    }
    match failed {
        None => {
            if let Some(usage) = &turn.usage {
                let line = context.terminal.paint.text(Style::Dim, &usage::line(usage));
                context.terminal.say(&format!("{line}\n"));
            }
            Ok(exit::DONE)
        }
        Some((failure, code)) => {
            super::report(&failure, context.terminal);
            Ok(code)
        }
    }
}

/// How a turn ended, in the words of `--json`.
fn end_word(reason: StopReason) -> &'static str {
    match reason {
        StopReason::EndTurn => "done",
        StopReason::Refusal => "refusal",
        StopReason::Cancelled => "cancelled",
        StopReason::Timeout => "timeout",
        StopReason::MaxTokens | StopReason::MaxTurnRequests | StopReason::MaxCost => "budget",
        StopReason::Error => "error",
        StopReason::Interrupted => "interrupted",
    }
}

/// What went wrong with a turn, and the exit code for it: a turn that the model ended is the provider's failure, by
/// whatever code.
fn failure(reason: StopReason, error: Option<ErrorInfo>) -> Option<(Failure, i32)> {
    if reason == StopReason::Error {
        let failure = error.map_or_else(
            || Failure::new("PROVIDER", "it gave no reason", ""),
            |error| Failure::new(&error.code, error.message, error.hint),
        );
        return Some((failure, exit::PROVIDER));
    }
    let said = error.map_or_else(|| "it gave no reason".to_owned(), |error| error.message);
    let failure = match reason {
        StopReason::Error | StopReason::EndTurn | StopReason::Refusal => return None,
        StopReason::Cancelled => Failure::new(
            "CANCELLED",
            "the turn was cancelled",
            "what it proposed before that stays pending: redline status",
        ),
        StopReason::Timeout => Failure::new(
            "TIMEOUT",
            format!("the turn took too long: {said}"),
            "ask again",
        ),
        StopReason::MaxTokens | StopReason::MaxTurnRequests | StopReason::MaxCost => Failure::new(
            "TIMEOUT",
            format!("the turn used up its budget: {said}"),
            "ask for less at once; what it proposed stays pending",
        ),
        StopReason::Interrupted => Failure::new(
            "INTERRUPTED",
            "the sidecar ended while the turn ran",
            "ask to go on; what it proposed before that stays pending: redline status",
        ),
    };
    let code = failure.exit();
    Some((failure, code))
}

/// Makes Ctrl-C cancel the turn; a second one ends the process at once.
fn cancel_on_interrupt(client: &Client, session_id: &str) -> Result<(), Failure> {
    let mut sender = client.sender()?;
    let Some(cancel) = cancel_body(session_id, CANCEL_ID) else {
        return Ok(());
    };
    let mut cancelled = false;
    on_interrupt(move || {
        if cancelled {
            std::process::exit(exit::CANCELLED);
        }
        cancelled = true;
        // A connection that is gone is seen by who reads it.
        let _ = write_frame(&mut sender, &cancel);
    })
}

/// What to say: the words of the command line, or standard input for `-`.
fn text(words: &[String]) -> Result<String, Failure> {
    let text = match words {
        [only] if only == "-" => {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::io("cannot read standard input", &error))?;
            text
        }
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        return Err(Failure::usage(
            "there is nothing to ask",
            "redline ask \"make this iterative\"",
        ));
    }
    Ok(text)
}

/// Reads `PATH` or `PATH:A-B`.
fn place(client: &Client, text: &str, root: &Path) -> Result<PromptContext, Failure> {
    let whole = root.join(text);
    if whole.exists() {
        let uri = client.uri(Some(&whole))?;
        return Ok(PromptContext { uri, range: None });
    }
    let lines = line_range(text, root)?;
    let at = |line| Position { line, character: 0 };
    Ok(PromptContext {
        uri: client.uri(Some(Path::new(&lines.path)))?,
        // From 1 and inclusive, to from 0 and half-open.
        range: Some(Range {
            start: at(lines.start - 1),
            end: at(lines.end),
        }),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn a_call_is_listed_with_how_it_ended() {
        for (title, status, detail, expected) in [
            ("read a.rs", ToolCallStatus::Completed, None, "✓ read a.rs"),
            ("", ToolCallStatus::Completed, Some(""), "✓ workspace_read"),
            (
                "read a.rs",
                ToolCallStatus::Failed,
                Some("NO_MATCH: \x1b"),
                "✗ read a.rs · NO_MATCH: ^[",
            ),
            ("read a.rs", ToolCallStatus::Pending, None, "… read a.rs"),
        ] {
            assert_eq!(tool_line(title, "workspace_read", status, detail), expected);
        }
    }

    #[test]
    fn each_end_has_its_exit_code() {
        for (reason, code) in [
            (StopReason::Cancelled, exit::CANCELLED),
            (StopReason::Interrupted, exit::FAILED),
            (StopReason::Error, exit::PROVIDER),
            (StopReason::MaxTokens, exit::FAILED),
            (StopReason::Timeout, exit::FAILED),
        ] {
            assert_eq!(failure(reason, None).unwrap().1, code, "{reason:?}");
        }
        assert_eq!(failure(StopReason::EndTurn, None), None);
    }

    #[test]
    fn nothing_is_not_asked() {
        assert_eq!(text(&["  ".to_owned()]).unwrap_err().exit(), exit::USAGE);
        assert_eq!(text(&["a".to_owned(), "b".to_owned()]).unwrap(), "a b");
    }
}
