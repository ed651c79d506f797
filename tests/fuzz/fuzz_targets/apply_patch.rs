//! Any bytes as `*** Begin Patch`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| redline_fuzz::edits::apply_patch(data));
