//! Any bytes as a unified diff.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| redline_fuzz::edits::unified_diff(data));
