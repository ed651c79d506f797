//! `cargo verify`: sets up what the tests need, runs everything, ends with `N passed, N failed`.

#![allow(clippy::disallowed_methods, reason = "a program of the tests")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    redline_tests::verify::run(&arguments)
}
