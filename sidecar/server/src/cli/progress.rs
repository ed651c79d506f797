//! A sign of life while something takes longer than a person expects.
//!
//! Owns: the spinner on a terminal's stderr. Must not know: what takes long.

use std::{
    io::{self, IsTerminal, Write},
    sync::mpsc::{self, RecvTimeoutError},
    thread::{self, JoinHandle},
    time::Duration,
};

/// Before this nothing is shown.
const PATIENCE: Duration = Duration::from_millis(400);
const FRAME: Duration = Duration::from_millis(100);
const FRAMES: [&str; 4] = ["·  ", "·· ", "···", " ··"];

/// Shows what goes on until it is dropped; nothing where stderr is no terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    done: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts to wait for `what`.
    pub(crate) fn start(what: &'static str) -> Self {
        if !io::stderr().is_terminal() {
            return Self {
                done: None,
                thread: None,
            };
        }
        let (done, wait) = mpsc::channel();
        // Without a thread there is no sign of life, and nothing else is lost.
        let thread = thread::Builder::new().spawn(move || show(what, &wait)).ok();
        Self {
            done: Some(done),
            thread,
        }
    }
}

fn show(what: &str, done: &mpsc::Receiver<()>) {
    let mut pause = PATIENCE;
    let mut shown = false;
    for frame in FRAMES.iter().cycle() {
        if done.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            break;
        }
        // A terminal that went away needs no sign.
        let _ = write!(io::stderr(), "\r\x1b[K{what} {frame}");
        shown = true;
        pause = FRAME;
    }
    if shown {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            // It cannot panic on anything but a broken terminal.
            let _ = thread.join();
        }
    }
}
