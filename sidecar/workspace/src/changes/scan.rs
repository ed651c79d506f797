//! One look at the tree: every file and link that is not ignored, with what the file system says of it.

use std::collections::HashSet;
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
    /// Files and links, in order of their paths, each once.
    files: Vec<(WorkspacePath, Stat)>,
    pub(super) folders: HashSet<WorkspacePath>,
    /// When the look began, by the clock of the file system.
    pub(super) began_ns: i128,
}

/// One path in two looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) path: &'a WorkspacePath,
    pub(super) before: Option<&'a Stat>,
    pub(super) after: Option<&'a Stat>,
}

/// Walks the tree.
pub(super) fn scan(root: &WorkspaceRoot, store: &Store) -> Result<Scan, SearchError> {
    let began_ns = now_of(store);
    let scope = Scope::default();
    let mut walk = Walk::new(root, &scope)?;
    let mut scan = Scan {
        files: Vec::new(),
        folders: HashSet::new(),
        began_ns,
    };
    for (path, stat) in walk.stats(THREADS, &AtomicBool::new(false)) {
        match stat.kind {
            Kind::File | Kind::Symlink => scan.files.push((path, stat)),
            Kind::Directory => drop(scan.folders.insert(path)),
            Kind::Fifo | Kind::Socket | Kind::Device => {}
        }
    }
    scan.files
        .sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(scan)
}

impl Scan {
    /// Looks at further paths, those that git tracks and an ignore rule hides. `paths` are sorted, as ours are.
    pub(super) fn add<'a>(&mut self, root: &WorkspaceRoot, paths: impl Iterator<Item = &'a str>) {
        let batch = root.batch();
        let mut found = Vec::new();
        let mut here = self.files.iter().map(|(path, _)| path.as_str()).peekable();
        for path in paths {
            while here.next_if(|one| *one < path).is_some() {}
            if here.peek() == Some(&path) {
                continue;
            }
            let Ok(path) = root.admit(path) else { continue };
            let stat = batch
                .place(&path)
                .ok()
                .and_then(|place| place.stat().copied());
            let stat = stat.filter(|stat| matches!(stat.kind, Kind::File | Kind::Symlink));
            found.extend(stat.map(|stat| (path, stat)));
        }
        if !found.is_empty() {
            self.files.extend(found);
            self.files
                .sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            self.files.dedup_by(|(one, _), (other, _)| one == other);
        }
    }

    /// Files and links, in order of their paths.
    pub(super) fn files(&self) -> impl Iterator<Item = (&WorkspacePath, &Stat)> {
        self.files.iter().map(|(path, stat)| (path, stat))
    }

    /// Every path of either look, in order, with what each of them found there.
    pub(super) fn with<'a>(&'a self, other: &'a Self) -> Vec<Pair<'a>> {
        let (mut ours, mut theirs) = (self.files().peekable(), other.files().peekable());
        let mut pairs = Vec::with_capacity(self.files.len());
        loop {
            let path = match (ours.peek(), theirs.peek()) {
                (None, None) => return pairs,
                (Some((path, _)), None) | (None, Some((path, _))) => *path,
                (Some((one, _)), Some((other, _))) => (*one).min(*other),
            };
            pairs.push(Pair {
                path,
                before: ours.next_if(|(one, _)| *one == path).map(|(_, stat)| stat),
                after: theirs
                    .next_if(|(one, _)| *one == path)
                    .map(|(_, stat)| stat),
            });
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
