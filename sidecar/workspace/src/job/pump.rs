//! The thread of one job: moves its input and output, keeps its time, and ends its processes.
//!
//! | what happens | what follows |
//! |---|---|
//! | the program ends, and nothing of its tree lives | over, as soon as its output has ended |
//! | the program ends, and others live | they may finish writing for the linger time, then TERM, then KILL |
//! | it is cancelled, or its time is over | TERM to the whole tree, KILL after the grace time |
//!
//! **Invariant:** no process of a job outlives it; whoever holds its pipes open keeps nobody waiting.
//! **Invariant:** output is always read, however much comes, so no program stalls on a full pipe, and the
//! time limit is looked at between any two reads.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::launch::Wires;
use super::limits::JobLimits;
use super::record::JobState;
use super::running::Running;
use super::tree::Tree;
use super::watch::JobStream;
use crate::env::MaskStream;

/// How much is read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// How often the tree is looked at while its end is awaited: first, and at most.
const FIRST_LOOK: Duration = Duration::from_millis(2);
const LAST_LOOK: Duration = Duration::from_millis(20);

/// How long KILL is given before a process is taken for one that hangs in the kernel.
const KILL_PATIENCE: Duration = Duration::from_secs(2);

/// How long the last of the output is read for, when a process that is not ours holds the pipe.
const LAST_READS: Duration = Duration::from_millis(200);

/// The end of transmission: what ends the input of a terminal.
const END_OF_INPUT: &[u8] = b"\x04";

/// What a job's thread starts with.
pub(super) struct Pump {
    pub(super) running: Arc<Running>,
    pub(super) child: Child,
    pub(super) tree: Tree,
    pub(super) wires: Wires,
    /// Rings when the state changed.
    pub(super) bell: OwnedFd,
    pub(super) stdin: Vec<u8>,
    pub(super) terminal: bool,
    pub(super) masks: [MaskStream; 2],
    pub(super) deadline: Option<Instant>,
    pub(super) limits: JobLimits,
    /// Locked as long as somebody watches the job.
    pub(super) watched: File,
}

/// How a job went, once nothing of it runs any more.
pub(super) struct Ended {
    pub(super) state: JobState,
    /// How many processes it had left behind.
    pub(super) ended_processes: usize,
    pub(super) notes: Vec<String>,
    /// Held until the record says that it has ended.
    pub(super) watched: File,
}

/// Why a tree is being ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Over,
    Cancelled,
    TimedOut,
}

#[derive(Debug)]
enum Phase {
    Running,
    /// The program has ended, others may finish until then.
    Lingering {
        until: Instant,
    },
    /// TERM was sent.
    Ending {
        why: Why,
        kill_at: Instant,
    },
}

impl Pump {
    /// Runs until the job is over. Blocks.
    pub(super) fn run(mut self) -> Ended {
        let pid = Pid::from_child(&self.child);
        let waiting = self.running.clone();
        let waiter = std::thread::Builder::new().name("redline-job-wait".to_owned());
        let waiter = waiter.spawn(move || {
            // Noticed but not reaped: its number stays its own until its tree has ended.
            let _ = rustix::process::waitid(
                WaitId::Pid(pid),
                WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
            );
            waiting.ring();
        });
        let mut phase = Phase::Running;
        let mut notes = Vec::new();
        let mut ended_processes = 0;
        let mut look = FIRST_LOOK;
        let mut open = Open::new(&mut self);
        let why = loop {
            let now = Instant::now();
            let exited = has_exited(pid);
            let cancel = open.pump.running.live().cancel;
            let is_late = open.pump.deadline.is_some_and(|deadline| now >= deadline);
            match phase {
                Phase::Running if exited => {
                    let until = now + open.pump.limits.linger;
                    phase = Phase::Lingering { until };
                    continue;
                }
                Phase::Running if cancel.is_some() || is_late => {
                    let (why, grace) = match cancel {
                        Some(grace) => (Why::Cancelled, grace),
                        None => (Why::TimedOut, open.pump.limits.grace),
                    };
                    open.pump.tree.signal(Signal::TERM);
                    let kill_at = now + grace;
                    phase = Phase::Ending { why, kill_at };
                }
                Phase::Running => {}
                Phase::Lingering { until } => {
                    let others = open.pump.tree.others().len();
                    if others == 0 {
                        break Why::Over;
                    }
                    if now >= until || cancel.is_some() || is_late {
                        ended_processes = others;
                        open.pump.tree.signal(Signal::TERM);
                        let grace = cancel.unwrap_or(open.pump.limits.short_grace);
                        let kill_at = now + grace;
                        phase = Phase::Ending {
                            why: Why::Over,
                            kill_at,
                        };
                    }
                }
                Phase::Ending { why, kill_at } => {
                    if exited && open.pump.tree.others().is_empty() {
                        break why;
                    }
                    // A second, more urgent wish.
                    let kill_at = cancel.map_or(kill_at, |grace| kill_at.min(now + grace));
                    phase = Phase::Ending { why, kill_at };
                    if now >= kill_at {
                        break why;
                    }
                }
            }
            let wait = match phase {
                Phase::Running => open
                    .pump
                    .deadline
                    .map(|end| end.saturating_duration_since(now)),
                Phase::Lingering { .. } | Phase::Ending { .. } => {
                    look = (look * 2).min(LAST_LOOK);
                    Some(look)
                }
            };
            open.poll(wait);
        };
        let killed = open.pump.tree.kill(KILL_PATIENCE);
        // One look at the process list can miss who forks in that moment.
        if why == Why::Over {
            ended_processes = ended_processes.max(killed.others);
        }
        if !killed.left.is_empty() {
            let pids: Vec<String> = killed.left.iter().map(|one| one.pid.to_string()).collect();
            notes.push(format!(
                "still there after KILL: process {}",
                pids.join(", ")
            ));
        }
        if !open.read_rest() {
            notes.push("its output is held open by a process that is not its own".to_owned());
        }
        open.finish();
        drop(open);
        let status = self.child.try_wait().ok().flatten();
        if let (Ok(waiter), Some(_)) = (waiter, status) {
            let _ = waiter.join();
        }
        Ended {
            state: state_of(why, status),
            ended_processes,
            notes,
            watched: self.watched,
        }
    }
}

fn state_of(why: Why, status: Option<std::process::ExitStatus>) -> JobState {
    use std::os::unix::process::ExitStatusExt;
    match (why, status) {
        (Why::Cancelled, _) => JobState::Cancelled,
        (Why::TimedOut, _) => JobState::TimedOut,
        (Why::Over, Some(status)) => match (status.code(), status.signal()) {
            (Some(code), _) => JobState::Exited { code },
            (None, Some(signal)) => JobState::Signaled { signal },
            (None, None) => JobState::Orphaned,
        },
        // It ended, as it was seen to, and then somebody else took its status.
        (Why::Over, None) => JobState::Orphaned,
    }
}

fn has_exited(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    match rustix::process::waitid(WaitId::Pid(pid), options) {
        Ok(status) => status.is_some(),
        Err(rustix::io::Errno::INTR) => false,
        Err(_) => true,
    }
}

/// The streams that are still open.
struct Open<'a> {
    pump: &'a mut Pump,
    stdin: bool,
    written: usize,
    stdout: bool,
    stderr: bool,
    chunk: Vec<u8>,
    masked: Vec<u8>,
}

impl<'a> Open<'a> {
    fn new(pump: &'a mut Pump) -> Self {
        if pump.terminal {
            // In the middle of a line the first one only hands the line over.
            if pump.stdin.last().is_some_and(|byte| *byte != b'\n') {
                pump.stdin.extend_from_slice(END_OF_INPUT);
            }
            pump.stdin.extend_from_slice(END_OF_INPUT);
        }
        Self {
            stdin: pump.wires.stdin.is_some(),
            stdout: true,
            stderr: pump.wires.stderr.is_some(),
            written: 0,
            chunk: vec![0; CHUNK_BYTES],
            masked: Vec::new(),
            pump,
        }
    }

    /// Waits for something to do, at most so long, and does it.
    fn poll(&mut self, wait: Option<Duration>) {
        let wires = &self.pump.wires;
        let watched = [
            (Some(&self.pump.bell), PollFlags::IN),
            (Some(&wires.stdout).filter(|_| self.stdout), PollFlags::IN),
            (wires.stderr.as_ref().filter(|_| self.stderr), PollFlags::IN),
            (wires.stdin.as_ref().filter(|_| self.stdin), PollFlags::OUT),
        ];
        let mut fds: Vec<PollFd<'_>> = watched
            .iter()
            .filter_map(|(fd, flags)| Some(PollFd::from_borrowed_fd((*fd)?.as_fd(), *flags)))
            .collect();
        let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
        if rustix::event::poll(&mut fds, wait.as_ref()).is_err() {
            return;
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let [bell, stdout, stderr, stdin] =
            watched.map(|(fd, _)| fd.is_some() && ready.next().unwrap_or(false));
        if bell {
            let mut rings = [0u8; 64];
            let _ = rustix::io::read(&self.pump.bell, &mut rings);
        }
        if stdout {
            self.read(JobStream::Stdout);
        }
        if stderr {
            self.read(JobStream::Stderr);
        }
        if stdin {
            self.write();
        }
    }

    /// Reads once; whether there may be more right now.
    fn read(&mut self, stream: JobStream) -> bool {
        let (fd, is_open, mask) = match stream {
            JobStream::Stdout => (Some(&self.pump.wires.stdout), &mut self.stdout, 0),
            JobStream::Stderr => (self.pump.wires.stderr.as_ref(), &mut self.stderr, 1),
        };
        let Some(fd) = fd.filter(|_| *is_open) else {
            return false;
        };
        match rustix::io::read(fd, &mut self.chunk[..]) {
            Ok(0) => *is_open = false,
            Ok(count) => {
                self.masked.clear();
                self.pump.masks[mask].push(&self.chunk[..count], &mut self.masked);
                self.pump.running.output(stream, &self.masked);
                return true;
            }
            Err(rustix::io::Errno::AGAIN) => {}
            Err(rustix::io::Errno::INTR) => return true,
            // EIO is how a terminal says that its last user is gone.
            Err(_) => *is_open = false,
        }
        false
    }

    fn write(&mut self) {
        let Some(fd) = self.pump.wires.stdin.as_ref() else {
            self.stdin = false;
            return;
        };
        match rustix::io::write(fd, &self.pump.stdin[self.written..]) {
            Ok(count) => self.written += count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return,
            // It reads no more.
            Err(_) => self.written = self.pump.stdin.len(),
        }
        if self.written >= self.pump.stdin.len() {
            self.stdin = false;
            // Closing is how a pipe ends; a terminal got its end-of-input character, and its handle stays.
            self.pump.wires.stdin = None;
        }
    }

    /// Reads what is still there; false when somebody goes on writing or holding it open.
    fn read_rest(&mut self) -> bool {
        let end = Instant::now() + LAST_READS;
        while self.stdout || self.stderr {
            while (self.read(JobStream::Stdout) | self.read(JobStream::Stderr))
                && Instant::now() < end
            {}
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            if self.stdout || self.stderr {
                self.stdin = false;
                self.poll(Some(left));
            }
        }
        true
    }

    /// Hands on what the masks held back.
    fn finish(&mut self) {
        for (stream, mask) in [(JobStream::Stdout, 0), (JobStream::Stderr, 1)] {
            self.masked.clear();
            self.pump.masks[mask].finish(&mut self.masked);
            self.pump.running.output(stream, &self.masked);
        }
    }
}
