//! Notes and memory: what agents write down for later, in the durable store.
//!
//! ```text
//! notes/<name>.md   one subject each
//! MEMORY.md         what every conversation in this workspace should know
//! ```
//!
//! Owns their names, limits and replacement, under the store's lock. Must not know who writes, or what is done with them.
//!
//! **Invariant:** nothing that somebody wrote is replaced unseen: replacing a note names the revision that was read.

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::revision::revision;
use crate::store::{Store, StoreError, StorePath};

const FOLDER: &str = "notes";
const MEMORY: &str = "MEMORY.md";
const SUFFIX: &str = ".md";

/// How long a change waits for another process that holds the store's lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// Largest note, in bytes.
pub const MAX_NOTE_BYTES: usize = 256 << 10;

/// Largest memory, in bytes: it stands in every prompt.
pub const MAX_MEMORY_BYTES: usize = 32 << 10;

/// Most notes.
pub const MAX_NOTES: usize = 1000;

/// The notes and the memory of one workspace. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Notes {
    store: Store,
}

/// Which text is meant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteName {
    /// `MEMORY.md`.
    Memory,
    /// `notes/<name>.md`.
    Note(String),
}

/// A note as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its text.
    pub text: String,
    /// Revision of its bytes.
    pub revision: String,
}

/// How a note is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode<'a> {
    /// It must not exist yet.
    New,
    /// In the place of the text with this revision.
    Replace(&'a str),
    /// After what is there, from a new line on; it need not exist.
    Append,
}

/// A damaged note, and where it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteDamage {
    /// Where it was.
    pub path: String,
    /// Where it is now.
    pub aside: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Why a note could not be read or written.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum NoteError {
    /// A name that a note cannot have.
    #[error("{name:?} cannot be the name of a note: {reason}")]
    BadName {
        /// The name, cut to a readable length.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is none.
    #[error("there is no note {name}")]
    Unknown {
        /// Its name.
        name: String,
    },
    /// There is one.
    #[error("{name} exists already")]
    Exists {
        /// Its name.
        name: String,
    },
    /// Somebody wrote it since it was read.
    #[error("{name} was changed since it was read")]
    Changed {
        /// Its name.
        name: String,
    },
    /// It would be too large.
    #[error("{name} would hold {bytes} bytes; at most {limit} are kept")]
    TooLarge {
        /// Its name.
        name: String,
        /// How large.
        bytes: usize,
        /// How large it may be.
        limit: usize,
    },
    /// There are too many.
    #[error("there are {limit} notes, and no more are kept")]
    TooMany {
        /// How many there may be.
        limit: usize,
    },
    /// Its bytes are no text; it was set aside.
    #[error("{} is no text; it is {} now", .0.path, .0.aside)]
    Damaged(NoteDamage),
    /// The store could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl NoteError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadName { .. } => "BAD_PATH",
            Self::Unknown { .. } => "NOT_FOUND",
            Self::Exists { .. } => "EXISTS",
            Self::Changed { .. } => "STALE_VERSION",
            Self::TooLarge { .. } | Self::TooMany { .. } => "TOO_LARGE",
            Self::Damaged(_) => "STORE_CORRUPT",
            Self::Store(error) => error.code(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BadName { .. } => {
                "use small letters, digits, `-` and `_`, 64 at most, like `build-steps`"
            }
            Self::Unknown { .. } => "list the notes to see their names",
            Self::Exists { .. } => {
                "read it, and replace it by naming its revision, or append to it"
            }
            Self::Changed { .. } => "read it again, and write on what it says now",
            Self::TooLarge { .. } => "shorten it, or split it into several notes",
            Self::TooMany { .. } => "remove notes that nobody needs any more",
            Self::Damaged(_) => {
                "look at what was set aside; a new note may be written in its place"
            }
            Self::Store(error) => error.hint(),
        }
    }
}

impl NoteName {
    /// Checks a name: small letters, digits, `-` and `_`.
    ///
    /// # Errors
    ///
    /// [`NoteError::BadName`].
    pub fn new(name: &str) -> Result<Self, NoteError> {
        let bad = |reason| {
            Err(NoteError::BadName {
                name: name.chars().take(64).collect(),
                reason,
            })
        };
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        match name.as_bytes() {
            [] => bad("it is empty"),
            bytes if bytes.len() > 64 => bad("it is longer than 64 bytes"),
            [b'-' | b'_', ..] => bad("it does not start with a letter or digit"),
            // One spelling for each: file systems differ in what they tell apart.
            bytes if !bytes.iter().all(|byte| is_plain(*byte)) => {
                bad("it has another character than small letters, digits, `-` and `_`")
            }
            _ => Ok(Self::Note(name.to_owned())),
        }
    }

    /// The name as it is told.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Memory => MEMORY,
            Self::Note(name) => name,
        }
    }

    fn path(&self) -> Result<StorePath, StoreError> {
        match self {
            Self::Memory => StorePath::new(MEMORY),
            Self::Note(name) => StorePath::new(format!("{FOLDER}/{name}{SUFFIX}")),
        }
    }

    fn limit(&self) -> usize {
        match self {
            Self::Memory => MAX_MEMORY_BYTES,
            Self::Note(_) => MAX_NOTE_BYTES,
        }
    }
}

impl Notes {
    pub(crate) fn new(store: Store) -> Self {
        Self { store }
    }

    /// The names of the notes, sorted. Other files that lie in the folder are left out.
    ///
    /// # Errors
    ///
    /// [`NoteError::Store`]; an unsealed store has no notes to tell of.
    pub fn list(&self) -> Result<Vec<String>, NoteError> {
        let names = self.store.list(&StorePath::new(FOLDER)?)?;
        let notes = names.into_iter().filter(|(_, is_folder)| !is_folder);
        Ok(notes
            .filter_map(|(file, _)| file.strip_suffix(SUFFIX).map(str::to_owned))
            .filter(|name| NoteName::new(name).is_ok())
            .collect())
    }

    /// Reads one; `None` when there is none.
    ///
    /// # Errors
    ///
    /// [`NoteError::Damaged`] for bytes that are no text, after they were set aside; [`NoteError::Store`].
    pub fn read(&self, name: &NoteName) -> Result<Option<Note>, NoteError> {
        let path = name.path()?;
        let Some(bytes) = self.store.read(&path)? else {
            return Ok(None);
        };
        let revision = revision(&bytes);
        match String::from_utf8(bytes) {
            Ok(text) if text.len() <= name.limit() => Ok(Some(Note { text, revision })),
            Ok(_) => Err(self.damaged(&path, "it is larger than anything that is written here")?),
            Err(_) => Err(self.damaged(&path, "it is not UTF-8")?),
        }
    }

    /// Writes one and returns what it says then.
    ///
    /// # Errors
    ///
    /// [`NoteError::Exists`], [`NoteError::Changed`], [`NoteError::Unknown`], [`NoteError::TooLarge`], [`NoteError::TooMany`];
    /// nothing is changed then.
    pub fn write(
        &self,
        name: &NoteName,
        text: &str,
        mode: WriteMode<'_>,
    ) -> Result<Note, NoteError> {
        // Not even a store is made for what would not be kept.
        self.check_size(name, text.len())?;
        let lock = self.store.lock(PATIENCE, "write a note")?;
        let now = self.read(name)?;
        let shown = || name.as_str().to_owned();
        let whole = match (mode, &now) {
            (WriteMode::New, Some(_)) => return Err(NoteError::Exists { name: shown() }),
            (WriteMode::Replace(_), None) => return Err(NoteError::Unknown { name: shown() }),
            (WriteMode::Replace(read), Some(now)) if now.revision != read => {
                return Err(NoteError::Changed { name: shown() });
            }
            (WriteMode::Append, Some(now)) => {
                let separator = if now.text.is_empty() || now.text.ends_with('\n') {
                    ""
                } else {
                    "\n"
                };
                format!("{}{separator}{text}", now.text)
            }
            _ => text.to_owned(),
        };
        self.check_size(name, whole.len())?;
        if now.is_none() && *name != NoteName::Memory && self.list()?.len() >= MAX_NOTES {
            return Err(NoteError::TooMany { limit: MAX_NOTES });
        }
        self.store.write(&name.path()?, whole.as_bytes())?;
        drop(lock);
        Ok(Note {
            revision: revision(whole.as_bytes()),
            text: whole,
        })
    }

    /// Removes one whose revision is `read`.
    ///
    /// # Errors
    ///
    /// [`NoteError::Unknown`], [`NoteError::Changed`].
    pub fn remove(&self, name: &NoteName, read: &str) -> Result<(), NoteError> {
        let unknown = || NoteError::Unknown {
            name: name.as_str().to_owned(),
        };
        if self.read(name)?.is_none() {
            return Err(unknown());
        }
        let _lock = self.store.lock(PATIENCE, "remove a note")?;
        let now = self.read(name)?.ok_or_else(unknown)?;
        if now.revision != read {
            return Err(NoteError::Changed {
                name: name.as_str().to_owned(),
            });
        }
        Ok(self.store.remove(&name.path()?)?)
    }

    fn check_size(&self, name: &NoteName, bytes: usize) -> Result<(), NoteError> {
        match bytes <= name.limit() {
            true => Ok(()),
            false => Err(NoteError::TooLarge {
                name: name.as_str().to_owned(),
                bytes,
                limit: name.limit(),
            }),
        }
    }

    fn damaged(&self, path: &StorePath, reason: &str) -> Result<NoteError, NoteError> {
        let aside = self.store.set_corrupt_aside(path)?;
        Ok(NoteError::Damaged(NoteDamage {
            path: self.store.shown(path.as_str()),
            aside: self.store.shown(aside.as_str()),
            reason: reason.to_owned(),
        }))
    }
}
