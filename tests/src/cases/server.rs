//! The server of one row: a child process with the real hubs, and a say in every effect on the disk.
//!
//! The child asks over a control socket before each effect; the runner answers `go`, an errno, or kills it. So failures,
//! hooks and crashes are decided where the case is known, and a crash is a real SIGKILL of a real process.

mod child;
mod control;

use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

pub use child::serve;
pub(super) use control::Control;

use super::world::World;
use crate::client::{Answer, Client, lock};
use crate::processes;

/// A running child.
pub(super) struct Server {
    child: Mutex<Child>,
    socket: PathBuf,
    resident_at_start: u64,
}

impl Server {
    /// Starts a child for the world; it asks `control` before each effect, if there is one.
    pub(super) fn start(world: &World, control: Option<&Arc<Mutex<Control>>>) -> Result<Server> {
        let folder = world.project.folder();
        let socket = folder.join("serve.sock");
        let asking = folder.join("control.sock");
        for stale in [&socket, &asking] {
            let _ = std::fs::remove_file(stale);
        }
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg("serve")
            .arg(&socket)
            .current_dir(world.project.root())
            .env_clear()
            .envs(world.project.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.join("serve.err"))?);
        let listener = match control {
            None => None,
            Some(control) => {
                command.arg(&asking);
                Some((UnixListener::bind(&asking)?, control.clone()))
            }
        };
        let child = command.spawn().context("cannot start the serving child")?;
        let pid = child.id();
        if let Some((listener, control)) = listener {
            lock(&control).attach(pid);
            std::thread::spawn(move || control::answer(&listener, &control));
        }
        let mut server = Server {
            child: Mutex::new(child),
            socket,
            resident_at_start: 0,
        };
        server.wait_listening()?;
        server.resident_at_start = processes::resident_bytes(pid).unwrap_or(0);
        Ok(server)
    }

    fn wait_listening(&self) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(20);
        while std::os::unix::net::UnixStream::connect(&self.socket).is_err() {
            if let Some(status) = lock(&self.child).try_wait()? {
                bail!("the serving child ended: {status}");
            }
            if Instant::now() > end {
                bail!("the serving child does not listen");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// A new connection.
    pub(super) fn connect(&self, answer: Box<dyn Answer>) -> Result<Client> {
        Client::connect(&self.socket, answer)
    }

    /// How much the most resident memory is above that of an idle start, in bytes.
    pub(super) fn resident_growth_bytes(&self) -> u64 {
        let peak = processes::peak_resident_bytes(lock(&self.child).id()).unwrap_or(0);
        peak.saturating_sub(self.resident_at_start)
    }

    /// Whether the process has ended by itself or was killed.
    pub(super) fn has_ended(&self) -> bool {
        !matches!(lock(&self.child).try_wait(), Ok(None))
    }

    /// Kills it and waits for its end.
    pub(super) fn kill(&self) {
        let mut child = lock(&self.child);
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}
