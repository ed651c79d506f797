//! Who acts: identity, instruction, tools. Reusable across workspaces.

use std::sync::Arc;

use redline_tools::{NameClash, SchemaError, Tool, ToolSet, workspace_tools};

use crate::{Ground, History, Session};

/// An agent. Cheap to clone.
#[derive(Clone)]
pub struct Agent {
    id: String,
    instruction: String,
    tools: ToolSet,
}

/// An agent that cannot be composed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// Two tools of one name.
    #[error(transparent)]
    NameClash(#[from] NameClash),
    /// A tool's schema does not compile.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

impl Agent {
    /// Makes an agent with the tools of a workspace, and `custom` ones after them.
    ///
    /// # Errors
    ///
    /// [`AgentError`] when two tools have one name, or a schema does not compile.
    pub fn new(
        id: impl Into<String>,
        instruction: impl Into<String>,
        custom: Vec<Arc<dyn Tool>>,
    ) -> Result<Self, AgentError> {
        let mut tools = workspace_tools()?;
        tools.extend(custom);
        Ok(Self {
            id: id.into(),
            instruction: instruction.into(),
            tools: ToolSet::new(tools)?,
        })
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its own part of the system prompt.
    pub fn instruction(&self) -> &str {
        &self.instruction
    }

    /// Its tools.
    pub fn tools(&self) -> &ToolSet {
        &self.tools
    }

    /// Begins a conversation in a workspace, or goes on with one that has a `history`. `workspace` describes
    /// it to the model in a few lines.
    pub fn session(
        &self,
        id: impl Into<String>,
        workspace: &str,
        ground: Ground,
        history: History,
    ) -> Session {
        let system = crate::prompt::system(&self.instruction, workspace);
        Session::new(id.into(), system, self.tools.clone(), ground, history)
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("id", &self.id)
            .field("tools", &self.tools)
            .finish()
    }
}
