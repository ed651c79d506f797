//! The workspace as a proposal or a tool reads it: open documents over the disk, and the session's
//! pending edits over both.
//!
//! Owns: that view, and the checks of a path before anything is proposed for it.
//! Must not know: the hub's state; it is given an [`Overlay`], or asks for one.
//!
//! Everything here blocks and runs on worker threads, never on the hub's own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

use redline_edits::{FileError, FileState, Files, HunkSet};
use redline_tools::{Proposed, ToolError, ViewProposal, WorkspaceView};
use redline_workspace::{
    Batch, Entry, FsError, ListedKind, PathError, Scope, WorkspacePath, WorkspaceRoot,
};
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

/// A fixed view: what a proposal from outside is resolved against.
pub(crate) struct Snapshot {
    root: WorkspaceRoot,
    batch: Batch,
    overlay: Arc<Overlay>,
}

impl Snapshot {
    pub(crate) fn new(root: &WorkspaceRoot, overlay: Arc<Overlay>) -> Self {
        Self {
            root: root.clone(),
            batch: root.batch(),
            overlay,
        }
    }

    /// Refuses paths that no proposal may change: protected ones, and those behind links.
    pub(crate) fn check_writable<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), FileError> {
        for path in paths {
            self.batch
                .admit_write(path)
                .map_err(|error| path_error(&error))?;
        }
        Ok(())
    }
}

impl Files for Snapshot {
    fn admit(&self, path: &str) -> Result<String, FileError> {
        let admitted = if path.starts_with("file:") {
            self.root.admit_uri(path)
        } else {
            self.root.admit(path)
        };
        admitted
            .map(|path| path.as_str().to_owned())
            .map_err(|error| path_error(&error))
    }

    fn read(&self, path: &str) -> Result<FileState, FileError> {
        if let Some(overlaid) = self.overlay.get(path) {
            if overlaid.gone {
                return Ok(FileState::Missing);
            }
            return Ok(FileState::Text {
                text: overlaid.proposed().to_string(),
                bom: false,
                version: overlaid.version,
            });
        }
        let admitted = self.root.admit(path).map_err(|error| path_error(&error))?;
        let entry = self
            .batch
            .read(&admitted)
            .map_err(|error| fs_error(&error))?;
        file_state(&self.root, &admitted, entry)
    }

    fn similar(&self, path: &str) -> Option<String> {
        similar(&self.root, path)
    }
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

    fn snapshot(&self) -> Result<Snapshot, FileError> {
        let (reply, overlay) = mpsc::sync_channel(1);
        self.hub.send(Event::Turn(TurnNote::Overlay {
            session: self.session.clone(),
            reply,
        }));
        let overlay = overlay
            .recv()
            .map_err(|_| FileError::new("INTERNAL", "the workspace's hub is gone", "ask again"))?;
        Ok(Snapshot::new(&self.root, Arc::new(overlay)))
    }
}

impl Files for SessionView {
    fn admit(&self, path: &str) -> Result<String, FileError> {
        self.root
            .admit(path)
            .map(|path| path.as_str().to_owned())
            .map_err(|error| path_error(&error))
    }

    fn read(&self, path: &str) -> Result<FileState, FileError> {
        self.snapshot()?.read(path)
    }

    fn similar(&self, path: &str) -> Option<String> {
        similar(&self.root, path)
    }
}

impl WorkspaceView for SessionView {
    fn root(&self) -> &WorkspaceRoot {
        &self.root
    }

    fn overlay(&self) -> Result<redline_workspace::Overlay, ToolError> {
        let snapshot = self.snapshot().map_err(|error| from_file_error(&error))?;
        let texts = snapshot.overlay.iter().filter_map(|(path, overlaid)| {
            let path = self.root.admit(path).ok()?;
            let text = (!overlaid.gone).then(|| Arc::from(overlaid.proposed().to_string()));
            Some((path, text))
        });
        Ok(texts.collect())
    }

    fn propose(&self, proposal: ViewProposal) -> Result<Proposed, ToolError> {
        let snapshot = self.snapshot().map_err(|error| from_file_error(&error))?;
        snapshot
            .check_writable(proposal.operations.iter().flat_map(super::propose::paths))
            .map_err(|error| from_file_error(&error))?;
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

/// What an entry of the disk is to a proposal.
fn file_state(
    root: &WorkspaceRoot,
    path: &WorkspacePath,
    entry: Entry,
) -> Result<FileState, FileError> {
    Ok(match entry {
        Entry::Missing => FileState::Missing,
        Entry::File(file) => match redline_edits::decode(&file.bytes) {
            Ok(decoded) => FileState::Text {
                text: decoded.text,
                bom: decoded.bom,
                version: None,
            },
            Err(error) => undecodable(&file.bytes, &error),
        },
        Entry::Directory => FileState::Directory {
            files: files_below(root, path)?,
        },
        Entry::Symlink { target } => FileState::Symlink { target },
        Entry::Special { what } => {
            return Err(FileError::new(
                "NOT_TEXT",
                format!("{} is {what}", path.as_str()),
                "only regular files can be edited",
            ));
        }
        Entry::TooLarge { len, limit } => FileState::TooLarge {
            size_bytes: len,
            limit_bytes: limit,
        },
    })
}

fn undecodable(bytes: &[u8], error: &redline_edits::DecodeError) -> FileState {
    match error {
        redline_edits::DecodeError::Encoding { byte, offset } => FileState::Undecodable {
            byte: *byte,
            offset: *offset as u64,
        },
        _ => FileState::Binary {
            size_bytes: bytes.len() as u64,
        },
    }
}

/// All files below a folder, ignored ones included: a recursive delete takes them all.
fn files_below(root: &WorkspaceRoot, folder: &WorkspacePath) -> Result<Vec<String>, FileError> {
    let scope = Scope {
        folder: Some(folder.clone()),
        ignored: true,
        ..Scope::default()
    };
    let listing = redline_workspace::list(
        root,
        &scope,
        &redline_workspace::Overlay::new(),
        MAX_FOLDER_FILES,
        &AtomicBool::new(false),
    )
    .map_err(|error| FileError::new(error.code(), error.to_string(), error.hint()))?;
    if listing.truncated {
        return Err(FileError::new(
            "TOO_LARGE",
            format!(
                "{} holds more than {MAX_FOLDER_FILES} files",
                folder.as_str()
            ),
            "remove or move its parts one after another",
        ));
    }
    Ok(listing
        .entries
        .into_iter()
        .filter(|entry| entry.kind != ListedKind::Directory)
        .map(|entry| entry.path.as_str().to_owned())
        .collect())
}

/// Most files that one operation on a folder may concern.
const MAX_FOLDER_FILES: usize = 10_000;

/// A file of the same name elsewhere, or of a similar name in the same folder; only ever shown.
fn similar(root: &WorkspaceRoot, path: &str) -> Option<String> {
    let wanted = root.admit(path).ok()?;
    let scope = Scope {
        globs: vec![format!("**/{}", globset_escape(wanted.name()))],
        ..Scope::default()
    };
    let found = redline_workspace::list(
        root,
        &scope,
        &redline_workspace::Overlay::new(),
        8,
        &AtomicBool::new(false),
    )
    .ok()?;
    found
        .entries
        .into_iter()
        .find(|entry| entry.kind == ListedKind::File)
        .map(|entry| entry.path.as_str().to_owned())
}

fn globset_escape(name: &str) -> String {
    let mut escaped = String::new();
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '!' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

pub(crate) fn path_error(error: &PathError) -> FileError {
    FileError::new(error.code(), error.to_string(), error.hint())
}

fn fs_error(error: &FsError) -> FileError {
    FileError::new(error.code(), error.to_string(), error.hint())
}

fn from_file_error(error: &FileError) -> ToolError {
    ToolError::from_code(error.code, error.message.clone()).with_hint(error.hint.clone())
}
