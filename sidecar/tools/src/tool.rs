//! The contract of a tool, and the set of tools of one session.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redline_workspace::SearchError;
use serde_json::{Map, Value, json};

use crate::gate::{Admission, Claim, GatedCall, Gatekeeper, Start};
use crate::{
    Envelope, ErrorCode, Operation, Schema, SchemaError, ToolError, WorkspaceEdit, WorkspaceList,
    WorkspaceRead, WorkspaceSearch, WorkspaceView,
};

/// Largest arguments of one call, in bytes of their strings.
const MAX_ARGUMENT_BYTES: usize = 8 << 20;

/// A named capability. Calls block, and run on worker threads.
pub trait Tool: Send + Sync {
    /// `[a-z_]+`, unique in a session.
    fn name(&self) -> &str;

    /// When to use it and how, for the model.
    fn description(&self) -> &str;

    /// The schema of its arguments.
    fn schema(&self) -> &Schema;

    /// Whether calls change what later calls see. Such calls run alone and in order; others run
    /// side by side.
    fn mutates(&self) -> bool;

    /// Whether calls see the files on the disk rather than the proposed view, so that edits that the policy lets be
    /// committed are committed before one runs.
    fn reads_disk(&self) -> bool {
        false
    }

    /// What a call with these arguments, which fit the schema, would do as the workspace stands now; `None` when
    /// that is no mutation. Changes nothing itself.
    ///
    /// # Errors
    ///
    /// What is wrong with the call already before it runs: a program that is not there, a path outside.
    fn operation(
        &self,
        _context: &CallContext<'_>,
        _arguments: &Map<String, Value>,
    ) -> Result<Option<Operation>, ToolError> {
        Ok(None)
    }

    /// Runs one call, whose arguments fit the schema and which the gate let through.
    ///
    /// # Errors
    ///
    /// Anything that a model can do something about; it reads the code, the message and the hint.
    fn call(
        &self,
        context: &CallContext<'_>,
        arguments: &Map<String, Value>,
    ) -> Result<Envelope, ToolError>;
}

/// What a call runs with.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// The workspace.
    pub view: &'a dyn WorkspaceView,
    /// Who decides whether a mutation runs.
    pub gate: &'a dyn Gatekeeper,
    /// Id of the session.
    pub session: &'a str,
    /// Id of the turn.
    pub turn: &'a str,
    /// Id of the call, unique in the conversation.
    pub call_id: &'a str,
    /// The approval whose decision this call carries out.
    pub resumes: Option<&'a str>,
    /// The operation that the gate let through: a tool compares before it acts, so that what was decided on is
    /// what happens. Set by [`ToolSet::run`] alone.
    pub admitted: Option<&'a Operation>,
    /// Becomes true when the turn is stopped.
    pub cancel: &'a AtomicBool,
}

/// The tools of one session, in the order in which the model reads them.
#[derive(Clone, Default)]
pub struct ToolSet(Vec<Arc<dyn Tool>>);

/// Two tools of one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two tools are called `{0}`")]
pub struct NameClash(pub String);

/// The tools of a workspace.
///
/// # Errors
///
/// [`SchemaError`] when a schema of ours does not compile.
pub fn workspace_tools() -> Result<Vec<Arc<dyn Tool>>, SchemaError> {
    Ok(vec![
        Arc::new(WorkspaceList::new()?),
        Arc::new(WorkspaceRead::new()?),
        Arc::new(WorkspaceSearch::new()?),
        Arc::new(WorkspaceEdit::new()?),
    ])
}

impl ToolSet {
    /// Composes a set.
    ///
    /// # Errors
    ///
    /// [`NameClash`] when two tools have one name.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Result<Self, NameClash> {
        let mut names = std::collections::HashSet::new();
        for tool in &tools {
            if !names.insert(tool.name().to_owned()) {
                return Err(NameClash(tool.name().to_owned()));
            }
        }
        Ok(Self(tools))
    }

    /// The tools.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Tool> {
        self.0.iter().map(AsRef::as_ref)
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<&dyn Tool> {
        self.iter().find(|tool| tool.name() == name)
    }

    /// Runs one call: schema, gate, tool. Whatever the arguments are, and whatever the tool does: an envelope;
    /// one with the status `pending_approval` when it waits for the user.
    pub fn run(
        &self,
        context: &CallContext<'_>,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Envelope {
        let Some(tool) = self.get(name) else {
            return Envelope::error(&shown_name(name), self.unknown(name));
        };
        let result = check_size(arguments)
            .and_then(|()| go_on(context))
            .and_then(|()| tool.schema().check(arguments))
            .and_then(|()| guarded(tool, || tool.operation(context, arguments)))
            .and_then(|operation| match operation {
                None => guarded(tool, || tool.call(context, arguments)),
                Some(operation) => pass(tool, context, arguments, &operation),
            });
        result.unwrap_or_else(|error| Envelope::error(tool.name(), error))
    }

    fn unknown(&self, name: &str) -> ToolError {
        let known: Vec<&str> = self.iter().map(Tool::name).collect();
        ToolError::new(
            ErrorCode::InvalidArguments,
            format!("there is no tool `{}`", shown_name(name)),
        )
        .with_hint(format!("The tools are {}.", known.join(", ")))
        .with_details(json!({ "tools": known }))
    }
}

/// Takes a mutation through the gate, and runs it when it may.
fn pass(
    tool: &dyn Tool,
    context: &CallContext<'_>,
    arguments: &Map<String, Value>,
    operation: &Operation,
) -> Result<Envelope, ToolError> {
    let call = GatedCall {
        session: context.session,
        turn: context.turn,
        call_id: context.call_id,
        tool: tool.name(),
        arguments,
        resumes: context.resumes,
    };
    match context.gate.admit(&call, operation) {
        Admission::Refused(error) => Err(error),
        Admission::Staged(envelope) => Ok(*envelope),
        Admission::Run(claim) => {
            let settle = |claim: Option<Claim>, start| {
                if let Some(claim) = claim {
                    context.gate.settle(claim, start);
                }
            };
            // The gate may have waited for a lock: the turn may have been stopped meanwhile.
            if let Err(stopped) = go_on(context) {
                settle(claim, Start::NotBegun);
                return Err(stopped);
            }
            let context = CallContext {
                admitted: Some(operation),
                ..*context
            };
            let result = guarded(tool, || tool.call(&context, arguments));
            settle(claim, Start::Began);
            result
        }
    }
}

fn go_on(context: &CallContext<'_>) -> Result<(), ToolError> {
    if !context.cancel.load(Ordering::Relaxed) {
        return Ok(());
    }
    Err(ToolError::new(
        ErrorCode::Cancelled,
        "the turn was stopped before this call ran",
    ))
}

/// Runs a tool's own code; a panic in it is an error like another.
fn guarded<T>(
    tool: &dyn Tool,
    work: impl FnOnce() -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(panicked(tool.name(), panic.as_ref())))
}

/// Reads checked arguments into a tool's own type.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(
    arguments: &Map<String, Value>,
) -> Result<T, ToolError> {
    serde_json::from_value(Value::Object(arguments.clone()))
        .map_err(|error| ToolError::new(ErrorCode::InvalidArguments, error.to_string()))
}

impl From<SearchError> for ToolError {
    fn from(error: SearchError) -> Self {
        Self::from_code(error.code(), error.to_string()).with_hint(error.hint())
    }
}

fn shown_name(name: &str) -> String {
    name.chars().take(64).collect()
}

/// Adds up the strings, so that the cost of a check is bounded before any schema looks at them.
fn check_size(arguments: &Map<String, Value>) -> Result<(), ToolError> {
    fn size(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(size).sum(),
            Value::Object(map) => map
                .iter()
                .map(|(name, value)| name.len() + size(value))
                .sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        }
    }
    let bytes: usize = arguments
        .iter()
        .map(|(name, value)| name.len() + size(value))
        .sum();
    if bytes <= MAX_ARGUMENT_BYTES {
        return Ok(());
    }
    Err(ToolError::new(
        ErrorCode::TooLarge,
        format!("the arguments hold {bytes} bytes; at most {MAX_ARGUMENT_BYTES} are taken"),
    ))
}

fn panicked(tool: &str, panic: &(dyn std::any::Any + Send)) -> ToolError {
    let what = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    ToolError::new(ErrorCode::Internal, format!("{tool} failed inside: {what}"))
}

impl std::fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(Tool::name)).finish()
    }
}
