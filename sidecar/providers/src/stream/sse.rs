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

use super::{MAX_EVENT_BYTES, TooLarge};

/// Collects bytes into events. The cost is linear in the bytes, however they are cut.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    past_first_line: bool,
    skip_lf: bool,
}

impl Decoder {
    /// Takes in one read and hands on each event that it completes: its name, often empty, and its data.
    pub(crate) fn push(
        &mut self,
        bytes: &[u8],
        see: &mut impl FnMut(&str, &str),
    ) -> Result<(), TooLarge> {
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
                self.end_of_line(&rest[..end], see);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&rest[..end]);
                self.end_of_line(&line, see);
                line.clear();
                self.line = line;
            }
            rest = &rest[end + 1..];
            self.check()?;
        }
        self.check()
    }

    /// Ends the stream; returns name and data of an event that no blank line closed.
    pub(crate) fn end(&mut self) -> Option<(String, String)> {
        let mut last = None;
        let mut see = |name: &str, data: &str| last = Some((name.to_owned(), data.to_owned()));
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.end_of_line(&line, &mut see);
        }
        self.end_of_line(b"", &mut see);
        last
    }

    fn check(&self) -> Result<(), TooLarge> {
        if self.line.len() + self.data.len() > MAX_EVENT_BYTES {
            Err(TooLarge)
        } else {
            Ok(())
        }
    }

    fn end_of_line(&mut self, line: &[u8], see: &mut impl FnMut(&str, &str)) {
        let mut line = line;
        if !std::mem::replace(&mut self.past_first_line, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                see(
                    &String::from_utf8_lossy(&self.name),
                    &String::from_utf8_lossy(&self.data),
                );
                self.data.clear();
            }
            self.name.clear();
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            _ => {}
        }
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
            decoder
                .push(read, &mut |_, data| out.push(data.to_owned()))
                .unwrap();
        }
        out.extend(decoder.end().map(|(_, data)| data));
        out
    }

    #[test]
    fn an_event_has_the_name_of_its_last_event_line() {
        let mut decoder = Decoder::default();
        let mut names = Vec::new();
        let input =
            b"event: a\nevent: error\ndata: 1\n\ndata: 2\n\nevent: lost\n\nevent:b\ndata: 3";
        decoder
            .push(input, &mut |name, _| names.push(name.to_owned()))
            .unwrap();
        names.extend(decoder.end().map(|(name, _)| name));
        assert_eq!(names, ["error", "", "b"]);
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
        let refused = (0..100).any(|_| decoder.push(&read, &mut |_, _| {}).is_err());
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
