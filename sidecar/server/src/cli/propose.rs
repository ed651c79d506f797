//! `redline propose`: text in, a pending transaction out.
//!
//! Owns: reading the proposal and saying what became of it. Must not know: the formats.

use super::{
    Context,
    args::{Format, Propose},
    progress::Progress,
    shapes,
};
use crate::failure::{Failure, exit};
use redline_protocol::v1::{ProposalFormat, ProposeParams, Transaction, method};
use std::{
    fs::File,
    io::{self, IsTerminal, Read},
    path::Path,
};

/// Largest proposal taken.
const LIMIT_BYTES: u64 = 64 * 1024 * 1024;

pub(crate) fn run(context: &mut Context<'_>, options: Propose) -> Result<i32, Failure> {
    let content = read(context, options.file.as_deref())?;
    let params = ProposeParams {
        content,
        format: options.format.map(wire_format),
        strip: options.strip,
        rationale: options.rationale,
        title: options.title,
        proposed_by: options.by,
    };
    let mut client = context.client()?;
    let progress = Progress::start("reading the proposal");
    let answer = client.request::<Transaction>(method::TRANSACTION_PROPOSE, &params);
    drop(progress);
    client.close();
    let transaction = answer?;
    if context.terminal.json {
        context
            .terminal
            .object(&shapes::Transaction::from(&transaction));
    } else {
        let renderer = context.renderer();
        let mut text = renderer.heading(&transaction);
        for file in &transaction.files {
            text.push_str("  ");
            text.push_str(&renderer.file(file));
        }
        text.push_str(&format!("review it: redline review {}\n", transaction.id));
        context.terminal.say(&text);
    }
    Ok(exit::DONE)
}

fn read(context: &mut Context<'_>, file: Option<&Path>) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let (name, read) = match file.filter(|path| path.as_os_str() != "-") {
        Some(path) => {
            let read = File::open(path).and_then(|file| take(file, &mut bytes));
            (path.display().to_string(), read)
        }
        None => {
            if io::stdin().is_terminal() {
                context
                    .terminal
                    .aside("reading a proposal from the terminal; end it with Ctrl-D");
            }
            (
                "standard input".to_owned(),
                take(io::stdin().lock(), &mut bytes),
            )
        }
    };
    read.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::new(
            "NOT_FOUND",
            format!("{name}: {error}"),
            "name an existing file, or leave it out to read standard input",
        ),
        _ => Failure::io(format!("cannot read {name}"), &error),
    })?;
    if bytes.len() as u64 > LIMIT_BYTES {
        return Err(Failure::new(
            "TOO_LARGE",
            format!("{name} is larger than {} MiB", LIMIT_BYTES >> 20),
            "split the proposal",
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..at];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Failure::new(
            "ENCODING",
            format!("{name}: line {line} is not UTF-8 (byte {at}); nothing was stored"),
            "convert the proposal to UTF-8",
        )
    })
}

fn take(from: impl Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    from.take(LIMIT_BYTES + 1).read_to_end(bytes)
}

fn wire_format(format: Format) -> ProposalFormat {
    match format {
        Format::UnifiedDiff => ProposalFormat::UnifiedDiff,
        Format::ApplyPatch => ProposalFormat::ApplyPatch,
        Format::SearchReplace => ProposalFormat::SearchReplace,
        Format::Json => ProposalFormat::Json,
    }
}
