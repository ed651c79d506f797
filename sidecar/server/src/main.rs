//! The `redline` binary.

fn main() {}
