//! Working out a commit: today's files and documents in, steps and edits out. Reads, changes nothing.
//!
//! | operation decided | the document is open | closed |
//! |---|---|---|
//! | hunks of a file | edits to deliver | new bytes to publish |
//! | create | edits to deliver, if it is open; the disk is left to its save | new file to publish |
//! | delete, rename, set mode | on disk; refused when it is not saved | on disk |

use std::collections::BTreeMap;

use redline_edits::{
    Hunk, HunkEvent, HunkId, HunkSet, HunkState, OperationKind, TextChange, decode, text_revision,
};
use ropey::Rope;

use super::plan::Step;
use super::{
    CommitError, CommitRequest, ConflictReport, Delivery, Fingerprint, OpenDocument, play,
};
use crate::boundary::{Batch, PathError, WorkspacePath};
use crate::checkpoint::{Change, Edit, What};
use crate::effect::{FsError, NewMode};
use crate::read::Entry;
use crate::receipt::{Amendment, Effect, PathResult, ShownHunk};
use crate::transaction::{
    Applied, Before, Exact, FileReview, SelectedFile, SettledFile, SettledHunk, Settlement, line_of,
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

/// What stands at a path on disk.
#[derive(Debug, Clone)]
enum Disk {
    Missing,
    Text {
        text: Rope,
        bom: bool,
        print: Fingerprint,
    },
    Opaque {
        print: Fingerprint,
    },
    Link {
        target: String,
        print: Fingerprint,
    },
}

impl Disk {
    fn print(&self) -> Option<&Fingerprint> {
        match self {
            Disk::Missing => None,
            Disk::Text { print, .. } | Disk::Opaque { print } | Disk::Link { print, .. } => {
                Some(print)
            }
        }
    }
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

    /// Changes the text, and perhaps the mode, of a file that stays where it is, or creates it.
    fn edit(
        &mut self,
        file: &'a FileReview,
        selected: &SelectedFile,
        mode: Option<u32>,
    ) -> Result<(), CommitError> {
        let creates = file.operation == OperationKind::Create;
        if let Some(document) = self.documents.get(file.current_path()).copied()
            && !selected.hunks.is_empty()
        {
            if let Some(mode) = mode.filter(|_| selected.operation) {
                self.set_mode(file, mode)?;
            }
            self.deliver(file, selected, document);
            return Ok(());
        }
        if selected.hunks.is_empty()
            && !creates
            && let Some(mode) = mode
        {
            return self.set_mode(file, mode);
        }
        let path = self.admit(file.current_path())?;
        let disk = self.disk(&path)?;
        let (text, bom, old) = match disk {
            Disk::Text { text, bom, print } => {
                if creates && selected.operation {
                    // An empty file was to be made.
                    return self.empty_exists(file, &text);
                }
                (text, bom, Some(print))
            }
            Disk::Missing if creates => (Rope::new(), file.bom, None),
            Disk::Missing => {
                self.conflict(file, "was deleted since");
                return Ok(());
            }
            Disk::Opaque { .. } | Disk::Link { .. } => {
                self.conflict(file, "is no longer a text file");
                return Ok(());
            }
        };
        let Some(placed) = self.place(file, selected, &text) else {
            return Ok(());
        };
        self.settle(file, selected, &placed, Settlement::Accepted);
        if selected.operation {
            self.settle_operation(file, Settlement::Accepted);
        }
        if placed.edits.is_empty() && old.is_some() && mode.is_none() {
            self.result(file, Effect::Already, old.as_ref(), old.as_ref());
            self.after(file, placed, false);
            return Ok(());
        }
        let bytes = with_bom(bom, &placed.after);
        let name = self.name();
        let new_mode = match (mode, &old) {
            (None, _) => NewMode::Keep,
            (Some(mode), Some(old)) => NewMode::Exact(mode_after(old.mode, mode)),
            (Some(mode), None) if mode & 0o111 != 0 => NewMode::Executable,
            (Some(_), None) => NewMode::Keep,
        };
        let print = Fingerprint {
            symlink: false,
            revision: redline_edits::revision(&bytes).to_string(),
            // Known once it is staged.
            mode: 0,
        };
        let effect = if old.is_some() {
            Effect::Written
        } else {
            Effect::Created
        };
        self.result(file, effect, old.as_ref(), Some(&print));
        let kept = old
            .is_some()
            .then(|| self.kept_for(file, &placed, &name))
            .flatten();
        let what = match &old {
            Some(old) => What::Disk {
                before: old.clone(),
                after: print.clone(),
            },
            None => What::Created {
                after: print.clone(),
            },
        };
        self.change(file, what, &placed, kept);
        self.draft.new_files.push(NewFile {
            path,
            name: name.clone(),
            content: Content::Bytes(bytes),
            mode: new_mode,
            like: None,
        });
        self.draft.steps.push(Step::Publish {
            path: file.current_path().to_owned(),
            name,
            before: old,
            after: print,
            folders: Vec::new(),
        });
        self.after(file, placed, false);
        Ok(())
    }

    /// Applies hunks to an open document.
    fn deliver(&mut self, file: &'a FileReview, selected: &SelectedFile, document: &OpenDocument) {
        let Some(placed) = self.place(file, selected, &document.text) else {
            return;
        };
        self.settle(file, selected, &placed, Settlement::AcceptedUnsaved);
        let before = placed.before_revision.clone();
        let after = text_revision(&placed.after.to_string()).to_string();
        let effect = if placed.edits.is_empty() {
            Effect::Already
        } else {
            Effect::Unsaved
        };
        self.draft.results.push(PathResult {
            path: file.path.clone(),
            effect,
            before: Some(before.clone()),
            after: Some(after.clone()),
            flags: self.flags(file),
        });
        if placed.edits.is_empty() {
            return;
        }
        let name = self.name();
        let kept = self.kept_for(file, &placed, &name);
        if kept.is_some() {
            self.draft
                .kept_texts
                .push((name, placed.before.to_string()));
        }
        self.change(file, What::Document { before, after }, &placed, kept);
        self.draft.deliveries.push(Delivery {
            path: file.current_path().to_owned(),
            version: document.version,
            before: placed.before.clone(),
            edits: placed.edits.clone(),
            hunks: placed.applied.clone(),
            after: placed.after.clone(),
        });
        self.after(file, placed, true);
    }

    fn delete(&mut self, file: &'a FileReview, selected: &SelectedFile) -> Result<(), CommitError> {
        self.check_saved(&file.path, &file.path)?;
        let path = self.admit(&file.path)?;
        let disk = self.disk(&path)?;
        let print = match &disk {
            Disk::Missing => {
                let gone = Placed {
                    before: Rope::new(),
                    before_revision: String::new(),
                    after: Rope::new(),
                    edits: Vec::new(),
                    applied: Vec::new(),
                };
                self.settle(file, selected, &gone, Settlement::ByHand);
                self.settle_operation(file, Settlement::ByHand);
                self.result(file, Effect::Already, None, None);
                return Ok(());
            }
            Disk::Text { text, print, .. } if !file.hunks.is_empty() => {
                let Some(placed) = self.place(file, selected, text) else {
                    return Ok(());
                };
                if placed.after.len_bytes() > 0 {
                    self.conflict(
                        file,
                        "changed since, and would lose lines that nobody has seen",
                    );
                    return Ok(());
                }
                self.settle(file, selected, &placed, Settlement::Accepted);
                print.clone()
            }
            Disk::Text { text, print, .. } => {
                let same = match &file.before {
                    Before::Text(before) => {
                        text_revision(before) == text_revision(&text.to_string())
                    }
                    Before::Opaque { revision } => *revision == print.revision,
                    Before::Missing => false,
                };
                if !same {
                    self.conflict(file, "changed since");
                    return Ok(());
                }
                print.clone()
            }
            Disk::Opaque { print } | Disk::Link { print, .. } => {
                if !matches!(&file.before, Before::Opaque { revision } if *revision == print.revision)
                {
                    self.conflict(file, "changed since");
                    return Ok(());
                }
                print.clone()
            }
        };
        self.settle_operation(file, Settlement::Accepted);
        self.result(file, Effect::Deleted, Some(&print), None);
        self.draft.prune.extend(file.prune.iter().cloned());
        let name = self.name();
        if let Disk::Link { target, .. } = disk {
            self.draft.kept_texts.push((name.clone(), target.clone()));
            self.draft.steps.push(Step::RemoveLink {
                path: file.path.clone(),
                target,
            });
            self.raw_change(
                file,
                What::Deleted { before: print },
                Vec::new(),
                Some(name),
            );
            return Ok(());
        }
        self.draft.steps.push(Step::Remove {
            path: file.path.clone(),
            name: name.clone(),
            before: print.clone(),
        });
        self.raw_change(
            file,
            What::Deleted { before: print },
            Vec::new(),
            Some(name),
        );
        if let Disk::Text { text, .. } = disk {
            self.draft.texts.push(TextAfter {
                path: file.path.clone(),
                before: text,
                after: Rope::new(),
                open: false,
            });
        }
        Ok(())
    }

    fn rename(
        &mut self,
        file: &'a FileReview,
        selected: &SelectedFile,
        to: &str,
    ) -> Result<(), CommitError> {
        self.check_saved(&file.path, &file.path)?;
        self.check_saved(to, to)?;
        let path = self.admit(&file.path)?;
        let target = self.admit(to)?;
        let disk = self.disk(&path)?;
        let Some(print) = disk.print().cloned() else {
            self.conflict(file, "was deleted since");
            return Ok(());
        };
        let placed = match &disk {
            Disk::Text { text, .. } => match self.place(file, selected, text) {
                Some(placed) => Some(placed),
                None => return Ok(()),
            },
            Disk::Link { .. } => {
                self.conflict(file, "is a symbolic link, which is not renamed");
                return Ok(());
            }
            Disk::Opaque { .. } | Disk::Missing => None,
        };
        if !self.is_free(file, &target)? {
            return Ok(());
        }
        if let Some(placed) = &placed {
            self.settle(file, selected, placed, Settlement::Accepted);
        }
        self.settle_operation(file, Settlement::Accepted);
        self.draft.prune.extend(file.prune.iter().cloned());
        let edited = placed
            .as_ref()
            .is_some_and(|placed| !placed.edits.is_empty());
        let after = if let (Some(placed), Disk::Text { bom, .. }, true) = (&placed, &disk, edited) {
            let bytes = with_bom(*bom, &placed.after);
            let mode = file.mode.map(|mode| mode_after(print.mode, mode));
            let after = Fingerprint {
                revision: redline_edits::revision(&bytes).to_string(),
                mode: 0,
                ..print.clone()
            };
            let (name, old) = (self.name(), self.name());
            self.draft.new_files.push(NewFile {
                path: target,
                name: name.clone(),
                content: Content::Bytes(bytes),
                mode: mode.map_or(NewMode::Keep, NewMode::Exact),
                like: Some(path),
            });
            self.draft.steps.push(Step::Remove {
                path: file.path.clone(),
                name: old.clone(),
                before: print.clone(),
            });
            self.draft.steps.push(Step::Publish {
                path: to.to_owned(),
                name,
                before: None,
                after: after.clone(),
                folders: Vec::new(),
            });
            let kept = self.kept_for(file, placed, &old);
            let what = What::Renamed {
                to: to.to_owned(),
                before: print.clone(),
                after: after.clone(),
            };
            self.change(file, what, placed, kept);
            after
        } else {
            self.draft.steps.push(Step::Rename {
                path: file.path.clone(),
                to: to.to_owned(),
                content: print.clone(),
                folders: Vec::new(),
            });
            let mode = file
                .mode
                .map_or(print.mode, |mode| mode_after(print.mode, mode));
            let after = Fingerprint {
                mode,
                ..print.clone()
            };
            if after != print {
                self.draft.steps.push(Step::SetMode {
                    path: to.to_owned(),
                    content: print.clone(),
                    mode,
                });
            }
            let what = What::Renamed {
                to: to.to_owned(),
                before: print.clone(),
                after: after.clone(),
            };
            self.raw_change(file, what, Vec::new(), None);
            after
        };
        self.result(
            file,
            Effect::Renamed { to: to.to_owned() },
            Some(&print),
            Some(&after),
        );
        if let Some(placed) = placed {
            self.after(file, placed, false);
        }
        Ok(())
    }

    /// Whether the target of a rename is free, or becomes so in this commit; else a conflict is noted.
    fn is_free(&mut self, file: &FileReview, target: &WorkspacePath) -> Result<bool, CommitError> {
        if self.disk(target)?.print().is_none() {
            return Ok(true);
        }
        let transaction = &self.request.transaction;
        let leaves = |other: &SelectedFile| {
            other.path == target.as_str()
                && transaction.file(&other.path).is_some_and(|other| {
                    matches!(
                        other.operation,
                        OperationKind::Rename { .. } | OperationKind::Delete
                    )
                })
        };
        if self.request.selection.files.iter().any(leaves) {
            return Ok(true);
        }
        self.conflict(
            file,
            format!("cannot become {}, which exists", target.as_str()),
        );
        Ok(false)
    }

    fn set_mode(&mut self, file: &'a FileReview, wanted: u32) -> Result<(), CommitError> {
        let path = self.admit(file.current_path())?;
        let disk = self.disk(&path)?;
        let Some(print) = disk.print().cloned() else {
            self.conflict(file, "was deleted since");
            return Ok(());
        };
        if print.symlink {
            self.conflict(file, "is a symbolic link now");
            return Ok(());
        }
        self.settle_operation(file, Settlement::Accepted);
        let mode = mode_after(print.mode, wanted);
        let after = Fingerprint {
            mode,
            ..print.clone()
        };
        if print.mode == mode {
            self.result(file, Effect::Already, Some(&print), Some(&print));
            return Ok(());
        }
        self.result(file, Effect::ModeSet { mode }, Some(&print), Some(&after));
        self.draft.steps.push(Step::SetMode {
            path: file.current_path().to_owned(),
            content: print.clone(),
            mode,
        });
        self.raw_change(
            file,
            What::Disk {
                before: print,
                after,
            },
            Vec::new(),
            None,
        );
        Ok(())
    }

    /// Puts a kept file back as it was. False when today's file is not the one that this was worked out for.
    fn exactly(
        &mut self,
        file: &'a FileReview,
        selected: &SelectedFile,
        exact: &Exact,
    ) -> Result<bool, CommitError> {
        let all = file
            .hunks
            .iter()
            .all(|hunk| !hunk.state.is_open() || selected.hunks.contains(&hunk.id));
        if !all || self.documents.contains_key(file.path.as_str()) {
            return Ok(false);
        }
        let path = self.admit(&file.path)?;
        let disk = self.disk(&path)?;
        if disk.print() != exact.now.as_ref() {
            return Ok(false);
        }
        let to = file.new_path().unwrap_or(&file.path).to_owned();
        let target = self.admit(&to)?;
        if to != file.path && !self.is_free(file, &target)? {
            return Ok(true);
        }
        let (before, after) = (exact.now.clone(), exact.fingerprint.clone());
        let in_place = to == file.path && !after.symlink && !matches!(disk, Disk::Link { .. });
        let name = self.name();
        let mut kept = before.is_some().then(|| name.clone());
        if let (Some(before), false) = (&before, in_place) {
            kept = Some(self.take_away(file, &disk, before));
        }
        match &exact.link {
            Some(link) => self.draft.steps.push(Step::MakeLink {
                path: to.clone(),
                target: link.clone(),
                folders: Vec::new(),
            }),
            None => {
                self.draft.new_files.push(NewFile {
                    path: target,
                    name: name.clone(),
                    content: Content::Kept {
                        checkpoint_id: exact.checkpoint_id.clone(),
                        name: exact.name.clone(),
                    },
                    mode: NewMode::Exact(after.mode),
                    like: None,
                });
                self.draft.steps.push(Step::Publish {
                    path: to.clone(),
                    name,
                    before: before.clone().filter(|_| in_place),
                    after: after.clone(),
                    folders: Vec::new(),
                });
            }
        }
        let (effect, what) = match &before {
            None => (
                Effect::Created,
                What::Created {
                    after: after.clone(),
                },
            ),
            Some(before) if to != file.path => (
                Effect::Renamed { to: to.clone() },
                What::Renamed {
                    to,
                    before: before.clone(),
                    after: after.clone(),
                },
            ),
            Some(before) => (
                Effect::Written,
                What::Disk {
                    before: before.clone(),
                    after: after.clone(),
                },
            ),
        };
        self.result(file, effect, before.as_ref(), Some(&after));
        self.raw_change(file, what, Vec::new(), kept);
        self.draft.prune.extend(file.prune.iter().cloned());
        for id in &selected.hunks {
            self.draft.hunks.push(SettledHunk {
                path: file.path.clone(),
                id: id.clone(),
                how: Settlement::Accepted,
            });
        }
        self.settle_operation(file, Settlement::Accepted);
        Ok(true)
    }

    /// Takes today's file or link away. Returns the name under which its content is kept.
    fn take_away(&mut self, file: &FileReview, disk: &Disk, before: &Fingerprint) -> String {
        let name = self.name();
        let path = file.path.clone();
        match disk {
            Disk::Link { target, .. } => {
                self.draft.kept_texts.push((name.clone(), target.clone()));
                self.draft.steps.push(Step::RemoveLink {
                    path,
                    target: target.clone(),
                });
            }
            Disk::Text { .. } | Disk::Opaque { .. } | Disk::Missing => {
                self.draft.steps.push(Step::Remove {
                    path,
                    name: name.clone(),
                    before: before.clone(),
                })
            }
        }
        name
    }

    fn empty_exists(&mut self, file: &'a FileReview, text: &Rope) -> Result<(), CommitError> {
        if text.len_bytes() == 0 {
            self.settle_operation(file, Settlement::ByHand);
            self.result(file, Effect::Already, None, None);
        } else {
            self.conflict(file, "exists already");
        }
        Ok(())
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

    fn disk(&self, path: &WorkspacePath) -> Result<Disk, CommitError> {
        Ok(match self.batch.read_to_write(path)? {
            Entry::Missing => Disk::Missing,
            Entry::Directory => {
                return Err(FsError::IsDirectory {
                    path: path.as_str().into(),
                }
                .into());
            }
            Entry::Special { what } => {
                return Err(FsError::NotAFile {
                    path: path.as_str().into(),
                    what,
                }
                .into());
            }
            Entry::Symlink { target } => Disk::Link {
                print: Fingerprint::of_link(&target),
                target,
            },
            Entry::TooLarge { len, limit } => {
                return Err(FsError::TooLarge {
                    path: path.as_str().into(),
                    len,
                    limit,
                }
                .into());
            }
            Entry::File(entry) => {
                let print = Fingerprint {
                    symlink: false,
                    revision: entry.revision(),
                    mode: entry.stat.mode,
                };
                match decode(&entry.bytes) {
                    Ok(decoded) => Disk::Text {
                        text: Rope::from_str(&decoded.text),
                        bom: decoded.bom,
                        print,
                    },
                    Err(_) => Disk::Opaque { print },
                }
            }
        })
    }
}

/// Whether `path` is `folder` or lies below it.
pub(super) fn is_at_or_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The mode that a file with the mode `old` gets: git's two modes say executable or not, any other is meant exactly.
fn mode_after(old: u32, wanted: u32) -> u32 {
    match wanted {
        0o755 => old | (old & 0o444) >> 2,
        0o644 => old & !0o111,
        exact => exact & 0o7777,
    }
}

fn with_bom(bom: bool, text: &Rope) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len_bytes() + 3);
    if bom {
        bytes.extend_from_slice("\u{feff}".as_bytes());
    }
    for chunk in text.chunks() {
        bytes.extend_from_slice(chunk.as_bytes());
    }
    bytes
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
