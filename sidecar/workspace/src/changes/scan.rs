//! One look at the tree: every file and link that is not ignored, with what the file system says of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use crate::boundary::{WorkspacePath, WorkspaceRoot};
use crate::handle::{Kind, Stat};
use crate::store::Store;
use crate::walk::{Scope, SearchError, Walk};

/// Threads of one walk.
const THREADS: usize = 4;

/// File times move in steps: what changed so shortly before a look may change again without a trace.
const TICK_NS: i128 = 20_000_000;

/// The tree at one moment.
#[derive(Debug)]
pub(super) struct Scan {
    /// Files and links, in order of their paths.
    pub(super) files: BTreeMap<WorkspacePath, Stat>,
    pub(super) folders: BTreeSet<WorkspacePath>,
    /// When the look began, by the clock of the file system.
    pub(super) began_ns: i128,
}

/// Walks the tree.
pub(super) fn scan(root: &WorkspaceRoot, store: &Store) -> Result<Scan, SearchError> {
    let began_ns = now_of(store);
    let scope = Scope::default();
    let mut walk = Walk::new(root, &scope)?;
    let mut scan = Scan {
        files: BTreeMap::new(),
        folders: BTreeSet::new(),
        began_ns,
    };
    for (path, stat) in walk.stats(THREADS, &AtomicBool::new(false)) {
        match stat.kind {
            Kind::File | Kind::Symlink => drop(scan.files.insert(path, stat)),
            Kind::Directory => drop(scan.folders.insert(path)),
            Kind::Fifo | Kind::Socket | Kind::Device => {}
        }
    }
    Ok(scan)
}

impl Scan {
    /// Looks at further paths, those that git tracks and an ignore rule hides.
    pub(super) fn add<'a>(&mut self, root: &WorkspaceRoot, paths: impl Iterator<Item = &'a str>) {
        let batch = root.batch();
        for path in paths {
            let Ok(path) = root.admit(path) else { continue };
            if self.files.contains_key(&path) {
                continue;
            }
            let stat = batch
                .place(&path)
                .ok()
                .and_then(|place| place.stat().copied());
            if let Some(stat) = stat.filter(|stat| matches!(stat.kind, Kind::File | Kind::Symlink))
            {
                self.files.insert(path, stat);
            }
        }
    }

    /// Whether a file of this state could have changed again, since the look, without showing it.
    pub(super) fn is_racy(&self, stat: &Stat) -> bool {
        stat.changed_ns.max(stat.modified_ns) > self.began_ns - TICK_NS
    }
}

/// The time by the clock that gives files their times; the far past when it cannot be told, and then no state is
/// ever taken for settled.
fn now_of(store: &Store) -> i128 {
    let probe = || -> Option<i128> {
        let file = tempfile::tempfile_in(store.root().path().join(".agentic")).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        Some(Stat::from(stat).changed_ns)
    };
    probe().unwrap_or(i128::MIN / 2)
}
