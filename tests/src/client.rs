//! An LSP client for tests: synchronous for the test, with one thread that reads.
//!
//! It owns ids, replies, and what the server sent; it knows nothing of documents (see [`crate::editor`]). Every wait has a
//! condition and a limit, and a limit that is hit says what had arrived by then.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};

use crate::frames;

/// How long anything may take before a test calls it lost. Generous: a loaded machine is not a failure.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A JSON-RPC error as the client saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// JSON-RPC code.
    pub code: i64,
    /// For people.
    pub message: String,
    /// What came with it; `data.code` is Redline's own code.
    pub data: Value,
}

impl RpcError {
    /// Redline's error code, or an empty string.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.data.get("code").and_then(Value::as_str).unwrap_or("")
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.code, self.message, self.data)
    }
}

impl std::error::Error for RpcError {}

/// What came back for a request.
pub type Reply = std::result::Result<Value, RpcError>;

/// How a client answers what the server asks of it. Called on the reading thread, in the order of arrival.
pub trait Answer: Send {
    /// Answers a request; `None` leaves it without a reply.
    fn request(&mut self, out: &Outgoing, method: &str, params: &Value) -> Option<Reply>;

    /// Called after the reply of a request was sent.
    fn replied(&mut self, _out: &Outgoing, _method: &str, _params: &Value) {}

    /// Sees a notification.
    fn notification(&mut self, _out: &Outgoing, _method: &str, _params: &Value) {}
}

/// Answers everything with null, as a client that has no idea.
pub struct Null;

impl Answer for Null {
    fn request(&mut self, _: &Outgoing, _: &str, _: &Value) -> Option<Reply> {
        Some(Ok(Value::Null))
    }
}

/// The writing half, shared by the test and the reading thread.
#[derive(Clone)]
pub struct Outgoing {
    writer: Arc<Mutex<Option<Box<dyn Write + Send>>>>,
}

impl Outgoing {
    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// When the server no longer reads.
    pub fn notify(&self, method: &str, params: Value) -> Result<()> {
        self.message(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Sends one message as it stands.
    ///
    /// # Errors
    ///
    /// When the server no longer reads.
    pub fn message(&self, message: &Value) -> Result<()> {
        self.bytes(&frames::encode(message))
    }

    /// Sends raw bytes, for tests of bad input.
    ///
    /// # Errors
    ///
    /// When the server no longer reads.
    pub fn bytes(&self, bytes: &[u8]) -> Result<()> {
        let mut writer = lock(&self.writer);
        let writer = writer
            .as_mut()
            .context("the connection was closed by the test")?;
        writer.write_all(bytes)?;
        writer.flush()?;
        Ok(())
    }

    /// Ends the stream towards the server.
    pub fn close(&self) {
        lock(&self.writer).take();
    }
}

/// What has arrived so far.
#[derive(Default)]
pub struct Arrived {
    replies: HashMap<i64, Reply>,
    /// Notifications, oldest first.
    pub notifications: Vec<(String, Value)>,
    /// Requests from the server, oldest first.
    pub requests: Vec<(String, Value)>,
    /// What broke the connection, when something did.
    pub broken: Option<String>,
    /// The server ended its stream.
    pub ended: bool,
    paused: bool,
}

impl Arrived {
    /// How many requests of this method the server has sent.
    #[must_use]
    pub fn count(&self, method: &str) -> usize {
        self.requests.iter().filter(|(m, _)| m == method).count()
    }

    /// Params of the newest notification of this method that passes.
    pub fn newest(&self, method: &str, pass: impl Fn(&Value) -> bool) -> Option<&Value> {
        self.notifications
            .iter()
            .rev()
            .find(|(m, params)| m == method && pass(params))
            .map(|(_, params)| params)
    }
}

struct Shared {
    arrived: Mutex<Arrived>,
    changed: Condvar,
}

/// One connection to a server.
pub struct Client {
    out: Outgoing,
    shared: Arc<Shared>,
    next_id: Mutex<i64>,
    /// The process, when this client started one.
    child: Option<Child>,
}

impl Client {
    /// Starts `command` and speaks to it over its stdio. Its stderr goes to `stderr`.
    ///
    /// # Errors
    ///
    /// When the program cannot be started.
    pub fn spawn(mut command: Command, stderr: Stdio, answer: Box<dyn Answer>) -> Result<Client> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .with_context(|| format!("cannot start {command:?}"))?;
        let stdin: ChildStdin = child.stdin.take().context("no stdin")?;
        let stdout: ChildStdout = child.stdout.take().context("no stdout")?;
        let mut client = Client::over(stdin, stdout, answer);
        client.child = Some(child);
        Ok(client)
    }

    /// Connects to a listening socket.
    ///
    /// # Errors
    ///
    /// When nobody listens there.
    pub fn connect(socket: &std::path::Path, answer: Box<dyn Answer>) -> Result<Client> {
        let stream = UnixStream::connect(socket)
            .with_context(|| format!("cannot connect to {}", socket.display()))?;
        Ok(Client::over(
            SocketWriter(stream.try_clone()?),
            stream,
            answer,
        ))
    }

    /// Speaks over any pair of streams.
    pub fn over(
        writer: impl Write + Send + 'static,
        reader: impl Read + Send + 'static,
        answer: Box<dyn Answer>,
    ) -> Client {
        let out = Outgoing {
            writer: Arc::new(Mutex::new(Some(Box::new(writer)))),
        };
        let shared = Arc::new(Shared {
            arrived: Mutex::new(Arrived::default()),
            changed: Condvar::new(),
        });
        let (reading_out, reading_shared) = (out.clone(), shared.clone());
        thread::spawn(move || {
            let mut answer = answer;
            read_all(
                BufReader::new(reader),
                &reading_out,
                &reading_shared,
                answer.as_mut(),
            );
        });
        Client {
            out,
            shared,
            next_id: Mutex::new(1),
            child: None,
        }
    }

    /// The writing half.
    #[must_use]
    pub fn out(&self) -> &Outgoing {
        &self.out
    }

    /// Id of the process that this client started.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Sends a request without waiting; the id is for [`Client::wait_reply`] and `$/cancelRequest`.
    ///
    /// # Errors
    ///
    /// When the server no longer reads.
    pub fn start(&self, method: &str, params: Value) -> Result<i64> {
        let id = {
            let mut next = lock(&self.next_id);
            *next += 1;
            *next
        };
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.out.message(&message)?;
        Ok(id)
    }

    /// Waits for the reply of a started request.
    ///
    /// # Errors
    ///
    /// When the connection ends or the limit passes first.
    pub fn wait_reply(&self, id: i64, limit: Duration) -> Result<Reply> {
        self.wait_for(&format!("the reply to request {id}"), limit, |arrived| {
            arrived.replies.remove(&id)
        })
    }

    /// Sends a request and waits for its reply, error or not.
    ///
    /// # Errors
    ///
    /// When there is no reply.
    pub fn ask(&self, method: &str, params: Value) -> Result<Reply> {
        let id = self.start(method, params)?;
        self.wait_reply(id, PATIENCE)
            .with_context(|| format!("asked {method}"))
    }

    /// Sends a request and wants a result.
    ///
    /// # Errors
    ///
    /// When there is no reply, or it is an error.
    pub fn request(&self, method: &str, params: Value) -> Result<Value> {
        self.ask(method, params)?
            .map_err(|error| anyhow!(error).context(format!("asked {method}")))
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// When the server no longer reads.
    pub fn notify(&self, method: &str, params: Value) -> Result<()> {
        self.out.notify(method, params)
    }

    /// Looks at what has arrived.
    pub fn look<T>(&self, see: impl FnOnce(&Arrived) -> T) -> T {
        see(&lock(&self.shared.arrived))
    }

    /// Waits until `condition` gives something.
    ///
    /// # Errors
    ///
    /// When the connection ends or the limit passes first.
    pub fn wait_for<T>(
        &self,
        what: &str,
        limit: Duration,
        mut condition: impl FnMut(&mut Arrived) -> Option<T>,
    ) -> Result<T> {
        let end = Instant::now() + limit;
        let mut arrived = lock(&self.shared.arrived);
        loop {
            if let Some(found) = condition(&mut arrived) {
                return Ok(found);
            }
            if let Some(broken) = &arrived.broken {
                bail!("waiting for {what}: the connection broke: {broken}");
            }
            if arrived.ended {
                bail!("waiting for {what}: the server ended its stream");
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let last: Vec<&str> = arrived
                    .notifications
                    .iter()
                    .rev()
                    .take(5)
                    .map(|(m, _)| m.as_str())
                    .collect();
                bail!(
                    "waiting for {what}: nothing within {limit:?}; newest notifications: {last:?}"
                );
            }
            arrived = self
                .shared
                .changed
                .wait_timeout(arrived, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// Stops or resumes reading, as a hung editor does.
    pub fn pause_reading(&self, paused: bool) {
        lock(&self.shared.arrived).paused = paused;
        self.shared.changed.notify_all();
    }

    /// Shuts the server down as the protocol says.
    ///
    /// # Errors
    ///
    /// When it does not answer, or its process does not end.
    pub fn shut_down(mut self) -> Result<Option<ExitStatus>> {
        self.request("shutdown", Value::Null)?;
        self.notify("exit", Value::Null)?;
        let status = self
            .child
            .as_mut()
            .map(|child| wait_exit(child, PATIENCE))
            .transpose()?;
        self.child = None;
        self.out.close();
        Ok(status)
    }

    /// Ends the connection without a word, and waits for the process if there is one.
    ///
    /// # Errors
    ///
    /// When its process does not end.
    pub fn hang_up(mut self) -> Result<Option<ExitStatus>> {
        self.out.close();
        let status = self
            .child
            .as_mut()
            .map(|child| wait_exit(child, PATIENCE))
            .transpose()?;
        self.child = None;
        Ok(status)
    }

    /// Kills the process with SIGKILL and waits for its end.
    ///
    /// # Errors
    ///
    /// When there is no process.
    pub fn kill(&mut self) -> Result<ExitStatus> {
        let child = self
            .child
            .as_mut()
            .context("this client started no process")?;
        child.kill()?;
        let status = child.wait()?;
        self.child = None;
        Ok(status)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.out.close();
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits for the end of a process, without sleeping longer than needed.
///
/// # Errors
///
/// When it is still there at the limit; it is killed then.
pub fn wait_exit(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > end {
            child.kill()?;
            child.wait()?;
            bail!("process {} did not end within {limit:?}", child.id());
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// A socket whose write half is shut when the test closes it.
struct SocketWriter(UnixStream);

impl Write for SocketWriter {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.0.write(buf)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl Drop for SocketWriter {
    fn drop(&mut self) {
        let _ = self.0.shutdown(std::net::Shutdown::Write);
    }
}

fn read_all(mut reader: impl BufRead, out: &Outgoing, shared: &Shared, answer: &mut dyn Answer) {
    loop {
        {
            let mut arrived = lock(&shared.arrived);
            while arrived.paused {
                arrived = shared
                    .changed
                    .wait(arrived)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
        let message = match frames::read(&mut reader) {
            Ok(Some(message)) => message,
            Ok(None) => {
                lock(&shared.arrived).ended = true;
                shared.changed.notify_all();
                return;
            }
            Err(error) => {
                let mut arrived = lock(&shared.arrived);
                // A process that was killed ends in the middle of a message: an end, not a mistake.
                if error.kind() == std::io::ErrorKind::InvalidData {
                    arrived.broken = Some(error.to_string());
                }
                arrived.ended = true;
                shared.changed.notify_all();
                return;
            }
        };
        receive(message, out, shared, answer);
        shared.changed.notify_all();
    }
}

fn receive(message: Value, out: &Outgoing, shared: &Shared, answer: &mut dyn Answer) {
    let params = message.get("params").cloned().unwrap_or(Value::Null);
    match (
        message.get("id").cloned(),
        message.get("method").and_then(Value::as_str),
    ) {
        (Some(id), Some(method)) => {
            lock(&shared.arrived)
                .requests
                .push((method.to_owned(), params.clone()));
            if let Some(reply) = answer.request(out, method, &params) {
                let message = match reply {
                    Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                    Err(error) => json!({"jsonrpc": "2.0", "id": id,
                        "error": {"code": error.code, "message": error.message}}),
                };
                let _ = out.message(&message);
                answer.replied(out, method, &params);
            }
        }
        (None, Some(method)) => {
            answer.notification(out, method, &params);
            lock(&shared.arrived)
                .notifications
                .push((method.to_owned(), params));
        }
        (id, None) => {
            let reply = match message.get("error") {
                Some(error) => Err(RpcError {
                    code: error.get("code").and_then(Value::as_i64).unwrap_or(0),
                    message: error
                        .get("message")
                        .and_then(Value::as_str)
                        .unwrap_or("")
                        .to_owned(),
                    data: error.get("data").cloned().unwrap_or(Value::Null),
                }),
                None => Ok(message.get("result").cloned().unwrap_or(Value::Null)),
            };
            // A reply without an id answers something that could not be read: kept under id 0.
            let id = id.as_ref().and_then(Value::as_i64).unwrap_or(0);
            lock(&shared.arrived).replies.insert(id, reply);
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
