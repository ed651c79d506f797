//! Files that go, move, or come back as they were.

use redline_edits::{HunkState, OperationKind, text_revision};
use ropey::Rope;

use super::disk::{Disk, mode_after, with_bom};
use super::{Content, Drafting, NewFile, Placed, TextAfter};
use crate::boundary::WorkspacePath;
use crate::checkpoint::What;
use crate::commit::plan::Step;
use crate::commit::{CommitError, Fingerprint};
use crate::effect::NewMode;
use crate::receipt::Effect;
use crate::transaction::{Before, Exact, FileReview, SelectedFile, SettledHunk, Settlement};

impl<'a> Drafting<'a> {
    pub(super) fn delete(
        &mut self,
        file: &'a FileReview,
        selected: &SelectedFile,
    ) -> Result<(), CommitError> {
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

    pub(super) fn rename(
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
    pub(super) fn is_free(
        &mut self,
        file: &FileReview,
        target: &WorkspacePath,
    ) -> Result<bool, CommitError> {
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

    /// Puts a kept file back as it was. False when today's file is not the one that this was worked out for.
    pub(super) fn exactly(
        &mut self,
        file: &'a FileReview,
        selected: &SelectedFile,
        exact: &Exact,
    ) -> Result<bool, CommitError> {
        let all = file.hunks.iter().all(|hunk| match hunk.state {
            HunkState::Pending => selected.hunks.contains(&hunk.id),
            HunkState::Conflict(_) => false,
            HunkState::Accepted { .. } | HunkState::Rejected | HunkState::Withdrawn => true,
        });
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
        let text = match &disk {
            Disk::Text { text, .. } => Some(text.clone()),
            Disk::Missing => Some(Rope::new()),
            Disk::Opaque { .. } | Disk::Link { .. } => None,
        };
        let placed = match text {
            Some(text) if !selected.hunks.is_empty() => self.place(file, selected, &text),
            Some(_) | None => None,
        };
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
        match placed {
            Some(placed) => {
                self.change(file, what, &placed, kept);
                self.after(file, placed, false);
            }
            None => self.raw_change(file, what, Vec::new(), kept),
        }
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
    pub(super) fn take_away(
        &mut self,
        file: &FileReview,
        disk: &Disk,
        before: &Fingerprint,
    ) -> String {
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
}
