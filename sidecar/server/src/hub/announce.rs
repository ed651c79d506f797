//! Telling hubs in other processes which documents are unsaved here.
//!
//! Owns: when the announcement is renewed: at most once a look at the disk, and only when a version or
//! the set of unsaved documents has changed.
//! Must not know: how it is published.

use std::sync::{Arc, Mutex, PoisonError};

use redline_workspace::{Announcement, UnsavedDocument};
use ropey::Rope;

use super::Hub;

/// What was announced last.
pub(crate) struct Announced {
    announcement: Arc<Mutex<Announcement>>,
    last: Vec<(String, i32)>,
    /// There was no store to announce in; it is tried again.
    missed: Arc<Mutex<bool>>,
}

impl Announced {
    pub(crate) fn new(announcement: Announcement) -> Self {
        Self {
            announcement: Arc::new(Mutex::new(announcement)),
            last: Vec::new(),
            missed: Arc::default(),
        }
    }
}

impl Hub {
    /// Announces the unsaved documents as they are now, if that is news.
    pub(super) fn announce(&mut self) {
        let dirty: Vec<(String, i32, Rope)> = self
            .documents
            .all()
            .filter(|(_, copy)| copy.dirty)
            .map(|(path, copy)| (path.to_owned(), copy.version, copy.rope.clone()))
            .collect();
        let state: Vec<(String, i32)> = dirty
            .iter()
            .map(|(path, version, _)| (path.clone(), *version))
            .collect();
        let missed = std::mem::take(
            &mut *self
                .announced
                .missed
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        if state == self.announced.last && !missed {
            return;
        }
        self.announced.last = state;
        let announcement = Arc::clone(&self.announced.announcement);
        let missed = Arc::clone(&self.announced.missed);
        self.worker.run("announce", move || {
            let documents: Vec<UnsavedDocument> = dirty
                .into_iter()
                .map(|(path, _, rope)| UnsavedDocument {
                    path,
                    text_revision: redline_edits::text_revision(&rope.to_string()).to_string(),
                })
                .collect();
            let published = announcement
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .publish(&documents);
            match published {
                Ok(true) => {}
                Ok(false) => {
                    *missed.lock().unwrap_or_else(PoisonError::into_inner) = !documents.is_empty();
                }
                Err(error) => tracing::warn!(%error, "unsaved documents could not be announced"),
            }
            None
        });
    }
}
