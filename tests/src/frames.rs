//! The base protocol of LSP: a header with `Content-Length`, an empty line, a JSON body.
//!
//! Written apart from the server's own codec, so that a mistake in one does not hide behind the same mistake in the other.

use std::io::{self, BufRead, Write};

use serde_json::Value;

/// Bodies above this are refused: no message of a test is that large.
const BODY_BYTES_MAX: usize = 1 << 30;

/// Encodes one message with its header.
#[must_use]
pub fn encode(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body.as_bytes());
    frame
}

/// Writes one message and flushes.
///
/// # Errors
///
/// What the writer says.
pub fn write(writer: &mut impl Write, message: &Value) -> io::Result<()> {
    writer.write_all(&encode(message))?;
    writer.flush()
}

/// Reads one message; `None` at a clean end of input.
///
/// # Errors
///
/// `InvalidData` for a header without a length, a body that is not JSON, or an end inside a message.
pub fn read(reader: &mut impl BufRead) -> io::Result<Option<Value>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return match length {
                None => Ok(None),
                Some(_) => Err(invalid("end of input inside a header")),
            };
        }
        let line = String::from_utf8(line).map_err(|_| invalid("header is not UTF-8"))?;
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            break;
        }
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| invalid(&format!("not a header: {line:?}")))?;
        if name.eq_ignore_ascii_case("content-length") {
            let n: usize = value
                .trim()
                .parse()
                .map_err(|_| invalid(&format!("not a length: {value:?}")))?;
            length = Some(n);
        }
    }
    let length = length.ok_or_else(|| invalid("header without Content-Length"))?;
    if length > BODY_BYTES_MAX {
        return Err(invalid("body too large"));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    serde_json::from_slice(&body)
        .map(Some)
        .map_err(|error| invalid(&format!("body is not JSON: {error}")))
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_message_survives_the_round_trip_beside_another() {
        let first = serde_json::json!({"jsonrpc": "2.0", "method": "é\u{1f980}"});
        let second = serde_json::json!({"id": 1});
        let mut bytes = encode(&first);
        bytes.extend(encode(&second));
        let mut reader = bytes.as_slice();
        assert_eq!(read(&mut reader).unwrap(), Some(first));
        assert_eq!(read(&mut reader).unwrap(), Some(second));
        assert_eq!(read(&mut reader).unwrap(), None);
    }
}
