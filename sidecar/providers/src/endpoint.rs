//! One endpoint of one vendor: asks, adapts to what it refuses, reads the answer, emits its events.
//!
//! Everything vendors share lives here; an adapter says what to send and how to read what comes.

use std::sync::Arc;

use serde_json::Value;
use url::Url;

use crate::http::{Accept, Body, Call, Http, ReadEnd, Shape, silence};
use crate::provider::{Emitter, EventStream};
use crate::stream::{Assemble, Decoder, End, Framing, Progress};
use crate::{ChatRequest, Event, HttpOptions, ProviderError, Secret, StopReason};

/// How to reach one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connection {
    /// Name under which the user configured it.
    pub name: String,
    /// As the user typed it: host, prefix, or the whole endpoint.
    pub base_url: String,
    /// Local servers want none.
    pub api_key: Option<Secret>,
    /// Further headers (a gateway's own credentials, an organization).
    pub headers: Vec<(String, Secret)>,
    /// Network and time limits.
    pub http: HttpOptions,
}

/// What an adapter says of its vendor's API.
pub(crate) trait Api: Send + Sync + Sized + 'static {
    type Assembler: Assemble;

    const FRAMING: Framing;

    /// Headers of every request: the credential, in the vendor's way, and the vendor's own.
    fn headers(&self, key: Option<&Secret>) -> Vec<(&'static str, Secret)>;

    /// Learns what the first request to a model needs to know.
    fn prepare(&self, _: &Link, _: &ChatRequest) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// The request's body.
    fn body(&self, request: &ChatRequest) -> Value;

    /// Takes a refusal as this server's dialect; true when the request is to be sent once more.
    fn learn(&self, refusal: &ProviderError, request: &ChatRequest) -> bool;

    fn assembler(&self, request: &ChatRequest) -> Self::Assembler;
}

/// How often a request is adapted to what the server refuses, one key at a time.
const MAX_ADAPTATIONS: u32 = 4;

/// The connection behind an adapter: one URL, one pool, the credentials.
pub(crate) struct Link {
    pub(crate) connection: Connection,
    pub(crate) url: Url,
    http: Http,
}

/// An adapter with its connection. Cheap to share; one connection pool.
pub(crate) struct Endpoint<A> {
    pub(crate) link: Link,
    pub(crate) api: A,
}

impl Link {
    pub(crate) fn new(connection: Connection, url: Url) -> Self {
        let http = Http::new(connection.http.clone(), &url);
        Self {
            connection,
            url,
            http,
        }
    }

    /// Closes the connections that no request uses.
    pub(crate) fn close_idle(&self) {
        self.http.close_idle();
    }

    /// Sends one request with the connection's own headers.
    pub(crate) async fn send(
        &self,
        url: &Url,
        accept: Accept,
        vendor: Vec<(&'static str, Secret)>,
        body: Option<Value>,
    ) -> Result<Body, ProviderError> {
        let own = self.connection.headers.iter();
        let headers = vendor
            .iter()
            .map(|(name, value)| (*name, value))
            .chain(own.map(|(name, value)| (name.as_str(), value)));
        let call = Call {
            url,
            accept,
            headers: headers.collect(),
            // A tree of strings and numbers always serializes.
            body: body.map(|body| serde_json::to_vec(&body).unwrap_or_default()),
        };
        self.http
            .send(call)
            .await
            .map_err(|error| self.masked(error))
    }

    /// Sends one request, and reads the answer as one JSON text.
    pub(crate) async fn json(
        &self,
        url: &Url,
        vendor: Vec<(&'static str, Secret)>,
        body: Option<Value>,
    ) -> Result<Value, ProviderError> {
        let mut body = self.send(url, Accept::Json, vendor, body).await?;
        body.json(Vec::new()).await
    }

    /// [`Self::json`], or `None` when the server does not know the address.
    pub(crate) async fn json_if_known(
        &self,
        url: &Url,
        vendor: Vec<(&'static str, Secret)>,
        body: Option<Value>,
    ) -> Result<Option<Value>, ProviderError> {
        match self.json(url, vendor, body).await {
            Ok(answer) => Ok(Some(answer)),
            Err(error) if matches!(error.status, Some(404 | 405 | 501)) => Ok(None),
            Err(error) => Err(self.masked(error)),
        }
    }

    /// Masks what a server echoes of a credential.
    pub(crate) fn masked(&self, mut error: ProviderError) -> ProviderError {
        let extra = self.connection.headers.iter().map(|(_, value)| value);
        for secret in self.connection.api_key.iter().chain(extra) {
            error.message = secret.mask(&error.message);
            error.code = error.code.map(|code| secret.mask(&code).into());
            error.param = error.param.map(|param| secret.mask(&param).into());
        }
        error
    }
}

impl<A: Api> Endpoint<A> {
    pub(crate) fn new(connection: Connection, url: Url, api: A) -> Self {
        Self {
            link: Link::new(connection, url),
            api,
        }
    }

    pub(crate) fn stream(self: &Arc<Self>, request: ChatRequest) -> EventStream {
        let endpoint = Arc::clone(self);
        EventStream::new(|emitter| async move { endpoint.run(&request, &emitter).await })
    }

    async fn run(&self, request: &ChatRequest, emitter: &Emitter) {
        self.api.prepare(&self.link, request).await;
        match self.open(request).await {
            Ok((body, shape)) => self.read(body, shape, request, emitter).await,
            Err(error) => {
                emitter.emit(Event::Error(self.link.masked(error))).await;
                let reason = StopReason::Error;
                emitter.emit(Event::Done { reason }).await;
            }
        }
    }

    /// Sends the request, and again without what this server refused by name.
    async fn open(&self, request: &ChatRequest) -> Result<(Body, Shape), ProviderError> {
        let accept = match A::FRAMING {
            Framing::Sse => Accept::EventStream,
            Framing::Lines => Accept::Lines,
        };
        let mut adaptations = 0;
        loop {
            let headers = self.api.headers(self.link.connection.api_key.as_ref());
            let body = self.api.body(request);
            let sent = self
                .link
                .send(&self.link.url, accept, headers, Some(body))
                .await;
            match sent {
                Ok(mut body) => {
                    let shape = body.shape(A::FRAMING).await?;
                    return Ok((body, shape));
                }
                Err(error) if adaptations < MAX_ADAPTATIONS && self.api.learn(&error, request) => {
                    adaptations += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn read(&self, mut body: Body, shape: Shape, request: &ChatRequest, emitter: &Emitter) {
        let mut decoder = Decoder::new(A::FRAMING, self.api.assembler(request));
        let mut out = Vec::new();
        let end = match shape {
            Shape::Json(answer) => {
                decoder.whole(answer, &mut out);
                End::Closed
            }
            Shape::Stream(head) => {
                let mut progress = decoder.push(&head, &mut out);
                loop {
                    self.emit_all(emitter, &mut out).await;
                    if progress == Progress::Last {
                        break End::Closed;
                    }
                    match body.read().await {
                        Ok(bytes) => progress = decoder.push(&bytes, &mut out),
                        Err(ReadEnd::Silent(limit)) => break End::Failed(silence(limit)),
                        Err(ReadEnd::Eof | ReadEnd::Broken) => break End::Closed,
                    }
                }
            }
        };
        // The connection goes before the end is told.
        drop(body);
        decoder.finish(end, &mut out);
        self.emit_all(emitter, &mut out).await;
    }

    async fn emit_all(&self, emitter: &Emitter, out: &mut Vec<Event>) {
        for event in out.drain(..) {
            let event = match event {
                Event::Error(error) => Event::Error(self.link.masked(error)),
                Event::Warning(error) => Event::Warning(self.link.masked(error)),
                other => other,
            };
            emitter.emit(event).await;
        }
    }
}

impl<A> std::fmt::Debug for Endpoint<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("connection", &self.link.connection)
            .finish_non_exhaustive()
    }
}
