//! Plays the seeds of the stream parsers' fuzz targets, so that an ordinary test run shows that both still stand.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods
)]

use std::{fs, path::Path};

#[path = "../../../tests/fuzz/src/streams.rs"]
#[allow(unreachable_pub)]
mod targets;

fn play(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fuzz/seeds")
        .join(target);
    let mut n_seeds = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let seed = fs::read(entry.unwrap().path()).unwrap();
        check(&seed);
        // A seed cut off anywhere is what a broken stream leaves.
        for end in 0..seed.len() {
            check(&seed[..end]);
        }
        n_seeds += 1;
    }
    assert!(n_seeds > 0, "no seeds in {}", folder.display());
}

#[test]
fn seeds_of_anthropic_pass() {
    play("stream_anthropic", targets::anthropic);
}

#[test]
fn seeds_of_responses_pass() {
    play("stream_responses", targets::responses);
}

#[test]
fn seeds_of_chat_pass() {
    play("stream_chat", targets::chat);
}

#[test]
fn seeds_of_ollama_pass() {
    play("stream_ollama", targets::ollama);
}
