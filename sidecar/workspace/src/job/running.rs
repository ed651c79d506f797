//! A job while it runs: what its thread writes and others read.

use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::capture::{Capture, Kept};
use super::record::JobRecord;
use super::watch::{JobListener, JobStream, Listeners, Wake};

/// A job with what is kept of its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobView {
    /// Its record, as of now.
    pub record: JobRecord,
    /// Its output; with a terminal, all of it.
    pub stdout: Kept,
    /// Its error output.
    pub stderr: Kept,
}

/// A job of this process that has not ended, or has just.
pub(super) struct Running {
    live: Mutex<Live>,
    changed: Condvar,
    listeners: Mutex<Listeners>,
    /// Wakes the job's thread.
    bell: OwnedFd,
}

pub(super) struct Live {
    pub(super) record: JobRecord,
    pub(super) stdout: Capture,
    pub(super) stderr: Capture,
    /// Somebody wants it to end: from TERM to KILL it gets so long.
    pub(super) cancel: Option<Duration>,
    /// It has ended, and its record is on disk.
    pub(super) done: bool,
}

impl Running {
    pub(super) fn new(record: JobRecord, stdout: Capture, stderr: Capture, bell: OwnedFd) -> Self {
        Self {
            live: Mutex::new(Live {
                record,
                stdout,
                stderr,
                cancel: None,
                done: false,
            }),
            changed: Condvar::new(),
            listeners: Mutex::default(),
            bell,
        }
    }

    pub(super) fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for its end; the shorter grace of two wins.
    pub(super) fn cancel(&self, grace: Duration) {
        {
            let mut live = self.live();
            live.cancel = Some(live.cancel.map_or(grace, |before| before.min(grace)));
        }
        self.ring();
    }

    /// Wakes the job's thread. A full pipe has woken it already.
    pub(super) fn ring(&self) {
        let _ = rustix::io::write(&self.bell, b"!");
    }

    pub(super) fn view(&self) -> JobView {
        let live = self.live();
        let mut record = live.record.clone();
        record.stdout = live.stdout.totals();
        record.stderr = live.stderr.totals();
        JobView {
            record,
            stdout: live.stdout.kept(),
            stderr: live.stderr.kept(),
        }
    }

    /// Waits until it has ended, at most for `patience`; whether it has.
    pub(super) fn wait(&self, patience: Duration) -> bool {
        let end = Instant::now() + patience;
        let mut live = self.live();
        while !live.done {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            live = self
                .changed
                .wait_timeout(live, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    pub(super) fn listen(&self, most: usize, wake: Option<Wake>) -> JobListener {
        let mut listeners = self.listeners();
        let listener = listeners.add(most, wake);
        // It may have ended in between; then nobody tells the new one any more.
        let live = self.live();
        if live.done {
            listeners.ended(live.record.state);
        }
        listener
    }

    /// Keeps and tells what the program wrote.
    pub(super) fn output(&self, stream: JobStream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        {
            let mut live = self.live();
            match stream {
                JobStream::Stdout => live.stdout.push(bytes),
                JobStream::Stderr => live.stderr.push(bytes),
            }
        }
        self.listeners().output(stream, bytes);
    }

    /// Says that it has ended; its record is on disk.
    pub(super) fn finish(&self, record: JobRecord) {
        // Who waits for the end finds that the listeners know of it, too.
        let mut listeners = self.listeners();
        listeners.ended(record.state);
        {
            let mut live = self.live();
            live.record = record;
            live.done = true;
        }
        self.changed.notify_all();
    }

    fn listeners(&self) -> MutexGuard<'_, Listeners> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
