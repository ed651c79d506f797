//! The arguments of `workspace_edit`, and the proposal that they mean.

use redline_edits::{Change, ChangeKind, ParseOptions, Proposal, detect, parse};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{ErrorCode, ToolError};

const MAX_EDITS: usize = 500;

pub(super) fn schema() -> Value {
    let path = |what: &str| json!({"type": "string", "minLength": 1, "maxLength": 4096, "description": what});
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "edits": {
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_EDITS,
                "description": "Changes, played in order; each does one thing to one path.",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["path"],
                    "properties": {
                        "path": path("File from the workspace root."),
                        "search": {"type": "string", "description": "Text that is at exactly one place, copied exactly. With `replace`."},
                        "replace": {"type": "string", "description": "Text to put there; empty deletes."},
                        "replace_all": {"type": "boolean", "description": "Replace every place that reads `search`."},
                        "content": {"type": "string", "description": "Whole text of a new file."},
                        "overwrite": {"type": "boolean", "description": "With `content`: the file may exist already."},
                        "delete": {"type": "boolean", "description": "Delete the file."},
                        "rename_to": path("New path of the file."),
                        "rationale": {"type": "string", "maxLength": 2000, "description": "Why, in one short sentence, for the reviewer."},
                    },
                },
            },
            "patch": {"type": "string", "minLength": 1, "description": "In place of `edits`: a unified diff, a `*** Begin Patch`, or search/replace blocks."},
            "rationale": {"type": "string", "maxLength": 2000, "description": "Why, for the whole of it."},
        },
    })
}

#[derive(Deserialize)]
pub(super) struct Arguments {
    edits: Option<Vec<Edit>>,
    patch: Option<String>,
    pub(super) rationale: Option<String>,
}

#[derive(Deserialize)]
struct Edit {
    path: String,
    search: Option<String>,
    replace: Option<String>,
    #[serde(default)]
    replace_all: bool,
    content: Option<String>,
    #[serde(default)]
    overwrite: bool,
    #[serde(default)]
    delete: bool,
    rename_to: Option<String>,
    rationale: Option<String>,
}

impl Arguments {
    pub(super) fn proposal(self) -> Result<Proposal, ToolError> {
        let mut proposal = match (self.edits, self.patch) {
            (Some(edits), None) => {
                let changes = edits
                    .into_iter()
                    .enumerate()
                    .map(|(at, edit)| edit.change(at));
                Proposal::new(changes.collect::<Result<_, _>>()?)
            }
            (None, Some(patch)) => {
                let format = detect(&patch).ok_or_else(|| {
                    ToolError::new(
                        ErrorCode::MalformedProposal,
                        "`patch` is none of the formats: unified diff, `*** Begin Patch`, search/replace blocks",
                    )
                    .with_hint("Use `edits` with `path`, `search` and `replace` instead.")
                })?;
                parse(format, &patch, &ParseOptions::default()).map_err(ToolError::from)?
            }
            (Some(_), Some(_)) => return Err(wrong("give either `edits` or `patch`, not both")),
            (None, None) => return Err(wrong("give `edits` or `patch`")),
        };
        if proposal.rationale.is_none() {
            proposal.rationale = self.rationale;
        }
        Ok(proposal)
    }
}

impl Edit {
    fn change(self, at: usize) -> Result<Change, ToolError> {
        let here = |what: &str| wrong(format!("`edits[{at}]` ({}): {what}", clip(&self.path)));
        let forms = usize::from(self.search.is_some())
            + usize::from(self.content.is_some())
            + usize::from(self.delete)
            + usize::from(self.rename_to.is_some());
        if forms == 0 {
            return Err(here(
                "say what to do: `search` with `replace`, `content`, `delete`, or `rename_to`",
            ));
        }
        if forms > 1 {
            return Err(here("one edit does one thing; make several edits of it"));
        }
        if self.replace.is_some() && self.search.is_none() {
            return Err(here(
                "`replace` needs `search`; for a whole new file use `content`",
            ));
        }
        let path = self.path.clone();
        let kind = if let Some(search) = self.search {
            let Some(replace) = self.replace else {
                return Err(wrong(format!(
                    "`edits[{at}]` ({}): `search` needs `replace`; an empty one deletes the text",
                    clip(&path)
                )));
            };
            ChangeKind::Replace {
                search,
                replace,
                replace_all: self.replace_all,
                whole_lines: false,
                other_readings: Vec::new(),
            }
        } else if let Some(text) = self.content {
            ChangeKind::Create {
                text,
                overwrite: self.overwrite,
                ignore_if_exists: false,
            }
        } else if let Some(to) = self.rename_to {
            ChangeKind::Rename {
                to,
                overwrite: false,
                ignore_if_exists: false,
            }
        } else {
            ChangeKind::Delete {
                recursive: false,
                ignore_if_missing: false,
            }
        };
        let mut change = Change::new(path, kind);
        change.rationale = self.rationale;
        Ok(change)
    }
}

fn wrong(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}

fn clip(path: &str) -> String {
    path.chars().take(80).collect()
}
