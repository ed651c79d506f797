//! Who is still alive.
//!
//! Every project of the tests has a runtime folder of its own, and every process that belongs to it carries that folder in
//! its environment: so a test finds, and ends, its own processes and no other's.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// A process that belongs to a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent.
    pub parent: u32,
    /// Its command line, joined by spaces.
    pub command: String,
}

/// Lists processes that have `marker` in their environment; zombies have none and are not listed.
#[must_use]
pub fn with_environment(marker: &str) -> Vec<Process> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir("/proc") else {
        return found;
    };
    for entry in entries.flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        if pid == std::process::id() {
            continue;
        }
        let folder = entry.path();
        let Ok(environment) = fs::read(folder.join("environ")) else {
            continue;
        };
        if !environment
            .split(|b| *b == 0)
            .any(|pair| pair.ends_with(marker.as_bytes()))
        {
            continue;
        }
        found.push(Process {
            pid,
            parent: parent(&folder).unwrap_or(0),
            command: command(&folder),
        });
    }
    found
}

fn parent(folder: &Path) -> Option<u32> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    // The name in parentheses may hold anything: count from its end.
    let rest = &stat[stat.rfind(')')? + 1..];
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn command(folder: &Path) -> String {
    let bytes = fs::read(folder.join("cmdline")).unwrap_or_default();
    let words: Vec<String> = bytes
        .split(|b| *b == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    words.join(" ")
}

/// Waits until no process with this marker is left.
///
/// # Errors
///
/// Names those that are still there at the limit.
pub fn wait_none(marker: &str, limit: Duration) -> Result<()> {
    let end = Instant::now() + limit;
    loop {
        let left = with_environment(marker);
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > end {
            bail!("still running after {limit:?}: {left:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Kills one process; no error when it is already gone.
pub fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Whether a process is there and is not a zombie.
#[must_use]
pub fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| {
            let rest = stat[stat.rfind(')')? + 1..].trim_start().to_owned();
            Some(!rest.starts_with('Z'))
        })
        .unwrap_or(false)
}

/// Resident memory of a process in bytes.
#[must_use]
pub fn resident_bytes(pid: u32) -> Option<u64> {
    status_kib(pid, "VmRSS:").map(|kib| kib * 1024)
}

/// The most memory that a process ever had resident, in bytes.
#[must_use]
pub fn peak_resident_bytes(pid: u32) -> Option<u64> {
    status_kib(pid, "VmHWM:").map(|kib| kib * 1024)
}

fn status_kib(pid: u32, field: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Open files of a process, as `fd -> target`.
#[must_use]
pub fn open_files(pid: u32) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let target = fs::read_link(entry.path()).ok()?;
            Some((
                entry.file_name().to_string_lossy().into_owned(),
                target.to_string_lossy().into_owned(),
            ))
        })
        .collect()
}
