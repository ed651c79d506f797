//! The process list of Linux, read from `/proc`.

use std::io::Read;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, Signal};

use super::{MARK, Process};

/// Most that is read of a process's env.
const MOST_ENV: u64 = 1 << 20;

/// A process shows no env while it is in exec: so often, and so long apart, it is looked at again.
const EXEC_LOOKS: usize = 5;
const EXEC_PAUSE: Duration = Duration::from_micros(200);

/// All processes, in no order. One that ends while they are read is left out.
pub(in crate::job) fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// When the process started, in ticks since the system did; None when there is none.
pub(in crate::job) fn start_of(pid: i32) -> Option<u64> {
    read(pid).map(|process| process.started)
}

/// Sends `signal` to exactly this process, and to none that got its number since.
pub(in crate::job) fn signal(process: &Process, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else {
        return;
    };
    match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(handle) if start_of(process.pid) == Some(process.started) => {
            let _ = rustix::process::pidfd_send_signal(&handle, signal);
        }
        Ok(_) => {}
        // A kernel before 5.3.
        Err(rustix::io::Errno::NOSYS) if start_of(process.pid) == Some(process.started) => {
            let _ = rustix::process::kill_process(pid, signal);
        }
        Err(_) => {}
    }
}

/// Whether its env has the mark of `job`.
pub(in crate::job) fn has_mark(process: &Process, job: &str) -> bool {
    !process.dead && mark(process.pid).is_some_and(|found| found == job)
}

/// The job of the process or of its nearest ancestor that has one.
pub(in crate::job) fn job_of(pid: i32) -> Option<String> {
    let mut at = pid;
    // No chain is longer; a number that was taken again could make a ring.
    for _ in 0..1024 {
        if let Some(found) = mark(at) {
            return Some(found);
        }
        at = read(at)?.parent;
        if at <= 1 {
            return None;
        }
    }
    None
}

fn mark(pid: i32) -> Option<String> {
    let env = env_of(pid)?;
    let start = format!("{MARK}=");
    env.split(|&byte| byte == 0)
        .find_map(|pair| pair.strip_prefix(start.as_bytes()))
        .map(|job| String::from_utf8_lossy(job).into_owned())
}

fn env_of(pid: i32) -> Option<Vec<u8>> {
    let mut env = Vec::new();
    for _ in 0..EXEC_LOOKS {
        let file = std::fs::File::open(format!("/proc/{pid}/environ")).ok()?;
        file.take(MOST_ENV).read_to_end(&mut env).ok()?;
        // A process of the kernel's has no program; another one that shows no env is in the middle of exec.
        let is_between = env.is_empty() && std::fs::read_link(format!("/proc/{pid}/exe")).is_ok();
        if !is_between {
            break;
        }
        std::thread::sleep(EXEC_PAUSE);
    }
    Some(env)
}

fn read(pid: i32) -> Option<Process> {
    parse(
        pid,
        &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?,
    )
}

/// `pid (name) state ppid pgrp session … starttime(22nd) …`; the name may hold anything.
fn parse(pid: i32, stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat[stat.rfind(')')? + 1..]
        .split_ascii_whitespace()
        .collect();
    let number = |at: usize| fields.get(at)?.parse::<i32>().ok();
    Some(Process {
        pid,
        dead: matches!(*fields.first()?, "Z" | "X" | "x"),
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_name_may_hold_anything() {
        let stat = "7 (a) b (c)) S 1 7 6 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4242 0 0";
        let expected = Process {
            pid: 7,
            parent: 1,
            group: 7,
            session: 6,
            started: 4242,
            dead: false,
        };
        assert_eq!(parse(7, stat), Some(expected));
        assert_eq!(parse(7, "7 (x"), None);
        assert_eq!(parse(7, ""), None);
    }

    #[test]
    fn this_process_is_in_the_list() {
        let own = std::process::id().cast_signed();
        let all = processes();
        let found = all.iter().find(|one| one.pid == own).unwrap();
        assert_eq!(start_of(own), Some(found.started));
        assert_eq!(start_of(i32::MAX), None);
    }
}
