//! What running a command would do: the program that it is, the files that it names, and how far it may reach.

use std::sync::Arc;

use redline_workspace::{EnvSnapshot, Masker, Program, WorkspacePath};
use serde_json::{Value, json};

use super::arguments::Command;
use super::host::CommandHost;
use super::{NAME, failed};
use crate::error::shortened;
use crate::gate::{effect_of, files_of_command, stale_approval};
use crate::place;
use crate::tool::CallContext;
use crate::{Class, CommandLine, ErrorCode, MutationKind, Operation, ToolError, env_digest};

/// Longest line for people, in bytes.
const LONGEST_SUMMARY: usize = 600;

/// Longest `stdin` that stands in an operation as it is.
const LONGEST_STDIN: usize = 4096;

/// A command as it would run now.
pub(super) struct Resolved {
    pub(super) program: Program,
    pub(super) folder: Option<WorkspacePath>,
    /// The session's env, without the command's own variables.
    pub(super) env: Arc<EnvSnapshot>,
}

/// Finds program and folder.
///
/// # Errors
///
/// A program that is not there, a folder outside.
pub(super) fn resolve(
    host: &dyn CommandHost,
    context: &CallContext<'_>,
    command: &Command,
) -> Result<Resolved, ToolError> {
    let folder = place::folder(context, &command.cwd)?;
    let env = host.env();
    let path = command
        .env
        .get("PATH")
        .map(String::as_str)
        .or_else(|| env.get("PATH"));
    let root = context.view.root();
    let programs = host.jobs().programs();
    let program = programs
        .resolve(root, &command.program, folder.as_ref(), path)
        .map_err(failed)?;
    Ok(Resolved {
        program,
        folder,
        env,
    })
}

/// The operation that a command is.
///
/// # Errors
///
/// A file that it names and that cannot be read.
pub(super) fn of(
    host: &dyn CommandHost,
    context: &CallContext<'_>,
    command: &Command,
    resolved: &Resolved,
) -> Result<Operation, ToolError> {
    let cwd = resolved
        .folder
        .as_ref()
        .map_or(String::new(), ToString::to_string);
    let names: Vec<&String> = command.env.keys().collect();
    let mut arguments = json!({
        "action": command.action,
        "program": command.program,
        "arguments": command.arguments,
        "cwd": cwd,
        "env": names,
        "stdin": command.stdin.as_deref().map_or(Value::Null, shown_stdin),
        "terminal": command.terminal,
        "timeout_seconds": match command.action {
            "run" => command.run_time().as_secs_f64(),
            _ => command.start_time().map_or(0.0, |time| time.as_secs_f64()),
        },
    });
    let (class, paths) = effect(context, command, &cwd, host.jobs().sandbox());
    let root = context.view.root();
    let masker = masker(host, &with_own(&resolved.env, command)?);
    let summary = shortened(masker.mask(&summary(command, &cwd)), LONGEST_SUMMARY);
    masker.mask_json(&mut arguments);
    Ok(Operation {
        tool: NAME.to_owned(),
        kind: MutationKind::Command,
        class,
        reads_only: false,
        arguments,
        paths,
        hosts: Vec::new(),
        command: Some(CommandLine {
            program: command.program.clone(),
            resolved: resolved.program.path.display().to_string(),
            revision: resolved.program.revision.clone(),
            arguments: command.arguments.clone(),
            env: command.env.clone(),
        }),
        base_revisions: files_of_command(root, &cwd, &command.program, &command.arguments),
        workspace: host.workspace_id().to_owned(),
        session: context.session.to_owned(),
        cwd,
        env_digest: env_digest(
            &host.digest_key(),
            resolved.env.iter().map(|(name, value, _)| (name, value)),
        ),
        summary,
    })
}

/// Whether what would run now is what was let run. Between this look and the start of the program remains the
/// time of one system call; the program itself is compared once more within it.
///
/// # Errors
///
/// `APPROVAL_STALE` for what was approved, `STALE_VERSION` else, naming what has changed.
pub(super) fn check_same(context: &CallContext<'_>, now: &Operation) -> Result<(), ToolError> {
    let Some(admitted) = context.admitted else {
        return Ok(());
    };
    if admitted.hash() == now.hash() {
        return Ok(());
    }
    let files = |one: &Operation| one.base_revisions.clone();
    let (before, after) = (files(admitted), files(now));
    let mut changed: Vec<String> = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path))
        .cloned()
        .collect();
    changed.sort();
    changed.dedup();
    if context.resumes.is_some() {
        return Err(stale_approval(&admitted.summary, &changed));
    }
    if changed.is_empty() {
        changed.push("the program, its folder or its env".to_owned());
    }
    Err(ToolError::new(
        ErrorCode::StaleVersion,
        format!(
            "{} did not run: {} changed since it was let run",
            admitted.summary,
            changed.join(", ")
        ),
    )
    .with_hint("Ask for it again: what was let run was another operation."))
}

/// The env that the command runs in: the session's, and its own variables over it.
///
/// # Errors
///
/// A variable that no program could be given.
pub(super) fn with_own(env: &EnvSnapshot, command: &Command) -> Result<EnvSnapshot, ToolError> {
    env.with(&command.env).map_err(|error| {
        ToolError::from_code(error.code(), error.to_string()).with_hint(error.hint())
    })
}

/// Takes the secrets of that env, and the host's, out of all that is kept or told.
pub(super) fn masker(host: &dyn CommandHost, env: &EnvSnapshot) -> Masker {
    let secrets = host.secrets();
    let secrets = secrets
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    Masker::new(env, secrets)
}

/// How much it may lose, and what it plainly writes. A sandbox keeps it inside; without one it is an estimate.
fn effect(
    context: &CallContext<'_>,
    command: &Command,
    cwd: &str,
    sandbox: &str,
) -> (Class, Vec<String>) {
    let root = context.view.root();
    let effect = effect_of(
        &command.program,
        &command.arguments,
        &root.path().display().to_string(),
    );
    let class = match sandbox {
        "none" => effect.class,
        _ => effect.class.min(Class::Workspace),
    };
    let writes = effect.writes.iter().map(|path| {
        let path = if cwd.is_empty() || path.starts_with('/') {
            path.clone()
        } else {
            format!("{cwd}/{path}")
        };
        // One that the boundary refuses is told as it stands, and refused by its name.
        root.admit(&path).map_or(path, |path| path.to_string())
    });
    (class, writes.collect())
}

fn shown_stdin(stdin: &str) -> Value {
    if stdin.len() <= LONGEST_STDIN {
        return json!(stdin);
    }
    json!({
        "bytes": stdin.len(),
        "revision": redline_edits::revision(stdin.as_bytes()).to_string(),
    })
}

/// One line for people, in the way of a shell; no shell reads it.
fn summary(command: &Command, cwd: &str) -> String {
    let own = command.env.keys().map(|name| format!("{name}=…"));
    let words = std::iter::once(&command.program).chain(&command.arguments);
    let mut line: Vec<String> = own.chain(words.map(|word| quoted(word))).collect();
    if !cwd.is_empty() {
        line.push(format!("(in {cwd})"));
    }
    line.join(" ")
}

/// A word as a person may read and copy it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    let shown: String = word
        .chars()
        .flat_map(|c| match c {
            '\'' => "'\\''".chars().collect::<Vec<_>>(),
            c if c.is_control() => c.escape_default().collect(),
            c => vec![c],
        })
        .collect();
    format!("'{shown}'")
}
