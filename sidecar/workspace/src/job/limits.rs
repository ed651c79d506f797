//! The bounds of jobs: each is stated here and nowhere else.

use std::time::Duration;

/// Longest `stdin` that a job is given.
pub const MAX_STDIN_BYTES: usize = 1 << 20;

/// Longest single argument; the kernel takes no longer one either (`MAX_ARG_STRLEN`).
pub(super) const MAX_ARGUMENT_BYTES: usize = 128 * 1024 - 1;

/// Most of a command line and its env together; far below every kernel's limit.
pub(super) const MAX_COMMAND_BYTES: usize = 512 << 10;

/// How much is kept, and for how long things are waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobLimits {
    /// First bytes of each stream that stay in memory and in results.
    pub head_bytes: usize,
    /// Last bytes of each stream that stay in memory and in results.
    pub tail_bytes: usize,
    /// Bytes of each stream that are kept in `jobs/<id>/`, from the first on.
    pub disk_bytes: u64,
    /// Bytes that wait for one listener; older ones are dropped and counted.
    pub listener_bytes: usize,
    /// Jobs that run at one time.
    pub running: usize,
    /// Finished jobs whose records stay; older ones are removed when a new one starts.
    pub finished: usize,
    /// From TERM to KILL.
    pub grace: Duration,
    /// From TERM to KILL when somebody waits for the end, as for a stopped turn.
    pub short_grace: Duration,
    /// How long what a program left behind may go on after its own end, to finish writing.
    pub linger: Duration,
}

impl Default for JobLimits {
    fn default() -> Self {
        Self {
            head_bytes: 8 << 10,
            tail_bytes: 24 << 10,
            disk_bytes: 64 << 20,
            listener_bytes: 256 << 10,
            running: 32,
            finished: 200,
            grace: Duration::from_secs(1),
            short_grace: Duration::from_millis(60),
            linger: Duration::from_millis(300),
        }
    }
}
