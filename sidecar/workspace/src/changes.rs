//! What a command changed in the workspace, so that undo covers it.
//!
//! Before a command the tree is looked at (`scan`), and what could not be brought back otherwise is copied
//! (`shadow`): files that git does not track or that differ from what it tracks, ignored ones left out, up to a
//! stated size. Content that is clean in git's index is in git already (`git`). After the command the tree is
//! looked at again and compared by size, times, inode and mode; what differs in these is read, and counts when
//! its bytes or its mode are others (`compare`). What was created, changed or deleted goes into the checkpoint
//! of the command's turn (`record`).
//!
//! **Cost.** Two walks of the tree that is not ignored, one `lstat` for each file; the reading of git's index; the
//! bytes of what is copied, once for as long as it stays the same; the bytes of what changed.
//!
//! **Limits**, each of which is told as a [`Gap`] when it matters: files and totals beyond [`ChangeLimits`]; files
//! that git stores in another form (a filter); protected paths; names that are not UTF-8; empty folders. What is
//! ignored is left alone, and what a command does outside of the workspace is not seen.

mod compare;
mod git;
mod record;
mod scan;
mod shadow;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub(crate) use compare::{Changed, Found};
pub(crate) use record::{RAN, Recorded, record};
pub(crate) use shadow::Shadow;

use crate::receipt::{Effect as PathEffect, PathResult};
use crate::store::StoreError;
use crate::walk::SearchError;
use crate::workspace::Workspace;

/// How much is copied before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeLimits {
    /// Largest file.
    pub file_bytes: u64,
    /// All copies together.
    pub total_bytes: u64,
    /// Most changed paths that are kept.
    pub paths: usize,
}

impl Default for ChangeLimits {
    fn default() -> Self {
        Self {
            file_bytes: 16 << 20,
            total_bytes: 256 << 20,
            paths: 20_000,
        }
    }
}

/// Something that undo will not bring back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The path, relative to the root.
    pub path: String,
    /// Why, in one clause.
    pub reason: String,
}

/// Why a change is only observed: something else may have made it, so undo shows it first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Observed {
    /// It is what an editor saved.
    Saved,
    /// Other jobs ran at the same time.
    Beside {
        /// Their ids.
        jobs: Vec<String>,
    },
    /// A proposal was accepted in the same file at the same time.
    Committed,
    /// The command ran in the background, while others worked.
    Background,
}

impl Observed {
    /// The reason in one clause.
    pub fn reason(&self) -> String {
        match self {
            Self::Saved => "is what an editor saved while the command ran".to_owned(),
            Self::Beside { jobs } => format!("changed while {} ran, too", jobs.join(", ")),
            Self::Committed => {
                "was changed by an accepted proposal, too, while the command ran".to_owned()
            }
            Self::Background => "changed while the command ran in the background".to_owned(),
        }
    }
}

/// What a command changed, in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSummary {
    /// The checkpoint that covers it: undo takes this id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_id: Option<String>,
    /// How many files it created.
    pub created: usize,
    /// How many it changed, modes included.
    pub changed: usize,
    /// How many it deleted.
    pub deleted: usize,
    /// The first of these paths.
    pub paths: Vec<String>,
    /// How many of them are only observed: undo shows them first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub observed: usize,
    /// The first of those that undo will not bring back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// How many there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub gap_count: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl ChangeSummary {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.created + self.changed + self.deleted + self.gap_count == 0
    }
}

/// Why changes could not be followed.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum ChangeError {
    /// The tree could not be walked.
    #[error(transparent)]
    Walk(#[from] SearchError),
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The tree as it was before a command.
pub(crate) struct Before {
    scan: scan::Scan,
    shadow: shadow::Copies,
    git: Option<git::Tracked>,
    /// The last record of the journal.
    seq: u64,
}

/// Looks at the tree, and copies what could not be brought back otherwise.
///
/// # Errors
///
/// [`ChangeError`]. A file that cannot be read is a gap, not an error.
pub(crate) fn before(
    workspace: &Workspace,
    shadow: &Shadow,
    limits: &ChangeLimits,
) -> Result<Before, ChangeError> {
    let root = workspace.root();
    let seq = workspace.journal().last_seq()?;
    let mut scan = scan::scan(root, workspace.store())?;
    let git = git::Tracked::open(root);
    if let Some(git) = &git {
        scan.add(root, git.paths());
    }
    let is_clean = |path: &str, stat: &crate::handle::Stat| {
        git.as_ref().is_some_and(|git| git.is_clean(path, stat))
    };
    let shadow = shadow.copy(root, &scan, limits, is_clean)?;
    Ok(Before {
        scan,
        shadow,
        git,
        seq,
    })
}

/// Looks at the tree again: what is other than before.
///
/// # Errors
///
/// [`ChangeError`].
pub(crate) fn after(
    workspace: &Workspace,
    before: &Before,
    limits: &ChangeLimits,
) -> Result<Found, ChangeError> {
    let root = workspace.root();
    let mut scan = scan::scan(root, workspace.store())?;
    if let Some(git) = &before.git {
        scan.add(root, git.paths());
    }
    let mut found = compare::compare(root, before, &scan, limits);
    leave_commits_out(workspace, before.seq, &mut found)?;
    Ok(found)
}

/// Takes what accepted proposals wrote meanwhile out of `found`: it is covered already, and not the command's.
fn leave_commits_out(workspace: &Workspace, seq: u64, found: &mut Found) -> Result<(), StoreError> {
    let mut committed: BTreeMap<String, Option<String>> = BTreeMap::new();
    for record in workspace.journal().changed_since(seq)? {
        let results = record
            .data
            .get("results")
            .filter(|_| record.kind == "committed");
        let results: Vec<PathResult> = results
            .and_then(|results| serde_json::from_value(results.clone()).ok())
            .unwrap_or_default();
        for result in results {
            let path = match &result.effect {
                PathEffect::Renamed { to } => {
                    committed.insert(result.path, None);
                    to.clone()
                }
                _ => result.path,
            };
            committed.insert(path, result.after);
        }
    }
    found.changes.retain_mut(|changed| {
        let Some(after) = committed.get(&changed.path) else {
            return true;
        };
        changed.committed = true;
        after.as_deref() != changed.what.revision_after()
    });
    Ok(())
}
