//! Commits killed, broken and crowded: this binary runs itself as the process that commits.
//!
//! | trial | what happens to the committing process |
//! |---|---|
//! | killed | SIGKILL at each system call that writes, as `strace` sees them, one run for each |
//! | killed again | the same to the process that recovers |
//! | ENOSPC, EACCES, EIO | each of those calls fails once, one run for each |
//! | crowded | eight of them propose and commit overlapping hunks at the same time |
//!
//! Every run: the project is wholly before or wholly after, recovery says which, nothing temporary is left,
//! the journal is sound, and what is pending can still be accepted.
//! `REDLINE_LONG=1` runs every combination and a minute of the crowd.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    clippy::print_stderr
)]

#[path = "review/support.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use redline_edits::Change;
use redline_workspace::{
    DecisionRequest, Direction, Outcome, RecoveryAction, Settlement, Transaction, TransactionState,
};
use support::{Ground, Node, Tree, document, tree};

/// Calls that write, as strace names them.
const WRITES: &str = "write,pwrite64,writev,pwritev,sendfile,copy_file_range,fsync,fdatasync,sync_file_range,\
                      rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,symlinkat,\
                      ftruncate,truncate,fallocate,chmod,fchmod,fchmodat,chown,fchown,fchownat,fsetxattr,utimensat,\
                      creat,open,openat,openat2";

const MODE: &str = "REDLINE_TRIAL";
const DONE: u8 = 0;
const REFUSED: u8 = 10;

fn main() -> ExitCode {
    if let Ok(mode) = std::env::var(MODE) {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        return match mode.as_str() {
            "commit" => commit(Path::new(&arguments[0]), &arguments[1]),
            "recover" => recover(Path::new(&arguments[0])),
            "crowd" => crowd(
                Path::new(&arguments[0]),
                &arguments[1],
                arguments[2].parse().unwrap(),
            ),
            other => panic!("no such mode: {other}"),
        };
    }
    let traced = Command::new("strace")
        .arg("-V")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let untraced = !traced.is_ok_and(|status| status.success());
    let mut trials = vec![
        Trial::test(
            "a_commit_killed_at_any_write_is_wholly_before_or_after",
            killed,
        )
        .with_ignored_flag(untraced),
        Trial::test(
            "a_recovery_killed_at_any_write_is_begun_again",
            killed_again,
        )
        .with_ignored_flag(untraced),
        Trial::test("eight_processes_commit_as_if_one_after_the_other", crowded),
    ];
    for error in ["ENOSPC", "EACCES", "EIO"] {
        let name = format!("a_commit_that_meets_{error}_at_any_write_is_taken_back");
        trials.push(Trial::test(name, move || broken(error)).with_ignored_flag(untraced));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn is_long() -> bool {
    std::env::var_os("REDLINE_LONG").is_some()
}

// ---- the five-file commit

fn five_files() -> Ground {
    let ground = Ground::new(&[
        ("open.txt", "one\ntwo\nthree\n"),
        ("edit.txt", "a\nb\nc\n"),
        ("gone.txt", "bye\n"),
        ("old/name.txt", "x\ny\n"),
        ("keep.txt", "k\n"),
    ]);
    ground.chmod("edit.txt", 0o755);
    // What is made in such a folder inherits from it, so it has to be staged right there.
    std::fs::create_dir(ground.root.join("new")).unwrap();
    ground.chmod("new", 0o2755);
    ground
}

fn propose_five(ground: &Ground) -> Transaction {
    let find = |path: &str, search: &str, replace: &str| Change::replace(path, search, replace);
    ground.propose(vec![
        find("open.txt", "two", "TWO"),
        find("edit.txt", "b", "B"),
        Change::create("new/dir/made.txt", "made\n"),
        Change::delete("gone.txt"),
        find("old/name.txt", "y", "Y"),
        Change::rename("old/name.txt", "moved/name.txt"),
    ])
}

fn after_five(before: &Tree) -> Tree {
    let mut after = before.clone();
    let text = |text: &str, mode| Node::File(text.as_bytes().to_vec(), mode);
    after.insert("edit.txt".into(), text("a\nB\nc\n", 0o755));
    after.insert("new/dir".into(), Node::Folder);
    after.insert("new/dir/made.txt".into(), text("made\n", 0o644));
    after.remove("gone.txt");
    after.remove("old/name.txt");
    after.insert("moved".into(), Node::Folder);
    after.insert("moved/name.txt".into(), text("x\nY\n", 0o644));
    after
}

/// The process under test: accepts everything, with one document open in a scripted editor.
fn commit(root: &Path, id: &str) -> ExitCode {
    let (ground, _) = Ground::at(root, "B");
    let mut transaction = ground.ws.transactions().load(id).unwrap().unwrap();
    let mut open = [document("open.txt", "one\ntwo\nthree\n", 1, false)];
    match ground.accept_part(&mut transaction, &DecisionRequest::default(), &mut open) {
        Ok(_) => ExitCode::from(DONE),
        Err(_) => ExitCode::from(REFUSED),
    }
}

fn recover(root: &Path) -> ExitCode {
    Ground::at(root, "C");
    ExitCode::from(DONE)
}

fn run(mode: &str, arguments: &[&str], strace: &[&str]) -> Option<i32> {
    let this = std::env::current_exe().unwrap();
    let mut command = if strace.is_empty() {
        Command::new(this)
    } else {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq"]).args(strace).arg("--").arg(this);
        command
    };
    command
        .args(arguments)
        .env(MODE, mode)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().unwrap().code()
}

/// One call to meet with a fault: its name, and the how-manieth of that name it is.
#[derive(Debug, Clone)]
struct Call {
    name: String,
    nth: usize,
}

/// Every call that writes in a run of `mode`, in order.
fn calls(mode: &str, arguments: &[&str], log: &Path) -> Vec<Call> {
    let trace = format!("trace={}", WRITES.replace(' ', ""));
    run(
        mode,
        arguments,
        &["-o", log.to_str().unwrap(), "-e", &trace],
    );
    let text = std::fs::read_to_string(log).unwrap();
    std::fs::remove_file(log).unwrap();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut calls = Vec::new();
    let threads: std::collections::BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        threads.len(),
        1,
        "faults are counted for each thread, so there must be one"
    );
    for line in text.lines() {
        let Some((_, call)) = line.split_once(' ') else {
            continue;
        };
        let Some((name, rest)) = call.trim_start().split_once('(') else {
            continue;
        };
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        let nth = counts.entry(name.to_owned()).or_default();
        *nth += 1;
        // Opening writes only when it may make the file.
        if name.starts_with("open") && !rest.contains("O_CREAT") {
            continue;
        }
        calls.push(Call {
            name: name.to_owned(),
            nth: *nth,
        });
    }
    assert!(calls.len() > 20, "strace saw {} calls", calls.len());
    calls
}

fn with_fault(mode: &str, arguments: &[&str], call: &Call, fault: &str) -> Option<i32> {
    let trace = format!("trace={}", call.name);
    let inject = format!("inject={}:{fault}:when={}", call.name, call.nth);
    run(
        mode,
        arguments,
        &["-o", "/dev/null", "-e", &trace, "-e", &inject],
    )
}

/// What must hold after any run, once the next process has opened the workspace.
fn check(ground: &mut Ground, id: &str, before: &Tree, what: &str) -> Result<bool, Failed> {
    let begun = std::fs::read_dir(ground.root.join(".agentic/commits")).is_ok_and(|mut names| {
        names.any(|name| {
            let name = name.unwrap().path();
            name.join("plan.json").exists() || name.join("restoring.json").exists()
        })
    });
    let recovered = ground.reopen();
    let now = ground.tree();
    let after = after_five(before);
    let is_after = now == after;
    if !is_after && now != *before {
        return Err(format!(
            "{what}: neither before nor after: {:?}",
            differences(&now, before)
        )
        .into());
    }
    if begun == recovered.is_empty() {
        return Err(format!("{what}: begun is {begun}, and recovery says {recovered:?}").into());
    }
    for recovery in &recovered {
        let expected = if is_after {
            RecoveryAction::Finished
        } else {
            RecoveryAction::RolledBack
        };
        if recovery.action != expected || recovery.transaction_id != id {
            return Err(format!("{what}: recovery says {recovery:?}").into());
        }
    }
    let commits = std::fs::read_dir(ground.root.join(".agentic/commits"));
    if commits.is_ok_and(|mut names| names.next().is_some()) {
        return Err(format!("{what}: something is left of the commit").into());
    }
    let again = ground.reopen();
    if !again.is_empty() {
        return Err(format!("{what}: a second start recovers again: {again:?}").into());
    }
    let report = ground.ws.journal().verify().unwrap();
    if !report.is_sound() {
        return Err(format!("{what}: the journal is damaged: {:?}", report.findings).into());
    }
    let mut transaction = ground.ws.transactions().load(id).unwrap().unwrap();
    let settled = transaction
        .files()
        .filter(|file| file.path != "open.txt")
        .all(|file| file.is_settled());
    if settled != is_after {
        return Err(format!("{what}: the files are {is_after}, the transaction {settled}").into());
    }
    if is_after {
        ground
            .undo(Some(id), Direction::Undo)
            .map_err(|error| format!("{what}: {error:?}"))?;
    } else {
        let mut open = [document("open.txt", "one\ntwo\nthree\n", 1, false)];
        let accepted = ground.accept_part(&mut transaction, &DecisionRequest::default(), &mut open);
        accepted.map_err(|error| format!("{what}: it cannot be accepted any more: {error}"))?;
        if ground.tree() != after {
            return Err(format!("{what}: accepted again, and something else came out").into());
        }
    }
    Ok(is_after)
}

fn differences(now: &Tree, before: &Tree) -> Vec<String> {
    let paths: std::collections::BTreeSet<&String> = now.keys().chain(before.keys()).collect();
    paths
        .into_iter()
        .filter(|path| now.get(*path) != before.get(*path))
        .cloned()
        .collect()
}

fn five_calls() -> Vec<Call> {
    let ground = five_files();
    let id = propose_five(&ground).id().to_owned();
    let log = ground.root.join("log.strace");
    calls("commit", &[ground.root.to_str().unwrap(), &id], &log)
}

fn killed() -> Result<(), Failed> {
    let (mut n_before, mut n_after) = (0, 0);
    for call in five_calls() {
        let mut ground = five_files();
        let before = ground.tree();
        let id = propose_five(&ground).id().to_owned();
        let code = with_fault(
            "commit",
            &[ground.root.to_str().unwrap(), &id],
            &call,
            "signal=SIGKILL",
        );
        let what = format!("killed at {} {}", call.name, call.nth);
        if code == Some(i32::from(DONE)) {
            return Err(format!("{what}: it was not killed").into());
        }
        if check(&mut ground, &id, &before, &what)? {
            n_after += 1;
        } else {
            n_before += 1;
        }
    }
    if n_before == 0 || n_after == 0 {
        return Err(format!("{n_before} runs ended before, {n_after} after").into());
    }
    Ok(())
}

fn killed_again() -> Result<(), Failed> {
    let points = five_calls();
    let step = if is_long() { 1 } else { 9 };
    for call in points.iter().skip(points.len() / 2).step_by(step) {
        let crash = || {
            let ground = five_files();
            let before = ground.tree();
            let id = propose_five(&ground).id().to_owned();
            with_fault(
                "commit",
                &[ground.root.to_str().unwrap(), &id],
                call,
                "signal=SIGKILL",
            );
            (ground, before, id)
        };
        let (ground, ..) = crash();
        let log = ground.root.join("log.strace");
        let root = ground.root.to_str().unwrap().to_owned();
        let recovering =
            std::panic::catch_unwind(|| calls("recover", &[&root], &log)).unwrap_or_default();
        let step = if is_long() { 1 } else { 4 };
        for second in recovering.iter().step_by(step) {
            let (mut ground, before, id) = crash();
            with_fault(
                "recover",
                &[ground.root.to_str().unwrap()],
                second,
                "signal=SIGKILL",
            );
            let what = format!(
                "killed at {} {}, and at {} {} of the recovery",
                call.name, call.nth, second.name, second.nth
            );
            check(&mut ground, &id, &before, &what)?;
        }
    }
    Ok(())
}

fn broken(error: &str) -> Result<(), Failed> {
    let mut refused = 0;
    for call in five_calls() {
        let mut ground = five_files();
        let before = ground.tree();
        let id = propose_five(&ground).id().to_owned();
        let fault = format!("error={error}");
        let code = with_fault(
            "commit",
            &[ground.root.to_str().unwrap(), &id],
            &call,
            &fault,
        );
        let what = format!("{error} at {} {}", call.name, call.nth);
        let now = tree(&ground.root);
        // The process lived, so it has put everything right itself, and has said what is so.
        match code {
            Some(code) if code == i32::from(DONE) && now == after_five(&before) => {}
            Some(code) if code == i32::from(REFUSED) && now == before => refused += 1,
            other => {
                let found = differences(&now, &before);
                return Err(format!("{what}: ended with {other:?}, and {found:?} differ").into());
            }
        }
        check(&mut ground, &id, &before, &what)?;
    }
    if refused == 0 {
        return Err("no fault was ever met".into());
    }
    Ok(())
}

// ---- many processes

const CROWD: usize = 8;
const LINES: usize = 12;

/// One of many: rewrites lines of shared files, over and over.
fn crowd(root: &Path, name: &str, seconds: u64) -> ExitCode {
    let (ground, _) = Ground::at(root, name);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut state = u64::from(name.as_bytes()[0]) * 7919;
    let mut next = |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut round = 0;
    while Instant::now() < end {
        round += 1;
        let path = ["shared.txt", "other.txt"][next(2)];
        let text = ground.read(path).unwrap();
        let first = next(LINES - 2);
        let count = 1 + next(2);
        let changed: Vec<String> = text
            .lines()
            .enumerate()
            .map(|(at, line)| match at {
                at if at >= first && at < first + count => {
                    format!("{at} by {name} in round {round}")
                }
                _ => line.to_owned(),
            })
            .collect();
        let mut changes = vec![Change::write(path, changed.join("\n") + "\n")];
        if next(3) == 0 {
            changes.push(Change::create(format!("made/{name}-{round}.txt"), "made\n"));
        }
        let mut transaction = ground.propose(changes);
        if let Err(error) = ground.accept(&mut transaction) {
            assert_eq!(error.code(), "CONFLICT", "{error}");
            let all = transaction.select(&DecisionRequest::default()).unwrap();
            let record = transaction
                .refuse(&all, Settlement::Rejected, None)
                .unwrap();
            ground
                .ws
                .transactions()
                .append(&transaction, &[record], None)
                .unwrap();
        }
    }
    ExitCode::from(DONE)
}

fn crowded() -> Result<(), Failed> {
    let lines: String = (0..LINES)
        .map(|line| format!("{line} as it was\n"))
        .collect();
    let ground = Ground::new(&[("shared.txt", &lines), ("other.txt", &lines)]);
    ground.propose(vec![Change::create("first.txt", "the store exists\n")]);
    let seconds = if is_long() { "60" } else { "3" };
    let names = ["P", "Q", "R", "S", "T", "V", "W", "X"];
    assert_eq!(names.len(), CROWD);
    let this: PathBuf = std::env::current_exe().unwrap();
    let children: Vec<_> = names
        .iter()
        .map(|name| {
            Command::new(&this)
                .args([ground.root.to_str().unwrap(), name, seconds])
                .env(MODE, "crowd")
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        if !child.wait().unwrap().success() {
            return Err("one of the processes failed".into());
        }
    }
    let report = ground.ws.journal().verify().unwrap();
    if !report.is_sound() {
        return Err(format!("the journal is damaged: {:?}", report.findings).into());
    }
    serial(&ground, &lines)
}

/// Plays the receipts in the journal's order: each starts from what the one before left, and the last from
/// what is on disk.
fn serial(ground: &Ground, lines: &str) -> Result<(), Failed> {
    let revision = |text: &str| redline_edits::revision(text.as_bytes()).to_string();
    let mut now: BTreeMap<String, String> = BTreeMap::new();
    now.insert("shared.txt".into(), revision(lines));
    now.insert("other.txt".into(), revision(lines));
    let mut committed = 0;
    for record in ground.ws.journal().changed_since(0).unwrap() {
        if record.kind != "committed" {
            continue;
        }
        committed += 1;
        let id = record.data["transaction_id"].as_str().unwrap();
        let receipts = ground.ws.transactions().receipts(id).unwrap();
        let receipt = receipts
            .iter()
            .find(|receipt| receipt.id == record.data["receipt_id"])
            .unwrap();
        if receipt.outcome != Outcome::Complete {
            return Err(format!(
                "{id} was committed, and its receipt says {:?}",
                receipt.outcome
            )
            .into());
        }
        for result in &receipt.results {
            if now.get(&result.path) != result.before.as_ref() {
                return Err(format!("{id} does not go on from what {} was", result.path).into());
            }
            match &result.after {
                Some(after) => now.insert(result.path.clone(), after.clone()),
                None => now.remove(&result.path),
            };
        }
        let transaction = ground.ws.transactions().load(id).unwrap().unwrap();
        if transaction.state() != TransactionState::Committed {
            return Err(format!("{id} is {:?}", transaction.state()).into());
        }
    }
    if committed < CROWD {
        return Err(format!("only {committed} commits").into());
    }
    for (path, expected) in &now {
        let found = ground.read(path).map(|text| revision(&text));
        if found.as_ref() != Some(expected) {
            return Err(format!("{path} is not what the receipts lead to").into());
        }
    }
    eprintln!("{committed} commits by {CROWD} processes");
    Ok(())
}
