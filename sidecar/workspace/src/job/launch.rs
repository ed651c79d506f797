//! Starting the process of a job: in a session of its own, with pipes or a pseudo-terminal, and nothing of ours.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use super::sandbox::Launch;
use crate::handle::Folder;
use crate::process::leave_files_behind;

/// Size of a job's pseudo-terminal.
const WINDOW: Winsize = Winsize {
    ws_row: 40,
    ws_col: 120,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// Our ends of the streams; none of them blocks.
#[derive(Debug)]
pub(super) struct Wires {
    /// Where the program's input goes; None when it has none.
    pub(super) stdin: Option<OwnedFd>,
    /// Its output, or its terminal's.
    pub(super) stdout: OwnedFd,
    /// Its error output; None with a terminal, where both are one.
    pub(super) stderr: Option<OwnedFd>,
}

/// What a process talks to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Talk {
    /// Pipes, with input or without.
    Pipes { input: bool },
    /// A pseudo-terminal.
    Terminal,
}

/// Starts `launch` in `folder`.
///
/// # Errors
///
/// The system's refusal, that of exec included.
pub(super) fn start(launch: &Launch, folder: &Folder, talk: Talk) -> io::Result<(Child, Wires)> {
    let mut command = Command::new(&launch.program);
    command
        .arg0(&launch.name)
        .args(&launch.arguments)
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)));
    // The folder by its handle: what was checked is where it runs.
    let folder = rustix::io::fcntl_dupfd_cloexec(folder.beneath().as_fd(), 3)?;
    let terminal = match talk {
        Talk::Terminal => {
            let (ours, theirs) = open_terminal()?;
            command
                .stdin(Stdio::from(theirs.try_clone()?))
                .stdout(Stdio::from(theirs.try_clone()?))
                .stderr(Stdio::from(theirs));
            Some(ours)
        }
        Talk::Pipes { input } => {
            let stdin = if input { Stdio::piped() } else { Stdio::null() };
            command
                .stdin(stdin)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            None
        }
    };
    let controls = terminal.is_some();
    #[expect(
        unsafe_code,
        reason = "the standard library has no safe way to run code between fork and exec"
    )]
    // SAFETY: the closure makes system calls only: it allocates nothing, takes no lock and touches no memory
    // of other threads, as the child of a threaded process must until exec.
    unsafe {
        command.pre_exec(move || {
            rustix::process::setsid()?;
            if controls {
                rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
            }
            rustix::process::fchdir(&folder)?;
            leave_files_behind();
            Ok(())
        });
    }
    let mut child = command.spawn()?;
    let wires = match terminal {
        Some(ours) => Wires {
            stdin: Some(ours.try_clone()?),
            stdout: ours,
            stderr: None,
        },
        None => {
            let gone = || io::Error::other("a pipe was not made");
            Wires {
                stdin: child.stdin.take().map(OwnedFd::from),
                stdout: child.stdout.take().ok_or_else(gone)?.into(),
                stderr: Some(child.stderr.take().ok_or_else(gone)?.into()),
            }
        }
    };
    for fd in [
        wires.stdin.as_ref(),
        Some(&wires.stdout),
        wires.stderr.as_ref(),
    ]
    .into_iter()
    .flatten()
    {
        let flags = rustix::fs::fcntl_getfl(fd)?;
        rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)?;
    }
    Ok((child, wires))
}

/// A new pseudo-terminal: our end and that of the program.
fn open_terminal() -> io::Result<(OwnedFd, OwnedFd)> {
    let ours = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    rustix::pty::grantpt(&ours)?;
    rustix::pty::unlockpt(&ours)?;
    rustix::termios::tcsetwinsize(&ours, WINDOW)?;
    let name = rustix::pty::ptsname(&ours, Vec::new())?;
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
    let theirs = rustix::fs::open(
        OsStr::new(name.to_string_lossy().as_ref()),
        flags,
        rustix::fs::Mode::empty(),
    )?;
    Ok((ours, theirs))
}
