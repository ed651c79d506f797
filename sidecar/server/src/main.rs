//! The `redline` binary; all of it is in the library, so that tests and benches reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    redline::cli::main()
}
