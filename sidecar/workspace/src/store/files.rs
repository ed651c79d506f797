//! The files of a store: each is replaced whole, appended whole, or installed with its folder.

use std::io::{Read, Write};

use super::temporary::remove_tree;
use super::{FILE_MODE, FOLDER_MODE, Store, StoreError, StorePath};
use crate::boundary::Held;
use crate::effect::{Area, Effect};
use crate::handle::{Folder, Kind, Stat};

impl Store {
    /// Reads a file; `None` when there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unsealed`], a link on the way, or the system's refusal.
    pub fn read(&self, path: &StorePath) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(folder) = self.folder_above(path)? else {
            return Ok(None);
        };
        self.read_in(&folder, path.name(), path.as_str())
    }

    /// Replaces a file whole, durably and atomically, making the folders above it.
    ///
    /// # Errors
    ///
    /// As [`Store::read`]; the old content is still there then.
    pub fn write(&self, path: &StorePath, bytes: &[u8]) -> Result<(), StoreError> {
        let folder = self.make_folder_above(path)?;
        self.replace_in(&self.own_folder()?, &folder, path.as_str(), bytes)
    }

    /// Appends `bytes` whole to a file, making it and the folders above it; waits for the disk.
    ///
    /// # Errors
    ///
    /// As [`Store::read`]; the file then has its old length.
    pub fn append(&self, path: &StorePath, bytes: &[u8]) -> Result<(), StoreError> {
        let folder = self.make_folder_above(path)?;
        let fail = |action, error| self.io(path.as_str(), action, error);
        let is_new = folder
            .stat(path.name())
            .map_err(|error| fail("appending", error))?
            .is_none();
        let file = folder
            .open_append(path.name(), FILE_MODE)
            .map_err(|error| fail("appending", error))?;
        self.append_to(&file, path.as_str(), bytes)?;
        if is_new {
            self.sync_folder(&folder, path.folder())?;
        }
        Ok(())
    }

    /// Makes a new folder with these files in it, all at once: it is there whole, or not at all.
    ///
    /// # Errors
    ///
    /// [`StoreError::Exists`] when it is there already, or as [`Store::read`]; nothing is left then.
    pub fn install(&self, path: &StorePath, files: &[(&str, &[u8])]) -> Result<(), StoreError> {
        self.install_after(None, path, files)
    }

    /// [`Store::install`], once the new names in `first` are on the disk too: waiting for all of it at once costs
    /// the disk one turn and not one for each.
    pub(crate) fn install_after(
        &self,
        first: Option<(&Folder, &str)>,
        path: &StorePath,
        files: &[(&str, &[u8])],
    ) -> Result<(), StoreError> {
        let above = self.make_folder_above(path)?;
        let (here, temporary) = (self.own_folder()?, self.temporary_name(path.name()));
        let fail = |action, error| self.io(path.as_str(), action, error);
        here.create_folder(&temporary, FOLDER_MODE)
            .map_err(|error| fail("making the folder", error))?;
        let fill = || -> Result<(), StoreError> {
            let folder = here
                .open_folder(&temporary)
                .map_err(|error| fail("making the folder", error))?;
            let mut written = Vec::with_capacity(files.len());
            for (name, bytes) in files {
                let shown = format!("{}/{name}", path.as_str());
                written.push((self.write_in(&folder, name, &shown, bytes)?, shown));
            }
            for (file, shown) in &written {
                self.sync_file(file, shown)?;
            }
            self.sync_folder(&folder, path.as_str())?;
            if let Some((folder, shown)) = first {
                self.sync_folder(folder, shown)?;
            }
            self.before(Effect::Rename, path.as_str())?;
            here.rename_to_free(&temporary, &above, path.name())
                .map_err(|error| fail("rename", error))
        };
        if let Err(error) = fill() {
            remove_tree(&here, &temporary);
            return Err(error);
        }
        self.sync_folder(&above, path.folder())
    }

    /// The names in a folder, sorted, with `true` for folders; empty when it does not exist. Temporary
    /// files are left out.
    ///
    /// # Errors
    ///
    /// As [`Store::read`].
    pub fn list(&self, path: &StorePath) -> Result<Vec<(String, bool)>, StoreError> {
        let Some(above) = self.folder_above(path)? else {
            return Ok(Vec::new());
        };
        let Some(folder) = self.open_in(&above, path.name(), path.as_str())? else {
            return Ok(Vec::new());
        };
        let names = folder
            .names()
            .map_err(|error| self.io(path.as_str(), "listing", error))?;
        let mut entries = Vec::with_capacity(names.len());
        for name in names.into_iter().filter(|name| !name.starts_with('.')) {
            let stat = folder
                .stat(&name)
                .map_err(|error| self.io(path.as_str(), "listing", error))?;
            entries.extend(stat.map(|stat| (name, stat.kind == Kind::Directory)));
        }
        entries.sort();
        Ok(entries)
    }

    /// Removes a file, or a folder with all that is in it. Links in it are removed, never followed.
    ///
    /// # Errors
    ///
    /// As [`Store::read`].
    pub fn remove(&self, path: &StorePath) -> Result<(), StoreError> {
        let Some(above) = self.folder_above(path)? else {
            return Ok(());
        };
        self.before(Effect::Remove, path.as_str())?;
        remove_tree(&above, path.name());
        match above.stat(path.name()) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(self.io(
                path.as_str(),
                "removing",
                std::io::ErrorKind::DirectoryNotEmpty.into(),
            )),
            Err(error) => Err(self.io(path.as_str(), "removing", error)),
        }
    }

    /// Sets a damaged file or folder aside as `*.corrupt` (or `*.corrupt-1`, …) and returns its new path.
    ///
    /// # Errors
    ///
    /// As [`Store::read`].
    pub fn set_corrupt_aside(&self, path: &StorePath) -> Result<StorePath, StoreError> {
        let not_found = || StoreError::NotFound {
            path: self.shown(path.as_str()),
        };
        let above = self.folder_above(path)?.ok_or_else(not_found)?;
        for number in 0u32..10_000 {
            let suffix = if number == 0 {
                String::new()
            } else {
                format!("-{number}")
            };
            let aside = path.with_suffix(&format!(".corrupt{suffix}"));
            match above.rename_to_free(path.name(), &above, aside.name()) {
                Ok(()) => {
                    self.sync_folder(&above, path.folder())?;
                    return Ok(aside);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(self.io(path.as_str(), "setting it aside", error)),
            }
        }
        Err(not_found())
    }

    /// The folder at `path` as an area for staged files, made when it is missing.
    ///
    /// # Errors
    ///
    /// As [`Store::read`].
    pub fn area(&self, path: &StorePath) -> Result<Area, StoreError> {
        let folder = self.make_folder(path)?;
        let stat = folder
            .own_stat()
            .map_err(|error| self.io(path.as_str(), "opening", error))?;
        Ok(Area::new(Held::of_store(
            self.shown(path.as_str()),
            folder,
            stat,
        )))
    }

    /// Makes the folder at `path` and those above it.
    pub(crate) fn make_folder(&self, path: &StorePath) -> Result<Folder, StoreError> {
        let above = self.make_folder_above(path)?;
        self.make_in(&above, path.name(), path.as_str())
    }

    /// The folder that holds `path`; `None` when it, or the store, is not there.
    pub(crate) fn folder_above(&self, path: &StorePath) -> Result<Option<Folder>, StoreError> {
        let Some(mut folder) = self.open()? else {
            return Ok(None);
        };
        for (name, shown) in path.folders() {
            match self.open_in(&folder, name, shown)? {
                Some(next) => folder = next,
                None => return Ok(None),
            }
        }
        Ok(Some(folder))
    }

    /// The folder that will hold `path`, made when it is missing.
    pub(crate) fn make_folder_above(&self, path: &StorePath) -> Result<Folder, StoreError> {
        self.ensure()?;
        let missing = || self.io("", "opening", std::io::ErrorKind::NotFound.into());
        let mut folder = self.open()?.ok_or_else(missing)?;
        for (name, shown) in path.folders() {
            folder = self.make_in(&folder, name, shown)?;
        }
        Ok(folder)
    }

    fn make_in(&self, above: &Folder, name: &str, shown: &str) -> Result<Folder, StoreError> {
        if let Some(folder) = self.open_in(above, name, shown)? {
            return Ok(folder);
        }
        self.before(Effect::Write, shown)?;
        match above.create_folder(name, FOLDER_MODE) {
            Ok(()) => {
                self.sync_folder(above, shown.rsplit_once('/').map_or("", |(above, _)| above))?
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(self.io(shown, "making the folder", error)),
        }
        self.open_in(above, name, shown)?
            .ok_or_else(|| StoreError::NotFound {
                path: self.shown(shown),
            })
    }

    fn read_in(
        &self,
        folder: &Folder,
        name: &str,
        shown: &str,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let (mut file, stat) = match folder.open_file(name) {
            Ok(open) => open,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.refused(folder, name, shown, error)),
        };
        let mut bytes =
            Vec::with_capacity(usize::try_from(stat.len).unwrap_or(0).saturating_add(1));
        file.read_to_end(&mut bytes)
            .map_err(|error| self.io(shown, "reading", error))?;
        Ok(Some(bytes))
    }

    /// Gives the file at `shown`, in `folder`, new content, by way of a temporary one in `here`, the store's own folder.
    pub(super) fn replace_in(
        &self,
        here: &Folder,
        folder: &Folder,
        shown: &str,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let (above, name) = shown.rsplit_once('/').unwrap_or(("", shown));
        let temporary = self.temporary_name(name);
        let result = self
            .create_in(here, &temporary, shown, bytes)
            .and_then(|_| {
                self.before(Effect::Rename, shown)?;
                here.rename(&temporary, folder, name)
                    .map_err(|error| self.io(shown, "rename", error))
            });
        if let Err(error) = result {
            let _ = here.remove_file(&temporary);
            return Err(error);
        }
        self.sync_folder(folder, above)
    }

    /// Makes a file with `bytes` in it, on the disk.
    fn create_in(
        &self,
        folder: &Folder,
        name: &str,
        shown: &str,
        bytes: &[u8],
    ) -> Result<std::fs::File, StoreError> {
        let file = self.write_in(folder, name, shown, bytes)?;
        self.sync_file(&file, shown)?;
        Ok(file)
    }

    /// Makes a file with `bytes` in it, and does not wait for the disk.
    fn write_in(
        &self,
        folder: &Folder,
        name: &str,
        shown: &str,
        bytes: &[u8],
    ) -> Result<std::fs::File, StoreError> {
        self.before(Effect::Write, shown)?;
        let fail = |action, error| self.io(shown, action, error);
        let mut file = folder
            .create_file(name, FILE_MODE)
            .map_err(|error| fail("writing", error))?;
        file.write_all(bytes)
            .map_err(|error| fail("writing", error))?;
        Ok(file)
    }

    fn sync_file(&self, file: &std::fs::File, shown: &str) -> Result<(), StoreError> {
        self.before(Effect::Fsync, shown)?;
        file.sync_all()
            .map_err(|error| self.io(shown, "fsync", error))
    }

    /// Appends whole and waits for the disk; on a failure the file gets its old length back.
    pub(crate) fn append_to(
        &self,
        file: &std::fs::File,
        shown: &str,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let fail = |action, error| self.io(shown, action, error);
        let before = file
            .metadata()
            .map_err(|error| fail("appending", error))?
            .len();
        let appended = self.before(Effect::Write, shown).and_then(|()| {
            let mut writer = file;
            writer
                .write_all(bytes)
                .map_err(|error| fail("appending", error))?;
            self.before(Effect::Fsync, shown)?;
            file.sync_data().map_err(|error| fail("fsync", error))
        });
        if appended.is_err() {
            let _ = file.set_len(before);
        }
        appended
    }

    pub(crate) fn sync_folder(&self, folder: &Folder, shown: &str) -> Result<(), StoreError> {
        self.before(Effect::Fsync, shown)?;
        folder
            .sync()
            .map_err(|error| self.io(shown, "fsync of the folder", error))
    }

    /// What is at `path`, links unfollowed; `None` for nothing.
    pub(crate) fn stat(&self, path: &StorePath) -> Result<Option<Stat>, StoreError> {
        let Some(folder) = self.folder_above(path)? else {
            return Ok(None);
        };
        folder
            .stat(path.name())
            .map_err(|error| self.io(path.as_str(), "reading", error))
    }
}
