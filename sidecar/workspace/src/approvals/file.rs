//! The stored form of the approvals, what is kept of it in memory, and what is done with a damaged one.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::mark::Mark;
use super::{Approval, ApprovalError, ApprovalState};
use crate::handle::Stat;
use crate::sealed;
use crate::store::{Store, StoreError, StoreLock, StorePath};

const FILE: &str = "approvals/state.json";
const VERSION: u32 = 1;

/// What the seal's code is for.
const PURPOSE: &str = "approvals";

/// A file that did not hold what this user's sidecars wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalDamage {
    /// Where it was.
    pub path: String,
    /// Where it is now.
    pub aside: String,
    /// What is wrong with it.
    pub reason: String,
}

/// All approvals at one moment. Never changed; a change makes another one.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Counts the changes.
    revision: u64,
    approvals: Vec<Arc<Approval>>,
    by_id: HashMap<String, usize>,
    by_operation: HashMap<String, Vec<usize>>,
}

#[derive(Serialize, Deserialize)]
struct Stored<A> {
    version: u32,
    revision: u64,
    approvals: Vec<A>,
}

impl State {
    fn new(revision: u64, approvals: Vec<Arc<Approval>>) -> Self {
        let mut by_id = HashMap::with_capacity(approvals.len());
        let mut by_operation: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, approval) in approvals.iter().enumerate() {
            by_id.insert(approval.id.clone(), at);
            by_operation
                .entry(approval.operation.clone())
                .or_default()
                .push(at);
        }
        Self {
            revision,
            approvals,
            by_id,
            by_operation,
        }
    }

    pub(super) fn all(&self) -> &[Arc<Approval>] {
        &self.approvals
    }

    pub(super) fn get(&self, id: &str) -> Option<&Arc<Approval>> {
        self.by_id.get(id).map(|&at| &self.approvals[at])
    }

    pub(super) fn of_operation(&self, operation: &str) -> impl Iterator<Item = &Arc<Approval>> {
        let places = self
            .by_operation
            .get(operation)
            .map_or(&[][..], Vec::as_slice);
        places.iter().map(|&at| &self.approvals[at])
    }

    /// The state with each of `changed` in the place of the one of its id, or at the end; of more than `most` the oldest
    /// settled go.
    pub(super) fn with(&self, changed: Vec<Arc<Approval>>, most: usize) -> Self {
        let mut approvals = self.approvals.clone();
        for approval in changed {
            match self.by_id.get(&approval.id) {
                Some(&at) => approvals[at] = approval,
                None => approvals.push(approval),
            }
        }
        let mut surplus = approvals.len().saturating_sub(most);
        approvals.retain(|approval| {
            let goes = surplus > 0 && approval.state.is_settled();
            surplus -= usize::from(goes);
            !goes
        });
        Self::new(self.revision + 1, approvals)
    }

    fn to_bytes(&self, store: &Store) -> Result<Vec<u8>, serde_json::Error> {
        let stored = Stored {
            version: VERSION,
            revision: self.revision,
            approvals: self.approvals.iter().map(Arc::as_ref).collect(),
        };
        sealed::seal(store, PURPOSE, &stored)
    }

    /// Reads a stored state; what is wrong with it otherwise.
    fn from_bytes(bytes: &[u8], store: &Store) -> Result<Self, String> {
        let stored: Stored<Approval> = sealed::open(store, PURPOSE, bytes)?;
        if stored.version != VERSION {
            return Err(format!(
                "it is of version {}, which is not known here",
                stored.version
            ));
        }
        let mut approvals = stored.approvals;
        // What is only told is never stored.
        approvals.retain(|approval| approval.state != ApprovalState::Expired);
        Ok(Self::new(
            stored.revision,
            approvals.into_iter().map(Arc::new).collect(),
        ))
    }
}

/// What was read last, and of which file.
#[derive(Debug, Default)]
pub(super) struct Cache {
    known: Option<(Option<Stat>, Arc<State>)>,
    /// The highest revision that was seen: an older file put back is no state of ours.
    highest: u64,
    /// Where it outlives this process.
    mark: Option<Mark>,
    pub(super) damage: Vec<ApprovalDamage>,
}

/// What a look at the file gave.
pub(super) enum Read {
    State(Arc<State>),
    /// It has to be set aside, which needs the lock.
    Damaged,
}

impl Cache {
    pub(super) fn remember_in(&mut self, mark: Mark) {
        self.highest = self.highest.max(mark.read());
        // What was read before is looked at again.
        self.known = None;
        self.mark = Some(mark);
    }

    /// Reads what is there, without the lock: files are replaced whole.
    pub(super) fn read(&mut self, store: &Store) -> Result<Read, ApprovalError> {
        match self.load(store)? {
            Ok(state) => Ok(Read::State(state)),
            Err(_) => Ok(Read::Damaged),
        }
    }

    /// Reads what is there and sets it aside when it is damaged: nothing in it counts then.
    pub(super) fn read_locked(
        &mut self,
        store: &Store,
        _lock: &StoreLock,
    ) -> Result<Arc<State>, ApprovalError> {
        let reason = match self.load(store)? {
            Ok(state) => return Ok(state),
            Err(reason) => reason,
        };
        let path = path()?;
        let aside = store.set_corrupt_aside(&path)?;
        self.damage.push(ApprovalDamage {
            path: store.shown(path.as_str()),
            aside: store.shown(aside.as_str()),
            reason,
        });
        let empty = Arc::new(State::new(self.highest, Vec::new()));
        self.known = Some((None, empty.clone()));
        Ok(empty)
    }

    /// Writes a state in the place of the last.
    pub(super) fn replace(
        &mut self,
        store: &Store,
        _lock: &StoreLock,
        state: State,
    ) -> Result<(), ApprovalError> {
        let path = path()?;
        let bytes = state
            .to_bytes(store)
            .map_err(|error| store.io(FILE, "writing", error.into()))?;
        // Read again from the disk next time, whatever comes of the write.
        self.known = None;
        store.write(&path, &bytes)?;
        self.highest = self.highest.max(state.revision);
        if let Some(mark) = &self.mark {
            mark.write(self.highest);
        }
        self.known = Some((store.stat(&path)?, Arc::new(state)));
        Ok(())
    }

    fn load(&mut self, store: &Store) -> Result<Result<Arc<State>, String>, StoreError> {
        let path = path()?;
        let stat = store.stat(&path)?;
        if let Some((known, state)) = &self.known
            && *known == stat
        {
            return Ok(Ok(state.clone()));
        }
        let Some(bytes) = store.read(&path)? else {
            // Removed by the user: nothing is approved.
            let empty = Arc::new(State::new(self.highest, Vec::new()));
            self.known = Some((None, empty.clone()));
            return Ok(Ok(empty));
        };
        let state = match State::from_bytes(&bytes, store) {
            Ok(state) if state.revision < self.highest => {
                return Ok(Err(format!(
                    "it is an older state ({}) than the last one ({})",
                    state.revision, self.highest
                )));
            }
            Ok(state) => Arc::new(state),
            Err(reason) => return Ok(Err(reason)),
        };
        self.highest = state.revision;
        // What was read belongs to the file that was there before, or to a newer one; the next look tells.
        self.known = Some((stat, state.clone()));
        Ok(Ok(state))
    }
}

fn path() -> Result<StorePath, StoreError> {
    StorePath::new(FILE)
}
