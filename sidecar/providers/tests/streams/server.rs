//! Serves one body over a real socket, cut as asked, ended as asked.
//!
//! Each piece is an HTTP chunk of its own, so the client's reads are cut there whatever TCP does.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

/// How the connection ends after the last piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Close {
    /// The body is complete.
    Eof,
    /// The connection is reset in the middle of the body.
    Reset,
    /// Nothing more comes, and the connection stays open.
    Hang,
}

/// One answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers, without framing.
    pub headers: Vec<(String, String)>,
    /// The body in the pieces to send.
    pub pieces: Vec<Vec<u8>>,
    /// The end.
    pub close: Close,
}

/// A server on a port of its own, answering its requests in the order of `answers`.
pub struct Server {
    /// `http://127.0.0.1:PORT`
    pub base: String,
    requests: Arc<Mutex<Vec<Request>>>,
    asked: tokio::sync::watch::Receiver<usize>,
    closed: tokio::sync::watch::Receiver<usize>,
    task: tokio::task::JoinHandle<()>,
}

/// What was asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// Request line and headers.
    pub head: String,
    /// The body.
    pub body: Value,
}

/// Answers by path; an empty path is any.
struct Answers(Vec<(String, VecDeque<Answer>)>);

impl Answers {
    fn next(&mut self, head: &str) -> Answer {
        let asked = head.split(' ').nth(1).unwrap_or_default();
        let path = asked.split('?').next().unwrap_or_default();
        let mut found = self
            .0
            .iter_mut()
            .filter(|(known, _)| known.is_empty() || known == path);
        let Some((_, answers)) = found.next() else {
            return Answer {
                status: 404,
                headers: Vec::new(),
                pieces: Vec::new(),
                close: Close::Eof,
            };
        };
        if answers.len() > 1 {
            answers.pop_front().unwrap()
        } else {
            answers[0].clone()
        }
    }
}

impl Server {
    /// Starts a server that gives each answer once; further requests repeat the last one.
    pub async fn start(answers: Vec<Answer>) -> Self {
        Self::routes(vec![("", answers)]).await
    }

    /// Starts one that has such answers for each path, and 404 for any other.
    pub async fn routes(routes: Vec<(&str, Vec<Answer>)>) -> Self {
        let routes = routes.into_iter();
        let routes = routes.map(|(path, answers)| (path.to_owned(), answers.into()));
        let answers = Arc::new(Mutex::new(Answers(routes.collect())));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (asked_tx, asked) = tokio::sync::watch::channel(0);
        let (closed_tx, closed) = tokio::sync::watch::channel(0);
        let log = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let answers = Arc::clone(&answers);
                let log = Arc::clone(&log);
                let (asked_tx, closed_tx) = (asked_tx.clone(), closed_tx.clone());
                tokio::spawn(async move {
                    serve(stream, answers, log, asked_tx).await;
                    closed_tx.send_modify(|n| *n += 1);
                });
            }
        });
        Self {
            base,
            requests,
            asked,
            closed,
            task,
        }
    }

    /// The requests so far.
    pub async fn requests(&self) -> Vec<Request> {
        self.requests.lock().await.clone()
    }

    /// Waits until the client has asked `n` times.
    pub async fn asked(&self, n: usize) {
        self.asked
            .clone()
            .wait_for(|asked| *asked >= n)
            .await
            .unwrap();
    }

    /// Waits until the client has closed `n` connections.
    pub async fn closed(&self, n: usize) {
        self.closed
            .clone()
            .wait_for(|closed| *closed >= n)
            .await
            .unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    answers: Arc<Mutex<Answers>>,
    log: Arc<Mutex<Vec<Request>>>,
    asked: tokio::sync::watch::Sender<usize>,
) {
    stream.set_nodelay(true).unwrap();
    let Some(request) = read_request(&mut stream).await else {
        return;
    };
    let answer = answers.lock().await.next(&request.head);
    log.lock().await.push(request);
    asked.send_modify(|n| *n += 1);
    let mut out = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", answer.status).into_bytes();
    for (name, value) in &answer.headers {
        out.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    out.extend(b"transfer-encoding: chunked\r\n\r\n");
    for piece in answer.pieces.iter().filter(|piece| !piece.is_empty()) {
        out.extend(format!("{:x}\r\n", piece.len()).into_bytes());
        out.extend(piece);
        out.extend(b"\r\n");
    }
    if answer.close == Close::Eof {
        out.extend(b"0\r\n\r\n");
    }
    if stream.write_all(&out).await.is_err() {
        return;
    }
    match answer.close {
        Close::Eof => {
            let _ = stream.shutdown().await;
            drain(&mut stream).await;
        }
        Close::Reset => {
            // On loopback everything is in the peer's queue by now, and a reset does not take it back.
            stream.set_zero_linger().unwrap();
        }
        Close::Hang => drain(&mut stream).await,
    }
}

/// Reads until the client is gone.
async fn drain(stream: &mut TcpStream) {
    let mut buffer = [0; 1024];
    while stream.read(&mut buffer).await.is_ok_and(|n| n > 0) {}
}

async fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        let n = stream.read(&mut buffer).await.ok()?;
        if n == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..n]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let length: usize = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .map_or(0, |(_, value)| value.trim().parse().unwrap());
        if bytes.len() >= end + 4 + length {
            let body =
                serde_json::from_slice(&bytes[end + 4..end + 4 + length]).unwrap_or_default();
            return Some(Request { head, body });
        }
    }
}
