//! One body: served whole, byte by byte, cut as the fixture says and cut at random; each time the same events.

use std::time::Duration;

use futures_util::StreamExt;
use redline_providers::{ApiOptions, ChatRequest, Connection, HttpOptions, Message, Timeouts};
use serde_json::{Map, Value};

use super::compare::{Wording, difference};
use super::events::normalized;
use super::fixture::{Body, Close};
use super::server::{self, Answer, Server};

/// How a body is cut into reads.
#[derive(Debug, Clone, Copy)]
enum Cuts {
    Whole,
    Stated,
    /// Pieces of so many bytes.
    Every(usize),
    /// From this seed.
    Random(u64),
}

/// How long a server that falls silent is waited for.
const SILENCE: Duration = Duration::from_millis(300);

/// Plays the body in every mode; `step` is the length of its smallest pieces.
pub(super) async fn play(body: &Body, wording: Wording, step: usize) -> Vec<String> {
    let modes = [
        Cuts::Whole,
        Cuts::Stated,
        Cuts::Every(step),
        Cuts::Random(1),
        Cuts::Random(2),
        Cuts::Random(3),
        Cuts::Random(4),
    ];
    let mut differences: Vec<(String, Vec<Cuts>)> = Vec::new();
    for cuts in modes {
        let told = match read(body, cuts).await {
            Ok(got) => difference(&body.events, &got, &body.bytes, wording),
            Err(why) => Some(why),
        };
        let Some(told) = told else { continue };
        match differences.iter_mut().find(|(known, _)| *known == told) {
            Some((_, modes)) => modes.push(cuts),
            None => differences.push((told, vec![cuts])),
        }
    }
    let shown = differences.into_iter().map(|(told, differing)| {
        if differing.len() == modes.len() {
            told
        } else {
            format!("cut {differing:?}: {told}")
        }
    });
    shown.collect()
}

/// Serves the body cut so and returns the events in the fixtures' vocabulary.
async fn read(body: &Body, cuts: Cuts) -> Result<Vec<Value>, String> {
    let close = match body.response.close {
        Close::Eof => server::Close::Eof,
        Close::Reset => server::Close::Reset,
        Close::Hang => server::Close::Hang,
    };
    let answer = Answer {
        status: body.response.status,
        headers: headers(&body.response.headers),
        pieces: pieces(body, cuts),
        close,
    };
    // What an adapter asks besides is not part of the fixture.
    let path = body
        .api
        .endpoint("http://h")
        .map_err(|error| error.to_string())?;
    let server = Server::routes(vec![(path.path(), vec![answer])]).await;
    let mut timeouts = Timeouts::default();
    if close == server::Close::Hang {
        timeouts.idle = SILENCE;
        timeouts.first_byte = SILENCE;
    }
    let connection = Connection {
        name: "fixture".to_owned(),
        base_url: server.base.clone(),
        http: HttpOptions {
            timeouts,
            ..HttpOptions::default()
        },
        ..Connection::default()
    };
    let provider = body
        .api
        .open(connection, ApiOptions::default())
        .map_err(|error| error.to_string())?;
    let request = ChatRequest {
        model: "m".to_owned(),
        messages: vec![Message::User {
            text: "go".to_owned(),
        }],
        estimated_prompt_tokens: body.request.estimated_prompt_tokens,
        ..ChatRequest::default()
    };
    Ok(normalized(provider.stream(request).collect().await))
}

fn headers(map: &Map<String, Value>) -> Vec<(String, String)> {
    map.iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect()
}

fn pieces(body: &Body, cuts: Cuts) -> Vec<Vec<u8>> {
    let len = body.bytes.len();
    let mut at: Vec<usize> = match cuts {
        Cuts::Whole => Vec::new(),
        Cuts::Stated => {
            let mut stated = body.response.chunk_cuts.clone();
            stated.retain(|cut| *cut < len);
            stated.sort_unstable();
            stated
        }
        Cuts::Every(step) => (step..len).step_by(step).collect(),
        Cuts::Random(seed) => random_cuts(seed, len),
    };
    at.push(len);
    let mut start = 0;
    at.into_iter()
        .map(|end| body.bytes[std::mem::replace(&mut start, end)..end].to_vec())
        .collect()
}

/// Cut points from a small generator: the same seed cuts the same way.
fn random_cuts(seed: u64, len: usize) -> Vec<usize> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap_or(0)
    };
    let largest = 1 + next(if len > 65_536 { 65_536 } else { 40 });
    let mut cuts = Vec::new();
    let mut at = 0;
    loop {
        at += 1 + next(largest);
        if at >= len {
            return cuts;
        }
        cuts.push(at);
    }
}
