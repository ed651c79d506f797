//! What a decision is about: from the request's words to hunks and operations.
//!
//! Pure. A request names hunks (with the revision that was shown), files, line ranges, or all.
//! Anything that moved on since it was shown is `STALE_HUNK`, and nothing is decided.

use std::collections::BTreeSet;

use redline_edits::{HunkId, HunkState};

use super::file::{FileReview, FileState};
use super::model::Transaction;

/// A 1-based, inclusive range of lines of the text as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRange {
    /// Path from the workspace root.
    pub path: String,
    /// First line.
    pub start: usize,
    /// Last line.
    pub end: usize,
}

/// What somebody decides on, in the words of the request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecisionRequest {
    /// The transaction revision that was shown, when the whole is decided.
    pub revision: Option<u64>,
    /// Hunks, each with the revision that was shown.
    pub hunks: Vec<(HunkId, Option<u64>)>,
    /// Files, each with the transaction revision that was shown.
    pub files: Vec<(String, Option<u64>)>,
    /// Line ranges. Hunks that reach beyond a range must have been split first ([`Transaction::split_for_lines`]).
    pub lines: Vec<LineRange>,
}

impl DecisionRequest {
    /// Whether it names no part, and so means all that waits.
    pub fn is_whole(&self) -> bool {
        self.hunks.is_empty() && self.files.is_empty() && self.lines.is_empty()
    }
}

/// Hunks and operations that a decision is about, by file index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub(crate) files: Vec<SelectedFile>,
}

/// The part of a selection that lies in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SelectedFile {
    /// Its path.
    pub(crate) path: String,
    /// Its hunks, by place.
    pub(crate) hunks: Vec<HunkId>,
    /// The file's own operation is decided too.
    pub(crate) operation: bool,
}

impl Selection {
    /// Paths that it touches.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.path.as_str())
    }

    /// Hunks in it.
    pub fn hunks(&self) -> impl Iterator<Item = &HunkId> {
        self.files.iter().flat_map(|file| &file.hunks)
    }

    /// Hunks in it, each with its file's path.
    pub fn placed(&self) -> impl Iterator<Item = (&str, &HunkId)> {
        let all = self.files.iter();
        all.flat_map(|file| file.hunks.iter().map(|hunk| (file.path.as_str(), hunk)))
    }

    /// Whether the own operation of the file at `path` is in it.
    pub fn has_operation(&self, path: &str) -> bool {
        self.files
            .iter()
            .any(|file| file.operation && file.path == path)
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// Why a request selects nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No such hunk.
    #[error("{transaction} has no hunk {hunk}")]
    UnknownHunk {
        /// The transaction.
        transaction: String,
        /// The id asked for.
        hunk: String,
    },
    /// No such file.
    #[error("{transaction} does not change {path}")]
    UnknownFile {
        /// The transaction.
        transaction: String,
        /// The path asked for.
        path: String,
    },
    /// The hunk changed since it was shown.
    #[error("{hunk} is at revision {now}, and revision {shown} was shown")]
    StaleHunk {
        /// The hunk.
        hunk: String,
        /// The revision decided on.
        shown: u64,
        /// Today's.
        now: u64,
    },
    /// The transaction changed since it was shown.
    #[error("{transaction} is at revision {now}, and revision {shown} was shown")]
    StaleTransaction {
        /// The transaction.
        transaction: String,
        /// The revision decided on.
        shown: u64,
        /// Today's.
        now: u64,
    },
    /// The hunk was decided before.
    #[error("{hunk} is already {state}")]
    AlreadySettled {
        /// The hunk or path.
        hunk: String,
        /// Its state.
        state: &'static str,
    },
    /// Nothing there waits for a decision.
    #[error("nothing is pending in {place}")]
    NothingPending {
        /// The transaction, file or range.
        place: String,
    },
    /// A range with no line in it.
    #[error("{path}:{start}-{end} is not a range of lines")]
    BadRange {
        /// The path.
        path: String,
        /// First line.
        start: usize,
        /// Last line.
        end: usize,
    },
}

impl SelectError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownHunk { .. } => "UNKNOWN_HUNK",
            Self::UnknownFile { .. } => "NOT_FOUND",
            Self::StaleHunk { .. } | Self::StaleTransaction { .. } => "STALE_HUNK",
            Self::AlreadySettled { .. } => "ALREADY_SETTLED",
            Self::NothingPending { .. } => "NOTHING_PENDING",
            Self::BadRange { .. } => "INVALID_ARGUMENTS",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UnknownHunk { .. } | Self::UnknownFile { .. } => {
                "`redline status` lists what is there"
            }
            Self::StaleHunk { .. } | Self::StaleTransaction { .. } => {
                "look at it as it is now, then decide again"
            }
            Self::AlreadySettled { .. } => "`redline undo` takes back what was accepted",
            Self::NothingPending { .. } => "`redline status` lists what waits for a decision",
            Self::BadRange { .. } => "lines count from 1, and the first comes before the last",
        }
    }
}

impl Transaction {
    /// Finds the hunks and operations that `request` is about.
    ///
    /// Conflicts count as waiting: who accepts them is told so by the commit, who rejects them is rid of them.
    ///
    /// # Errors
    ///
    /// [`SelectError`], for the first part of the request that does not hold; nothing is selected then.
    pub fn select(&self, request: &DecisionRequest) -> Result<Selection, SelectError> {
        self.check_revision(request.revision)?;
        let mut picked = Picked::default();
        if request.is_whole() {
            for file in self.files() {
                picked.open_of(file);
            }
            if picked.is_empty() {
                return Err(SelectError::NothingPending {
                    place: self.id().into(),
                });
            }
        }
        for (id, shown) in &request.hunks {
            self.pick_hunk(&mut picked, id, *shown)?;
        }
        for (path, shown) in &request.files {
            self.check_revision(*shown)?;
            let file = self.require_file(path)?;
            if !picked.open_of(file) {
                return Err(SelectError::NothingPending {
                    place: path.clone(),
                });
            }
        }
        for range in &request.lines {
            let file = self.require_file(&range.path)?;
            let mut any = false;
            for id in hunks_in(file, range)? {
                picked.hunks.insert(id);
                any = true;
            }
            if !any {
                let place = format!("{}:{}-{}", range.path, range.start, range.end);
                return Err(SelectError::NothingPending { place });
            }
        }
        Ok(picked.into_selection(self))
    }

    /// Checks the revision of the transaction that a decision names.
    ///
    /// # Errors
    ///
    /// [`SelectError::StaleTransaction`] when it has changed since.
    pub fn check_revision(&self, shown: Option<u64>) -> Result<(), SelectError> {
        match shown {
            Some(shown) if shown != self.revision => Err(SelectError::StaleTransaction {
                transaction: self.id().into(),
                shown,
                now: self.revision,
            }),
            _ => Ok(()),
        }
    }

    fn require_file(&self, path: &str) -> Result<&FileReview, SelectError> {
        self.file(path)
            .or_else(|| self.files().find(|file| file.new_path() == Some(path)))
            .ok_or_else(|| SelectError::UnknownFile {
                transaction: self.id().into(),
                path: path.into(),
            })
    }

    fn pick_hunk(
        &self,
        picked: &mut Picked,
        id: &HunkId,
        shown: Option<u64>,
    ) -> Result<(), SelectError> {
        let unknown = || SelectError::UnknownHunk {
            transaction: self.id().into(),
            hunk: id.to_string(),
        };
        let file = self.file_of(id).ok_or_else(unknown)?;
        let hunk = file.hunks.get(id).ok_or_else(unknown)?;
        match shown {
            Some(shown) if shown != hunk.revision => {
                return Err(SelectError::StaleHunk {
                    hunk: id.to_string(),
                    shown,
                    now: hunk.revision,
                });
            }
            _ => {}
        }
        let state = match &hunk.state {
            HunkState::Pending | HunkState::Conflict(_) => {
                picked.hunks.insert(id.clone());
                return Ok(());
            }
            HunkState::Rejected | HunkState::Withdrawn if file.undone.contains(id) => "undone",
            HunkState::Accepted { .. } => "accepted",
            HunkState::Rejected => "rejected",
            HunkState::Withdrawn => "withdrawn",
        };
        Err(SelectError::AlreadySettled {
            hunk: id.to_string(),
            state,
        })
    }
}

/// Open hunks whose base lines meet the range; an insertion belongs to the line before which it goes.
pub(super) fn hunks_in(file: &FileReview, range: &LineRange) -> Result<Vec<HunkId>, SelectError> {
    if range.start == 0 || range.end < range.start {
        return Err(SelectError::BadRange {
            path: range.path.clone(),
            start: range.start,
            end: range.end,
        });
    }
    let open = file
        .hunks_by_line()
        .into_iter()
        .filter(|(_, hunk)| hunk.state.is_open());
    let found = open.filter(|(first, hunk)| {
        let last = first + hunk.removed.split_inclusive('\n').count().saturating_sub(1);
        *first <= range.end && last >= range.start
    });
    Ok(found.map(|(_, hunk)| hunk.id.clone()).collect())
}

/// Parts picked so far: each once, whatever the request repeats.
#[derive(Default)]
struct Picked {
    hunks: BTreeSet<HunkId>,
    operations: BTreeSet<String>,
}

impl Picked {
    fn is_empty(&self) -> bool {
        self.hunks.is_empty() && self.operations.is_empty()
    }

    /// Picks all of `file` that waits. Says whether there was anything.
    fn open_of(&mut self, file: &FileReview) -> bool {
        let mut any = false;
        for hunk in file.hunks.iter().filter(|hunk| hunk.state.is_open()) {
            self.hunks.insert(hunk.id.clone());
            any = true;
        }
        if matches!(
            file.operation_state(),
            Some(FileState::Pending | FileState::Conflict { .. })
        ) {
            self.operations.insert(file.path.clone());
            any = true;
        }
        any
    }

    fn into_selection(self, transaction: &Transaction) -> Selection {
        let mut files = Vec::new();
        for file in transaction.files() {
            let hunks: Vec<HunkId> = file
                .hunks
                .iter()
                .filter(|hunk| self.hunks.contains(&hunk.id))
                .map(|hunk| hunk.id.clone())
                .collect();
            let operation = self.operations.contains(&file.path);
            if operation || !hunks.is_empty() {
                files.push(SelectedFile {
                    path: file.path.clone(),
                    hunks,
                    operation,
                });
            }
        }
        Selection { files }
    }
}
