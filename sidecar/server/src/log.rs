//! The local log: one file for each kind of process, bounded, in the private state folder.
//!
//! Owns: where records go and how many are kept. Must not know: what is logged; by rule, prompt
//! text, file contents and secrets are logged at `trace` only, or not at all.
#![expect(
    clippy::disallowed_methods,
    reason = "the log is a file of the user's, not of a project"
)]

use crate::paths::{Paths, private_folder};
use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;

/// Size at which a file is set aside.
const FILE_BYTES: u64 = 1024 * 1024;
/// So many older files are kept beside the newest.
const OLDER_FILES: u32 = 3;
/// Longest record; the rest of one is cut.
const RECORD_BYTES: usize = 16 * 1024;

/// Sends the records of this process to `<state>/logs/<name>.log`.
///
/// The file is opened at the first record. A log that cannot be written is not worth failing for:
/// records are dropped then.
pub fn start(paths: &Paths, name: &str, level: Level) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_target(true)
        .with_writer(Rotated::new(paths.log_dir().join(format!("{name}.log"))))
        .finish();
    // A second start in one process (a test's) keeps the first.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// A writer whose file is set aside when it has grown, so that disk use stays bounded however many
/// processes share it.
#[derive(Debug)]
pub struct Rotated {
    path: PathBuf,
    limit_bytes: u64,
    file: Mutex<Option<File>>,
}

impl Rotated {
    /// A writer to `path`; nothing is opened yet.
    pub fn new(path: PathBuf) -> Self {
        Self::with_limit(path, FILE_BYTES)
    }

    fn with_limit(path: PathBuf, limit_bytes: u64) -> Self {
        Self {
            path,
            limit_bytes,
            file: Mutex::new(None),
        }
    }

    fn append(&self, record: &[u8]) -> io::Result<()> {
        let record = &record[..record.len().min(RECORD_BYTES)];
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = match slot.take() {
            Some(file) if file.metadata()?.len() < self.limit_bytes => file,
            // Full, by us or by another process that shares it, or not opened yet.
            _ => self.open()?,
        };
        // One write, so that records of several processes do not mix.
        slot.insert(file).write_all(record)
    }

    fn open(&self) -> io::Result<File> {
        if let Some(folder) = self.path.parent() {
            private_folder(folder).map_err(io::Error::other)?;
        }
        let file = open_append(&self.path)?;
        if file.metadata()?.len() < self.limit_bytes {
            return Ok(file);
        }
        // The lock is on the full file: whoever gets it first sets it aside, the others find a
        // new one under its name.
        file.lock()?;
        if open_append(&self.path)?.metadata()?.len() >= self.limit_bytes {
            for older in (1..OLDER_FILES).rev() {
                rename_if_there(&self.older(older), &self.older(older + 1))?;
            }
            rename_if_there(&self.path, &self.older(1))?;
        }
        open_append(&self.path)
    }

    fn older(&self, number: u32) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(format!(".{number}"));
        name.into()
    }
}

fn open_append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// One record on its way; written whole when dropped.
#[derive(Debug)]
pub struct Record<'a> {
    log: &'a Rotated,
    bytes: Vec<u8>,
}

impl Write for Record<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        // There is nowhere to report it to.
        let _ = self.log.append(&self.bytes);
    }
}

impl<'a> MakeWriter<'a> for Rotated {
    type Writer = Record<'a>;

    fn make_writer(&'a self) -> Record<'a> {
        Record {
            log: self,
            bytes: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn disk_use_stays_bounded_when_two_processes_write() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("logs");
        let path = folder.join("x.log");
        let (one, two) = (
            Rotated::with_limit(path.clone(), 1000),
            Rotated::with_limit(path.clone(), 1000),
        );
        for _ in 0..200 {
            one.append(&[b'1'; 99]).unwrap();
            two.append(&[b'2'; 49]).unwrap();
        }
        let sizes: Vec<u64> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .collect();
        assert_eq!(sizes.len(), 1 + OLDER_FILES as usize);
        assert!(sizes.iter().all(|size| *size < 1100 + 99), "{sizes:?}");
    }

    #[test]
    fn a_record_is_cut_at_its_limit() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("logs/x.log");
        Rotated::new(path.clone())
            .append(&[b'x'; 40 * 1024])
            .unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), RECORD_BYTES as u64);
    }
}
