//! Injected failures of a case, and which of them can be carried out here.

use anyhow::{Context, Result};
use serde_json::Value;

use super::load::Row;
use super::step::Step;
use crate::editor::{ApplyReply, ApplyScript, Mangle};

/// All faults of a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults {
    pub errors: Vec<ErrorFault>,
    pub hooks: Vec<Hook>,
    /// The server is killed after each durable step in turn.
    pub crash_each: bool,
    /// Or after this one only, from 1.
    pub crash_after: Option<usize>,
    /// It is killed again while it recovers.
    pub crash_in_recovery: bool,
    pub editor: Vec<EditorFault>,
}

/// An effect that fails.
#[derive(Debug, Clone)]
pub(super) struct ErrorFault {
    pub effect: Effect,
    /// Absent means any path.
    pub path: Option<String>,
    pub nth: u64,
    pub errno: i32,
}

/// Steps played just before an effect.
#[derive(Debug, Clone)]
pub(super) struct Hook {
    pub before: Effect,
    pub path: Option<String>,
    pub steps: Vec<Step>,
}

/// How the editor answers an edit.
#[derive(Debug, Clone)]
pub(super) struct EditorFault {
    pub reply: Option<ApplyReply>,
    /// Paths that it really applies.
    pub apply: Option<Vec<String>>,
    pub mangle: Option<Mangle>,
}

impl EditorFault {
    /// The script of one answer, with paths as URIs.
    pub(super) fn script(&self, uri: impl Fn(&str) -> String) -> ApplyScript {
        ApplyScript {
            reply: self.reply.clone(),
            only: self
                .apply
                .as_ref()
                .map(|paths| paths.iter().map(|path| uri(path)).collect()),
            mangle: self.mangle.clone(),
            typed_first: Vec::new(),
        }
    }
}

/// What happens to the disk, by what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Write,
    Fsync,
    Rename,
    Remove,
}

impl Effect {
    pub(super) fn named(name: &str) -> Option<Effect> {
        match name {
            "write" => Some(Effect::Write),
            "fsync" => Some(Effect::Fsync),
            "rename" => Some(Effect::Rename),
            "remove" => Some(Effect::Remove),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Effect::Write => "write",
            Effect::Fsync => "fsync",
            Effect::Rename => "rename",
            Effect::Remove => "remove",
        }
    }
}

impl Faults {
    pub(super) fn crashes(&self) -> bool {
        self.crash_each || self.crash_after.is_some()
    }
}

/// Why a fault of the row cannot be carried out, if one cannot.
pub(super) fn why_unmapped(row: &Row) -> Option<String> {
    parse(row)
        .err()
        .map(|error| format!("a fault cannot be mapped: {error:#}"))
}

/// Reads the faults of a row.
///
/// # Errors
///
/// Names the one that cannot be mapped.
pub(super) fn parse(row: &Row) -> Result<Faults> {
    let mut faults = Faults::default();
    for fault in row.list("faults")? {
        one(fault, &mut faults).with_context(|| format!("{fault}"))?;
    }
    Ok(faults)
}

fn one(fault: &Value, faults: &mut Faults) -> Result<()> {
    let op = fault["op"].as_str().context("a fault has an op")?;
    match op {
        "crash" => {
            if fault["during"].as_str() == Some("recovery") {
                faults.crash_in_recovery = true;
            } else if let Some(step) = fault["after_step"].as_u64() {
                faults.crash_after = Some(usize::try_from(step)?);
            } else {
                anyhow::ensure!(
                    fault["after_step"].as_str() == Some("each"),
                    "a crash after which step?"
                );
                faults.crash_each = true;
            }
        }
        "hook" => faults.hooks.push(Hook {
            before: fault["before"]
                .as_str()
                .and_then(Effect::named)
                .context("a hook before which effect?")?,
            path: fault["path"].as_str().map(str::to_owned),
            steps: Step::parse_all(fault["do"].as_array().context("a hook does steps")?)?,
        }),
        "client" => faults.editor.push(EditorFault {
            reply: reply(&fault["reply"])?,
            apply: match &fault["apply"] {
                Value::Null => None,
                Value::Array(paths) => Some(
                    paths
                        .iter()
                        .filter_map(|path| path.as_str().map(str::to_owned))
                        .collect(),
                ),
                Value::Bool(true) => None,
                Value::String(all) if all == "all" => None,
                Value::Bool(false) => Some(Vec::new()),
                Value::String(none) if none == "none" => Some(Vec::new()),
                other => anyhow::bail!("apply {other}"),
            },
            mangle: mangle(&fault["mangle"])?,
        }),
        effect => faults.errors.push(ErrorFault {
            effect: Effect::named(effect).with_context(|| format!("op {effect}"))?,
            path: fault["path"].as_str().map(str::to_owned),
            nth: fault["nth"].as_u64().unwrap_or(1),
            errno: errno(fault["errno"].as_str().context("a fault has an errno")?)?,
        }),
    }
    Ok(())
}

fn reply(value: &Value) -> Result<Option<ApplyReply>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Bool(applied) => ApplyReply::Applied(*applied),
        Value::Object(reply) if reply.get("applied").is_some_and(Value::is_boolean) => {
            ApplyReply::Applied(reply["applied"] == Value::Bool(true))
        }
        Value::Object(reply) if reply.contains_key("error") || reply.contains_key("code") => {
            ApplyReply::Error
        }
        Value::String(word) => match word.as_str() {
            "applied" | "applied:true" | "true" | "success" | "ok" => ApplyReply::Applied(true),
            "refused" | "refuse" | "applied:false" | "false" | "not_applied" | "rejected" => {
                ApplyReply::Applied(false)
            }
            "error" => ApplyReply::Error,
            "none" | "never" | "timeout" | "silence" | "no_reply" => ApplyReply::Silence,
            "disconnect" | "gone" | "close" | "exit" | "hang_up" => ApplyReply::HangUp,
            other => anyhow::bail!("reply {other}"),
        },
        other => anyhow::bail!("reply {other}"),
    }))
}

fn mangle(value: &Value) -> Result<Option<Mangle>> {
    if let Some(more) = value.get("append").and_then(Value::as_str) {
        return Ok(Some(Mangle::Append(more.to_owned())));
    }
    Ok(Some(match value {
        Value::Null | Value::Bool(false) => return Ok(None),
        Value::String(word) => match word.as_str() {
            "trim" | "trim_trailing" | "strip_trailing_whitespace" => Mangle::TrimTrailing,
            "crlf" => Mangle::CrLf,
            "upper" => Mangle::Upper,
            "shift_down" | "off_by_one" | "wrong_line" => Mangle::ShiftDown,
            "append_newline" | "final_newline" => Mangle::Append("\n".to_owned()),
            other => anyhow::bail!("mangle {other}"),
        },
        other => anyhow::bail!("mangle {other}"),
    }))
}

fn errno(name: &str) -> Result<i32> {
    use rustix::io::Errno;
    let errno = match name {
        "ENOSPC" => Errno::NOSPC,
        "EIO" => Errno::IO,
        "EACCES" => Errno::ACCESS,
        "EPERM" => Errno::PERM,
        "EROFS" => Errno::ROFS,
        "EDQUOT" => Errno::DQUOT,
        "EXDEV" => Errno::XDEV,
        "EBUSY" => Errno::BUSY,
        "EMFILE" => Errno::MFILE,
        "ENFILE" => Errno::NFILE,
        "EFBIG" => Errno::FBIG,
        "EINTR" => Errno::INTR,
        "ENOENT" => Errno::NOENT,
        "EEXIST" => Errno::EXIST,
        "ENOTEMPTY" => Errno::NOTEMPTY,
        "EISDIR" => Errno::ISDIR,
        "ENOTDIR" => Errno::NOTDIR,
        "ELOOP" => Errno::LOOP,
        "ENAMETOOLONG" => Errno::NAMETOOLONG,
        "ETXTBSY" => Errno::TXTBSY,
        "ENOMEM" => Errno::NOMEM,
        "EAGAIN" => Errno::AGAIN,
        other => anyhow::bail!("errno {other}"),
    };
    Ok(errno.raw_os_error())
}
