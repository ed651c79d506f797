//! System calls as `strace` sees them, and failures injected into them.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// System calls that write: data, names, modes, and what makes either durable.
pub const WRITING: &str = "write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,\
    rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,\
    fsync,fdatasync,sync_file_range,fchmod,fchmodat,chmod,fchown,fchownat,fsetxattr,setxattr,\
    copy_file_range,sendfile,openat,openat2,open,creat";

/// One system call that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// The whole line.
    pub line: String,
}

/// What to do to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection {
    /// Name of the system call.
    pub call: String,
    /// Which one, counted from 1 among the calls of this name in one thread's process.
    pub nth: usize,
    /// `signal=KILL` or `error=ENOSPC`.
    pub effect: String,
}

/// Wraps a command in `strace -f`, logging to `log`, with an injection if there is one.
///
/// `command` keeps its arguments, environment and folder.
#[must_use]
pub fn wrap(command: &Command, log: &Path, trace: &str, injection: Option<&Injection>) -> Command {
    let mut strace = Command::new("strace");
    strace.arg("-f").arg("-qq").arg("-y").arg("-s").arg("200");
    strace.arg("-e").arg(format!("trace={trace}"));
    strace.arg("-e").arg("signal=none");
    if let Some(injection) = injection {
        strace.arg("-e").arg(format!(
            "inject={}:{}:when={}",
            injection.call, injection.effect, injection.nth
        ));
    }
    strace.arg("-o").arg(log).arg(command.get_program());
    strace.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        strace.current_dir(folder);
    }
    strace.env_clear();
    let environment: Vec<(OsString, OsString)> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    strace.envs(environment);
    strace
}

/// Whether the injection of a log of [`wrap`] hit a call about a file below `folder`, as far as it hit any.
///
/// # Errors
///
/// When the log cannot be read.
pub fn hit(log: &Path, folder: &Path) -> Result<bool> {
    let text = fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
    let text = String::from_utf8_lossy(&text);
    let folder = folder.to_string_lossy();
    let injected = text.lines().filter(|line| line.contains("(INJECTED)"));
    Ok(injected.into_iter().all(|line| line.contains(&*folder)))
}

/// Reads a log of [`wrap`].
///
/// # Errors
///
/// When it cannot be read.
pub fn read(log: &Path) -> Result<Vec<Call>> {
    let text = fs::read(log).with_context(|| format!("cannot read {}", log.display()))?;
    let text = String::from_utf8_lossy(&text);
    Ok(text.lines().filter_map(call).collect())
}

fn call(line: &str) -> Option<Call> {
    let line = line
        .trim_start_matches(|c: char| c.is_ascii_digit())
        .trim_start();
    if line.starts_with("<...") || line.starts_with("+++") || line.starts_with("---") {
        return None;
    }
    let (name, _) = line.split_once('(')?;
    Some(Call {
        name: name.to_owned(),
        line: line.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_log_line_gives_its_call() {
        let seen = call("1234 write(3</x/a>, \"hi\", 2) = 2").unwrap();
        assert_eq!(seen.name, "write");
        assert_eq!(call("1234 <... write resumed>) = 2"), None);
        assert_eq!(call("12 +++ exited with 0 +++"), None);
    }
}
