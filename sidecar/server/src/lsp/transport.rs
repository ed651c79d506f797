//! The loop between a byte stream and the LSP service.
//!
//! Owns: reading frames in order, running handlers, writing replies and requests to the client.
//! Must not know: what any message means.
//!
//! The framework's own loop loses order and can wedge, so this one replaces it and keeps its
//! service (routing, life cycle, cancel, client requests):
//!
//! - a handler is polled once, in read order, before the next message is looked at, so what it sends
//!   to a hub first is sent in the order in which the client spoke;
//! - what is not ready then goes on in a task of its own: no request holds up another;
//! - a panic in a handler is answered as an internal error;
//! - replies go to a queue, and a writer drains it. A client that does not read stops being sent
//!   notifications first (`SOFT_CAP_BYTES`); reading from it stops only at `HARD_CAP_BYTES`;
//! - the end of input ends the connection, pending handlers or not.

mod prompts;

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use futures_util::{FutureExt, SinkExt, StreamExt};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use tower::Service;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};
use tower_lsp::{ClientSocket, LanguageServer, LspService};

use self::prompts::{Prompts, Then};
use super::written;
use crate::frame::{self, FrameReader};

/// Queued bytes above which nothing but replies is queued.
const SOFT_CAP_BYTES: usize = 1024 * 1024;
/// Queued bytes above which the client is not read from until it reads.
const HARD_CAP_BYTES: usize = 128 * 1024 * 1024;

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// `shutdown`, then `exit`.
    Clean,
    /// `exit` with no `shutdown` before it.
    WithoutShutdown,
    /// The stream ended, or could not be written to any more.
    EndOfInput,
    /// The workspace's hub failed; the bridge comes back to a new one.
    HubLost,
}

/// Gives the body of the response, if there is one.
type Handler = Pin<Box<dyn Future<Output = Option<Vec<u8>>> + Send>>;

/// Bytes on their way to the client.
struct Outgoing {
    frames: mpsc::UnboundedSender<Vec<u8>>,
    queued_bytes: AtomicUsize,
    drained: Notify,
    /// Nothing can be said to the client any more.
    broken: CancellationToken,
}

impl Outgoing {
    fn send(&self, message: &impl serde::Serialize) {
        if let Some(body) = sound(serde_json::to_vec(message)) {
            self.send_body(&body);
        }
    }

    fn send_body(&self, body: &[u8]) {
        let frame = frame::encode(body);
        self.queued_bytes.fetch_add(frame.len(), Ordering::SeqCst);
        // The receiver is gone only when the connection is.
        let _ = self.frames.send(frame);
    }

    async fn below(&self, cap_bytes: usize) {
        loop {
            let drained = self.drained.notified();
            if self.queued_bytes.load(Ordering::SeqCst) < cap_bytes {
                return;
            }
            drained.await;
        }
    }
}

fn sound(body: serde_json::Result<Vec<u8>>) -> Option<Vec<u8>> {
    body.inspect_err(|error| tracing::error!(%error, "a message could not be serialized"))
        .ok()
}

/// Serves one client until it exits or its stream ends.
pub(crate) async fn serve<S, R, W>(
    mut service: LspService<S>,
    socket: ClientSocket,
    mut reader: R,
    writer: W,
    closed: CancellationToken,
) -> ExitReason
where
    S: LanguageServer,
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (frames, queue) = mpsc::unbounded_channel();
    let outgoing = Arc::new(Outgoing {
        frames,
        queued_bytes: AtomicUsize::new(0),
        drained: Notify::new(),
        broken: CancellationToken::new(),
    });
    let (mut requests, mut replies) = socket.split();
    let writing = tokio::spawn(write(Arc::clone(&outgoing), queue, writer));
    let to_client = Arc::clone(&outgoing);
    let asking = tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            to_client.send(&request);
            to_client.below(SOFT_CAP_BYTES).await;
        }
    });

    let (stops, mut stopped) = mpsc::unbounded_channel();
    let prompts = Arc::new(Prompts::new(stops));
    let mut framing = FrameReader::new();
    let mut chunk = vec![0; 64 * 1024];
    let mut shutdown = false;
    let reason = 'connection: loop {
        let read = async {
            outgoing.below(HARD_CAP_BYTES).await;
            reader.read(&mut chunk).await
        };
        let size = tokio::select! {
            size = read => match size {
                Ok(0) | Err(_) => break ExitReason::EndOfInput,
                Ok(size) => size,
            },
            Some(stop) = stopped.recv() => {
                run(start(&mut service, stop, &prompts), &outgoing);
                continue;
            }
            () = closed.cancelled() => break ExitReason::HubLost,
            // Who gets no answers is better off with another connection than with half of this one.
            () = outgoing.broken.cancelled() => break ExitReason::EndOfInput,
        };
        framing.push(&chunk[..size]);
        while let Some(next) = framing.next_frame() {
            let body = match next {
                Ok(body) => body,
                Err(error) => {
                    tracing::warn!(%error, "dropped input");
                    outgoing.send(&refusal(Id::Null, Error::parse_error(), error.to_string()));
                    continue;
                }
            };
            let message = match parse(&body) {
                Ok(message) => message,
                Err(response) => {
                    outgoing.send(response.as_ref());
                    continue;
                }
            };
            let request = match message {
                Message::Response(response) => {
                    // An answer to a question that nobody asks any more is dropped.
                    let _ = replies.send(response).await;
                    continue;
                }
                Message::Request(request) => request,
            };
            match request.method() {
                "exit" if shutdown => break 'connection ExitReason::Clean,
                "exit" => break 'connection ExitReason::WithoutShutdown,
                "shutdown" => shutdown = true,
                _ => {}
            }
            let starts = request.method() == "initialize";
            let Then::Handle(request) = prompts.see(request) else {
                continue;
            };
            let handler = start(&mut service, request, &prompts);
            if starts {
                // Nothing may be looked at before the capabilities are known.
                if let Some(body) = handler.await {
                    outgoing.send_body(&body);
                }
            } else {
                run(handler, &outgoing);
            }
        }
    };
    asking.abort();
    drop(service);
    finish(outgoing, writing).await;
    reason
}

enum Message {
    Request(Request),
    Response(Response),
}

fn parse(body: &[u8]) -> Result<Message, Box<Response>> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Box::new(refusal(Id::Null, Error::parse_error(), error.to_string())))?;
    let id = value
        .get("id")
        .and_then(|id| serde_json::from_value(id.clone()).ok())
        .unwrap_or(Id::Null);
    if value.get("method").is_some() {
        serde_json::from_value(value)
            .map(Message::Request)
            .map_err(|error| Box::new(refusal(id, Error::invalid_request(), error.to_string())))
    } else {
        serde_json::from_value(value)
            .map(Message::Response)
            .map_err(|error| Box::new(refusal(id, Error::invalid_request(), error.to_string())))
    }
}

fn refusal(id: Id, mut error: Error, detail: String) -> Response {
    error.message = detail.into();
    Response::from_error(id, error)
}

/// Makes the handler's future; a panic becomes an internal error.
///
/// The response is put into bytes there too, so a large one holds up nobody's messages.
fn start<S: LanguageServer>(
    service: &mut LspService<S>,
    request: Request,
    prompts: &Arc<Prompts>,
) -> Handler {
    let prompts = Arc::clone(prompts);
    let id = request.id().cloned();
    let method = request.method().to_owned();
    let is_written = written::METHODS.contains(&request.method());
    let future = match std::panic::catch_unwind(AssertUnwindSafe(|| service.call(request))) {
        Ok(future) => AssertUnwindSafe(future).catch_unwind().boxed(),
        Err(panic) => std::future::ready(Err(panic)).boxed(),
    };
    Box::pin(async move {
        let response = match future.await {
            Ok(Ok(response)) => response,
            Ok(Err(exited)) => {
                tracing::debug!(%exited, method, "refused");
                None
            }
            Err(_) => {
                tracing::error!(method, "a handler panicked");
                let error = Error::internal_error();
                id.map(|id| {
                    refusal(
                        id,
                        error,
                        format!("{method} failed inside Redline; the log says more"),
                    )
                })
            }
        };
        if let Some(response) = &response {
            prompts.answered(response.id(), response.result());
        }
        response.and_then(|response| match is_written {
            true => sound(written::body(response)),
            false => sound(serde_json::to_vec(&response)),
        })
    })
}

/// Polls the handler once, here and now; what is not ready goes on in its own task.
fn run(mut handler: Handler, outgoing: &Arc<Outgoing>) {
    match handler
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(body) => {
            if let Some(body) = body {
                outgoing.send_body(&body);
            }
        }
        Poll::Pending => {
            let outgoing = Arc::clone(outgoing);
            tokio::spawn(async move {
                if let Some(body) = handler.await {
                    outgoing.send_body(&body);
                }
            });
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(
    outgoing: Arc<Outgoing>,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
    mut writer: W,
) {
    while let Some(frame) = queue.recv().await {
        if frame.is_empty() {
            break;
        }
        let written = writer.write_all(&frame).await;
        outgoing
            .queued_bytes
            .fetch_sub(frame.len(), Ordering::SeqCst);
        outgoing.drained.notify_waiters();
        let flushed = match written {
            Ok(()) if queue.is_empty() => writer.flush().await,
            written => written,
        };
        if let Err(error) = flushed {
            tracing::warn!(%error, "the client cannot be written to");
            outgoing.broken.cancel();
            break;
        }
    }
    // A client that is gone must not hold anybody up.
    outgoing.queued_bytes.store(0, Ordering::SeqCst);
    outgoing.drained.notify_waiters();
    let _ = writer.flush().await;
}

/// Gives the writer a moment to say what is queued; an unread client is not waited for.
async fn finish(outgoing: Arc<Outgoing>, writing: tokio::task::JoinHandle<()>) {
    let _ = outgoing.frames.send(Vec::new());
    let abort = writing.abort_handle();
    if tokio::time::timeout(std::time::Duration::from_millis(500), writing)
        .await
        .is_err()
    {
        abort.abort();
    }
}

#[cfg(test)]
mod tests;
