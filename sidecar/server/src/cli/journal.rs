//! `redline journal verify`.
//!
//! Owns: saying what was found. Must not know: how a record is checked.
//!
//! It reads the files itself, so that a damaged journal can be looked at when no hub would open it.

use super::{Context, terminal::Style};
use crate::failure::{Failure, exit};
use redline_workspace::{
    Finding, Journal, JournalOptions, PrivateStore, RootOptions, Store, WorkspaceRoot,
};
use serde_json::{Value, json};
use std::sync::Arc;

/// Checks the journal of the project; damage is exit code 1.
pub(crate) fn verify(context: &mut Context<'_>) -> Result<i32, Failure> {
    let root = WorkspaceRoot::open(&context.root()?, RootOptions::default())
        .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
    let key = PrivateStore::new(context.paths.state_dir.clone())
        .seal_key()
        .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
    // Nothing is written, so no time is told.
    let clock = Arc::new(|| 0);
    let journal = Journal::new(Store::new(root, key), clock, JournalOptions::default());
    let report = journal
        .verify()
        .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
    if context.terminal.json {
        let findings: Vec<Value> = report.findings.iter().map(object).collect();
        context.terminal.object(&json!({
            "sound": report.is_sound(),
            "records": report.records,
            "files": report.files,
            "findings": findings,
        }));
    } else {
        let paint = context.terminal.paint;
        for finding in &report.findings {
            let style = if finding.torn {
                Style::Warning
            } else {
                Style::Error
            };
            let line = paint.text(style, &finding.to_string());
            context.terminal.say(&format!("{line}\n"));
        }
        let state = if report.is_sound() {
            "sound"
        } else {
            "damaged"
        };
        let (records, files) = (report.records, report.files);
        context.terminal.say(&format!(
            "the journal is {state}: {records} records in {files} files\n"
        ));
    }
    Ok(if report.is_sound() {
        exit::DONE
    } else {
        exit::FAILED
    })
}

fn object(finding: &Finding) -> Value {
    json!({
        "file": finding.file,
        "line": finding.line,
        "seq": finding.seq,
        "problem": finding.problem,
        "torn": finding.torn,
    })
}
