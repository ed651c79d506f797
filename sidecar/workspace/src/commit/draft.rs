//! Working out a commit: today's files and documents in, steps and edits out. Reads, changes nothing.
//!
//! | operation decided | the document is open | closed |
//! |---|---|---|
//! | hunks of a file | edits to deliver | new bytes to publish |
//! | create | edits to deliver, if it is open; the disk is left to its save | new file to publish |
//! | delete, rename, set mode | on disk; refused when it is not saved | on disk |

mod disk;
mod edit;
mod names;

use std::collections::BTreeMap;

use redline_edits::{
    Hunk, HunkEvent, HunkId, HunkSet, HunkState, OperationKind, TextChange, text_revision,
};
use ropey::Rope;

use super::plan::Step;
use super::{
    CommitError, CommitRequest, ConflictReport, Delivery, Fingerprint, OpenDocument, play,
};
use crate::boundary::{Batch, PathError, WorkspacePath};
use crate::checkpoint::{Change, Edit, What};
use crate::effect::NewMode;
use crate::receipt::{Amendment, Effect, PathResult, ShownHunk};
use crate::transaction::{
    Applied, Before, FileReview, FileState, SelectedFile, SettledFile, SettledHunk, Settlement,
    line_of,
};

/// A file's new bytes, to be staged.
#[derive(Debug)]
pub(super) struct NewFile {
    pub(super) path: WorkspacePath,
    pub(super) name: String,
    pub(super) content: Content,
    pub(super) mode: NewMode,
    /// The file whose attributes it takes when its own name is free.
    pub(super) like: Option<WorkspacePath>,
}

/// Where new bytes come from.
#[derive(Debug)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    /// A file kept by a checkpoint.
    Kept {
        checkpoint_id: String,
        name: String,
    },
}

/// What a committed file reads after, for the model in memory.
#[derive(Debug, Clone)]
pub(crate) struct TextAfter {
    pub(crate) path: String,
    pub(crate) before: Rope,
    pub(crate) after: Rope,
    pub(crate) open: bool,
}

impl TextAfter {
    /// What the checkpoint's chain of changes leads to.
    pub(super) fn applied(&self) -> Applied {
        Applied {
            path: self.path.clone(),
            revision: text_revision(&self.after.to_string()).to_string(),
        }
    }
}

/// Everything that a commit would do.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) steps: Vec<Step>,
    pub(super) new_files: Vec<NewFile>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) shown: Vec<ShownHunk>,
    pub(super) results: Vec<PathResult>,
    pub(super) hunks: Vec<SettledHunk>,
    pub(super) files: Vec<SettledFile>,
    pub(super) changes: Vec<Change>,
    pub(super) texts: Vec<TextAfter>,
    pub(super) prune: Vec<String>,
    pub(super) conflicts: Vec<ConflictReport>,
    /// Texts of documents to keep in the checkpoint: name, text.
    pub(super) kept_texts: Vec<(String, String)>,
    names: usize,
}

/// Works out what `request` would do on today's files.
pub(super) fn draft(batch: &Batch, request: &CommitRequest) -> Result<Draft, CommitError> {
    let documents: BTreeMap<&str, &OpenDocument> = request
        .documents
        .iter()
        .map(|document| (document.path.as_str(), document))
        .collect();
    let mut drafting = Drafting {
        batch,
        request,
        documents,
        reanchored: false,
        draft: Draft::default(),
    };
    for selected in &request.selection.files {
        drafting.reanchored = false;
        let stale = || CommitError::Stale {
            what: selected.path.clone(),
        };
        let file = request.transaction.file(&selected.path).ok_or_else(stale)?;
        drafting.file(file, selected)?;
    }
    Ok(drafting.draft)
}

struct Drafting<'a> {
    batch: &'a Batch,
    request: &'a CommitRequest,
    documents: BTreeMap<&'a str, &'a OpenDocument>,
    /// The file at hand was anchored on a text that nobody saw.
    reanchored: bool,
    draft: Draft,
}

/// The selected hunks of one file on today's text.
struct Placed {
    before: Rope,
    /// Text revision of `before`.
    before_revision: String,
    after: Rope,
    edits: Vec<TextChange>,
    /// Hunks that the edits apply.
    applied: Vec<HunkId>,
}
impl<'a> Drafting<'a> {
    fn file(&mut self, file: &'a FileReview, selected: &SelectedFile) -> Result<(), CommitError> {
        if file.flags.iter().any(|flag| flag == "incomplete") {
            return Err(CommitError::Incomplete {
                what: file.path.clone(),
            });
        }
        for id in &selected.hunks {
            let hunk = file.hunks.get(id).ok_or_else(|| CommitError::Stale {
                what: id.to_string(),
            })?;
            self.draft.shown.push(shown(&file.path, hunk));
        }
        if let Some(exact) = &file.exact
            && self.exactly(file, selected, exact)?
        {
            return Ok(());
        }
        if let (OperationKind::Edit, Some(FileState::Conflict { reason }), true) = (
            &file.operation,
            file.operation_state(),
            file.hunks.is_empty(),
        ) {
            // No lines tell how its content could change.
            self.conflict(file, reason);
            return Ok(());
        }
        let whole = selected.operation
            || file
                .hunks
                .iter()
                .all(|hunk| !hunk.state.is_open() || selected.hunks.contains(&hunk.id));
        match &file.operation {
            OperationKind::Delete if whole => self.delete(file, selected),
            OperationKind::Rename { to } if selected.operation => self.rename(file, selected, to),
            OperationKind::SetMode { mode } if selected.operation => {
                self.edit(file, selected, Some(*mode))
            }
            OperationKind::Edit if selected.operation => self.edit(file, selected, file.mode),
            OperationKind::Create => self.edit(file, selected, file.mode),
            OperationKind::Edit
            | OperationKind::Delete
            | OperationKind::Rename { .. }
            | OperationKind::SetMode { .. } => self.edit(file, selected, None),
        }
    }

    /// Anchors the selected hunks on `text` and makes their edits. None: a conflict was noted.
    fn place(&mut self, file: &FileReview, selected: &SelectedFile, text: &Rope) -> Option<Placed> {
        let mut hunks = file.hunks.clone();
        if file.text != *text {
            let _: Vec<HunkEvent> = hunks.rebase(&file.text, text);
        }
        let mut pending = Vec::new();
        let mut ok = true;
        for id in &selected.hunks {
            match hunks.get(id).map(|hunk| &hunk.state) {
                Some(HunkState::Pending) => pending.push(id.clone()),
                Some(HunkState::Accepted { .. }) => {}
                Some(HunkState::Conflict(_)) => {
                    self.draft.conflicts.push(report(file, &hunks, id, text));
                    ok = false;
                }
                Some(HunkState::Rejected | HunkState::Withdrawn) | None => {
                    self.draft.conflicts.push(ConflictReport {
                        hunk: Some(id.to_string()),
                        ..ConflictReport::of_file(&file.path, "the hunk is no longer there")
                    });
                    ok = false;
                }
            }
        }
        if !ok {
            return None;
        }
        let edits = match hunks.edits_for(text, &pending) {
            Ok(edits) => edits,
            Err(error) => {
                self.conflict(file, error.to_string());
                return None;
            }
        };
        let after = Rope::from_str(&play(text, &edits));
        let before_revision = text_revision(&text.to_string()).to_string();
        self.reanchored = match &file.before {
            // Neither what was proposed on, nor what an earlier commit of this transaction made of it.
            Before::Text(before) => {
                *text != **before && file.applied.as_ref() != Some(&before_revision)
            }
            Before::Missing | Before::Opaque { .. } => false,
        };
        Some(Placed {
            before: text.clone(),
            before_revision,
            after,
            edits,
            applied: pending,
        })
    }

    fn settle(
        &mut self,
        file: &FileReview,
        selected: &SelectedFile,
        placed: &Placed,
        how: Settlement,
    ) {
        for id in &selected.hunks {
            let how = if placed.applied.contains(id) {
                how
            } else {
                Settlement::ByHand
            };
            self.draft.hunks.push(SettledHunk {
                path: file.path.clone(),
                id: id.clone(),
                how,
            });
        }
    }

    fn settle_operation(&mut self, file: &FileReview, how: Settlement) {
        if file.operation_state().is_some() {
            self.draft.files.push(SettledFile {
                path: file.path.clone(),
                how,
            });
        }
    }

    fn conflict(&mut self, file: &FileReview, reason: impl Into<String>) {
        self.draft
            .conflicts
            .push(ConflictReport::of_file(&file.path, reason));
    }

    fn result(
        &mut self,
        file: &FileReview,
        effect: Effect,
        before: Option<&Fingerprint>,
        after: Option<&Fingerprint>,
    ) {
        self.draft.results.push(PathResult {
            path: file.path.clone(),
            effect,
            before: before.map(|print| print.revision.clone()),
            after: after.map(|print| print.revision.clone()),
            flags: self.flags(file),
        });
    }

    fn flags(&self, file: &FileReview) -> Vec<String> {
        let mut flags = file.flags.clone();
        if self.reanchored {
            flags.push("reanchored".into());
        }
        flags
    }

    /// The name under which the content before is kept, unless the chain of changes gives it.
    fn kept_for(&self, file: &FileReview, placed: &Placed, name: &str) -> Option<String> {
        (file.applied.as_deref() != Some(placed.before_revision.as_str())).then(|| name.to_owned())
    }

    fn change(&mut self, file: &FileReview, what: What, placed: &Placed, kept: Option<String>) {
        let edits = placed
            .edits
            .iter()
            .map(|edit| Edit {
                at: edit.range.start,
                removed: placed.before.byte_slice(edit.range.clone()).to_string(),
                added: edit.text.clone(),
            })
            .collect();
        self.raw_change(file, what, edits, kept);
    }

    fn raw_change(
        &mut self,
        file: &FileReview,
        what: What,
        edits: Vec<Edit>,
        kept: Option<String>,
    ) {
        self.draft.changes.push(Change {
            receipt_id: self.request.receipt_id.clone(),
            at: self.request.decided_at,
            transaction_id: self.request.transaction.id().to_owned(),
            path: file.current_path().to_owned(),
            what,
            edits,
            kept,
            made: Vec::new(),
            observed: None,
        });
    }

    fn after(&mut self, file: &FileReview, placed: Placed, open: bool) {
        self.draft.texts.push(TextAfter {
            path: file.path.clone(),
            before: placed.before,
            after: placed.after,
            open,
        });
    }

    fn name(&mut self) -> String {
        self.draft.names += 1;
        format!("f{}", self.draft.names)
    }

    fn admit(&self, path: &str) -> Result<WorkspacePath, PathError> {
        self.batch.root().admit(path)
    }

    /// Refuses when a document at or below `path` has changes that are not saved.
    fn check_saved(&self, path: &str, operation: &str) -> Result<(), CommitError> {
        let dirty = self
            .request
            .documents
            .iter()
            .filter(|document| document.dirty);
        let all = dirty
            .map(|document| &document.path)
            .chain(&self.request.unsaved_elsewhere);
        match all
            .into_iter()
            .find(|document| is_at_or_below(document, path))
        {
            Some(document) => Err(CommitError::DirtyBuffer {
                path: operation.to_owned(),
                document: document.clone(),
                elsewhere: false,
            }),
            None => Ok(()),
        }
    }
}

/// Whether `path` is `folder` or lies below it.
pub(super) fn is_at_or_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn shown(path: &str, hunk: &Hunk) -> ShownHunk {
    ShownHunk {
        path: path.to_owned(),
        id: hunk.id.to_string(),
        revision: hunk.revision,
        removed: redline_edits::revision(hunk.removed.as_bytes()).to_string(),
        replacement: redline_edits::revision(hunk.replacement.as_bytes()).to_string(),
        amended: hunk.amended.as_ref().map(|proposed| Amendment {
            proposed: proposed.clone(),
            accepted: hunk.replacement.clone(),
        }),
    }
}

fn report(file: &FileReview, hunks: &HunkSet, id: &HunkId, text: &Rope) -> ConflictReport {
    let start = hunks
        .range(id)
        .map_or(0, |range| range.start)
        .min(text.len_bytes());
    let line = line_of(text, start) + 1;
    let sides = hunks.conflict(id, text);
    ConflictReport {
        path: file.path.clone(),
        line: Some(line),
        hunk: Some(id.to_string()),
        reason: sides
            .as_ref()
            .map_or_else(|| "changed since".to_owned(), |sides| sides.reason.clone()),
        base: sides
            .as_ref()
            .map(|sides| sides.base.clone())
            .unwrap_or_default(),
        current: sides
            .as_ref()
            .map(|sides| sides.current.clone())
            .unwrap_or_default(),
        proposed: sides.map(|sides| sides.proposed).unwrap_or_default(),
    }
}
