//! The steps of `cargo verify`: what they run, and how their results are counted.
//!
//! Each step prints its name, then what it has to say, then its time. One failure does not stop the others; a machine that
//! cannot be prepared does. What counts: every test, every doc test, every row of the corpus, and each of the plain checks once.

mod counts;
mod steps;
mod vscode;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

pub use counts::Counts;

use crate::machine;

/// Runs everything, or with `prepare` only brings onto the machine what the tests need.
///
/// The last line on stdout is `N passed, N failed`.
#[allow(clippy::print_stdout, reason = "a program for a terminal")]
#[must_use]
pub fn run(arguments: &[String]) -> ExitCode {
    let only_prepare = match arguments {
        [] => false,
        [word] if word == "prepare" => true,
        _ => {
            println!("usage: cargo verify [prepare]");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let mut total = Counts::default();
    println!("== the machine");
    if let Err(error) = machine::prepare(&mut |line| println!("   {line}")) {
        println!("   {error:#}");
        println!("0 passed, 1 failed");
        return ExitCode::FAILURE;
    }
    if only_prepare {
        println!("   ready in {:.0} s", begun.elapsed().as_secs_f64());
        return ExitCode::SUCCESS;
    }
    for step in steps::ALL {
        println!("== {}", step.name);
        let started = Instant::now();
        let counts = match (step.run)() {
            Ok(counts) => counts,
            Err(error) => {
                println!("   {error:#}");
                Counts {
                    failed: 1,
                    ..Counts::default()
                }
            }
        };
        for name in &counts.ignored {
            println!("   IGNORED {name}: nothing may be ignored here");
        }
        println!(
            "   {}: {} passed, {} failed in {:.1} s",
            step.name,
            counts.passed,
            counts.failures(),
            started.elapsed().as_secs_f64()
        );
        total.add(counts);
    }
    println!("== {:.0} s in all", begun.elapsed().as_secs_f64());
    println!("{} passed, {} failed", total.passed, total.failures());
    if total.failures() == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// One step.
pub(crate) struct Step {
    name: &'static str,
    run: fn() -> Result<Counts>,
}
