//! Live output for those who listen. A listener that is slow, or gone, costs a bounded buffer and nothing else.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::record::JobState;

/// Which stream of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobStream {
    /// Standard output; with a terminal, all of it.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a listener has not taken yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// Output in the order in which it was read; neighbours of one stream are joined.
    pub output: Vec<(JobStream, Vec<u8>)>,
    /// Bytes before it that were dropped, because nobody took them.
    pub dropped_bytes: u64,
    /// How the job ended; nothing comes after it.
    pub ended: Option<JobState>,
}

/// Called when something comes after nothing was there. It must not block.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// Listens to one job from now on; dropping it ends that.
pub struct JobListener {
    shared: Arc<Shared>,
}

struct Shared {
    buffer: Mutex<Buffer>,
    arrived: Condvar,
    wake: Option<Wake>,
    most: usize,
}

#[derive(Default)]
struct Buffer {
    output: VecDeque<(JobStream, Vec<u8>)>,
    bytes: usize,
    dropped: u64,
    ended: Option<JobState>,
}

impl JobListener {
    /// Takes all that has come. Never blocks.
    pub fn take(&self) -> Heard {
        self.shared.lock().take()
    }

    /// Waits until something has come, at most for `patience`, and takes it.
    pub fn wait(&self, patience: Duration) -> Heard {
        let buffer = self.shared.lock();
        let (mut buffer, _) = self
            .shared
            .arrived
            .wait_timeout_while(buffer, patience, |buffer| buffer.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        buffer.take()
    }
}

impl std::fmt::Debug for JobListener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobListener").finish_non_exhaustive()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: impl FnOnce(&mut Buffer, usize)) {
        let was_empty = {
            let mut buffer = self.lock();
            let was_empty = buffer.is_empty();
            change(&mut buffer, self.most);
            was_empty
        };
        self.arrived.notify_all();
        if let Some(wake) = self.wake.as_ref().filter(|_| was_empty) {
            wake();
        }
    }
}

impl Buffer {
    fn is_empty(&self) -> bool {
        self.output.is_empty() && self.dropped == 0 && self.ended.is_none()
    }

    fn push(&mut self, stream: JobStream, bytes: &[u8], most: usize) {
        // More than the buffer holds: only its end would stay.
        let (cut, bytes) = bytes.split_at(bytes.len().saturating_sub(most));
        self.dropped += cut.len() as u64;
        match self.output.back_mut() {
            Some((last, joined)) if *last == stream => joined.extend_from_slice(bytes),
            _ => self.output.push_back((stream, bytes.to_vec())),
        }
        self.bytes += bytes.len();
        while self.bytes > most {
            let excess = self.bytes - most;
            let Some((_, first)) = self.output.front_mut() else {
                break;
            };
            let gone = excess.min(first.len());
            first.drain(..gone);
            self.bytes -= gone;
            self.dropped += gone as u64;
            if first.is_empty() {
                self.output.pop_front();
            }
        }
    }

    fn take(&mut self) -> Heard {
        self.bytes = 0;
        Heard {
            output: self.output.drain(..).collect(),
            dropped_bytes: std::mem::take(&mut self.dropped),
            ended: self.ended.take(),
        }
    }
}

/// Those who listen to one job.
#[derive(Default)]
pub(super) struct Listeners(Vec<Weak<Shared>>);

impl Listeners {
    /// Adds a listener that holds at most `most` bytes.
    pub(super) fn add(&mut self, most: usize, wake: Option<Wake>) -> JobListener {
        let shared = Arc::new(Shared {
            buffer: Mutex::default(),
            arrived: Condvar::new(),
            wake,
            most,
        });
        self.0.push(Arc::downgrade(&shared));
        JobListener { shared }
    }

    pub(super) fn output(&mut self, stream: JobStream, bytes: &[u8]) {
        self.each(|shared| shared.tell(|buffer, most| buffer.push(stream, bytes, most)));
    }

    pub(super) fn ended(&mut self, state: JobState) {
        self.each(|shared| shared.tell(|buffer, _| buffer.ended = Some(state)));
    }

    fn each(&mut self, tell: impl Fn(&Shared)) {
        self.0.retain(|listener| match listener.upgrade() {
            Some(shared) => {
                tell(&shared);
                true
            }
            None => false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn what_nobody_takes_is_dropped_and_counted() {
        let mut listeners = Listeners::default();
        let listener = listeners.add(10, None);
        listeners.output(JobStream::Stdout, b"12345678");
        listeners.output(JobStream::Stderr, b"abc");
        listeners.output(JobStream::Stderr, b"defg");
        let heard = listener.take();
        assert_eq!(heard.dropped_bytes, 5);
        assert_eq!(
            heard.output,
            [
                (JobStream::Stdout, b"678".to_vec()),
                (JobStream::Stderr, b"abcdefg".to_vec())
            ]
        );
        listeners.output(JobStream::Stdout, &[b'x'; 64]);
        let heard = listener.take();
        assert_eq!((heard.dropped_bytes, heard.output[0].1.len()), (54, 10));
        assert_eq!(listener.take(), Heard::default());
    }

    #[test]
    fn it_is_woken_once_until_it_takes() {
        let woken = Arc::new(AtomicUsize::new(0));
        let count = woken.clone();
        let mut listeners = Listeners::default();
        let wake: Wake = Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let listener = listeners.add(100, Some(wake));
        listeners.output(JobStream::Stdout, b"a");
        listeners.output(JobStream::Stdout, b"b");
        assert_eq!(woken.load(Ordering::Relaxed), 1);
        drop(listener.take());
        listeners.output(JobStream::Stdout, b"c");
        assert_eq!(woken.load(Ordering::Relaxed), 2);
        drop(listener);
        listeners.output(JobStream::Stdout, b"d");
        assert!(listeners.0.is_empty(), "who is gone is forgotten");
    }
}
