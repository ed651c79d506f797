//! The speeds that Redline promises, each as a ratio to a named reference measured in the same run.
//!
//! `cargo bench` prints a line for each: ours, the reference, their ratio, and the bound. It judges nothing by its exit code: a
//! loaded machine is no regression. `cargo bench -- WORD` runs the groups whose name contains the word.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a bench for a terminal"
)]

#[path = "speed/commits.rs"]
mod commits;
#[path = "speed/keystroke.rs"]
mod keystroke;
#[path = "speed/measure.rs"]
mod measure;
#[path = "speed/propose.rs"]
mod propose;
#[path = "speed/start.rs"]
mod start;
#[path = "speed/stream.rs"]
mod stream;
#[path = "speed/texts.rs"]
mod texts;
#[path = "speed/turn.rs"]
mod turn;

use anyhow::Result;

/// A name and what it runs; quick runs show only that it works.
type Group = (&'static str, fn(bool) -> Result<()>);

const GROUPS: &[Group] = &[
    ("keystroke", keystroke::run),
    ("diff", texts::run),
    ("propose", propose::run),
    ("commit", commits::run),
    ("start", start::run),
    ("stream", stream::run),
    ("turn", turn::run),
];

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    // `cargo test --benches` calls with `--test`.
    let quick = words
        .iter()
        .any(|word| word == "--test" || word == "--quick");
    let wanted: Vec<&String> = words
        .iter()
        .filter(|word| !word.starts_with("--"))
        .collect();
    println!(
        "{:<58} {:>12} {:>12} {:>8} {:>8}",
        "", "ours", "reference", "ratio", "bound"
    );
    for (name, run) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            run(quick)?;
        }
    }
    Ok(())
}
