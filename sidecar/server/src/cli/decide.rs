//! `redline accept` and `redline reject`.
//!
//! Owns: reading which part is meant, and printing what became of it.
//! Must not know: whether the decision holds; the hub checks it under its lock.

use super::{Context, args::Decide, progress::Progress, render, shapes};
use crate::failure::{Failure, exit};
use redline_protocol::v1::{
    DecideParams, DecideResult, FileRef, HunkRef, LineRange, Transaction, method,
};
use std::path::Path;

/// A decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Accept,
    Reject,
}

impl Verb {
    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Accept => method::TRANSACTION_ACCEPT,
            Self::Reject => method::TRANSACTION_REJECT,
        }
    }
}

pub(crate) fn run(context: &mut Context<'_>, options: Decide, verb: Verb) -> Result<i32, Failure> {
    let root = context.root()?;
    let mut params = params(options, &root)?;
    // What a person reads names the receipt's files alone.
    params.all_files = context.terminal.json;
    let mut client = context.client()?;
    let progress = Progress::start("deciding");
    let answer = client.request::<DecideResult>(verb.method(), &params);
    drop(progress);
    client.close();
    let result = answer?;
    if context.terminal.json {
        context.terminal.object(&shapes::Decided {
            transaction: (&result.transaction).into(),
            receipt: result.receipt.as_ref().map(Into::into),
        });
    } else {
        let text = told(&result);
        context.terminal.say(&text);
    }
    Ok(exit::DONE)
}

/// What a decision did, for people.
pub(crate) fn told(result: &DecideResult) -> String {
    let transaction = &result.transaction;
    let Some(receipt) = &result.receipt else {
        return format!(
            "nothing was decided; {} is {}\n",
            transaction.id,
            state(transaction)
        );
    };
    let mut text = match receipt.hunks.len() {
        0 => format!(
            "{}ed; {} is {}\n",
            receipt.action,
            transaction.id,
            state(transaction)
        ),
        n => format!(
            "{}ed {}; {} is {}\n",
            receipt.action,
            render::count(n, "hunk"),
            transaction.id,
            state(transaction)
        ),
    };
    for path in &receipt.written {
        text.push_str(&format!("  written  {}\n", super::terminal::clean(path)));
    }
    for path in &receipt.unsaved {
        text.push_str(&format!(
            "  in an open document, not saved  {}\n",
            super::terminal::clean(path)
        ));
    }
    text.push_str(&format!("receipt {}\n", receipt.id));
    text
}

fn state(transaction: &Transaction) -> &'static str {
    render::state_of_transaction(transaction.state)
}

fn params(options: Decide, root: &Path) -> Result<DecideParams, Failure> {
    let hunks = options
        .hunks
        .iter()
        .map(|text| hunk_ref(text))
        .collect::<Result<_, _>>()?;
    let lines = options
        .lines
        .iter()
        .map(|text| line_range(text, root))
        .collect::<Result<_, _>>()?;
    let files = options.files.iter().map(|path| FileRef {
        path: from_root(path, root),
        revision: None,
    });
    Ok(DecideParams {
        transaction_id: options.transaction,
        hunks,
        files: files.collect(),
        lines,
        reason: options.reason,
        ..DecideParams::default()
    })
}

/// Reads `ID[@REVISION]`.
fn hunk_ref(text: &str) -> Result<HunkRef, Failure> {
    let (id, revision) = match text.split_once('@') {
        None => (text, None),
        Some((id, revision)) => {
            let number = revision.parse().map_err(|_| {
                Failure::usage(
                    format!("--hunk {text}: {revision:?} is not a revision"),
                    "write ID or ID@REVISION, with the number that `redline show --json` gives",
                )
            })?;
            (id, Some(number))
        }
    };
    Ok(HunkRef {
        id: id.to_owned(),
        revision,
    })
}

/// Reads `PATH:A-B` or `PATH:A`; a path may hold colons.
pub(crate) fn line_range(text: &str, root: &Path) -> Result<LineRange, Failure> {
    let read = || {
        let (path, lines) = text.rsplit_once(':')?;
        let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
        let (start, end) = (start.parse().ok()?, end.parse().ok()?);
        (!path.is_empty() && 1 <= start && start <= end).then(|| LineRange {
            path: from_root(path, root),
            start,
            end,
        })
    };
    read().ok_or_else(|| {
        Failure::usage(
            format!("{text:?} is not PATH:A-B"),
            "lines count from 1, and the last one is included: src/lib.rs:10-12",
        )
    })
}

/// A path from the root of the project: an absolute one is cut, another one is taken as it is.
fn from_root(path: &str, root: &Path) -> String {
    let absolute = Path::new(path);
    match absolute.strip_prefix(root) {
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => path.strip_prefix("./").unwrap_or(path).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn a_hunk_names_its_revision_or_not() {
        assert_eq!(hunk_ref("h_1").unwrap().revision, None);
        assert_eq!(hunk_ref("h_1@7").unwrap().revision, Some(7));
        assert_eq!(hunk_ref("h_1@x").unwrap_err().code, "INVALID_ARGUMENTS");
    }

    #[test]
    fn lines_are_read_from_the_end_of_the_text() {
        let root = Path::new("/w");
        for (text, expected) in [
            ("a.rs:3-5", Some(("a.rs", 3, 5))),
            ("a.rs:3", Some(("a.rs", 3, 3))),
            ("c:d/e:1-2", Some(("c:d/e", 1, 2))),
            ("/w/x/y:1-1", Some(("x/y", 1, 1))),
            ("./x:1-1", Some(("x", 1, 1))),
            ("a.rs:5-3", None),
            ("a.rs:0-3", None),
            ("a.rs", None),
            (":1-2", None),
            ("a:1-2-3", None),
        ] {
            let range = line_range(text, root).ok();
            let got = range
                .as_ref()
                .map(|it| (it.path.as_str(), it.start, it.end));
            assert_eq!(got, expected, "{text}");
        }
    }
}
