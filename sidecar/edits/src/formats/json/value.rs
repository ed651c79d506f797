//! Reading fields, and saying where one is wrong.

use serde_json::{Map, Value};

use super::super::error::ParseError;

/// One step from a value to a value inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(&'static str),
    Field(String),
    Index(usize),
}

impl Step {
    pub(super) fn as_key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Field(key) => Some(key),
            Self::Index(_) => None,
        }
    }
}

/// What is wrong, and the way to it from the inside out.
#[derive(Debug)]
pub(super) struct Problem {
    message: String,
    code: &'static str,
    hint: &'static str,
    way: Vec<Step>,
    /// A problem of a text inside the JSON, with its own line.
    inner: Option<Box<ParseError>>,
}

impl Problem {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: "MALFORMED_PROPOSAL",
            hint: "an edit is {path, search, replace}, {path, text}, {path, delete: true} or LSP \
                   text edits",
            way: Vec::new(),
            inner: None,
        }
    }

    pub(super) fn coded(
        code: &'static str,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self {
            code,
            hint,
            ..Self::new(message)
        }
    }

    pub(super) fn inner(err: ParseError) -> Self {
        Self {
            inner: Some(Box::new(err)),
            ..Self::new("")
        }
    }

    pub(super) fn at(mut self, step: Step) -> Self {
        self.way.push(step);
        self
    }

    pub(super) fn into_error(mut self, text: &str, lines_above: usize) -> ParseError {
        self.way.reverse();
        let line = lines_above + super::locate::line_of(text, &self.way);
        if let Some(inner) = self.inner {
            let message = format!("line {} of the text inside: {}", inner.line, inner.message);
            return ParseError::coded(inner.code, line, message, inner.hint);
        }
        let mut place = String::new();
        for step in &self.way {
            match step {
                Step::Index(idx) => place += &format!("[{idx}]"),
                Step::Key(_) | Step::Field(_) => {
                    if !place.is_empty() {
                        place.push('.');
                    }
                    place += step.as_key().unwrap_or_default();
                }
            }
        }
        let message = match place.is_empty() {
            true => self.message,
            false => format!("{place}: {}", self.message),
        };
        ParseError::coded(self.code, line, message, self.hint)
    }
}

/// The first of `names` that is there and not null.
pub(super) fn get<'v>(
    object: &'v Map<String, Value>,
    names: &[&'static str],
) -> Option<(&'static str, &'v Value)> {
    names
        .iter()
        .find_map(|name| object.get(*name).map(|value| (*name, value)))
        .filter(|(_, value)| !value.is_null())
}

pub(super) fn string(
    object: &Map<String, Value>,
    names: &[&'static str],
) -> Result<Option<String>, Problem> {
    match get(object, names) {
        Some((_, Value::String(text))) => Ok(Some(text.clone())),
        Some((name, _)) => Err(Problem::new("a string is expected").at(Step::Key(name))),
        None => Ok(None),
    }
}

pub(super) fn flag(
    object: &Map<String, Value>,
    names: &[&'static str],
) -> Result<Option<bool>, Problem> {
    match get(object, names) {
        Some((_, Value::Bool(flag))) => Ok(Some(*flag)),
        Some((name, _)) => Err(Problem::new("true or false is expected").at(Step::Key(name))),
        None => Ok(None),
    }
}

/// The path that an object is about, by any of its names.
pub(super) fn path(object: &Map<String, Value>) -> Result<Option<String>, Problem> {
    if let Some(Value::Object(document)) = object.get("textDocument") {
        return string(document, &["uri"]).map_err(|problem| problem.at(Step::Key("textDocument")));
    }
    string(
        object,
        &[
            "path",
            "file_path",
            "filePath",
            "file",
            "filename",
            "target_file",
            "uri",
        ],
    )
}

pub(super) fn rationale(object: &Map<String, Value>) -> Result<Option<String>, Problem> {
    string(object, &["rationale", "explanation", "reason", "label"])
}

/// The version of an open document: its own, or that of its `textDocument`.
pub(super) fn version(object: &Map<String, Value>) -> Result<Option<i32>, Problem> {
    let from = match object.get("textDocument") {
        Some(Value::Object(document)) => document,
        _ => object,
    };
    match get(from, &["version"]) {
        None => Ok(None),
        Some((_, version)) => version
            .as_i64()
            .and_then(|version| i32::try_from(version).ok())
            .map(Some)
            .ok_or_else(|| {
                Problem::new("a whole number or null is expected").at(Step::Key("version"))
            }),
    }
}
