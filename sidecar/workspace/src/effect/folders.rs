//! Folders that commits make and take away, and the fsync of those whose names changed.

use super::area::Area;
use super::{Effect, FsError};
use crate::boundary::{Batch, WorkspacePath};

impl Batch {
    /// Makes the folders that `path` needs. Returns those that it made, outermost first.
    ///
    /// # Errors
    ///
    /// Those of the walk, or the system's refusal; what was made until then is removed again.
    pub fn make_folders(&self, path: &WorkspacePath) -> Result<Vec<String>, FsError> {
        let mut made: Vec<String> = Vec::new();
        let folder = path.folder();
        self.place_to_write(path)?;
        let ends = folder
            .match_indices('/')
            .map(|(at, _)| at)
            .chain([folder.len()]);
        for prefix in ends
            .map(|end| &folder[..end])
            .filter(|prefix| !prefix.is_empty())
        {
            if self.folder_at(path.as_str(), prefix)?.is_some() {
                continue;
            }
            match self.make_folder(path, prefix) {
                Ok(true) => made.push(prefix.to_owned()),
                Ok(false) => {}
                Err(error) => {
                    self.remove_folders(&made);
                    return Err(error);
                }
            }
        }
        Ok(made)
    }

    fn make_folder(&self, path: &WorkspacePath, folder: &str) -> Result<bool, FsError> {
        let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        let fail = |error| FsError::io(folder, "making the folder", error);
        let held = self.folder_at(path.as_str(), above)?;
        let held = held.ok_or_else(|| FsError::NotFound {
            path: above.to_owned(),
        })?;
        self.root().before(Effect::Write, folder).map_err(fail)?;
        let made = match held.folder.create_folder(name, 0o777) {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(fail(error)),
        };
        self.forget(folder);
        self.note_change(above);
        Ok(made)
    }

    /// Removes folders that [`Batch::make_folders`] made, innermost first; one that holds something stays.
    /// Returns those that stayed.
    pub fn remove_folders(&self, folders: &[String]) -> Vec<String> {
        let mut stayed = Vec::new();
        for folder in folders.iter().rev() {
            let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
            self.forget(folder);
            let removed = match self.folder_at(folder, above) {
                Ok(Some(held)) => self
                    .root()
                    .before(Effect::Remove, folder)
                    .and_then(|()| held.folder.remove_folder(name)),
                Ok(None) => continue,
                Err(_) => Err(std::io::ErrorKind::NotFound.into()),
            };
            match removed {
                Ok(()) => self.note_change(above),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(_) => stayed.push(folder.clone()),
            }
        }
        stayed
    }

    /// Waits until all names changed by this batch are on the disk: one fsync for each folder.
    ///
    /// # Errors
    ///
    /// [`FsError::Io`] naming the folder.
    pub fn sync_changed(&self) -> Result<(), FsError> {
        for folder in self.take_changed() {
            let Some(held) = self.folder_at(&folder, &folder)? else {
                continue;
            };
            let synced = self
                .root()
                .before(Effect::Fsync, &folder)
                .and_then(|()| held.folder.sync());
            synced.map_err(|error| FsError::io(&folder, "fsync of the folder", error))?;
        }
        Ok(())
    }

    pub(super) fn sync_area(&self, area: &Area) -> Result<(), FsError> {
        let synced = self
            .root()
            .before(Effect::Fsync, area.path())
            .and_then(|()| area.folder().sync());
        synced.map_err(|error| FsError::io(area.path(), "fsync of the folder", error))
    }
}
