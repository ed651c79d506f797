//! The revision of a whole store: what a user was shown of one that came from elsewhere, and trusts as it was.

use std::io::Read;

use super::{Store, StoreError, lock};
use crate::handle::{Folder, Kind};

/// Most files and folders of a store that can be trusted as a whole.
const MOST_ENTRIES: usize = 100_000;

/// Most bytes of it.
const MOST_BYTES: u64 = 256 << 20;

/// Folders in folders.
const DEEPEST: usize = 32;

impl Store {
    /// A hash over every name and byte in the store, sealed or not; none when there is none.
    ///
    /// # Errors
    ///
    /// [`StoreError::Symlink`] for a link anywhere in it, [`StoreError::TooLarge`] above what is read, or the system's refusal.
    pub fn revision(&self) -> Result<Option<String>, StoreError> {
        let Some(folder) = self.open_unchecked()? else {
            return Ok(None);
        };
        let mut walk = Walk {
            store: self,
            hasher: blake3::Hasher::new(),
            entries: 0,
            bytes: 0,
        };
        walk.folder(&folder, "", 0)?;
        Ok(Some(walk.hasher.finalize().to_hex().to_string()))
    }
}

struct Walk<'a> {
    store: &'a Store,
    hasher: blake3::Hasher,
    entries: usize,
    bytes: u64,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Folder, shown: &str, depth: usize) -> Result<(), StoreError> {
        let mut names = folder
            .names()
            .map_err(|error| self.store.io(shown, "listing", error))?;
        names.sort_unstable();
        for name in names {
            // Who waits for whom is no content.
            if depth == 0 && name == lock::FILE {
                continue;
            }
            let path = match shown {
                "" => name.clone(),
                shown => format!("{shown}/{name}"),
            };
            self.entries += 1;
            if self.entries > MOST_ENTRIES || depth > DEEPEST {
                return Err(self.too_large());
            }
            let stat = folder
                .stat(&name)
                .map_err(|error| self.store.io(&path, "looking", error))?;
            match stat.map(|stat| stat.kind) {
                Some(Kind::Directory) => {
                    self.part(b"folder", path.as_bytes());
                    let below = folder
                        .open_folder(&name)
                        .map_err(|error| self.store.refused(folder, &name, &path, error))?;
                    self.folder(&below, &path, depth + 1)?;
                    self.part(b"end", path.as_bytes());
                }
                Some(Kind::File) => self.file(folder, &name, &path)?,
                Some(Kind::Symlink) => return Err(self.store.is_link(folder, &name, &path)),
                // Removed meanwhile, or nothing that a store is made of.
                Some(_) | None => self.part(b"other", path.as_bytes()),
            }
        }
        Ok(())
    }

    fn file(&mut self, folder: &Folder, name: &str, path: &str) -> Result<(), StoreError> {
        let (file, stat) = folder
            .open_file(name)
            .map_err(|error| self.store.refused(folder, name, path, error))?;
        self.bytes = self.bytes.saturating_add(stat.len);
        if self.bytes > MOST_BYTES {
            return Err(self.too_large());
        }
        let mut content = blake3::Hasher::new();
        content
            .update_reader(file.take(MOST_BYTES))
            .map_err(|error| self.store.io(path, "reading", error))?;
        self.part(b"file", path.as_bytes());
        self.part(b"content", content.finalize().as_bytes());
        Ok(())
    }

    /// With its length before it, so that no two stores read alike.
    fn part(&mut self, what: &[u8], bytes: &[u8]) {
        for part in [what, bytes] {
            self.hasher.update(&(part.len() as u64).to_le_bytes());
            self.hasher.update(part);
        }
    }

    fn too_large(&self) -> StoreError {
        StoreError::TooLarge {
            path: self.store.shown(""),
        }
    }
}
