//! What editors saved, so that a file which changed while a command ran is not taken for the command's work.
//!
//! Owns: the latest saves, for worker threads to look up. Must not know: what is done with the answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use redline_workspace::EditorSaves;

/// Most paths that are remembered; the oldest saves go first.
const MOST: usize = 1024;

/// The latest save of each path.
#[derive(Debug, Default)]
pub(crate) struct Saves(Mutex<BTreeMap<String, Save>>);

#[derive(Debug)]
struct Save {
    text_revision: String,
    at_ms: u64,
}

impl Saves {
    pub(crate) fn shared() -> Arc<Self> {
        Arc::default()
    }

    /// An editor has saved the document at `path` with this text.
    pub(crate) fn note(&self, path: &str, text: &str, at_ms: u64) {
        let text_revision = redline_edits::text_revision(text).to_string();
        let save = Save {
            text_revision,
            at_ms,
        };
        let mut saves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        saves.insert(path.to_owned(), save);
        if saves.len() > MOST
            && let Some(oldest) = saves
                .iter()
                .min_by_key(|(_, save)| save.at_ms)
                .map(|(path, _)| path.clone())
        {
            saves.remove(&oldest);
        }
    }
}

impl EditorSaves for Saves {
    fn saved(&self, path: &str, text_revision: &str, since_ms: u64) -> bool {
        let saves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        saves
            .get(path)
            .is_some_and(|save| save.at_ms >= since_ms && save.text_revision == text_revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_save_counts_with_its_text_and_from_its_time_on() {
        let saves = Saves::default();
        saves.note("a.txt", "one\r\n", 100);
        let revision = redline_edits::text_revision("one\n").to_string();
        assert!(saves.saved("a.txt", &revision, 100));
        assert!(!saves.saved("a.txt", &revision, 101));
        assert!(!saves.saved("b.txt", &revision, 0));
        let other = redline_edits::text_revision("two\n").to_string();
        assert!(!saves.saved("a.txt", &other, 0));
    }
}
