//! The files in a job's folder, beside its record.
//!
//! ```text
//! stdout, stderr        what the program wrote (secrets masked), from the first byte on, up to the bound
//! stdout.tail, …        the last bytes, when there were more
//! process               its process, told apart from others (not synced: after a power cut there is none)
//! watch                 locked by the system as long as somebody watches the job
//! ```

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};

use super::capture::{Kept, StreamTotals};
use super::limits::JobLimits;
use super::record::{self, ProcessRecord};
use super::watch::JobStream;
use crate::handle::Folder;
use crate::store::{Store, StoreError};

const PROCESS: &str = "process";
const WATCH: &str = "watch";

/// The file of a stream.
pub(super) fn name(stream: JobStream) -> &'static str {
    match stream {
        JobStream::Stdout => "stdout",
        JobStream::Stderr => "stderr",
    }
}

fn tail_name(stream: JobStream) -> &'static str {
    match stream {
        JobStream::Stdout => "stdout.tail",
        JobStream::Stderr => "stderr.tail",
    }
}

/// Takes the lock that says that a job is watched.
pub(super) fn watch(folder: &Folder) -> io::Result<File> {
    let file = folder.open_lock(WATCH, 0o600)?;
    file.try_lock().map_err(io::Error::from)?;
    Ok(file)
}

/// Whether some process watches the job. When in doubt, it is.
pub(super) fn is_watched(store: &Store, id: &str) -> bool {
    let Ok(Some(folder)) = open(store, id) else {
        return false;
    };
    match folder.stat(WATCH) {
        Ok(Some(_)) => {}
        Ok(None) => return false,
        Err(_) => return true,
    }
    match folder.open_lock(WATCH, 0o600).map(|file| file.try_lock()) {
        Ok(Ok(())) => false,
        Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) | Err(_) => true,
    }
}

/// Notes which process a job is. What cannot be noted is found by its mark.
pub(super) fn note_process(folder: &Folder, process: &ProcessRecord) {
    if let (Ok(mut file), Ok(bytes)) = (
        folder.create_file(PROCESS, 0o600),
        serde_json::to_vec(process),
    ) {
        let _ = file.write_all(&bytes);
    }
}

pub(super) fn process(store: &Store, id: &str) -> Option<ProcessRecord> {
    let bytes = store
        .read(&record::folder(id).ok()?.join(PROCESS).ok()?)
        .ok()??;
    serde_json::from_slice(&bytes).ok()
}

/// How much of a stream is on disk.
pub(super) fn len(store: &Store, id: &str, stream: JobStream) -> u64 {
    let stat = open(store, id)
        .ok()
        .flatten()
        .and_then(|folder| folder.stat(name(stream)).ok().flatten());
    stat.map_or(0, |stat| stat.len)
}

/// Keeps the last bytes of a stream that is longer than what is on disk of it.
pub(super) fn keep_tail(
    store: &Store,
    id: &str,
    stream: JobStream,
    kept: &Kept,
    totals: StreamTotals,
) -> Result<(), StoreError> {
    if totals.bytes <= totals.bytes_on_disk {
        return Ok(());
    }
    store.write(&record::folder(id)?.join(tail_name(stream))?, &kept.tail)
}

/// First and last bytes of a stream of a job that has ended.
pub(super) fn kept(
    store: &Store,
    id: &str,
    stream: JobStream,
    totals: StreamTotals,
    limits: &JobLimits,
) -> Result<Kept, StoreError> {
    let head = part(store, id, stream, 0, limits.head_bytes)?;
    let after_head = totals.bytes - (head.len() as u64).min(totals.bytes);
    let tail_len = after_head.min(limits.tail_bytes as u64);
    let tail = if totals.bytes > totals.bytes_on_disk {
        let path = record::folder(id)?.join(tail_name(stream))?;
        store.read(&path)?.unwrap_or_default()
    } else {
        let most = usize::try_from(tail_len).unwrap_or(limits.tail_bytes);
        part(store, id, stream, totals.bytes - tail_len, most)?
    };
    Ok(Kept {
        head,
        tail,
        total: totals.bytes,
    })
}

/// At most `most` bytes of a stream's file from `offset` on.
pub(super) fn part(
    store: &Store,
    id: &str,
    stream: JobStream,
    offset: u64,
    most: usize,
) -> Result<Vec<u8>, StoreError> {
    let fail = |error| store.io(record::JOBS, "reading output", error);
    let Some(folder) = open(store, id)? else {
        return Ok(Vec::new());
    };
    let mut bytes = Vec::new();
    match folder.open_file(name(stream)) {
        Ok((mut file, _)) => {
            file.seek(SeekFrom::Start(offset)).map_err(fail)?;
            file.take(most as u64)
                .read_to_end(&mut bytes)
                .map_err(fail)?;
            Ok(bytes)
        }
        // With a terminal there is no error output of its own.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(bytes),
        Err(error) => Err(fail(error)),
    }
}

fn open(store: &Store, id: &str) -> Result<Option<Folder>, StoreError> {
    store.folder_above(&record::folder(id)?.join(PROCESS)?)
}
