//! Checked lines: the form of the store's append-only files (a transaction's log, a checkpoint).
//!
//! ```text
//! line := sum " " json "\n"
//! sum  := first 16 hex digits of blake3(json)
//! ```
//!
//! A reader takes lines up to the first one that is torn (no line feed, at the very end: the
//! process died while appending) and drops that one. A line whose sum is wrong anywhere else means
//! that somebody else wrote into the file; that is corruption, and is said.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::{Store, StoreError, StorePath};

const SUM_LEN: usize = 16;

/// What is wrong with a checked file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineError {
    /// The sum does not fit the line.
    #[error("line {line}: the checksum does not fit")]
    Sum {
        /// 1-based.
        line: usize,
    },
    /// The line is not what this version writes.
    #[error("line {line}: {message}")]
    Shape {
        /// 1-based.
        line: usize,
        /// What the decoder says.
        message: String,
    },
}

/// Appends `value` to `into` as one checked line.
pub(crate) fn push<T: Serialize>(into: &mut Vec<u8>, value: &T) -> serde_json::Result<()> {
    let start = into.len();
    into.extend_from_slice(&[b'0'; SUM_LEN]);
    into.push(b' ');
    serde_json::to_writer(&mut *into, value)?;
    let sum = sum_of(&into[start + SUM_LEN + 1..]);
    into[start..start + SUM_LEN].copy_from_slice(sum.as_bytes());
    into.push(b'\n');
    Ok(())
}

/// Reads all whole lines. A torn last one is left out.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, LineError> {
    let mut values = Vec::new();
    let mut at = 0;
    let mut line = 0;
    while at < bytes.len() {
        line += 1;
        let Some(length) = memchr::memchr(b'\n', &bytes[at..]) else {
            break;
        };
        values.push(parse_line(&bytes[at..at + length], line)?);
        at += length + 1;
    }
    Ok(values)
}

/// Reads one line without its line feed.
pub(crate) fn parse_line<T: DeserializeOwned>(bytes: &[u8], line: usize) -> Result<T, LineError> {
    let (sum, json) = match bytes.get(SUM_LEN) {
        Some(b' ') => (&bytes[..SUM_LEN], &bytes[SUM_LEN + 1..]),
        _ => return Err(LineError::Sum { line }),
    };
    if sum_of(json).as_bytes() != sum {
        return Err(LineError::Sum { line });
    }
    serde_json::from_slice(json).map_err(|error| LineError::Shape {
        line,
        message: error.to_string(),
    })
}

/// Appends whole lines to a file of the store, making it and the folders above it, and waits for the disk.
/// A torn last line, left by a process that died, is cut off first.
pub(crate) fn append(store: &Store, path: &StorePath, bytes: &[u8]) -> Result<(), StoreError> {
    let fail = |error| store.io(path.as_str(), "appending", error);
    let folder = store.make_folder_above(path)?;
    let is_new = folder.stat(path.name()).map_err(fail)?.is_none();
    let file = folder.open_append(path.name(), 0o600).map_err(fail)?;
    cut_torn_line(&file).map_err(fail)?;
    store.append_to(&file, path.as_str(), bytes)?;
    if is_new {
        store.sync_folder(
            &folder,
            path.as_str()
                .rsplit_once('/')
                .map_or("", |(above, _)| above),
        )?;
    }
    Ok(())
}

pub(crate) fn cut_torn_line(mut file: &File) -> io::Result<()> {
    const BLOCK: u64 = 64 << 10;
    let len = file.metadata()?.len();
    let mut last = [b'\n'];
    if len > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last == [b'\n'] {
        return Ok(());
    }
    let mut end = len;
    let mut block = Vec::new();
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        block.clear();
        file.seek(SeekFrom::Start(start))?;
        file.take(end - start).read_to_end(&mut block)?;
        if let Some(at) = memchr::memrchr(b'\n', &block) {
            end = start + at as u64 + 1;
            break;
        }
        end = start;
    }
    file.set_len(end)
}

/// Whether a file of the store is there.
pub(crate) fn exists(store: &Store, path: &StorePath) -> Result<bool, StoreError> {
    let Some(folder) = store.folder_above(path)? else {
        return Ok(false);
    };
    let stat = folder
        .stat(path.name())
        .map_err(|error| store.io(path.as_str(), "looking", error))?;
    Ok(stat.is_some())
}

fn sum_of(json: &[u8]) -> String {
    let mut sum = blake3::hash(json).to_hex().to_string();
    sum.truncate(SUM_LEN);
    sum
}
