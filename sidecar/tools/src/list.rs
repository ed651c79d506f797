//! `workspace_list`: what is in a folder.

use redline_workspace::{ListedKind, Scope, WorkspacePath, list};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::place::Within;
use crate::tool::{CallContext, Tool, parse};
use crate::{Envelope, Schema, SchemaError, ToolError};

const NAME: &str = "workspace_list";
const MAX_ENTRIES: usize = 2000;

/// Lists a folder of the proposed view.
#[derive(Debug)]
pub struct WorkspaceList(Schema);

#[derive(Deserialize)]
struct Arguments {
    #[serde(flatten)]
    within: Within,
    #[serde(default = "one")]
    depth: usize,
    #[serde(default)]
    ignored: bool,
    #[serde(default = "default_limit")]
    limit: usize,
}

fn one() -> usize {
    1
}

fn default_limit() -> usize {
    200
}

impl WorkspaceList {
    /// Makes the tool.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when its schema does not compile.
    pub fn new() -> Result<Self, SchemaError> {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "path": Within::path_schema("Folder from the workspace root; empty or absent: the root."),
                "depth": {"type": "integer", "minimum": 1, "maximum": 16, "description": "Levels to show; 1 (the default) is the folder itself."},
                "glob": Within::glob_schema(),
                "ignored": {"type": "boolean", "description": "Also show hidden files and what .gitignore leaves out."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_ENTRIES, "description": "Most entries to show; 200 if absent."},
            },
        });
        Schema::compile(NAME, schema).map(Self)
    }
}

impl Tool for WorkspaceList {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Lists files and folders, as they will be with the pending edits of this session. Folders end with `/`."
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
        let scope = Scope {
            ignored: arguments.ignored,
            depth: Some(arguments.depth),
            ..arguments.within.scope(context)?
        };
        let folder = scope.folder.as_ref();
        let path = folder.map_or("", WorkspacePath::as_str).to_owned();
        let root = context.view.root();
        let overlay = context.view.overlay()?;
        let listing = list(root, &scope, &overlay, arguments.limit, context.cancel)?;
        let entries: Vec<String> = listing
            .entries
            .iter()
            .map(|entry| match entry.kind {
                ListedKind::File => entry.path.to_string(),
                ListedKind::Directory => format!("{}/", entry.path),
                ListedKind::Symlink => format!("{} (symbolic link)", entry.path),
                ListedKind::Special => format!("{} (not a regular file)", entry.path),
            })
            .collect();
        let data = json!({"path": path, "cut": listing.truncated, "entries": entries});
        let mut envelope = Envelope::ok(NAME, "read", data)
            .with_fact("path", path.clone())
            .omitting("/data/entries");
        if listing.truncated && arguments.limit < MAX_ENTRIES {
            let again = json!({"path": path, "depth": arguments.depth, "limit": MAX_ENTRIES});
            envelope = arguments.within.resume(envelope, NAME, again);
        }
        Ok(envelope)
    }
}
