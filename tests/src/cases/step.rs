//! Steps of a case, read into one closed set.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::entry::Entry;

/// A step, and who takes it.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub act: Act,
    /// It comes over the connection that proposed.
    pub by_agent: bool,
    /// The client that takes it; absent means the editor.
    pub client: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum Act {
    Write {
        files: Vec<(String, Option<Entry>)>,
        in_place: bool,
    },
    RewriteSame {
        path: String,
        new_inode: bool,
        mtime_offset_s: i64,
    },
    Delete(Vec<String>),
    Rename {
        from: String,
        to: String,
        out: bool,
    },
    Symlink {
        link: String,
        target: String,
    },
    Git(Vec<String>),
    DidChange {
        path: String,
        version: Option<i32>,
        changes: Value,
    },
    Open {
        path: String,
        text: Option<String>,
        version: i32,
        dirty: bool,
    },
    Close(String),
    Save(String),
    WaitMs(u64),
    Restart,
    /// Kills the server in the middle of the step inside.
    KillDuring(Box<Step>),
    Propose(Value),
    Decide(Decision),
    Restore {
        redo: bool,
        id: Option<String>,
    },
    Checkpoint(String),
    RestoreCheckpoint(String),
    Render(Option<String>),
    DumpBuffer(String),
    ListActions(Value),
    InvokeCached(Value),
    /// The reviewer's yes or no to what waits.
    Approve(bool),
    /// A step that belongs to commands.
    Command(&'static str),
}

/// An accept or a reject.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    pub accept: bool,
    pub target: Target,
    pub revision: Option<Value>,
    pub token: Option<Value>,
}

#[derive(Debug, Clone)]
pub(super) enum Target {
    All,
    /// Counted from 0 in the order in which the proposal gives its edits.
    Hunk(usize),
    File(String),
    Lines {
        path: String,
        first: u64,
        last: u64,
    },
    /// All of the proposal with this name.
    Proposal(String),
}

impl Step {
    /// Whether it changes files as somebody else does.
    pub(super) fn writes(&self) -> bool {
        matches!(
            self.act,
            Act::Write { .. }
                | Act::RewriteSame { .. }
                | Act::Delete(_)
                | Act::Rename { .. }
                | Act::Symlink { .. }
        )
    }

    /// Reads one step.
    pub(super) fn parse(value: &Value) -> Result<Step> {
        let object = value.as_object().context("a step is an object")?;
        let by_agent = value.get("as").and_then(Value::as_str) == Some("agent");
        let mut client = value
            .get("client")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let mut acts = object.iter().filter(|(key, _)| {
            !matches!(
                key.as_str(),
                "as" | "client" | "revision" | "token" | "note" | "expect"
            )
        });
        let (name, given) = acts.next().context("a step has a name")?;
        if let Some((other, _)) = acts.next() {
            bail!("a step is one thing, not {name} and {other}");
        }
        if client.is_none() {
            client = given
                .get("client")
                .and_then(Value::as_str)
                .map(str::to_owned);
        }
        let act = act(name, given, value).with_context(|| format!("step {value}"))?;
        Ok(Step {
            act,
            by_agent,
            client,
        })
    }

    /// Reads a list of steps.
    pub(super) fn parse_all(list: &[Value]) -> Result<Vec<Step>> {
        list.iter().map(Step::parse).collect()
    }
}

fn act(name: &str, given: &Value, step: &Value) -> Result<Act> {
    Ok(match name {
        "write" | "write_in_place" => Act::Write {
            files: Entry::parse_all(given)?,
            in_place: name == "write_in_place",
        },
        "rewrite_same" => Act::RewriteSame {
            path: match given.as_str() {
                Some(path) => path.to_owned(),
                None => text(given, "path")?,
            },
            new_inode: given["new_inode"].as_bool().unwrap_or(false),
            mtime_offset_s: given["mtime_offset_s"].as_i64().unwrap_or(0),
        },
        "delete" => Act::Delete(texts(given)?),
        "rename" | "rename_out" => {
            let (from, to) = pair(given)?;
            Act::Rename {
                from,
                to,
                out: name == "rename_out",
            }
        }
        "symlink" => symlink(given)?,
        "git" => Act::Git(texts(given)?),
        "didChange" => Act::DidChange {
            path: text(given, "path")?,
            version: version(&given["version"])?,
            changes: content_changes(&given["changes"])?,
        },
        "open" => Act::Open {
            path: match given.as_str() {
                Some(path) => path.to_owned(),
                None => text(given, "path")?,
            },
            text: given["text"].as_str().map(str::to_owned),
            version: version(&given["version"])?.unwrap_or(1),
            dirty: given["dirty"].as_bool().unwrap_or(false),
        },
        "close" | "save" => {
            let path = match given.as_str() {
                Some(path) => path.to_owned(),
                None => text(given, "path")?,
            };
            if name == "close" {
                Act::Close(path)
            } else {
                Act::Save(path)
            }
        }
        "wait_ms" => Act::WaitMs(given.as_u64().context("wait_ms counts")?),
        "restart" => Act::Restart,
        "kill_during" => Act::KillDuring(Box::new(killed(given)?)),
        "propose" => Act::Propose(given.clone()),
        "accept" | "reject" => Act::Decide(Decision {
            accept: name == "accept",
            target: target(given)?,
            revision: either(given, step, "revision"),
            token: either(given, step, "token"),
        }),
        "undo" | "redo" => Act::Restore {
            redo: name == "redo",
            id: given
                .as_str()
                .or_else(|| given["id"].as_str())
                .filter(|id| *id != "last")
                .map(str::to_owned),
        },
        "checkpoint" => Act::Checkpoint(
            given
                .as_str()
                .context("a checkpoint has a name")?
                .to_owned(),
        ),
        "restore" => Act::RestoreCheckpoint(
            given
                .as_str()
                .context("a checkpoint has a name")?
                .to_owned(),
        ),
        "render" => Act::Render(
            given
                .as_str()
                .filter(|path| *path != "all")
                .map(str::to_owned),
        ),
        "dump_buffer" => Act::DumpBuffer(
            given
                .as_str()
                .context("dump_buffer names a path")?
                .to_owned(),
        ),
        "list_actions" => Act::ListActions(given.clone()),
        "invoke_cached" => Act::InvokeCached(given.clone()),
        "approve" => Act::Approve(match given {
            Value::Bool(yes) => *yes,
            other => !matches!(other.as_str(), Some("no" | "deny" | "never" | "reject")),
        }),
        "run" => Act::Command("run"),
        other => bail!("no step is called {other}"),
    })
}

/// A step that is killed in its middle: the step itself, or the name of one that takes everything.
fn killed(given: &Value) -> Result<Step> {
    match given {
        Value::String(name) if matches!(name.as_str(), "commit" | "accept") => {
            Step::parse(&json!({"accept": "all"}))
        }
        Value::String(name) if matches!(name.as_str(), "undo" | "redo") => {
            Step::parse(&json!({name.as_str(): "last"}))
        }
        Value::Object(object) => match object.get("step") {
            Some(step) => Step::parse(step),
            None => Step::parse(given),
        },
        other => bail!("{other} is not a step to be killed"),
    }
}

fn symlink(given: &Value) -> Result<Act> {
    if let (Some(path), Some(target)) = (given["path"].as_str(), given["target"].as_str()) {
        return Ok(Act::Symlink {
            link: path.to_owned(),
            target: target.to_owned(),
        });
    }
    if let Some(object) = given.as_object() {
        let (link, target) = object.iter().next().context("an empty symlink step")?;
        let target = target
            .as_str()
            .or_else(|| target["symlink"].as_str())
            .context("a link has a target")?;
        return Ok(Act::Symlink {
            link: link.clone(),
            target: target.to_owned(),
        });
    }
    let (first, second) = pair(given)?;
    // As `ln -s TARGET LINK`, unless only the first can be a link in the workspace.
    let outside = |path: &str| path.starts_with('/') || path.starts_with("..");
    let (target, link) = if outside(&second) && !outside(&first) {
        (second, first)
    } else {
        (first, second)
    };
    Ok(Act::Symlink { link, target })
}

fn target(given: &Value) -> Result<Target> {
    if let Some(name) = given.as_str() {
        return Ok(match name {
            "all" | "last" => Target::All,
            other => Target::Proposal(other.to_owned()),
        });
    }
    if let Some(hunk) = given.as_u64() {
        return Ok(Target::Hunk(usize::try_from(hunk)?));
    }
    if let Some(hunk) = given["hunk"].as_u64() {
        return Ok(Target::Hunk(usize::try_from(hunk)?));
    }
    for key in ["id", "proposal"] {
        if let Some(name) = given[key].as_str() {
            return target(&name.into());
        }
    }
    if let Some(lines) = given["lines"].as_array() {
        let path = text(given, "file").or_else(|_| text(given, "path"))?;
        let (Some(first), Some(last)) = (
            lines.first().and_then(Value::as_u64),
            lines.last().and_then(Value::as_u64),
        ) else {
            bail!("lines are [first, last]");
        };
        return Ok(Target::Lines { path, first, last });
    }
    if let Some(path) = given["file"].as_str() {
        return Ok(Target::File(path.to_owned()));
    }
    if given.as_bool() == Some(true) || given.get("all").is_some() || given.is_object() {
        return Ok(Target::All);
    }
    bail!("{given} is not something to decide on");
}

fn either(given: &Value, step: &Value, key: &str) -> Option<Value> {
    given.get(key).or_else(|| step.get(key)).cloned()
}

fn version(value: &Value) -> Result<Option<i32>> {
    value
        .as_i64()
        .map(|version| i32::try_from(version).context("a version fits 32 bits"))
        .transpose()
}

/// Turns `[[line, col], [line, col]]` into an LSP range; null stays null.
pub(super) fn lsp_range(range: &Value) -> Result<Value> {
    if range.is_null() || range.is_object() {
        return Ok(range.clone());
    }
    let position = |at: usize| -> Result<Value> {
        let line = range[at][0].as_u64().context("a position has a line")?;
        let character = range[at][1].as_u64().context("a position has a column")?;
        Ok(json!({"line": line, "character": character}))
    };
    Ok(json!({"start": position(0)?, "end": position(1)?}))
}

fn content_changes(changes: &Value) -> Result<Value> {
    let list = changes.as_array().context("changes are a list")?;
    let changes = list
        .iter()
        .map(|change| {
            let text = change["text"]
                .as_str()
                .or_else(|| change["newText"].as_str())
                .context("a change has text")?;
            let range = lsp_range(&change["range"])?;
            Ok(if range.is_null() {
                json!({"text": text})
            } else {
                json!({"range": range, "text": text})
            })
        })
        .collect::<Result<_>>()?;
    Ok(Value::Array(changes))
}

fn text(given: &Value, key: &str) -> Result<String> {
    Ok(given[key]
        .as_str()
        .with_context(|| format!("no {key} in {given}"))?
        .to_owned())
}

fn texts(given: &Value) -> Result<Vec<String>> {
    match given {
        Value::String(one) => Ok(vec![one.clone()]),
        Value::Array(list) => list
            .iter()
            .map(|item| Ok(item.as_str().context("a list of texts")?.to_owned()))
            .collect(),
        other => bail!("{other} is not a list of texts"),
    }
}

fn pair(given: &Value) -> Result<(String, String)> {
    match texts(given)?.as_slice() {
        [first, second] => Ok((first.clone(), second.clone())),
        other => bail!("{other:?} are not two paths"),
    }
}
