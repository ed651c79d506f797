//! Unsaved documents, published between the hubs of one workspace in different processes.
//!
//! ```text
//! hubs/<hub-id>.lock   locked by the system as long as the hub's process lives
//! hubs/<hub-id>.json   its unsaved documents: path and text revision
//! ```
//!
//! A commit never writes a file that is open with unsaved changes in another process. What a dead
//! process left is removed by whoever meets it.

use std::fs::{File, TryLockError};

use serde::{Deserialize, Serialize};

use crate::store::{Store, StoreError, StorePath, StoreState};

const HUBS: &str = "hubs";

/// An open document with changes that are not saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsavedDocument {
    /// Path from the workspace root.
    pub path: String,
    /// Revision of its text.
    pub text_revision: String,
}

/// A hub's announcement, withdrawn when this is dropped.
#[derive(Debug)]
pub struct Announcement {
    store: Store,
    hub_id: String,
    last: Vec<UnsavedDocument>,
    lock: Option<File>,
}

impl Announcement {
    /// Nothing announced yet; `hub_id` is unique among all processes.
    pub fn new(store: Store, hub_id: String) -> Self {
        Self {
            store,
            hub_id,
            last: Vec::new(),
            lock: None,
        }
    }

    /// The id to commit under.
    pub fn hub_id(&self) -> &str {
        &self.hub_id
    }

    /// Announces the hub's unsaved documents in place of those before. Blocks.
    ///
    /// Without a store there is nobody to tell, and none is made: false. Call again when one appears.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn publish(&mut self, documents: &[UnsavedDocument]) -> Result<bool, StoreError> {
        if self.lock.is_some() && self.last == documents {
            return Ok(true);
        }
        if self.store.state()? != StoreState::Sealed {
            return Ok(false);
        }
        if self.lock.is_none() && documents.is_empty() {
            return Ok(true);
        }
        let lock_path = StorePath::new(format!("{HUBS}/{}.lock", self.hub_id))?;
        let folder = self.store.make_folder_above(&lock_path)?;
        if self.lock.is_none() {
            let fail = |error| self.store.io(lock_path.as_str(), "announcing", error);
            let file = folder.open_lock(lock_path.name(), 0o600).map_err(fail)?;
            file.try_lock().map_err(|error| fail(error.into()))?;
            self.lock = Some(file);
        }
        let bytes = serde_json::to_vec(documents)
            .map_err(|error| self.store.io(HUBS, "announcing", error.into()))?;
        self.store.write(
            &StorePath::new(format!("{HUBS}/{}.json", self.hub_id))?,
            &bytes,
        )?;
        self.last = documents.to_vec();
        Ok(true)
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        if self.lock.is_some() {
            remove(&self.store, &self.hub_id);
        }
    }
}

/// Documents that other living hubs hold unsaved.
pub(crate) fn others(store: &Store, own: &str) -> Result<Vec<UnsavedDocument>, StoreError> {
    let mut found = Vec::new();
    for (name, _) in store.list(&StorePath::new(HUBS)?)? {
        let Some(hub) = name.strip_suffix(".json").filter(|hub| *hub != own) else {
            continue;
        };
        if !is_alive(store, hub) {
            remove(store, hub);
            continue;
        }
        let path = StorePath::new(format!("{HUBS}/{name}"))?;
        // It may be withdrawn just now, or be of a later version: neither speaks of a document.
        let documents = store
            .read(&path)?
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        found.extend(documents.unwrap_or_else(Vec::<UnsavedDocument>::new));
    }
    Ok(found)
}

fn is_alive(store: &Store, hub: &str) -> bool {
    let Ok(path) = StorePath::new(format!("{HUBS}/{hub}.lock")) else {
        return false;
    };
    let Ok(Some(folder)) = store.folder_above(&path) else {
        return false;
    };
    match folder.stat(path.name()) {
        Ok(Some(_)) => {}
        _ => return false,
    }
    let Ok(file) = folder.open_lock(path.name(), 0o600) else {
        return true;
    };
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => true,
        Ok(()) => false,
        // When in doubt, its documents count.
        Err(TryLockError::Error(_)) => true,
    }
}

fn remove(store: &Store, hub: &str) {
    for ending in ["json", "lock"] {
        if let Ok(path) = StorePath::new(format!("{HUBS}/{hub}.{ending}"))
            && let Ok(Some(folder)) = store.folder_above(&path)
        {
            let _ = folder.remove_file(path.name());
        }
    }
}
