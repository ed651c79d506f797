//! `workspace_search`: where a text is.

use redline_workspace::{Case, Found, Match, Query, SearchError, WorkspacePath, search};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::place::Within;
use crate::tool::{CallContext, Tool, parse};
use crate::{Envelope, ErrorCode, Schema, SchemaError, ToolError};

const NAME: &str = "workspace_search";
const MAX_HITS: usize = 500;

/// Searches the proposed view.
#[derive(Debug)]
pub struct WorkspaceSearch(Schema);

#[derive(Deserialize)]
struct Arguments {
    pattern: String,
    #[serde(default)]
    regex: bool,
    case_sensitive: Option<bool>,
    #[serde(flatten)]
    within: Within,
    #[serde(default)]
    context: usize,
    #[serde(default = "default_limit")]
    limit: usize,
}

fn default_limit() -> usize {
    50
}

impl WorkspaceSearch {
    /// Makes the tool.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when its schema does not compile.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["pattern"],
            "properties": {
                "pattern": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "Text to find, within one line."},
                "regex": {"type": "boolean", "description": "The pattern is a regular expression (Rust syntax). Absent: literal text."},
                "case_sensitive": {"type": "boolean", "description": "Absent: only when the pattern has an upper-case letter."},
                "path": Within::path_schema("File or folder to search; absent: everything."),
                "glob": Within::glob_schema(),
                "context": {"type": "integer", "minimum": 0, "maximum": 20, "description": "Lines to show before and after each hit."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_HITS, "description": "Most hits; 50 if absent."},
            },
        });
        Schema::compile(NAME, schema).map(Self)
    }
}

impl Tool for WorkspaceSearch {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Finds lines in the files of the workspace, with the pending edits of this session applied. Files that .gitignore leaves out and binary files are not searched."
    }

    fn schema(&self) -> &Schema {
        &self.0
    }

    fn mutates(&self) -> bool {
        false
    }

    fn call(
        &self,
        context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, ToolError> {
        let arguments: Arguments = parse(arguments)?;
        if !arguments.regex && arguments.pattern.contains('\n') {
            return Err(
                ToolError::new(ErrorCode::InvalidArguments, "`pattern` has a line break")
                    .with_hint("Search for one line; read the file to see the lines around it."),
            );
        }
        let query = Query {
            pattern: arguments.pattern.clone(),
            regex: arguments.regex,
            case: match arguments.case_sensitive {
                None => Case::Smart,
                Some(true) => Case::Sensitive,
                Some(false) => Case::Insensitive,
            },
            words: false,
            context: arguments.context,
            scope: arguments.within.scope(context)?,
            limit: arguments.limit,
        };
        let found = find(context, query)?;
        let hits: Vec<Value> = found.matches.iter().map(shown).collect();
        let data = json!({
            "count": hits.len(),
            "cut": found.truncated || found.cancelled,
            "searched_files": found.files,
            "hits": hits,
        });
        let mut envelope = Envelope::ok(NAME, "read", data)
            .with_fact("pattern", arguments.pattern.clone())
            .omitting("/data/hits");
        if found.truncated && arguments.limit < MAX_HITS {
            let again = json!({
                "pattern": arguments.pattern, "regex": arguments.regex, "path": arguments.within.path,
                "limit": MAX_HITS,
            });
            envelope = arguments.within.resume(envelope, NAME, again);
        }
        Ok(envelope)
    }
}

/// Searches; a path that is a file is searched by a glob that only it matches.
fn find(context: &CallContext<'_>, mut query: Query) -> Result<Found, ToolError> {
    let root = context.view.root();
    let overlay = context.view.overlay()?;
    let threads = std::thread::available_parallelism()
        .map_or(2, std::num::NonZero::get)
        .min(4);
    match search(root, &query, &overlay, threads, context.cancel) {
        Err(SearchError::NoFolder { .. }) => {}
        other => return Ok(other?),
    }
    let Some(path) = query.scope.folder.take() else {
        return Err(ToolError::new(
            ErrorCode::NotFound,
            "the workspace folder is gone",
        ));
    };
    if !matches!(
        context.view.read(path.as_str())?,
        redline_edits::FileState::Text { .. }
    ) {
        let message = format!("{path} is neither a folder nor a text file");
        return Err(ToolError::new(ErrorCode::NotFound, message));
    }
    query.scope.globs = vec![only(&path)];
    query.scope.ignored = true;
    Ok(search(root, &query, &overlay, threads, context.cancel)?)
}

/// The glob of one path, from the root.
fn only(path: &WorkspacePath) -> String {
    let mut glob = String::from("/");
    for c in path.as_str().chars() {
        if matches!(
            c,
            '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\' | '#' | ' '
        ) {
            glob.push('\\');
        }
        glob.push(c);
    }
    glob
}

/// `path:line: text`, with `path-line- text` for context, as grep writes them.
fn shown(hit: &Match) -> Value {
    if hit.before.is_empty() && hit.after.is_empty() {
        return json!(format!("{}:{}: {}", hit.path, hit.line, hit.text));
    }
    let mut lines = Vec::new();
    let line = usize::try_from(hit.line).unwrap_or(usize::MAX);
    let first = line.saturating_sub(hit.before.len());
    for (offset, text) in hit.before.iter().enumerate() {
        lines.push(format!("{}-{}- {}", hit.path, first + offset, text));
    }
    lines.push(format!("{}:{}: {}", hit.path, hit.line, hit.text));
    for (offset, text) in hit.after.iter().enumerate() {
        lines.push(format!("{}-{}- {}", hit.path, line + 1 + offset, text));
    }
    json!(lines.join("\n"))
}
