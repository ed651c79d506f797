//! The store's lock: one OS file lock, freed by the system when its holder dies, its file never deleted.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::time::Duration;

use super::{FILE_MODE, Store, StoreError};
use crate::handle::{Folder, Stat};

/// The lock's file.
pub(super) const FILE: &str = "lock";

/// How long internal work waits for the lock.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(2);

/// Most that is read of who holds it.
const LONGEST_HOLDER: u64 = 256;

/// The store's lock, held until this is dropped.
#[derive(Debug)]
pub struct StoreLock {
    file: File,
}

impl Drop for StoreLock {
    fn drop(&mut self) {
        // Closing would free it too, but not while a child inherited the handle.
        let _ = self.file.unlock();
    }
}

/// Takes the lock in `folder`, waiting for at most `wait`.
pub(super) fn take(
    store: &Store,
    folder: &Folder,
    wait: Duration,
    who: &str,
) -> Result<StoreLock, StoreError> {
    let mut waiter = Waiter::new(store, folder)?;
    let mut waited = Duration::ZERO;
    while !waiter.attempt()? {
        if waited >= wait {
            return Err(StoreError::Locked {
                path: store.shown(FILE),
                holder: holder(&waiter.file),
                waited_ms: u64::try_from(waited.as_millis()).unwrap_or(u64::MAX),
            });
        }
        let pause = PAUSE.min(wait - waited);
        std::thread::sleep(pause);
        waited += pause;
    }
    let lock = waiter.into_lock();
    // For those who wait in vain; nothing depends on it.
    let _ = say_who(&lock.file, who);
    Ok(lock)
}

/// One who wants the lock, with its file open.
pub(super) struct Waiter<'a> {
    store: &'a Store,
    folder: &'a Folder,
    file: File,
}

impl<'a> Waiter<'a> {
    /// Opens the lock's file, making it when it is missing; nothing is locked yet.
    pub(super) fn new(store: &'a Store, folder: &'a Folder) -> Result<Self, StoreError> {
        Ok(Self {
            store,
            folder,
            file: open(store, folder)?,
        })
    }

    /// Tries once to lock the file, without waiting, and says whether it did.
    pub(super) fn attempt(&mut self) -> Result<bool, StoreError> {
        let fail = |error| self.store.io(FILE, "locking", error);
        loop {
            match self.file.try_lock() {
                Ok(()) if is_current(self.folder, &self.file).map_err(fail)? => return Ok(true),
                // Somebody removed the file: a lock on what has no name any more keeps nobody out.
                Ok(()) => self.file = open(self.store, self.folder)?,
                Err(TryLockError::WouldBlock) => return Ok(false),
                Err(TryLockError::Error(error)) => return Err(fail(error)),
            }
        }
    }

    /// The lock, once an attempt got it.
    pub(super) fn into_lock(self) -> StoreLock {
        StoreLock { file: self.file }
    }
}

fn open(store: &Store, folder: &Folder) -> Result<File, StoreError> {
    folder
        .open_lock(FILE, FILE_MODE)
        .map_err(|error| store.refused(folder, FILE, FILE, error))
}

/// Whether the locked file is still the one that others will open.
fn is_current(folder: &Folder, file: &File) -> std::io::Result<bool> {
    let locked = Stat::from(rustix::fs::fstat(file)?);
    Ok(folder
        .stat(FILE)?
        .is_some_and(|named| named.same_file(&locked)))
}

fn say_who(mut file: &File, who: &str) -> std::io::Result<()> {
    let line = format!("process {} ({who})\n", std::process::id());
    file.rewind()?;
    file.write_all(line.as_bytes())?;
    file.set_len(line.len() as u64)
}

fn holder(mut file: &File) -> String {
    let mut text = String::new();
    let read = file
        .rewind()
        .and_then(|()| file.take(LONGEST_HOLDER).read_to_string(&mut text));
    match (read, text.trim()) {
        (Ok(_), text) if !text.is_empty() => text.to_owned(),
        _ => "another process".into(),
    }
}
