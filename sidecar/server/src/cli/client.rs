//! A command's own connection: requests out, answers and notifications in, over blocking streams.
//!
//! Owns: `initialize`, waiting for answers, and refusing what a terminal cannot do.
//! Must not know: what is printed.

use crate::{
    connect::{self, Link, Sharing},
    failure::Failure,
    paths::Paths,
    wire::{self, FrameSource, Message, error_response, write_frame},
};
use redline_protocol::v1::ClientCapabilities;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json, value::RawValue};
use std::{
    collections::VecDeque,
    io,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

/// Name that receipts of the command line carry.
const CLIENT_NAME: &str = "redline-cli";
/// JSON-RPC: no such method.
const METHOD_NOT_FOUND: i64 = -32601;

/// A notification that came while an answer was waited for.
#[derive(Debug)]
pub(crate) struct Notification {
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// A connection to a hub, after `initialize`.
pub(crate) struct Client {
    link: Link,
    frames: FrameSource<UnixStream>,
    next_id: u64,
    notifications: VecDeque<Notification>,
    root: PathBuf,
}

impl Client {
    /// Connects, and opens the project at `root`.
    ///
    /// # Errors
    ///
    /// When nothing serves, or the project is refused.
    pub(crate) fn open(
        paths: &Paths,
        sharing: Sharing,
        root: PathBuf,
        session: bool,
    ) -> Result<Self, Failure> {
        Self::over(connect::open(paths, sharing)?, root, session)
    }

    /// Opens the project at `root` over a connection.
    ///
    /// # Errors
    ///
    /// When the project is refused.
    pub(crate) fn over(link: Link, root: PathBuf, session: bool) -> Result<Self, Failure> {
        let frames = link
            .stream
            .try_clone()
            .map(FrameSource::new)
            .map_err(gone)?;
        let mut client = Self {
            link,
            frames,
            next_id: 1,
            notifications: VecDeque::new(),
            root,
        };
        let uri = client.uri(None)?;
        let ours = ClientCapabilities {
            version: crate::hello::PROTOCOL_VERSION,
            review: false,
            session,
        };
        let params = json!({
            "processId": std::process::id(),
            "clientInfo": {"name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION")},
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": ""}],
            "capabilities": {"experimental": {"redline": ours}},
        });
        client.request::<Value>("initialize", &params)?;
        client.notify("initialized", &json!({}))?;
        Ok(client)
    }

    /// The URI of a path below the root, or of the root.
    pub(crate) fn uri(&self, path: Option<&Path>) -> Result<String, Failure> {
        let uri = match path {
            Some(path) => url::Url::from_file_path(self.root.join(path)),
            None => url::Url::from_file_path(&self.root),
        };
        uri.map(String::from).map_err(|()| {
            Failure::usage(
                format!("{} has no URI", self.root.display()),
                "name an absolute path",
            )
        })
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    ///
    /// What the sidecar refused or failed with; `CLIENT_GONE` when the connection ended.
    pub(crate) fn request<R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<R, Failure> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(Some(id), method, params)?;
        let expected = id.to_string();
        loop {
            let body = self.read()?;
            let message = parse(&body)?;
            if message.method.is_none() && message.id.is_some_and(|id| id.get() == expected) {
                return answer(&message);
            }
            self.take(&message)?;
        }
    }

    /// Waits for the next notification.
    ///
    /// # Errors
    ///
    /// `CLIENT_GONE` when the connection ended.
    pub(crate) fn next_notification(&mut self) -> Result<Notification, Failure> {
        loop {
            if let Some(notification) = self.notifications.pop_front() {
                return Ok(notification);
            }
            let body = self.read()?;
            self.take(&parse(&body)?)?;
        }
    }

    /// Another sender on the same connection, for a thread of its own.
    ///
    /// # Errors
    ///
    /// When the system has no descriptor left.
    pub(crate) fn sender(&self) -> Result<UnixStream, Failure> {
        self.link.stream.try_clone().map_err(gone)
    }

    /// Says goodbye; a server in this process puts its things away first.
    pub(crate) fn close(mut self) {
        // Nobody waits for the answer: the end of the stream says the same.
        let _ = self.notify("exit", &Value::Null);
        self.link.close();
    }

    fn notify(&mut self, method: &str, params: &impl Serialize) -> Result<(), Failure> {
        self.send(None, method, params)
    }

    fn send(
        &mut self,
        id: Option<u64>,
        method: &str,
        params: &impl Serialize,
    ) -> Result<(), Failure> {
        let body = wire::call(id, method, params)
            .map_err(|error| Failure::internal(format!("{method} cannot be said: {error}")))?;
        write_frame(&mut &*self.link.stream, &body).map_err(gone)
    }

    fn read(&mut self) -> Result<Vec<u8>, Failure> {
        match self.frames.next_frame() {
            Ok(Some(Ok(body))) => Ok(body),
            Ok(Some(Err(error))) => Err(Failure::internal(error.to_string())),
            Ok(None) => Err(gone(io::ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(gone(error)),
        }
    }

    /// Keeps a notification; refuses a request, which only an editor could grant.
    fn take(&mut self, message: &Message<'_>) -> Result<(), Failure> {
        match (message.id, message.method.as_deref()) {
            (None, Some(method)) => {
                let params = message.params.map_or("null", RawValue::get);
                let params = serde_json::from_str(params).unwrap_or(Value::Null);
                self.notifications.push_back(Notification {
                    method: method.to_owned(),
                    params,
                });
                Ok(())
            }
            (Some(id), Some(method)) => {
                let text = format!("a terminal has no {method}");
                let body = error_response(Some(id), METHOD_NOT_FOUND, &text);
                write_frame(&mut &*self.link.stream, &body).map_err(gone)
            }
            (_, None) => Ok(()),
        }
    }
}

fn parse(body: &[u8]) -> Result<Message<'_>, Failure> {
    serde_json::from_slice(body)
        .map_err(|error| Failure::internal(format!("the sidecar sent no message: {error}")))
}

fn answer<R: DeserializeOwned>(message: &Message<'_>) -> Result<R, Failure> {
    if let Some(error) = message.error {
        let error = serde_json::from_str(error.get()).unwrap_or(Value::Null);
        return Err(Failure::from_jsonrpc(&error));
    }
    let result = message.result.map_or("null", RawValue::get);
    serde_json::from_str(result)
        .map_err(|error| Failure::internal(format!("the sidecar's answer cannot be read: {error}")))
}

fn gone(error: io::Error) -> Failure {
    Failure::new(
        "CLIENT_GONE",
        format!("the connection to the sidecar ended: {error}"),
        "run the command again: what was stored is kept, and a new sidecar recovers what was not",
    )
}

/// Body of the notification or request that cancels the session's turn.
pub(crate) fn cancel_body(session_id: &str, id: u64) -> Option<Vec<u8>> {
    let params = json!({ "sessionId": session_id });
    wire::call(
        Some(id),
        redline_protocol::v1::method::SESSION_CANCEL,
        &params,
    )
    .ok()
}
