//! One entry of a JSON proposal.

use serde_json::{Map, Value};

use super::{
    Common, Reader,
    value::{self, Problem, Step},
};
use crate::{
    positions::LineCol,
    proposal::{Change, ChangeKind, TextEdit},
};

const SEARCH: [&str; 8] = [
    "search",
    "old_string",
    "old_text",
    "old_str",
    "oldText",
    "oldString",
    "old",
    "find",
];
const REPLACE: [&str; 9] = [
    "replace",
    "new_string",
    "new_text",
    "new_str",
    "newText",
    "newString",
    "new",
    "replacement",
    "replace_with",
];
const TEXT: [&str; 6] = [
    "text",
    "content",
    "contents",
    "new_content",
    "file_text",
    "newContent",
];
const RENAME_TO: [&str; 4] = ["rename_to", "move_to", "renameTo", "moveTo"];

impl Reader<'_> {
    pub(super) fn entry(&mut self, entry: &Value, common: &Common) -> Result<(), Problem> {
        let Value::Object(object) = entry else {
            return Err(Problem::new("an object is expected"));
        };
        let mut common = common.clone();
        if let Some(path) = value::path(object)? {
            common.path = Some(path);
        }
        if let Some(rationale) = value::rationale(object)? {
            common.rationale = Some(rationale);
        }
        self.entry_object(object, &common)
    }

    pub(super) fn entry_object(
        &mut self,
        object: &Map<String, Value>,
        common: &Common,
    ) -> Result<(), Problem> {
        let mut common = common.clone();
        if let Some(version) = value::version(object)? {
            common.version = Some(version);
        }
        if self.file_operation(object, &common)? || self.editor_command(object, &common)? {
            return Ok(());
        }
        let Some(path) = common.path.clone() else {
            return Err(Problem::new("it names no path"));
        };
        let changes = changes_of(&path, object, &common)?;
        if changes.is_empty() {
            return Err(Problem::new("there is no edit in it"));
        }
        for change in changes {
            self.push(change, &common);
        }
        Ok(())
    }

    /// LSP's file operations, in its own shape and in the short one.
    fn file_operation(
        &mut self,
        object: &Map<String, Value>,
        common: &Common,
    ) -> Result<bool, Problem> {
        let kind = value::string(object, &["kind"])?;
        let none = Map::new();
        let options = match object.get("options") {
            Some(Value::Object(options)) => options,
            Some(Value::Null) | None => &none,
            Some(_) => {
                return Err(Problem::new("an object is expected").at(Step::Key("options")));
            }
        };
        let option = |name| {
            value::flag(options, &[name])
                .map(|flag| flag == Some(true))
                .map_err(|problem| problem.at(Step::Key("options")))
        };
        let path = |name: &'static str| match object.get(name) {
            Some(Value::String(path)) => Ok(path.clone()),
            _ => Err(Problem::new("a path is expected").at(Step::Key(name))),
        };
        let (path, kind) = match kind.as_deref() {
            Some("create") => (path("uri")?, create(&option)?),
            Some("delete") => (path("uri")?, delete(&option)?),
            Some("rename") => (path("oldUri")?, rename(path("newUri")?, &option)?),
            Some(other) => {
                return Err(Problem::new(format!(
                    "unknown kind {other:?}: it is create, rename or delete"
                ))
                .at(Step::Key("kind")));
            }
            None => match (
                object.get("create"),
                object.get("rename"),
                object.get("delete"),
            ) {
                (Some(Value::String(path)), None, None) => (path.clone(), create(&option)?),
                (None, Some(Value::Array(pair)), None) => match &pair[..] {
                    [Value::String(from), Value::String(to)] => {
                        (from.clone(), rename(to.clone(), &option)?)
                    }
                    _ => {
                        return Err(Problem::new("two paths are expected").at(Step::Key("rename")));
                    }
                },
                (None, None, Some(Value::String(path))) => (path.clone(), delete(&option)?),
                (None, None, Some(Value::Bool(_)) | None) => return Ok(false),
                _ => {
                    return Err(Problem::new(
                        "create and delete take a path, rename takes two, and one of them at a \
                         time",
                    ));
                }
            },
        };
        self.push(Change::new(path, kind), common);
        Ok(true)
    }

    /// The commands of a text editor tool.
    fn editor_command(
        &mut self,
        object: &Map<String, Value>,
        common: &Common,
    ) -> Result<bool, Problem> {
        let Some((_, Value::String(command))) = value::get(object, &["command"]) else {
            return Ok(false);
        };
        let Some(path) = common.path.clone() else {
            return Err(Problem::new("it names no path"));
        };
        let change = match command.as_str() {
            "str_replace" => return Ok(false),
            "create" => Change::write(path, required(object, &TEXT)?),
            "insert" => {
                let line = object
                    .get("insert_line")
                    .and_then(Value::as_u64)
                    .and_then(|line| u32::try_from(line).ok())
                    .ok_or_else(|| {
                        Problem::new("a line number is expected").at(Step::Key("insert_line"))
                    })?;
                let new_text = match value::string(object, &["insert_text"])? {
                    Some(text) => text,
                    None => required(object, &REPLACE)?,
                };
                let at = LineCol::new(line, 0);
                let edit = TextEdit {
                    start: at,
                    end: at,
                    new_text,
                };
                Change::new(
                    path,
                    ChangeKind::TextEdits {
                        encoding: common.encoding,
                        version: common.version,
                        edits: vec![edit],
                    },
                )
            }
            other => {
                return Err(Problem::new(format!(
                    "unknown command {other:?}: it is str_replace, create or insert"
                ))
                .at(Step::Key("command")));
            }
        };
        self.push(change, common);
        Ok(true)
    }
}

fn create(option: &dyn Fn(&'static str) -> Result<bool, Problem>) -> Result<ChangeKind, Problem> {
    Ok(ChangeKind::Create {
        text: String::new(),
        overwrite: option("overwrite")?,
        ignore_if_exists: option("ignoreIfExists")?,
    })
}

fn delete(option: &dyn Fn(&'static str) -> Result<bool, Problem>) -> Result<ChangeKind, Problem> {
    Ok(ChangeKind::Delete {
        recursive: option("recursive")?,
        ignore_if_missing: option("ignoreIfNotExists")?,
    })
}

fn rename(
    to: String,
    option: &dyn Fn(&'static str) -> Result<bool, Problem>,
) -> Result<ChangeKind, Problem> {
    Ok(ChangeKind::Rename {
        to,
        overwrite: option("overwrite")?,
        ignore_if_exists: option("ignoreIfExists")?,
    })
}

/// What an entry does to its one path.
fn changes_of(
    path: &str,
    object: &Map<String, Value>,
    common: &Common,
) -> Result<Vec<Change>, Problem> {
    let mut path = path.to_owned();
    let mut changes = Vec::new();
    let search = value::string(object, &SEARCH)?;
    let text = value::string(object, &TEXT)?;
    let is_delete = value::flag(object, &["delete"])? == Some(true);
    let rename_to = value::string(object, &RENAME_TO)?;
    let n_ways = usize::from(search.is_some() || object.contains_key("range"))
        + usize::from(text.is_some())
        + usize::from(is_delete)
        + usize::from(object.contains_key("edits"));
    if n_ways > 1 || is_delete && rename_to.is_some() {
        return Err(Problem::new("it says several things at once"));
    }
    if is_delete {
        return Ok(vec![Change::delete(path)]);
    }
    if let Some(to) = rename_to {
        changes.push(Change::rename(path, to.clone()));
        path = to;
    }
    if let Some(text) = text {
        changes.push(Change::new(
            path.clone(),
            ChangeKind::Write {
                text,
                base_text: value::string(object, &["base_text"])?,
                complete: value::flag(object, &["complete"])? != Some(false),
            },
        ));
    } else if object.contains_key("range") {
        let edit = text_edit(object)?;
        changes.push(Change::new(
            path.clone(),
            ChangeKind::TextEdits {
                encoding: common.encoding,
                version: common.version,
                edits: vec![edit],
            },
        ));
    } else if let Some(search) = search {
        changes.push(Change::new(path.clone(), replace(object, search)?));
    } else if let Some(edits) = object.get("edits") {
        let at = |problem: Problem| problem.at(Step::Key("edits"));
        let Value::Array(edits) = edits else {
            return Err(at(Problem::new("an array is expected")));
        };
        if edits.iter().any(|edit| edit.get("range").is_some()) || edits.is_empty() {
            let kind = text_edits(edits, common).map_err(at)?;
            changes.push(Change::new(path.clone(), kind));
        } else {
            for (idx, edit) in edits.iter().enumerate() {
                let at = |problem: Problem| problem.at(Step::Index(idx)).at(Step::Key("edits"));
                let Value::Object(edit) = edit else {
                    return Err(at(Problem::new("an object is expected")));
                };
                let search = required(edit, &SEARCH).map_err(at)?;
                let kind = replace(edit, search).map_err(at)?;
                let mut change = Change::new(path.clone(), kind);
                change.rationale = value::rationale(edit).map_err(at)?;
                changes.push(change);
            }
        }
    }
    if let Some(mode) = value::string(object, &["mode"])? {
        let bits = u32::from_str_radix(&mode, 8)
            .ok()
            .filter(|bits| *bits <= 0o777)
            .ok_or_else(|| {
                Problem::new("octal permission bits such as \"0755\" are expected")
                    .at(Step::Key("mode"))
            })?;
        changes.push(Change::new(path, ChangeKind::SetMode { mode: bits }));
    }
    Ok(changes)
}

fn replace(object: &Map<String, Value>, search: String) -> Result<ChangeKind, Problem> {
    Ok(ChangeKind::Replace {
        search,
        replace: required(object, &REPLACE)?,
        replace_all: value::flag(object, &["replace_all", "replaceAll", "all"])? == Some(true),
        whole_lines: false,
        other_readings: Vec::new(),
    })
}

fn required(object: &Map<String, Value>, names: &[&'static str]) -> Result<String, Problem> {
    value::string(object, names)?
        .ok_or_else(|| Problem::new(format!("it has no {:?}", names.first().unwrap_or(&""))))
}

/// LSP text edits of one document.
pub(super) fn text_edits(edits: &[Value], common: &Common) -> Result<ChangeKind, Problem> {
    let mut read = Vec::with_capacity(edits.len());
    for (idx, edit) in edits.iter().enumerate() {
        let at = |problem: Problem| problem.at(Step::Index(idx));
        let Value::Object(edit) = edit else {
            return Err(at(Problem::new("an object is expected")));
        };
        read.push(text_edit(edit).map_err(at)?);
    }
    Ok(ChangeKind::TextEdits {
        encoding: common.encoding,
        version: common.version,
        edits: read,
    })
}

fn text_edit(edit: &Map<String, Value>) -> Result<TextEdit, Problem> {
    if edit.contains_key("snippet") {
        return Err(Problem::coded(
            "UNSUPPORTED",
            "a snippet is no plain text",
            "send the text that the snippet stands for",
        )
        .at(Step::Key("snippet")));
    }
    let Some(range) = edit.get("range") else {
        return Err(Problem::new("it has no \"range\""));
    };
    let (start, end) = match range {
        Value::Object(range) => (range.get("start"), range.get("end")),
        Value::Array(range) if range.len() == 2 => (range.first(), range.get(1)),
        _ => (None, None),
    };
    let position =
        |at: Option<&Value>| position(at).map_err(|problem| problem.at(Step::Key("range")));
    Ok(TextEdit {
        start: position(start)?,
        end: position(end)?,
        new_text: match value::string(edit, &["newText", "new_text", "text"])? {
            Some(text) => text,
            None => return Err(Problem::new("it has no \"newText\"")),
        },
    })
}

fn position(at: Option<&Value>) -> Result<LineCol, Problem> {
    let (line, character) = match at {
        Some(Value::Object(at)) => (at.get("line"), at.get("character")),
        Some(Value::Array(at)) if at.len() == 2 => (at.first(), at.get(1)),
        _ => (None, None),
    };
    let number = |value: Option<&Value>| match value {
        Some(value) if value.is_u64() => {
            Ok(u32::try_from(value.as_u64().unwrap_or(u64::MAX)).unwrap_or(u32::MAX))
        }
        Some(value) if value.is_number() => Err(Problem::coded(
            "INVALID_POSITION",
            format!("{value} is no line or column"),
            "count lines and columns from 0",
        )),
        _ => Err(Problem::new(
            "a position is expected: {line, character} or [line, column]",
        )),
    };
    Ok(LineCol::new(number(line)?, number(character)?))
}
