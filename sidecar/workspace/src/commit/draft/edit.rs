//! Files that stay where they are: their text, on disk or in an open document, and their mode.

use redline_edits::{OperationKind, text_revision};
use ropey::Rope;

use super::disk::{Disk, mode_after, with_bom};
use super::{Content, Drafting, NewFile};
use crate::checkpoint::What;
use crate::commit::plan::Step;
use crate::commit::{CommitError, Delivery, Fingerprint, OpenDocument};
use crate::effect::NewMode;
use crate::receipt::{Effect, PathResult};
use crate::transaction::{FileReview, SelectedFile, Settlement};

impl<'a> Drafting<'a> {
    /// Changes the text, and perhaps the mode, of a file that stays where it is, or creates it.
    pub(super) fn edit(
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
    pub(super) fn deliver(
        &mut self,
        file: &'a FileReview,
        selected: &SelectedFile,
        document: &OpenDocument,
    ) {
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

    pub(super) fn empty_exists(
        &mut self,
        file: &'a FileReview,
        text: &Rope,
    ) -> Result<(), CommitError> {
        if text.len_bytes() == 0 {
            self.settle_operation(file, Settlement::ByHand);
            self.result(file, Effect::Already, None, None);
        } else {
            self.conflict(file, "exists already");
        }
        Ok(())
    }

    pub(super) fn set_mode(
        &mut self,
        file: &'a FileReview,
        wanted: u32,
    ) -> Result<(), CommitError> {
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
}
