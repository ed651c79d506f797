//! Framing of JSON lines, incremental over bytes: one text on each line, which ends at LF.
//!
//! A CR before the LF is white space to JSON, a blank line says nothing, and the last line may lack
//! its LF. One leading BOM is passed over.

use super::{MAX_EVENT_BYTES, TooLarge};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Collects bytes into lines.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    past_first_line: bool,
}

impl Decoder {
    /// Takes in one read and hands on each line that it completes.
    pub(crate) fn push(&mut self, bytes: &[u8], mut see: impl FnMut(&str)) -> Result<(), TooLarge> {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if self.line.is_empty() {
                let line = self.without_bom(&rest[..end]);
                see(&String::from_utf8_lossy(line));
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(&rest[..end]);
                see(&String::from_utf8_lossy(self.without_bom(&line)));
                line.clear();
                self.line = line;
            }
            rest = &rest[end + 1..];
        }
        self.line.extend_from_slice(rest);
        if self.line.len() > MAX_EVENT_BYTES {
            return Err(TooLarge);
        }
        Ok(())
    }

    /// Ends the stream; returns a last line without LF.
    pub(crate) fn end(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = self.without_bom(&line);
        (!line.is_empty()).then(|| String::from_utf8_lossy(line).into_owned())
    }

    fn without_bom<'a>(&mut self, line: &'a [u8]) -> &'a [u8] {
        if std::mem::replace(&mut self.past_first_line, true) {
            line
        } else {
            line.strip_prefix(BOM).unwrap_or(line)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        for piece in pieces {
            decoder
                .push(piece, |line| out.push(line.to_owned()))
                .unwrap();
        }
        out.extend(decoder.end());
        out
    }

    #[test]
    fn lines_end_at_lf() {
        let cases: &[(&str, &[&str])] = &[
            ("a\nb\n", &["a", "b"]),
            ("a\r\nb", &["a\r", "b"]),
            ("\n\na", &["", "", "a"]),
            ("\u{feff}a\n\u{feff}b\n", &["a", "\u{feff}b"]),
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
        let refused = (0..100).any(|_| decoder.push(&read, |_| {}).is_err());
        assert!(refused);
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(
            input in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(0xC3), any::<u8>()], 0..200),
            cut in 1usize..9,
        ) {
            let pieces: Vec<&[u8]> = input.chunks(cut).collect();
            prop_assert_eq!(decode(&pieces), decode(&[&input]));
        }
    }
}
