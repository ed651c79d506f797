//! Finding the user's sidecar, starting it when none answers, or doing without.
//!
//! Owns: the way from a client process to a served connection, the checks on both ends of the
//! socket, and the fallback in this process. Must not know: what is said over the connection.
#![expect(
    clippy::disallowed_methods,
    reason = "it starts the sidecar in this process's environment, and waits for it"
)]

use crate::{
    failure::Failure,
    frame,
    hello::{Hello, Welcome},
    host::Host,
    hubs::Origin,
    paths::{Paths, private_folder},
    sidecar,
    wire::{FrameSource, write_frame},
};
use redline_workspace::{Detached, spawn_detached};
use std::{
    fs::File,
    io,
    net::Shutdown,
    os::{
        fd::{AsFd, AsRawFd},
        unix::net::UnixStream,
    },
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

/// How long a started sidecar may take until it answers.
const START_LIMIT: Duration = Duration::from_secs(5);
/// How long a sidecar may take for its first word.
const HELLO_LIMIT: Duration = Duration::from_secs(2);
/// How long the end of an in-process server is waited for.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);
/// Longest socket path that every system takes as it is.
const SOCKET_PATH_BYTES: usize = 100;

/// Who serves a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServedBy {
    /// The user's sidecar.
    Sidecar {
        /// Its process.
        pid: u32,
        /// Its version.
        version: String,
    },
    /// A thread of this process.
    InProcess,
}

/// A connection that LSP is spoken over.
#[derive(Debug)]
pub struct Link {
    /// The client's end.
    pub stream: Arc<UnixStream>,
    /// Who is at the other.
    pub served_by: ServedBy,
    ended: Option<mpsc::Receiver<()>>,
}

impl Link {
    /// A connection that nothing has to be waited for at its end.
    pub fn new(stream: UnixStream, served_by: ServedBy) -> Self {
        Self {
            stream: Arc::new(stream),
            served_by,
            ended: None,
        }
    }

    /// Ends the connection; a server in this process gets a moment to put its things away.
    pub fn close(self) {
        // It may be gone already, which is as good.
        let _ = self.stream.shutdown(Shutdown::Both);
        if let Some(ended) = self.ended {
            let _ = ended.recv_timeout(CLOSE_LIMIT);
        }
    }
}

/// Whether a client may share the user's sidecar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Through the user's sidecar, started when none answers; in process when that cannot be.
    Sidecar,
    /// Always in process.
    InProcess,
}

/// Opens a connection.
///
/// # Errors
///
/// Only when serving in this process fails too; every trouble with a sidecar is logged and the
/// work is done in process instead.
pub fn open(paths: &Paths, sharing: Sharing) -> Result<Link, Failure> {
    if sharing == Sharing::Sidecar {
        match shared(paths) {
            Ok(link) => return Ok(link),
            Err(failure) => {
                tracing::warn!(%failure, "no sidecar can be used; this process serves itself");
            }
        }
    }
    in_process(paths)
}

/// What came of one attempt to reach a sidecar.
#[derive(Debug)]
pub enum Attempt {
    /// It serves.
    Link(Link),
    /// None is there, or it has just ended.
    Absent,
    /// One is there that may not or cannot serve this process.
    Refused(Failure),
}

fn shared(paths: &Paths) -> Result<Link, Failure> {
    private_folder(&paths.runtime_dir)?;
    match attempt(paths)? {
        Attempt::Link(link) => return Ok(link),
        Attempt::Refused(failure) => return Err(failure),
        Attempt::Absent => start(paths)?,
    }
    let deadline = Instant::now() + START_LIMIT;
    let mut pause = Duration::from_millis(1);
    loop {
        match attempt(paths)? {
            Attempt::Link(link) => return Ok(link),
            Attempt::Refused(failure) => return Err(failure),
            Attempt::Absent if Instant::now() > deadline => {
                return Err(Failure::new(
                    "TIMEOUT",
                    format!(
                        "the sidecar did not answer within {} s",
                        START_LIMIT.as_secs()
                    ),
                    "run `redline serve` in a terminal to see why",
                ));
            }
            Attempt::Absent => {
                if let Some(trouble) = sidecar::trouble(paths) {
                    return Err(Failure::new(
                        "IO",
                        format!("the sidecar could not start: {trouble}"),
                        "run `redline serve` in a terminal to see why",
                    ));
                }
                thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(20));
            }
        }
    }
}

/// Tries to reach a sidecar that runs already.
///
/// # Errors
///
/// `IO` when the socket cannot be used for another reason than that nobody listens.
pub fn attempt(paths: &Paths) -> Result<Attempt, Failure> {
    let socket = paths.socket();
    let address = Address::of(&socket)
        .map_err(|error| Failure::io(format!("cannot use {}", socket.display()), &error))?;
    let stream = match UnixStream::connect(address.path()) {
        Ok(stream) => stream,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
            ) =>
        {
            return Ok(Attempt::Absent);
        }
        Err(error) => {
            return Err(Failure::io(
                format!("cannot connect to {}", socket.display()),
                &error,
            ));
        }
    };
    if let Err(failure) = check_peer(&stream) {
        return Ok(Attempt::Refused(failure));
    }
    match greet(stream) {
        Ok(attempt) => Ok(attempt),
        // It ended between taking the connection and its first word.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::UnexpectedEof
                    | io::ErrorKind::BrokenPipe
                    | io::ErrorKind::ConnectionReset
            ) =>
        {
            Ok(Attempt::Absent)
        }
        Err(error) => Ok(Attempt::Refused(Failure::io(
            format!("the sidecar at {} does not answer", socket.display()),
            &error,
        ))),
    }
}

fn greet(mut stream: UnixStream) -> io::Result<Attempt> {
    let hello = serde_json::to_vec(&Hello::of_process())?;
    stream.set_read_timeout(Some(HELLO_LIMIT))?;
    write_frame(&mut stream, &hello)?;
    let mut frames = FrameSource::new(&stream);
    let Some(Ok(body)) = frames.next_frame()? else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let welcome = serde_json::from_slice(&body)?;
    stream.set_read_timeout(None)?;
    Ok(match welcome {
        Welcome::Serves { build, pid, .. } => {
            let version = build.version;
            Attempt::Link(Link::new(stream, ServedBy::Sidecar { pid, version }))
        }
        Welcome::Retires => Attempt::Absent,
        Welcome::Refuses { protocols, build } => Attempt::Refused(Failure::new(
            "UNSUPPORTED",
            format!(
                "the sidecar that runs is version {} and speaks protocol {protocols:?}",
                build.version
            ),
            "close the editors that use it, and the next start brings the new version",
        )),
    })
}

/// Checks that the process at the other end belongs to this user.
///
/// # Errors
///
/// When it is another user's, or the system does not say whose it is.
#[cfg(target_os = "linux")]
pub fn check_peer(stream: impl AsFd) -> Result<(), Failure> {
    let credentials = rustix::net::sockopt::socket_peercred(stream).map_err(|error| {
        Failure::io("cannot tell whose process is at the socket", &error.into())
    })?;
    let (peer, me) = (credentials.uid, rustix::process::geteuid());
    if peer == me {
        return Ok(());
    }
    Err(Failure::new(
        "IO",
        format!(
            "the other end of the socket belongs to user {}, not to you",
            peer.as_raw()
        ),
        "point XDG_RUNTIME_DIR at a folder of yours",
    ))
}

/// Elsewhere the private folder alone keeps other users out.
#[cfg(not(target_os = "linux"))]
pub fn check_peer(_stream: impl AsFd) -> Result<(), Failure> {
    Ok(())
}

/// Starts a sidecar that outlives this process, in its environment.
///
/// In two steps, so that it is nobody's child: it ends no sooner than it wants to, and leaves no
/// zombie when it does.
fn start(paths: &Paths) -> Result<(), Failure> {
    sidecar::forget_trouble(paths);
    let mut step = spawn("--detach")?;
    let broken = |error: &io::Error| Failure::io("cannot start the sidecar", error);
    let deadline = Instant::now() + START_LIMIT;
    while step.ended().map_err(|error| broken(&error))?.is_none() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// The second of the two steps: starts the sidecar itself, and does not wait for it.
///
/// # Errors
///
/// When this binary cannot be started again.
pub fn start_detached() -> Result<(), Failure> {
    spawn("--started").map(drop)
}

fn spawn(option: &str) -> Result<Detached, Failure> {
    let exe = std::env::current_exe()
        .map_err(|error| Failure::io("cannot tell where this program is", &error))?;
    let env: Vec<_> = std::env::vars_os().collect();
    // Not in the project's folder, which the sidecar would keep from being unmounted.
    spawn_detached(&exe, &["serve".into(), option.into()], &env, Path::new("/"))
        .map_err(|error| Failure::io(format!("cannot start {}", exe.display()), &error))
}

/// Serves one connection on a thread of this process.
fn in_process(paths: &Paths) -> Result<Link, Failure> {
    let broken = |error: &io::Error| Failure::io("cannot serve in this process", error);
    let host = Host::open(paths, true);
    let (ours, theirs) = UnixStream::pair().map_err(|error| broken(&error))?;
    theirs
        .set_nonblocking(true)
        .map_err(|error| broken(&error))?;
    let (end, ended) = mpsc::channel();
    thread::Builder::new()
        .name("in-process".to_owned())
        .spawn(move || {
            // Dropped at the end of the thread, also by a panic.
            let _end: mpsc::Sender<()> = end;
            let served = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .and_then(|runtime| runtime.block_on(serve_one(host, theirs)));
            if let Err(error) = served {
                tracing::error!(%error, "the server in this process failed");
            }
        })
        .map_err(|error| broken(&error))?;
    Ok(Link {
        stream: Arc::new(ours),
        served_by: ServedBy::InProcess,
        ended: Some(ended),
    })
}

async fn serve_one(host: Host, stream: UnixStream) -> io::Result<()> {
    let (reader, writer) = tokio::net::UnixStream::from_std(stream)?.into_split();
    host.serve(reader, writer, Origin::of_process()).await;
    host.stop().await;
    Ok(())
}

/// A socket path short enough for the system, which takes about 100 bytes.
#[derive(Debug)]
pub struct Address {
    path: PathBuf,
    // Holds the folder open while the path goes through its descriptor.
    _folder: Option<File>,
}

impl Address {
    /// The address of `socket`; a long path is reached through an open descriptor of its folder.
    ///
    /// # Errors
    ///
    /// When the folder of a long path cannot be opened.
    pub fn of(socket: &Path) -> io::Result<Self> {
        let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if socket.as_os_str().len() <= SOCKET_PATH_BYTES {
            return Ok(Self {
                path: socket.to_owned(),
                _folder: None,
            });
        }
        let folder = File::open(folder)?;
        Ok(Self {
            path: Path::new("/proc/self/fd")
                .join(folder.as_raw_fd().to_string())
                .join(name),
            _folder: Some(folder),
        })
    }

    /// What to bind or connect to.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The body that a hello consists of, for a peer that reads one.
pub fn welcome_frame(welcome: &Welcome) -> Vec<u8> {
    // A plain struct always serializes.
    frame::encode(&serde_json::to_vec(welcome).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::hello::Build;
    use std::{io::Write, os::unix::net::UnixListener};

    fn paths(base: &Path) -> Paths {
        Paths {
            config_dir: base.join("config"),
            state_dir: base.join("state"),
            runtime_dir: base.join("run"),
            home: None,
        }
    }

    #[test]
    fn a_stale_socket_reads_as_absent() {
        let base = tempfile::tempdir().unwrap();
        let paths = paths(base.path());
        private_folder(&paths.runtime_dir).unwrap();
        assert!(matches!(attempt(&paths), Ok(Attempt::Absent)));
        drop(UnixListener::bind(paths.socket()).unwrap());
        assert!(paths.socket().exists());
        assert!(matches!(attempt(&paths), Ok(Attempt::Absent)));
    }

    #[test]
    fn a_long_path_is_bound_and_reached() {
        let base = tempfile::tempdir().unwrap();
        let mut paths = paths(base.path());
        paths.runtime_dir = base.path().join("x".repeat(120));
        private_folder(&paths.runtime_dir).unwrap();
        let socket = paths.socket();
        let address = Address::of(&socket).unwrap();
        let listener = UnixListener::bind(address.path()).unwrap();
        let peer = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let welcome = Welcome::Serves {
                protocol: 1,
                build: Build::default(),
                pid: 7,
            };
            stream.write_all(&welcome_frame(&welcome)).unwrap();
            // Held open until the client has read.
            let _ = FrameSource::new(&stream).next_frame();
        });
        let Attempt::Link(link) = attempt(&paths).unwrap() else {
            panic!("no link");
        };
        assert!(matches!(link.served_by, ServedBy::Sidecar { pid: 7, .. }));
        peer.join().unwrap();
    }
}
