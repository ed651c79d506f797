//! What a text is: bytes that decode as UTF-8, without its byte order mark.
//!
//! Owns decoding, the two identities of a content ([`Revision`]), and the rule by which
//! replacement text takes the line endings of what it replaces. Knows no file and no path.

mod endings;
mod revision;

pub(crate) use self::endings::normalize_line_endings;
pub use self::{
    endings::adapt_line_endings,
    revision::{Revision, revision, text_revision},
};

/// The size above which [`decode`] refuses a content, in bytes (64 MiB).
pub const DEFAULT_SIZE_LIMIT_BYTES: u64 = 64 * 1024 * 1024;

/// UTF-8's encoding of U+FEFF.
pub(crate) const BOM: char = '\u{FEFF}';

/// A decoded content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The text without its byte order mark; line endings are as found.
    pub text: String,
    /// Whether the bytes began with a byte order mark.
    pub bom: bool,
}

/// Why bytes are not an editable text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// A NUL byte: binary content.
    #[error("binary content (a NUL byte at offset {offset})")]
    NotText {
        /// Offset of the first NUL, in bytes.
        offset: usize,
    },
    /// A byte that is not UTF-8.
    #[error("not UTF-8 (byte 0x{byte:02X} at offset {offset})")]
    Encoding {
        /// The first byte that does not decode.
        byte: u8,
        /// Its offset, in bytes.
        offset: usize,
    },
    /// More bytes than the limit allows.
    #[error("{size_bytes} bytes, more than the limit of {limit_bytes}")]
    TooLarge {
        /// Size of the content.
        size_bytes: u64,
        /// The limit that was asked for.
        limit_bytes: u64,
    },
}

impl DecodeError {
    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotText { .. } => "NOT_TEXT",
            Self::Encoding { .. } => "ENCODING",
            Self::TooLarge { .. } => "TOO_LARGE",
        }
    }
}

/// Decodes `bytes` with the default size limit ([`DEFAULT_SIZE_LIMIT_BYTES`]).
///
/// # Errors
///
/// See [`decode_with_limit`].
pub fn decode(bytes: &[u8]) -> Result<Decoded, DecodeError> {
    decode_with_limit(bytes, DEFAULT_SIZE_LIMIT_BYTES)
}

/// Decodes `bytes` as UTF-8 and takes the byte order mark off.
///
/// # Errors
///
/// In this order: [`DecodeError::TooLarge`] above `limit_bytes`, [`DecodeError::NotText`] for a
/// NUL anywhere, [`DecodeError::Encoding`] for the first byte that is not UTF-8.
pub fn decode_with_limit(bytes: &[u8], limit_bytes: u64) -> Result<Decoded, DecodeError> {
    let size_bytes = bytes.len() as u64;
    if size_bytes > limit_bytes {
        return Err(DecodeError::TooLarge {
            size_bytes,
            limit_bytes,
        });
    }
    if let Some(offset) = memchr::memchr(0, bytes) {
        return Err(DecodeError::NotText { offset });
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let (text, bom) = match text.strip_prefix(BOM) {
                Some(rest) => (rest, true),
                None => (text, false),
            };
            Ok(Decoded {
                text: text.to_owned(),
                bom,
            })
        }
        Err(error) => {
            let offset = error.valid_up_to();
            Err(DecodeError::Encoding {
                byte: bytes[offset],
                offset,
            })
        }
    }
}

#[cfg(test)]
mod tests;
