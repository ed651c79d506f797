//! From the paths that an undo changes to the transaction that changes them.

use std::sync::Arc;

use redline_edits::{
    Hunk, HunkId, HunkRecord, HunkSet, HunkState, MatchRung, Operation, OperationKind, Origin,
    Reads, Resolved, decode,
};
use ropey::Rope;

use super::{UndoError, UndoRequest};
use crate::boundary::Batch;
use crate::checkpoint::{Buried, Contest, Contested, Now, Reversal, Target};
use crate::commit::{OpenDocument, fingerprint};
use crate::effect::FsError;
use crate::read::Entry;
use crate::transaction::{
    Exact, FileReview, FileState, GrowError, Growth, Purpose, Transaction, TransactionMeta,
};
use crate::workspace::Workspace;

/// What a transaction is drafted from.
pub(super) struct Drafting<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) batch: &'a Batch,
    pub(super) request: &'a UndoRequest,
    /// The checkpoint that keeps the contents to put back.
    pub(super) keeper: &'a str,
    pub(super) purpose: Purpose,
}

impl Drafting<'_> {
    /// The transaction that does what `reversals` say. Contested paths are in conflict there.
    pub(super) fn transaction(
        self,
        title: String,
        reversals: &[Reversal],
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<Transaction, UndoError> {
        let meta = TransactionMeta {
            id: self.request.transaction_id.clone(),
            session_id: self.request.transaction_id.clone(),
            turn_id: None,
            title,
            proposed_by: self.request.proposed_by.clone(),
            created_at: self.request.at,
            rationale: None,
            purpose: self.purpose.clone(),
        };
        let mut operations = Vec::new();
        let mut opaque = Vec::new();
        for reversal in reversals {
            let today = self.now(&reversal.path)?;
            if let Now::File {
                disk: Some(disk),
                text: None,
                ..
            } = &today
                && content(reversal) == &Contested::Not
            {
                opaque.push((reversal.path.clone(), disk.revision.clone()));
            }
            operations.extend(operation(reversal, &today));
        }
        let resolved = Resolved {
            operations,
            ..Resolved::default()
        };
        let growth = Growth {
            resolved: &resolved,
            opaque: &opaque,
            call: None,
        };
        let mut transaction =
            Transaction::new(meta, &growth, ids).map_err(|error| match error {
                GrowError::Taken { path, .. } => UndoError::Fs(FsError::Exists { path }),
            })?;
        for reversal in reversals {
            let today = self.now(&reversal.path)?;
            let exact = self.exact(reversal, &today)?;
            let Some(file) = transaction.file_mut(&reversal.path) else {
                continue;
            };
            file.exact = exact;
            file.prune.clone_from(&reversal.made);
            if let Some(contest) = &reversal.contest {
                lay_over(file, contest, &today, ids);
                file.take_snapshot();
            }
        }
        Ok(transaction)
    }

    fn now(&self, path: &str) -> Result<Now, UndoError> {
        now(self.batch, &self.request.documents, path)
    }

    /// The kept file that puts a path back byte for byte.
    fn exact(&self, reversal: &Reversal, today: &Now) -> Result<Option<Exact>, UndoError> {
        let Target::Kept {
            name, fingerprint, ..
        } = &reversal.target
        else {
            return Ok(None);
        };
        let link = if fingerprint.symlink {
            let bytes = self.workspace.checkpoints().kept_bytes(self.keeper, name)?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        } else {
            None
        };
        Ok(Some(Exact {
            now: match today {
                // Never over what somebody else has put there.
                Now::File { .. } if content(reversal) != &Contested::Not => None,
                Now::File { disk, .. } => disk.clone(),
                Now::Missing => None,
            },
            checkpoint_id: self.keeper.to_owned(),
            name: name.clone(),
            fingerprint: fingerprint.clone(),
            link,
        }))
    }
}

fn content(reversal: &Reversal) -> &Contested {
    let contest = reversal.contest.as_ref();
    contest.map_or(&Contested::Not, |contest| &contest.content)
}

/// What stands at `path`: the open document's text over the file's.
pub(super) fn now(batch: &Batch, documents: &[OpenDocument], path: &str) -> Result<Now, UndoError> {
    let admitted = batch.root().admit(path)?;
    let entry = batch.read(&admitted)?;
    let disk = fingerprint(&entry);
    let open = documents.iter().find(|document| document.path == path);
    let text: Option<Arc<str>> = match (&open, &entry) {
        (Some(document), _) => Some(document.text.to_string().into()),
        (None, Entry::File(file)) => decode(&file.bytes).ok().map(|decoded| decoded.text.into()),
        (None, _) => None,
    };
    Ok(match (disk, text) {
        (None, None) => Now::Missing,
        (None, Some(text)) if text.is_empty() => Now::Missing,
        (disk, text) => Now::File {
            disk,
            text,
            open: open.is_some(),
        },
    })
}

/// The operation that brings `today` to the reversal's target.
fn operation(reversal: &Reversal, today: &Now) -> Option<Operation> {
    let (before, mode_now) = match today {
        Now::Missing => (None, None),
        Now::File { disk, text, .. } => (
            text.as_ref().map(ToString::to_string),
            disk.as_ref().map(|disk| disk.mode),
        ),
    };
    let exists = *today != Now::Missing;
    let (after, mode) = match &reversal.target {
        Target::Gone => (None, None),
        Target::Kept {
            fingerprint, text, ..
        } => (
            text.as_ref().map(ToString::to_string),
            Some(fingerprint.mode),
        ),
        Target::Text { text, mode } => (Some(text.to_string()), *mode),
        Target::Mode { mode } => (before.clone(), Some(*mode)),
    };
    let mode = mode.filter(|mode| mode_now.is_some_and(|now| now != *mode));
    let content = content(reversal);
    let (before, after, mode) = match content {
        Contested::Lines(chain) => (
            Some(chain.left.to_string()),
            Some(chain.found.to_string()),
            mode,
        ),
        Contested::Whole => (None, None, None),
        Contested::Not => (before.filter(|_| exists), after, mode),
    };
    let kind = match (&reversal.target, &reversal.back_to) {
        (Target::Gone, _) if !exists => return None,
        (Target::Gone, _) => OperationKind::Delete,
        (_, Some(to)) => OperationKind::Rename { to: to.clone() },
        (Target::Mode { mode: wanted }, None) if exists => {
            mode?;
            OperationKind::SetMode { mode: *wanted }
        }
        (Target::Kept { .. }, None) if *content == Contested::Whole => OperationKind::Create,
        // No lines lead from one to the other: the kept file takes the place of what is there.
        (Target::Kept { .. }, None) if before.is_none() || after.is_none() => OperationKind::Create,
        (_, None) if !exists => OperationKind::Create,
        (_, None) => OperationKind::Edit,
    };
    Some(Operation {
        path: reversal.path.clone(),
        kind,
        before,
        after,
        bom: false,
        mode,
        rationale: None,
        rung: MatchRung::Exact,
        spans: Vec::new(),
        flags: Vec::new(),
    })
}

/// Lays the hunks of a contested path over what stands there today.
fn lay_over(
    file: &mut FileReview,
    contest: &Contest,
    today: &Now,
    ids: &mut dyn FnMut() -> HunkId,
) {
    let conflict = FileState::Conflict {
        reason: contest.refusal.reason.clone(),
    };
    if contest.is_name_taken {
        file.set_operation_state(conflict.clone());
    }
    let Contested::Lines(chain) = &contest.content else {
        if contest.content == Contested::Whole {
            file.set_operation_state(conflict);
        }
        return;
    };
    if file.operation == OperationKind::Create {
        // The file is gone: lines of it would be no file, so it comes back as one.
        if let Some(hunks) = one_hunk(&chain.left, &chain.found, ids()) {
            file.hunks = hunks;
        }
    }
    let text = match today {
        Now::File {
            text: Some(text), ..
        } => Rope::from_str(text),
        Now::File { text: None, .. } | Now::Missing => Rope::new(),
    };
    file.reanchor(&text);
    for buried in &chain.buried {
        dig_out(file, buried, ids);
    }
    let is_partial = !file.hunks.is_empty() && !covers(&file.hunks, &text);
    if file.operation == OperationKind::Delete && is_partial {
        // Somebody has added lines beside those that go: theirs stay, and so does the file.
        file.operation = OperationKind::Edit;
    }
    let waits = |hunk: &Hunk| hunk.state.is_open();
    if file.operation_state().is_some() && !file.hunks.iter().any(waits) {
        file.set_operation_state(conflict);
    }
}

/// Adds the hunks of an earlier segment that were in conflict already when a later one began.
fn dig_out(file: &mut FileReview, buried: &Buried, ids: &mut dyn FnMut() -> HunkId) {
    let left = Rope::from_str(&buried.left);
    let mut hunks = HunkSet::new();
    hunks.propose(&left, &buried.found, &Origin::default(), ids);
    hunks.rebase(&left, &file.text);
    let records = hunks.snapshot(&file.text).into_iter().enumerate();
    let mut all = file.hunks.snapshot(&file.text);
    all.extend(
        records
            .filter(|(at, _)| buried.hunks.contains(at))
            .map(|(_, record)| record),
    );
    all.sort_by_key(|record| record.lines.start);
    for (age, record) in (0u32..).zip(&mut all) {
        record.age = age;
    }
    // Should they claim the lines of others after all, those others alone are shown.
    if let Ok((hunks, _)) = HunkSet::restore(&file.text, all) {
        file.hunks = hunks;
    }
}

/// Whether no line of `text` lies outside of the hunks.
fn covers(hunks: &HunkSet, text: &Rope) -> bool {
    let covered: usize = hunks.placed().map(|(_, range)| range.len()).sum();
    covered == text.len_bytes()
}

/// A set of one hunk, that makes the whole of `after` from the whole of `before`.
fn one_hunk(before: &str, after: &str, id: HunkId) -> Option<HunkSet> {
    let removed = before.replace("\r\n", "\n");
    let record = HunkRecord {
        lines: 0..removed.split_inclusive('\n').count(),
        hunk: Hunk {
            id,
            revision: 1,
            state: HunkState::Pending,
            removed,
            replacement: after.replace("\r\n", "\n"),
            provenance: Vec::new(),
            rung: MatchRung::Exact,
            amended: None,
            split_from: None,
        },
        reads: Reads::Removed,
        age: 0,
    };
    let restored = HunkSet::restore(&Rope::from_str(before), vec![record]);
    restored.ok().map(|(hunks, _)| hunks)
}
