//! Where a reviewer is among the things to decide, and what was decided so far.
//!
//! Owns: the order, the moves, the choices. Must not know: the terminal, the sidecar.

use crate::cli::render::Context;
use redline_protocol::v1::{
    FileChange, FileRef, Hunk, HunkRef, HunkState, OperationKind, Transaction,
};
use std::path::Path;

/// Lines of context on either side of a hunk.
const CONTEXT_LINES: usize = 3;

/// What a reviewer chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Accept,
    Reject,
    Withdraw,
}

/// One thing to decide, by place in the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// One hunk of an edited file.
    Hunk { file: usize, hunk: usize },
    /// The operation of a file as a whole: create, delete, rename, set-mode.
    File { file: usize },
}

impl Item {
    /// Place of its file.
    pub(super) fn file(self) -> usize {
        match self {
            Self::Hunk { file, .. } | Self::File { file } => file,
        }
    }

    /// The hunk, if it is one.
    pub(super) fn hunk(self, transaction: &Transaction) -> Option<&Hunk> {
        match self {
            Self::Hunk { file, hunk } => transaction.files.get(file)?.hunks.get(hunk),
            Self::File { .. } => None,
        }
    }
}

/// What an item is called in a decision, so that choices outlive a change of the transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Hunk { id: String, revision: u64 },
    File { path: String },
}

#[derive(Debug)]
struct Step {
    item: Item,
    name: Name,
    conflict: bool,
    choice: Option<Choice>,
}

/// A walk through one transaction.
#[derive(Debug)]
pub(super) struct Walk {
    steps: Vec<Step>,
    at: usize,
}

impl Walk {
    /// A walk over all that is not settled.
    pub(super) fn new(transaction: &Transaction) -> Self {
        let mut steps = Vec::new();
        for (file_idx, file) in transaction.files.iter().enumerate() {
            if asks_for_file(file) && is_open(file.state) {
                steps.push(Step {
                    item: Item::File { file: file_idx },
                    name: Name::File {
                        path: file.path.clone(),
                    },
                    conflict: file.state == HunkState::Conflict,
                    choice: None,
                });
            }
            if !asks_for_hunks(file) {
                continue;
            }
            for (hunk_idx, hunk) in file.hunks.iter().enumerate() {
                if is_open(hunk.state) {
                    steps.push(Step {
                        item: Item::Hunk {
                            file: file_idx,
                            hunk: hunk_idx,
                        },
                        name: Name::Hunk {
                            id: hunk.id.clone(),
                            revision: hunk.revision,
                        },
                        conflict: hunk.state == HunkState::Conflict,
                        choice: None,
                    });
                }
            }
        }
        Self { steps, at: 0 }
    }

    /// Whether there is nothing to decide.
    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What is asked about now; `None` at the end.
    pub(super) fn current(&self) -> Option<Item> {
        self.steps.get(self.at).map(|step| step.item)
    }

    /// Place of the current item, from 1, and how many there are.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.at + 1, self.steps.len())
    }

    /// Place of an item's file in the transaction.
    pub(super) fn file_of(&self, item: Item) -> usize {
        item.file()
    }

    /// Whether an item is a conflict, which cannot be accepted.
    pub(super) fn is_conflict(&self, item: Item) -> bool {
        self.steps
            .iter()
            .any(|step| step.item == item && step.conflict)
    }

    /// Decides the current item, and goes on to the next undecided one.
    pub(super) fn decide(&mut self, choice: Choice) {
        if let Some(step) = self.steps.get_mut(self.at) {
            step.choice = Some(choice);
        }
        self.skip();
    }

    /// Decides the current item and all later undecided ones of its file.
    pub(super) fn decide_file(&mut self, choice: Choice) {
        let Some(item) = self.current() else { return };
        let same_file = |step: &Step| step.item.file() == item.file();
        self.decide_where(choice, same_file);
    }

    /// Decides the current item and all later undecided ones.
    pub(super) fn decide_all(&mut self, choice: Choice) {
        self.decide_where(choice, |_| true);
    }

    fn decide_where(&mut self, choice: Choice, which: impl Fn(&Step) -> bool) {
        let here = self.at;
        for (at, step) in self.steps.iter_mut().enumerate().skip(here) {
            let open = at == here || step.choice.is_none();
            // A conflict is never accepted along with others.
            let possible = !(step.conflict && choice == Choice::Accept);
            if open && possible && which(step) {
                step.choice = Some(choice);
            }
        }
        self.skip();
    }

    /// Goes on to the next undecided item.
    pub(super) fn skip(&mut self) {
        let next = (self.at + 1..self.steps.len()).find(|&at| self.steps[at].choice.is_none());
        self.at = next.unwrap_or(self.steps.len());
    }

    /// Goes back by one item, decided or not; false at the first.
    pub(super) fn back(&mut self) -> bool {
        match self.at.checked_sub(1) {
            Some(at) => {
                self.at = at;
                true
            }
            None => false,
        }
    }

    /// Walks on in a changed transaction: choices hold for what has kept its name and revision.
    pub(super) fn renew(&mut self, transaction: &Transaction) {
        let before = std::mem::replace(self, Self::new(transaction));
        for step in &mut self.steps {
            let old = before.steps.iter().find(|old| old.name == step.name);
            step.choice = old.and_then(|old| old.choice);
        }
        // Split or edited hunks stand where the old one stood.
        self.at = before.at.min(self.steps.len());
    }

    /// The hunks and files of one choice, as they were shown; files with the `revision` that the
    /// transaction has now.
    pub(super) fn decided(&self, choice: Choice, revision: u64) -> (Vec<HunkRef>, Vec<FileRef>) {
        let (mut hunks, mut files) = (Vec::new(), Vec::new());
        for step in self.steps.iter().filter(|step| step.choice == Some(choice)) {
            match &step.name {
                Name::Hunk { id, revision } => hunks.push(HunkRef {
                    id: id.clone(),
                    revision: Some(*revision),
                }),
                Name::File { path } => files.push(FileRef {
                    path: path.clone(),
                    revision: Some(revision),
                }),
            }
        }
        (hunks, files)
    }
}

fn is_open(state: HunkState) -> bool {
    matches!(state, HunkState::Pending | HunkState::Conflict)
}

/// A file whose operation is more than its lines is decided as one.
fn asks_for_file(file: &FileChange) -> bool {
    match file.operation {
        OperationKind::Edit => file.hunks.is_empty(),
        OperationKind::Create | OperationKind::Delete | OperationKind::Rename => true,
        OperationKind::SetMode => true,
    }
}

/// A created or deleted file has no lines to decide apart from it.
fn asks_for_hunks(file: &FileChange) -> bool {
    match file.operation {
        OperationKind::Edit | OperationKind::Rename | OperationKind::SetMode => true,
        OperationKind::Create | OperationKind::Delete => false,
    }
}

/// The lines around a hunk, when the file on disk still reads what the hunk removes; an open
/// document may read otherwise, and then no context is better than a wrong one.
pub(super) fn context(root: &Path, path: &str, hunk: &Hunk) -> Option<Context> {
    let root = redline_workspace::WorkspaceRoot::open(root, Default::default()).ok()?;
    let place = root.batch().place(&root.admit(path).ok()?).ok()?;
    let redline_workspace::Entry::File(file) = root.batch().read(place.path()).ok()? else {
        return None;
    };
    let text = redline_edits::decode(&file.bytes).ok()?.text;
    let lines: Vec<&str> = text
        .split('\n')
        .map(|line| line.trim_end_matches('\r'))
        .collect();
    let start = usize::try_from(hunk.start_line).ok()?.checked_sub(1)?;
    let end = start + hunk.removed.len();
    if lines.get(start..end)? != hunk.removed {
        return None;
    }
    let owned = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
    let last = lines.len() - usize::from(lines.last() == Some(&""));
    Some(Context {
        before: owned(&lines[start.saturating_sub(CONTEXT_LINES)..start]),
        after: owned(&lines[end.min(last)..(end + CONTEXT_LINES).min(last)]),
    })
}

#[cfg(test)]
mod tests;
