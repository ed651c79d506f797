//! Any sequence of edits and decisions: the anchors hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| redline_fuzz::edits::anchors(data));
