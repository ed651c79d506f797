//! Any bytes to the format's detection.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| redline_fuzz::edits::detect_any(data));
