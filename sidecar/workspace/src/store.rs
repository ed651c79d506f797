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
mod files;
mod lock;
mod path;
mod revision;
mod seal;
mod temporary;

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub use error::StoreError;
pub use lock::StoreLock;
pub use path::StorePath;
pub use seal::SealKey;
pub(crate) use seal::fill_random;

use crate::boundary::{STORE, WorkspaceRoot};
use crate::effect::Effect;
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
        self.replace_in(&folder, &folder, seal::FILE, &seal)?;
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
        lock::take(self, &self.own_folder()?, wait, who)
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

    /// The sealed store's own folder, which is there.
    fn own_folder(&self) -> Result<Folder, StoreError> {
        self.open()?.ok_or_else(|| StoreError::NotFound {
            path: self.shown(""),
        })
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
                    Some(Kind::Symlink) => self.is_link(above, name, shown),
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
            self.replace_in(folder, folder, ".gitignore", b"*\n")?;
            let seal = seal::add(folder, self.root().path(), &self.inner.key)
                .map_err(|error| self.io(seal::FILE, "sealing", error))?;
            self.replace_in(folder, folder, seal::FILE, &seal)?;
            self.root()
                .folder()
                .sync()
                .map_err(|error| self.io("", "fsync of the folder", error))?;
        }
        drop(lock);
        Ok(())
    }

    fn refused(
        &self,
        folder: &Folder,
        name: &str,
        shown: &str,
        error: std::io::Error,
    ) -> StoreError {
        match folder.stat(name).ok().flatten().map(|stat| stat.kind) {
            Some(Kind::Symlink) => self.is_link(folder, name, shown),
            _ => self.io(shown, "reading", error),
        }
    }

    fn is_link(&self, folder: &Folder, name: &str, shown: &str) -> StoreError {
        StoreError::Symlink {
            path: self.shown(shown),
            target: folder.read_link(name).unwrap_or_default(),
        }
    }

    /// A code over `bytes` that only this user's sidecars can make, for `purpose` alone.
    pub(crate) fn code(&self, purpose: &str, bytes: &[u8]) -> blake3::Hash {
        self.inner.key.code(purpose, "", bytes)
    }

    fn temporary_name(&self, name: &str) -> String {
        temporary::name(self.inner.temporary.fetch_add(1, Ordering::Relaxed), name)
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
