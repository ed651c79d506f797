//! `workspace_notes`: what an agent writes down for later. The only writer of `notes/` and `MEMORY.md`.
//!
//! Notes lie in the durable store, which no other tool can write; writing one is no mutation of the project.

use redline_workspace::{NoteError, NoteName, Notes, WriteMode};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::tool::{CallContext, Tool, parse};
use crate::{Envelope, ErrorCode, Schema, SchemaError, ToolError};

const NAME: &str = "workspace_notes";

/// The note that is the memory.
const MEMORY: &str = "memory";

/// Lists, reads and writes notes and the memory.
#[derive(Debug)]
pub struct WorkspaceNotes {
    schema: Schema,
    notes: Notes,
}

#[derive(Deserialize)]
struct Arguments {
    action: String,
    name: Option<String>,
    text: Option<String>,
    revision: Option<String>,
}

impl WorkspaceNotes {
    /// Makes the tool over a workspace's notes.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when its schema does not compile.
    pub fn new(notes: Notes) -> Result<Self, SchemaError> {
        let schema = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["action"],
            "properties": {
                "action": {"type": "string", "enum": ["list", "read", "write", "append", "remove"], "description": "What to do."},
                "name": {"type": "string", "minLength": 1, "maxLength": 64, "description": "The note: small letters, digits, `-`, `_`; `memory` is what every conversation starts with."},
                "text": {"type": "string", "description": "write, append: Markdown."},
                "revision": {"type": "string", "minLength": 1, "maxLength": 64, "description": "write, remove: the revision that was read, when the note exists already."},
            },
        });
        Ok(Self {
            schema: Schema::compile(NAME, schema)?,
            notes,
        })
    }

    fn list(&self) -> Result<Envelope, ToolError> {
        let names = self.notes.list()?;
        let memory = self.notes.read(&NoteName::Memory)?;
        let data = json!({
            "count": names.len(),
            "notes": names,
            "memory_bytes": memory.map_or(0, |memory| memory.text.len()),
        });
        Ok(Envelope::ok(NAME, "listed", data).omitting("/data/notes"))
    }
}

impl Tool for WorkspaceNotes {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Keeps notes for this workspace across conversations: decisions, findings, how things are built and tested here. `list`, \
         `read`, `write` (a new note, or in the place of the revision that you read), `append`, `remove`. The note `memory` \
         is short and stands at the start of every conversation: put there only what each of them needs. Never write secrets down."
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn mutates(&self) -> bool {
        true
    }

    fn call(
        &self,
        _context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, ToolError> {
        let arguments: Arguments = parse(arguments)?;
        let action = arguments.action.as_str();
        if action == "list" {
            return self.list();
        }
        let needs = |what: &str| {
            let message = format!("`{action}` needs `{what}`");
            ToolError::new(ErrorCode::InvalidArguments, message)
        };
        let shown = arguments.name.as_deref().ok_or_else(|| needs("name"))?;
        let name = match shown {
            MEMORY => NoteName::Memory,
            other => NoteName::new(other)?,
        };
        let written = |note: redline_workspace::Note, state: &str| {
            let data = json!({"name": shown, "bytes": note.text.len()});
            Envelope::ok(NAME, state, data)
                .with_id("note", shown)
                .with_id("revision", note.revision.clone())
                .with_fact("note", shown)
        };
        match action {
            "read" => match self.notes.read(&name)? {
                Some(note) => {
                    Ok(
                        Envelope::ok(NAME, "read", json!({"name": shown, "text": note.text}))
                            .with_id("note", shown)
                            .with_id("revision", note.revision)
                            .omitting("/data/text"),
                    )
                }
                None => Err(NoteError::Unknown {
                    name: shown.to_owned(),
                }
                .into()),
            },
            "remove" => {
                let revision = arguments
                    .revision
                    .as_deref()
                    .ok_or_else(|| needs("revision"))?;
                self.notes.remove(&name, revision)?;
                Ok(Envelope::ok(NAME, "removed", json!({"name": shown})).with_id("note", shown))
            }
            _ => {
                let text = arguments.text.as_deref().ok_or_else(|| needs("text"))?;
                let mode = match (action, arguments.revision.as_deref()) {
                    ("append", _) => WriteMode::Append,
                    (_, Some(revision)) => WriteMode::Replace(revision),
                    (_, None) => WriteMode::New,
                };
                Ok(written(self.notes.write(&name, text, mode)?, "written"))
            }
        }
    }
}

impl From<NoteError> for ToolError {
    fn from(error: NoteError) -> Self {
        Self::from_code(error.code(), error.to_string()).with_hint(error.hint())
    }
}
