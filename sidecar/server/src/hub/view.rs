//! The workspace as a proposal or a tool reads it: open documents over the disk, and the session's
//! pending edits over both.
//!
//! Owns: that view, and the checks of a path before anything is proposed for it.
//! Must not know: the hub's state; it is given an [`Overlay`], or asks for one.
//!
//! Everything here blocks and runs on worker threads, never on the hub's own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc;

use redline_edits::{FileError, FileState, Files, HunkSet, OperationKind};
use redline_tools::{Proposed, ToolError, ViewProposal, WorkspaceView};
use redline_workspace::{Entry, PathError, View, WorkspaceRoot};
use ropey::Rope;

use super::event::{Event, HubHandle};
use super::turns::TurnNote;

/// One path of the view that is not simply what the disk has.
#[derive(Debug, Clone)]
pub(crate) struct Overlaid {
    /// The text without pending edits: an open document's, or the anchor of a pending file.
    pub(crate) text: Rope,
    /// The editor's version, of an open document.
    pub(crate) version: Option<i32>,
    /// The session's hunks over it.
    pub(crate) sets: Vec<HunkSet>,
    /// The session proposes to remove it (or to move it away).
    pub(crate) gone: bool,
}

impl Overlaid {
    /// The text with the session's pending edits in it.
    pub(crate) fn proposed(&self) -> Rope {
        // A session has one set for each path; more than one never overlap.
        self.sets
            .iter()
            .fold(self.text.clone(), |text, set| set.proposed(&text))
    }
}

/// What lies over the disk for one reader.
pub(crate) type Overlay = BTreeMap<String, Overlaid>;

impl Overlaid {
    fn state(&self) -> FileState {
        if self.gone {
            return FileState::Missing;
        }
        FileState::Text {
            text: self.proposed().to_string(),
            bom: false,
            version: self.version,
        }
    }
}

/// A fixed view for one proposal: `overlay` over the disk, read as a writer would.
pub(crate) fn snapshot(root: &WorkspaceRoot, overlay: Arc<Overlay>) -> View<'static> {
    View::new(root, move |path| overlay.get(path).map(Overlaid::state))
}

/// A session's view, always as it is now: what tools read and propose through.
pub(crate) struct SessionView {
    hub: HubHandle,
    root: WorkspaceRoot,
    session: String,
}

impl SessionView {
    pub(crate) fn new(hub: HubHandle, root: WorkspaceRoot, session: String) -> Self {
        Self { hub, root, session }
    }

    fn overlay_now(&self) -> Result<Overlay, FileError> {
        let (reply, overlay) = mpsc::sync_channel(1);
        self.hub.send(Event::Turn(TurnNote::Overlay {
            session: self.session.clone(),
            reply,
        }));
        overlay
            .recv()
            .map_err(|_| FileError::new("INTERNAL", "the workspace's hub is gone", "ask again"))
    }
}

impl Files for SessionView {
    fn admit(&self, path: &str) -> Result<String, FileError> {
        View::of_disk(&self.root).admit(path)
    }

    fn read(&self, path: &str) -> Result<FileState, FileError> {
        let overlay = self.overlay_now()?;
        match snapshot(&self.root, Arc::new(overlay)).read(path) {
            // Protection is integrity: what may not be changed may still be read.
            Err(error) if error.code == "PROTECTED_PATH" => {
                let path = self.root.admit(path)?;
                Ok(match self.root.read(&path)? {
                    Entry::File(file) => match redline_edits::decode(&file.bytes) {
                        Ok(decoded) => FileState::Text {
                            text: decoded.text,
                            bom: decoded.bom,
                            version: None,
                        },
                        Err(_) => FileState::Binary {
                            size_bytes: file.bytes.len() as u64,
                        },
                    },
                    Entry::Missing => FileState::Missing,
                    _ => return Err(error),
                })
            }
            read => read,
        }
    }

    fn similar(&self, path: &str) -> Option<String> {
        View::of_disk(&self.root).similar(path)
    }
}

impl WorkspaceView for SessionView {
    fn root(&self) -> &WorkspaceRoot {
        &self.root
    }

    fn overlay(&self) -> Result<redline_workspace::Overlay, ToolError> {
        let overlay = self
            .overlay_now()
            .map_err(|error| from_file_error(&error))?;
        let texts = overlay.iter().filter_map(|(path, overlaid)| {
            let path = self.root.admit(path).ok()?;
            let text = (!overlaid.gone).then(|| Arc::from(overlaid.proposed().to_string()));
            Some((path, text))
        });
        Ok(texts.collect())
    }

    fn propose(&self, proposal: ViewProposal) -> Result<Proposed, ToolError> {
        let batch = self.root.batch();
        for operation in &proposal.operations {
            for path in super::propose::paths(operation) {
                match batch.admit_write(path) {
                    Ok(_) => {}
                    // A link itself may go; it is never written through.
                    Err(PathError::IsSymlink { .. }) if operation.kind == OperationKind::Delete => {
                    }
                    Err(error) => return Err(from_file_error(&error.into())),
                }
            }
        }
        let (reply, answer) = mpsc::sync_channel(1);
        self.hub.send(Event::Turn(TurnNote::Propose {
            session: self.session.clone(),
            proposal: Box::new(proposal),
            reply,
        }));
        answer
            .recv()
            .map_err(|_| ToolError::from_code("INTERNAL", "the workspace's hub is gone"))?
    }
}

fn from_file_error(error: &FileError) -> ToolError {
    ToolError::from_code(error.code, error.message.clone()).with_hint(error.hint.clone())
}
