//! The durable store: `.agentic` in the workspace, made on first need and sealed.
//!
//! ```text
//! .agentic/.gitignore        "*": git never sees what is below
//! .agentic/seal.json         who made it or trusted it (see `seal`)
//! .agentic/lock              the OS file lock (see `lock`)
//! .agentic/journal.ndjson    the checked journal (see `crate::journal`)
//! .agentic/<others>          their formats belong to those who write them
//! ```
//!
//! Every file is replaced whole and atomically, or appended whole; what is damaged is set aside as
//! `*.corrupt`, named, and the rest keeps working. No symbolic link is followed anywhere below `.agentic`.
//!
//! **Invariant:** nothing is read from, or written to, a store that this user neither made nor trusted.

mod error;
mod lock;
mod path;
mod seal;

#[cfg(test)]
mod tests;

use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub use error::StoreError;
pub use lock::StoreLock;
pub use path::StorePath;
pub use seal::SealKey;
pub(crate) use seal::fill_random;

use crate::boundary::{Held, STORE, WorkspaceRoot};
use crate::effect::{Area, Effect};
use crate::handle::{Folder, Kind, Stat};

/// Files in the store are for their owner alone: they hold copies of files that may be private.
const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;

/// What is at `.agentic`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreState {
    /// Nothing yet.
    Absent,
    /// A store of this user's.
    Sealed,
    /// Something that this user neither made nor trusted: it came with a clone, or was moved here.
    Unsealed,
}

/// The durable store of one workspace. Cheap to clone; making one touches nothing.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    root: WorkspaceRoot,
    key: SealKey,
    /// The folder and the seal in it that were found good.
    checked: Mutex<Option<(Stat, Stat)>>,
    temporary: AtomicU64,
}

impl Store {
    /// The store of `root`, sealed with `key`, a secret of this user's private store.
    pub fn new(root: WorkspaceRoot, key: SealKey) -> Self {
        let inner = Inner {
            root,
            key,
            checked: Mutex::default(),
            temporary: AtomicU64::new(0),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The workspace.
    pub fn root(&self) -> &WorkspaceRoot {
        &self.inner.root
    }

    /// What is there now. Writes nothing.
    ///
    /// # Errors
    ///
    /// [`StoreError::Symlink`] and [`StoreError::NotAFolder`] for an impostor, or the system's refusal.
    pub fn state(&self) -> Result<StoreState, StoreError> {
        Ok(match self.open_unchecked()? {
            None => StoreState::Absent,
            Some(folder) if self.is_sealed(&folder)? => StoreState::Sealed,
            Some(_) => StoreState::Unsealed,
        })
    }

    /// Makes the store when there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unsealed`] when there is one that is not this user's.
    pub fn ensure(&self) -> Result<(), StoreError> {
        match self.open_unchecked()? {
            Some(folder) if self.is_sealed(&folder)? => Ok(()),
            Some(folder) if seal::is_unfinished(&folder) => self.finish_making(&folder),
            Some(_) => Err(StoreError::Unsealed {
                path: self.shown(""),
            }),
            None => {
                self.before(Effect::Write, "")?;
                match self.root().folder().create_folder(STORE, FOLDER_MODE) {
                    Ok(()) => {}
                    Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(self.io("", "making the store", error)),
                }
                match self.open_unchecked()? {
                    Some(folder) => self.finish_making(&folder),
                    None => {
                        Err(self.io("", "making the store", std::io::ErrorKind::NotFound.into()))
                    }
                }
            }
        }
    }

    /// Seals what is there, so that it is used from now on: the user's word that its content is to be trusted.
    ///
    /// # Errors
    ///
    /// The system's refusal. Without a store it makes one.
    pub fn trust(&self) -> Result<(), StoreError> {
        let Some(folder) = self.open_unchecked()? else {
            return self.ensure();
        };
        let lock = lock::take(self, &folder, lock::PATIENCE, "trust")?;
        let seal = seal::add(&folder, self.root().path(), &self.inner.key)
            .map_err(|error| self.io(seal::FILE, "sealing", error))?;
        self.replace_in(&folder, seal::FILE, seal::FILE, &seal)?;
        drop(lock);
        Ok(())
    }

    /// Moves an unsealed store out of the way, to `.agentic.unsealed` or the next free name, and returns
    /// that name. Nothing in it is read.
    ///
    /// # Errors
    ///
    /// The system's refusal. A sealed store is not moved: [`StoreError::Sealed`].
    pub fn set_aside(&self) -> Result<String, StoreError> {
        match self.state()? {
            StoreState::Absent => {
                return Err(StoreError::NotFound {
                    path: self.shown(""),
                });
            }
            StoreState::Sealed => {
                return Err(StoreError::Sealed {
                    path: self.shown(""),
                });
            }
            StoreState::Unsealed => {}
        }
        let root = self.root().folder();
        for number in 0u32.. {
            let name = if number == 0 {
                format!("{STORE}.unsealed")
            } else {
                format!("{STORE}.unsealed-{number}")
            };
            match root.rename_to_free(STORE, root, &name) {
                Ok(()) => {
                    root.sync()
                        .map_err(|error| self.io("", "fsync of the folder", error))?;
                    return Ok(name);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(self.io("", "setting it aside", error)),
            }
        }
        Err(StoreError::NotFound {
            path: self.shown(""),
        })
    }

    /// Takes the store's lock, waiting for at most `wait`; `who` is told to those who wait for us. Makes the
    /// store when there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Locked`] naming who holds it.
    pub fn lock(&self, wait: std::time::Duration, who: &str) -> Result<StoreLock, StoreError> {
        self.ensure()?;
        let folder = self.open()?.ok_or_else(|| StoreError::NotFound {
            path: self.shown(""),
        })?;
        lock::take(self, &folder, wait, who)
    }

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
        self.replace_in(&folder, path.name(), path.as_str(), bytes)
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
        let above = self.make_folder_above(path)?;
        let temporary = self.temporary_name(path.name());
        let fail = |action, error| self.io(path.as_str(), action, error);
        above
            .create_folder(&temporary, FOLDER_MODE)
            .map_err(|error| fail("making the folder", error))?;
        let fill = || -> Result<(), StoreError> {
            let folder = above
                .open_folder(&temporary)
                .map_err(|error| fail("making the folder", error))?;
            for (name, bytes) in files {
                let shown = format!("{}/{name}", path.as_str());
                drop(self.create_in(&folder, name, &shown, bytes)?);
            }
            self.sync_folder(&folder, path.as_str())?;
            self.before(Effect::Rename, path.as_str())?;
            above
                .rename_to_free(&temporary, &above, path.name())
                .map_err(|error| fail("rename", error))
        };
        if let Err(error) = fill() {
            remove_tree(&above, &temporary);
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

    /// Opens the sealed store.
    fn open(&self) -> Result<Option<Folder>, StoreError> {
        match self.open_unchecked()? {
            None => Ok(None),
            Some(folder) if self.is_sealed(&folder)? => Ok(Some(folder)),
            Some(folder) if seal::is_unfinished(&folder) => Ok(None),
            Some(_) => Err(StoreError::Unsealed {
                path: self.shown(""),
            }),
        }
    }

    fn open_unchecked(&self) -> Result<Option<Folder>, StoreError> {
        self.open_in(self.root().folder(), STORE, "")
    }

    fn open_in(
        &self,
        above: &Folder,
        name: &str,
        shown: &str,
    ) -> Result<Option<Folder>, StoreError> {
        match above.open_folder(name) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(
                match above.stat(name).ok().flatten().map(|stat| stat.kind) {
                    Some(Kind::Symlink) => {
                        let target = above.read_link(name).unwrap_or_default();
                        StoreError::Symlink {
                            path: self.shown(shown),
                            target,
                        }
                    }
                    Some(Kind::Directory) | None => self.io(shown, "opening", error),
                    Some(_) => StoreError::NotAFolder {
                        path: self.shown(shown),
                    },
                },
            ),
        }
    }

    fn is_sealed(&self, folder: &Folder) -> Result<bool, StoreError> {
        let fail = |error| self.io(seal::FILE, "reading", error);
        let here = folder.own_stat().map_err(fail)?;
        let Some(seal) = folder.stat(seal::FILE).map_err(fail)? else {
            return Ok(false);
        };
        let mut checked = self
            .inner
            .checked
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // A number alone is no identity: a new folder soon gets that of one that was removed.
        if checked.is_some_and(|(folder, known)| folder.same_file(&here) && known == seal) {
            return Ok(true);
        }
        let sealed = seal::holds(folder, self.root().path(), &self.inner.key).map_err(fail)?;
        *checked = sealed.then_some((here, seal));
        Ok(sealed)
    }

    /// Fills a store that was just made, by us or by a process that did not get further.
    fn finish_making(&self, folder: &Folder) -> Result<(), StoreError> {
        let lock = lock::take(self, folder, lock::PATIENCE, "making the store")?;
        if !self.is_sealed(folder)? {
            self.replace_in(folder, ".gitignore", ".gitignore", b"*\n")?;
            let seal = seal::add(folder, self.root().path(), &self.inner.key)
                .map_err(|error| self.io(seal::FILE, "sealing", error))?;
            self.replace_in(folder, seal::FILE, seal::FILE, &seal)?;
            self.root()
                .folder()
                .sync()
                .map_err(|error| self.io("", "fsync of the folder", error))?;
        }
        drop(lock);
        Ok(())
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

    fn replace_in(
        &self,
        folder: &Folder,
        name: &str,
        shown: &str,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let temporary = self.temporary_name(name);
        let result = self
            .create_in(folder, &temporary, shown, bytes)
            .and_then(|_| {
                self.before(Effect::Rename, shown)?;
                folder
                    .rename(&temporary, folder, name)
                    .map_err(|error| self.io(shown, "rename", error))
            });
        if let Err(error) = result {
            let _ = folder.remove_file(&temporary);
            return Err(error);
        }
        self.sync_folder(
            folder,
            shown.rsplit_once('/').map_or("", |(above, _)| above),
        )
    }

    /// Makes a file with `bytes` in it, on the disk.
    fn create_in(
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
        self.before(Effect::Fsync, shown)?;
        file.sync_all().map_err(|error| fail("fsync", error))?;
        Ok(file)
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

    fn refused(
        &self,
        folder: &Folder,
        name: &str,
        shown: &str,
        error: std::io::Error,
    ) -> StoreError {
        match folder.stat(name).ok().flatten().map(|stat| stat.kind) {
            Some(Kind::Symlink) => {
                let target = folder.read_link(name).unwrap_or_default();
                StoreError::Symlink {
                    path: self.shown(shown),
                    target,
                }
            }
            _ => self.io(shown, "reading", error),
        }
    }

    fn temporary_name(&self, name: &str) -> String {
        let number = self.inner.temporary.fetch_add(1, Ordering::Relaxed);
        format!(".tmp.{}.{number}.{name}", std::process::id())
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

    /// A code over `bytes` that only this user's sidecars can make, for `purpose` alone.
    pub(crate) fn code(&self, purpose: &str, bytes: &[u8]) -> blake3::Hash {
        self.inner.key.code(purpose, "", bytes)
    }

    /// The path of `path` in the store, relative to the workspace root.
    pub(crate) fn shown(&self, path: &str) -> String {
        if path.is_empty() {
            STORE.to_owned()
        } else {
            format!("{STORE}/{path}")
        }
    }

    pub(crate) fn io(&self, path: &str, action: &'static str, error: std::io::Error) -> StoreError {
        match error.kind() {
            std::io::ErrorKind::AlreadyExists => StoreError::Exists {
                path: self.shown(path),
            },
            _ => StoreError::Io {
                path: self.shown(path),
                action,
                source: Arc::new(error),
            },
        }
    }

    pub(crate) fn before(&self, effect: Effect, path: &str) -> Result<(), StoreError> {
        if self.root().options().faults.is_none() {
            return Ok(());
        }
        let action = match effect {
            Effect::Write => "writing",
            Effect::Fsync => "fsync",
            Effect::Rename => "rename",
            Effect::Remove => "removing",
        };
        self.root()
            .before(effect, &self.shown(path))
            .map_err(|error| self.io(path, action, error))
    }
}

/// Removes `name` and what is below it, links unfollowed; what resists stays.
fn remove_tree(above: &Folder, name: &str) {
    if let Ok(folder) = above.open_folder(name) {
        for inner in folder.names().unwrap_or_default() {
            remove_tree(&folder, &inner);
        }
        let _ = above.remove_folder(name);
    } else {
        let _ = above.remove_file(name);
    }
}
