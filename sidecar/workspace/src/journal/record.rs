//! One line of the journal.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The kind of the first line of every file.
pub(super) const HEADER: &str = "journal";

/// What comes before the sum, which ends every line.
const SUM: &[u8] = b",\"sum\":\"";

const SUM_LEN: usize = 32;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// What.
    pub kind: String,
    /// The rest, in a shape that belongs to the kind.
    pub data: Value,
}

/// The sum of a line; of none: empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sum(String);

impl Sum {
    pub(super) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    fn after(before: &Sum, body: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(before.0.as_bytes());
        hasher.update(b"\n");
        hasher.update(body);
        Self(hasher.finalize().to_hex()[..SUM_LEN].to_owned())
    }
}

/// What the first line of a file says.
#[derive(Debug, Serialize)]
pub(super) struct Header<'a> {
    pub(super) version: u32,
    /// The sum of the line before, in the file before.
    pub(super) after: &'a str,
    /// Whether there was one.
    pub(super) continues: bool,
}

#[derive(Serialize)]
struct Body<'a, T> {
    seq: u64,
    at: u64,
    kind: &'a str,
    data: &'a T,
}

#[derive(Deserialize)]
struct Parsed<'a> {
    seq: u64,
    at: u64,
    kind: String,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// A line as it is written.
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    pub(super) sum: Sum,
}

impl Line {
    pub(super) fn write<T: Serialize>(
        seq: u64,
        at: u64,
        kind: &str,
        data: &T,
        before: &Sum,
    ) -> Result<Line, serde_json::Error> {
        let mut bytes = serde_json::to_vec(&Body {
            seq,
            at,
            kind,
            data,
        })?;
        bytes.pop();
        let sum = Sum::after(before, &bytes);
        bytes.extend_from_slice(SUM);
        bytes.extend_from_slice(sum.0.as_bytes());
        bytes.extend_from_slice(b"\"}\n");
        Ok(Line { bytes, sum })
    }
}

/// A line as it was read, its end cut off.
#[derive(Debug)]
pub(super) struct ReadLine<'a> {
    pub(super) seq: u64,
    at: u64,
    pub(super) kind: String,
    data: &'a RawValue,
    body: &'a [u8],
    pub(super) sum: Sum,
}

impl<'a> ReadLine<'a> {
    /// Reads a line; what is wrong with its form otherwise.
    pub(super) fn read(line: &'a [u8]) -> Result<Self, String> {
        let parsed: Parsed<'a> =
            serde_json::from_slice(line).map_err(|error| format!("not a record: {error}"))?;
        let end = b"\"}".len();
        let body = line
            .len()
            .checked_sub(SUM.len() + SUM_LEN + end)
            .ok_or("its sum is missing")?;
        let (body, rest) = line.split_at(body);
        let sum = rest
            .strip_prefix(SUM)
            .and_then(|rest| rest.strip_suffix(b"\"}"))
            .ok_or("its sum is missing")?;
        let sum = Sum::new(std::str::from_utf8(sum).map_err(|_| "its sum is not text")?);
        Ok(Self {
            seq: parsed.seq,
            at: parsed.at,
            kind: parsed.kind,
            data: parsed.data,
            body,
            sum,
        })
    }

    /// Whether the sum is that of this line after one with the sum `before`.
    pub(super) fn follows(&self, before: &Sum) -> bool {
        Sum::after(before, self.body) == self.sum
    }

    /// The sum that a first line goes on from.
    pub(super) fn starts_after(&self) -> Option<Sum> {
        #[derive(Deserialize)]
        struct Start {
            after: String,
        }
        let start: Start = serde_json::from_str(self.data.get()).ok()?;
        (self.kind == HEADER).then_some(Sum(start.after))
    }

    pub(super) fn into_record(self) -> Option<Record> {
        let data = serde_json::from_str(self.data.get()).ok()?;
        Some(Record {
            seq: self.seq,
            at: self.at,
            kind: self.kind,
            data,
        })
    }
}
