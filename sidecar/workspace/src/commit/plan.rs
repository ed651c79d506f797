//! The plan of a commit: which steps it takes on disk, in which order, and how each is told apart.
//!
//! The plan is written into the commit's area before anything in the project changes, and is all
//! that recovery needs: no agent, no editor, no memory of the process that made it.
//!
//! | step | before | after | its inverse |
//! |---|---|---|---|
//! | remove | path: old | path free, old waits in the area | put back |
//! | rename | path: old, target free | path free, target: old | rename back |
//! | publish | path: old or free, new waits | path: new, old waits | put back |
//! | remove link, make link | a link, nothing | nothing, a link | the other |
//! | set mode | mode a | mode b | set mode a |
//!
//! Steps run in this order, so that names are free before they are taken; a restore runs backwards.

use serde::{Deserialize, Serialize};

use super::Fingerprint;
use super::undoing::Undoing;
use crate::checkpoint::Change;
use crate::receipt::Receipt;
use crate::transaction::LogLine;

/// The version that this code writes.
pub(super) const VERSION: u32 = 1;

/// One change on disk. Paths are relative to the root and were admitted for writing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "step")]
pub(super) enum Step {
    /// Takes a file away; it waits in the area.
    Remove {
        path: String,
        name: String,
        before: Fingerprint,
    },
    /// Moves a file to a free name.
    Rename {
        path: String,
        to: String,
        content: Fingerprint,
        /// Folders to make for it, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        folders: Vec<String>,
    },
    /// Gives a staged file its name; what it displaces waits in the area.
    Publish {
        path: String,
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Fingerprint>,
        after: Fingerprint,
        /// Folders to make for it, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        folders: Vec<String>,
    },
    /// Takes a symbolic link away; its target is all there is to it.
    RemoveLink { path: String, target: String },
    /// Makes a symbolic link where nothing is.
    MakeLink {
        path: String,
        target: String,
        /// Folders to make for it, outermost first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        folders: Vec<String>,
    },
    /// Sets permission bits.
    SetMode {
        path: String,
        content: Fingerprint,
        mode: u32,
    },
}

impl Step {
    /// The path that it changes first.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Remove { path, .. }
            | Self::Rename { path, .. }
            | Self::Publish { path, .. }
            | Self::RemoveLink { path, .. }
            | Self::MakeLink { path, .. }
            | Self::SetMode { path, .. } => path,
        }
    }

    /// The path at which a new name appears, and the list of folders to make for it.
    pub(super) fn target_mut(&mut self) -> Option<(&str, &mut Vec<String>)> {
        match self {
            Self::Rename { to, folders, .. } => Some((to, folders)),
            Self::Publish {
                path,
                before: None,
                folders,
                ..
            }
            | Self::MakeLink { path, folders, .. } => Some((path, folders)),
            Self::Publish { .. }
            | Self::Remove { .. }
            | Self::RemoveLink { .. }
            | Self::SetMode { .. } => None,
        }
    }

    /// Folders that it makes, outermost first.
    pub(super) fn folders(&self) -> &[String] {
        match self {
            Self::Rename { folders, .. }
            | Self::Publish { folders, .. }
            | Self::MakeLink { folders, .. } => folders,
            Self::Remove { .. } | Self::RemoveLink { .. } | Self::SetMode { .. } => &[],
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Remove { .. } | Self::RemoveLink { .. } => 0,
            Self::Rename { .. } => 1,
            Self::Publish {
                before: Some(_), ..
            } => 2,
            Self::Publish { before: None, .. } | Self::MakeLink { .. } => 3,
            Self::SetMode { .. } => 4,
        }
    }
}

/// All that one commit does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) version: u32,
    /// The receipt as it will read when everything was done.
    pub(super) receipt: Receipt,
    /// In the order in which they run.
    pub(super) steps: Vec<Step>,
    /// Where what it displaces is kept: a turn or transaction id.
    pub(super) checkpoint_id: String,
    /// Title of the checkpoint.
    pub(super) title: String,
    /// For an undo or a redo: what it means beyond its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) undoing: Option<Undoing>,
    /// What the checkpoint is to record.
    pub(super) changes: Vec<Change>,
    /// Lines for the transaction's log.
    pub(super) log: Vec<LogLine>,
    /// Lines for the logs of other transactions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) others: Vec<(String, LogLine)>,
    /// Nothing in the transaction waits after it.
    pub(super) settles: bool,
    /// Folders to remove when the commit left them empty, innermost last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) prune: Vec<String>,
    /// Whether open documents take part, so that the commit waits for `delivered`.
    pub(super) has_documents: bool,
}

impl Plan {
    /// Whether the transaction is stored with the commit alone, so that it goes when the commit does not happen.
    pub(super) fn makes_transaction(&self) -> bool {
        self.undoing.as_ref().is_some_and(|undoing| undoing.makes)
    }
}

/// Puts steps into the order in which they can run. Renames run so that each target is free.
///
/// Returns the renames of a cycle (two files that swap names) as `Err`: they cannot be ordered and
/// must be planned as removes and publishes.
pub(super) fn order(mut steps: Vec<Step>) -> Result<Vec<Step>, Vec<String>> {
    steps.sort_by_key(Step::rank);
    let first = steps
        .iter()
        .position(|step| matches!(step, Step::Rename { .. }));
    let Some(first) = first else { return Ok(steps) };
    let count = steps[first..]
        .iter()
        .take_while(|step| matches!(step, Step::Rename { .. }))
        .count();
    let mut waiting: Vec<Step> = steps.splice(first..first + count, []).collect();
    let mut ordered = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let sources: std::collections::BTreeSet<String> =
            waiting.iter().map(|step| step.path().to_owned()).collect();
        let (free, blocked): (Vec<Step>, Vec<Step>) = waiting
            .into_iter()
            .partition(|step| !matches!(step, Step::Rename { to, .. } if sources.contains(to)));
        if free.is_empty() {
            return Err(blocked.iter().map(|step| step.path().to_owned()).collect());
        }
        ordered.extend(free);
        waiting = blocked;
    }
    steps.splice(first..first, ordered);
    Ok(steps)
}
