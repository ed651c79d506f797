//! Tools: what a model can do in a workspace, and how it is told what happened.
//!
//! Owns the tool contract, the check of arguments against their schemas, the
//! `agentic-workspace/v1` envelope, the error codes, and each tool family. Must not know models,
//! vendors, sessions, editors or LSP; files are seen only through [`WorkspaceView`], which the hub
//! implements as the proposed view: open documents over the disk, pending edits over both.
//!
//! ```text
//! code       the error codes, with meaning and hint     error     a failed call
//! envelope   what every tool returns                    schema    arguments against a JSON schema
//! view       the workspace as tools see it              tool      the contract, and the set of a session
//! operation  what a call would do, and its hash         gate      whether it may run now
//! list, read, search, edit, command                     the families
//! ```
//!
//! **Invariant:** a tool never writes. `workspace_edit` proposes; people, or a policy that a person chose, accept.
//! **Invariant:** any arguments give an envelope: no panic, and a code with a hint when they are wrong.

mod code;
mod command;
mod edit;
mod envelope;
mod error;
pub mod gate;
mod list;
mod notes;
mod operation;
mod place;
mod plan;
mod read;
mod schema;
mod search;
mod tool;
mod view;

pub use code::ErrorCode;
pub use command::{CommandHost, WorkspaceCommand};
pub use edit::WorkspaceEdit;
pub use envelope::{Envelope, ErrorInfo, PROTOCOL, Recovery, Retention, Status};
pub use error::ToolError;
pub use list::WorkspaceList;
pub use notes::WorkspaceNotes;
pub use operation::{Class, CommandLine, MutationKind, Operation, OperationHash, env_digest};
pub use plan::{Coverage, WorkspacePlan};
pub use read::WorkspaceRead;
pub use schema::{Schema, SchemaError};
pub use search::WorkspaceSearch;
pub use tool::{CallContext, NameClash, Tool, ToolSet, workspace_tools};
pub use view::{Proposed, ProposedFile, ProposedHunk, ViewProposal, WorkspaceView};
