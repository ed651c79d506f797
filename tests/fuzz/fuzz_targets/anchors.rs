//! Any sequence of edits and decisions: the anchors hold, and so does all that the plays of the
//! ordinary tests check.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    redline_fuzz::edits::anchors(data);
    redline_edits::checks::anchoring(data);
});
