//! Jobs on real processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod ending;
mod output;
mod restart;
mod running;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::env::{EnvSnapshot, Masker, SessionEnv};
use crate::journal::JournalOptions;
use crate::testing::{Scratch, key};
use crate::workspace::{Workspace, WorkspaceOptions};

/// Jobs in a real folder. Each process of theirs has the folder's name in its env.
struct Bench {
    scratch: Scratch,
    jobs: Jobs,
}

/// Ids that no other test has: a job ends every process that bears its mark, whoever started it.
struct Counting;

impl crate::sources::Ids for Counting {
    fn next(&self, prefix: &str) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}{:06}{:08x}", count, std::process::id())
    }
}

fn options(limits: JobLimits) -> JobOptions {
    let ids = Arc::new(Counting);
    JobOptions {
        limits,
        ..JobOptions::new(Arc::new(|| 1_700_000_000_000), ids)
    }
}

fn open(scratch: &Scratch, limits: JobLimits) -> (Jobs, Vec<JobRecord>) {
    let clock: Arc<dyn crate::sources::Clock> = Arc::new(|| 1_700_000_000_000);
    let workspace = WorkspaceOptions {
        root: crate::boundary::RootOptions::default(),
        key: key(),
        clock,
        journal: JournalOptions::default(),
    };
    let (workspace, _) = Workspace::open(scratch.root.path(), workspace).unwrap();
    Jobs::open(workspace, options(limits))
}

impl Bench {
    fn new() -> Self {
        Self::with(JobLimits::default())
    }

    fn with(limits: JobLimits) -> Self {
        let scratch = Scratch::new(&[("sub/file.txt", "x\n")]);
        let (jobs, orphans) = open(&scratch, limits);
        assert_eq!(orphans, []);
        Self { scratch, jobs }
    }

    fn env(&self) -> Arc<EnvSnapshot> {
        let mut env = SessionEnv::new([
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("HOME".to_owned(), "/".to_owned()),
        ]);
        let mark = self.scratch.root.path().display().to_string();
        env.set_env([("TEST_MARK".to_owned(), mark)].into())
            .unwrap();
        env.snapshot()
    }

    fn spec(&self, program: &str, arguments: &[&str]) -> JobSpec {
        let env = self.env();
        let programs = self.jobs.programs();
        JobSpec {
            program: programs
                .resolve(&self.scratch.root, program, None, env.get("PATH"))
                .unwrap(),
            arguments: arguments.iter().map(|one| (*one).to_owned()).collect(),
            folder: None,
            env,
            env_digest: "digest".to_owned(),
            stdin: None,
            terminal: false,
            timeout: Some(Duration::from_secs(60)),
            background: false,
            undoable: true,
            network: false,
            masker: Masker::default(),
            origin: JobOrigin::default(),
        }
    }

    fn shell(&self, script: &str) -> JobSpec {
        self.spec("sh", &["-c", script])
    }

    fn run(&self, spec: JobSpec) -> JobView {
        self.jobs.run(spec, &AtomicBool::new(false)).unwrap()
    }

    /// Starts it, and waits until it has said that it is ready.
    fn started(&self, spec: JobSpec) -> String {
        let id = self.jobs.start(spec).unwrap().id;
        until("the job is ready", || {
            self.jobs
                .output(&id)
                .unwrap()
                .stdout
                .head
                .starts_with(b"ready")
        });
        id
    }

    /// The living processes of this bench, found by nothing that the code under test uses but their env.
    fn alive(&self) -> Vec<String> {
        alive(&format!("TEST_MARK={}", self.scratch.root.path().display()))
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.jobs.end_all();
        if !std::thread::panicking() {
            assert_eq!(self.alive(), Vec::<String>::new(), "left behind");
        }
    }
}

fn alive(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ
            .split(|byte| *byte == 0)
            .any(|pair| pair == mark.as_bytes())
        {
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            found.push(format!("{} {command}", entry.file_name().to_string_lossy()));
        }
    }
    found
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within a minute");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn text(kept: &Kept) -> String {
    assert_eq!(kept.dropped(), 0);
    let whole = [kept.head.as_slice(), &kept.tail].concat();
    String::from_utf8(whole).unwrap()
}
