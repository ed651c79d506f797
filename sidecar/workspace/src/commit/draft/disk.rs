//! What stands at a path on disk today, and the bytes and modes that a commit gives it.

use redline_edits::decode;
use ropey::Rope;

use super::Drafting;
use crate::boundary::WorkspacePath;
use crate::commit::{CommitError, Fingerprint};
use crate::effect::FsError;
use crate::read::Entry;

/// What stands at a path on disk.
#[derive(Debug, Clone)]
pub(super) enum Disk {
    Missing,
    Text {
        text: Rope,
        bom: bool,
        print: Fingerprint,
    },
    Opaque {
        print: Fingerprint,
    },
    Link {
        target: String,
        print: Fingerprint,
    },
}

impl Disk {
    pub(super) fn print(&self) -> Option<&Fingerprint> {
        match self {
            Disk::Missing => None,
            Disk::Text { print, .. } | Disk::Opaque { print } | Disk::Link { print, .. } => {
                Some(print)
            }
        }
    }
}

impl Drafting<'_> {
    pub(super) fn disk(&self, path: &WorkspacePath) -> Result<Disk, CommitError> {
        Ok(match self.batch.read_to_write(path)? {
            Entry::Missing => Disk::Missing,
            Entry::Directory => {
                return Err(FsError::IsDirectory {
                    path: path.as_str().into(),
                }
                .into());
            }
            Entry::Special { what } => {
                return Err(FsError::NotAFile {
                    path: path.as_str().into(),
                    what,
                }
                .into());
            }
            Entry::Symlink { target } => Disk::Link {
                print: Fingerprint::of_link(&target),
                target,
            },
            Entry::TooLarge { len, limit } => {
                return Err(FsError::TooLarge {
                    path: path.as_str().into(),
                    len,
                    limit,
                }
                .into());
            }
            Entry::File(entry) => {
                let print = Fingerprint {
                    symlink: false,
                    revision: entry.revision(),
                    mode: entry.stat.mode,
                };
                match decode(&entry.bytes) {
                    Ok(decoded) => Disk::Text {
                        text: Rope::from_str(&decoded.text),
                        bom: decoded.bom,
                        print,
                    },
                    Err(_) => Disk::Opaque { print },
                }
            }
        })
    }
}

/// The mode that a file with the mode `old` gets: git's two modes say executable or not, any other is meant exactly.
pub(super) fn mode_after(old: u32, wanted: u32) -> u32 {
    match wanted {
        0o755 => old | (old & 0o444) >> 2,
        0o644 => old & !0o111,
        exact => exact & 0o7777,
    }
}

pub(super) fn with_bom(bom: bool, text: &Rope) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len_bytes() + 3);
    if bom {
        bytes.extend_from_slice("\u{feff}".as_bytes());
    }
    for chunk in text.chunks() {
        bytes.extend_from_slice(chunk.as_bytes());
    }
    bytes
}
