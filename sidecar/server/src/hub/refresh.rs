//! Closed files as they are on disk now.
//!
//! Owns: reading again what may have changed behind the hub before a request is answered, and
//! looking now and then whether another process decided something here.
//! Must not know: what the requests want.
//!
//! An open document's text wins over the disk, so open paths are only compared, to know whether the
//! document is saved. Cost: one stat for each closed file; a read only where it changed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use redline_workspace::{Entry, Stat, WorkspaceRoot};
use ropey::Rope;

use redline_edits::HunkId;
use redline_protocol::v1;

use super::Hub;
use super::event::{ClientId, Request};
use super::work::Done;

/// How often other processes' decisions are looked for while somebody is attached.
const PERIOD: Duration = Duration::from_millis(300);

/// What the hub knows of the disk.
#[derive(Default)]
pub(crate) struct Refresh {
    /// What stood at a path when it was read last; none: no file.
    seen: BTreeMap<String, Option<Stat>>,
    next: Option<Instant>,
    looking: bool,
}

impl Refresh {
    /// When the hub must wake to look.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.next.filter(|_| !self.looking)
    }
}

/// What stands at a path.
#[derive(Debug, Clone)]
pub(crate) enum OnDisk {
    Text(Rope),
    /// No text: missing, binary, a folder, a link.
    Other,
    /// As it was.
    Same,
}

/// What a look at the disk found, and the request that waits for it.
pub(crate) struct Refreshed {
    files: Vec<(String, Option<Stat>, OnDisk)>,
    then: Option<(ClientId, Request)>,
}

impl Hub {
    /// Answers `request` once closed files of unsettled transactions were looked at.
    pub(super) fn with_disk(&mut self, client: ClientId, request: Request) {
        let mut paths = self.closed_paths();
        if let Request::Decide(_, params, _) = &request
            && let Some(named) = self.named_paths(params)
        {
            paths.retain(|path| named.contains(path));
        }
        self.look(paths, Some((client, request)));
    }

    /// Finds out whether the document at `path` is as the disk has it.
    pub(super) fn check_disk(&mut self, path: &str) {
        self.refresh.seen.remove(path);
        self.look([path.to_owned()].into(), None);
    }

    pub(super) fn refresh_tick(&mut self, now: Instant) {
        if self.clients.is_empty() {
            self.refresh.next = None;
            return;
        }
        match self.refresh.next {
            None => self.refresh.next = Some(now + PERIOD),
            Some(next) if next <= now && !self.refresh.looking => {
                self.refresh.next = Some(now + PERIOD);
                self.announce();
                self.look(BTreeSet::new(), None);
            }
            Some(_) => {}
        }
    }

    fn closed_paths(&self) -> BTreeSet<String> {
        self.transactions
            .values()
            .filter(|transaction| !transaction.is_settled())
            .flat_map(redline_workspace::Transaction::files)
            .map(|file| file.path.clone())
            .filter(|path| self.documents.of(path).is_empty())
            .collect()
    }

    /// The paths that a decision names; none when it means all that waits.
    fn named_paths(&self, params: &v1::DecideParams) -> Option<BTreeSet<String>> {
        let mut named: BTreeSet<String> = BTreeSet::new();
        for hunk in &params.hunks {
            let id = HunkId::new(hunk.id.clone());
            let mut transactions = self.transactions.values();
            if let Some(file) = transactions.find_map(|transaction| transaction.file_of(&id)) {
                named.insert(file.path.clone());
            }
        }
        named.extend(params.files.iter().map(|file| file.path.clone()));
        named.extend(params.lines.iter().map(|range| range.path.clone()));
        (!named.is_empty()).then_some(named)
    }

    fn look(&mut self, paths: BTreeSet<String>, then: Option<(ClientId, Request)>) {
        let root = self.workspace.root().clone();
        let known: Vec<(String, Option<Option<Stat>>)> = paths
            .into_iter()
            .map(|path| {
                let seen = self.refresh.seen.get(&path).copied();
                (path, seen)
            })
            .collect();
        self.refresh.looking = true;
        self.worker.run("refresh", move || {
            let files = read_again(&root, known);
            Some(Done::Refreshed(Box::new(Refreshed { files, then })))
        });
    }

    pub(super) fn refreshed(&mut self, refreshed: Refreshed) {
        self.refresh.looking = false;
        for (path, stat, found) in refreshed.files {
            self.refresh.seen.insert(path.clone(), stat);
            match found {
                OnDisk::Same => {}
                OnDisk::Text(rope) => self.on_disk(&path, &rope),
                OnDisk::Other => self.on_disk(&path, &Rope::new()),
            }
        }
        if let Some((client, request)) = refreshed.then {
            self.answer(client, request);
        }
    }

    /// Takes in what the disk reads at `path`.
    fn on_disk(&mut self, path: &str, rope: &Rope) {
        if self.documents.of(path).is_empty() {
            self.reanchor_closed(path, rope);
            return;
        }
        let disk = redline_edits::text_revision(&rope.to_string());
        for copy in self.documents.of_mut(path) {
            copy.dirty = redline_edits::text_revision(&copy.rope.to_string()) != disk;
        }
    }
}

fn read_again(
    root: &WorkspaceRoot,
    known: Vec<(String, Option<Option<Stat>>)>,
) -> Vec<(String, Option<Stat>, OnDisk)> {
    let batch = root.batch();
    known
        .into_iter()
        .map(|(path, seen)| {
            let Ok(admitted) = root.admit(&path) else {
                return (path, None, OnDisk::Other);
            };
            let now = batch
                .place(&admitted)
                .ok()
                .and_then(|place| place.stat().copied());
            if seen == Some(now) {
                return (path, now, OnDisk::Same);
            }
            let found = match batch.read(&admitted) {
                Ok(Entry::File(file)) => match redline_edits::decode(&file.bytes) {
                    Ok(decoded) => OnDisk::Text(Rope::from_str(&decoded.text)),
                    Err(_) => OnDisk::Other,
                },
                _ => OnDisk::Other,
            };
            (path, now, found)
        })
        .collect()
}
