//! Beginning a job: its record first, then its process, then the thread that watches it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::capture::{Capture, StreamTotals};
use super::error::JobError;
use super::files;
use super::jobs::{EditorSaves, Jobs, lock};
use super::launch::{self, Talk};
use super::overlaps::Presence;
use super::pump::Pump;
use super::record::{self, JobRecord, JobState, ProcessRecord, VERSION};
use super::running::Running;
use super::sandbox::{Borders, Launch};
use super::spec::JobSpec;
use super::tree::{self, MARK, Tree};
use super::watch::JobStream;
use crate::changes::{self, Before, ChangeLimits, Changed, Observed, Recorded};
use crate::handle::Folder;
use crate::sources::Clock;
use crate::workspace::Workspace;

/// How long KILL is given to a process that nobody could watch.
const END_PATIENCE: Duration = Duration::from_secs(4);

impl Jobs {
    pub(super) fn begin(&self, spec: JobSpec) -> Result<Arc<Running>, JobError> {
        spec.check()?;
        let count = lock(&self.inner.running).len();
        if count >= self.limits().running {
            return Err(JobError::TooMany { running: count });
        }
        let workspace = &self.inner.workspace;
        let folder = open_folder(workspace, &spec)?;
        let id = self.inner.options.ids.next("job_");
        let launch = self.launch(&spec, &id)?;
        self.prune()?;
        let mut record = self.record(&id, &spec);
        record.install(workspace.store())?;
        let before = spec.undoable.then(|| self.look(&mut record));
        match self.spawn(spec, record, before.flatten(), &launch, &folder) {
            Ok(running) => Ok(running),
            Err(error) => {
                // Nothing ran, so nothing is kept.
                let _ = workspace.store().remove(&record::folder(&id)?);
                Err(error)
            }
        }
    }

    fn spawn(
        &self,
        spec: JobSpec,
        mut record: JobRecord,
        before: Option<(Before, Presence)>,
        launch: &Launch,
        folder: &Folder,
    ) -> Result<Arc<Running>, JobError> {
        let limits = self.limits();
        let store = self.store();
        let own = store.make_folder(&record::folder(&record.id)?)?;
        let failed = |error| store.io(record::JOBS, "preparing the job", error);
        let watched = files::watch(&own).map_err(failed)?;
        let file = |stream| own.create_file(files::name(stream), 0o600).map_err(failed);
        let stdout = Capture::new(limits, Some(file(JobStream::Stdout)?));
        let stderr = match spec.terminal {
            true => Capture::new(limits, None),
            false => Capture::new(limits, Some(file(JobStream::Stderr)?)),
        };
        let (bell, ringing) = rustix::pipe::pipe_with(
            rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK,
        )
        .map_err(|error| failed(error.into()))?;
        let talk = match spec.terminal {
            true => Talk::Terminal,
            false => Talk::Pipes {
                input: spec.stdin.is_some(),
            },
        };
        let start = |source| JobError::Start {
            program: launch.program.display().to_string(),
            source: Arc::new(source),
        };
        spec.program.check()?;
        let (child, wires) = launch::start(launch, folder, talk).map_err(start)?;
        let pid = child.id().cast_signed();
        let tree = Tree::new(&record.id, pid);
        let process = ProcessRecord {
            pid,
            started: tree::start_of(pid).unwrap_or(0),
        };
        files::note_process(&own, &process);
        record.process = Some(process);
        let id = record.id.clone();
        let running = Arc::new(Running::new(record, stdout, stderr, ringing));
        let pump = Pump {
            running: running.clone(),
            tree,
            wires,
            bell,
            stdin: spec.stdin.unwrap_or_default(),
            terminal: spec.terminal,
            masks: [spec.masker.stream(), spec.masker.stream()],
            deadline: spec.timeout.map(|timeout| Instant::now() + timeout),
            limits: limits.clone(),
            watched,
            child,
        };
        lock(&self.inner.running).insert(id.clone(), running.clone());
        let options = &self.inner.options;
        let watcher = Watcher {
            workspace: self.inner.workspace.clone(),
            clock: options.clock.clone(),
            saves: options.saves.clone(),
            changes: options.changes.clone(),
            before,
            background: spec.background,
            all: self.inner.running.clone(),
            id: id.clone(),
        };
        if let Some(started) = &self.inner.options.started {
            started(self, &running.view().record);
        }
        let thread = std::thread::Builder::new().name("redline-job".to_owned());
        match thread.spawn(move || watcher.watch(pump)) {
            Ok(_) => Ok(running),
            Err(error) => {
                // Nobody would watch it.
                lock(&self.inner.running).remove(&id);
                Tree::left_behind(&id, Some((pid, process.started))).kill(END_PATIENCE);
                Err(start(error))
            }
        }
    }

    /// Looks at the workspace before the command runs.
    fn look(&self, record: &mut JobRecord) -> Option<(Before, Presence)> {
        let inner = &self.inner;
        let presence = inner.overlaps.enter(&record.id);
        let before = changes::before(&inner.workspace, &inner.shadow, &inner.options.changes);
        before
            .map_err(|error| {
                record
                    .notes
                    .push(format!("undo does not cover what it changes: {error}"))
            })
            .ok()
            .map(|before| (before, presence))
    }

    fn launch(&self, spec: &JobSpec, id: &str) -> Result<Launch, JobError> {
        let root = self.inner.workspace.root();
        let folder = match &spec.folder {
            None => root.path().to_path_buf(),
            Some(folder) => root.absolute(folder),
        };
        let folder = folder.to_string_lossy();
        let env = spec.process_env(&[("PWD", &folder), (MARK, id)]);
        let launch = Launch {
            program: spec.program.path.clone(),
            name: spec.program.asked.clone().into(),
            arguments: spec.arguments.iter().map(Into::into).collect(),
            env: env
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        };
        let borders = Borders {
            root: root.path(),
            network: spec.network,
        };
        let sandbox = &self.inner.options.sandbox;
        sandbox
            .wrap(launch, borders)
            .map_err(|reason| JobError::BadCommand {
                reason: format!("the sandbox {} cannot confine it: {reason}", sandbox.name()),
            })
    }

    fn record(&self, id: &str, spec: &JobSpec) -> JobRecord {
        JobRecord {
            version: VERSION,
            id: id.to_owned(),
            state: JobState::Running,
            origin: spec.origin.clone(),
            program: (&spec.program).into(),
            arguments: spec
                .arguments
                .iter()
                .map(|one| spec.masker.mask(one))
                .collect(),
            folder: spec
                .folder
                .as_ref()
                .map_or(String::new(), ToString::to_string),
            env_digest: spec.env_digest.clone(),
            sandbox: self.sandbox().to_owned(),
            terminal: spec.terminal,
            timeout_ms: spec
                .timeout
                .map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            started_at_ms: self.now_ms(),
            ended_at_ms: None,
            process: None,
            stdout: StreamTotals::default(),
            stderr: StreamTotals::default(),
            ended_processes: 0,
            changes: None,
            notes: Vec::new(),
        }
    }
}

/// Watches one job to its end, on a thread of its own.
struct Watcher {
    workspace: Workspace,
    clock: Arc<dyn Clock>,
    saves: Arc<dyn EditorSaves>,
    changes: ChangeLimits,
    before: Option<(Before, Presence)>,
    background: bool,
    all: Arc<Mutex<BTreeMap<String, Arc<Running>>>>,
    id: String,
}

impl Watcher {
    fn watch(self, pump: Pump) {
        let running = pump.running.clone();
        let ended = pump.run();
        let store = self.workspace.store();
        let view = running.view();
        let mut record = view.record;
        record.state = ended.state;
        record.ended_at_ms = Some(self.clock.now_ms());
        record.ended_processes = ended.ended_processes;
        record.notes.extend(ended.notes);
        self.compare(&mut record);
        for (stream, kept, totals) in [
            (JobStream::Stdout, &view.stdout, record.stdout),
            (JobStream::Stderr, &view.stderr, record.stderr),
        ] {
            if let Err(error) = files::keep_tail(store, &self.id, stream, kept, totals) {
                record
                    .notes
                    .push(format!("the end of its output is not kept: {error}"));
            }
        }
        if let Err(error) = record.save(store) {
            record
                .notes
                .push(format!("this could not be recorded: {error}"));
        }
        drop(ended.watched);
        // From here on its record is what there is of it.
        lock(&self.all).remove(&self.id);
        running.finish(record);
    }
}

impl Watcher {
    /// Compares the workspace with what it was, and puts what changed into the checkpoint.
    fn compare(&self, record: &mut JobRecord) {
        let Some((before, presence)) = &self.before else {
            return;
        };
        let found = changes::after(&self.workspace, before, &self.changes);
        let beside = presence.met();
        let since_ms = record.started_at_ms;
        let observed = |changed: &Changed| {
            let saved = changed.text_after.as_deref().is_some_and(|text| {
                let revision = redline_edits::text_revision(text).to_string();
                self.saves.saved(&changed.path, &revision, since_ms)
            });
            if saved {
                Some(Observed::Saved)
            } else if changed.committed {
                Some(Observed::Committed)
            } else if !beside.is_empty() {
                Some(Observed::Beside {
                    jobs: beside.clone(),
                })
            } else {
                self.background.then_some(Observed::Background)
            }
        };
        let recorded = found.and_then(|found| {
            let title = format!("`{}`", record.program.asked);
            let origin = &record.origin;
            let recorded = Recorded {
                job_id: &record.id,
                checkpoint_id: origin.turn_id.as_deref().unwrap_or(&record.id),
                title: origin.title.as_deref().unwrap_or(&title),
                at: self.clock.now_ms() / 1000,
            };
            Ok(changes::record(
                &self.workspace,
                &recorded,
                &found,
                &observed,
            )?)
        });
        match recorded {
            Ok(summary) => record.changes = Some(summary),
            Err(error) => record
                .notes
                .push(format!("undo does not cover what it changed: {error}")),
        }
    }
}

/// The folder to run in, walked without following links.
fn open_folder(workspace: &Workspace, spec: &JobSpec) -> Result<Folder, JobError> {
    let root = workspace.root();
    let no_folder = || JobError::NoFolder {
        path: spec
            .folder
            .as_ref()
            .map_or(".".to_owned(), ToString::to_string),
    };
    match &spec.folder {
        None => root.folder().open_folder(".").map_err(|_| no_folder()),
        Some(path) => {
            let place = root.batch().place(path)?;
            let parent = place.parent().ok_or_else(no_folder)?;
            parent
                .folder
                .open_folder(path.name())
                .map_err(|_| no_folder())
        }
    }
}
