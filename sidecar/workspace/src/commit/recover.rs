//! Recovery: what an interrupted commit left behind is finished or taken back.
//!
//! | the journal says | and the folder | then |
//! |---|---|---|
//! | nothing of it | no plan | dropped: nothing had begun |
//! | `prepared` | plan | taken back: names had not changed |
//! | `delivered` (or `prepared` without documents) | plan | finished; taken back where a path was changed by somebody else |
//! | `failed`, or nothing could be journaled | restoring | taken back |
//! | `committed` | plan | recorded in full |
//!
//! What is done follows from the disk alone, step by step, so recovery may itself be killed at any
//! instant and begun again. A commit whose process is alive is left alone.

use super::finish::{
    FAILED, RESTORING, Stopped, change, discard, journal_data, note_failure, record, restore,
};
use super::plan::{Plan, Step};
use super::prepare::{COMMITS, OWNER, PLAN, STAGING};
use super::step::{self, Standing};
use crate::boundary::Batch;
use crate::effect::Area;
use crate::store::{StoreError, StoreLock, StorePath};
use crate::workspace::Workspace;

/// What recovery did about one interrupted commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovery {
    /// The transaction concerned.
    pub transaction_id: String,
    /// Which way it went.
    pub action: RecoveryAction,
    /// One sentence naming the paths.
    pub message: String,
}

/// Which way a recovery went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecoveryAction {
    /// Everything is as before the commit.
    RolledBack,
    /// The commit was finished.
    Finished,
    /// Something has to be looked at by a person.
    Reported,
}

impl RecoveryAction {
    /// The name used on every surface.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RolledBack => "rolled_back",
            Self::Finished => "finished",
            Self::Reported => "reported",
        }
    }
}

/// What the journal says of one commit.
#[derive(Debug, Clone, Copy, Default)]
struct Journaled {
    delivered: bool,
    committed: bool,
}

/// Deals with every commit that a process left behind when it died.
pub(crate) fn recover(workspace: &Workspace) -> Vec<Recovery> {
    let mut done = Vec::new();
    let listed = StorePath::new(COMMITS).and_then(|path| workspace.store().list(&path));
    for (receipt_id, _) in listed.unwrap_or_default() {
        match one(workspace, &receipt_id) {
            Ok(Some(recovery)) => done.push(recovery),
            Ok(None) => {}
            Err(error) => done.push(Recovery {
                transaction_id: String::new(),
                action: RecoveryAction::Reported,
                message: format!(
                    "an interrupted commit ({receipt_id}) could not be dealt with: {error}"
                ),
            }),
        }
    }
    done
}

fn one(workspace: &Workspace, receipt_id: &str) -> Result<Option<Recovery>, StoreError> {
    let store = workspace.store();
    let folder = StorePath::new(format!("{COMMITS}/{receipt_id}"))?;
    let lock = workspace.lock("recover")?;
    let here = store.make_folder(&folder)?;
    let fail = |error| store.io(folder.as_str(), "claiming", error);
    let owner = here.open_lock(OWNER, 0o600).map_err(fail)?;
    if owner.try_lock().is_err() {
        return Ok(None);
    }
    if store.read(&folder.join(FAILED)?)?.is_some() {
        return Ok(None);
    }
    let (bytes, restoring) = match store.read(&folder.join(PLAN)?)? {
        Some(bytes) => (Some(bytes), false),
        None => (store.read(&folder.join(RESTORING)?)?, true),
    };
    let Some(bytes) = bytes else {
        // Its plan was never written, so nothing was done; but something may have been staged.
        let staged = store.read(&folder.join(STAGING)?)?.unwrap_or_default();
        let staged: Vec<(String, String)> = serde_json::from_slice(&staged).unwrap_or_default();
        let (batch, area) = (workspace.root().batch(), store.area(&folder)?);
        for (path, name) in staged {
            if let Ok(path) = workspace.root().admit(&path) {
                batch.discard(&area, &path, &name);
            }
        }
        store.remove(&folder)?;
        return Ok(None);
    };
    let plan: Plan = serde_json::from_slice(&bytes).map_err(|error| StoreError::Corrupt {
        path: store.shown(folder.as_str()),
        reason: error.to_string(),
    })?;
    let area = store.area(&folder)?;
    let batch = workspace.root().batch();
    let journaled = look_up(workspace, receipt_id)?;
    let case = Case {
        workspace,
        batch: &batch,
        area: &area,
        folder: &folder,
        plan: &plan,
        lock: &lock,
    };
    let recovery = if journaled.committed {
        case.complete("was done, and is recorded now")?
    } else if restoring || !(journaled.delivered || case.has_begun()) {
        case.back("was taken back")?
    } else {
        case.forward()?
    };
    Ok(Some(recovery))
}

fn look_up(workspace: &Workspace, receipt_id: &str) -> Result<Journaled, StoreError> {
    let mut found = Journaled::default();
    for record in workspace.journal().changed_since(0)? {
        if record.data.get("receipt_id").and_then(|id| id.as_str()) != Some(receipt_id) {
            continue;
        }
        match record.kind.as_str() {
            "prepared" => {
                found.delivered |= record
                    .data
                    .get("delivered")
                    .and_then(serde_json::Value::as_bool)
                    == Some(true);
            }
            "delivered" => found.delivered = true,
            "committed" => found.committed = true,
            _ => {}
        }
    }
    Ok(found)
}

struct Case<'a> {
    workspace: &'a Workspace,
    batch: &'a Batch,
    area: &'a Area,
    folder: &'a StorePath,
    plan: &'a Plan,
    lock: &'a StoreLock,
}

impl Case<'_> {
    /// How many steps have run, as the disk tells: all up to the last one that is seen to have.
    fn ran(&self) -> usize {
        let ran = |step: &Step| {
            matches!(
                step::standing(self.batch, self.area, step),
                Ok(Standing::After | Standing::ChangedAfter)
            )
        };
        self.plan
            .steps
            .iter()
            .rposition(ran)
            .map_or(0, |last| last + 1)
    }

    /// Whether any name changed: then the journal must have said so, even if it is lost.
    fn has_begun(&self) -> bool {
        self.ran() > 0
    }

    fn forward(&self) -> Result<Recovery, StoreError> {
        let rest = &self.plan.steps[self.ran()..];
        match change(self.batch, self.area, rest) {
            Ok(()) => {}
            Err(Stopped::Changed(path)) => {
                return self.back(&format!(
                    "was taken back, since {path} was changed meanwhile"
                ));
            }
            Err(Stopped::Failed(error)) => {
                return self.back(&format!(
                    "was taken back, since it could not be finished ({error})"
                ));
            }
        }
        self.workspace
            .journal()
            .append(self.lock, "committed", &journal_data(self.plan))?;
        self.complete("was finished")
    }

    fn complete(&self, how: &str) -> Result<Recovery, StoreError> {
        record(self.workspace, self.batch, self.area, self.plan, true)?;
        discard(
            self.workspace,
            self.batch,
            self.area,
            self.folder,
            self.plan,
        )?;
        Ok(self.says(RecoveryAction::Finished, how))
    }

    fn back(&self, how: &str) -> Result<Recovery, StoreError> {
        let left = restore(
            self.workspace,
            self.batch,
            self.area,
            self.folder,
            self.plan,
        );
        if left.is_empty() {
            let message = self.words(how);
            note_failure(self.workspace, self.lock, self.plan, &message);
            discard(
                self.workspace,
                self.batch,
                self.area,
                self.folder,
                self.plan,
            )?;
            return Ok(self.says(RecoveryAction::RolledBack, how));
        }
        let how = format!("{how}, except: {}", left.join("; "));
        note_failure(self.workspace, self.lock, self.plan, &self.words(&how));
        Ok(self.says(RecoveryAction::Reported, &how))
    }

    fn words(&self, how: &str) -> String {
        const MOST: usize = 5;
        let mut paths: Vec<&str> = self
            .plan
            .receipt
            .results
            .iter()
            .map(|result| result.path.as_str())
            .collect();
        let more = paths.len().saturating_sub(MOST);
        paths.truncate(MOST);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        format!(
            "the interrupted {} of {}{more} {how}",
            self.plan.receipt.action.as_str(),
            paths.join(", ")
        )
    }

    fn says(&self, action: RecoveryAction, how: &str) -> Recovery {
        Recovery {
            transaction_id: self.plan.receipt.transaction_id.clone(),
            action,
            message: self.words(how),
        }
    }
}
