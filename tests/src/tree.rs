//! A folder as data: every path with its kind, bytes and mode.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What stands at one path.
#[derive(Clone, PartialEq, Eq)]
pub enum Node {
    /// A regular file.
    File {
        /// What it holds.
        bytes: Bytes,
        /// Its permission bits.
        mode: u32,
    },
    /// A folder.
    Folder {
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link, not followed.
    Link {
        /// Where it points.
        target: PathBuf,
    },
    /// A socket, pipe or device.
    Other,
}

/// Bytes of a file; a large one is known by its identity, and not read.
#[derive(Clone, PartialEq, Eq)]
pub enum Bytes {
    /// All of them.
    Whole(Vec<u8>),
    /// A file so large that reading it again and again would cost more than the test.
    Large {
        /// How many.
        len: u64,
        /// Which file it is.
        inode: u64,
        /// When it was written last, in nanoseconds since 1970.
        modified_ns: i128,
    },
}

const WHOLE_BYTES_MAX: u64 = 8 << 20;

impl Bytes {
    /// From what a file holds.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Bytes {
        Bytes::Whole(bytes)
    }
}

fn bytes_of(file: &Path, meta: &fs::Metadata) -> Result<Bytes> {
    if meta.len() <= WHOLE_BYTES_MAX {
        return Ok(Bytes::Whole(fs::read(file)?));
    }
    Ok(Bytes::Large {
        len: meta.len(),
        inode: meta.ino(),
        modified_ns: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
    })
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Node::File { bytes, mode } => write!(f, "file {mode:04o} {bytes:?}"),
            Node::Folder { mode } => write!(f, "folder {mode:04o}"),
            Node::Link { target } => write!(f, "link to {}", target.display()),
            Node::Other => write!(f, "neither file, folder nor link"),
        }
    }
}

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bytes::Large { len, .. } => write!(f, "({len} bytes)"),
            Bytes::Whole(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) if text.len() <= 400 => write!(f, "{text:?}"),
                Ok(text) => {
                    let head: String = text.chars().take(120).collect();
                    write!(f, "{head:?}… ({} bytes)", text.len())
                }
                Err(_) => write!(
                    f,
                    "{:02x?} ({} bytes)",
                    &bytes[..bytes.len().min(64)],
                    bytes.len()
                ),
            },
        }
    }
}

/// A folder's content by relative path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree(pub BTreeMap<PathBuf, Node>);

impl Tree {
    /// Reads a folder; names in `without` are left out at its top.
    ///
    /// # Errors
    ///
    /// When something in it cannot be read.
    pub fn read(root: &Path, without: &[&str]) -> Result<Tree> {
        let mut tree = Tree::default();
        if root.exists() {
            tree.add(root, Path::new(""), without)?;
        }
        Ok(tree)
    }

    fn add(&mut self, root: &Path, relative: &Path, without: &[&str]) -> Result<()> {
        let folder = root.join(relative);
        let entries =
            fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            if relative.as_os_str().is_empty() && without.iter().any(|w| name == **w) {
                continue;
            }
            let path = relative.join(&name);
            let meta = fs::symlink_metadata(entry.path())?;
            let mode = meta.permissions().mode() & 0o7777;
            let node = if meta.is_symlink() {
                Node::Link {
                    target: fs::read_link(entry.path())?,
                }
            } else if meta.is_dir() {
                self.add(root, &path, without)?;
                Node::Folder { mode }
            } else if meta.is_file() {
                Node::File {
                    bytes: bytes_of(&entry.path(), &meta)?,
                    mode,
                }
            } else {
                Node::Other
            };
            self.0.insert(path, node);
        }
        Ok(())
    }

    /// One line for each path that differs, as `path: wanted …, got …`.
    #[must_use]
    pub fn differences(&self, got: &Tree) -> Vec<String> {
        let mut lines = Vec::new();
        for (path, wanted) in &self.0 {
            match got.0.get(path) {
                None => lines.push(format!(
                    "{}: wanted {wanted:?}, got nothing",
                    path.display()
                )),
                Some(node) if node != wanted => {
                    lines.push(format!(
                        "{}: wanted {wanted:?}, got {node:?}",
                        path.display()
                    ));
                }
                Some(_) => {}
            }
        }
        for (path, node) in &got.0 {
            if !self.0.contains_key(path) {
                lines.push(format!("{}: wanted nothing, got {node:?}", path.display()));
            }
        }
        lines
    }
}

/// Bytes of all files below a folder; 0 when it is not there.
#[must_use]
pub fn size_bytes(root: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(root) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match fs::symlink_metadata(entry.path()) {
            Ok(meta) if meta.is_dir() => size_bytes(&entry.path()),
            Ok(meta) if meta.is_file() => meta.len(),
            _ => 0,
        })
        .sum()
}
