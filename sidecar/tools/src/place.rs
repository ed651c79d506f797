//! What reading tools share: the path and the glob of a call, and the call that goes on where it was cut.
//!
//! Readers follow links that stay inside the workspace. What they answer with are the paths of the files
//! themselves, which are the ones to edit: nothing is ever written through a link.

use redline_workspace::{PathError, Scope, WorkspacePath};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::CallContext;
use crate::{Envelope, ToolError};

/// The arguments that say which files a call is about.
#[derive(Deserialize)]
pub(crate) struct Within {
    #[serde(default)]
    pub(crate) path: String,
    glob: Option<String>,
}

impl Within {
    /// The schema of `path`, described by `what`.
    pub(crate) fn path_schema(what: &str) -> Value {
        json!({"type": "string", "maxLength": 4096, "description": what})
    }

    /// The schema of `glob`.
    pub(crate) fn glob_schema() -> Value {
        json!({"type": "string", "minLength": 1, "maxLength": 1024, "description": "Only paths that match, for example `**/*.rs`."})
    }

    /// Where to walk.
    pub(crate) fn scope(&self, context: &CallContext<'_>) -> Result<Scope, ToolError> {
        let folder = folder(context, &self.path)?;
        let folder = folder.map(|folder| context.view.root().resolve(&folder));
        Ok(Scope {
            folder: folder.transpose().map_err(refused)?,
            globs: self.glob.iter().cloned().collect(),
            ..Scope::default()
        })
    }

    /// Adds to `envelope`, whose result was cut, the call of `tool` with `arguments` that shows more.
    pub(crate) fn resume(&self, envelope: Envelope, tool: &str, mut arguments: Value) -> Envelope {
        if let Some(glob) = &self.glob {
            arguments["glob"] = json!(glob);
        }
        envelope.resuming(json!({"tool": tool, "arguments": arguments}))
    }
}

/// The folder that `path` names, none being the root; models write `.`, `./src` and `src/`.
pub(crate) fn folder(
    context: &CallContext<'_>,
    path: &str,
) -> Result<Option<WorkspacePath>, ToolError> {
    let trimmed = match path.trim_end_matches('/') {
        // `/` alone is not the root of the workspace.
        "" if !path.is_empty() => path,
        "" | "." | "./" => return Ok(None),
        other => other,
    };
    let admitted = context.view.admit(trimmed)?;
    let found = context.view.root().admit_folder(&admitted);
    found.map_err(refused)
}

/// The path of the file that a reader of `path` means.
pub(crate) fn file(context: &CallContext<'_>, path: &str) -> Result<WorkspacePath, ToolError> {
    let admitted = context.view.admit(path)?;
    let root = context.view.root();
    let reached = root.admit(&admitted).and_then(|path| root.resolve(&path));
    reached.map_err(refused)
}

fn refused(error: PathError) -> ToolError {
    ToolError::from_code(error.code(), error.to_string()).with_hint(error.hint())
}
