//! Taking effects back: what was displaced returns, what was made goes, and nobody else's work is touched.

use std::sync::Arc;

use super::area::{Area, Spot};
use super::names::{cannot_exchange, check_revision, old_name};
use super::{Effect, FsError};
use crate::boundary::{Batch, Held, WorkspacePath};

impl Batch {
    /// Takes back what [`Batch::publish`] or [`Batch::remove`] did to `path` under `name`. `ours` is the
    /// revision that was published, `None` after a removal. Does nothing when there is nothing to take back.
    ///
    /// # Errors
    ///
    /// [`FsError::Changed`] when somebody else changed the file since: it is left alone, and so is what
    /// waits in the area.
    pub fn put_back(
        &self,
        area: &Area,
        path: &WorkspacePath,
        name: &str,
        ours: Option<&str>,
    ) -> Result<(), FsError> {
        let place = self.place_to_write(path)?;
        let Some(parent) = place.parent().cloned() else {
            return Ok(());
        };
        let fail = |error| FsError::io(path.as_str(), "putting it back", error);
        let changed = |found: &str| FsError::Changed {
            path: path.as_str().into(),
            found: found.into(),
        };
        let has_old = |spot: &Spot| {
            spot.folder()
                .stat(&old_name(&spot.name))
                .map(|stat| stat.is_some())
        };
        let mut spot = self.displaced_spot(area, path, name);
        let staged = self.staged_spot(area, path, name);
        let is_staged = staged.folder().stat(&staged.name).map_err(fail)?.is_some();
        if is_staged && !has_old(&spot).map_err(fail)? {
            // The staged file still waits, so nothing was published; unless a kill came between the exchange
            // and the old file's new name.
            let is_published = |ours| {
                check_revision(&parent.folder, path.name(), ours).is_ok()
                    && check_revision(staged.folder(), &staged.name, ours).is_err()
            };
            if !ours.is_some_and(is_published) {
                return Ok(());
            }
            let old = old_name(&staged.name);
            staged
                .folder()
                .rename(&staged.name, staged.folder(), &old)
                .map_err(fail)?;
            spot = staged;
        }
        match (place.stat().is_some(), has_old(&spot).map_err(fail)?, ours) {
            (false, true, _) => {
                self.root()
                    .before(Effect::Rename, path.as_str())
                    .map_err(fail)?;
                let old = old_name(&spot.name);
                spot.folder()
                    .rename_to_free(&old, &parent.folder, path.name())
                    .map_err(fail)?;
            }
            (true, true, Some(ours)) => self.exchange_back(&spot, &parent, path, ours)?,
            (true, false, Some(ours)) => {
                self.unmake(&self.spot(area, &parent, name), &parent, path, ours)?
            }
            (true, true, None) => return Err(changed("a new file has its name")),
            (false, false, _) | (true, false, None) => return Ok(()),
        }
        self.note_change(&parent.path);
        Ok(())
    }

    /// Lets the old file and the one that we published change places again. What comes out must be ours.
    fn exchange_back(
        &self,
        spot: &Spot,
        parent: &Arc<Held>,
        path: &WorkspacePath,
        ours: &str,
    ) -> Result<(), FsError> {
        let fail = |error| FsError::io(path.as_str(), "putting it back", error);
        let changed = |found| FsError::Changed {
            path: path.as_str().into(),
            found,
        };
        let (old, leaf) = (old_name(&spot.name), path.name());
        check_revision(&parent.folder, leaf, ours).map_err(changed)?;
        self.root()
            .before(Effect::Rename, path.as_str())
            .map_err(fail)?;
        match spot.folder().exchange(&old, &parent.folder, leaf) {
            Ok(()) => {
                if let Err(found) = check_revision(spot.folder(), &old, ours) {
                    spot.folder()
                        .exchange(&old, &parent.folder, leaf)
                        .map_err(fail)?;
                    return Err(changed(found));
                }
                spot.folder().remove_file(&old).map_err(fail)
            }
            Err(error) if cannot_exchange(&error) => spot
                .folder()
                .rename(&old, &parent.folder, leaf)
                .map_err(fail),
            Err(error) => Err(fail(error)),
        }
    }

    /// Takes a file that we made away again: first out of its name, then, when it is ours, for good.
    fn unmake(
        &self,
        spot: &Spot,
        parent: &Arc<Held>,
        path: &WorkspacePath,
        ours: &str,
    ) -> Result<(), FsError> {
        let fail = |error| FsError::io(path.as_str(), "putting it back", error);
        let changed = |found| FsError::Changed {
            path: path.as_str().into(),
            found,
        };
        check_revision(&parent.folder, path.name(), ours).map_err(changed)?;
        self.root()
            .before(Effect::Remove, path.as_str())
            .map_err(fail)?;
        parent
            .folder
            .rename_to_free(path.name(), spot.folder(), &spot.name)
            .map_err(fail)?;
        if let Err(found) = check_revision(spot.folder(), &spot.name, ours) {
            spot.folder()
                .rename_to_free(&spot.name, &parent.folder, path.name())
                .map_err(fail)?;
            return Err(changed(found));
        }
        spot.folder().remove_file(&spot.name).map_err(fail)
    }

    /// Forgets what waits in the area as `name` for `path`: a staged file, a displaced one. Best effort.
    pub fn discard(&self, area: &Area, path: &WorkspacePath, name: &str) {
        for spot in self.spots_of(area, path, name) {
            let _ = spot.folder().remove_file(&spot.name);
            let _ = spot.folder().remove_file(&old_name(&spot.name));
        }
    }
}
