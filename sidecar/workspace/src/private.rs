//! The private store: what belongs to a user and no project, out of reach of every file and search tool.
//!
//! ```text
//! BASE/seal.key                                       the secret that seals durable stores
//! BASE/agents/<agent-id>/workspaces/<workspace-id>/   sessions, choices, logs, schedule, sandbox of that pair
//! ```
//!
//! `BASE` is passed in (`$XDG_STATE_HOME/redline`). Folders are 0700, files 0600.

use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::boundary::WorkspaceRoot;
use crate::store::{SealKey, fill_random};

/// Why the private store could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrivateError {
    /// An id that cannot be a folder's name.
    #[error("{id:?} is no id: only letters, digits, `_` and `-`")]
    BadId {
        /// The id.
        id: String,
    },
    /// Others could have changed it.
    #[error("{path} belongs to somebody else or is open to others")]
    Exposed {
        /// The path.
        path: String,
    },
    /// The secret is damaged.
    #[error("{path} does not hold 32 bytes")]
    BadKey {
        /// The path.
        path: String,
    },
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The path.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
}

impl PrivateError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        match self {
            PrivateError::BadId { .. } => "BAD_PATH",
            PrivateError::Exposed { .. } | PrivateError::BadKey { .. } => "STORE_CORRUPT",
            PrivateError::Io { .. } => "IO",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            PrivateError::BadId { .. } => "choose another id",
            PrivateError::Exposed { .. } => {
                "make it yours alone (chown, chmod go-rwx), then try again"
            }
            PrivateError::BadKey { .. } => {
                "move it away: a new one is made, and projects have to be trusted again"
            }
            PrivateError::Io { .. } => "check that the folder can be made and written",
        }
    }
}

/// One user's private store. Making this touches nothing.
#[derive(Debug, Clone)]
pub struct PrivateStore {
    base: PathBuf,
}

impl PrivateStore {
    /// The private store at `base`, an absolute path.
    pub fn new(base: PathBuf) -> Self {
        Self { base }
    }

    /// Its folder.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// A folder of what `agent` keeps for `workspace` (`sessions`), made when it is missing.
    ///
    /// # Errors
    ///
    /// [`PrivateError`].
    pub fn folder_of(
        &self,
        agent: &str,
        workspace: &str,
        name: &str,
    ) -> Result<PathBuf, PrivateError> {
        let folder = self.workspace(agent, workspace)?.join(id(name)?);
        self.make(&folder)?;
        Ok(folder)
    }

    /// The folder of what `agent` keeps for `workspace`, made when it is missing.
    ///
    /// # Errors
    ///
    /// [`PrivateError`].
    pub fn workspace(&self, agent: &str, workspace: &str) -> Result<PathBuf, PrivateError> {
        let folder = self
            .base
            .join("agents")
            .join(id(agent)?)
            .join("workspaces")
            .join(id(workspace)?);
        self.make(&folder)?;
        Ok(folder)
    }

    /// What the user chose for `agent` in `workspace` under `name` before; none when they never did.
    ///
    /// # Errors
    ///
    /// [`PrivateError`].
    pub fn choice(
        &self,
        agent: &str,
        workspace: &str,
        name: &str,
    ) -> Result<Option<String>, PrivateError> {
        let path = self.folder_of(agent, workspace, "choices")?.join(id(name)?);
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(io_error(&path, source)),
        }
    }

    /// Keeps what the user chose, whole or not at all.
    ///
    /// # Errors
    ///
    /// [`PrivateError`].
    pub fn choose(
        &self,
        agent: &str,
        workspace: &str,
        name: &str,
        choice: &str,
    ) -> Result<(), PrivateError> {
        let folder = self.folder_of(agent, workspace, "choices")?;
        let path = folder.join(id(name)?);
        let fail = |source| io_error(&path, source);
        let mut file = tempfile::NamedTempFile::new_in(&folder).map_err(fail)?;
        writeln!(file, "{choice}").map_err(fail)?;
        file.persist(&path).map_err(|error| fail(error.error))?;
        Ok(())
    }

    /// A folder right below the base (`logs`, `crashes`), made when it is missing.
    ///
    /// # Errors
    ///
    /// [`PrivateError`].
    pub fn folder(&self, name: &str) -> Result<PathBuf, PrivateError> {
        let folder = self.base.join(id(name)?);
        self.make(&folder)?;
        Ok(folder)
    }

    /// The secret that seals this user's durable stores, made the first time.
    ///
    /// # Errors
    ///
    /// [`PrivateError`].
    pub fn seal_key(&self) -> Result<SealKey, PrivateError> {
        self.make(&self.base)?;
        let path = self.base.join("seal.key");
        if let Some(key) = read_key(&path)? {
            return Ok(key);
        }
        let mut bytes = [0u8; 32];
        let fail = |source| io_error(&path, source);
        fill_random(&mut bytes).map_err(fail)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.base).map_err(fail)?;
        file.write_all(&bytes)
            .and_then(|()| file.as_file().sync_all())
            .map_err(fail)?;
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(SealKey::new(bytes)),
            // Another process was first; its secret counts.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                read_key(&path)?.ok_or_else(|| fail(io::ErrorKind::NotFound.into()))
            }
            Err(error) => Err(fail(error.error)),
        }
    }

    fn make(&self, folder: &Path) -> Result<(), PrivateError> {
        let made = std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder);
        made.map_err(|source| io_error(folder, source))?;
        let metadata =
            std::fs::metadata(&self.base).map_err(|source| io_error(&self.base, source))?;
        if metadata.uid() != rustix::process::geteuid().as_raw()
            || metadata.permissions().mode() & 0o022 != 0
        {
            return Err(PrivateError::Exposed {
                path: self.base.display().to_string(),
            });
        }
        Ok(())
    }
}

impl WorkspaceRoot {
    /// Tells workspaces apart in the private store: `ws_` and a hash of the root's path.
    pub fn id(&self) -> String {
        let hash = blake3::hash(self.path().as_os_str().as_encoded_bytes());
        format!("ws_{}", &hash.to_hex()[..26])
    }
}

fn read_key(path: &Path) -> Result<Option<SealKey>, PrivateError> {
    let shown = || path.display().to_string();
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let mut file = match std::fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
    {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(io_error(path, source)),
    };
    let metadata = file.metadata().map_err(|source| io_error(path, source))?;
    if metadata.uid() != rustix::process::geteuid().as_raw()
        || metadata.permissions().mode() & 0o077 != 0
    {
        return Err(PrivateError::Exposed { path: shown() });
    }
    let mut bytes = [0u8; 32];
    if metadata.len() != 32 || file.read_exact(&mut bytes).is_err() {
        return Err(PrivateError::BadKey { path: shown() });
    }
    Ok(Some(SealKey::new(bytes)))
}

fn id(id: &str) -> Result<&str, PrivateError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    match !id.is_empty() && id.len() <= 100 && id.bytes().all(is_plain) {
        true => Ok(id),
        false => Err(PrivateError::BadId { id: id.to_owned() }),
    }
}

fn io_error(path: &Path, source: io::Error) -> PrivateError {
    PrivateError::Io {
        path: path.display().to_string(),
        source,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn the_secret_is_made_once_and_is_nobody_elses() {
        let temp = tempfile::tempdir().unwrap();
        let store = PrivateStore::new(temp.path().join("state/redline"));
        let key = format!("{:?}", store.seal_key().unwrap());
        assert_eq!(key, "SealKey(..)");
        let path = store.base().join("seal.key");
        let first = std::fs::read(&path).unwrap();
        store.seal_key().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), first);
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(
            std::fs::metadata(store.base()).unwrap().mode() & 0o777,
            0o700
        );

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(
            store.seal_key(),
            Err(PrivateError::Exposed { .. })
        ));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, "short").unwrap();
        assert!(matches!(store.seal_key(), Err(PrivateError::BadKey { .. })));
    }

    #[test]
    fn ids_cannot_climb() {
        let temp = tempfile::tempdir().unwrap();
        let store = PrivateStore::new(temp.path().join("redline"));
        assert!(
            store
                .workspace("agent_1", "ws_2")
                .unwrap()
                .ends_with("agents/agent_1/workspaces/ws_2")
        );
        for bad in ["", ".", "..", "a/b", "a\0", "ü"] {
            assert!(
                matches!(
                    store.workspace(bad, "ws_2"),
                    Err(PrivateError::BadId { .. })
                ),
                "{bad:?}"
            );
            assert!(
                matches!(store.folder(bad), Err(PrivateError::BadId { .. })),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_store_that_others_can_write_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().join("redline");
        std::fs::create_dir(&base).unwrap();
        std::fs::set_permissions(&base, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(
            PrivateStore::new(base).seal_key(),
            Err(PrivateError::Exposed { .. })
        ));
    }
}
