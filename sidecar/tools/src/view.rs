//! The workspace as tools see it: the proposed view.
//!
//! The hub implements this over its documents, pending hunks and the disk; tools know nothing else.
//! All methods may block and are called on worker threads, never on the hub's own.

use redline_edits::{Files, Operation};
use redline_workspace::{Overlay, WorkspaceRoot};

use crate::ToolError;

/// What tools read and propose through.
///
/// Single files are read through [`Files`], which resolution uses too, so that a tool and the
/// matching ladder never disagree about a text. `Files::read` is the proposed text of a path: the
/// session's pending edits over the open document over the disk.
pub trait WorkspaceView: Files + Send + Sync {
    /// The project folder.
    fn root(&self) -> &WorkspaceRoot;

    /// The proposed texts of all paths where they differ from the disk, at this moment.
    ///
    /// # Errors
    ///
    /// `INTERNAL` when the hub does not answer.
    fn overlay(&self) -> Result<Overlay, ToolError>;

    /// Puts resolved operations into the turn's transaction, all or nothing.
    ///
    /// # Errors
    ///
    /// `STALE_VERSION` when a path's proposed text is no longer the operation's `before`: the tool
    /// resolves again on today's text. `CONFLICT` when the edit touches lines that the user amended.
    fn propose(&self, proposal: ViewProposal) -> Result<Proposed, ToolError>;
}

/// An edit call, resolved against the proposed view.
#[derive(Debug, Clone)]
pub struct ViewProposal {
    /// The call that proposes, for provenance.
    pub call_id: String,
    /// Why, for all of it.
    pub rationale: Option<String>,
    /// The operations, one for each path.
    pub operations: Vec<Operation>,
}

/// What became of a proposal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposed {
    /// The turn's transaction.
    pub transaction: String,
    /// The files that the call touched, in its order.
    pub files: Vec<ProposedFile>,
}

/// One file of a proposal, as it stands after it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProposedFile {
    /// Path from the root.
    pub path: String,
    /// The hunks that the call made or changed.
    pub hunks: Vec<ProposedHunk>,
}

/// One hunk that a call made or changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProposedHunk {
    /// `h_…`.
    pub id: String,
    /// First line in the proposed view, from 1.
    pub start_line: usize,
    /// Lines that go.
    pub removed: usize,
    /// Lines that come.
    pub added: usize,
    /// It is a conflict: the user changed or amended these lines.
    pub conflict: bool,
}
