//! Symbolic links as things of their own: removed and made again, never followed.

use super::names::parent_of;
use super::{Effect, FsError};
use crate::boundary::{Batch, WorkspacePath};
use crate::handle::Kind;

impl Batch {
    /// What the link at `path` says; `None` when no link is there.
    ///
    /// # Errors
    ///
    /// A refused path, or the system's refusal.
    pub(crate) fn link_target(&self, path: &WorkspacePath) -> Result<Option<String>, FsError> {
        let place = self.place_of_link(path)?;
        let (Some(parent), Some(stat)) = (place.parent(), place.stat()) else {
            return Ok(None);
        };
        if stat.kind != Kind::Symlink {
            return Ok(None);
        }
        let target = parent.folder.read_link(path.name());
        target
            .map(Some)
            .map_err(|error| FsError::io(path.as_str(), "reading the link", error))
    }

    /// Removes the link at `path`, which must say `target`.
    ///
    /// # Errors
    ///
    /// [`FsError::Changed`] when it says something else or is no link.
    pub(crate) fn remove_link(&self, path: &WorkspacePath, target: &str) -> Result<(), FsError> {
        if self.link_target(path)?.as_deref() != Some(target) {
            return Err(FsError::Changed {
                path: path.as_str().into(),
                found: "it is not that symbolic link".into(),
            });
        }
        let place = self.place_of_link(path)?;
        let parent = parent_of(&place)?;
        let fail = |error| FsError::io(path.as_str(), "remove", error);
        self.root()
            .before(Effect::Remove, path.as_str())
            .map_err(fail)?;
        parent.folder.remove_file(path.name()).map_err(fail)?;
        self.note_change(&parent.path);
        Ok(())
    }

    /// Makes a link at `path`, which must be free.
    ///
    /// # Errors
    ///
    /// [`FsError::Exists`], or the system's refusal.
    pub(crate) fn make_link(&self, path: &WorkspacePath, target: &str) -> Result<(), FsError> {
        let place = self.place_of_link(path)?;
        let parent = parent_of(&place)?;
        let fail = |error| FsError::io(path.as_str(), "rename", error);
        self.root()
            .before(Effect::Rename, path.as_str())
            .map_err(fail)?;
        rustix::fs::symlinkat(target, parent.folder.beneath(), path.name())
            .map_err(|error| fail(error.into()))?;
        self.note_change(&parent.path);
        Ok(())
    }
}
