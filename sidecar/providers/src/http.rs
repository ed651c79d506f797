//! One request: headers, time limits, and what the body really is.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use url::Url;

use crate::base_url::display;
use crate::error::{self, Answer};
use crate::stream::Framing;
use crate::{ErrorKind, ProviderError, Secret};

/// Largest error page and largest body that is one JSON text, in bytes.
const MAX_BODY: usize = 64 << 20;
const MAX_ERROR_BODY: usize = 1 << 20;

/// How long to wait for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection.
    pub connect: Duration,
    /// For the first byte of the answer; long, since local servers load models meanwhile.
    pub first_byte: Duration,
    /// Between two reads; every byte counts, comments and pings too.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(15),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
        }
    }
}

/// How to reach the network. Nothing is read from the environment: the caller passes it in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpOptions {
    /// Time limits.
    pub timeouts: Timeouts,
    /// Proxy for `http` URLs.
    pub http_proxy: Option<String>,
    /// Proxy for `https` URLs.
    pub https_proxy: Option<String>,
    /// Hosts that no proxy is used for, as in `NO_PROXY`.
    pub no_proxy: Option<String>,
}

/// A client for one provider. Loading the certificates takes milliseconds, so it is made when first used.
pub(crate) struct Http {
    options: HttpOptions,
    /// No connection of this provider is ever encrypted.
    plain: bool,
    /// With the pool of connections.
    client: Mutex<Option<reqwest::Client>>,
}

/// What kind of answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accept {
    EventStream,
    Lines,
    Json,
}

/// What to send: a POST when there is a body, else a GET.
pub(crate) struct Call<'a> {
    pub(crate) url: &'a Url,
    pub(crate) accept: Accept,
    pub(crate) headers: Vec<(&'a str, &'a Secret)>,
    pub(crate) body: Option<Vec<u8>>,
}

impl Http {
    /// A client for `url`'s host.
    pub(crate) fn new(options: HttpOptions, url: &Url) -> Self {
        let plain = url.scheme() == "http" && options.http_proxy.is_none();
        Self {
            options,
            plain,
            client: Mutex::default(),
        }
    }

    /// Closes the connections that wait in the pool for a next request.
    pub(crate) fn close_idle(&self) {
        // They go with the pool; a request that still runs holds it until it ends.
        drop(
            self.client
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }

    fn client(&self) -> Result<reqwest::Client, ProviderError> {
        let mut kept = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = kept.as_ref() {
            return Ok(client.clone());
        }
        let fail = |what: &str, error: reqwest::Error| {
            ProviderError::new(
                ErrorKind::InvalidRequest,
                format!("{what}: {}", root_cause(&error)),
            )
        };
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("redline/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.options.timeouts.connect)
            // A redirect would carry the key to another host.
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy();
        if self.plain {
            // A local server needs no certificates, and loading them takes a while.
            builder = builder.tls_certs_only([]);
        }
        let no_proxy = self
            .options
            .no_proxy
            .as_deref()
            .and_then(reqwest::NoProxy::from_string);
        if let Some(url) = &self.options.http_proxy {
            let proxy = reqwest::Proxy::http(url).map_err(|e| fail("http proxy", e))?;
            builder = builder.proxy(proxy.no_proxy(no_proxy.clone()));
        }
        if let Some(url) = &self.options.https_proxy {
            let proxy = reqwest::Proxy::https(url).map_err(|e| fail("https proxy", e))?;
            builder = builder.proxy(proxy.no_proxy(no_proxy));
        }
        let client = builder.build().map_err(|e| fail("HTTP client", e))?;
        Ok(kept.insert(client).clone())
    }

    /// Sends a request and returns the answer's body when its status is 2xx.
    pub(crate) async fn send(&self, call: Call<'_>) -> Result<Body, ProviderError> {
        let accept = match call.accept {
            Accept::EventStream => "text/event-stream",
            Accept::Lines => "application/x-ndjson",
            Accept::Json => "application/json",
        };
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in call.headers {
            let header = HeaderName::try_from(name).map_err(|_| {
                ProviderError::new(
                    ErrorKind::InvalidRequest,
                    format!("`{name}` is not a header name"),
                )
            })?;
            headers.insert(header, header_value(name, value.reveal())?);
        }
        let client = self.client()?;
        let send = match call.body {
            Some(body) => {
                headers.insert("content-type", HeaderValue::from_static("application/json"));
                client.post(call.url.clone()).body(body)
            }
            None => client.get(call.url.clone()),
        };
        let send = send.headers(headers).send();
        let limit = self.options.timeouts.first_byte;
        let response = tokio::time::timeout(limit, send)
            .await
            .map_err(|_| silence(limit))?
            .map_err(|error| unreachable_error(call.url, &error))?;
        let answer = answer_of(&response);
        let encoding = response.headers().get("content-encoding").map(|value| {
            String::from_utf8_lossy(value.as_bytes())
                .trim()
                .to_ascii_lowercase()
        });
        let is_success = response.status().is_success();
        let mut body = Body {
            stream: Box::pin(response.bytes_stream()),
            idle: self.options.timeouts.idle,
            first: Some(limit),
            answer,
        };
        if !is_success {
            // A cut error page still tells more than none.
            let (bytes, _) = body.read_all(MAX_ERROR_BODY).await;
            return Err(error::from_body(&body.answer, &bytes));
        }
        match encoding.as_deref() {
            None | Some("" | "identity") => Ok(body),
            Some(other) => Err(ProviderError::new(
                ErrorKind::Protocol,
                format!("response body is encoded as {other}, which was not asked for"),
            )),
        }
    }
}

type ByteStream =
    std::pin::Pin<Box<dyn futures_util::Stream<Item = reqwest::Result<Bytes>> + Send>>;
/// The body of an answer, read under the idle time limit.
pub(crate) struct Body {
    stream: ByteStream,
    idle: Duration,
    first: Option<Duration>,
    answer: Answer,
}

/// What ended a body.
pub(crate) enum ReadEnd {
    /// All of it came.
    Eof,
    /// The connection broke.
    Broken,
    /// Nothing came for too long.
    Silent(Duration),
}

/// What a body is, whatever its label says.
pub(crate) enum Shape {
    /// A stream; these bytes were read already.
    Stream(Bytes),
    /// One JSON text.
    Json(Value),
}

impl Body {
    /// Reads on; an empty read is skipped.
    pub(crate) async fn read(&mut self) -> Result<Bytes, ReadEnd> {
        loop {
            let limit = self.first.take().unwrap_or(self.idle);
            match tokio::time::timeout(limit, self.stream.next()).await {
                Err(_) => return Err(ReadEnd::Silent(limit)),
                Ok(None) => return Err(ReadEnd::Eof),
                Ok(Some(Err(_))) => return Err(ReadEnd::Broken),
                Ok(Some(Ok(bytes))) if bytes.is_empty() => {}
                Ok(Some(Ok(bytes))) => return Ok(bytes),
            }
        }
    }

    async fn read_all(&mut self, max: usize) -> (Vec<u8>, ReadEnd) {
        let mut all = Vec::new();
        loop {
            match self.read().await {
                Ok(bytes) => {
                    all.extend_from_slice(&bytes[..bytes.len().min(max - all.len())]);
                    if all.len() >= max {
                        return (all, ReadEnd::Broken);
                    }
                }
                Err(end) => return (all, end),
            }
        }
    }

    /// Looks at the label and at the first bytes: proxies send pages, bare JSON and unlabelled gzip.
    pub(crate) async fn shape(&mut self, framing: Framing) -> Result<Shape, ProviderError> {
        let html = self.answer.content_type.starts_with("text/html");
        let json = self.answer.content_type.contains("json");
        let mut head = Vec::new();
        let first = loop {
            if let Some(first) = first_significant(&head) {
                break Some(first);
            }
            match self.read().await {
                Ok(bytes) => head.extend_from_slice(&bytes),
                Err(ReadEnd::Silent(limit)) => return Err(silence(limit)),
                Err(ReadEnd::Eof | ReadEnd::Broken) => break None,
            }
        };
        match first {
            Some(First::Gzip) => {
                let mut error = ProviderError::new(
                    ErrorKind::Protocol,
                    "response body is compressed but not labelled",
                );
                error.retryable = true;
                Err(error)
            }
            Some(First::Byte(b'<')) => Err(self.page(head).await),
            _ if html => Err(self.page(head).await),
            // A stream of lines begins like one JSON text, and one text is a stream of one line.
            _ if framing == Framing::Lines => Ok(Shape::Stream(head.into())),
            Some(First::Byte(b'{')) => self.json(head).await.map(Shape::Json),
            _ if json => self.json(head).await.map(Shape::Json),
            _ => Ok(Shape::Stream(head.into())),
        }
    }

    async fn page(&mut self, mut head: Vec<u8>) -> ProviderError {
        let (rest, _) = self.read_all(MAX_ERROR_BODY).await;
        head.extend(rest);
        let title = error::html_title(&String::from_utf8_lossy(&head));
        let title = title.unwrap_or_else(|| "a page without a title".to_owned());
        ProviderError::new(
            ErrorKind::Protocol,
            format!("expected an event stream, got text/html: {title}"),
        )
    }

    /// Reads the rest of one JSON text of which `head` was read already.
    pub(crate) async fn json(&mut self, mut head: Vec<u8>) -> Result<Value, ProviderError> {
        let (rest, end) = self.read_all(MAX_BODY).await;
        head.extend(rest);
        if let ReadEnd::Silent(limit) = end {
            return Err(silence(limit));
        }
        let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&head);
        serde_json::from_slice(text).map_err(|error| {
            if error.is_eof() {
                ProviderError::new(ErrorKind::StreamInterrupted, "the answer broke off")
            } else {
                let message = format!("the answer is not JSON: {error}");
                ProviderError::new(ErrorKind::Protocol, message)
            }
        })
    }
}

enum First {
    Byte(u8),
    Gzip,
}

/// The first byte that is neither a BOM nor white space, once enough bytes are there to tell.
fn first_significant(head: &[u8]) -> Option<First> {
    const BOM: &[u8] = b"\xEF\xBB\xBF";
    if BOM.starts_with(head) && head.len() < BOM.len() {
        return None;
    }
    let text = head.strip_prefix(BOM).unwrap_or(head);
    match text {
        [0x1f] => None,
        [0x1f, 0x8b, ..] => Some(First::Gzip),
        _ => text
            .iter()
            .find(|byte| !byte.is_ascii_whitespace())
            .map(|byte| First::Byte(*byte)),
    }
}

fn answer_of(response: &reqwest::Response) -> Answer {
    let header = |name: &str| {
        response
            .headers()
            .get(name)
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    Answer {
        status: Some(response.status().as_u16()),
        content_type: header("content-type")
            .unwrap_or_default()
            .to_ascii_lowercase(),
        retry_after_ms: header("retry-after-ms"),
        retry_after: header("retry-after"),
        date: header("date"),
        should_retry: header("x-should-retry"),
    }
}

fn header_value(what: &str, text: &str) -> Result<HeaderValue, ProviderError> {
    let mut value = HeaderValue::from_str(text).map_err(|_| {
        ProviderError::new(
            ErrorKind::Auth,
            format!("the {what} holds characters that no HTTP header can carry"),
        )
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// The error for a server that says nothing.
pub(crate) fn silence(limit: Duration) -> ProviderError {
    ProviderError::new(
        ErrorKind::Timeout,
        format!("no data from the provider for {} s", limit.as_secs_f64()),
    )
}

fn unreachable_error(url: &Url, error: &reqwest::Error) -> ProviderError {
    let (kind, what) = if error.is_timeout() {
        (ErrorKind::Timeout, "no connection in time to")
    } else if error.is_connect() {
        (ErrorKind::Server, "cannot connect to")
    } else {
        (ErrorKind::Server, "no answer from")
    };
    ProviderError::new(
        kind,
        format!("{what} {}: {}", display(url), root_cause(error)),
    )
}

/// The innermost cause: reqwest's own text repeats the URL, which may hold a key.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
