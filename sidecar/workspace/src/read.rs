//! Reading one path: what is there, within limits, and never waiting for the other end of a pipe.

use std::io::Read;

use cap_std::fs::OpenOptionsExt;

use crate::boundary::{Batch, PathError, WorkspacePath, WorkspaceRoot};
use crate::effect::FsError;
use crate::handle::{Kind, Stat};

/// What a path holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Nothing.
    Missing,
    /// A file and its bytes.
    File(FileEntry),
    /// A folder.
    Directory,
    /// A symbolic link to something inside the workspace; it was not followed.
    Symlink {
        /// What the link says.
        target: String,
    },
    /// A pipe, socket or device; it was not opened.
    Special {
        /// What it is.
        what: &'static str,
    },
    /// A file above the limit; it was not read.
    TooLarge {
        /// Its length in bytes.
        len: u64,
        /// The limit in bytes.
        limit: u64,
    },
}

/// A file's bytes and what the file system says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Kind, mode, links, owner, times.
    pub stat: Stat,
}

impl FileEntry {
    /// The revision of its bytes.
    pub fn revision(&self) -> String {
        crate::revision::revision(&self.bytes)
    }
}

impl Batch {
    /// Reads `path` as a writer would see it: no link is followed, protected paths are refused.
    ///
    /// # Errors
    ///
    /// A refused path, or the system's refusal to read.
    pub fn read_to_write(&self, path: &WorkspacePath) -> Result<Entry, FsError> {
        match self.place_to_write(path) {
            Ok(place) => {
                self.read_place(path, place.parent().map(|held| &held.folder), place.stat())
            }
            Err(PathError::IsSymlink { target, .. }) => Ok(Entry::Symlink { target }),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads `path` without following links; protected paths may be read.
    ///
    /// # Errors
    ///
    /// A refused path, or the system's refusal to read.
    pub fn read(&self, path: &WorkspacePath) -> Result<Entry, FsError> {
        match self.place(path) {
            Ok(place) => {
                self.read_place(path, place.parent().map(|held| &held.folder), place.stat())
            }
            Err(PathError::IsSymlink { target, .. }) => Ok(Entry::Symlink { target }),
            Err(error) => Err(error.into()),
        }
    }

    fn read_place(
        &self,
        path: &WorkspacePath,
        folder: Option<&crate::handle::Folder>,
        stat: Option<&Stat>,
    ) -> Result<Entry, FsError> {
        let (Some(folder), Some(stat)) = (folder, stat) else {
            return Ok(Entry::Missing);
        };
        if let Some(entry) = without_reading(stat, self.root().options().max_file) {
            return Ok(entry);
        }
        match folder.open_file(path.name()) {
            Ok((file, stat)) => read_open(path, file, stat, self.root().options().max_file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Entry::Missing),
            Err(error) => Err(FsError::io(path.as_str(), "reading", error)),
        }
    }
}

impl WorkspaceRoot {
    /// Reads `path` as a reader means it: links are followed as long as they stay inside the workspace.
    ///
    /// # Errors
    ///
    /// [`PathError::Outside`] when a link leads out, or the system's refusal to read.
    pub fn read(&self, path: &WorkspacePath) -> Result<Entry, FsError> {
        let dir = self.folder().beneath();
        let shown = path.as_str();
        let metadata = match dir.metadata(shown) {
            Ok(metadata) => metadata,
            Err(error) => return missing_or(shown, error),
        };
        if metadata.is_dir() {
            return Ok(Entry::Directory);
        }
        if !metadata.is_file() {
            return Ok(Entry::Special {
                what: "a pipe, socket or device",
            });
        }
        let mut options = cap_std::fs::OpenOptions::new();
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.read(true).custom_flags(flags.bits().cast_signed());
        let file = match dir.open_with(shown, &options) {
            Ok(file) => file.into_std(),
            Err(error) => return missing_or(shown, error),
        };
        let stat = rustix::fs::fstat(&file)
            .map_err(|error| FsError::io(shown, "reading", error.into()))?;
        let stat = Stat::from(stat);
        match without_reading(&stat, self.options().max_file) {
            Some(entry) => Ok(entry),
            None => read_open(path, file, stat, self.options().max_file),
        }
    }
}

/// The entry for what need not or must not be opened.
fn without_reading(stat: &Stat, limit: u64) -> Option<Entry> {
    match stat.kind {
        Kind::File if stat.len > limit => Some(Entry::TooLarge {
            len: stat.len,
            limit,
        }),
        Kind::File => None,
        Kind::Directory => Some(Entry::Directory),
        Kind::Symlink | Kind::Fifo | Kind::Socket | Kind::Device => Some(Entry::Special {
            what: stat.kind.word(),
        }),
    }
}

fn read_open(
    path: &WorkspacePath,
    file: std::fs::File,
    stat: Stat,
    limit: u64,
) -> Result<Entry, FsError> {
    let mut bytes = Vec::with_capacity(usize::try_from(stat.len).unwrap_or(0).saturating_add(1));
    // It may grow while it is read.
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| FsError::io(path.as_str(), "reading", error))?;
    let len = bytes.len() as u64;
    Ok(if len > limit {
        Entry::TooLarge { len, limit }
    } else {
        Entry::File(FileEntry { bytes, stat })
    })
}

fn missing_or(path: &str, error: std::io::Error) -> Result<Entry, FsError> {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => Ok(Entry::Missing),
        ErrorKind::NotADirectory => Err(PathError::NotDirectory {
            path: path.into(),
            component: path.into(),
        }
        .into()),
        // cap-std reports an escape as a refusal of its own, without a number of the system's.
        ErrorKind::PermissionDenied if error.raw_os_error().is_none() => Err(PathError::Outside {
            path: path.into(),
            reason: "a symbolic link leads out of it".into(),
        }
        .into()),
        _ => match PathError::io(path, error) {
            PathError::Io { source, .. } => Err(FsError::Io {
                path: path.into(),
                action: "reading",
                source,
            }),
            other => Err(other.into()),
        },
    }
}
