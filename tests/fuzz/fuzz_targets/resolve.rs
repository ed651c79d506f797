//! Any bytes as a proposal on a small tree.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| redline_fuzz::edits::resolve(data));
