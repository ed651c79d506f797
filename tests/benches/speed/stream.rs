//! From a vendor's bytes to our events: how many small deltas a second, how soon one of them, and how much memory.
//!
//! The references do what a program without adapters would: frame with the `sse-stream` crate and parse each event into a JSON
//! tree; and read the bytes off the same socket.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures_util::StreamExt;
use redline_providers::{Api, ApiOptions, ChatRequest, Connection, Event, Message, Provider};
use redline_tests::processes;
use serde_json::{Value, json};

use crate::measure::{figure, median_ms};

/// Deltas of one answer.
const DELTAS: usize = 100_000;

/// What a socket gives at once.
const READ: usize = 16 * 1024;

/// Events a second that are promised, on one core.
const PROMISED: f64 = 500_000.0;

pub(crate) fn run(quick: bool) -> Result<()> {
    let deltas = if quick { DELTAS / 100 } else { DELTAS };
    let runs = if quick { 1 } else { 9 };
    for api in Api::ALL {
        let body = body(api, deltas);
        let ours = median_ms(runs, || decode(api, &body, deltas))?;
        let (frame, name) = if api == Api::Ollama {
            (
                lines as fn(&[u8]) -> Result<usize>,
                "lines + serde_json::Value",
            )
        } else {
            (
                sse as fn(&[u8]) -> Result<usize>,
                "sse-stream + serde_json::Value",
            )
        };
        let reference = median_ms(runs, || {
            let begun = Instant::now();
            ensure!(frame(&body)? >= deltas);
            Ok(begun.elapsed())
        })?;
        rate(
            &format!("{api}: {deltas} deltas from memory"),
            deltas,
            ours,
            None,
        );
        rate(&format!("  {name}"), deltas, reference, None);
        forget_peak()?;
        let before = memory(processes::resident_bytes)?;
        let ours = median_ms(runs, || over_socket(api, &body, deltas))?;
        let most = memory(processes::peak_resident_bytes)?;
        rate(
            &format!("{api}: {deltas} deltas over a socket"),
            deltas,
            ours,
            Some(PROMISED),
        );
        figure(
            "  memory that it took at most",
            mib(most.saturating_sub(before)),
            "MiB",
            Some(8.0),
        );
        let reference = median_ms(runs, || bytes_off_a_socket(&body))?;
        rate(
            "  the same bytes off a socket, thrown away",
            deltas,
            reference,
            None,
        );
    }
    latency(if quick { 20 } else { 2_000 })
}

fn rate(what: &str, deltas: usize, ms: f64, wanted: Option<f64>) {
    let rate = deltas as f64 / ms * 1000.0;
    let judged = match wanted {
        Some(wanted) if rate < wanted => format!("  {wanted:.0} wanted: BELOW"),
        Some(wanted) => format!("  {wanted:.0} wanted"),
        None => String::new(),
    };
    println!("{what:<58} {rate:>12.0} events/s{judged}");
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn memory(of: fn(u32) -> Option<u64>) -> Result<u64> {
    of(std::process::id()).context("no status of this process")
}

/// Lets the peak begin anew at what is resident now.
fn forget_peak() -> Result<()> {
    Ok(std::fs::write("/proc/self/clear_refs", "5")?)
}

fn event(api: Api, delta: &str) -> Value {
    match api {
        Api::Anthropic => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": delta}})
        }
        Api::OpenAiResponses => json!({
            "type": "response.output_text.delta", "sequence_number": 1, "item_id": "msg_1", "output_index": 0,
            "content_index": 0, "delta": delta, "logprobs": [],
        }),
        Api::OpenAiChat => json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_790_000_000, "model": "m",
            "choices": [{"index": 0, "delta": {"content": delta}, "finish_reason": null}],
        }),
        Api::Ollama => {
            json!({"model": "m", "created_at": "2026-11-30T10:00:00Z", "message": {"role": "assistant", "content": delta}, "done": false})
        }
    }
}

fn end(api: Api) -> Value {
    match api {
        Api::Anthropic => json!({"type": "message_stop"}),
        Api::OpenAiResponses => {
            json!({"type": "response.completed", "response": {"status": "completed"}})
        }
        Api::OpenAiChat => json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        Api::Ollama => json!({"message": {"content": ""}, "done": true, "done_reason": "stop"}),
    }
}

fn framed(api: Api, event: &Value) -> String {
    match api {
        Api::Ollama => format!("{event}\n"),
        Api::OpenAiChat => format!("data: {event}\n\n"),
        Api::Anthropic | Api::OpenAiResponses => {
            format!(
                "event: {}\ndata: {event}\n\n",
                event["type"].as_str().unwrap_or_default()
            )
        }
    }
}

fn body(api: Api, deltas: usize) -> Vec<u8> {
    let mut body = framed(api, &event(api, " word")).repeat(deltas);
    body.push_str(&framed(api, &end(api)));
    body.into_bytes()
}

fn decode(api: Api, body: &[u8], deltas: usize) -> Result<Duration> {
    let begun = Instant::now();
    let mut decoder = api.decoder(&ChatRequest::default());
    let mut events = Vec::new();
    let mut seen = 0;
    for read in body.chunks(READ) {
        decoder.push(read, &mut events);
        seen += events.drain(..).count();
    }
    decoder.finish(&mut events);
    seen += events.len();
    ensure!(seen == deltas + 1, "{seen} events");
    Ok(begun.elapsed())
}

fn sse(body: &[u8]) -> Result<usize> {
    let reads = body
        .chunks(READ)
        .map(|read| Ok::<_, std::io::Error>(bytes::Bytes::copy_from_slice(read)));
    let stream = sse_stream::SseStream::from_bytes_stream(futures_util::stream::iter(
        reads.collect::<Vec<_>>(),
    ));
    let count = stream.fold(0, |count, event| async move {
        let data = event.ok().and_then(|event| event.data).unwrap_or_default();
        count + usize::from(serde_json::from_str::<Value>(&data).is_ok())
    });
    Ok(runtime()?.block_on(count))
}

fn lines(body: &[u8]) -> Result<usize> {
    let lines = body
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    Ok(lines
        .filter(|line| serde_json::from_slice::<Value>(line).is_ok())
        .count())
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?)
}

fn request() -> ChatRequest {
    ChatRequest {
        model: "m".to_owned(),
        messages: vec![Message::User {
            text: "go".to_owned(),
        }],
        ..ChatRequest::default()
    }
}

fn provider(api: Api, port: u16) -> Result<std::sync::Arc<dyn Provider>> {
    let connection = Connection {
        base_url: format!("http://127.0.0.1:{port}"),
        ..Connection::default()
    };
    Ok(api.open(connection, ApiOptions::default())?)
}

/// Reads a request and answers the head; another path than the API's own is unknown.
fn accept(listener: &TcpListener, api: Api) -> Result<TcpStream> {
    loop {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut heard = Vec::new();
        let mut buffer = [0; 4096];
        while !heard.windows(4).any(|four| four == b"\r\n\r\n") {
            let read = stream.read(&mut buffer)?;
            ensure!(read > 0, "hung up");
            heard.extend_from_slice(&buffer[..read]);
        }
        if api == Api::Ollama && heard.starts_with(b"POST /api/show") {
            stream
                .write_all(b"HTTP/1.1 404 X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
        return Ok(stream);
    }
}

fn over_socket(api: Api, body: &[u8], deltas: usize) -> Result<Duration> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let provider = provider(api, listener.local_addr()?.port())?;
    let runtime = runtime()?;
    std::thread::scope(|scope| {
        let server = scope.spawn(|| -> Result<()> { Ok(accept(&listener, api)?.write_all(body)?) });
        let read = runtime.block_on(async {
            let mut events = provider.stream(request());
            let first = events.next().await.context("nothing came")?;
            ensure!(matches!(first, Event::Text { .. }), "{first:?}");
            let begun = Instant::now();
            let rest = events.fold(0, |count, _| async move { count + 1 }).await;
            ensure!(rest == deltas, "{rest} events");
            Ok(begun.elapsed())
        });
        server
            .join()
            .map_err(|_| anyhow::anyhow!("the server panicked"))??;
        read
    })
}

fn bytes_off_a_socket(body: &[u8]) -> Result<Duration> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut stream = TcpStream::connect(listener.local_addr()?)?;
    std::thread::scope(|scope| {
        let server = scope.spawn(|| -> Result<()> { Ok(listener.accept()?.0.write_all(body)?) });
        let begun = Instant::now();
        let mut buffer = vec![0; READ];
        let mut all = 0;
        while all < body.len() {
            all += stream.read(&mut buffer)?;
        }
        let spent = begun.elapsed();
        server
            .join()
            .map_err(|_| anyhow::anyhow!("the server panicked"))??;
        Ok(spent)
    })
}

/// One event at a time: from just before its bytes are written to our event, beside a plain read of them.
fn latency(rounds: usize) -> Result<()> {
    let api = Api::Anthropic;
    let piece = framed(api, &event(api, " word"));
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let provider = provider(api, listener.local_addr()?.port())?;
    let (ask, asked) = mpsc::channel::<()>();
    let (wrote, written) = mpsc::channel::<Instant>();
    let mut times = Vec::new();
    std::thread::scope(|scope| -> Result<()> {
        let server = scope.spawn(|| -> Result<()> {
            let mut stream = accept(&listener, api)?;
            for () in asked {
                let begun = Instant::now();
                stream.write_all(piece.as_bytes())?;
                wrote.send(begun)?;
            }
            Ok(stream.write_all(framed(api, &end(api)).as_bytes())?)
        });
        runtime()?.block_on(async {
            let mut events = provider.stream(request());
            for _ in 0..rounds {
                ask.send(())?;
                events.next().await.context("nothing came")?;
                let came = Instant::now();
                times.push(came.saturating_duration_since(written.recv()?));
            }
            drop(ask);
            while events.next().await.is_some() {}
            anyhow::Ok(())
        })?;
        server
            .join()
            .map_err(|_| anyhow::anyhow!("the server panicked"))?
    })?;
    times.sort();
    let median = times[times.len() / 2].as_secs_f64() * 1000.0;
    figure(
        "an event's bytes on the socket to our event, median",
        median,
        "ms",
        Some(1.0),
    );
    let plain = plain_latency(rounds, piece.as_bytes())?;
    figure("  to a blocking read of the same bytes", plain, "ms", None);
    Ok(())
}

fn plain_latency(rounds: usize, piece: &[u8]) -> Result<f64> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (ask, asked) = mpsc::channel::<()>();
    let (wrote, written) = mpsc::channel::<Instant>();
    let mut times = Vec::new();
    std::thread::scope(|scope| -> Result<()> {
        let server = scope.spawn(move || -> Result<()> {
            let (mut stream, _) = listener.accept()?;
            stream.set_nodelay(true)?;
            for () in asked {
                let begun = Instant::now();
                stream.write_all(piece)?;
                wrote.send(begun)?;
            }
            Ok(())
        });
        let mut buffer = vec![0; piece.len()];
        for _ in 0..rounds {
            ask.send(())?;
            client.read_exact(&mut buffer)?;
            let came = Instant::now();
            times.push(came.saturating_duration_since(written.recv()?));
        }
        drop(ask);
        server
            .join()
            .map_err(|_| anyhow::anyhow!("the server panicked"))?
    })?;
    times.sort();
    Ok(times[times.len() / 2].as_secs_f64() * 1000.0)
}
