//! `cases -- DIR`: plays every case below a folder, says what differs, ends with `N passed, N failed`.

#![allow(clippy::disallowed_methods, reason = "a program of the tests")]

use std::path::PathBuf;
use std::process::ExitCode;

use redline_tests::cases;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|word| word == "serve") {
        return cases::server::serve(&arguments[1..]);
    }
    if arguments.first().is_some_and(|word| word == "command") {
        return cases::processes::command();
    }
    let mut folders = Vec::new();
    let mut options = cases::Options::default();
    let mut rest = arguments.into_iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--only" => options.only = rest.next(),
            "--verbose" => options.verbose = true,
            _ if !word.starts_with('-') => folders.push(PathBuf::from(word)),
            _ => return usage(),
        }
    }
    if folders.is_empty() {
        return usage();
    }
    cases::run(&folders, &options)
}

#[allow(clippy::print_stderr, reason = "a program for a terminal")]
fn usage() -> ExitCode {
    eprintln!("usage: cases [--only CASE/ROW] [--verbose] DIR...");
    ExitCode::from(2)
}
