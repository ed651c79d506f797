//! `workspace_edit`: proposes changes. It never writes.

mod arguments;

use redline_edits::{
    FileError, MatchRung, Operation, OperationKind, ParseError, ResolveError, resolve,
};
use serde_json::{Map, Value, json};

use crate::tool::{CallContext, Tool, parse};
use crate::{
    Envelope, ErrorCode, Proposed, ProposedFile, Schema, SchemaError, ToolError, ViewProposal,
};

const NAME: &str = "workspace_edit";
/// How often a proposal is resolved again because the user typed meanwhile.
const MAX_TRIES: usize = 5;

/// Proposes changes to the turn's transaction.
#[derive(Debug)]
pub struct WorkspaceEdit(Schema);

impl WorkspaceEdit {
    /// Makes the tool.
    ///
    /// # Errors
    ///
    /// [`SchemaError`] when its schema does not compile.
    pub fn new() -> Result<Self, SchemaError> {
        Schema::compile(NAME, arguments::schema()).map(Self)
    }
}

impl Tool for WorkspaceEdit {
    fn name(&self) -> &str {
        NAME
    }

    fn description(&self) -> &str {
        "Proposes changes for the user's review; all of a call, or nothing when one of them is refused. \
         Give `edits` (replace the one place that reads `search`; make a file with `content`; `delete`; `rename_to`), \
         or `patch` (a unified diff, a `*** Begin Patch`, or search/replace blocks). \
         Copy `search` exactly from the file, whole lines, enough of them to be at one place only. \
         The result says how each file's lines were found and which hunks are pending."
    }

    fn schema(&self) -> &Schema {
        &self.0
    }

    fn mutates(&self) -> bool {
        true
    }

    fn call(
        &self,
        context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, ToolError> {
        let arguments: arguments::Arguments = parse(arguments)?;
        let rationale = arguments.rationale.clone();
        let proposal = arguments.proposal()?;
        let mut tries = 0;
        loop {
            tries += 1;
            let resolved = resolve(&proposal, context.view).map_err(ToolError::from)?;
            if resolved.operations.is_empty() {
                return Ok(Envelope::ok(
                    NAME,
                    "unchanged",
                    json!({"message": "The files read like that already; nothing is to be changed."}),
                ));
            }
            let shown: Vec<Value> = resolved.operations.iter().map(operation).collect();
            let asked = ViewProposal {
                call_id: context.call_id.to_owned(),
                rationale: rationale.clone(),
                operations: resolved.operations,
            };
            match context.view.propose(asked) {
                Ok(proposed) => return Ok(told(&proposed, shown)),
                Err(error) if error.code == ErrorCode::StaleVersion && tries < MAX_TRIES => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn told(proposed: &Proposed, mut files: Vec<Value>) -> Envelope {
    let mut hunks = Vec::new();
    let mut conflicts = 0;
    for file in &mut files {
        let path = file["path"].as_str().unwrap_or_default().to_owned();
        let Some(found) = proposed.files.iter().find(|found| found.path == path) else {
            continue;
        };
        conflicts += found.hunks.iter().filter(|hunk| hunk.conflict).count();
        hunks.extend(found.hunks.iter().map(|hunk| json!(hunk.id)));
        file["hunks"] = shown_hunks(found);
    }
    let paths: Vec<Value> = files.iter().map(|file| file["path"].clone()).collect();
    let mut data = json!({"transaction": proposed.transaction, "files": files});
    if conflicts > 0 {
        data["message"] = json!(format!(
            "{conflicts} hunk(s) are conflicts: the user changed or amended these lines. Read them, and leave the decision to the user."
        ));
    }
    Envelope::ok(NAME, "pending", data)
        .with_id("transaction", proposed.transaction.clone())
        .with_id("hunks", hunks)
        .with_fact("paths", paths)
        .omitting("/data/files")
}

fn shown_hunks(file: &ProposedFile) -> Value {
    file.hunks
        .iter()
        .map(|hunk| {
            let mut shown = json!({
                "id": hunk.id,
                "start_line": hunk.start_line,
                "removed": hunk.removed,
                "added": hunk.added,
            });
            if hunk.conflict {
                shown["conflict"] = json!(true);
            }
            shown
        })
        .collect()
}

fn operation(operation: &Operation) -> Value {
    let mut shown = json!({"path": operation.path, "operation": "edit"});
    match &operation.kind {
        OperationKind::Edit => {}
        OperationKind::Create => shown["operation"] = json!("create"),
        OperationKind::Delete => shown["operation"] = json!("delete"),
        OperationKind::Rename { to } => {
            shown["operation"] = json!("rename");
            shown["to"] = json!(to);
        }
        _ => shown["operation"] = json!("set_mode"),
    }
    shown["match"] = json!(operation.rung.as_str());
    if operation.rung != MatchRung::Exact {
        let inexact: Vec<Value> = operation
            .spans
            .iter()
            .filter(|span| span.rung != MatchRung::Exact)
            .map(|span| {
                let lines = format!(
                    "{}-{}",
                    span.lines.start + 1,
                    span.lines.end.max(span.lines.start + 1)
                );
                json!({"lines": lines, "match": span.rung.as_str()})
            })
            .collect();
        shown["inexact"] = json!(inexact);
        shown["note"] = json!(
            "These lines were found, but not as written; read them to see that the place is right."
        );
    }
    if !operation.flags.is_empty() {
        shown["flags"] = json!(operation.flags);
    }
    shown
}

impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        Self::from_code(error.code, error.message).with_hint(error.hint)
    }
}

impl From<ParseError> for ToolError {
    fn from(error: ParseError) -> Self {
        Self::from_code(
            error.code,
            format!("line {} of the patch: {}", error.line, error.message),
        )
        .with_hint(error.hint)
    }
}

impl From<ResolveError> for ToolError {
    fn from(error: ResolveError) -> Self {
        Self::from_code(error.code(), error.to_string()).with_hint(error.hint())
    }
}
