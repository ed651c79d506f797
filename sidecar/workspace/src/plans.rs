//! Plans: durable proposals of work, which let their mutations through once the user approved one.
//!
//! ```text
//! plans/<plan-id>/record.json   sealed: state, steps, scope, decision
//! plans/<plan-id>/plan.md       the same for people, written anew with each change
//! ```
//!
//! ```text
//! proposed ─ yes ─▶ approved ─▶ completed
//!    ├─ no ─▶ rejected └─▶ superseded: another plan of the session was approved
//!    └─▶ superseded: another one was proposed
//! ```
//!
//! Owns the record and its changes, under the store's lock. What a scope covers is the gate's to say.
//!
//! **Invariant:** a session has at most one approved plan, and at most one that is proposed.

mod document;
mod record;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

pub use record::{NewPlan, Plan, PlanDamage, PlanError, PlanScope, PlanState, PlanStep};

use crate::approvals::{Decided, Voice};
use crate::journal::Journal;
use crate::sealed;
use crate::sources::Clock;
use crate::store::{Store, StoreError, StoreLock, StorePath};

const FOLDER: &str = "plans";
const RECORD: &str = "record.json";
const DOCUMENT: &str = "plan.md";
const PURPOSE: &str = "plan";

/// How long a change waits for another process that holds the store's lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// Settled plans are removed, the oldest first, when there are more than so many. The journal keeps what became of them.
const MOST: usize = 500;

/// The plans of one workspace. Cheap to clone.
#[derive(Clone)]
pub struct Plans {
    store: Store,
    journal: Journal,
    clock: Arc<dyn Clock>,
}

impl Plans {
    pub(crate) fn new(store: Store, journal: Journal, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            journal,
            clock,
        }
    }

    /// Proposes a plan; one of the session that is still proposed is superseded.
    ///
    /// # Errors
    ///
    /// [`PlanError::Store`].
    pub fn propose(&self, new: NewPlan) -> Result<Plan, PlanError> {
        let now = self.clock.now_ms();
        let lock = self.store.lock(PATIENCE, "propose a plan")?;
        let (plans, _) = self.read_all(Some(&lock))?;
        for mut earlier in plans.iter().cloned() {
            if earlier.session == new.session && earlier.state == PlanState::Proposed {
                earlier.state = PlanState::Superseded;
                self.write(&lock, &mut earlier, now)?;
            }
        }
        let mut plan = new.at(now);
        self.write(&lock, &mut plan, now)?;
        self.forget_surplus(&plans);
        Ok(plan)
    }

    /// The plan of that id.
    ///
    /// # Errors
    ///
    /// [`PlanError::Unknown`]; [`PlanError::Damaged`] for one whose record is not the one that was written.
    pub fn get(&self, id: &str) -> Result<Plan, PlanError> {
        match self.read(id)? {
            Some(plan) => plan.map_err(|reason| PlanError::Damaged {
                id: id.to_owned(),
                reason,
            }),
            None => Err(unknown(id)),
        }
    }

    /// All plans, the oldest first; and those that were damaged or forged: set aside, and not used.
    ///
    /// # Errors
    ///
    /// [`PlanError::Store`]; an unsealed store has no plans to tell of.
    pub fn list(&self) -> Result<(Vec<Plan>, Vec<PlanDamage>), PlanError> {
        let (plans, damaged) = self.read_all(None)?;
        if damaged.is_empty() {
            return Ok((plans, damaged));
        }
        let lock = self.store.lock(PATIENCE, "set a plan aside")?;
        self.read_all(Some(&lock))
    }

    /// The session's approved plan.
    ///
    /// # Errors
    ///
    /// As [`Plans::list`].
    pub fn approved(&self, session: &str) -> Result<Option<Plan>, PlanError> {
        let (plans, _) = self.read_all(None)?;
        let is_it = |plan: &Plan| plan.session == session && plan.state == PlanState::Approved;
        Ok(plans.into_iter().rev().find(is_it))
    }

    /// Decides on a proposed plan. Whoever comes first wins; the others are told who and when.
    ///
    /// `shown` is [`Plan::revision`] of what the user read.
    ///
    /// # Errors
    ///
    /// [`PlanError::Decided`], [`PlanError::Stale`] when the plan is not the one that was read, [`PlanError::NotOpen`].
    pub fn decide(
        &self,
        id: &str,
        shown: Option<u64>,
        voice: Voice,
        by: &str,
        reason: Option<&str>,
    ) -> Result<Plan, PlanError> {
        let now = self.clock.now_ms();
        let lock = self.store.lock(PATIENCE, "decide on a plan")?;
        let mut plan = self.get(id)?;
        if let Some(decided) = plan.decided {
            return Err(PlanError::Decided {
                id: plan.id,
                decided,
                state: plan.state,
            });
        }
        if plan.state != PlanState::Proposed {
            return Err(PlanError::NotOpen {
                id: plan.id,
                state: plan.state,
            });
        }
        if shown.is_some_and(|shown| shown != plan.revision) {
            return Err(PlanError::Stale { id: plan.id });
        }
        if voice == Voice::Yes {
            let (plans, _) = self.read_all(Some(&lock))?;
            for mut earlier in plans {
                if earlier.session == plan.session && earlier.state == PlanState::Approved {
                    earlier.state = PlanState::Superseded;
                    self.write(&lock, &mut earlier, now)?;
                }
            }
        }
        plan.decided = Some(Decided {
            voice,
            by: by.to_owned(),
            at_ms: now,
            reason: reason.map(str::to_owned),
        });
        plan.state = match voice {
            Voice::Yes => PlanState::Approved,
            Voice::No => PlanState::Rejected,
        };
        self.write(&lock, &mut plan, now)?;
        Ok(plan)
    }

    /// Marks steps of an approved plan as done, by their numbers from 1; without numbers, or with the last one, the plan is
    /// completed and lets nothing through any more.
    ///
    /// # Errors
    ///
    /// [`PlanError::NoStep`], [`PlanError::NotOpen`] when it is not approved.
    pub fn complete(&self, id: &str, steps: &[usize]) -> Result<Plan, PlanError> {
        let now = self.clock.now_ms();
        let lock = self.store.lock(PATIENCE, "complete a plan")?;
        let mut plan = self.get(id)?;
        if plan.state != PlanState::Approved {
            return Err(PlanError::NotOpen {
                id: plan.id,
                state: plan.state,
            });
        }
        for &number in steps {
            let count = plan.steps.len();
            match number.checked_sub(1).and_then(|at| plan.steps.get_mut(at)) {
                Some(step) => step.done = true,
                None => {
                    return Err(PlanError::NoStep {
                        id: plan.id,
                        number,
                        count,
                    });
                }
            }
        }
        if steps.is_empty() || plan.steps.iter().all(|step| step.done) {
            plan.state = PlanState::Completed;
        }
        self.write(&lock, &mut plan, now)?;
        Ok(plan)
    }

    /// Path of the plan's document in the store, from the workspace's root: what an editor opens.
    pub fn document(&self, id: &str) -> Result<String, PlanError> {
        Ok(self.store.shown(path(id, DOCUMENT)?.as_str()))
    }

    /// The plan's document as it is written: what a person decides on.
    pub fn to_markdown(plan: &Plan) -> String {
        document::render(plan)
    }

    fn read(&self, id: &str) -> Result<Option<Result<Plan, String>>, PlanError> {
        let path = path(id, RECORD)?;
        let Some(bytes) = self.store.read(&path)? else {
            return Ok(None);
        };
        let plan = sealed::open::<Plan>(&self.store, PURPOSE, &bytes).and_then(|plan| {
            match plan.id == id {
                true => Ok(plan),
                false => Err("it is the record of another plan".to_owned()),
            }
        });
        Ok(Some(plan))
    }

    /// Reads all; with the lock, the damaged are set aside.
    fn read_all(
        &self,
        lock: Option<&StoreLock>,
    ) -> Result<(Vec<Plan>, Vec<PlanDamage>), PlanError> {
        let mut plans = Vec::new();
        let mut damaged = Vec::new();
        for (id, is_folder) in self.store.list(&StorePath::new(FOLDER)?)? {
            if !is_folder || !id.starts_with("plan_") || id.contains(".corrupt") {
                continue;
            }
            match self.read(&id)? {
                Some(Ok(plan)) => plans.push(plan),
                // Its maker did not get to the record.
                None => {}
                Some(Err(reason)) => {
                    let aside = match lock {
                        Some(_) => {
                            let aside = self
                                .store
                                .set_corrupt_aside(&StorePath::new(format!("{FOLDER}/{id}"))?)?;
                            self.store.shown(aside.as_str())
                        }
                        None => String::new(),
                    };
                    damaged.push(PlanDamage { id, aside, reason });
                }
            }
        }
        plans.sort_by(|a, b| (a.proposed_at_ms, &a.id).cmp(&(b.proposed_at_ms, &b.id)));
        Ok((plans, damaged))
    }

    fn write(&self, lock: &StoreLock, plan: &mut Plan, now: u64) -> Result<(), PlanError> {
        plan.revision += 1;
        plan.changed_at_ms = now;
        let bytes = sealed::seal(&self.store, PURPOSE, plan)
            .map_err(|error| self.store.io(FOLDER, "writing", error.into()))?;
        // The document first: a record never speaks of one that is not there.
        let text = document::render(plan);
        self.store
            .write(&path(&plan.id, DOCUMENT)?, text.as_bytes())?;
        self.store.write(&path(&plan.id, RECORD)?, &bytes)?;
        self.journal.append(lock, "plan", &plan.journaled())?;
        Ok(())
    }

    fn forget_surplus(&self, plans: &[Plan]) {
        let surplus = (plans.len() + 1).saturating_sub(MOST);
        let settled = plans.iter().filter(|plan| plan.state.is_settled());
        for plan in settled.take(surplus) {
            if let Ok(path) = StorePath::new(format!("{FOLDER}/{}", plan.id)) {
                // What resists stays; the next proposal tries again.
                let _ = self.store.remove(&path);
            }
        }
    }
}

fn path(id: &str, name: &str) -> Result<StorePath, PlanError> {
    match id.starts_with("plan_") && !id.contains(['/', '.']) {
        true => StorePath::new(format!("{FOLDER}/{id}/{name}")).map_err(|_| unknown(id)),
        false => Err(unknown(id)),
    }
}

fn unknown(id: &str) -> PlanError {
    PlanError::Unknown {
        id: id.chars().take(64).collect(),
    }
}

impl From<StoreError> for PlanError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl std::fmt::Debug for Plans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plans").finish_non_exhaustive()
    }
}
