//! The corpus of provider streams: bodies and conversations as data, played through the real adapters.
//!
//! The format is described in `tests/streams/README.md`. A body is served over a real socket, again for each way of cutting
//! it into reads, and the events that the adapter gives are compared with those that the fixture wants. A conversation is
//! sent by the real adapter, and what the server heard is compared.
//!
//! - `fixture`: a folder of fixtures · `body`: one body, served and read · `conversation`: one history, sent
//! - `events`: events in the fixtures' vocabulary · `compare`: what counts as the same

mod body;
mod compare;
mod conversation;
mod events;
mod fixture;
#[path = "../../sidecar/providers/tests/streams/server.rs"]
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "the server of the adapters' own tests"
)]
mod server;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use tokio::task::JoinSet;

use compare::Wording;
use fixture::{Fixture, Kind};

/// What the user asked for besides the folder.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Plays only fixtures whose name contains this.
    pub only: Option<String>,
    /// Our own wording of errors, and the ids that we make up, must be the fixture's to the letter.
    pub exact: bool,
    /// Bodies of more than 64 KiB are cut into pieces of about a kilobyte where others are cut at each byte.
    pub quick: bool,
}

/// A body above this size takes seconds byte by byte in an unoptimized build.
const LARGE: usize = 64 * 1024;

/// Plays every fixture of the folders and prints what differs; the last line is `N passed, N failed`.
#[allow(clippy::print_stdout, reason = "a program for a terminal")]
pub fn run(folders: &[PathBuf], options: &Options) -> ExitCode {
    match play_all(folders, options) {
        Ok((passed, failed)) => {
            println!("{passed} passed, {failed} failed");
            if failed == 0 && passed > 0 {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            println!("{error:#}");
            println!("0 passed, 1 failed");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main]
#[allow(clippy::print_stdout, reason = "a program for a terminal")]
async fn play_all(folders: &[PathBuf], options: &Options) -> Result<(u64, u64)> {
    let mut fixtures = fixture::load(folders)?;
    if let Some(only) = &options.only {
        fixtures.retain(|fixture| fixture.name.contains(only.as_str()));
    }
    let quick = options.quick;
    let wording = if options.exact {
        Wording::Exact
    } else {
        Wording::Free
    };
    let mut playing = JoinSet::new();
    let mut results = Vec::new();
    for fixture in fixtures {
        // Each fixture waits on its own socket most of the time.
        while playing.len() >= 4 {
            results.extend(playing.join_next().await.transpose()?);
        }
        playing.spawn(async move {
            let differences = play(&fixture, wording, quick).await;
            (fixture.name, differences)
        });
    }
    while let Some(result) = playing.join_next().await {
        results.push(result?);
    }
    results.sort();
    let (mut passed, mut failed) = (0, 0);
    for (name, differences) in results {
        if differences.is_empty() {
            passed += 1;
        } else {
            failed += 1;
            println!("{name}: {}", differences.join("\n    "));
        }
    }
    Ok((passed, failed))
}

/// What differs, for people; nothing when all is as wanted.
async fn play(fixture: &Fixture, wording: Wording, quick: bool) -> Vec<String> {
    match &fixture.kind {
        Kind::Body(body) => {
            let step = if quick && body.bytes.len() > LARGE {
                997
            } else {
                1
            };
            body::play(body, wording, step).await
        }
        Kind::Conversation(conversation) => conversation::play(conversation).await,
        Kind::BaseUrls(cases) => cases
            .iter()
            .filter_map(fixture::BaseUrl::difference)
            .collect(),
        Kind::Unreadable(why) => vec![why.clone()],
    }
}
