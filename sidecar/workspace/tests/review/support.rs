//! A scratch project, proposed to and decided on as a hub would, through the crate's public face alone.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    dead_code
)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use redline_edits::{Change, FileError, FileState, Files, HunkId, Proposal, decode, resolve};
use redline_workspace::{
    CommitError, CommitRequest, Committed, DecisionRequest, Direction, Entry, FaultPlan, Faults,
    Growth, JournalOptions, OpenDocument, Purpose, Recovery, RootOptions, SealKey, Selection,
    Settlement, Transaction, TransactionMeta, Undo, UndoError, UndoRequest, Workspace,
    WorkspaceOptions, prepare,
};
use ropey::Rope;

/// What a path is, for comparing trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Node {
    File(Vec<u8>, u32),
    Link(String),
    Folder,
}

pub(crate) type Tree = BTreeMap<String, Node>;

/// A project folder and its opened workspace.
pub(crate) struct Ground {
    /// Removes the folder at the end, unless it is another process's.
    _dir: Option<tempfile::TempDir>,
    pub(crate) root: PathBuf,
    pub(crate) ws: Workspace,
    pub(crate) faults: Arc<FaultPlan>,
    prefix: String,
    ids: Cell<u64>,
}

impl Ground {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("ws");
        fs::create_dir(&root).unwrap();
        for (path, text) in files {
            put(&root.join(path), text.as_bytes());
        }
        let (mut ground, _) = Self::at(&root, "A");
        ground._dir = Some(dir);
        ground
    }

    /// Opens a folder that is there. `prefix` keeps the ids of several openers apart.
    pub(crate) fn at(root: &Path, prefix: &str) -> (Self, Vec<Recovery>) {
        let faults = Arc::new(FaultPlan::new());
        let (ws, recovered) = open(root, Some(faults.clone()));
        let ground = Self {
            _dir: None,
            root: root.to_owned(),
            ws,
            faults,
            prefix: prefix.to_owned(),
            ids: Cell::new(0),
        };
        (ground, recovered)
    }

    /// Opens the same folder anew, as the next process would.
    pub(crate) fn reopen(&mut self) -> Vec<Recovery> {
        let (ws, recovered) = open(&self.root, Some(self.faults.clone()));
        self.ws = ws;
        recovered
    }

    pub(crate) fn id(&self, kind: &str) -> String {
        self.ids.set(self.ids.get() + 1);
        format!("{kind}_01J{}{:021}", self.prefix, self.ids.get())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        put(&self.root.join(path), text.as_bytes());
    }

    pub(crate) fn read(&self, path: &str) -> Option<String> {
        fs::read(self.root.join(path))
            .ok()
            .map(|bytes| String::from_utf8(bytes).unwrap())
    }

    pub(crate) fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        symlink(target, self.root.join(path)).unwrap();
    }

    /// Everything but the store.
    pub(crate) fn tree(&self) -> Tree {
        tree(&self.root)
    }

    pub(crate) fn propose(&self, changes: Vec<Change>) -> Transaction {
        self.propose_with(changes, &[])
    }

    pub(crate) fn propose_with(
        &self,
        changes: Vec<Change>,
        documents: &[OpenDocument],
    ) -> Transaction {
        let transaction = self.draft(changes, documents);
        self.ws.transactions().create(&transaction).unwrap();
        transaction
    }

    /// A transaction in memory alone.
    pub(crate) fn draft(&self, changes: Vec<Change>, documents: &[OpenDocument]) -> Transaction {
        let view = View {
            ws: &self.ws,
            documents,
        };
        let resolved = resolve(&Proposal::new(changes), &view).unwrap();
        let opaque: Vec<(String, String)> = resolved
            .operations
            .iter()
            .filter_map(|operation| {
                Some((
                    operation.path.clone(),
                    opaque_revision(&self.ws, &operation.path)?,
                ))
            })
            .collect();
        let id = self.id("tx");
        let meta = TransactionMeta {
            id: id.clone(),
            session_id: id,
            turn_id: None,
            title: "a change".to_owned(),
            proposed_by: "test".to_owned(),
            created_at: 1_700_000_000,
            rationale: None,
            purpose: Purpose::Proposal,
        };
        let growth = Growth {
            resolved: &resolved,
            opaque: &opaque,
            call: None,
        };
        Transaction::new(meta, &growth, &mut || HunkId::new(self.id("h"))).unwrap()
    }

    pub(crate) fn request(
        &self,
        transaction: &Transaction,
        selection: Selection,
        documents: &[OpenDocument],
    ) -> CommitRequest {
        CommitRequest {
            transaction: transaction.clone(),
            selection,
            documents: documents.to_vec(),
            unsaved_elsewhere: Vec::new(),
            decided_by: "test".to_owned(),
            decided_at: 1_700_000_001,
            receipt_id: self.id("rc"),
            hub_id: format!("hub_{}", self.prefix),
        }
    }

    /// Accepts a part and takes the outcome into the model. Deliveries go into `documents`, which become dirty.
    pub(crate) fn accept_part(
        &self,
        transaction: &mut Transaction,
        part: &DecisionRequest,
        documents: &mut [OpenDocument],
    ) -> Result<Committed, CommitError> {
        let selection = transaction.select(part).unwrap();
        let request = self.request(transaction, selection, documents);
        let committed = self.commit(&request, documents)?;
        transaction.absorb(&committed);
        Ok(committed)
    }

    pub(crate) fn accept(&self, transaction: &mut Transaction) -> Result<Committed, CommitError> {
        self.accept_part(transaction, &DecisionRequest::default(), &mut [])
    }

    pub(crate) fn commit(
        &self,
        request: &CommitRequest,
        documents: &mut [OpenDocument],
    ) -> Result<Committed, CommitError> {
        let mut prepared = prepare(&self.ws, request)?;
        for delivery in prepared.deliveries() {
            let document = documents
                .iter_mut()
                .find(|open| open.path == delivery.path)
                .unwrap();
            assert_eq!(document.version, delivery.version);
            document.text = delivery.after.clone();
            document.version += 1;
            document.dirty = true;
        }
        if !prepared.deliveries().is_empty() {
            prepared.delivered()?;
        }
        prepared.finish()
    }

    pub(crate) fn undo(
        &self,
        id: Option<&str>,
        direction: Direction,
    ) -> Result<Committed, Refused> {
        self.undo_with(id, direction, &mut [])
    }

    pub(crate) fn undo_with(
        &self,
        id: Option<&str>,
        direction: Direction,
        documents: &mut [OpenDocument],
    ) -> Result<Committed, Refused> {
        let request = UndoRequest {
            id: id.map(str::to_owned),
            direction,
            transaction_id: self.id("tx"),
            proposed_by: "test".to_owned(),
            at: 1_700_000_002,
            documents: documents.to_vec(),
        };
        let undo = self
            .ws
            .undo(&request, &mut || HunkId::new(self.id("h")))
            .map_err(Refused::Undo)?;
        if !undo.refusals.is_empty() {
            self.ws.put_under_review(&undo).map_err(Refused::Undo)?;
        }
        if let Some(earlier) = &undo.replaces {
            let mut earlier = self.ws.transactions().load(earlier).unwrap().unwrap();
            let all = earlier.select(&DecisionRequest::default()).unwrap();
            let record = earlier.refuse(&all, Settlement::Withdrawn, None).unwrap();
            self.ws
                .transactions()
                .append(&earlier, &[record], None)
                .unwrap();
        }
        if !undo.refusals.is_empty() {
            return Err(Refused::Review(Box::new(undo)));
        }
        let request = self.request(&undo.transaction, undo.selection, documents);
        self.commit(&request, documents).map_err(Refused::Commit)
    }
}

#[derive(Debug)]
pub(crate) enum Refused {
    Undo(UndoError),
    /// It waits for a person.
    Review(Box<Undo>),
    Commit(CommitError),
}

pub(crate) fn open(root: &Path, faults: Option<Arc<FaultPlan>>) -> (Workspace, Vec<Recovery>) {
    open_with(
        root,
        RootOptions {
            faults: faults.map(|faults| faults as Arc<dyn Faults>),
            ..RootOptions::default()
        },
    )
}

pub(crate) fn open_with(root: &Path, rules: RootOptions) -> (Workspace, Vec<Recovery>) {
    let options = WorkspaceOptions {
        root: rules,
        key: SealKey::new([7; 32]),
        clock: Arc::new(|| 1_700_000_000_000u64),
        journal: JournalOptions::default(),
    };
    Workspace::open(root, options).unwrap()
}

pub(crate) fn document(path: &str, text: &str, version: i32, dirty: bool) -> OpenDocument {
    OpenDocument {
        path: path.to_owned(),
        text: Rope::from_str(text),
        version,
        dirty,
    }
}

pub(crate) fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

pub(crate) fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    collect(root, root, &mut found);
    found
}

fn collect(root: &Path, folder: &Path, found: &mut Tree) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .strip_prefix(root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        if name == ".agentic" || name.ends_with(".strace") {
            continue;
        }
        let metadata = path.symlink_metadata().unwrap();
        let node = if metadata.is_symlink() {
            Node::Link(fs::read_link(&path).unwrap().to_str().unwrap().to_owned())
        } else if metadata.is_dir() {
            collect(root, &path, found);
            Node::Folder
        } else {
            Node::File(
                fs::read(&path).unwrap(),
                metadata.permissions().mode() & 0o7777,
            )
        };
        found.insert(name, node);
    }
}

fn opaque_revision(ws: &Workspace, path: &str) -> Option<String> {
    let path = ws.root().admit(path).ok()?;
    match ws.root().batch().read(&path).ok()? {
        Entry::File(file) => decode(&file.bytes).is_err().then(|| file.revision()),
        Entry::Symlink { target } => Some(redline_edits::revision(target.as_bytes()).to_string()),
        _ => None,
    }
}

/// Open documents over the disk.
struct View<'a> {
    ws: &'a Workspace,
    documents: &'a [OpenDocument],
}

impl Files for View<'_> {
    fn read(&self, path: &str) -> Result<FileState, FileError> {
        if let Some(open) = self.documents.iter().find(|open| open.path == path) {
            return Ok(FileState::Text {
                text: open.text.to_string(),
                bom: false,
                version: Some(open.version),
            });
        }
        let refused = |error: &dyn std::fmt::Display| FileError::new("IO", error.to_string(), "");
        let admitted = self
            .ws
            .root()
            .admit(path)
            .map_err(|error| refused(&error))?;
        let entry = self
            .ws
            .root()
            .batch()
            .read_to_write(&admitted)
            .map_err(|error| refused(&error))?;
        Ok(match entry {
            Entry::Missing => FileState::Missing,
            Entry::Symlink { target } => FileState::Symlink { target },
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
            _ => FileState::Directory { files: Vec::new() },
        })
    }
}
