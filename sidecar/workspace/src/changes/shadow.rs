//! Copies of files that nothing else could bring back, kept for as long as the sidecar runs.
//!
//! All copies of a workspace are in one file that has no name: it needs no cleaning up, whatever happens. A copy
//! is made once, and is good for every later command for as long as its file stays the same.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError};

use super::scan::Scan;
use super::{ChangeLimits, Gap};
use crate::boundary::{Batch, WorkspacePath, WorkspaceRoot};
use crate::handle::{Kind, Stat};
use crate::read::Entry;
use crate::store::{Store, StoreError};

/// The copies of one workspace. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Shadow {
    store: Store,
    pack: Arc<Mutex<Option<Pack>>>,
}

/// The file that copies are in, and where each is.
#[derive(Debug)]
struct Pack {
    file: Arc<File>,
    len: u64,
    known: HashMap<WorkspacePath, Known>,
}

#[derive(Debug, Clone)]
struct Known {
    stat: Stat,
    at: u64,
    len: u64,
}

/// The copies that one command relies on.
#[derive(Debug)]
pub(super) struct Copies {
    file: Option<Arc<File>>,
    places: HashMap<WorkspacePath, (u64, u64)>,
    gaps: HashMap<WorkspacePath, String>,
}

impl Copies {
    /// The content of a copied file.
    pub(super) fn content(&self, path: &WorkspacePath) -> Option<io::Result<Vec<u8>>> {
        let (at, len) = *self.places.get(path)?;
        let file = self.file.as_ref()?;
        let mut bytes = vec![0; usize::try_from(len).ok()?];
        Some(file.read_exact_at(&mut bytes, at).map(|()| bytes))
    }

    /// Why a file was not copied.
    pub(super) fn gap(&self, path: &WorkspacePath) -> Option<Gap> {
        self.gaps.get(path).map(|reason| Gap {
            path: path.to_string(),
            reason: reason.clone(),
        })
    }
}

impl Shadow {
    /// No copies yet; they will be on the disk of `store`.
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            pack: Arc::default(),
        }
    }

    /// Copies the files of `scan` that are not clean, as far as they were not copied before.
    ///
    /// # Errors
    ///
    /// The store's refusal to make the file that holds them. A file that cannot be copied is a gap.
    pub(super) fn copy(
        &self,
        root: &WorkspaceRoot,
        scan: &Scan,
        limits: &ChangeLimits,
        is_clean: impl Fn(&str, &Stat) -> bool,
    ) -> Result<Copies, StoreError> {
        let mut held = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        // What was copied and is no longer of use stays in the file; from time to time it is begun anew.
        if held
            .as_ref()
            .is_some_and(|pack| pack.len > 2 * limits.total_bytes)
        {
            *held = None;
        }
        let batch = root.batch();
        let mut copies = Copies {
            file: None,
            places: HashMap::new(),
            gaps: HashMap::new(),
        };
        let mut total = 0;
        for (path, stat) in scan.files() {
            if is_clean(path.as_str(), stat) {
                continue;
            }
            let size = stat.len;
            if size > limits.file_bytes || total + size > limits.total_bytes {
                let reason = if size > limits.file_bytes {
                    format!(
                        "had {size} bytes before, more than the {} that are copied",
                        limits.file_bytes
                    )
                } else {
                    format!(
                        "was beyond the {} bytes that are copied before a command",
                        limits.total_bytes
                    )
                };
                copies.gaps.insert(path.clone(), reason);
                continue;
            }
            total += size;
            let pack = match held.as_mut() {
                Some(pack) => pack,
                None => held.insert(self.begin()?),
            };
            let known = pack.known.get(path).filter(|known| known.stat == *stat);
            let place = match known {
                Some(known) => Ok((known.at, known.len)),
                None => pack.add(&batch, path, stat, !scan.is_racy(stat)),
            };
            match place {
                Ok(place) => drop(copies.places.insert(path.clone(), place)),
                Err(reason) => drop(copies.gaps.insert(path.clone(), reason)),
            }
            copies.file = Some(pack.file.clone());
        }
        Ok(copies)
    }

    fn begin(&self) -> Result<Pack, StoreError> {
        self.store.ensure()?;
        let folder = self.store.root().path().join(crate::boundary::STORE);
        let file = tempfile::tempfile_in(folder)
            .map_err(|error| self.store.io("", "making room for copies", error))?;
        Ok(Pack {
            file: Arc::new(file),
            len: 0,
            known: HashMap::new(),
        })
    }
}

impl Pack {
    /// Copies one file; says why when it cannot.
    fn add(
        &mut self,
        batch: &Batch,
        path: &WorkspacePath,
        stat: &Stat,
        settled: bool,
    ) -> Result<(u64, u64), String> {
        let bytes = match (stat.kind, batch.read(path)) {
            (Kind::Symlink, Ok(Entry::Symlink { target })) => target.into_bytes(),
            (Kind::File, Ok(Entry::File(file))) => file.bytes,
            (_, Ok(_)) => return Err("changed while it was copied".to_owned()),
            (_, Err(error)) => return Err(format!("could not be copied before: {error}")),
        };
        let (at, len) = (self.len, bytes.len() as u64);
        self.file
            .write_all_at(&bytes, at)
            .map_err(|error| format!("could not be copied before: {error}"))?;
        self.len += len;
        if settled {
            let known = Known {
                stat: *stat,
                at,
                len,
            };
            self.known.insert(path.clone(), known);
        }
        Ok((at, len))
    }
}
