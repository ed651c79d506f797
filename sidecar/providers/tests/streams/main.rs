//! The adapters against recorded and reconstructed bodies, over a real socket.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    unreachable_pub,
    clippy::disallowed_methods
)]

mod behavior;
mod player;
mod server;

use std::path::Path;

use player::{Cuts, fixtures};
use serde_json::Value;

/// Above this size a body is not cut at every byte: each cut is an HTTP chunk.
const SMALL: usize = 64 * 1024;

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures"))
}

#[tokio::test]
async fn every_fixture_gives_its_events_however_it_is_cut() {
    let fixtures = fixtures(folder());
    assert!(fixtures.len() >= 47, "only {} fixtures", fixtures.len());
    let mut failures = Vec::new();
    for fixture in &fixtures {
        let wanted = fixture.wanted();
        let step = if fixture.body.len() <= SMALL { 1 } else { 997 };
        let modes = [Cuts::Whole, Cuts::Stated, Cuts::Every(step)]
            .into_iter()
            .chain((1..=5).map(Cuts::Random));
        for cuts in modes {
            let got = fixture.play(cuts).await;
            if got != wanted {
                failures.push(format!(
                    "{} {cuts:?}\n  wanted {}\n  got    {}",
                    fixture.name,
                    shown(&wanted),
                    shown(&got)
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

fn shown(events: &[Value]) -> String {
    let text = Value::Array(events.to_vec()).to_string();
    text.chars().take(600).collect()
}

#[test]
fn base_urls_join() {
    let path = folder().join("r37-base-url-join.expected.json");
    let cases: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut checked = 0;
    for case in cases["cases"].as_array().unwrap() {
        if case["api"] == "openai-chat" {
            let url =
                redline_providers::join_chat_completions(case["base"].as_str().unwrap()).unwrap();
            assert_eq!(url.as_str(), case["url"].as_str().unwrap());
            checked += 1;
        }
    }
    assert_eq!(checked, 7);
}
