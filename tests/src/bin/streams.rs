//! `streams -- DIR`: plays every provider fixture of a folder, says what differs, ends with `N passed, N failed`.

#![allow(clippy::disallowed_methods, reason = "a program of the tests")]

use std::path::PathBuf;
use std::process::ExitCode;

use redline_tests::streams;

fn main() -> ExitCode {
    let mut folders = Vec::new();
    let mut options = streams::Options::default();
    let mut rest = std::env::args().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--only" => options.only = rest.next(),
            "--exact" => options.exact = true,
            "--quick" => options.quick = true,
            _ if !word.starts_with('-') => folders.push(PathBuf::from(word)),
            _ => return usage(),
        }
    }
    if folders.is_empty() {
        return usage();
    }
    streams::run(&folders, &options)
}

#[allow(clippy::print_stderr, reason = "a program for a terminal")]
fn usage() -> ExitCode {
    eprintln!("usage: streams [--only NAME] [--exact] [--quick] DIR...");
    ExitCode::from(2)
}
