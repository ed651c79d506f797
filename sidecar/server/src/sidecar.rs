//! The sidecar: the one process of a user that serves editors and terminals.
//!
//! Owns: the socket, the lock that keeps it to one, the accept loop, and the end: by signal, for a
//! newer build, or when nobody has needed it for a while. Must not know: LSP.
#![expect(
    clippy::disallowed_methods,
    reason = "the socket and its lock are files of the user's, not of a project"
)]

use crate::{
    connect::{Address, check_peer, welcome_frame},
    env::Env,
    failure::Failure,
    frame::FrameReader,
    hello::{Build, Hello, Welcome, answer},
    host::Host,
    hubs::Origin,
    paths::{Paths, private_folder},
};
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Cursor, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    signal::unix::{SignalKind, signal},
    sync::Notify,
};

/// How long a client may take for its first word.
const HELLO_LIMIT: Duration = Duration::from_secs(5);
/// How long the hubs may take to put their things away.
const STOP_LIMIT: Duration = Duration::from_secs(10);
/// Largest first message taken.
const FIRST_BYTES: usize = 4 * 1024 * 1024;

/// How a sidecar came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ran {
    /// It served, and is no longer needed.
    Here,
    /// One runs already, as this process; each user has one. Whoever wanted a sidecar has it.
    Elsewhere(Option<u32>),
}

/// Runs the sidecar until it ends.
///
/// # Errors
///
/// `IO` when the socket or its folder cannot be had.
pub fn run(paths: &Paths, idle: Duration) -> Result<Ran, Failure> {
    private_folder(&paths.runtime_dir)?;
    private_folder(&paths.state_dir)?;
    // Held to the end of the process; the system frees it however that comes.
    let Some(_lock) = lock(paths)? else {
        return Ok(Ran::Elsewhere(named_pid(paths)));
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .thread_name("sidecar")
        .build()
        .map_err(|error| Failure::io("cannot start the sidecar's threads", &error))?;
    let ended = runtime.block_on(serve(paths, idle));
    runtime.shutdown_background();
    ended.map(|()| Ran::Here)
}

/// The lock, with our process written in it; `None` when another sidecar holds it.
fn lock(paths: &Paths) -> Result<Option<File>, Failure> {
    let path = paths.lock();
    let broken = |error: &io::Error| Failure::io(format!("cannot lock {}", path.display()), error);
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(|error| broken(&error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(broken(&error)),
    }
    file.set_len(0).map_err(|error| broken(&error))?;
    writeln!(file, "{}", std::process::id()).map_err(|error| broken(&error))?;
    Ok(Some(file))
}

/// The process that the lock names; only the lock itself says whether it lives.
fn named_pid(paths: &Paths) -> Option<u32> {
    std::fs::read_to_string(paths.lock())
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// The process of the sidecar that runs now.
pub fn running(paths: &Paths) -> Option<u32> {
    let file = File::open(paths.lock()).ok()?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => named_pid(paths),
        // Freed again when the file is closed, which is now.
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

/// What the accept loop and the connections share.
struct Sidecar {
    host: Host,
    build: Build,
    clients: AtomicUsize,
    retire: Notify,
}

impl Sidecar {
    fn is_busy(&self) -> bool {
        self.clients.load(Ordering::SeqCst) > 0 || self.host.is_busy()
    }
}

/// Counts a client for as long as it lives.
struct Counted(Arc<Sidecar>);

impl Counted {
    fn new(sidecar: &Arc<Sidecar>) -> Self {
        sidecar.clients.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(sidecar))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Leaves word of why a sidecar could not start, for the client that started it.
pub fn leave_trouble(paths: &Paths, failure: &Failure) {
    // There is nobody else to tell.
    let _ = std::fs::write(trouble_file(paths), failure.to_string());
}

/// Why a sidecar that was started a moment ago could not.
pub fn trouble(paths: &Paths) -> Option<String> {
    std::fs::read_to_string(trouble_file(paths)).ok()
}

/// Forgets the word of an earlier start.
pub fn forget_trouble(paths: &Paths) {
    // Mostly there is none.
    let _ = std::fs::remove_file(trouble_file(paths));
}

fn trouble_file(paths: &Paths) -> PathBuf {
    paths.runtime_dir.join("sidecar.trouble")
}

async fn serve(paths: &Paths, idle: Duration) -> Result<(), Failure> {
    let socket = paths.socket();
    let broken =
        |error: io::Error| Failure::io(format!("cannot listen on {}", socket.display()), &error);
    let host = Host::open(paths, false);
    let listener = listen(paths).map_err(broken)?;
    let mut terminated = signal(SignalKind::terminate()).map_err(broken)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(broken)?;
    let sidecar = Arc::new(Sidecar {
        host,
        build: Build::of_process(),
        clients: AtomicUsize::new(0),
        retire: Notify::new(),
    });
    tracing::info!(pid = std::process::id(), "the sidecar listens");

    let why = loop {
        tokio::select! {
            connection = listener.accept() => match connection {
                Ok((stream, _)) => {
                    tokio::spawn(client(Arc::clone(&sidecar), stream));
                }
                Err(error) => {
                    // Out of descriptors, say: the next client may be luckier.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            },
            () = sidecar.retire.notified() => break "a newer build takes over",
            () = unneeded(&sidecar, idle) => break "nobody has needed it for a while",
            _ = terminated.recv() => break "asked to end",
            _ = interrupted.recv() => break "interrupted",
        }
    };
    tracing::info!(why, "the sidecar ends");
    // First the name, so that a newcomer starts afresh; a client in between sees the end of its
    // stream before a first word, and tries again.
    let removed = std::fs::remove_file(&socket);
    drop(listener);
    if let Err(error) = removed {
        tracing::warn!(%error, "the socket could not be removed");
    }
    if tokio::time::timeout(STOP_LIMIT, sidecar.host.stop())
        .await
        .is_err()
    {
        tracing::warn!("the hubs did not end in time; the next start recovers");
    }
    Ok(())
}

fn listen(paths: &Paths) -> io::Result<UnixListener> {
    let socket = paths.socket();
    match std::fs::remove_file(&socket) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let address = Address::of(&socket)?;
    let listener = std::os::unix::net::UnixListener::bind(address.path())?;
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}

/// Returns when there has been no client, turn or job for the whole of `idle`.
async fn unneeded(sidecar: &Sidecar, idle: Duration) {
    let mut since = Instant::now();
    loop {
        // Checked often enough that a short visit between two looks costs at most a quarter.
        tokio::time::sleep((idle / 4).max(Duration::from_millis(10))).await;
        if sidecar.is_busy() {
            since = Instant::now();
        } else if since.elapsed() >= idle {
            return;
        }
    }
}

async fn client(sidecar: Arc<Sidecar>, mut stream: UnixStream) {
    if let Err(failure) = check_peer(&stream) {
        tracing::warn!(%failure, "a client was turned away");
        return;
    }
    let first = match tokio::time::timeout(HELLO_LIMIT, first_frame(&mut stream)).await {
        Ok(Ok(first)) => first,
        Ok(Err(error)) => {
            tracing::debug!(%error, "a client said nothing that makes sense");
            return;
        }
        Err(_) => {
            tracing::debug!("a client said nothing");
            return;
        }
    };
    let job = peer_job(&stream);
    // No greeting: a plain LSP client, which speaks version one.
    let Ok(hello) = serde_json::from_slice::<Hello>(&first.body) else {
        let _counted = Counted::new(&sidecar);
        let env = Env::of_process();
        return run_client(&sidecar, stream, first.bytes, Origin { env, job }).await;
    };
    let welcome = answer(
        &sidecar.build,
        sidecar.is_busy(),
        &hello,
        std::process::id(),
    );
    // Counted before it is told, so that the sidecar does not end under it.
    let counted = Counted::new(&sidecar);
    if stream.write_all(&welcome_frame(&welcome)).await.is_err() {
        return;
    }
    match welcome {
        Welcome::Serves { .. } => {
            let env = hello.env;
            run_client(&sidecar, stream, first.after, Origin { env, job }).await;
        }
        Welcome::Retires => {
            drop(counted);
            sidecar.retire.notify_one();
        }
        Welcome::Refuses { .. } => {}
    }
}

/// The job of ours that the process at the other end descends from.
#[cfg(target_os = "linux")]
fn peer_job(stream: &UnixStream) -> Option<String> {
    let credentials = rustix::net::sockopt::socket_peercred(stream).ok()?;
    let pid = u32::try_from(credentials.pid.as_raw_nonzero().get()).ok()?;
    redline_workspace::job_of_process(pid)
}

/// The system does not tell who is at the other end.
#[cfg(not(target_os = "linux"))]
fn peer_job(_stream: &UnixStream) -> Option<String> {
    None
}

async fn run_client(sidecar: &Sidecar, stream: UnixStream, before: Vec<u8>, origin: Origin) {
    let (reader, writer) = stream.into_split();
    sidecar
        .host
        .serve(Cursor::new(before).chain(reader), writer, origin)
        .await;
}

/// The first message of a client.
struct First {
    body: Vec<u8>,
    /// All that was read.
    bytes: Vec<u8>,
    /// What was read beyond the message.
    after: Vec<u8>,
}

async fn first_frame(stream: &mut UnixStream) -> io::Result<First> {
    let mut frames = FrameReader::new();
    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        if stream.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        frames.push(&bytes[start..]);
        match frames.next_frame() {
            Some(Ok(body)) => {
                let after = frames.into_rest();
                return Ok(First { body, bytes, after });
            }
            Some(Err(error)) => return Err(io::Error::other(error)),
            None if bytes.len() > FIRST_BYTES => {
                return Err(io::Error::other("the first message is too long"));
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
