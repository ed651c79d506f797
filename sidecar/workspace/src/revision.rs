//! The identity of a content on disk, as text.

/// The revision of `bytes` in hex.
pub(crate) fn revision(bytes: &[u8]) -> String {
    redline_edits::revision(bytes).to_string()
}
