//! A proposed view over a real folder: the workspace's own boundary, list and search, with pending
//! texts over the disk. What the hub does with documents and hunks is not here.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use redline_edits::{FileError, FileState, Files, OperationKind, decode};
use redline_tools::{
    ErrorCode, Proposed, ProposedFile, ProposedHunk, ToolError, ViewProposal, WorkspaceView,
};
use redline_workspace::{Entry, Overlay, RootOptions, WorkspacePath, WorkspaceRoot};

/// Something that happens in the folder.
pub type Hook = Box<dyn FnMut(&Path) + Send>;

/// See the module's own words.
pub struct FolderView {
    root: WorkspaceRoot,
    pending: Mutex<BTreeMap<WorkspacePath, Option<Arc<str>>>>,
    proposals: Mutex<Vec<ViewProposal>>,
    /// Runs before each proposal is taken: a place to type in between.
    pub before_propose: Mutex<Option<Hook>>,
    folder: tempfile::TempDir,
}

impl FolderView {
    /// Makes a project with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = WorkspaceRoot::open(folder.path(), RootOptions::default()).unwrap();
        Self {
            root,
            pending: Mutex::default(),
            proposals: Mutex::default(),
            before_propose: Mutex::default(),
            folder,
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The proposed text of a path.
    pub fn proposed(&self, path: &str) -> Option<String> {
        match self.read(path).unwrap() {
            FileState::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// All that was proposed.
    pub fn proposals(&self) -> Vec<ViewProposal> {
        self.proposals.lock().unwrap().clone()
    }

    fn admitted(&self, path: &str) -> Result<WorkspacePath, FileError> {
        self.root
            .admit(path)
            .map_err(|error| FileError::new(error.code(), error.to_string(), error.hint()))
    }
}

impl Files for FolderView {
    fn admit(&self, path: &str) -> Result<String, FileError> {
        Ok(self.admitted(path)?.to_string())
    }

    fn read(&self, path: &str) -> Result<FileState, FileError> {
        let path = self.admitted(path)?;
        if let Some(text) = self.pending.lock().unwrap().get(&path) {
            return Ok(match text {
                Some(text) => FileState::Text {
                    text: text.to_string(),
                    bom: false,
                    version: None,
                },
                None => FileState::Missing,
            });
        }
        let entry = self
            .root
            .read(&path)
            .map_err(|error| FileError::new(error.code(), error.to_string(), error.hint()))?;
        Ok(match entry {
            Entry::Missing => FileState::Missing,
            Entry::Directory => FileState::Directory { files: Vec::new() },
            Entry::Symlink { target } => FileState::Symlink { target },
            Entry::TooLarge { len, limit } => FileState::TooLarge {
                size_bytes: len,
                limit_bytes: limit,
            },
            Entry::File(file) => match decode(&file.bytes) {
                Ok(decoded) => FileState::Text {
                    text: decoded.text,
                    bom: decoded.bom,
                    version: None,
                },
                Err(_) => FileState::Binary {
                    size_bytes: file.bytes.len() as u64,
                },
            },
            Entry::Special { .. } => FileState::Binary { size_bytes: 0 },
        })
    }
}

impl WorkspaceView for FolderView {
    fn root(&self) -> &WorkspaceRoot {
        &self.root
    }

    fn overlay(&self) -> Result<Overlay, ToolError> {
        Ok(self.pending.lock().unwrap().clone())
    }

    fn propose(&self, proposal: ViewProposal) -> Result<Proposed, ToolError> {
        if let Some(hook) = self.before_propose.lock().unwrap().as_mut() {
            hook(self.folder.path());
        }
        for operation in &proposal.operations {
            let now = self.proposed(&operation.path);
            if now != operation.before {
                return Err(ToolError::new(
                    ErrorCode::StaleVersion,
                    format!("{} changed", operation.path),
                ));
            }
        }
        let mut files = Vec::new();
        for operation in &proposal.operations {
            let path = self.admitted(&operation.path)?;
            let after = operation.after.as_deref().map(Arc::from);
            let mut pending = self.pending.lock().unwrap();
            match &operation.kind {
                OperationKind::Rename { to } => {
                    pending.insert(path, None);
                    pending.insert(self.root.admit(to).unwrap(), after);
                }
                _ => {
                    pending.insert(path, after);
                }
            }
            let hunks = operation
                .spans
                .iter()
                .enumerate()
                .map(|(at, span)| ProposedHunk {
                    id: format!("h_{}_{at}", operation.path),
                    start_line: span.lines.start + 1,
                    removed: 0,
                    added: span.lines.len(),
                    conflict: false,
                })
                .collect();
            files.push(ProposedFile {
                path: operation.path.clone(),
                hunks,
            });
        }
        self.proposals.lock().unwrap().push(proposal);
        Ok(Proposed {
            transaction: "tx_test".to_owned(),
            files,
        })
    }
}
