//! What the boundary and a commit cost, beside what the system's own tools cost for the same.
//!
//! Run with `cargo bench -p redline-workspace`. Costs grow with the number of files; a folder is opened once
//! for each batch, and fsyncs wait together.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs
)]

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use divan::Bencher;
use redline_workspace::{
    Batch, Expect, Journal, JournalOptions, RootOptions, SealKey, Stage, Store, StorePath,
    WorkspaceRoot,
};

const FILES: usize = 1000;

fn main() {
    divan::main();
}

struct Project {
    temp: tempfile::TempDir,
    root: WorkspaceRoot,
}

impl Project {
    /// In the target folder: a temporary folder may live in memory, where an fsync costs nothing.
    fn new() -> Self {
        let temp = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = WorkspaceRoot::open(temp.path(), RootOptions::default()).unwrap();
        Self { temp, root }
    }

    fn store(&self) -> Store {
        Store::new(self.root.clone(), SealKey::new([1; 32]))
    }
}

fn names() -> Vec<String> {
    (0..FILES)
        .map(|number| format!("src/d{}/file{number}.rs", number % 20))
        .collect()
}

fn text(number: usize) -> String {
    format!("// file {number}\n").repeat(10)
}

#[divan::bench]
fn admit_1000_paths(bencher: Bencher) {
    let project = Project::new();
    let names = names();
    for number in 0..20 {
        std::fs::create_dir_all(project.temp.path().join(format!("src/d{number}"))).unwrap();
    }
    bencher.bench_local(|| {
        let batch = project.root.batch();
        names
            .iter()
            .filter(|name| batch.admit_write(name).unwrap().stat().is_none())
            .count()
    });
}

#[divan::bench]
fn admit_1000_paths_in_folders_to_be_made(bencher: Bencher) {
    let project = Project::new();
    let names = names();
    bencher.bench_local(|| {
        let batch = project.root.batch();
        names
            .iter()
            .filter(|name| batch.admit_write(name).unwrap().stat().is_none())
            .count()
    });
}

#[divan::bench]
fn read_one_file(bencher: Bencher) {
    let project = Project::new();
    std::fs::write(project.temp.path().join("a.rs"), text(1)).unwrap();
    let path = project.root.admit("a.rs").unwrap();
    bencher.bench_local(|| project.root.batch().read(&path).unwrap());
}

#[divan::bench]
fn read_1000_files(bencher: Bencher) {
    let project = Project::new();
    write_all(project.temp.path());
    let paths: Vec<_> = names()
        .iter()
        .map(|name| project.root.admit(name).unwrap())
        .collect();
    bencher.bench_local(|| {
        let batch = project.root.batch();
        paths
            .iter()
            .filter(|path| matches!(batch.read(path), Ok(redline_workspace::Entry::File(_))))
            .count()
    });
}

#[divan::bench]
fn append_to_the_journal(bencher: Bencher) {
    let project = Project::new();
    let store = project.store();
    let journal = Journal::new(store.clone(), Arc::new(|| 0), JournalOptions::default());
    bencher.bench_local(|| {
        let lock = store.lock(std::time::Duration::ZERO, "bench").unwrap();
        journal.append(&lock, "bench", &"data").unwrap()
    });
}

#[divan::bench]
fn poll_the_journal_in_vain(bencher: Bencher) {
    let project = Project::new();
    let store = project.store();
    let journal = Journal::new(store.clone(), Arc::new(|| 0), JournalOptions::default());
    journal
        .append(
            &store.lock(std::time::Duration::ZERO, "bench").unwrap(),
            "bench",
            &"data",
        )
        .unwrap();
    let mut follower = journal.follow(0);
    bencher.bench_local(|| follower.poll().unwrap().len());
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn create_1000_files(bencher: Bencher) {
    bencher
        .with_inputs(Project::new)
        .bench_local_values(|project| {
            commit(&project, |batch, path| {
                batch.make_folders(path).unwrap();
                Expected::Missing
            });
            project
        });
}

#[divan::bench(sample_count = 10, sample_size = 1)]
fn edit_1000_files(bencher: Bencher) {
    bencher
        .with_inputs(|| {
            let project = Project::new();
            write_all(project.temp.path());
            project
        })
        .bench_local_values(|project| {
            commit(&project, |batch, path| match batch.read(path).unwrap() {
                redline_workspace::Entry::File(file) => Expected::Revision(file.revision()),
                entry => panic!("{entry:?}"),
            });
            project
        });
}

/// The reference: `git apply` of the same files, then an fsync of each.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn git_apply_1000_files_and_fsync_each(bencher: Bencher) {
    bencher
        .with_inputs(|| {
            let project = Project::new();
            let mut patch = String::new();
            for (number, name) in names().iter().enumerate() {
                patch.push_str(&format!("diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,10 @@\n"));
                patch.extend(text(number).lines().map(|line| format!("+{line}\n")));
            }
            std::fs::write(project.temp.path().join("p.patch"), patch).unwrap();
            project
        })
        .bench_local_values(|project| {
            let folder = project.temp.path();
            let git = Command::new("git").args(["apply", "p.patch"]).env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap()).current_dir(folder).status().unwrap();
            assert!(git.success());
            for name in names() {
                std::fs::File::open(folder.join(name)).unwrap().sync_all().unwrap();
            }
            project
        });
}

enum Expected {
    Missing,
    Revision(String),
}

fn commit(
    project: &Project,
    expect: impl Fn(&Batch, &redline_workspace::WorkspacePath) -> Expected,
) {
    let store = project.store();
    let area = store
        .area(&StorePath::new("transactions/tx_1/staged").unwrap())
        .unwrap();
    let batch = project.root.batch();
    let paths: Vec<_> = names()
        .iter()
        .map(|name| project.root.admit(name).unwrap())
        .collect();
    let numbers: Vec<_> = (0..FILES).map(|number| number.to_string()).collect();
    let texts: Vec<_> = (0..FILES).map(|number| text(number + 1)).collect();
    let files = (0..FILES)
        .map(|number| Stage::new(&paths[number], texts[number].as_bytes(), &numbers[number]));
    let staged = batch.stage(&area, &files.collect::<Vec<_>>()).unwrap();
    for (staged, path) in staged.iter().zip(&paths) {
        match expect(&batch, path) {
            Expected::Missing => batch.publish(&area, staged, Expect::Missing).unwrap(),
            Expected::Revision(revision) => batch
                .publish(&area, staged, Expect::Revision(&revision))
                .unwrap(),
        }
    }
    batch.sync_changed().unwrap();
}

fn write_all(folder: &Path) {
    for (number, name) in names().iter().enumerate() {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text(number)).unwrap();
    }
}
