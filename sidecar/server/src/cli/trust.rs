//! `redline trust`: what of a project's own files would widen what may happen here, and the user's word on it.
//!
//! Owns: how it reads on a terminal, and that trust is given to exactly what was printed.
//! Must not know: what a file may do once it is trusted; that is the hub's.

use redline_protocol::v1::{
    DecideTrustParams, ListTrustParams, TrustItem, TrustRef, TrustResult, method,
};

use super::{
    Context,
    args::TrustAction,
    client::Client,
    shapes::snake,
    terminal::{Style, clean, wrap},
};
use crate::failure::{Failure, exit};

/// Runs `redline trust`.
pub(crate) fn run(context: &mut Context<'_>, action: Option<TrustAction>) -> Result<i32, Failure> {
    let mut client = context.client()?;
    let answer = ask(&mut client, &action.unwrap_or(TrustAction::Status));
    client.close();
    let now = answer?;
    if context.terminal.json {
        let object = snake(&now)?;
        context.terminal.object(&object);
        return Ok(exit::DONE);
    }
    if now.items.is_empty() {
        let nothing = "nothing of this project asks for more than you allow\n";
        context.terminal.say(nothing);
    }
    for item in &now.items {
        let text = text(context, item);
        context.terminal.say(&text);
    }
    if now.items.iter().any(|item| !item.trusted) {
        let next = "\nlook at these files first, then: redline trust grant\n";
        context.terminal.say(next);
    }
    Ok(exit::DONE)
}

fn ask(client: &mut Client, action: &TrustAction) -> Result<TrustResult, Failure> {
    let listed: TrustResult = client.request(method::TRUST_LIST, &ListTrustParams::default())?;
    let params = match action {
        TrustAction::Status => return Ok(listed),
        TrustAction::Revoke => DecideTrustParams {
            items: Vec::new(),
            revoke: true,
        },
        TrustAction::Grant { files } => {
            let named = named(&listed, files)?;
            if named.is_empty() {
                return Ok(listed);
            }
            DecideTrustParams {
                items: named,
                revoke: false,
            }
        }
    };
    client.request(method::TRUST_DECIDE, &params)
}

/// What is meant, each with the revision that the list has: should a file change meanwhile, it is not trusted.
fn named(listed: &TrustResult, files: &[String]) -> Result<Vec<TrustRef>, Failure> {
    let reference = |item: &TrustItem| TrustRef {
        path: item.path.clone(),
        revision: Some(item.revision.clone()),
    };
    if files.is_empty() {
        let waiting = listed.items.iter().filter(|item| !item.trusted);
        return Ok(waiting.map(reference).collect());
    }
    let find = |file: &String| {
        let path = file.trim_start_matches("./").trim_end_matches('/');
        let found = listed.items.iter().find(|item| item.path == path);
        found.map(reference).ok_or_else(|| {
            Failure::new(
                "NOT_FOUND",
                format!("{file:?} asks for nothing here"),
                "`redline trust` lists what does",
            )
        })
    };
    files.iter().map(find).collect()
}

fn text(context: &Context<'_>, item: &TrustItem) -> String {
    let (paint, width) = (context.terminal.paint, context.terminal.width);
    let mut out = paint.text(Style::Title, &clean(&item.path));
    let state = match item.trusted {
        true => paint.text(Style::Dim, " trusted as it is"),
        false => paint.text(Style::Warning, " waits"),
    };
    out.push_str(&state);
    out.push('\n');
    for what in &item.widens {
        for line in wrap(what, "  ", width) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    let revision: String = item.revision.chars().take(12).collect();
    paint.push(&mut out, Style::Dim, &format!("  content {revision}"));
    out.push('\n');
    out
}
