//! What becomes of displaced files: put in order after an interruption, and moved into safe keeping.

use std::io::Write;

use super::area::Area;
use super::names::{check_revision, old_name};
use super::{Effect, FsError};
use crate::boundary::{Batch, WorkspacePath};
use crate::handle::Folder;

impl Batch {
    /// Finishes an exchange of names that was interrupted half way, in either direction.
    ///
    /// A file called `name` in the area may be the staged one or, when the process died between two renames,
    /// the displaced one: its content tells. `before` is the revision of the displaced file.
    pub(crate) fn put_in_order(
        &self,
        area: &Area,
        path: &WorkspacePath,
        name: &str,
        before: &str,
    ) -> Result<(), FsError> {
        let fail = |error| FsError::io(path.as_str(), "putting the store in order", error);
        for spot in self.spots_of(area, path, name) {
            let old = old_name(&spot.name);
            let has_old = spot.folder().stat(&old).map_err(fail)?.is_some();
            let has_new = spot.folder().stat(&spot.name).map_err(fail)?.is_some();
            if has_new && !has_old && check_revision(spot.folder(), &spot.name, before).is_ok() {
                spot.folder()
                    .rename(&spot.name, spot.folder(), &old)
                    .map_err(fail)?;
            }
        }
        Ok(())
    }

    /// Whether a displaced file for `path` waits in the area.
    pub(crate) fn has_displaced(
        &self,
        area: &Area,
        path: &WorkspacePath,
        name: &str,
        revision: &str,
    ) -> bool {
        self.spots_of(area, path, name)
            .iter()
            .any(|spot| check_revision(spot.folder(), &old_name(&spot.name), revision).is_ok())
    }

    /// Moves the displaced file that waits for `path` into `keep` as `kept`, with all its attributes where
    /// both are on one mount. False when none waits there.
    pub(crate) fn keep_displaced(
        &self,
        area: &Area,
        path: &WorkspacePath,
        name: &str,
        keep: &Folder,
        kept: &str,
    ) -> Result<bool, FsError> {
        let fail = |error| FsError::io(path.as_str(), "keeping its old content", error);
        for spot in self.spots_of(area, path, name) {
            let old = old_name(&spot.name);
            if spot.folder().stat(&old).map_err(fail)?.is_none() {
                continue;
            }
            self.root()
                .before(Effect::Rename, area.path())
                .map_err(fail)?;
            match spot.folder().rename(&old, keep, kept) {
                Ok(()) => {}
                Err(error) if error.kind() == std::io::ErrorKind::CrossesDevices => {
                    let (mut from, stat) = spot.folder().open_file(&old).map_err(fail)?;
                    let _ = keep.remove_file(kept);
                    let mut to = keep.create_file(kept, 0o600).map_err(fail)?;
                    std::io::copy(&mut from, &mut to).map_err(fail)?;
                    let mode =
                        rustix::fs::Mode::from_bits_truncate(stat.mode as rustix::fs::RawMode);
                    rustix::fs::fchmod(&to, mode).map_err(|error| fail(error.into()))?;
                    to.flush().and_then(|()| to.sync_all()).map_err(fail)?;
                    spot.folder().remove_file(&old).map_err(fail)?;
                }
                Err(error) => return Err(fail(error)),
            }
            return Ok(true);
        }
        Ok(false)
    }
}
