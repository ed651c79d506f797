//! Conversations as they are kept: one append-only file for each, in the private store.
//!
//! ```text
//! sessions/<se_…>.ndjson            checked lines: summaries and records, in the order in which they came
//! sessions/index                    the last summary of each, so that a list reads one file
//! archived-sessions/                the same, for those that were put away
//! ```
//!
//! What a record says is its writer's business; this module knows lines. One process writes a session at a
//! time, by a lock on its file; anybody may read. A line that was cut off by a crash is dropped when the
//! session is opened to be written, and said; so is what follows a damaged one, after a copy was set aside.
//!
//! **Invariant:** the index is a cache: a session's file alone says what is in it.
//!
//! Costs: an append is one write, whatever the session's length; a list is linear in the sessions, reading
//! one file and the folder's names; a load is linear in the session's bytes.

mod error;
mod index;
mod log;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::lines;
use crate::private::PrivateStore;

pub use error::SessionError;
use index::Index;
pub use log::SessionLog;

/// What lists say of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSummary {
    /// `se_…`.
    pub id: String,
    /// For people; none before the first prompt.
    #[serde(default)]
    pub title: Option<String>,
    /// `PROVIDER/MODEL`.
    pub model: String,
    /// Permission mode.
    pub mode: String,
    /// Unix seconds.
    pub created_at: u64,
    /// Unix seconds.
    pub updated_at: u64,
    /// Turns that began.
    #[serde(default)]
    pub turns: u32,
}

/// A session, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<T> {
    /// The last summary.
    pub summary: SessionSummary,
    /// All records, oldest first.
    pub records: Vec<T>,
    /// What was wrong with the file, for people.
    pub repaired: Option<String>,
}

/// One line of a session's file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line<T> {
    Summary(SessionSummary),
    Record(T),
}

/// The sessions of one agent in one workspace. Making this touches nothing.
#[derive(Debug, Clone)]
pub struct Sessions {
    private: PrivateStore,
    agent: String,
    workspace: String,
}

impl PrivateStore {
    /// The sessions that `agent` had in `workspace`.
    pub fn sessions(&self, agent: &str, workspace: &str) -> Sessions {
        Sessions {
            private: self.clone(),
            agent: agent.to_owned(),
            workspace: workspace.to_owned(),
        }
    }
}

impl Sessions {
    /// All sessions, or all that were put away; the one that was used last comes first.
    ///
    /// # Errors
    ///
    /// [`SessionError`] when the folder cannot be read. A session whose file is damaged is listed by what
    /// can be read of it.
    pub fn list(&self, archived: bool) -> Result<Vec<SessionSummary>, SessionError> {
        let folder = self.folder(archived)?;
        let index = Index::new(&folder);
        let mut known = index.read()?;
        let mut found = Vec::new();
        let mut missed = Vec::new();
        for id in ids_in(&folder)? {
            match known.remove(&id) {
                Some(summary) => found.push(summary),
                None => missed.extend(last_summary(&file_of(&folder, &id))?),
            }
        }
        // A process that died between the file and the index, or an index that is gone.
        index.append(&missed)?;
        found.append(&mut missed);
        found.sort_by(|a, b| (b.updated_at, &b.id).cmp(&(a.updated_at, &a.id)));
        index.compact(&found)?;
        Ok(found)
    }

    /// A new session. Its file comes with the first append.
    ///
    /// # Errors
    ///
    /// [`SessionError::BadId`].
    pub fn create(&self, summary: SessionSummary) -> Result<SessionLog, SessionError> {
        check_id(&summary.id)?;
        Ok(SessionLog::new(self.clone(), summary))
    }

    /// Reads a session, put away or not. Changes nothing: a torn tail is left out and left alone.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`]; [`SessionError::Format`] for a record that this version does not know.
    pub fn read<T: DeserializeOwned>(&self, id: &str) -> Result<Loaded<T>, SessionError> {
        let (path, _) = self.find(id)?;
        let bytes = read_file(&path)?;
        let (loaded, _) = log::parse(&path, &bytes)?;
        Ok(loaded)
    }

    /// Opens a session to go on with it, mending its tail.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`], [`SessionError::Busy`] when another process has it open,
    /// [`SessionError::Format`].
    pub fn open<T: DeserializeOwned>(
        &self,
        id: &str,
    ) -> Result<(SessionLog, Loaded<T>), SessionError> {
        let (path, archived) = self.find(id)?;
        let (file, loaded) = log::open(&path, id)?;
        let log = SessionLog::opened(self.clone(), loaded.summary.clone(), file, archived);
        Ok((log, loaded))
    }

    /// Whether some process, this one included, has a session open to write it.
    pub fn is_open(&self, id: &str) -> bool {
        self.find(id).is_ok_and(|(path, _)| log::is_locked(&path))
    }

    /// Puts a session away, or brings it back.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`]; [`SessionError::Exists`] when there is one of that id already.
    pub fn archive(&self, id: &str, archived: bool) -> Result<SessionSummary, SessionError> {
        let (path, was) = self.find(id)?;
        let summary =
            last_summary(&path)?.ok_or_else(|| SessionError::NotFound { id: id.to_owned() })?;
        if was == archived {
            return Ok(summary);
        }
        let folder = self.folder(archived)?;
        let to = file_of(&folder, id);
        if to.exists() {
            return Err(SessionError::Exists { id: id.to_owned() });
        }
        std::fs::rename(&path, &to).map_err(|source| SessionError::io(&path, source))?;
        Index::new(&folder).append(std::slice::from_ref(&summary))?;
        Ok(summary)
    }

    /// Whether a session was put away.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`].
    pub fn is_archived(&self, id: &str) -> Result<bool, SessionError> {
        self.find(id).map(|(_, archived)| archived)
    }

    fn folder(&self, archived: bool) -> Result<PathBuf, SessionError> {
        let name = if archived {
            "archived-sessions"
        } else {
            "sessions"
        };
        Ok(self.private.folder_of(&self.agent, &self.workspace, name)?)
    }

    fn find(&self, id: &str) -> Result<(PathBuf, bool), SessionError> {
        check_id(id)?;
        for archived in [false, true] {
            let path = file_of(&self.folder(archived)?, id);
            if path.is_file() {
                return Ok((path, archived));
            }
        }
        Err(SessionError::NotFound { id: id.to_owned() })
    }
}

const SUFFIX: &str = ".ndjson";

fn file_of(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("{id}{SUFFIX}"))
}

fn check_id(id: &str) -> Result<(), SessionError> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match id.strip_prefix("se_") {
        Some(rest) if !rest.is_empty() && id.len() <= 100 && rest.bytes().all(plain) => Ok(()),
        _ => Err(SessionError::BadId { id: id.to_owned() }),
    }
}

fn ids_in(folder: &Path) -> Result<Vec<String>, SessionError> {
    let fail = |source| SessionError::io(folder, source);
    let mut ids = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let name = entry.map_err(fail)?.file_name();
        let id = name.to_str().and_then(|name| name.strip_suffix(SUFFIX));
        if let Some(id) = id
            && check_id(id).is_ok()
        {
            ids.push(id.to_owned());
        }
    }
    Ok(ids)
}

fn read_file(path: &Path) -> Result<Vec<u8>, SessionError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|source| SessionError::io(path, source))?;
    Ok(bytes)
}

/// The last summary of a session's file, from what can be read of it.
fn last_summary(path: &Path) -> Result<Option<SessionSummary>, SessionError> {
    let bytes = match read_file(path) {
        Ok(bytes) => bytes,
        Err(SessionError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let mut last = None;
    for line in bytes.split(|byte| *byte == b'\n') {
        // Records are none of our business; a damaged line is no reason to hide the session.
        if let Ok(Line::Summary(summary)) =
            lines::parse_line::<Line<serde::de::IgnoredAny>>(line, 0)
        {
            last = Some(summary);
        }
    }
    Ok(last)
}

/// Summaries by id, the last one of each.
type Summaries = BTreeMap<String, SessionSummary>;

#[cfg(test)]
mod tests;
