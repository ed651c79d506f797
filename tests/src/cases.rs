//! The case corpus: real trouble with agent edits, as data, played through the real engine, workspace and hub.
//!
//! A case is a folder with a `case.json` (its format is described in `tests/cases/README.md`), a row is one run of it in a
//! fresh workspace. Each row starts a server of its own in a child process, a scripted editor on one connection and the
//! proposing agent on another, plays the steps, and compares what came out with what the row expects.
//!
//! - `load`: folders and rows · `entry`: what a path holds · `step`: steps · `fault`: injected failures
//! - `world`: the workspace of one row · `server`: the child that serves it
//! - `play`, `proposal`, `decision`: the steps carried out · `crash`: rows that kill the server
//! - `permissions`: rows that ask the gate · `processes`: rows that run a command
//! - `expect`, `facts`: comparison

mod crash;
mod decision;
mod entry;
mod expect;
mod facts;
mod fault;
mod load;
mod observe;
mod permissions;
mod play;
pub mod processes;
mod proposal;
pub mod server;
mod step;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use load::{Case, Row};

/// What came of one row.
enum Verdict {
    Passed,
    /// By an alternative that passes as well, not by the preferred outcome.
    PassedByAlternative,
    Skipped(String),
    Failed(Vec<Difference>),
}

/// One thing that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    what: String,
    expected: String,
    got: String,
}

impl Difference {
    fn new(what: &str, expected: impl ToString, got: impl ToString) -> Difference {
        Difference {
            what: what.to_owned(),
            expected: expected.to_string(),
            got: got.to_string(),
        }
    }
}

/// What the user asked for besides the folder.
#[derive(Debug, Default)]
pub struct Options {
    /// Plays only rows whose `case/row` contains this.
    pub only: Option<String>,
    /// Says each row, not only those that differ.
    pub verbose: bool,
}

/// Plays every case below the folders and prints what differs; the last line is `N passed, N failed`.
#[allow(clippy::print_stdout, reason = "a program for a terminal")]
pub fn run(folders: &[PathBuf], options: &Options) -> ExitCode {
    let cases = match load::cases(folders) {
        Ok(cases) => cases,
        Err(error) => {
            println!("{error:#}");
            println!("0 passed, 1 failed");
            return ExitCode::FAILURE;
        }
    };
    let (mut passed, mut alternative, mut failed) = (0, 0, 0);
    let mut skipped: Vec<(String, String)> = Vec::new();
    for case in cases {
        for row in rows(&case, &mut failed) {
            let name = row.name();
            if options
                .only
                .as_ref()
                .is_some_and(|only| !name.contains(only.as_str()))
            {
                continue;
            }
            let started = std::time::Instant::now();
            let verdict = patiently(&row);
            if options.verbose {
                println!("{name} ({:.2} s)", started.elapsed().as_secs_f64());
            }
            match verdict {
                Verdict::Passed => passed += 1,
                Verdict::PassedByAlternative => {
                    passed += 1;
                    alternative += 1;
                }
                Verdict::Skipped(why) => skipped.push((name, why)),
                Verdict::Failed(differences) => {
                    failed += 1;
                    for difference in differences {
                        println!(
                            "{name}: {}: expected {}, got {}",
                            difference.what, difference.expected, difference.got
                        );
                    }
                }
            }
        }
    }
    for (name, why) in &skipped {
        println!("skipped {name}: {why}");
    }
    println!(
        "{} rows skipped, {alternative} passed by also_ok",
        skipped.len()
    );
    println!("{passed} passed, {failed} failed");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[allow(clippy::print_stdout, reason = "a program for a terminal")]
fn rows(case: &Case, failed: &mut u64) -> Vec<Row> {
    match case.rows() {
        Ok(rows) => rows,
        Err(error) => {
            println!("{}: case.json: expected a case, got {error:#}", case.name);
            *failed += 1;
            Vec::new()
        }
    }
}

/// A row that only took too long is played again, twice at most: a busy machine says nothing about a limit.
fn patiently(row: &Row) -> Verdict {
    let too_slow = |verdict: &Verdict| {
        matches!(verdict, Verdict::Failed(differences)
            if differences.iter().all(|difference| difference.what.ends_with("_ms_max")))
    };
    let mut verdict = judge(row);
    for _ in 0..2 {
        if !too_slow(&verdict) {
            break;
        }
        verdict = judge(row);
    }
    verdict
}

fn judge(row: &Row) -> Verdict {
    match row.why_skipped() {
        Ok(Some(why)) => return Verdict::Skipped(why),
        Ok(None) => {}
        Err(error) => return broken(&error),
    }
    match play(row) {
        Ok(verdict) => verdict,
        Err(error) => broken(&error),
    }
}

fn broken(error: &anyhow::Error) -> Verdict {
    Verdict::Failed(vec![Difference::new(
        "run",
        "a run to its end",
        format!("{error:#}"),
    )])
}

fn play(row: &Row) -> Result<Verdict> {
    let expected = row.expected();
    let faults = fault::parse(row)?;
    if faults.crashes() {
        return crash::play(row, &faults, &expected);
    }
    let observed = match row.kind() {
        "permissions" => permissions::play(row)?,
        "processes" => return processes::play(row),
        _ => play::play(row, &faults)?,
    };
    Ok(expect::judge(&observed, &expected, row.get("limits")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Every entry, step and fault of every row is read, also of those that are not played here.
    #[test]
    fn the_whole_corpus_is_understood() {
        let root = crate::program::repository().join("tests");
        let folders = [root.join("cases"), root.join("own-cases")];
        let mut rows = 0;
        for case in load::cases(&folders).unwrap() {
            for row in case.rows().unwrap() {
                rows += 1;
                let name = row.name();
                entry::Entry::parse_all(row.get("files_before")).unwrap();
                entry::Entry::parse_all(row.get("outside_before")).unwrap();
                entry::Entry::parse_all(&row.expected()["files_after"]).unwrap();
                for list in ["setup", "meanwhile", "action"] {
                    step::Step::parse_all(row.list(list).unwrap())
                        .unwrap_or_else(|error| panic!("{name}: {error:#}"));
                }
                assert_eq!(fault::why_unmapped(&row), None, "{name}");
            }
        }
        assert!(rows >= 185, "{rows}");
    }
}
