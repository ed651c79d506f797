//! A real project folder for tests.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::boundary::{RootOptions, WorkspacePath, WorkspaceRoot};
use crate::effect::{Area, FaultPlan};
use crate::store::{SealKey, Store, StorePath};

pub(crate) struct Scratch {
    /// The folder that holds `ws`; `None` for that of a parent process.
    temp: Option<tempfile::TempDir>,
    pub(crate) root: WorkspaceRoot,
    pub(crate) faults: Arc<FaultPlan>,
}

const PARENT: &str = "REDLINE_TEST_WORKSPACE";

/// Runs one test of this binary in a process of its own, on the same workspace.
pub(crate) fn child(test: &str, scratch: &Scratch) -> std::process::Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(PARENT, scratch.root.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap()
}

/// Runs one test of this binary in user and mount namespaces of its own; `None` where the system has none.
pub(crate) fn in_namespace(test: &str, scratch: &Scratch) -> Option<std::process::ExitStatus> {
    let namespaces = ["-r", "-m"];
    let works = std::process::Command::new("unshare")
        .args(namespaces)
        .arg("true")
        .status();
    works.ok().filter(std::process::ExitStatus::success)?;
    let mut command = std::process::Command::new("unshare");
    command
        .args(namespaces)
        .arg(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--nocapture"])
        .env(PARENT, scratch.root.path());
    Some(
        command
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap(),
    )
}

pub(crate) fn revision(text: &str) -> String {
    crate::revision::revision(text.as_bytes())
}

pub(crate) fn key() -> SealKey {
    SealKey::new([7; 32])
}

impl Scratch {
    /// A workspace `ws` in a folder of its own, with these files.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, &[])
    }

    pub(crate) fn with(files: &[(&str, &str)], protected: &[&str]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let ws = temp.path().join("ws");
        std::fs::create_dir(&ws).unwrap();
        for (path, text) in files {
            write(&ws.join(path), text);
        }
        let faults = Arc::new(FaultPlan::new());
        let options = RootOptions {
            protected: protected.iter().map(|glob| (*glob).to_owned()).collect(),
            faults: Some(faults.clone()),
            ..RootOptions::default()
        };
        let root = WorkspaceRoot::open(&ws, options).unwrap();
        Self {
            temp: Some(temp),
            root,
            faults,
        }
    }

    /// The workspace of the test that started this process (see [`child`]).
    pub(crate) fn of_parent() -> Option<Self> {
        let path = std::env::var_os(PARENT)?;
        let root = WorkspaceRoot::open(Path::new(&path), RootOptions::default()).unwrap();
        Some(Self {
            temp: None,
            root,
            faults: Arc::default(),
        })
    }

    /// The folder that holds `ws`.
    pub(crate) fn outside(&self) -> &Path {
        self.temp.as_ref().unwrap().path()
    }

    pub(crate) fn on_disk(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.on_disk(path), text);
    }

    pub(crate) fn path(&self, path: &str) -> WorkspacePath {
        self.root.admit(path).unwrap()
    }

    pub(crate) fn store(&self) -> Store {
        Store::new(self.root.clone(), key())
    }

    pub(crate) fn area(&self) -> Area {
        self.store()
            .area(&StorePath::new("transactions/tx_1/staged").unwrap())
            .unwrap()
    }

    /// All files outside `.agentic` and what they hold (links: their target), sorted.
    pub(crate) fn tree(&self) -> Vec<(String, String)> {
        let mut files = Vec::new();
        collect(self.root.path(), self.root.path(), &mut files);
        files.retain(|(path, _)| !path.starts_with(".agentic/"));
        files.sort();
        files
    }

    pub(crate) fn pair(pair: (&str, &str)) -> (String, String) {
        (pair.0.to_owned(), pair.1.to_owned())
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let shown = path
            .strip_prefix(root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        if path.is_symlink() {
            files.push((
                shown,
                format!("-> {}", std::fs::read_link(&path).unwrap().display()),
            ));
        } else if path.is_dir() {
            collect(root, &path, files);
        } else {
            files.push((
                shown,
                String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned(),
            ));
        }
    }
}
