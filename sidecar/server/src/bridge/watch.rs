//! Watching the editor's process, which may end without closing our standard input.
//!
//! Owns: waiting for the end of a process that is not our child. Must not know: what follows.

use std::time::Duration;

/// How often a process is looked at where the system cannot wait for it.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Waits until the process is gone. Returns false at once when there is none to be seen, as when
/// the editor runs in another container.
pub(crate) fn until_gone(process_id: u32) -> bool {
    let Some(pid) = i32::try_from(process_id)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    else {
        return false;
    };
    if rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
        return false;
    }
    #[cfg(target_os = "linux")]
    if wait_on_descriptor(pid) {
        return true;
    }
    while rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH) {
        std::thread::sleep(LOOK_EVERY);
    }
    true
}

/// Waits on a descriptor of the process; false when the kernel gives none.
#[cfg(target_os = "linux")]
fn wait_on_descriptor(pid: rustix::process::Pid) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let Ok(process) = rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()) else {
        return false;
    };
    loop {
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], None) {
            Ok(_) => return true,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn the_end_of_a_process_is_seen() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let id = child.id();
        let watching = std::thread::spawn(move || until_gone(id));
        drop(child.stdin.take());
        child.wait().unwrap();
        // Gone before it was looked at, or seen to go: the watch ends either way.
        watching.join().unwrap();
        assert!(!until_gone(id));
    }

    #[test]
    fn a_process_that_cannot_be_is_not_watched() {
        assert!(!until_gone(0));
        assert!(!until_gone(u32::MAX));
    }
}
