//! `redline show` and `status`: what waits, and what it would do.
//!
//! Owns: what is listed, and in which words. Must not know: how a diff looks; [`super::render`] does.

use super::{
    Context,
    client::Client,
    shapes,
    terminal::{Style, clean, wrap},
};
use crate::failure::{Failure, exit};
use redline_protocol::v1::{GetTransactionParams, StatusParams, StatusResult, Transaction, method};
use serde_json::json;

/// Prints one transaction, or all that are pending, as a diff.
pub(crate) fn show(context: &mut Context<'_>, transaction: Option<String>) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let found = match &transaction {
        Some(id) => get(&mut client, id).map(|one| vec![one]),
        None => status_of(&mut client).map(|status| status.transactions),
    };
    client.close();
    let found = found?;
    if context.terminal.json {
        match (&transaction, found.first()) {
            (Some(_), Some(one)) => context.terminal.object(&shapes::Transaction::from(one)),
            _ => {
                let all: Vec<_> = found.iter().map(shapes::Transaction::from).collect();
                context.terminal.object(&json!({ "transactions": all }));
            }
        }
        return Ok(exit::DONE);
    }
    if found.is_empty() {
        context.terminal.say("nothing waits for a decision\n");
    }
    let renderer = context.renderer();
    let texts: Vec<String> = found.iter().map(|one| renderer.transaction(one)).collect();
    context.terminal.say(&texts.join("\n"));
    Ok(exit::DONE)
}

/// Prints what waits for a decision, and what happened at the start.
pub(crate) fn status(context: &mut Context<'_>) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let status = status_of(&mut client);
    client.close();
    let status = status?;
    if context.terminal.json {
        context.terminal.object(&shapes::Status::from(&status));
        return Ok(exit::DONE);
    }
    let text = status_text(context, &status);
    context.terminal.say(&text);
    Ok(exit::DONE)
}

/// Asks for the status of the project.
pub(crate) fn status_of(client: &mut Client) -> Result<StatusResult, Failure> {
    client.request(method::STATUS, &StatusParams::default())
}

/// Asks for one transaction.
pub(crate) fn get(client: &mut Client, id: &str) -> Result<Transaction, Failure> {
    let params = GetTransactionParams {
        transaction_id: id.to_owned(),
    };
    client.request(method::TRANSACTION_GET, &params)
}

fn status_text(context: &Context<'_>, status: &StatusResult) -> String {
    let paint = context.terminal.paint;
    let width = context.terminal.width;
    let mut text = String::new();
    for notice in &status.notices {
        for line in wrap(notice, "! ", width) {
            paint.push(&mut text, Style::Warning, &line);
            text.push('\n');
        }
    }
    for recovery in &status.recovery {
        let what = format!(
            "{}: {}",
            recovery.action.replace('_', " "),
            recovery.message
        );
        for line in wrap(&what, "! ", width) {
            paint.push(&mut text, Style::Warning, &line);
            text.push('\n');
        }
    }
    let root = context
        .paths
        .display(std::path::Path::new(&status.workspace));
    paint.push(
        &mut text,
        Style::Dim,
        &format!("{} · {} · {}", clean(&root), status.mode, status.model),
    );
    text.push('\n');
    if status.transactions.is_empty() {
        text.push_str("nothing waits for a decision\n");
        return text;
    }
    let renderer = context.renderer();
    for transaction in &status.transactions {
        text.push('\n');
        text.push_str(&renderer.heading(transaction));
        for file in &transaction.files {
            text.push_str("  ");
            text.push_str(&renderer.file(file));
        }
    }
    text.push_str("\nreview: redline review\n");
    text
}
