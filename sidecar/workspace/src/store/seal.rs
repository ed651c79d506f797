//! The seal: proof that this user made a store, or trusted it.
//!
//! `seal.json` holds a random id and, for each user, two message authentication codes made with a secret
//! of that user's private store: one binds the id to the folder's inode (so a project may be moved), one to
//! the project's path (for file systems whose inodes change). A clone has neither, and nobody without the
//! secret can make one.

use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::handle::Folder;

/// The seal's file.
pub(super) const FILE: &str = "seal.json";

/// Longest seal that is read: some hundred users.
const LONGEST: u64 = 64 << 10;

/// The secret of one user that seals stores.
#[derive(Clone)]
pub struct SealKey([u8; 32]);

impl SealKey {
    /// The key of these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Tells keys apart without giving them away.
    fn id(&self) -> String {
        blake3::keyed_hash(&self.0, b"redline seal key id").to_hex()[..16].to_owned()
    }

    /// A key of its own for another purpose, which tells nothing of this one.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        *blake3::keyed_hash(&self.0, purpose.as_bytes()).as_bytes()
    }

    /// A code that nobody without the secret can make, over all three.
    pub(super) fn code(&self, purpose: &str, store: &str, bound_to: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in [
            b"redline seal v1".as_slice(),
            purpose.as_bytes(),
            store.as_bytes(),
            bound_to,
        ] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize()
    }
}

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey(..)")
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Seal {
    version: u32,
    store: String,
    seals: Vec<UserSeal>,
}

#[derive(Debug, Serialize, Deserialize)]
struct UserSeal {
    key: String,
    inode: String,
    path: String,
}

/// Whether `folder` carries a seal by `key`.
pub(super) fn holds(folder: &Folder, root: &Path, key: &SealKey) -> io::Result<bool> {
    let Some(seal) = read(folder)? else {
        return Ok(false);
    };
    let id = key.id();
    let (inode, path) = bindings(folder, root)?;
    Ok(seal.seals.iter().filter(|user| user.key == id).any(|user| {
        let is = |code: &str, purpose: &str, bound: &[u8]| {
            // Comparing hashes, not text, takes the same time wherever they differ.
            blake3::Hash::from_hex(code)
                .is_ok_and(|code| code == key.code(purpose, &seal.store, bound))
        };
        is(&user.inode, "inode", &inode) || is(&user.path, "path", &path)
    }))
}

/// The bytes of `folder`'s seal with one by `key` in it.
pub(super) fn add(folder: &Folder, root: &Path, key: &SealKey) -> io::Result<Vec<u8>> {
    let mut seal = match read(folder)? {
        Some(seal) => seal,
        None => Seal {
            version: 1,
            store: format!("st_{}", random_hex()?),
            seals: Vec::new(),
        },
    };
    let id = key.id();
    let (inode, path) = bindings(folder, root)?;
    seal.seals.retain(|user| user.key != id);
    seal.seals.push(UserSeal {
        inode: key.code("inode", &seal.store, &inode).to_hex().to_string(),
        path: key.code("path", &seal.store, &path).to_hex().to_string(),
        key: id,
    });
    let mut bytes = serde_json::to_vec_pretty(&seal)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Whether `folder` is a store whose maker did not get to sealing it: it holds nothing that could mislead.
pub(super) fn is_unfinished(folder: &Folder) -> bool {
    let harmless = |name: &String| {
        name == "lock"
            || name.starts_with(super::temporary::PREFIX)
            || (name == ".gitignore"
                && read_small(folder, name)
                    .ok()
                    .flatten()
                    .is_some_and(|text| text == b"*\n"))
    };
    folder.names().is_ok_and(|names| names.iter().all(harmless))
}

/// 16 random bytes in hex.
pub(crate) fn random_hex() -> io::Result<String> {
    let mut bytes = [0u8; 16];
    fill_random(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Fills `bytes` from the system's source of randomness.
pub(crate) fn fill_random(bytes: &mut [u8]) -> io::Result<()> {
    std::fs::File::open("/dev/urandom")?.read_exact(bytes)
}

fn bindings(folder: &Folder, root: &Path) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let inode = folder.own_stat()?.ino.to_le_bytes().to_vec();
    Ok((inode, root.as_os_str().as_encoded_bytes().to_vec()))
}

/// The seal; one that does not parse counts as none.
fn read(folder: &Folder) -> io::Result<Option<Seal>> {
    Ok(read_small(folder, FILE)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

fn read_small(folder: &Folder, name: &str) -> io::Result<Option<Vec<u8>>> {
    let (file, stat) = match folder.open_file(name) {
        Ok(open) => open,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if stat.len > LONGEST {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}
