//! The order of files: all of a diff is against one tree, but changes are played one by one.

use std::collections::HashMap;

use crate::proposal::{Change, ChangeKind};

/// Joins the changes of all files so that a path is left before another file takes it.
///
/// Otherwise the order stays. Files that trade places cannot be ordered and stay as they are.
pub(super) fn vacate_first(files: Vec<Vec<Change>>) -> Vec<Change> {
    let vacated: HashMap<String, usize> = files
        .iter()
        .enumerate()
        .filter_map(|(idx, changes)| Some((vacates(changes)?.to_owned(), idx)))
        .collect();
    let mut files: Vec<Option<Vec<Change>>> = files.into_iter().map(Some).collect();
    let mut ordered = Vec::new();
    for idx in 0..files.len() {
        // A chain of files, each of which waits for the next one to leave.
        let mut chain = Vec::new();
        let mut next = Some(idx);
        while let Some(changes) = next.and_then(|idx| files[idx].take()) {
            next = occupies(&changes).and_then(|path| vacated.get(path).copied());
            chain.push(changes);
        }
        ordered.extend(chain.into_iter().rev().flatten());
    }
    ordered
}

/// The path that a file's changes leave empty.
fn vacates(changes: &[Change]) -> Option<&str> {
    changes.iter().find_map(|change| match change.kind {
        ChangeKind::Rename { .. }
        | ChangeKind::Delete { .. }
        | ChangeKind::Patch { deletes: true, .. } => Some(change.path.as_str()),
        _ => None,
    })
}

/// The path that must be free for a file's changes.
fn occupies(changes: &[Change]) -> Option<&str> {
    changes.iter().find_map(|change| match &change.kind {
        ChangeKind::Rename { to, .. } | ChangeKind::Copy { to } => Some(to.as_str()),
        ChangeKind::Create { .. } => Some(change.path.as_str()),
        _ => None,
    })
}
