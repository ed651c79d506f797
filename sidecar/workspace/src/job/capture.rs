//! What is kept of one stream: its first and last bytes in memory, and all of it on disk up to a bound.

use std::fs::File;
use std::io::Write;

use serde::{Deserialize, Serialize};

use super::limits::JobLimits;

/// First and last bytes of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes that are not in `head`.
    pub tail: Vec<u8>,
    /// How many bytes there were.
    pub total: u64,
}

impl Kept {
    /// How many bytes lie between head and tail.
    pub fn dropped(&self) -> u64 {
        self.total
            .saturating_sub(self.head.len() as u64)
            .saturating_sub(self.tail.len() as u64)
    }
}

/// How much there was of a stream, and how much of it is on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamTotals {
    /// Bytes that the program wrote (after secrets were masked).
    pub bytes: u64,
    /// The first so many are in the job's folder.
    pub bytes_on_disk: u64,
}

/// One stream while it is written.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    /// Ends with the last bytes; what is before them is dropped from time to time.
    recent: Vec<u8>,
    total: u64,
    head_bytes: usize,
    tail_bytes: usize,
    /// Where the whole goes; None once the disk refused.
    file: Option<File>,
    on_disk: u64,
    disk_bytes: u64,
}

impl Capture {
    pub(super) fn new(limits: &JobLimits, file: Option<File>) -> Self {
        Self {
            head: Vec::new(),
            recent: Vec::new(),
            total: 0,
            head_bytes: limits.head_bytes,
            tail_bytes: limits.tail_bytes,
            file,
            on_disk: 0,
            disk_bytes: limits.disk_bytes,
        }
    }

    /// Takes what comes next.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.write(bytes);
        let room = self.head_bytes - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.tail_bytes)..];
        self.recent.extend_from_slice(rest);
        if self.recent.len() > 2 * self.tail_bytes {
            self.recent.drain(..self.recent.len() - self.tail_bytes);
        }
    }

    pub(super) fn kept(&self) -> Kept {
        Kept {
            head: self.head.clone(),
            tail: self.recent[self.recent.len().saturating_sub(self.tail_bytes)..].to_vec(),
            total: self.total,
        }
    }

    pub(super) fn totals(&self) -> StreamTotals {
        StreamTotals {
            bytes: self.total,
            bytes_on_disk: self.on_disk,
        }
    }

    /// Appends to the file, up to the bound. A full disk ends the file, not the job.
    fn write(&mut self, bytes: &[u8]) {
        let room = self.disk_bytes.saturating_sub(self.on_disk);
        let fitting = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let Some(mut file) = self.file.as_ref().filter(|_| fitting > 0) else {
            return;
        };
        if file.write_all(&bytes[..fitting]).is_ok() {
            self.on_disk += fitting as u64;
        } else {
            let _ = file.set_len(self.on_disk);
            self.file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn limits(head: usize, tail: usize, disk: u64) -> JobLimits {
        JobLimits {
            head_bytes: head,
            tail_bytes: tail,
            disk_bytes: disk,
            ..JobLimits::default()
        }
    }

    proptest! {
        #[test]
        fn head_and_tail_are_those_of_the_whole(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
            head in 0usize..20, tail in 0usize..20, disk in 0u64..60,
        ) {
            let file = tempfile::tempfile().unwrap();
            let mut capture = Capture::new(&limits(head, tail, disk), Some(file.try_clone().unwrap()));
            let mut whole = Vec::new();
            for chunk in &chunks {
                capture.push(chunk);
                whole.extend_from_slice(chunk);
            }
            let kept = capture.kept();
            let cut = head.min(whole.len());
            prop_assert_eq!(&kept.head, &whole[..cut]);
            prop_assert_eq!(&kept.tail, &whole[cut.max(whole.len().saturating_sub(tail))..]);
            prop_assert_eq!(kept.total, whole.len() as u64);
            prop_assert_eq!(kept.dropped(), (whole.len() - kept.head.len() - kept.tail.len()) as u64);
            let on_disk = disk.min(whole.len() as u64);
            prop_assert_eq!(capture.totals().bytes_on_disk, on_disk);
            prop_assert_eq!(file.metadata().unwrap().len(), on_disk);
        }
    }
}
