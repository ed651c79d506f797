//! `redline lsp`: between an editor's stdio and a sidecar.
//!
//! Owns: the two pumps, the replacement of a sidecar that died, and the end of the process: at
//! `exit`, soon after the end of input, and when the editor's process is gone.
//! Must not know: what the messages mean, beyond what `session` remembers of them.
//!
//! One thread reads the editor, one reads the sidecar. Both route under one lock, which a replacement
//! holds until the new sidecar has heard `initialize` and the documents: what the editor says next
//! comes after them. Neither writes to the sidecar under it otherwise, so an editor that does not
//! read and a sidecar that waits for it cannot stop each other for good.
#![expect(
    clippy::disallowed_methods,
    reason = "the bridge ends this process, and waits for one that is not its child"
)]

mod documents;
mod session;
mod watch;

use crate::{
    connect::{self, Link, Sharing},
    failure::Failure,
    paths::Paths,
    wire::{FrameSource, error_response, write_frame},
};
use session::{FromEditor, REPLAY_ID, Session};
use std::{
    collections::VecDeque,
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// How long requests that wait may be answered after the end of input.
const DRAIN_LIMIT: Duration = Duration::from_millis(500);
/// Sidecars lost within this time count together.
const LOSS_WINDOW: Duration = Duration::from_secs(60);
/// So many losses, and this process serves itself.
const LOSSES_SHARED: usize = 3;
/// So many losses, and the bridge gives up.
const LOSSES_ALL: usize = 6;

/// Gives a connection; told how many were lost lately.
type Connector = Box<dyn FnMut(usize) -> Result<Link, Failure> + Send>;

/// Runs the bridge over this process's stdio; gives the exit code, which is 0 after `shutdown`.
///
/// # Errors
///
/// When no connection can be had at all.
pub fn run(paths: &Paths, sharing: Sharing) -> Result<i32, Failure> {
    let paths = paths.clone();
    let connector = move |losses: usize| {
        let in_process = losses >= LOSSES_SHARED;
        connect::open(
            &paths,
            if in_process {
                Sharing::InProcess
            } else {
                sharing
            },
        )
    };
    // Unbuffered: frames are written whole, and stdout's own buffer would hold them back.
    let end = |code| std::process::exit(code);
    let (stdin, stdout) = (io::stdin(), io::stdout());
    bridge(Box::new(connector), stdin, stdout, end, DRAIN_LIMIT)
}

struct Bridge {
    state: Mutex<State>,
    /// Signalled when a request of the editor has been answered.
    answered: Condvar,
    editor: Mutex<Box<dyn Write + Send>>,
    /// Ends the process from a thread other than the one that reads the editor.
    end_process: Box<dyn Fn(i32) + Send + Sync>,
}

struct State {
    session: Session,
    link: Option<Link>,
    ending: bool,
}

impl Bridge {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn to_editor(&self, body: &[u8]) {
        let mut editor = self.editor.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = write_frame(editor.as_mut(), body) {
            // Its end of input follows, and ends the bridge.
            tracing::debug!(%error, "the editor does not read any more");
        }
    }

    /// Ends the connection; gives the exit code.
    fn end(&self) -> i32 {
        let mut state = self.state();
        state.ending = true;
        let code = i32::from(!state.session.is_shut_down());
        let link = state.link.take();
        drop(state);
        if let Some(link) = link {
            link.close();
        }
        code
    }
}

fn bridge(
    mut connector: Connector,
    editor_in: impl Read,
    editor_out: impl Write + Send + 'static,
    end_process: impl Fn(i32) + Send + Sync + 'static,
    drain_limit: Duration,
) -> Result<i32, Failure> {
    let link = connector(0)?;
    let sidecar = reader(&link)?;
    let bridge = Arc::new(Bridge {
        state: Mutex::new(State {
            session: Session::default(),
            link: Some(link),
            ending: false,
        }),
        answered: Condvar::new(),
        editor: Mutex::new(Box::new(editor_out)),
        end_process: Box::new(end_process),
    });
    let down = Arc::clone(&bridge);
    thread::Builder::new()
        .name("from-sidecar".to_owned())
        .spawn(move || pump_down(&down, sidecar, connector))
        .map_err(|error| Failure::io("cannot start a thread", &error))?;
    if pump_up(&bridge, editor_in) == Said::EndOfInput {
        drain(&bridge, drain_limit);
    }
    Ok(bridge.end())
}

fn reader(link: &Link) -> Result<FrameSource<UnixStream>, Failure> {
    let stream = link.stream.try_clone();
    stream
        .map(FrameSource::new)
        .map_err(|error| Failure::io("cannot use the connection to the sidecar", &error))
}

/// How the editor ended what it had to say.
#[derive(PartialEq, Eq)]
enum Said {
    Exit,
    EndOfInput,
}

/// From the editor to the sidecar, until the editor ends.
fn pump_up(bridge: &Arc<Bridge>, editor_in: impl Read) -> Said {
    let mut frames = FrameSource::new(editor_in);
    let mut watched = false;
    loop {
        let body = match frames.next_frame() {
            Ok(Some(Ok(body))) => body,
            Ok(Some(Err(error))) => {
                tracing::warn!(%error, "input of the editor was dropped");
                bridge.to_editor(&error_response(None, -32700, &error.to_string()));
                continue;
            }
            Ok(None) => return Said::EndOfInput,
            Err(error) => {
                tracing::warn!(%error, "the editor cannot be read");
                return Said::EndOfInput;
            }
        };
        let mut state = bridge.state();
        let taken = state.session.take_from_editor(body);
        let sidecar = state.link.as_ref().map(|link| Arc::clone(&link.stream));
        let process_id = state.session.process_id();
        // Nothing is written under the lock: the other pump needs it to make room at the far end.
        // If the sidecar is replaced before the write, what the session remembers is said again.
        drop(state);
        match taken {
            FromEditor::Forward(body) => send(sidecar.as_deref(), &body),
            FromEditor::Answer(body) => bridge.to_editor(&body),
            FromEditor::Drop => {}
            FromEditor::Exit(body) => {
                send(sidecar.as_deref(), &body);
                return Said::Exit;
            }
        }
        if !watched && let Some(process_id) = process_id {
            watched = true;
            watch(bridge, process_id);
        }
    }
}

/// Writes to the sidecar; a failure shows at the reading side too, which replaces the sidecar.
fn send(sidecar: Option<&UnixStream>, body: &[u8]) {
    if let Some(mut sidecar) = sidecar
        && let Err(error) = write_frame(&mut sidecar, body)
    {
        tracing::debug!(%error, "the sidecar does not take a message");
        let _ = sidecar.shutdown(Shutdown::Both);
    }
}

/// Ends this process when the editor's is gone, whatever holds our standard input open.
fn watch(bridge: &Arc<Bridge>, process_id: u32) {
    let bridge = Arc::clone(bridge);
    let watching = thread::Builder::new()
        .name("watch".to_owned())
        .spawn(move || {
            if watch::until_gone(process_id) {
                tracing::info!(process_id, "the editor's process is gone");
                (bridge.end_process)(bridge.end());
            }
        });
    if let Err(error) = watching {
        tracing::warn!(%error, "the editor's process is not watched");
    }
}

/// Gives requests that wait a moment to be answered: the input may have been a file.
fn drain(bridge: &Bridge, limit: Duration) {
    let state = bridge.state();
    let waits = |state: &mut State| state.session.is_waiting() && state.link.is_some();
    drop(bridge.answered.wait_timeout_while(state, limit, waits));
}

/// From the sidecar to the editor; replaces the sidecar when it dies.
fn pump_down(bridge: &Bridge, mut sidecar: FrameSource<UnixStream>, mut connector: Connector) {
    let mut losses = VecDeque::new();
    loop {
        forward_all(bridge, &mut sidecar);
        let mut state = bridge.state();
        for body in state.session.lost() {
            bridge.to_editor(&body);
        }
        bridge.answered.notify_all();
        if let Some(link) = state.link.take() {
            link.close();
        }
        if state.ending || state.session.is_shut_down() {
            return;
        }
        tracing::warn!("the connection to the sidecar is lost; a new one is opened");
        // Under the lock, so that no message of the editor comes between the replayed ones.
        match revive(bridge, &mut state.session, &mut losses, &mut connector) {
            Ok((link, source)) => {
                state.link = Some(link);
                sidecar = source;
                if let Some(body) = state.session.replaced() {
                    bridge.to_editor(&body);
                }
            }
            Err(failure) => {
                tracing::error!(%failure, "no sidecar can be had");
                let text = format!("Redline stopped. {}: {}", failure.code, failure.message);
                let note = serde_json::json!({"type": 1, "message": text});
                if let Ok(body) = crate::wire::call(None, "window/showMessage", &note) {
                    bridge.to_editor(&body);
                }
                (bridge.end_process)(1);
                return;
            }
        }
    }
}

fn forward_all(bridge: &Bridge, sidecar: &mut FrameSource<UnixStream>) {
    while let Ok(Some(frame)) = sidecar.next_frame() {
        let Ok(body) = frame else {
            tracing::warn!("output of the sidecar was dropped");
            continue;
        };
        let body = bridge.state().session.take_from_sidecar(body);
        if let Some(body) = body {
            bridge.to_editor(&body);
        }
        bridge.answered.notify_all();
    }
}

/// Opens a new connection and brings it to where the editor is.
fn revive(
    bridge: &Bridge,
    session: &mut Session,
    losses: &mut VecDeque<Instant>,
    connector: &mut Connector,
) -> Result<(Link, FrameSource<UnixStream>), Failure> {
    loop {
        losses.push_back(Instant::now());
        while losses.front().is_some_and(|at| at.elapsed() > LOSS_WINDOW) {
            losses.pop_front();
        }
        if losses.len() >= LOSSES_ALL {
            return Err(Failure::internal(format!(
                "the server ended {} times within {} s",
                losses.len(),
                LOSS_WINDOW.as_secs()
            )));
        }
        let link = connector(losses.len())?;
        let mut source = reader(&link)?;
        match replay(bridge, session, &link, &mut source) {
            Ok(()) => return Ok((link, source)),
            Err(error) => {
                tracing::warn!(%error, "a new sidecar ended while it was told where we are");
                link.close();
            }
        }
    }
}

fn replay(
    bridge: &Bridge,
    session: &mut Session,
    link: &Link,
    source: &mut FrameSource<UnixStream>,
) -> io::Result<()> {
    let Some((initialize, own)) = session.replay_initialize() else {
        return Ok(());
    };
    write_frame(&mut &*link.stream, &initialize)?;
    if !own {
        // The editor still waits for this answer, and has said nothing since.
        return Ok(());
    }
    loop {
        let Some(Ok(body)) = source.next_frame()? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let message: crate::wire::Message<'_> = serde_json::from_slice(&body)?;
        if message.id.is_some_and(|id| id.get() == REPLAY_ID) {
            break;
        }
        if let Some(body) = session.take_from_sidecar(body) {
            bridge.to_editor(&body);
        }
    }
    for body in session.replay_rest() {
        write_frame(&mut &*link.stream, &body)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
