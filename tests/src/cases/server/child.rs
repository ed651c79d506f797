//! The child: the real hubs behind a socket, and effects that ask first.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use redline::host::Host;
use redline::hubs::Origin;
use redline::paths::Paths;
use redline_workspace::{Effect, Faults};

/// Serves connections at the socket that the first argument names; the second, if any, is asked before each effect.
#[allow(clippy::print_stderr, reason = "a program of the tests")]
pub fn serve(arguments: &[String]) -> ExitCode {
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let socket = arguments
        .first()
        .context("serve needs the path of a socket")?;
    let faults: Option<Arc<dyn Faults>> = match arguments.get(1) {
        None => None,
        Some(asked) => Some(Arc::new(Asking::connect(Path::new(asked))?)),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let failed = |failure: redline::failure::Failure| anyhow::anyhow!("{failure}");
        let paths = Paths::of_process().map_err(failed)?;
        let host = Host::open_with_faults(&paths, true, faults);
        let listener = tokio::net::UnixListener::bind(socket)?;
        loop {
            let (stream, _) = listener.accept().await?;
            let (reader, writer) = stream.into_split();
            let host = host.clone();
            tokio::spawn(async move { host.serve(reader, writer, Origin::of_process()).await });
        }
    })
}

/// Asks the runner before each effect on the disk.
struct Asking {
    line: Mutex<(BufReader<UnixStream>, UnixStream)>,
}

impl Asking {
    fn connect(asked: &Path) -> Result<Asking> {
        let stream = UnixStream::connect(asked)
            .with_context(|| format!("cannot reach {}", asked.display()))?;
        let reader = BufReader::new(stream.try_clone()?);
        Ok(Asking {
            line: Mutex::new((reader, stream)),
        })
    }
}

impl Faults for Asking {
    fn before(&self, effect: Effect, path: &str) -> io::Result<()> {
        let name = match effect {
            Effect::Write => "write",
            Effect::Fsync => "fsync",
            Effect::Rename => "rename",
            Effect::Remove => "remove",
        };
        // One effect at a time: the runner counts them.
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let (reader, writer) = &mut *line;
        writeln!(writer, "{name}\t{}", serde_json::Value::from(path))?;
        let mut answer = String::new();
        reader.read_line(&mut answer)?;
        match answer.trim().strip_prefix("errno ") {
            Some(errno) => {
                let errno = errno.parse().unwrap_or(5);
                Err(io::Error::from_raw_os_error(errno))
            }
            None => Ok(()),
        }
    }
}
