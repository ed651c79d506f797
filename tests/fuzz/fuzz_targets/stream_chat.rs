//! Any bytes as an answer of this API, cut anywhere.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| redline_fuzz::streams::chat(data));
