//! Commits that are killed or fail at each write, and many processes at once.
//!
//! The real binary under `strace`, which kills it with SIGKILL, or makes a call fail, at a chosen system call. Afterwards the
//! project has to be wholly before or wholly after, the status has to say what recovery did, and the journal has to verify.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use libtest_mimic::{Failed, Trial};
use redline_tests::client::Client;
use redline_tests::editor::{Document, Editor, Profile};
use redline_tests::machine::tool;
use redline_tests::project::Project;
use redline_tests::strace::{self, Injection};
use redline_tests::tree::Tree;
use serde_json::{Value, json};

use crate::test;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        traced(
            "durability::killed_at_every_write_the_tree_is_whole",
            killed_at_every_write_the_tree_is_whole,
        ),
        traced(
            "durability::a_failing_write_leaves_the_tree_whole",
            a_failing_write_leaves_the_tree_whole,
        ),
        test(
            "durability::eight_processes_agree_on_an_order",
            eight_processes_agree_on_an_order,
        ),
    ]
}

/// A test that needs `strace`; without it the test reports itself ignored.
fn traced(name: &str, run: fn() -> Result<()>) -> Trial {
    Trial::test(name, move || {
        run().map_err(|error| Failed::from(format!("{error:?}")))
    })
    .with_ignored_flag(tool("strace").is_none())
}

/// Whether the long forms are wanted: every write instead of a part of them, a minute instead of seconds.
fn thorough() -> bool {
    std::env::var_os("REDLINE_THOROUGH").is_some()
}

const OPEN: &str = "open one\nopen two\nopen three\n";

/// Five files: an open document and a closed file are edited, one is made, one goes, one moves.
fn five_files() -> Result<Project> {
    let project = Project::with_files(&[
        ("open.txt", OPEN),
        ("closed.txt", "closed one\nclosed two\n"),
        ("gone.txt", "gone\n"),
        ("old.txt", "moved\n"),
    ])?;
    Ok(project)
}

fn proposal() -> String {
    json!({"files": [
        {"path": "open.txt", "text": OPEN.replace("two", "TWO")},
        {"path": "closed.txt", "text": "closed one\nclosed TWO\n"},
        {"path": "made.txt", "text": "made\n"},
        {"path": "gone.txt", "delete": true},
        {"path": "old.txt", "rename_to": "sub/new.txt", "text": "moved\n"},
    ]})
    .to_string()
}

/// What the user sees: the open document, and all other files.
#[derive(PartialEq)]
struct Seen {
    open: String,
    rest: Tree,
}

fn seen(project: &Project, editor: &Editor) -> Result<Seen> {
    let mut rest = project.tree()?;
    rest.0.remove(Path::new("open.txt"));
    Ok(Seen {
        open: editor.text("open.txt")?,
        rest,
    })
}

/// One commit in a traced process of its own. The editor outlives it.
struct Traced {
    project: Project,
    editor: Editor,
    before: Seen,
}

impl Traced {
    /// Proposes untraced, then opens the document in a traced server.
    fn start(injection: Option<&Injection>) -> Result<Traced> {
        let project = five_files()?;
        project
            .run_with(&["propose", "--in-process"], proposal().as_bytes())?
            .expect_code(0)?;
        let command = project.command(&["lsp", "--in-process"])?;
        let wrapped = strace::wrap(
            &command,
            &project.folder().join("trace"),
            strace::WRITING,
            injection,
        );
        let editor = Editor::start(&project.root(), &Profile::full(), |answer| {
            Client::spawn(wrapped, std::process::Stdio::null(), answer)
        })?;
        editor.open_with(
            "open.txt",
            Document {
                text: OPEN.into(),
                version: 1,
                dirty: false,
            },
        )?;
        editor.client.request("redline/status", json!({}))?;
        let before = seen(&project, &editor)?;
        Ok(Traced {
            project,
            editor,
            before,
        })
    }

    fn log(&self) -> PathBuf {
        self.project.folder().join("trace")
    }

    fn accept(&self) -> Result<redline_tests::client::Reply> {
        self.editor
            .client
            .ask("redline/transaction/accept", json!({}))
    }
}

/// The calls of an undisturbed commit that touch the project or its store, as injections by name and number in one thread.
fn writes_of_a_commit(effect: &str) -> Result<(Vec<Injection>, Seen)> {
    let traced = Traced::start(None)?;
    let log = traced.project.folder().join("trace");
    let before = std::fs::read_to_string(&log)?.lines().count();
    let reply = traced.accept()?;
    ensure!(reply.is_ok(), "an undisturbed commit failed: {reply:?}");
    let after = seen(&traced.project, &traced.editor)?;
    ensure!(after != traced.before, "nothing was committed");
    let text = std::fs::read_to_string(&log)?;
    let root = traced.project.folder().to_string_lossy().into_owned();
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut found: BTreeSet<(String, usize)> = BTreeSet::new();
    for (number, line) in text.lines().enumerate() {
        let (thread, rest) = line.split_once(' ').unwrap_or(("", line));
        let Some((name, _)) = rest.trim_start().split_once('(') else {
            continue;
        };
        let count = counts
            .entry((thread.to_owned(), name.to_owned()))
            .or_default();
        *count += 1;
        let opens = name.starts_with("open") || name == "creat";
        let ours = rest.contains(&root) && (!opens || rest.contains("O_CREAT"));
        if number >= before && ours {
            found.insert((name.to_owned(), *count));
        }
    }
    ensure!(found.len() >= 10, "only {} writes were seen", found.len());
    let injections = found
        .into_iter()
        .map(|(call, nth)| Injection {
            call,
            nth,
            effect: effect.to_owned(),
        })
        .collect();
    Ok((injections, after))
}

/// All of them when thorough; else every so many, beginning at another place for each effect.
fn some(all: Vec<Injection>, most: usize) -> Vec<Injection> {
    if thorough() || all.len() <= most {
        return all;
    }
    let stride = all.len().div_ceil(most);
    all.into_iter().step_by(stride).collect()
}

fn killed_at_every_write_the_tree_is_whole() -> Result<()> {
    let (all, after) = writes_of_a_commit("signal=KILL")?;
    let (mut befores, mut afters) = (0, 0);
    for injection in some(all, 24) {
        let name = format!("{} {}", injection.call, injection.nth);
        let traced = match Traced::start(Some(&injection)) {
            Ok(traced) => traced,
            // Killed before the document was open: the count hit another thread's call.
            Err(_) => continue,
        };
        let outcome = traced.accept();
        let Traced {
            project,
            editor,
            before,
        } = traced;
        // A new server finds what the kill left; the editor opens there what it still has open.
        let editor =
            editor.reconnected(|answer| project.bridge(&["lsp", "--in-process"], answer))?;
        let status = editor.client.request("redline/status", json!({}))?;
        let now = seen(&project, &editor)?;
        let is_undone = now.rest == before.rest;
        if now == before {
            befores += 1;
        } else if now == after {
            afters += 1;
        } else if is_undone && now.open == after.open {
            // Killed when the editor had its edit and the journal did not say so yet: taken back on disk, and in
            // the document it counts as done by hand.
            is_told_as_by_hand(&status).with_context(|| name.clone())?;
        } else {
            anyhow::bail!(
                "killed at {name}: neither before nor after: {:?} {:?}; open: {:?}; {status}",
                before.rest.differences(&now.rest),
                after.rest.differences(&now.rest),
                now.open
            );
        }
        if outcome.is_err() && is_undone {
            // It can be done again, and then it is done.
            let again = editor.client.ask("redline/transaction/accept", json!({}))?;
            ensure!(
                again.is_ok(),
                "killed at {name}: {again:?} when accepted again; {status}"
            );
            ensure!(
                seen(&project, &editor)? == after,
                "killed at {name}: not whole when accepted again"
            );
        }
        drop(editor);
        project
            .run(&["journal", "verify", "--in-process"])?
            .expect_code(0)
            .with_context(|| name.clone())?;
        no_stray_files(&project).with_context(|| name.clone())?;
    }
    ensure!(
        befores > 0 && afters > 0,
        "{befores} times before, {afters} times after: the kills did not meet the commit"
    );
    Ok(())
}

/// Whether `status` says that the commit was taken back, that the document's hunk is accepted and not saved, and
/// that everything else waits.
fn is_told_as_by_hand(status: &Value) -> Result<()> {
    let recovered = &status["recovery"][0]["action"];
    ensure!(recovered == "rolled_back", "{status}");
    let files = status["transactions"][0]["files"].as_array();
    for file in files.context("a transaction that waits")? {
        let hunk = &file["hunks"][0];
        if file["path"] == "open.txt" {
            let is_by_hand = hunk["state"] == "accepted" && hunk["unsaved"] == true;
            ensure!(is_by_hand, "{file}");
        } else {
            ensure!(file["state"] == "pending", "{file}");
        }
    }
    Ok(())
}

fn no_stray_files(project: &Project) -> Result<()> {
    for path in project.tree()?.0.keys() {
        let known = [
            "open.txt",
            "closed.txt",
            "gone.txt",
            "old.txt",
            "made.txt",
            "sub",
            "sub/new.txt",
        ];
        ensure!(
            known.iter().any(|name| path == Path::new(name)),
            "a stray file: {}",
            path.display()
        );
    }
    Ok(())
}

fn a_failing_write_leaves_the_tree_whole() -> Result<()> {
    for errno in ["ENOSPC", "EACCES", "EIO"] {
        let (all, after) = writes_of_a_commit(&format!("error={errno}"))?;
        let mut met = 0;
        for injection in some(all, 10) {
            let name = format!("{errno} at {} {}", injection.call, injection.nth);
            let Ok(traced) = Traced::start(Some(&injection)) else {
                continue;
            };
            let reply = traced.accept();
            if !strace::hit(&traced.log(), traced.project.folder())? {
                // Calls are counted by thread, and this one was of another: what failed was no file's.
                continue;
            }
            met += 1;
            let reply = reply.with_context(|| format!("{name}: the server did not survive"))?;
            let now = seen(&traced.project, &traced.editor)?;
            match reply {
                Ok(_) => ensure!(now == after, "{name}: accepted, but not whole"),
                // The failure hit the pipe to the editor, not the disk: what arrived there is known to the editor alone.
                Err(error) if error.kind().starts_with("CLIENT_") => {
                    ensure!(
                        now.rest == traced.before.rest,
                        "{name}: {error}, but the disk changed"
                    );
                }
                Err(error) => {
                    ensure!(
                        !error.kind().is_empty() && error.data["hint"].is_string(),
                        "{name}: {error}"
                    );
                    ensure!(
                        now == traced.before,
                        "{name}: refused ({error}), but changed: {:?}; open: {:?}",
                        traced.before.rest.differences(&now.rest),
                        now.open
                    );
                }
            }
            no_stray_files(&traced.project).with_context(|| name.clone())?;
        }
        ensure!(met > 0, "no {errno} met the commit");
    }
    Ok(())
}

/// One accepted replacement: what a line read before, and what it reads now.
type Step = (String, String);

fn eight_processes_agree_on_an_order() -> Result<()> {
    const LINES: usize = 12;
    let text: String = (0..LINES).map(|n| format!("line {n} start\n\n")).collect();
    let project = Project::with_files(&[("shared.txt", &text)])?;
    let length = Duration::from_secs(if thorough() { 60 } else { 6 });
    let end = Instant::now() + length;
    let steps: Vec<Step> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|worker| {
                let project = &project;
                scope.spawn(move || work(project, worker, end))
            })
            .collect();
        let mut all = Vec::new();
        for worker in workers {
            match worker.join() {
                Ok(steps) => all.extend(steps?),
                Err(_) => anyhow::bail!("a worker panicked"),
            }
        }
        Ok(all)
    })?;
    ensure!(
        steps.len() >= 8,
        "only {} commits in {length:?}",
        steps.len()
    );
    // Every text is written once only, so the order of the commits of a line is the chain from its first text to its last.
    let mut next: BTreeMap<&str, &str> = BTreeMap::new();
    for (old, new) in &steps {
        let other = next.insert(old, new);
        ensure!(
            other.is_none(),
            "{old:?} was replaced twice: by {other:?} and {new:?}"
        );
    }
    let last = project.read("shared.txt")?;
    let lines: Vec<&str> = last.lines().filter(|line| !line.is_empty()).collect();
    ensure!(lines.len() == LINES, "{last:?}");
    let mut followed = 0;
    for (n, line) in lines.iter().enumerate() {
        let mut at = format!("line {n} start");
        while let Some(new) = next.get(at.as_str()) {
            at = (*new).to_owned();
            followed += 1;
        }
        ensure!(
            at == *line,
            "line {n} reads {line:?}; the receipts say {at:?}"
        );
    }
    ensure!(
        followed == steps.len(),
        "{} of {} commits are in no order",
        steps.len() - followed,
        steps.len()
    );
    project.run(&["journal", "verify"])?.expect_code(0)?;
    Ok(())
}

/// Proposes and accepts changes of two lines, over and over; returns those that were accepted.
fn work(project: &Project, worker: usize, end: Instant) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut n = 0;
    while Instant::now() < end {
        n += 1;
        let text = project.read("shared.txt")?;
        let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let picks = [
            (worker + n) % lines.len(),
            (worker * 3 + n * 5 + 1) % lines.len(),
        ];
        let edits: Vec<Value> = BTreeSet::from(picks)
            .into_iter()
            .map(|pick| {
                let number = lines[pick].split(' ').nth(1).unwrap_or("?");
                json!({"path": "shared.txt", "search": lines[pick],
                    "replace": format!("line {number} by {worker} at {n}")})
            })
            .collect();
        let proposal = json!({"edits": edits}).to_string();
        let output =
            project.run_with(&["propose", "--json", "--in-process"], proposal.as_bytes())?;
        if output.code() != 0 {
            // Somebody else was quicker: the text is gone.
            ensure!(matches!(output.code(), 1 | 3), "{output:?}");
            continue;
        }
        let id = output.json()?["transaction"]
            .as_str()
            .context("a transaction")?
            .to_owned();
        let output = project.run(&["accept", &id, "--json", "--in-process"])?;
        let answer = output.json()?;
        match output.code() {
            0 => {
                for hunk in answer["files"][0]["hunks"].as_array().context("hunks")? {
                    if hunk["state"] == "accepted" {
                        let line = |side: &str| hunk[side][0].as_str().unwrap_or("").to_owned();
                        steps.push((line("removed"), line("added")));
                    }
                }
            }
            1 | 3 => {
                project.run(&["reject", &id, "--in-process"])?;
            }
            _ => anyhow::bail!("{output:?}"),
        }
    }
    Ok(steps)
}
