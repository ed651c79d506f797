//! Which jobs were there at the same time: what changed then may be any of theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// The jobs whose changes are being followed, from their first look at the tree to the last. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Overlaps(Arc<Mutex<BTreeMap<String, BTreeSet<String>>>>);

/// One job among them, until this is dropped.
#[derive(Debug)]
pub(super) struct Presence {
    all: Overlaps,
    id: String,
}

impl Overlaps {
    /// A job begins to be followed.
    pub(super) fn enter(&self, id: &str) -> Presence {
        self.with(|all| {
            let mut others = BTreeSet::new();
            for (other, met) in all.iter_mut() {
                met.insert(id.to_owned());
                others.insert(other.clone());
            }
            all.insert(id.to_owned(), others);
        });
        Presence {
            all: self.clone(),
            id: id.to_owned(),
        }
    }

    fn with<T>(&self, look: impl FnOnce(&mut BTreeMap<String, BTreeSet<String>>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Presence {
    /// The jobs that it has met so far, in order of their ids.
    pub(super) fn met(&self) -> Vec<String> {
        self.all
            .with(|all| all.get(&self.id).cloned().unwrap_or_default())
            .into_iter()
            .collect()
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.all.with(|all| drop(all.remove(&self.id)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_were_there_together_have_met_even_when_one_is_gone() {
        let all = Overlaps::default();
        let first = all.enter("job_1");
        let second = all.enter("job_2");
        drop(first);
        let third = all.enter("job_3");
        assert_eq!(second.met(), ["job_1", "job_3"]);
        assert_eq!(third.met(), ["job_2"]);
    }
}
