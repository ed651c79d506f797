//! The process list of systems without `/proc`, as `ps` tells it.

use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal};

use super::Process;

/// All processes, in no order.
pub(in crate::job) fn processes() -> Vec<Process> {
    let listed = Command::new("/bin/ps")
        .args(["-A", "-o", "pid=,ppid=,pgid=,stat="])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(listed) = listed else {
        return Vec::new();
    };
    String::from_utf8_lossy(&listed.stdout)
        .lines()
        .filter_map(parse)
        .collect()
}

/// `ps` tells no start that could be compared: a process is its number here.
pub(in crate::job) fn start_of(pid: i32) -> Option<u64> {
    let pid = Pid::from_raw(pid)?;
    rustix::process::test_kill_process(pid).ok().map(|()| 0)
}

/// Sends `signal` to the process.
pub(in crate::job) fn signal(process: &Process, signal: Signal) {
    if let Some(pid) = Pid::from_raw(process.pid) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// The env of other processes is not to be read here.
pub(in crate::job) fn has_mark(_: &Process, _: &str) -> bool {
    false
}

/// The env of other processes is not to be read here.
pub(in crate::job) fn job_of(_: i32) -> Option<String> {
    None
}

fn parse(line: &str) -> Option<Process> {
    let mut fields = line.split_ascii_whitespace();
    let mut number = || fields.next()?.parse::<i32>().ok();
    let (pid, parent, group) = (number()?, number()?, number()?);
    Some(Process {
        pid,
        parent,
        group,
        // A session is known by its first group only, which is the job's own.
        session: group,
        started: 0,
        dead: fields.next()?.starts_with('Z'),
    })
}
