//! The containments, each against a server that misbehaves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    DidChangeTextDocumentParams, InitializeParams, InitializeResult, ShowMessageRequestParams,
    request::ShowMessageRequest,
};
use tower_lsp::{Client, LspService};

use redline_protocol::v1::method;

use super::*;
use crate::lsp::written::Written;

/// How long anything may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

struct Mock {
    client: Client,
    seen: Arc<Mutex<Vec<i32>>>,
}

impl LanguageServer for Mock {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        Ok(InitializeResult::default())
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.seen.lock().unwrap().push(params.text_document.version);
        // A handler that goes on waiting must not let a later change overtake this one.
        tokio::task::yield_now().await;
    }
}

impl Mock {
    async fn panics(&self) -> Result<Value> {
        panic!("boom");
    }

    async fn hangs(&self) -> Result<Value> {
        std::future::pending().await
    }

    async fn asks(&self) -> Result<Value> {
        let answer = self
            .client
            .send_request::<ShowMessageRequest>(ShowMessageRequestParams {
                typ: tower_lsp::ls_types::MessageType::INFO,
                message: "?".to_owned(),
                actions: None,
            })
            .await;
        Ok(json!(answer.is_ok()))
    }

    async fn echoes(&self, params: Value) -> Result<Value> {
        Ok(params)
    }

    async fn writes(&self, params: Value) -> Result<Written> {
        if params.is_null() {
            return Err(Error::invalid_params("nothing to write"));
        }
        Written::of(&params)
    }
}

struct Peer {
    stream: DuplexStream,
    frames: FrameReader,
    seen: Arc<Mutex<Vec<i32>>>,
    served: tokio::task::JoinHandle<ExitReason>,
}

impl Peer {
    fn start(buffer_bytes: usize) -> Self {
        let (stream, theirs) = tokio::io::duplex(buffer_bytes);
        let (reader, writer) = tokio::io::split(theirs);
        Self::served(stream, reader, writer)
    }

    fn served(
        stream: DuplexStream,
        reader: impl AsyncRead + Unpin + Send + 'static,
        writer: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mock_seen = Arc::clone(&seen);
        let (service, socket) = LspService::build(|client| Mock {
            client,
            seen: mock_seen,
        })
        .custom_method("test/panics", Mock::panics)
        .custom_method("test/hangs", Mock::hangs)
        .custom_method("test/asks", Mock::asks)
        .custom_method("test/echoes", Mock::echoes)
        .custom_method(method::TRANSACTION_GET, Mock::writes)
        .finish();
        let served = tokio::spawn(serve(
            service,
            socket,
            reader,
            writer,
            CancellationToken::new(),
        ));
        Self {
            stream,
            frames: FrameReader::new(),
            seen,
            served,
        }
    }

    async fn initialized() -> Self {
        let mut peer = Self::start(1 << 20);
        peer.request(0, "initialize", json!({"capabilities": {}}))
            .await;
        assert_eq!(peer.receive().await["id"], 0);
        peer.notify("initialized", json!({})).await;
        peer
    }

    async fn send(&mut self, message: Value) {
        let frame = frame::encode(message.to_string().as_bytes());
        self.stream.write_all(&frame).await.unwrap();
    }

    async fn request(&mut self, id: i32, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
    }

    async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    async fn receive(&mut self) -> Value {
        let mut chunk = [0; 4096];
        loop {
            if let Some(frame) = self.frames.next_frame() {
                return serde_json::from_slice(&frame.unwrap()).unwrap();
            }
            let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut chunk));
            let size = read.await.expect("an answer in time").unwrap();
            assert!(size > 0, "the connection ended");
            self.frames.push(&chunk[..size]);
        }
    }

    async fn change(&mut self, version: i32) {
        let document = json!({"uri": "file:///a", "version": version});
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": document, "contentChanges": []}),
        )
        .await;
    }
}

#[tokio::test]
async fn changes_are_seen_in_the_order_sent() {
    let mut peer = Peer::initialized().await;
    for version in 0..3000 {
        peer.change(version).await;
    }
    peer.request(1, "test/echoes", json!([7])).await;
    assert_eq!(peer.receive().await["result"], json!([7]));
    assert_eq!(*peer.seen.lock().unwrap(), (0..3000).collect::<Vec<_>>());
}

#[tokio::test]
async fn long_requests_hold_up_nobody_and_can_be_cancelled() {
    let mut peer = Peer::initialized().await;
    for id in 1..=100 {
        peer.request(id, "test/hangs", Value::Null).await;
    }
    peer.request(200, "test/echoes", json!([1])).await;
    assert_eq!(peer.receive().await["id"], 200);
    peer.notify("$/cancelRequest", json!({"id": 50})).await;
    let cancelled = peer.receive().await;
    assert_eq!(
        (&cancelled["id"], &cancelled["error"]["code"]),
        (&json!(50), &json!(-32800))
    );
}

#[tokio::test]
async fn a_handler_may_ask_the_client_while_changes_queue() {
    let mut peer = Peer::initialized().await;
    peer.request(1, "test/asks", Value::Null).await;
    for version in 0..500 {
        peer.change(version).await;
    }
    let question = peer.receive().await;
    assert_eq!(question["method"], "window/showMessageRequest");
    peer.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": null}))
        .await;
    assert_eq!(peer.receive().await["result"], json!(true));
}

#[tokio::test]
async fn a_written_result_is_the_result_and_an_error_stays_one() {
    let mut peer = Peer::initialized().await;
    let result = json!({"text": "a \"quoted\" line\n", "list": [1, null, "é"]});
    for (id, params) in [(1, result.clone()), (2, json!("a string")), (3, json!([]))] {
        peer.request(id, method::TRANSACTION_GET, params.clone())
            .await;
        let expected = json!({"jsonrpc": "2.0", "id": id, "result": params});
        assert_eq!(peer.receive().await, expected);
    }
    peer.request(4, method::TRANSACTION_GET, Value::Null).await;
    let refused = peer.receive().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(4), &json!(-32602))
    );
}

#[tokio::test]
async fn a_panic_is_answered() {
    let mut peer = Peer::initialized().await;
    peer.request(1, "test/panics", Value::Null).await;
    let answer = peer.receive().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(1), &json!(-32603))
    );
    peer.request(2, "test/echoes", json!([2])).await;
    assert_eq!(peer.receive().await["result"], json!([2]));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_still_heard() {
    let mut peer = Peer::start(16 * 1024);
    peer.request(0, "initialize", json!({"capabilities": {}}))
        .await;
    assert_eq!(peer.receive().await["id"], 0);
    let big = "x".repeat(8 * 1024);
    for id in 1..=400 {
        peer.request(id, "test/echoes", json!([big])).await;
        peer.change(id).await;
    }
    for _ in 1..=400 {
        assert!(peer.receive().await["result"].is_array());
    }
    assert_eq!(peer.seen.lock().unwrap().len(), 400);
}

#[tokio::test]
async fn the_end_of_input_ends_it_with_handlers_pending() {
    let mut peer = Peer::initialized().await;
    peer.request(1, "test/hangs", Value::Null).await;
    drop(peer.stream);
    let ended = tokio::time::timeout(PATIENCE, peer.served).await;
    assert_eq!(ended.unwrap().unwrap(), ExitReason::EndOfInput);
}

#[tokio::test]
async fn a_client_that_cannot_be_answered_is_left() {
    let (stream, theirs) = tokio::io::duplex(1 << 20);
    let (reader, _) = tokio::io::split(theirs);
    // Its other end is gone, so every write fails.
    let (broken, _) = tokio::io::duplex(1);
    let mut peer = Peer::served(stream, reader, broken);
    peer.request(0, "initialize", json!({"capabilities": {}}))
        .await;
    let ended = tokio::time::timeout(PATIENCE, peer.served).await;
    assert_eq!(ended.unwrap().unwrap(), ExitReason::EndOfInput);
}

#[tokio::test]
async fn exit_ends_it_while_the_stream_stays_open() {
    for (shutdown, expected) in [
        (true, ExitReason::Clean),
        (false, ExitReason::WithoutShutdown),
    ] {
        let mut peer = Peer::initialized().await;
        if shutdown {
            peer.request(1, "shutdown", Value::Null).await;
            assert_eq!(peer.receive().await["id"], 1);
        }
        peer.notify("exit", Value::Null).await;
        let ended = tokio::time::timeout(PATIENCE, peer.served).await;
        assert_eq!(ended.unwrap().unwrap(), expected);
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused_and_the_rest_served() {
    let mut peer = Peer::initialized().await;
    for body in [&b"{"[..], b"[1]", b"\xff\xfe", b"null", b"{\"id\":{}}"] {
        peer.stream.write_all(&frame::encode(body)).await.unwrap();
    }
    peer.stream.write_all(b"garbage\r\n\r\n").await.unwrap();
    peer.request(9, "test/echoes", json!([9])).await;
    let mut refused = 0;
    loop {
        let answer = peer.receive().await;
        if answer["id"] == 9 {
            assert_eq!(answer["result"], json!([9]));
            break;
        }
        assert!(answer["error"]["code"].is_i64(), "{answer}");
        refused += 1;
    }
    assert!(refused >= 5, "{refused}");
}
