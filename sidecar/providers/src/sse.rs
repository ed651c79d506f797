//! Framing of server-sent events, incremental over bytes.
//!
//! ```text
//! stream = [BOM] *event          event = *(comment / field) EOL
//! field  = name [":" [" "] value] EOL          EOL = CRLF / LF / CR
//! ```
//!
//! The rules are those of the HTML standard, with two deliberate additions: an event that is not
//! closed by a blank line when the stream ends is handed out all the same ([`Decoder::end`]), since
//! real servers cut there, and one event has a size limit. Unknown fields are ignored, as the
//! standard says. (The `sse-stream` crate refuses unknown fields, and drops the rest of the read.)

/// Largest event, in bytes. Real ones exceed 1 MiB.
pub(crate) const MAX_EVENT_BYTES: usize = 64 << 20;

/// An event is larger than [`MAX_EVENT_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {} MiB", MAX_EVENT_BYTES >> 20)]
pub(crate) struct TooLarge;

/// Collects bytes into the `data` of events. The cost is linear in the bytes, however they are cut.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    past_first_line: bool,
    skip_lf: bool,
}

impl Decoder {
    /// Takes in one read and appends the data of each event that it completes.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<String>) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.skip_lf) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.line.extend_from_slice(rest);
                break;
            };
            // A CR at the very end of a read may be the first half of a CRLF.
            self.skip_lf = rest[end] == b'\r';
            if self.line.is_empty() {
                self.end_of_line(&rest[..end], out);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&rest[..end]);
                self.end_of_line(&line, out);
                line.clear();
                self.line = line;
            }
            rest = &rest[end + 1..];
            self.check()?;
        }
        self.check()
    }

    /// Ends the stream; returns the data of an event that no blank line closed.
    pub(crate) fn end(&mut self) -> Option<String> {
        let mut out = Vec::new();
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.end_of_line(&line, &mut out);
        }
        self.end_of_line(b"", &mut out);
        out.pop()
    }

    fn check(&self) -> Result<(), TooLarge> {
        if self.line.len() + self.data.len() > MAX_EVENT_BYTES {
            Err(TooLarge)
        } else {
            Ok(())
        }
    }

    fn end_of_line(&mut self, line: &[u8], out: &mut Vec<String>) {
        let mut line = line;
        if !std::mem::replace(&mut self.past_first_line, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                out.push(String::from_utf8_lossy(&self.data).into_owned());
                self.data.clear();
            }
            return;
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        if name != b"data" {
            return;
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data
            .extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn decode(reads: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for read in reads {
            decoder.push(read, &mut out).unwrap();
        }
        out.extend(decoder.end());
        out
    }

    #[test]
    fn the_rules_of_the_standard() {
        let cases: &[(&str, &[&str])] = &[
            ("data: a\n\ndata: b\n\n", &["a", "b"]),
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &["a", "b", "c"]),
            ("data:a\ndata: b\n\n", &["a\nb"]),
            ("data:  two\n\n", &[" two"]),
            (": comment\n\n:\n\nevent: ping\n\ndata: a\n\n", &["a"]),
            ("\u{feff}data: a\n\n", &["a"]),
            ("\u{feff}\u{feff}data: a\n\ndata: b\n\n", &["b"]),
            ("id: 1\nretry: x\nfoo: bar\nnonsense\ndata: a\n\n", &["a"]),
            ("data\n\n", &[""]),
            ("data: cut off", &["cut off"]),
            ("data: a\n", &["a"]),
            ("", &[]),
        ];
        for (input, expected) in cases {
            assert_eq!(decode(&[input.as_bytes()]), *expected, "{input:?}");
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut decoder = Decoder::default();
        let read = vec![b'a'; 1 << 20];
        let mut out = Vec::new();
        let refused = (0..100).any(|_| decoder.push(&read, &mut out).is_err());
        assert!(refused);
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(
            bytes in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b' '), Just(b'd'), any::<u8>()],
                0..200,
            ),
            head in prop_oneof![Just(&b""[..]), Just(&b"\xEF\xBB\xBFdata: x"[..])],
            cut in 1usize..9,
        ) {
            let mut input = head.to_vec();
            input.extend(bytes);
            let whole = decode(&[&input]);
            let pieces: Vec<&[u8]> = input.chunks(cut).collect();
            prop_assert_eq!(decode(&pieces), whole);
        }
    }
}
