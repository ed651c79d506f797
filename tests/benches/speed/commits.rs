//! The commit of 1,000 files against `git apply` and an fsync of each; one hunk of many files against one of one.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use redline_tests::editor::{Editor, Profile};
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::measure::{compare, medians_ms, time};
use crate::propose;

pub(crate) fn run(quick: bool) -> Result<()> {
    let files = if quick { 10 } else { 1_000 };
    whole_commit(files, quick)?;
    one_hunk(files, quick)
}

fn whole_commit(files: usize, quick: bool) -> Result<()> {
    let job = propose::added(files);
    let (ours, reference) = medians_ms(
        if quick { 1 } else { 7 },
        || {
            let project = propose::project(&job)?;
            let _editor = project.editor(&Profile::full())?;
            let (id, _) = propose::propose(&project)?;
            let spent = time(|| project.run(&["accept", &id])?.expect_code(0))?;
            ensure!(
                project.root().join("made/0/file3.txt").exists(),
                "nothing was committed"
            );
            Ok(spent)
        },
        || {
            let project = propose::project(&job)?;
            time(|| {
                propose::git_apply(&project, &[])?;
                sync_all(&project.root().join("made"))
            })
        },
    )?;
    compare(
        &format!("commit of {files} files / git apply and fsync of each"),
        ours,
        reference,
        2.0,
    );
    Ok(())
}

fn sync_all(folder: &std::path::Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            std::fs::File::open(&path)?.sync_all()?;
        }
    }
    Ok(())
}

/// Who accepts a hunk.
#[derive(Debug, Clone, Copy)]
enum Who {
    /// An editor, over its connection.
    Editor,
    /// A person, with `redline accept`.
    Person,
    /// A script, with `redline accept --json`, which prints every file of the transaction.
    Script,
}

/// A transaction of many hunks, decided one by one.
struct Many {
    project: Project,
    editor: Editor,
    id: String,
    hunks: Vec<Value>,
}

impl Many {
    fn start(files: usize) -> Result<Many> {
        let project = Project::new()?;
        let mut edits = Vec::new();
        // The one file has as many hunks as are needed for all runs.
        let per_file = if files == 1 { 100 } else { 2 };
        for file in 0..files {
            let text: String = (0..per_file)
                .map(|n| format!("hunk {n} here\n\n\n"))
                .collect();
            let path = format!("in/{}/file{file}.txt", file / 100);
            project.write(&path, &text)?;
            edits.push(json!({"path": path, "text": text.replace("here", "there")}));
        }
        let editor = project.editor(&Profile::full())?;
        // Over another connection: whoever proposes does not decide.
        let proposal = json!({"files": edits}).to_string();
        let transaction = project
            .run_with(&["propose", "--json"], proposal.as_bytes())?
            .expect_code(0)?
            .json()?;
        let hunks = transaction["files"]
            .as_array()
            .context("files")?
            .iter()
            .flat_map(|file| file["hunks"].as_array().cloned().unwrap_or_default())
            .collect();
        let id = transaction["transaction"]
            .as_str()
            .context("id")?
            .to_owned();
        Ok(Many {
            project,
            editor,
            id,
            hunks,
        })
    }

    fn accept_one(&mut self, who: Who) -> Result<Duration> {
        let hunk = self.hunks.pop().context("no hunk is left")?;
        let hunk = hunk["id"].as_str().context("id")?;
        let arguments = ["accept", &self.id, "--hunk", hunk, "--json"];
        time(|| match who {
            Who::Editor => {
                self.editor.client.request(
                    "redline/transaction/accept",
                    json!({"transactionId": self.id, "hunks": [{"id": hunk}]}),
                )?;
                Ok(())
            }
            Who::Person => {
                self.project.run(&arguments[..4])?.expect_code(0)?;
                Ok(())
            }
            Who::Script => {
                self.project.run(&arguments)?.expect_code(0)?;
                Ok(())
            }
        })
    }
}

fn one_hunk(files: usize, quick: bool) -> Result<()> {
    let mut many = Many::start(files)?;
    let mut one = Many::start(1)?;
    for (who, name) in [
        (Who::Editor, "in an editor"),
        (Who::Person, "in a terminal"),
        (Who::Script, "with --json"),
    ] {
        let (ours, reference) = medians_ms(
            if quick { 1 } else { 25 },
            || many.accept_one(who),
            || one.accept_one(who),
        )?;
        compare(
            &format!("accept one hunk {name}, of {files} files / of 1 file"),
            ours,
            reference,
            2.0,
        );
    }
    Ok(())
}
