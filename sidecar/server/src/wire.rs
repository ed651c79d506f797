//! JSON-RPC messages over blocking streams: what the bridge and the command line speak.
//!
//! Owns: reading and writing whole messages, and the shallow view of one that routing needs.
//! Must not know: what the methods mean.

use crate::frame::{FrameError, FrameReader};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::{
    borrow::Cow,
    io::{self, Read, Write},
};

const READ_BYTES: usize = 64 * 1024;

/// A message as far as routing looks into it; `params`, `result` and `error` stay text.
#[derive(Debug, Deserialize)]
pub struct Message<'a> {
    /// Present on requests and responses.
    #[serde(borrow, default)]
    pub id: Option<&'a RawValue>,
    /// Present on requests and notifications.
    #[serde(borrow, default)]
    pub method: Option<Cow<'a, str>>,
    /// Arguments.
    #[serde(borrow, default)]
    pub params: Option<&'a RawValue>,
    /// What a request gave.
    #[serde(borrow, default)]
    pub result: Option<&'a RawValue>,
    /// Why it gave nothing.
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

/// A message to be written; absent parts are left out.
#[derive(Debug, Serialize)]
pub struct Outgoing<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RawValue>,
}

impl<'a> Outgoing<'a> {
    /// `message` under another id.
    pub fn with_id(message: &'a Message<'_>, id: &'a RawValue) -> Self {
        Self {
            jsonrpc: "2.0",
            id: Some(id),
            method: message.method.as_deref(),
            params: message.params,
            // A response has exactly one of both; `null` reads as absent.
            result: match (message.method.is_some(), message.error) {
                (false, None) => Some(message.result.unwrap_or(RawValue::NULL)),
                _ => message.result,
            },
            error: message.error,
        }
    }

    /// The answer `null` to the request `id`.
    pub fn result_null(id: &'a RawValue) -> Self {
        Self {
            jsonrpc: "2.0",
            id: Some(id),
            method: None,
            params: None,
            result: Some(RawValue::NULL),
            error: None,
        }
    }

    /// The message as the body of a frame.
    pub fn body(&self) -> Vec<u8> {
        // Raw JSON and plain strings always serialize.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// Body of a request, or of a notification when `id` is none.
pub fn call(id: Option<u64>, method: &str, params: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Call<'a, P> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        method: &'a str,
        params: &'a P,
    }
    serde_json::to_vec(&Call {
        jsonrpc: "2.0",
        id,
        method,
        params,
    })
}

/// Body of an error response to the request `id` (`null` when there was none to name).
pub fn error_response(id: Option<&RawValue>, code: i64, message: &str) -> Vec<u8> {
    let id = id.map_or("null", RawValue::get);
    let error = serde_json::json!({ "code": code, "message": message });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into_bytes()
}

/// Writes one frame in one call, and flushes.
///
/// # Errors
///
/// What the stream says.
pub fn write_frame(writer: &mut dyn Write, body: &[u8]) -> io::Result<()> {
    writer.write_all(&crate::frame::encode(body))?;
    writer.flush()
}

/// Reads frames from a blocking stream.
pub struct FrameSource<R> {
    stream: R,
    frames: FrameReader,
    chunk: Box<[u8]>,
}

impl<R: Read> FrameSource<R> {
    /// A source over `stream`.
    pub fn new(stream: R) -> Self {
        Self {
            stream,
            frames: FrameReader::new(),
            chunk: vec![0; READ_BYTES].into_boxed_slice(),
        }
    }

    /// Waits for the next frame, or for what had to be dropped; `None` at the end of the stream.
    ///
    /// # Errors
    ///
    /// What the stream says.
    pub fn next_frame(&mut self) -> io::Result<Option<Result<Vec<u8>, FrameError>>> {
        loop {
            if let Some(frame) = self.frames.next_frame() {
                return Ok(Some(frame));
            }
            match self.stream.read(&mut self.chunk) {
                Ok(0) => return Ok(None),
                Ok(n) => self.frames.push(&self.chunk[..n]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The stream below, to set its time-outs.
    pub fn stream(&self) -> &R {
        &self.stream
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    #[test]
    fn a_response_keeps_its_null_result_under_another_id() {
        let text = r#"{"jsonrpc":"2.0","id":"g1","result":null}"#;
        let message: Message<'_> = serde_json::from_str(text).unwrap();
        let id = RawValue::from_string("7".to_owned()).unwrap();
        let body = Outgoing::with_id(&message, &id).body();
        assert_eq!(
            String::from_utf8(body).unwrap(),
            r#"{"jsonrpc":"2.0","id":7,"result":null}"#
        );
    }

    #[test]
    fn a_request_keeps_its_parameters_byte_for_byte() {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"a/b","params":{"x":1.50,"y":"\u00e9"}}"#;
        let message: Message<'_> = serde_json::from_str(text).unwrap();
        let id = RawValue::from_string("\"q\"".to_owned()).unwrap();
        assert_eq!(
            String::from_utf8(Outgoing::with_id(&message, &id).body()).unwrap(),
            text.replace(r#""id":1"#, r#""id":"q""#)
        );
    }

    #[test]
    fn frames_come_out_in_order_and_the_end_is_seen() {
        let mut bytes = crate::frame::encode(b"{}");
        bytes.extend(crate::frame::encode(b"[1]"));
        let mut source = FrameSource::new(bytes.as_slice());
        assert_eq!(source.next_frame().unwrap().unwrap().unwrap(), b"{}");
        assert_eq!(source.next_frame().unwrap().unwrap().unwrap(), b"[1]");
        assert!(source.next_frame().unwrap().is_none());
    }
}
