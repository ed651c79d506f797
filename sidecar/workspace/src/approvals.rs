//! Approvals: durable, single-use permissions, each for one operation and no other.
//!
//! ```text
//! approvals/state.json   {"seal": "…", "record": {"version", "revision", "approvals": [ … ]}}
//! ```
//!
//! Owns the record (what was shown, who decided, what became of it) and every change of it, made under the store's
//! lock and replaced whole. The seal is a code over the state made with the user's secret: what somebody without it wrote
//! is set aside as `*.corrupt`, and nothing in it counts. Knows nothing of modes, rules and plans; an operation is a hash here.
//!
//! ```text
//! waiting ─ decide ─▶ approved ─ claim ─▶ claimed ─ settle ─▶ spent
//!    │                   │  ▲                └── nothing began ─┘ (back to approved)
//!    ├─ decide ─▶ denied └──┼─▶ void: a file that it was about has changed
//!    └─ withdraw ─▶ withdrawn
//! ```
//!
//! **Invariant:** of all who decide, one wins; of all who claim, one runs.
//! **Invariant:** a claim is on the disk before anything of its operation begins; after a crash it stays claimed, and is not used again.

mod error;
mod file;
mod mark;
mod record;

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use error::ApprovalError;
pub use file::ApprovalDamage;
pub use record::{Approval, ApprovalState, Decided, NewApproval, Shown, Voice};

use crate::journal::Journal;
use crate::named_files;
use crate::private::PrivateStore;
use crate::sources::Clock;
use crate::store::{Store, StoreError, StoreState};
use file::{Cache, State};
use mark::Mark;

/// How long a decision waits for another process that holds the store's lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// Settled approvals are forgotten, the oldest first, when there are more than so many records. The journal keeps them.
const MOST: usize = 20_000;

/// The approvals of one workspace. Cheap to clone; clones share what was read.
#[derive(Clone)]
pub struct Approvals {
    store: Store,
    journal: Journal,
    clock: Arc<dyn Clock>,
    cache: Arc<Mutex<Cache>>,
}

/// What the user has said of an operation, for one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationStanding {
    /// Nothing that holds now.
    Unasked,
    /// They were asked and have not answered: the approval's id.
    Waiting(String),
    /// Yes, and it is neither spent nor expired.
    Approved(String),
    /// No, in this turn.
    Denied(String),
}

impl Approvals {
    pub(crate) fn new(store: Store, journal: Journal, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            journal,
            clock,
            cache: Arc::default(),
        }
    }

    /// Keeps the highest revision in the user's private store, as what `agent` knows of `workspace`: so an older state
    /// that was put back is noticed by the next process too.
    pub fn remember_in(&self, private: PrivateStore, agent: &str, workspace: &str) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.remember_in(Mark::new(private, agent, workspace));
    }

    /// Asks for an approval. One that waits already for the same operation in the same turn is returned in its place.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Store`].
    pub fn ask(&self, new: NewApproval) -> Result<Arc<Approval>, ApprovalError> {
        let id = new.id.clone();
        self.ask_all(vec![new])?.pop().ok_or_else(|| unknown(&id))
    }

    /// Asks for several, as [`Approvals::ask`] for each, with one write for all.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Store`]; none is asked for then.
    pub fn ask_all(&self, new: Vec<NewApproval>) -> Result<Vec<Arc<Approval>>, ApprovalError> {
        let now = self.clock.now_ms();
        let lock = self.store.lock(PATIENCE, "ask for an approval")?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let state = cache.read_locked(&self.store, &lock)?;
        let mut asked: Vec<Arc<Approval>> = Vec::with_capacity(new.len());
        let mut added = Vec::new();
        for new in new {
            let is_same = |approval: &&Arc<Approval>| {
                approval.operation == new.operation
                    && approval.turn == new.turn
                    && approval.state_at(now) == ApprovalState::Waiting
            };
            let same = state.of_operation(&new.operation).find(is_same).cloned();
            asked.push(same.unwrap_or_else(|| {
                let approval = Arc::new(new.at(now));
                added.push(approval.clone());
                approval
            }));
        }
        if !added.is_empty() {
            let journaled: Vec<_> = added.iter().map(|approval| approval.journaled()).collect();
            cache.replace(&self.store, &lock, state.with(added, MOST))?;
            let records: Vec<_> = journaled.iter().map(|data| ("approval", data)).collect();
            self.journal.append_all(&lock, &records)?;
        }
        Ok(asked)
    }

    /// The approval of that id.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Unknown`], [`ApprovalError::Store`].
    pub fn get(&self, id: &str) -> Result<Arc<Approval>, ApprovalError> {
        let state = self.read()?;
        state.get(id).cloned().ok_or_else(|| unknown(id))
    }

    /// All approvals that are kept, in the order in which they were asked for.
    ///
    /// Cost: one look at the file when nobody changed it, else linear in its size.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Store`]; an unsealed store has no approvals to tell of.
    pub fn list(&self) -> Result<Vec<Arc<Approval>>, ApprovalError> {
        Ok(self.read()?.all().to_vec())
    }

    /// Those that wait for the user now.
    ///
    /// # Errors
    ///
    /// As [`Approvals::list`].
    pub fn waiting(&self) -> Result<Vec<Arc<Approval>>, ApprovalError> {
        let now = self.clock.now_ms();
        let state = self.read()?;
        let waits = |approval: &&Arc<Approval>| approval.state_at(now) == ApprovalState::Waiting;
        Ok(state.all().iter().filter(waits).cloned().collect())
    }

    /// Those that are not over: they wait for the user, or were approved and not used.
    ///
    /// # Errors
    ///
    /// As [`Approvals::list`].
    pub fn open(&self) -> Result<Vec<Arc<Approval>>, ApprovalError> {
        let now = self.clock.now_ms();
        let state = self.read()?;
        let open = |approval: &&Arc<Approval>| {
            matches!(
                approval.state_at(now),
                ApprovalState::Waiting | ApprovalState::Approved
            )
        };
        Ok(state.all().iter().filter(open).cloned().collect())
    }

    /// What the user has said of the operation with this hash, for a call of this turn.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Store`].
    pub fn standing(
        &self,
        operation: &str,
        turn: &str,
    ) -> Result<OperationStanding, ApprovalError> {
        let now = self.clock.now_ms();
        let state = self.read()?;
        let mut waiting = OperationStanding::Unasked;
        let mut approved = None;
        for approval in state.of_operation(operation) {
            match approval.state_at(now) {
                // A denial of this turn outweighs whatever else there is.
                ApprovalState::Denied if approval.turn == turn => {
                    return Ok(OperationStanding::Denied(approval.id.clone()));
                }
                ApprovalState::Approved => approved = Some(approval.id.clone()),
                ApprovalState::Waiting if approval.turn == turn => {
                    waiting = OperationStanding::Waiting(approval.id.clone());
                }
                _ => {}
            }
        }
        Ok(approved.map_or(waiting, OperationStanding::Approved))
    }

    /// Decides one. Whoever comes first wins, in whatever process; the others are told who and when.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Decided`], [`ApprovalError::Expired`], and [`ApprovalError::Stale`] for a yes when a file that the
    /// user was shown has changed since: it is void then.
    pub fn decide(
        &self,
        id: &str,
        voice: Voice,
        by: &str,
        reason: Option<&str>,
    ) -> Result<Arc<Approval>, ApprovalError> {
        let now = self.clock.now_ms();
        self.change("decide an approval", |state| {
            let approval = state.get(id).ok_or_else(|| unknown(id))?;
            approval.must_wait(now)?;
            let mut decided = Approval::clone(approval);
            decided.decided = Some(Decided {
                voice,
                by: by.to_owned(),
                at_ms: now,
                reason: reason.map(str::to_owned),
            });
            let changed = match voice {
                Voice::Yes => self.changed_files(approval),
                Voice::No => Vec::new(),
            };
            if !changed.is_empty() {
                decided.make_void(now, &changed);
                let id = id.to_owned();
                return Ok(Changed::PutAndFail(
                    decided,
                    ApprovalError::Stale { id, changed },
                ));
            }
            decided.settle(
                match voice {
                    Voice::Yes => ApprovalState::Approved,
                    Voice::No => ApprovalState::Denied,
                },
                now,
            );
            Ok(Changed::Put(decided))
        })
    }

    /// Claims the approval `id` for one run of `operation`, durably; call it right before the start.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Stale`] when the operation or a file that was shown is another one now (it is void then), and
    /// [`ApprovalError::NotUsable`] when it was not approved, or is claimed, spent or expired.
    pub fn claim(&self, id: &str, operation: &str) -> Result<Arc<Approval>, ApprovalError> {
        let now = self.clock.now_ms();
        self.change("claim an approval", |state| {
            let approval = state.get(id).ok_or_else(|| unknown(id))?;
            let standing = approval.state_at(now);
            if standing != ApprovalState::Approved {
                return Err(ApprovalError::NotUsable {
                    id: id.to_owned(),
                    state: standing,
                });
            }
            let changed = self.changed_files(approval);
            let mut claimed = Approval::clone(approval);
            if approval.operation != operation || !changed.is_empty() {
                claimed.make_void(now, &changed);
                let id = id.to_owned();
                return Ok(Changed::PutAndFail(
                    claimed,
                    ApprovalError::Stale { id, changed },
                ));
            }
            claimed.settle(ApprovalState::Claimed, now);
            Ok(Changed::Put(claimed))
        })
    }

    /// Ends a claim: spent when anything began, usable again when nothing did.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::NotUsable`] when it is not claimed.
    pub fn settle(&self, id: &str, began: bool) -> Result<Arc<Approval>, ApprovalError> {
        let now = self.clock.now_ms();
        self.change("settle an approval", |state| {
            let approval = state.get(id).ok_or_else(|| unknown(id))?;
            if approval.state != ApprovalState::Claimed {
                return Err(ApprovalError::NotUsable {
                    id: id.to_owned(),
                    state: approval.state_at(now),
                });
            }
            let mut settled = Approval::clone(approval);
            settled.settle(
                if began {
                    ApprovalState::Spent
                } else {
                    ApprovalState::Approved
                },
                now,
            );
            Ok(Changed::Put(settled))
        })
    }

    /// Makes one void, because what it was for is no longer so. Nothing happens to one that is settled.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Unknown`], [`ApprovalError::Store`].
    pub fn void(&self, id: &str, changed: &[String]) -> Result<Arc<Approval>, ApprovalError> {
        let now = self.clock.now_ms();
        self.change("void an approval", |state| {
            let approval = state.get(id).ok_or_else(|| unknown(id))?;
            if approval.state_at(now).is_settled() {
                return Ok(Changed::Nothing(approval.clone()));
            }
            let mut void = Approval::clone(approval);
            void.make_void(now, changed);
            Ok(Changed::Put(void))
        })
    }

    /// Withdraws what a turn still waits for: it has ended, and nobody would run it. Returns the ids.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Store`].
    pub fn withdraw(&self, turn: &str) -> Result<Vec<String>, ApprovalError> {
        let now = self.clock.now_ms();
        let is_of_turn = |approval: &&Arc<Approval>| {
            approval.turn == turn && approval.state_at(now) == ApprovalState::Waiting
        };
        let waiting: Vec<String> = match self.store.state()? {
            StoreState::Absent => Vec::new(),
            _ => {
                let state = self.read()?;
                state
                    .all()
                    .iter()
                    .filter(is_of_turn)
                    .map(|one| one.id.clone())
                    .collect()
            }
        };
        let mut withdrawn = Vec::new();
        for id in waiting {
            let result = self.change("withdraw an approval", |state| {
                let approval = state.get(&id).ok_or_else(|| unknown(&id))?;
                approval.must_wait(now)?;
                let mut withdrawn = Approval::clone(approval);
                withdrawn.settle(ApprovalState::Withdrawn, now);
                Ok(Changed::Put(withdrawn))
            });
            match result {
                Ok(_) => withdrawn.push(id),
                // The user decided just now.
                Err(ApprovalError::Decided { .. } | ApprovalError::Expired { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(withdrawn)
    }

    /// What was found damaged or forged and set aside since the last time that this was asked.
    pub fn take_damage(&self) -> Vec<ApprovalDamage> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut cache.damage)
    }

    /// The files that were shown with an approval and are different now.
    fn changed_files(&self, approval: &Approval) -> Vec<String> {
        named_files::changed(self.store.root(), &approval.shown.files)
    }

    fn read(&self) -> Result<Arc<State>, ApprovalError> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        match cache.read(&self.store)? {
            file::Read::State(state) => Ok(state),
            file::Read::Damaged => {
                // Nobody may be writing while it is set aside.
                let lock = self.store.lock(PATIENCE, "set approvals aside")?;
                let state = cache.read_locked(&self.store, &lock)?;
                Ok(state)
            }
        }
    }

    /// Reads, changes and replaces the state under the store's lock, and journals what changed.
    fn change(
        &self,
        who: &str,
        decide: impl FnOnce(&State) -> Result<Changed, ApprovalError>,
    ) -> Result<Arc<Approval>, ApprovalError> {
        // Making a store is for those who have something to keep: an unknown id makes none.
        let lock = self.store.lock(PATIENCE, who)?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let state = cache.read_locked(&self.store, &lock)?;
        let (approval, failure) = match decide(&state)? {
            Changed::Nothing(approval) => return Ok(approval),
            Changed::Put(approval) => (Arc::new(approval), None),
            Changed::PutAndFail(approval, failure) => (Arc::new(approval), Some(failure)),
        };
        cache.replace(&self.store, &lock, state.with(vec![approval.clone()], MOST))?;
        self.journal
            .append(&lock, "approval", &approval.journaled())?;
        match failure {
            Some(failure) => Err(failure),
            None => Ok(approval),
        }
    }
}

/// What a change comes to.
enum Changed {
    /// Nothing: it is so already.
    Nothing(Arc<Approval>),
    Put(Approval),
    /// Kept, and an error for who asked.
    PutAndFail(Approval, ApprovalError),
}

fn unknown(id: &str) -> ApprovalError {
    ApprovalError::Unknown {
        id: id.chars().take(64).collect(),
    }
}

impl std::fmt::Debug for Approvals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Approvals").finish_non_exhaustive()
    }
}

impl From<StoreError> for ApprovalError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
