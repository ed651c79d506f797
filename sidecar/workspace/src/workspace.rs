//! The workspace: its boundary, its store and its journal in one value, opened together.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::approvals::Approvals;
use crate::boundary::{PathError, RootOptions, WorkspaceRoot};
use crate::checkpoint::Checkpoints;
use crate::commit::{Recovery, recover};
use crate::journal::{Journal, JournalOptions};
use crate::notes::Notes;
use crate::plans::Plans;
use crate::sources::Clock;
use crate::store::{SealKey, Store, StoreError, StoreLock, StoreState};
use crate::transaction::Transactions;

/// How long a decision waits for another process that holds the store's lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a workspace is opened with.
pub struct WorkspaceOptions {
    /// The boundary's rules.
    pub root: RootOptions,
    /// The user's secret that seals stores.
    pub key: SealKey,
    /// Tells the time, for the journal.
    pub clock: Arc<dyn Clock>,
    /// How the journal is kept.
    pub journal: JournalOptions,
}

/// A project folder with its durable store. Cheap to clone; clones share the handles.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: WorkspaceRoot,
    store: Store,
    journal: Journal,
    approvals: Approvals,
    plans: Plans,
}

impl Workspace {
    /// Opens the folder at `path`, and finishes or takes back what an interrupted commit left behind.
    ///
    /// Writes nothing when there is nothing to recover. A store that is not sealed is left alone.
    ///
    /// # Errors
    ///
    /// [`PathError`] when the folder cannot be opened. A recovery that fails is no error: it is among the
    /// recoveries, and tried again at the next start.
    pub fn open(
        path: &Path,
        options: WorkspaceOptions,
    ) -> Result<(Self, Vec<Recovery>), PathError> {
        let root = WorkspaceRoot::open(path, options.root)?;
        let store = Store::new(root.clone(), options.key);
        let journal = Journal::new(store.clone(), options.clock.clone(), options.journal);
        let approvals = Approvals::new(store.clone(), journal.clone(), options.clock.clone());
        let plans = Plans::new(store.clone(), journal.clone(), options.clock);
        let workspace = Self {
            root,
            store,
            journal,
            approvals,
            plans,
        };
        let recovered = workspace.recover();
        Ok((workspace, recovered))
    }

    /// Finishes or takes back what interrupted commits of processes that are gone left behind, and removes the files
    /// that they had not finished.
    pub fn recover(&self) -> Vec<Recovery> {
        match self.store.state() {
            Ok(StoreState::Sealed) => {
                let recovered = recover(self);
                // They are only in the way; the next start tries again.
                let _ = self.store.sweep(self.journal.now());
                recovered
            }
            Ok(StoreState::Absent | StoreState::Unsealed) | Err(_) => Vec::new(),
        }
    }

    /// The boundary.
    pub fn root(&self) -> &WorkspaceRoot {
        &self.root
    }

    /// The durable store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The approvals.
    pub fn approvals(&self) -> &Approvals {
        &self.approvals
    }

    /// The plans.
    pub fn plans(&self) -> &Plans {
        &self.plans
    }

    /// The notes and the memory.
    pub fn notes(&self) -> Notes {
        Notes::new(self.store.clone())
    }

    /// The transactions in the store.
    pub fn transactions(&self) -> Transactions<'_> {
        Transactions::new(self)
    }

    pub(crate) fn checkpoints(&self) -> Checkpoints<'_> {
        Checkpoints::new(&self.store)
    }

    pub(crate) fn lock(&self, who: &str) -> Result<StoreLock, StoreError> {
        self.store.lock(PATIENCE, who)
    }
}
