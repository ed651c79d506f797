//! The identity of a content on disk.

/// The revision of `bytes`: their BLAKE3 hash in hex.
pub(crate) fn revision(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
