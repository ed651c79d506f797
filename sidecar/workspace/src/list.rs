//! Listing a folder.

use std::sync::atomic::AtomicBool;

use crate::boundary::{WorkspacePath, WorkspaceRoot};
use crate::walk::{Overlay, Scope, SearchError, Walk};

/// What a listed name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedKind {
    /// A file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link; it was not followed.
    Symlink,
    /// A pipe, socket or device.
    Special,
}

/// One listed name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its path.
    pub path: WorkspacePath,
    /// What it is.
    pub kind: ListedKind,
    /// Whether it stands in the overlay and not, or differently, on the disk.
    pub in_overlay: bool,
}

/// A folder's names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// In order of their paths.
    pub entries: Vec<Listed>,
    /// Whether there are more than were asked for.
    pub truncated: bool,
}

/// Lists at most `limit` names in `scope`, with `overlay` over the disk.
///
/// # Errors
///
/// [`SearchError`] for a glob or the folder.
pub fn list(
    root: &WorkspaceRoot,
    scope: &Scope,
    overlay: &Overlay,
    limit: usize,
    cancel: &AtomicBool,
) -> Result<Listing, SearchError> {
    let walk = match Walk::new(root, scope) {
        Ok(walk) => walk,
        // A folder that only the overlay has.
        Err(SearchError::NoFolder { path }) => {
            let folder = root.admit_folder(&path)?;
            let is_there = overlay.iter().any(|(path, text)| {
                text.is_some()
                    && folder
                        .as_ref()
                        .is_some_and(|folder| path.is_below(folder.as_str()) && path != folder)
            });
            return if is_there {
                Ok(overlay_only(scope, overlay, limit))
            } else {
                Err(SearchError::NoFolder { path })
            };
        }
        Err(error) => return Err(error),
    };
    let mut added: Vec<WorkspacePath> = overlay
        .iter()
        .filter(|(path, text)| text.is_some() && walk.covers(path))
        .map(|(path, _)| path.clone())
        .collect();
    let mut listing = Listing::default();
    walk.in_order(cancel, |path, entry| {
        let kind = match entry.file_type() {
            Some(kind) if kind.is_file() => ListedKind::File,
            Some(kind) if kind.is_dir() => ListedKind::Directory,
            Some(kind) if kind.is_symlink() => ListedKind::Symlink,
            _ => ListedKind::Special,
        };
        if overlay.get(&path).is_some_and(Option::is_none) {
            return true;
        }
        added.retain(|added| *added != path);
        listing.entries.push(Listed {
            in_overlay: overlay.contains_key(&path),
            path,
            kind,
        });
        // One more than asked for tells that there are more.
        listing.entries.len() <= limit
    });
    add_overlay(&mut listing, added, limit);
    Ok(listing)
}

fn overlay_only(scope: &Scope, overlay: &Overlay, limit: usize) -> Listing {
    let folder = scope.folder.as_ref().map_or("", WorkspacePath::as_str);
    let files = overlay
        .iter()
        .filter(|(path, text)| text.is_some() && path.is_below(folder));
    let mut listing = Listing::default();
    add_overlay(
        &mut listing,
        files.map(|(path, _)| path.clone()).collect(),
        limit,
    );
    listing
}

fn add_overlay(listing: &mut Listing, added: Vec<WorkspacePath>, limit: usize) {
    let added = added.into_iter().map(|path| Listed {
        path,
        kind: ListedKind::File,
        in_overlay: true,
    });
    listing.entries.extend(added);
    // The walk goes folder by folder; sorted by component it is the same order for both.
    listing
        .entries
        .sort_by(|a, b| a.path.components().cmp(b.path.components()));
    listing.truncated = listing.entries.len() > limit;
    listing.entries.truncate(limit);
}
