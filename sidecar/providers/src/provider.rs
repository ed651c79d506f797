//! The trait, and the stream that an adapter's plain async code becomes.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use crate::{ChatRequest, Event, ModelInfo, ProviderError, count};

/// One model endpoint. Implementations translate; they do not retry, log prompts or touch files.
pub trait Provider: Send + Sync {
    /// Name under which the user configured it; for messages.
    fn name(&self) -> &str;

    /// Asks the model once.
    ///
    /// Failures are events of the stream too: an [`Event::Error`], then [`Event::Done`]. Nothing is
    /// sent before the stream is polled, and dropping it closes the connection.
    fn stream(&self, request: ChatRequest) -> EventStream;

    /// Closes connections that are kept open for a next request: whoever stopped a turn wants nothing left of it.
    fn close_idle(&self) {}

    /// Asks which models there are. Dropping the future ends the question.
    ///
    /// # Errors
    ///
    /// The endpoint does not answer, or not so.
    fn models(&self) -> BoxFuture<'_, Result<Vec<ModelInfo>, ProviderError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    /// Estimates the request's prompt in tokens, rather too low than too high; `None` when nobody reads it.
    fn estimate(&self, request: &ChatRequest) -> Option<u64> {
        Some(count::estimate(request))
    }

    /// Tokens that the context of `model` holds at this endpoint, as far as the adapter itself has learned it.
    fn window(&self, model: &str) -> Option<u64> {
        let _ = model;
        None
    }

    /// Asks how many tokens the request's prompt has; `None` when the endpoint does not count.
    ///
    /// # Errors
    ///
    /// The endpoint counts, and failed.
    fn count<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxFuture<'a, Result<Option<u64>, ProviderError>> {
        let _ = request;
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// How many events may wait for the reader before the adapter stops reading the socket.
const WINDOW: usize = 64;

/// The events of one model call.
///
/// The adapter's future runs inside `poll_next`, on the reader's own task: no task is spawned, so
/// dropping the stream drops the connection with everything else.
pub struct EventStream {
    work: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    events: mpsc::Receiver<Event>,
}

/// Where an adapter puts its events.
pub(crate) struct Emitter(mpsc::Sender<Event>);

impl Emitter {
    /// Hands an event to the reader, waiting while the window is full.
    pub(crate) async fn emit(&self, event: Event) {
        // The receiver lives in the same stream as this future: it cannot be gone while we run.
        let _ = self.0.send(event).await;
    }
}

impl EventStream {
    /// Makes a stream of what `work` emits.
    pub(crate) fn new<F, Fut>(work: F) -> Self
    where
        F: FnOnce(Emitter) -> Fut,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let (sender, events) = mpsc::channel(WINDOW);
        Self {
            work: Some(Box::pin(work(Emitter(sender)))),
            events,
        }
    }
}

impl Stream for EventStream {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        if let Ok(event) = self.events.try_recv() {
            return Poll::Ready(Some(event));
        }
        if let Some(work) = &mut self.work
            && work.as_mut().poll(cx).is_ready()
        {
            // Drops the emitter too, so that the channel ends after what is still in it.
            self.work = None;
        }
        self.events.poll_recv(cx)
    }
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream")
            .field("ended", &self.work.is_none())
            .finish_non_exhaustive()
    }
}
