//! A running aimock: started on a free port with one script, asked what it heard, stopped when dropped.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::machine::{self, aimock};
use crate::program::repository;

/// How long it may take to come up on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(60);

/// Tries with another port when one is taken between finding it free and using it.
const PORT_TRIES: usize = 3;

/// The server; dropping it stops it.
pub struct Aimock {
    child: Child,
    port: u16,
}

impl Aimock {
    /// Starts it with `tests/aimock/SCRIPT`. Requests that the script does not expect are answered 503.
    ///
    /// # Errors
    ///
    /// When it is not installed, refuses the script, or does not come up.
    pub fn start(script: &str) -> Result<Aimock> {
        let path = repository().join("tests/aimock").join(script);
        let mut last = None;
        for _ in 0..PORT_TRIES {
            match Self::start_on(free_port()?, &path) {
                Ok(server) => return Ok(server),
                Err(error) => last = Some(error),
            }
        }
        Err(last.context("no port was tried")?)
    }

    fn start_on(port: u16, script: &Path) -> Result<Aimock> {
        let node = machine::node().context("Node.js is not on this machine")?;
        let program = aimock().context("aimock is not installed: `cargo verify prepare` does")?;
        let child = Command::new(node)
            .arg(program)
            .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-f"])
            .arg(script)
            .args(["--strict", "--log-level", "warn"])
            // The place of an answer in a script is meant exactly.
            .env("AIMOCK_STRICT_TURN_INDEX", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("aimock cannot be started")?;
        let mut server = Aimock { child, port };
        let begun = Instant::now();
        while server.get("/health").is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("aimock ended at once ({status}) with {}", script.display());
            }
            ensure!(
                begun.elapsed() < START_LIMIT,
                "aimock does not answer on port {port}"
            );
            // Polling is the only way to see another program's port open.
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The base URL for OpenAI's APIs.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.origin())
    }

    /// The base URL for any API.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Lets a share of the answers fail, as the server's own `/__aimock/chaos` describes it.
    ///
    /// # Errors
    ///
    /// When it does not take the setting.
    pub fn chaos(&self, setting: &Value) -> Result<()> {
        self.ask("POST", "/__aimock/chaos", &setting.to_string())?;
        Ok(())
    }

    /// The bodies of the requests that it was sent, oldest first.
    ///
    /// # Errors
    ///
    /// When it does not answer.
    pub fn requests(&self) -> Result<Vec<Value>> {
        let journal: Value = serde_json::from_str(&self.get("/__aimock/journal")?)?;
        let entries = journal.as_array().context("a journal is a list")?;
        Ok(entries.iter().map(|entry| entry["body"].clone()).collect())
    }

    fn get(&self, path: &str) -> Result<String> {
        self.ask("GET", path, "")
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nhost: 127.0.0.1\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer
            .split_once("\r\n\r\n")
            .context("no end of the headers")?;
        ensure!(
            head.lines()
                .next()
                .is_some_and(|line| line.contains(" 200 ")),
            "{head}"
        );
        Ok(body.to_owned())
    }
}

impl Drop for Aimock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
