//! The jobs of a workspace: starting them, asking after them, ending them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::archive::tree_of;
use super::error::JobError;
use super::files;
use super::limits::JobLimits;
use super::overlaps::Overlaps;
use super::program::Programs;
use super::record::{JobRecord, JobState};
use super::running::{JobView, Running};
use super::sandbox::{NoSandbox, Sandbox};
use super::spec::JobSpec;
use super::watch::{JobListener, JobStream, Wake};
use crate::changes::{ChangeLimits, Shadow};
use crate::sources::{Clock, Ids};
use crate::store::Store;
use crate::workspace::Workspace;

/// How often a wish to stop is looked for.
const TICK: Duration = Duration::from_millis(5);

/// How long an end that was asked for is waited for, beyond the grace time.
const END_PATIENCE: Duration = Duration::from_secs(4);

/// What jobs are run with.
pub struct JobOptions {
    /// Tells the time, for records.
    pub clock: Arc<dyn Clock>,
    /// Makes ids.
    pub ids: Arc<dyn Ids>,
    /// Confines every command; [`NoSandbox`] when nothing does.
    pub sandbox: Arc<dyn Sandbox>,
    /// The bounds.
    pub limits: JobLimits,
    /// How much is copied before a command, so that undo covers it.
    pub changes: ChangeLimits,
    /// Tells what editors save.
    pub saves: Arc<dyn EditorSaves>,
    /// Told of each job that starts, before anything of it is heard; it must not block.
    pub started: Option<Started>,
}

/// Is told of a job that starts; it may listen to it.
pub type Started = Arc<dyn Fn(&Jobs, &JobRecord) + Send + Sync>;

impl JobOptions {
    /// Without a sandbox, with the usual bounds, and no editor.
    pub fn new(clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self {
            clock,
            ids,
            sandbox: Arc::new(NoSandbox),
            limits: JobLimits::default(),
            changes: ChangeLimits::default(),
            saves: Arc::new(NoEditors),
            started: None,
        }
    }
}

/// What editors do to files while a command runs.
pub trait EditorSaves: Send + Sync {
    /// Whether an editor saved the document at `path` (from the root) with the text of this revision, since
    /// `since_ms` (milliseconds since 1970). Must not block for long.
    fn saved(&self, path: &str, text_revision: &str, since_ms: u64) -> bool;
}

/// No editor is there.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEditors;

impl EditorSaves for NoEditors {
    fn saved(&self, _: &str, _: &str, _: u64) -> bool {
        false
    }
}

/// The jobs of one workspace. Cheap to clone; when the last clone is dropped, all that run are ended.
#[derive(Clone)]
pub struct Jobs {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) workspace: Workspace,
    pub(super) options: JobOptions,
    programs: Programs,
    pub(super) shadow: Shadow,
    pub(super) overlaps: Overlaps,
    pub(super) running: Arc<Mutex<BTreeMap<String, Arc<Running>>>>,
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Jobs").finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        end_all(&self.running, self.options.limits.short_grace);
    }
}

impl Jobs {
    /// Opens the jobs of `workspace`.
    ///
    /// What a process that is gone left running is ended, and its record says `orphaned`; those records are
    /// returned. Without a store nothing is touched.
    pub fn open(workspace: Workspace, options: JobOptions) -> (Self, Vec<JobRecord>) {
        let jobs = Self {
            inner: Arc::new(Inner {
                shadow: Shadow::new(workspace.store().clone()),
                workspace,
                options,
                overlaps: Overlaps::default(),
                programs: Programs::default(),
                running: Arc::default(),
            }),
        };
        let orphans = jobs.orphans();
        (jobs, orphans)
    }

    /// Finds programs.
    pub fn programs(&self) -> &Programs {
        &self.inner.programs
    }

    /// The bounds.
    pub fn limits(&self) -> &JobLimits {
        &self.inner.options.limits
    }

    /// The sandbox's name, `none` without one.
    pub fn sandbox(&self) -> &'static str {
        self.inner.options.sandbox.name()
    }

    /// Starts a command and waits for its end, which is never later than its timeout and the grace time.
    /// `cancel` ends it at once.
    ///
    /// # Errors
    ///
    /// [`JobError`], when nothing was started: a command without a timeout is refused.
    pub fn run(&self, spec: JobSpec, cancel: &AtomicBool) -> Result<JobView, JobError> {
        if spec.timeout.is_none() {
            return Err(JobError::BadCommand {
                reason: "a command that is waited for needs a timeout; start it to let it run"
                    .to_owned(),
            });
        }
        let running = self.begin(spec)?;
        let mut asked = false;
        while !running.wait(TICK) {
            if !asked && cancel.load(Ordering::Relaxed) {
                running.cancel(self.limits().short_grace);
                asked = true;
            }
        }
        Ok(running.view())
    }

    /// Starts a command and returns at once.
    ///
    /// # Errors
    ///
    /// [`JobError`], when nothing was started.
    pub fn start(&self, spec: JobSpec) -> Result<JobRecord, JobError> {
        Ok(self.begin(spec)?.view().record)
    }

    /// The record of a job.
    ///
    /// # Errors
    ///
    /// [`JobError::Unknown`], or the store's refusal.
    pub fn status(&self, id: &str) -> Result<JobRecord, JobError> {
        if let Some(running) = self.running(id) {
            return Ok(running.view().record);
        }
        let record = self.load(id)?;
        if record.state == JobState::Running && !files::is_watched(self.store(), id) {
            // Whoever watched it has died since we opened.
            drop(self.orphans());
            return self.load(id);
        }
        Ok(record)
    }

    /// A job with the first and last bytes of its output.
    ///
    /// # Errors
    ///
    /// [`JobError::Unknown`], or the store's refusal.
    pub fn output(&self, id: &str) -> Result<JobView, JobError> {
        if let Some(running) = self.running(id) {
            return Ok(running.view());
        }
        let record = self.status(id)?;
        let store = self.store();
        let kept = |stream, totals| files::kept(store, id, stream, totals, self.limits());
        Ok(JobView {
            stdout: kept(JobStream::Stdout, record.stdout)?,
            stderr: kept(JobStream::Stderr, record.stderr)?,
            record,
        })
    }

    /// A part of a stream, at most `most` bytes from `offset` on, and where it begins: later than asked for
    /// when what lies between is no longer there.
    ///
    /// # Errors
    ///
    /// [`JobError::Unknown`], or the store's refusal.
    pub fn read(
        &self,
        id: &str,
        stream: JobStream,
        offset: u64,
        most: usize,
    ) -> Result<(u64, Vec<u8>), JobError> {
        let view = self.output(id)?;
        let (totals, kept) = match stream {
            JobStream::Stdout => (view.record.stdout, view.stdout),
            JobStream::Stderr => (view.record.stderr, view.stderr),
        };
        if offset < totals.bytes_on_disk {
            let store = self.store();
            let bytes = files::part(store, id, stream, offset, most)?;
            return Ok((offset, bytes));
        }
        let tail_at = kept.total - kept.tail.len() as u64;
        let at = offset.clamp(tail_at, kept.total);
        let from = usize::try_from(at - tail_at).unwrap_or(usize::MAX);
        let part = kept.tail.get(from..).unwrap_or_default();
        Ok((at, part[..most.min(part.len())].to_vec()))
    }

    /// Waits until a job of this process has ended, at most for `patience`, or until `cancel`; whether it has. One
    /// that does not run here has ended as far as this process can wait.
    pub fn wait(&self, id: &str, patience: Duration, cancel: &AtomicBool) -> bool {
        let Some(running) = self.running(id) else {
            return true;
        };
        let end = Instant::now() + patience;
        while !running.wait(TICK) {
            if Instant::now() >= end || cancel.load(Ordering::Relaxed) {
                return false;
            }
        }
        true
    }

    /// Ends a job with all of its tree, and waits for that: TERM, then KILL after the grace time. A job that has
    /// ended stays as it is.
    ///
    /// # Errors
    ///
    /// [`JobError::Unknown`], or the store's refusal.
    pub fn cancel(&self, id: &str) -> Result<JobRecord, JobError> {
        let grace = self.limits().grace;
        if let Some(running) = self.running(id) {
            running.cancel(grace);
            running.wait(grace + END_PATIENCE);
            return Ok(running.view().record);
        }
        let record = self.status(id)?;
        if record.state == JobState::Running {
            // It is another sidecar's, which notices and writes how it ended.
            let mut tree = tree_of(&record);
            tree.signal(rustix::process::Signal::TERM);
            let end = Instant::now() + grace;
            while Instant::now() < end && !tree.members().is_empty() {
                std::thread::sleep(TICK);
            }
            tree.kill(END_PATIENCE);
        }
        self.load(id)
    }

    /// Ends all jobs of a session; returns once they have ended.
    pub fn end_session(&self, session_id: &str) {
        let of_session: Vec<Arc<Running>> = lock(&self.inner.running)
            .values()
            .filter(|one| one.live().record.origin.session_id.as_deref() == Some(session_id))
            .cloned()
            .collect();
        end(&of_session, self.limits().short_grace);
    }

    /// Ends all jobs of this process; returns once they have ended.
    pub fn end_all(&self) {
        end_all(&self.inner.running, self.limits().short_grace);
    }

    /// How many jobs of this process run.
    pub fn running_count(&self) -> usize {
        lock(&self.inner.running).len()
    }

    /// Hears the output of a running job from now on, and how it ends. `wake` is called when something comes
    /// after nothing was there; it must neither block nor call back.
    ///
    /// # Errors
    ///
    /// [`JobError::Unknown`] for one that does not run in this process.
    pub fn listen(&self, id: &str, wake: Option<Wake>) -> Result<JobListener, JobError> {
        let running = self
            .running(id)
            .ok_or_else(|| JobError::Unknown { id: id.to_owned() })?;
        Ok(running.listen(self.limits().listener_bytes, wake))
    }

    pub(super) fn store(&self) -> &Store {
        self.inner.workspace.store()
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.inner.options.clock.now_ms()
    }

    pub(super) fn running(&self, id: &str) -> Option<Arc<Running>> {
        lock(&self.inner.running).get(id).cloned()
    }
}

fn end_all(running: &Mutex<BTreeMap<String, Arc<Running>>>, grace: Duration) {
    let all: Vec<Arc<Running>> = lock(running).values().cloned().collect();
    end(&all, grace);
}

fn end(jobs: &[Arc<Running>], grace: Duration) {
    for one in jobs {
        one.cancel(grace);
    }
    for one in jobs {
        one.wait(grace + END_PATIENCE);
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
