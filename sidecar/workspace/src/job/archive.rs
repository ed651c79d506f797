//! The jobs in the store: reading and listing them, making room, and finding those that nobody watches.

use std::time::Duration;

use super::error::JobError;
use super::files;
use super::jobs::Jobs;
use super::record::{self, JobRecord, JobState};
use super::tree::Tree;
use super::watch::JobStream;
use crate::store::{StoreError, StorePath, StoreState};

/// How long KILL is given.
const END_PATIENCE: Duration = Duration::from_secs(4);

impl Jobs {
    /// The newest jobs, at most `most`, newest first; damaged records are set aside and named.
    ///
    /// # Errors
    ///
    /// The store's refusal.
    pub fn list(&self, most: usize) -> Result<(Vec<JobRecord>, Vec<String>), JobError> {
        let mut found = Vec::new();
        let mut damaged = Vec::new();
        for id in self.ids()?.into_iter().rev() {
            if found.len() >= most {
                break;
            }
            match self.status(&id) {
                Ok(record) => found.push(record),
                Err(JobError::Store(StoreError::Corrupt { path, reason })) => {
                    let aside = self.store().set_corrupt_aside(&record::folder(&id)?)?;
                    damaged.push(format!(
                        "{path} is damaged ({reason}); set aside as {}",
                        aside.as_str()
                    ));
                }
                Err(JobError::Unknown { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok((found, damaged))
    }

    pub(super) fn load(&self, id: &str) -> Result<JobRecord, JobError> {
        let store = self.store();
        let unknown = || JobError::Unknown {
            id: id.chars().take(80).collect(),
        };
        let mut record = JobRecord::load(store, id)?.ok_or_else(unknown)?;
        if record.process.is_none() {
            record.process = files::process(store, id);
        }
        Ok(record)
    }

    /// The ids in the store, oldest first.
    fn ids(&self) -> Result<Vec<String>, StoreError> {
        let store = self.store();
        if store.state()? != StoreState::Sealed {
            return Ok(Vec::new());
        }
        let names = store.list(&StorePath::new(record::JOBS)?)?;
        Ok(names
            .into_iter()
            .filter(|(name, is_folder)| *is_folder && !name.contains(".corrupt"))
            .map(|(name, _)| name)
            .collect())
    }

    /// Removes the oldest finished jobs beyond the bound, to make room for one more.
    pub(super) fn prune(&self) -> Result<(), StoreError> {
        let ids = self.ids()?;
        let store = self.store();
        let excess = (ids.len() + 1).saturating_sub(self.limits().finished);
        for id in ids.iter().take(excess) {
            if self.running(id).is_none() && !files::is_watched(store, id) {
                store.remove(&record::folder(id)?)?;
            }
        }
        Ok(())
    }

    /// Ends what processes that are gone left running, and says so in the records.
    pub(super) fn orphans(&self) -> Vec<JobRecord> {
        let store = self.store();
        let mut orphans = Vec::new();
        for id in self.ids().unwrap_or_default() {
            // A record that cannot be read is named when jobs are listed.
            let Ok(mut record) = self.load(&id) else {
                continue;
            };
            if record.state != JobState::Running || files::is_watched(store, &id) {
                continue;
            }
            let mut tree = tree_of(&record);
            let left = tree.members().len();
            if left > 0 {
                tree.signal(rustix::process::Signal::TERM);
                tree.kill(END_PATIENCE);
                record.ended_processes = left;
            }
            record.state = JobState::Orphaned;
            record.ended_at_ms = Some(self.now_ms());
            for (stream, totals) in [
                (JobStream::Stdout, &mut record.stdout),
                (JobStream::Stderr, &mut record.stderr),
            ] {
                totals.bytes = files::len(store, &id, stream);
                totals.bytes_on_disk = totals.bytes;
            }
            record.notes.push(
                "the sidecar that watched it ended before it; how it ended is not known".to_owned(),
            );
            record
                .notes
                .push("undo does not cover what it changed".to_owned());
            if let Err(error) = record.save(store) {
                record
                    .notes
                    .push(format!("this could not be recorded: {error}"));
            }
            orphans.push(record);
        }
        orphans
    }
}

/// What there is of a job that this process does not watch.
pub(super) fn tree_of(record: &JobRecord) -> Tree {
    let leader = record.process.map(|process| (process.pid, process.started));
    Tree::left_behind(&record.id, leader)
}
