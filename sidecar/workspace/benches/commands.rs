//! What running a command costs, beside what the system's own way costs for the same.
//!
//! Run with `cargo bench -p redline-workspace --bench commands`.
//!
//! - `run_true` beside `spawn_true`: a job against a plain fork, exec and capture. The difference is the durable
//!   record (written and synced before and after) and the look at the process list at its end.
//! - `run_true_followed_…` beside `git_status`: the same with what it changes followed, in a tree of 100,000 files.
//!   It grows with the files that are not ignored, two `lstat` for each; copies cost their bytes once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use divan::Bencher;
use redline_workspace::{
    Ids, JobOptions, JobOrigin, JobSpec, Jobs, JournalOptions, Masker, RootOptions, SealKey,
    SessionEnv, Workspace, WorkspaceOptions,
};

const FOLDERS: usize = 1000;
const FILES_IN_EACH: usize = 100;

fn main() {
    divan::main();
}

/// Ids that no other workspace of this process has.
struct Numbers;

static COUNT: AtomicU64 = AtomicU64::new(0);

impl Ids for Numbers {
    fn next(&self, prefix: &str) -> String {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}{:010}{count:016}", std::process::id())
    }
}

struct Shell {
    workspace: Workspace,
    jobs: Jobs,
}

fn shell(root: &Path) -> Shell {
    let options = WorkspaceOptions {
        root: RootOptions::default(),
        key: SealKey::new([1; 32]),
        clock: Arc::new(|| 1_700_000_000_000),
        journal: JournalOptions::default(),
    };
    let (workspace, _) = Workspace::open(root, options).unwrap();
    let options = JobOptions::new(Arc::new(|| 1_700_000_000_000), Arc::new(Numbers));
    let (jobs, _) = Jobs::open(workspace.clone(), options);
    Shell { workspace, jobs }
}

impl Shell {
    fn run(&self, script: &str, undoable: bool) {
        let env = SessionEnv::new([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]).snapshot();
        let (program, arguments) = match script {
            "true" => ("true", Vec::new()),
            script => ("sh", vec!["-c".to_owned(), script.to_owned()]),
        };
        let spec = JobSpec {
            program: self
                .jobs
                .programs()
                .resolve(self.workspace.root(), program, None, env.get("PATH"))
                .unwrap(),
            arguments,
            folder: None,
            env,
            env_digest: String::new(),
            stdin: None,
            terminal: false,
            timeout: Some(Duration::from_secs(60)),
            background: false,
            undoable,
            network: false,
            masker: Masker::default(),
            origin: JobOrigin::default(),
        };
        self.jobs.run(spec, &AtomicBool::new(false)).unwrap();
    }
}

fn small() -> (tempfile::TempDir, Shell) {
    let temp = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::write(temp.path().join("a.txt"), "a\n").unwrap();
    let shell = shell(temp.path());
    (temp, shell)
}

#[divan::bench]
fn spawn_true() -> std::process::Output {
    Command::new("true").output().unwrap()
}

#[divan::bench]
fn run_true(bencher: Bencher) {
    let (_temp, shell) = small();
    bencher.bench_local(|| shell.run("true", false));
}

#[divan::bench]
fn run_true_followed(bencher: Bencher) {
    let (_temp, shell) = small();
    bencher.bench_local(|| shell.run("true", true));
}

/// 100,000 small files, made once; all of them committed, or none of them known to git.
fn large(committed: bool) -> PathBuf {
    static TREES: [OnceLock<PathBuf>; 2] = [OnceLock::new(), OnceLock::new()];
    let make = || {
        let name = if committed { "committed" } else { "plain" };
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("commands-100000-{name}"));
        let done = root.join("0/99.txt");
        if !done.exists() || (committed && !root.join(".git/index").exists()) {
            for folder in (0..FOLDERS).rev() {
                let folder = root.join(folder.to_string());
                std::fs::create_dir_all(&folder).unwrap();
                for file in 0..FILES_IN_EACH {
                    let text = format!("{} {file}\n", folder.display()).repeat(4);
                    std::fs::write(folder.join(format!("{file}.txt")), text).unwrap();
                }
            }
            if committed {
                git(&root, &["init", "-q"]);
                // Nothing of git's goes on in the background while something else is measured.
                git(&root, &["config", "gc.auto", "0"]);
                git(&root, &["add", "-A"]);
                git(
                    &root,
                    &[
                        "-c",
                        "user.name=b",
                        "-c",
                        "user.email=b@b",
                        "commit",
                        "-q",
                        "-m",
                        "all",
                    ],
                );
            }
        }
        root
    };
    TREES[usize::from(committed)].get_or_init(make).clone()
}

fn git(root: &Path, arguments: &[&str]) -> std::process::Output {
    let done = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output()
        .unwrap();
    assert!(done.status.success());
    done
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn git_status_100000(bencher: Bencher) {
    let root = large(true);
    bencher.bench_local(|| git(&root, &["status", "--porcelain"]));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn run_true_followed_100000_committed(bencher: Bencher) {
    let shell = shell(&large(true));
    bencher.bench_local(|| shell.run("true", true));
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn run_true_followed_100000_without_git(bencher: Bencher) {
    let shell = shell(&large(false));
    // The first one copies.
    shell.run("true", true);
    bencher.bench_local(|| shell.run("true", true));
}

#[divan::bench(sample_count = 1, sample_size = 1)]
fn copy_100000_first(bencher: Bencher) {
    let root = large(false);
    bencher
        .with_inputs(|| shell(&root))
        .bench_local_values(|shell| {
            shell.run("true", true);
            shell
        });
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn change_100_of_100000(bencher: Bencher) {
    let shell = shell(&large(true));
    let mut turn = 0;
    bencher.bench_local(|| {
        turn += 1;
        shell.run(
            &format!("for f in 7/*.txt; do echo {turn} >> $f; done"),
            true,
        );
    });
    git(&large(true), &["checkout", "-q", "--", "7"]);
}
