//! Content-Length frames: the framing of LSP, bounded, for any reader.
//!
//! Owns: cutting a byte stream into message bodies and putting a header before one.
//! Must not know: JSON, sockets, async.
//!
//! Invariant: no input makes [`FrameReader`] hold more than one frame of [`MAX_FRAME_BYTES`] and one
//! header of [`MAX_HEADER_BYTES`]; what does not parse is reported once and skipped up to the next
//! `Content-Length`.

use std::collections::VecDeque;

/// Largest body taken, in bytes; a bigger one is skipped and reported.
pub const MAX_FRAME_BYTES: usize = 256 * 1024 * 1024;
/// Largest header block taken, in bytes.
pub const MAX_HEADER_BYTES: usize = 8 * 1024;

/// Most room made for a body before it has come.
const RESERVED_BYTES: usize = 1024 * 1024;

const HEADER_NAME: &[u8] = b"content-length:";

/// Why a piece of the stream was dropped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Bytes that are no header; skipped up to the next `Content-Length`.
    #[error("{skipped} bytes that are no message header were dropped")]
    Garbage {
        /// How many.
        skipped: usize,
    },
    /// A body larger than the limit; it is skipped as it arrives.
    #[error("a message of {size} bytes is over the limit of {MAX_FRAME_BYTES}")]
    TooLarge {
        /// The announced size.
        size: u64,
    },
}

/// Cuts a stream of bytes into bodies; feed it with [`push`](Self::push), drain it with
/// [`next_frame`](Self::next_frame).
#[derive(Debug, Default)]
pub struct FrameReader {
    buffer: VecDeque<u8>,
    skip_bytes: u64,
    body_bytes: Option<usize>,
    garbage_bytes: usize,
}

impl FrameReader {
    /// An empty reader.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        let skipped = self.skip_bytes.min(bytes.len() as u64);
        self.skip_bytes -= skipped;
        // `skipped` is at most `bytes.len()`.
        self.buffer.extend(&bytes[skipped as usize..]);
    }

    /// Gives the next whole body, or what had to be dropped, or `None` until more bytes come.
    pub fn next_frame(&mut self) -> Option<Result<Vec<u8>, FrameError>> {
        loop {
            if let Some(size) = self.body_bytes {
                if self.buffer.len() < size {
                    return None;
                }
                self.body_bytes = None;
                return Some(Ok(self.take(size)));
            }
            let head = self.buffer.make_contiguous();
            let Some(end) = header_end(&head[..head.len().min(MAX_HEADER_BYTES)]) else {
                let hopeless = head.len() >= MAX_HEADER_BYTES || !may_start_header(head);
                if !hopeless || head.is_empty() {
                    return None;
                }
                let dropped = resync(head);
                if dropped == 0 {
                    return None;
                }
                self.garbage_bytes += dropped;
                self.buffer.drain(..dropped);
                continue;
            };
            match content_length(&head[..end]) {
                Some((at, size)) => {
                    let skipped = std::mem::take(&mut self.garbage_bytes) + at;
                    self.buffer.drain(..end);
                    if size > MAX_FRAME_BYTES as u64 {
                        let here = size.min(self.buffer.len() as u64);
                        self.buffer.drain(..here as usize);
                        self.skip_bytes = size - here;
                        return Some(Err(FrameError::TooLarge { size }));
                    }
                    // `size` is at most MAX_FRAME_BYTES.
                    let size = size as usize;
                    // Not more than what may well come: the size is only announced.
                    let missing = size.saturating_sub(self.buffer.len());
                    self.buffer.reserve(missing.min(RESERVED_BYTES));
                    self.body_bytes = Some(size);
                    if skipped > 0 {
                        return Some(Err(FrameError::Garbage { skipped }));
                    }
                }
                None => {
                    self.garbage_bytes += end;
                    self.buffer.drain(..end);
                }
            }
        }
    }

    /// The first `size` bytes of the buffer, which has them: a drain would collect them one by one.
    fn take(&mut self, size: usize) -> Vec<u8> {
        if self.buffer.len() == size {
            return std::mem::take(&mut self.buffer).into();
        }
        let (front, back) = self.buffer.as_slices();
        let from_front = &front[..size.min(front.len())];
        let body = [from_front, &back[..size - from_front.len()]].concat();
        self.buffer.drain(..size);
        body
    }

    /// What was pushed and is not part of any frame given so far.
    pub fn into_rest(self) -> Vec<u8> {
        self.buffer.into()
    }

    /// Whether the stream may end here without losing part of a message.
    pub fn is_idle(&self) -> bool {
        self.buffer.is_empty() && self.body_bytes.is_none() && self.skip_bytes == 0
    }
}

/// Puts the header before `body`.
pub fn encode(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

/// One past the blank line that ends a header block; bare LF is taken too.
fn header_end(head: &[u8]) -> Option<usize> {
    let crlf = memchr::memmem::find(head, b"\r\n\r\n").map(|at| at + 4);
    let lf = memchr::memmem::find(head, b"\n\n").map(|at| at + 2);
    match (crlf, lf) {
        (Some(crlf), Some(lf)) => Some(crlf.min(lf)),
        (crlf, lf) => crlf.or(lf),
    }
}

/// Start and value of the last `Content-Length` in a header block, whatever stands before it.
fn content_length(head: &[u8]) -> Option<(usize, u64)> {
    let lower = head.to_ascii_lowercase();
    let at = memchr::memmem::rfind(&lower, HEADER_NAME)?;
    let rest = &lower[at + HEADER_NAME.len()..];
    let line = rest.split(|&byte| byte == b'\n').next()?;
    let digits = std::str::from_utf8(line).ok()?.trim();
    let start = line_start(head, at, &lower);
    digits.parse().ok().map(|size| (start, size))
}

/// Other header fields may stand before `Content-Length`; anything else there is garbage.
fn line_start(head: &[u8], at: usize, lower: &[u8]) -> usize {
    let before = &lower[..at];
    let fields = before
        .split(|&byte| byte == b'\n')
        .all(|line| line.is_empty() || line.starts_with(b"content-type:"));
    if fields { 0 } else { at.min(head.len()) }
}

fn may_start_header(head: &[u8]) -> bool {
    [HEADER_NAME, b"content-type:".as_slice()]
        .iter()
        .any(|name| {
            let length = name.len().min(head.len());
            head[..length].eq_ignore_ascii_case(&name[..length])
        })
}

/// How many bytes to drop so that the buffer starts where a header may start.
fn resync(head: &[u8]) -> usize {
    let lower = head.to_ascii_lowercase();
    let from = usize::from(may_start_header(head));
    if let Some(at) = memchr::memmem::find(&lower[from..], HEADER_NAME) {
        return from + at;
    }
    // The tail may be the first half of a header name that a read has cut.
    let keep = (1..HEADER_NAME.len().min(lower.len()))
        .rev()
        .find(|&length| lower.ends_with(&HEADER_NAME[..length]))
        .unwrap_or(0);
    head.len() - keep
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<Result<String, FrameError>> {
        let mut reader = FrameReader::new();
        let mut frames = Vec::new();
        for chunk in chunks {
            reader.push(chunk);
            while let Some(frame) = reader.next_frame() {
                frames.push(frame.map(|body| String::from_utf8_lossy(&body).into_owned()));
            }
        }
        frames
    }

    #[test]
    fn frames_are_cut_whatever_the_reads() {
        let stream = b"Content-Length: 2\r\n\r\n{}Content-Type: x\r\ncontent-length: 3\r\n\r\n[1]";
        let whole = read(&[stream]);
        assert_eq!(whole, [Ok("{}".to_owned()), Ok("[1]".to_owned())]);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(read(&bytes), whole);
    }

    #[test]
    fn garbage_is_reported_and_skipped() {
        let frames = read(&[b"hello\r\n\r\nworld", b"\0\xff Content-Length: 2\r\n\r\n{}"]);
        assert_eq!(frames.len(), 2);
        assert!(matches!(frames[0], Err(FrameError::Garbage { .. })));
        assert_eq!(frames[1], Ok("{}".to_owned()));
    }

    #[test]
    fn a_huge_length_is_refused_without_memory() {
        let mut reader = FrameReader::new();
        reader.push(b"Content-Length: 99999999999999\r\n\r\nabc");
        assert_eq!(
            reader.next_frame(),
            Some(Err(FrameError::TooLarge {
                size: 99_999_999_999_999
            }))
        );
        reader.push(&[b'x'; 4096]);
        assert_eq!(reader.next_frame(), None);
        assert!(reader.buffer.is_empty());
    }

    #[test]
    fn endless_garbage_is_not_kept() {
        let mut reader = FrameReader::new();
        for _ in 0..100 {
            reader.push(&[b'c'; 4096]);
            assert_eq!(reader.next_frame(), None);
        }
        assert!(reader.buffer.len() <= MAX_HEADER_BYTES);
    }
}
