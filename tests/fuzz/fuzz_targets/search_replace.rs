//! Any bytes as search/replace blocks.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| redline_fuzz::edits::search_replace(data));
