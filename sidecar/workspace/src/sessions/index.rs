//! The last summary of each session in one file, so that a list does not open ten thousand.
//!
//! Appended by every process that changes a summary, under a lock on the file; the last line of an id counts.
//! When most lines are old it is written anew. Losing it loses nothing.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{SessionError, SessionSummary, Summaries, read_file};
use crate::lines;

/// Old lines that are put up with before the index is written anew, beyond as many as there are sessions.
const SLACK: usize = 1000;

/// A line, about.
const LINE_BYTES: u64 = 300;

pub(super) struct Index {
    folder: PathBuf,
    path: PathBuf,
}

impl Index {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            path: folder.join("index"),
        }
    }

    /// The last summary of each id. What cannot be read is left out: it is found by its file.
    pub(super) fn read(&self) -> Result<Summaries, SessionError> {
        let bytes = match read_file(&self.path) {
            Ok(bytes) => bytes,
            Err(SessionError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                return Ok(Summaries::new());
            }
            Err(error) => return Err(error),
        };
        let mut known = Summaries::new();
        for line in bytes.split(|byte| *byte == b'\n') {
            if let Ok(summary) = lines::parse_line::<SessionSummary>(line, 0) {
                known.insert(summary.id.clone(), summary);
            }
        }
        Ok(known)
    }

    /// Adds summaries, each in place of the one before it.
    pub(super) fn append(&self, summaries: &[SessionSummary]) -> Result<(), SessionError> {
        if summaries.is_empty() {
            return Ok(());
        }
        // A line that a dying process left without its end must not swallow the first of ours.
        let mut bytes = vec![b'\n'];
        for summary in summaries {
            lines::push(&mut bytes, summary).map_err(|error| self.fail(error.into()))?;
        }
        let mut file = self.locked().map_err(|error| self.fail(error))?;
        file.write_all(&bytes).map_err(|error| self.fail(error))
    }

    /// Writes the index anew when it holds far more lines than there are sessions.
    pub(super) fn compact(&self, present: &[SessionSummary]) -> Result<(), SessionError> {
        let size = match std::fs::metadata(&self.path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.fail(error)),
        };
        if size < LINE_BYTES * (2 * present.len() + SLACK) as u64 {
            return Ok(());
        }
        let _old = self.locked().map_err(|error| self.fail(error))?;
        let present: HashSet<&str> = present.iter().map(|known| known.id.as_str()).collect();
        // What others wrote meanwhile is newer than what was listed.
        let mut bytes = Vec::new();
        for summary in self.read()?.values() {
            if present.contains(summary.id.as_str()) {
                lines::push(&mut bytes, summary).map_err(|error| self.fail(error.into()))?;
            }
        }
        let fresh = tempfile::NamedTempFile::new_in(&self.folder).map_err(|e| self.fail(e))?;
        fresh
            .as_file()
            .write_all(&bytes)
            .map_err(|e| self.fail(e))?;
        fresh.persist(&self.path).map_err(|e| self.fail(e.error))?;
        Ok(())
    }

    /// The index, open to append, locked, and still the one that others will open.
    fn locked(&self) -> io::Result<File> {
        loop {
            let file = OpenOptions::new()
                .create(true)
                .append(true)
                .mode(0o600)
                .open(&self.path)?;
            file.lock()?;
            let named = std::fs::metadata(&self.path).ok();
            if named.is_some_and(|named| file.metadata().is_ok_and(|own| own.ino() == named.ino()))
            {
                return Ok(file);
            }
        }
    }

    fn fail(&self, source: io::Error) -> SessionError {
        SessionError::io(&self.path, source)
    }
}
