//! A turn from outside, through the binary: how soon its client hears of a word, and how soon a stop is its end.
//!
//! The references are what the same machine needs for the same bytes without us: off a socket, and through a pipe by `cat`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use redline_tests::client::PATIENCE;
use redline_tests::editor::{Editor, Profile};
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::measure::figure;

/// Notifications are at least so far apart: the next word is sent when the last one's frame is over.
const FRAME: Duration = Duration::from_millis(16);

pub(crate) fn run(quick: bool) -> Result<()> {
    words(if quick { 5 } else { 500 })?;
    stops(if quick { 1 } else { 20 })
}

/// A server that says what the bench tells it, when it is told.
struct Model {
    port: u16,
    say: mpsc::Sender<String>,
    said: mpsc::Receiver<Instant>,
    /// Gets a message for each connection that the other side has ended.
    ended: mpsc::Receiver<()>,
}

impl Model {
    fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let (say, words) = mpsc::channel::<String>();
        let (wrote, said) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                if serve(stream, &words, &wrote, &end).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            port,
            say,
            said,
            ended,
        })
    }
}

/// Answers one request: each word as an event of its own, until the client goes.
fn serve(
    mut stream: TcpStream,
    words: &mpsc::Receiver<String>,
    wrote: &mpsc::Sender<Instant>,
    end: &mpsc::Sender<()>,
) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    if length == 0 {
        // A question about models.
        stream.write_all(b"HTTP/1.1 404 X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")?;
        return Ok(());
    }
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
    )?;
    let mut watched = stream.try_clone()?;
    let end = end.clone();
    std::thread::spawn(move || {
        // Nothing more is sent to a model that answers: what is read is the end.
        let _ = watched.read(&mut [0; 16]);
        let _ = end.send(());
    });
    while let Ok(word) = words.recv() {
        if word.is_empty() {
            return Ok(());
        }
        let delta =
            json!({"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": null}]});
        let event = format!("data: {delta}\n\n");
        let begun = Instant::now();
        stream.write_all(event.as_bytes())?;
        wrote.send(begun)?;
    }
    Ok(())
}

fn talking(model: &Model) -> Result<(Project, Editor)> {
    let project = Project::with_files(&[("a.txt", "a\n")])?;
    project.configure(&format!(
        "model = \"bench/m\"\n\n[providers.bench]\napi = \"openai-chat\"\nbase_url = \"http://127.0.0.1:{}/v1\"\n",
        model.port
    ))?;
    let editor = project.editor_with(&Profile::full().with_redline(), &["lsp", "--in-process"])?;
    Ok((project, editor))
}

fn prompt(editor: &Editor) -> Result<Value> {
    let new = editor.client.request("redline/session/new", json!({}))?;
    let params = json!({"sessionId": new["sessionId"], "text": "talk"});
    editor.client.request("redline/session/prompt", params)
}

/// Waits for the notification that says `word`.
fn hear(editor: &Editor, word: &str) -> Result<Instant> {
    editor.client.wait_for(word, PATIENCE, |arrived| {
        let found = arrived.newest("redline/session/update", |params| {
            params["updates"].to_string().contains(word)
        });
        found.map(|_| Instant::now())
    })
}

fn words(rounds: usize) -> Result<()> {
    let model = Model::start()?;
    let (_project, editor) = talking(&model)?;
    prompt(&editor)?;
    let mut times = Vec::new();
    for round in 0..rounds + 1 {
        let word = format!("word-{round}.");
        model.say.send(word.clone())?;
        let begun = model.said.recv()?;
        let heard = hear(&editor, &word)?;
        // The first word is of a frame that other news opened.
        if round > 0 {
            times.push(heard.saturating_duration_since(begun));
        }
        // The next word comes after the frame of this one, at another point of the clock each time.
        std::thread::sleep(FRAME + Duration::from_micros(700 * (round as u64 % 23)));
    }
    figure(
        "an event's bytes on the socket to the client, median",
        median(&mut times),
        "ms",
        Some(1.0),
    );
    figure(
        "  the same bytes through `cat`",
        through_cat(rounds)?,
        "ms",
        None,
    );
    Ok(())
}

/// The reference: a line through the pipes of another process.
fn through_cat(rounds: usize) -> Result<f64> {
    let mut cat = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut to = cat.stdin.take().context("stdin")?;
    let mut from = BufReader::new(cat.stdout.take().context("stdout")?);
    let mut times = Vec::new();
    for round in 0..rounds {
        let begun = Instant::now();
        writeln!(to, "word-{round}.")?;
        let mut line = String::new();
        from.read_line(&mut line)?;
        times.push(begun.elapsed());
    }
    drop(to);
    cat.wait()?;
    Ok(median(&mut times))
}

/// From the request to stop, to the turn's last event, and to the end of the connection with the model.
fn stops(rounds: usize) -> Result<()> {
    let model = Model::start()?;
    let (_project, editor) = talking(&model)?;
    let (mut ends, mut closes) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let prompted = prompt(&editor)?;
        let word = format!("stop-{round}.");
        model.say.send(word.clone())?;
        model.said.recv()?;
        hear(&editor, &word)?;
        let turn = prompted["turnId"].as_str().context("a turn")?.to_owned();
        let begun = Instant::now();
        let params = json!({"sessionId": prompted["sessionId"]});
        editor.client.start("redline/session/cancel", params)?;
        let ended = editor.client.wait_for("the end", PATIENCE, |arrived| {
            let found = arrived.newest("redline/session/update", |params| {
                params["turnId"] == turn.as_str()
                    && params["updates"].to_string().contains("stopReason")
            });
            found.map(|_| Instant::now())
        })?;
        ends.push(ended.saturating_duration_since(begun));
        model.ended.recv_timeout(PATIENCE)?;
        closes.push(begun.elapsed());
        // Lets the server take the next request.
        model.say.send(String::new())?;
    }
    ensure!(!ends.is_empty());
    let most = |times: &[Duration]| {
        let most = times.iter().max().copied().unwrap_or_default();
        most.as_secs_f64() * 1000.0
    };
    figure(
        "a stop to the turn's end, at most",
        most(&ends),
        "ms",
        Some(200.0),
    );
    figure(
        "a stop to the end of the model's connection, at most",
        most(&closes),
        "ms",
        Some(200.0),
    );
    figure("  the former, median", median(&mut ends), "ms", None);
    Ok(())
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    middle.as_secs_f64() * 1000.0
}
