//! What git knows: which files are as they stand in its index, and the content of these.
//!
//! Nothing of git's is run and nothing is written: the index and the object store are read. A file is clean when
//! its size, times and mode are those of its entry, as git itself decides; one that changed in the very moment
//! in which the index was written is not taken for clean.

use std::collections::HashMap;
use std::path::Path;

use crate::boundary::WorkspaceRoot;
use crate::handle::{Kind, Stat};

/// The tracked files below the workspace.
pub(super) struct Tracked {
    repository: git2::Repository,
    /// By path from the workspace's root.
    entries: HashMap<String, Entry>,
    /// The same paths, sorted as paths of the workspace are.
    paths: Vec<String>,
    /// When the index was written.
    written_ns: i128,
    /// Modes of files mean something.
    has_modes: bool,
}

struct Entry {
    id: git2::Oid,
    size: u32,
    mode: u32,
    modified: (i32, u32),
    changed: (i32, u32),
}

/// Entries of these extended flags have no content yet, or are left out of the tree.
const NOT_THERE: u16 = 0x2000 | 0x4000;

const STAGE: u16 = 0x3000;

impl Tracked {
    /// Reads the index of the repository that the workspace is in; None without one, or when it cannot be read.
    pub(super) fn open(root: &WorkspaceRoot) -> Option<Self> {
        let repository = git2::Repository::discover(root.path()).ok()?;
        let work = repository.workdir()?.canonicalize().ok()?;
        let below = root.path().strip_prefix(&work).ok()?.to_str()?.to_owned();
        let prefix = match below.as_str() {
            "" => String::new(),
            below => format!("{below}/"),
        };
        let index = repository.index().ok()?;
        let written_ns = modified_ns(index.path()?)?;
        let mut entries = HashMap::with_capacity(index.len());
        let mut paths = Vec::with_capacity(index.len());
        for entry in index.iter() {
            if entry.flags & STAGE != 0 || entry.flags_extended & NOT_THERE != 0 {
                continue;
            }
            let path = std::str::from_utf8(&entry.path).ok();
            let Some(path) = path.and_then(|path| path.strip_prefix(prefix.as_str())) else {
                continue;
            };
            let kept = Entry {
                id: entry.id,
                size: entry.file_size,
                mode: entry.mode,
                modified: (entry.mtime.seconds(), entry.mtime.nanoseconds()),
                changed: (entry.ctime.seconds(), entry.ctime.nanoseconds()),
            };
            entries.insert(path.to_owned(), kept);
            paths.push(path.to_owned());
        }
        paths.sort_unstable();
        let has_modes = repository
            .config()
            .and_then(|config| config.get_bool("core.filemode"))
            .unwrap_or(true);
        Some(Self {
            repository,
            entries,
            paths,
            written_ns,
            has_modes,
        })
    }

    /// Every tracked path, sorted.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    /// Whether the file is as it stands in the index.
    pub(super) fn is_clean(&self, path: &str, stat: &Stat) -> bool {
        let Some(entry) = self.entries.get(path) else {
            return false;
        };
        let is_link = entry.mode & 0o170_000 == 0o120_000;
        let is_file = entry.mode & 0o170_000 == 0o100_000;
        let same_kind = match stat.kind {
            Kind::File => is_file,
            Kind::Symlink => is_link,
            Kind::Directory | Kind::Fifo | Kind::Socket | Kind::Device => false,
        };
        let same_mode =
            !is_file || !self.has_modes || (entry.mode & 0o100 != 0) == (stat.mode & 0o100 != 0);
        same_kind
            && same_mode
            && u64::from(entry.size) == stat.len & 0xffff_ffff
            && same_time(entry.modified, stat.modified_ns)
            && (entry.changed == (0, 0) || same_time(entry.changed, stat.changed_ns))
            && stat.modified_ns < self.written_ns
    }

    /// The bytes of a clean file; None when git stores it in another form than it stands on disk.
    pub(super) fn content(&self, path: &str, stat: &Stat) -> Option<Vec<u8>> {
        let entry = self.entries.get(path)?;
        let blob = self.repository.find_blob(entry.id).ok()?;
        let bytes = blob.content();
        if bytes.len() as u64 == stat.len {
            return Some(bytes.to_vec());
        }
        // With `autocrlf` or `eol=crlf`, each LF is CRLF on disk. The sizes tell.
        let feeds = memchr::memchr_iter(b'\n', bytes).count() as u64;
        if bytes.len() as u64 + feeds != stat.len {
            return None;
        }
        let mut converted = Vec::with_capacity(usize::try_from(stat.len).ok()?);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(line) => {
                    converted.extend_from_slice(line);
                    converted.extend_from_slice(b"\r\n");
                }
                None => converted.extend_from_slice(line),
            }
        }
        Some(converted)
    }
}

/// Some writers of an index know seconds only; then these decide.
fn same_time((seconds, nanoseconds): (i32, u32), ns: i128) -> bool {
    let (whole, rest) = (ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000));
    // Git keeps the low 32 bits.
    let same_second = whole as u32 == seconds.cast_unsigned();
    same_second && (nanoseconds == 0 || i128::from(nanoseconds) == rest)
}

fn modified_ns(path: &Path) -> Option<i128> {
    rustix::fs::stat(path)
        .ok()
        .map(|stat| Stat::from(stat).modified_ns)
}
