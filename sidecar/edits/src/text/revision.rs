//! The identity of a content: of its bytes, or of its text.

use std::fmt;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::BOM;

/// A content's identity: 64 lower-case hex digits of its BLAKE3 hash.
///
/// Holding one says nothing of what was hashed: [`revision`] is over bytes and compares disk with
/// disk, [`text_revision`] is over text and compares a document with a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(String);

impl Revision {
    /// The hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Hashes bytes as they are on disk.
pub fn revision(bytes: &[u8]) -> Revision {
    Revision(blake3::hash(bytes).to_hex().to_string())
}

/// Hashes a text without its byte order mark and with CRLF read as LF.
///
/// Editors report neither faithfully, so a document and a file compare by this one.
pub fn text_revision(text: &str) -> Revision {
    let bytes = text.strip_prefix(BOM).unwrap_or(text).as_bytes();
    let mut hasher = blake3::Hasher::new();
    let mut from = 0;
    for at in memmem::find_iter(bytes, b"\r\n") {
        hasher.update(&bytes[from..at]);
        from = at + 1;
    }
    hasher.update(&bytes[from..]);
    Revision(hasher.finalize().to_hex().to_string())
}
