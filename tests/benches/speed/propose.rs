//! `redline propose` with a sidecar running, process start and durable store included, against `git apply --check`.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use redline_tests::project::Project;

use crate::measure::{compare, medians_ms, time};

/// A project and a patch for it.
pub(crate) struct Job {
    pub name: String,
    pub bound: f64,
    pub files: Vec<(String, String)>,
    pub patch: String,
}

/// One edit in one small file.
pub(crate) fn single_file() -> Job {
    edits("1 edited file", 8.0, 60, 1)
}

fn edits(name: &str, bound: f64, lines: usize, hunks: usize) -> Job {
    let every = lines / hunks;
    let text: String = (0..lines)
        .map(|n| format!("line {n} of the file\n"))
        .collect();
    let mut patch = String::from("diff --git a/big.txt b/big.txt\n--- a/big.txt\n+++ b/big.txt\n");
    for hunk in 0..hunks {
        let at = hunk * every + every / 2;
        let _ = writeln!(patch, "@@ -{},7 +{},7 @@", at - 2, at - 2);
        for n in at - 3..at + 4 {
            if n == at {
                let _ = writeln!(patch, "-line {n} of the file\n+line {n} was changed");
            } else {
                let _ = writeln!(patch, " line {n} of the file");
            }
        }
    }
    Job {
        name: name.to_owned(),
        bound,
        files: vec![("big.txt".to_owned(), text)],
        patch,
    }
}

/// Files that are added, in folders of a hundred.
pub(crate) fn added(n: usize) -> Job {
    let mut patch = String::new();
    for file in 0..n {
        let path = format!("made/{}/file{file}.txt", file / 100);
        let _ = write!(
            patch,
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,3 @@\n+first line of {file}\n+second line\n+third line\n"
        );
    }
    Job {
        name: format!("{n} added files"),
        bound: 4.0,
        files: vec![("there.txt".to_owned(), "there\n".to_owned())],
        patch,
    }
}

/// Makes the project of a job, with its patch beside it.
pub(crate) fn project(job: &Job) -> Result<Project> {
    let project = Project::new()?;
    for (path, text) in &job.files {
        project.write(path, text)?;
    }
    std::fs::write(project.folder().join("patch"), &job.patch)?;
    Ok(project)
}

/// `git apply` with these arguments before the patch.
pub(crate) fn git_apply(project: &Project, arguments: &[&str]) -> Result<()> {
    let status = std::process::Command::new("git")
        .arg("apply")
        .args(arguments)
        .arg(project.folder().join("patch"))
        .current_dir(project.root())
        .env_clear()
        .envs(project.environment())
        .status()?;
    ensure!(status.success(), "git apply: {status}");
    Ok(())
}

/// Proposes the patch through the command line; the id, and the time it took.
pub(crate) fn propose(project: &Project) -> Result<(String, Duration)> {
    let patch = std::fs::File::open(project.folder().join("patch"))?;
    let mut command = project.command(&["propose", "--json"])?;
    command.stdin(Stdio::from(patch)).stdout(Stdio::piped());
    let begun = std::time::Instant::now();
    let output = command.spawn()?.wait_with_output()?;
    let spent = begun.elapsed();
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let value: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let id = value["transaction"]
        .as_str()
        .context("a transaction")?
        .to_owned();
    Ok((id, spent))
}

pub(crate) fn run(quick: bool) -> Result<()> {
    let jobs = if quick {
        vec![single_file(), added(10)]
    } else {
        vec![
            single_file(),
            edits("100 hunks in 10,000 lines", 4.0, 10_000, 100),
            edits("500 hunks in 50,000 lines", 4.0, 50_000, 500),
            added(1_000),
        ]
    };
    for job in jobs {
        let project = project(&job)?;
        // The sidecar comes up, and stays.
        let _editor = project.editor(&redline_tests::editor::Profile::full())?;
        let (ours, reference) = medians_ms(
            if quick { 1 } else { 15 },
            || {
                let (id, spent) = propose(&project)?;
                project.run(&["reject", &id])?.expect_code(0)?;
                Ok(spent)
            },
            || time(|| git_apply(&project, &["--check"])),
        )?;
        compare(
            &format!("propose {} / git apply --check", job.name),
            ours,
            reference,
            job.bound,
        );
    }
    Ok(())
}
