//! The file of one session: appended by one process, mended when it is opened.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Index, Line, Loaded, SessionError, SessionSummary, Sessions, file_of};
use crate::lines::{self, LineError};

/// A session that this process writes. Others wait until it is dropped.
#[derive(Debug)]
pub struct SessionLog {
    sessions: Sessions,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    summary: SessionSummary,
    /// None before the first append.
    file: Option<File>,
    archived: bool,
}

impl SessionLog {
    pub(super) fn new(sessions: Sessions, summary: SessionSummary) -> Self {
        Self {
            sessions,
            state: Mutex::new(State {
                summary,
                file: None,
                archived: false,
            }),
        }
    }

    pub(super) fn opened(
        sessions: Sessions,
        summary: SessionSummary,
        file: File,
        archived: bool,
    ) -> Self {
        Self {
            sessions,
            state: Mutex::new(State {
                summary,
                file: Some(file),
                archived,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What lists say of it now.
    pub fn summary(&self) -> SessionSummary {
        self.state().summary.clone()
    }

    /// Appends records with one write. They outlive this process at once, and with `durable` the machine too.
    ///
    /// # Errors
    ///
    /// [`SessionError`]; nothing of it counts then, and the next append starts on a line of its own.
    pub fn append<T: Serialize>(&self, records: &[T], durable: bool) -> Result<(), SessionError> {
        let mut state = self.state();
        let path = self.path(&state)?;
        let mut bytes = Vec::new();
        for record in records {
            lines::push(&mut bytes, &Line::Record(record))
                .map_err(|error| SessionError::io(&path, error.into()))?;
        }
        self.write(&mut state, &path, bytes, durable)
    }

    /// Changes what lists say, and keeps it.
    ///
    /// # Errors
    ///
    /// [`SessionError`].
    pub fn update(&self, change: impl FnOnce(&mut SessionSummary)) -> Result<(), SessionError> {
        let mut state = self.state();
        let before = state.summary.clone();
        change(&mut state.summary);
        // An untouched session has no file: one that was never prompted leaves nothing behind.
        if state.summary == before || state.file.is_none() {
            return Ok(());
        }
        let path = self.path(&state)?;
        let mut bytes = Vec::new();
        let summary = state.summary.clone();
        lines::push(&mut bytes, &Line::<()>::Summary(summary.clone()))
            .map_err(|error| SessionError::io(&path, error.into()))?;
        self.write(&mut state, &path, bytes, false)?;
        let folder = self.sessions.folder(state.archived)?;
        Index::new(&folder).append(&[summary])
    }

    /// Takes note that the session's file was put away, or brought back.
    pub fn moved(&self, archived: bool) {
        self.state().archived = archived;
    }

    fn path(&self, state: &State) -> Result<std::path::PathBuf, SessionError> {
        let folder = self.sessions.folder(state.archived)?;
        Ok(file_of(&folder, &state.summary.id))
    }

    fn write(
        &self,
        state: &mut State,
        path: &Path,
        bytes: Vec<u8>,
        durable: bool,
    ) -> Result<(), SessionError> {
        let fail = |source| SessionError::io(path, source);
        if state.file.is_none() {
            state.file = Some(self.make(state, path)?);
        }
        let Some(file) = &mut state.file else {
            return Ok(());
        };
        if let Err(source) = file.write_all(&bytes) {
            // What was written of it must not run into the next line; best effort on a disk that fails.
            let _ = lines::cut_torn_line(file);
            return Err(fail(source));
        }
        if durable {
            file.sync_data().map_err(fail)?;
        }
        Ok(())
    }

    /// Makes the file, with its summary on the first line.
    fn make(&self, state: &State, path: &Path) -> Result<File, SessionError> {
        let fail = |source| SessionError::io(path, source);
        let id = &state.summary.id;
        let opened = options().create_new(true).mode(0o600).open(path);
        let mut file = opened.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => SessionError::Exists { id: id.clone() },
            _ => fail(source),
        })?;
        lock(&file, path, id)?;
        let mut bytes = Vec::new();
        lines::push(&mut bytes, &Line::<()>::Summary(state.summary.clone()))
            .map_err(|error| fail(error.into()))?;
        file.write_all(&bytes).map_err(fail)?;
        if let Some(folder) = path.parent() {
            Index::new(folder).append(std::slice::from_ref(&state.summary))?;
            // The name must outlive the machine like the records under it.
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(fail)?;
        }
        Ok(file)
    }
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    options
}

fn lock(file: &File, path: &Path, id: &str) -> Result<(), SessionError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => SessionError::Busy { id: id.to_owned() },
        TryLockError::Error(source) => SessionError::io(path, source),
    })
}

/// Whether somebody holds a session's file.
pub(super) fn is_locked(path: &Path) -> bool {
    let locked = File::open(path).map(|file| file.try_lock_shared());
    matches!(locked, Ok(Err(TryLockError::WouldBlock)))
}

/// Opens a session's file to be written: locked, read, and mended.
pub(super) fn open<T: DeserializeOwned>(
    path: &Path,
    id: &str,
) -> Result<(File, Loaded<T>), SessionError> {
    let fail = |source| SessionError::io(path, source);
    let mut file = options().open(path).map_err(fail)?;
    lock(&file, path, id)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(fail)?;
    let (loaded, good) = parse(path, &bytes)?;
    if good < bytes.len() {
        if loaded.repaired.as_deref().is_some_and(is_damage) {
            set_aside(path, &bytes[good..])?;
        }
        file.set_len(good as u64).map_err(fail)?;
        file.sync_all().map_err(fail)?;
    }
    file.seek(SeekFrom::End(0)).map_err(fail)?;
    Ok((file, loaded))
}

/// Reads a session's lines; the last value is how many bytes of them are good.
pub(super) fn parse<T: DeserializeOwned>(
    path: &Path,
    bytes: &[u8],
) -> Result<(Loaded<T>, usize), SessionError> {
    let mut summary = None;
    let mut records = Vec::new();
    let mut repaired = None;
    let (mut at, mut number) = (0, 0);
    while at < bytes.len() {
        number += 1;
        let Some(length) = memchr::memchr(b'\n', &bytes[at..]) else {
            repaired = Some(format!(
                "the last {} bytes were cut off when the process ended, and are dropped",
                bytes.len() - at
            ));
            break;
        };
        match lines::parse_line(&bytes[at..at + length], number) {
            Ok(Line::Summary(new)) => summary = Some(new),
            Ok(Line::Record(record)) => records.push(record),
            Err(LineError::Sum { line }) => {
                repaired = Some(format!("{DAMAGE} from line {line} on"));
                break;
            }
            Err(LineError::Shape { line, message }) => {
                return Err(SessionError::Format {
                    path: path.display().to_string(),
                    line,
                    message,
                });
            }
        }
        at += length + 1;
    }
    let summary = summary.ok_or_else(|| SessionError::NotFound {
        id: path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    })?;
    let loaded = Loaded {
        summary,
        records,
        repaired,
    };
    Ok((loaded, at))
}

const DAMAGE: &str = "the record is damaged and was set aside";

fn is_damage(repaired: &str) -> bool {
    repaired.starts_with(DAMAGE)
}

/// Keeps what cannot be read beside the session, under a name that nothing reads.
fn set_aside(path: &Path, bytes: &[u8]) -> Result<(), SessionError> {
    let hash = blake3::hash(bytes).to_hex();
    let aside = path.with_extension(format!("{}.corrupt", &hash[..8]));
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o600)
        .open(&aside)
        .map_err(|source| SessionError::io(&aside, source))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(|source| SessionError::io(&aside, source))
}
