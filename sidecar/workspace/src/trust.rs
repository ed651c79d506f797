//! Which files of which projects the user trusts, by path and content, in the private store.
//!
//! ```text
//! BASE/trust.json   {"version": 1, "projects": {"<path>": {"redline.toml": {"revision", "at_ms"}, …}}}
//! BASE/trust.lock
//! ```
//!
//! A file of a project is trusted as it was read: one byte more, and it waits again. What a trusted file may then do is not
//! decided here.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::boundary::WorkspaceRoot;
use crate::private::{PrivateError, PrivateStore};

const FILE: &str = "trust.json";
const LOCK: &str = "trust.lock";
const VERSION: u32 = 1;

/// Largest file that is read.
const LARGEST: u64 = 16 << 20;

/// What one user trusts. Making this touches nothing.
#[derive(Debug, Clone)]
pub struct Trust {
    private: PrivateStore,
}

/// A file of a project that was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trusted {
    /// Revision of its bytes at that time.
    pub revision: String,
    /// When, in milliseconds since 1970.
    pub at_ms: u64,
}

/// The files of one project by their path in it.
type Files = BTreeMap<String, Trusted>;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    version: u32,
    projects: BTreeMap<String, Files>,
}

impl Trust {
    /// What the user of this private store trusts.
    pub fn new(private: PrivateStore) -> Self {
        Self { private }
    }

    /// Whether the user trusted `file` of the project with exactly these bytes. In doubt: no.
    pub fn holds(&self, root: &WorkspaceRoot, file: &str, revision: &str) -> bool {
        self.of(root).is_ok_and(|files| {
            files
                .get(file)
                .is_some_and(|trusted| trusted.revision == revision)
        })
    }

    /// What the user trusts of a project.
    ///
    /// # Errors
    ///
    /// [`PrivateError`].
    pub fn of(&self, root: &WorkspaceRoot) -> Result<Files, PrivateError> {
        let mut stored = self.read()?;
        Ok(stored.projects.remove(&key(root)).unwrap_or_default())
    }

    /// Trusts files of a project as they are: their paths in it and the revisions that the user was shown. Files that are not
    /// named keep what was said of them.
    ///
    /// # Errors
    ///
    /// [`PrivateError`]; nothing is changed then.
    pub fn add(
        &self,
        root: &WorkspaceRoot,
        files: &[(&str, &str)],
        now_ms: u64,
    ) -> Result<(), PrivateError> {
        self.change(|stored| {
            let project = stored.projects.entry(key(root)).or_default();
            for (file, revision) in files {
                let trusted = Trusted {
                    revision: (*revision).to_owned(),
                    at_ms: now_ms,
                };
                project.insert((*file).to_owned(), trusted);
            }
        })
    }

    /// Takes back all trust in a project. True when there was any.
    ///
    /// # Errors
    ///
    /// [`PrivateError`].
    pub fn revoke(&self, root: &WorkspaceRoot) -> Result<bool, PrivateError> {
        let mut had = false;
        self.change(|stored| had = stored.projects.remove(&key(root)).is_some())?;
        Ok(had)
    }

    fn change(&self, change: impl FnOnce(&mut Stored)) -> Result<(), PrivateError> {
        // Also makes the folder.
        self.private.seal_key()?;
        let lock_path = self.private.base().join(LOCK);
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags(no_follow())
            .open(&lock_path)
            .map_err(|source| failed(&lock_path, source))?;
        lock.lock().map_err(|source| failed(&lock_path, source))?;
        let mut stored = self.read()?;
        change(&mut stored);
        stored.version = VERSION;
        let path = self.private.base().join(FILE);
        let fail = |source: io::Error| failed(&path, source);
        let bytes = serde_json::to_vec_pretty(&stored).map_err(|error| fail(error.into()))?;
        let mut file = tempfile::NamedTempFile::new_in(self.private.base()).map_err(fail)?;
        file.write_all(&bytes)
            .and_then(|()| file.as_file().sync_all())
            .map_err(fail)?;
        file.persist(&path).map_err(|error| fail(error.error))?;
        File::open(self.private.base())
            .and_then(|folder| folder.sync_all())
            .map_err(fail)
    }

    fn read(&self) -> Result<Stored, PrivateError> {
        let path = self.private.base().join(FILE);
        let fail = |source: io::Error| failed(&path, source);
        let file = match OpenOptions::new()
            .read(true)
            .custom_flags(no_follow())
            .open(&path)
        {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Stored::default()),
            Err(error) => return Err(fail(error)),
        };
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes).map_err(fail)?;
        let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| fail(error.into()))?;
        match stored.version {
            VERSION => Ok(stored),
            other => Err(fail(io::Error::other(format!(
                "version {other} is not known here"
            )))),
        }
    }
}

/// A project is known by where it lies, links resolved.
fn key(root: &WorkspaceRoot) -> String {
    root.path().to_string_lossy().into_owned()
}

fn no_follow() -> i32 {
    rustix::fs::OFlags::NOFOLLOW.bits().cast_signed()
}

fn failed(path: &Path, source: io::Error) -> PrivateError {
    PrivateError::Io {
        path: path.display().to_string(),
        source,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::testing::Scratch;

    fn trust(base: &tempfile::TempDir) -> Trust {
        Trust::new(PrivateStore::new(base.path().join("redline")))
    }

    #[test]
    fn a_file_is_trusted_as_it_was_and_where_it_was() {
        let (base, here, there) = (
            tempfile::tempdir().unwrap(),
            Scratch::new(&[]),
            Scratch::new(&[]),
        );
        assert!(!trust(&base).holds(&here.root, "redline.toml", "r1"));
        assert!(
            !base.path().join("redline").exists(),
            "asking writes nothing"
        );
        trust(&base)
            .add(&here.root, &[("redline.toml", "r1"), (".env", "e1")], 7)
            .unwrap();
        trust(&base).add(&here.root, &[(".env", "e2")], 8).unwrap();
        let again = trust(&base);
        assert!(again.holds(&here.root, "redline.toml", "r1"));
        assert!(again.holds(&here.root, ".env", "e2"));
        for (root, file, revision) in [
            (&here.root, "redline.toml", "r2"),
            (&here.root, ".env", "e1"),
            (&here.root, "other", "r1"),
            (&there.root, "redline.toml", "r1"),
        ] {
            assert!(!again.holds(root, file, revision), "{file} {revision}");
        }
        assert!(again.revoke(&here.root).unwrap());
        assert!(!again.revoke(&here.root).unwrap());
        assert!(!trust(&base).holds(&here.root, ".env", "e2"));
    }

    #[test]
    fn a_damaged_file_trusts_nothing_and_is_not_written_over() {
        let (base, here) = (tempfile::tempdir().unwrap(), Scratch::new(&[]));
        let trust = trust(&base);
        trust.add(&here.root, &[("redline.toml", "r1")], 7).unwrap();
        let path = base.path().join("redline/trust.json");
        for text in ["", "{", "{\"version\":2,\"projects\":{}}"] {
            std::fs::write(&path, text).unwrap();
            assert!(!trust.holds(&here.root, "redline.toml", "r1"));
            assert!(trust.add(&here.root, &[("redline.toml", "r1")], 7).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn of_several_that_trust_at_once_none_is_lost() {
        let (base, here) = (tempfile::tempdir().unwrap(), Scratch::new(&[]));
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (trust, root) = (trust(&base), here.root.clone());
                scope.spawn(move || {
                    trust
                        .add(&root, &[(&format!("f{number}"), "r")], 1)
                        .unwrap()
                });
            }
        });
        assert_eq!(trust(&base).of(&here.root).unwrap().len(), 8);
    }
}
