//! The `redline` binary; all of it is in the library, so that tests and benches reach it.

use std::process::ExitCode;

/// A proposal of a thousand files is some hundred thousand small allocations; the system's own took a third of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    redline::cli::main()
}
