//! Document URIs and paths: decoded once, then only paths are compared.
//!
//! Editors spell one document in many ways: `c%3A` or `C:`, `ü` or `%C3%BC`. Whatever the spelling, one file
//! has one path. Neither direction looks at the disk.

use crate::boundary::{PathError, PathRules, WorkspacePath, WorkspaceRoot};

/// The absolute path that a `file:` URI names, with `/` between folders; on Windows the drive letter is
/// upper case.
///
/// A raw `?` or `#` counts as part of the name: no editor sends a query or fragment with a document, and
/// cutting it off would name another file.
///
/// # Errors
///
/// [`PathError::BadPath`] for another scheme or bytes that are no text, [`PathError::Outside`] for another
/// host.
pub fn uri_to_path(uri: &str, rules: PathRules) -> Result<String, PathError> {
    let bad = |reason: &str| PathError::BadPath {
        path: uri.into(),
        reason: reason.into(),
    };
    let rest = match uri.split_once(':') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("file") => rest,
        _ => return Err(bad("it is not a file: URI")),
    };
    let encoded = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return Err(PathError::Outside {
                    path: uri.into(),
                    reason: format!("it is on the host {host}"),
                });
            }
            path
        }
    };
    if !encoded.starts_with('/') {
        return Err(bad("its path is not absolute"));
    }
    let path =
        String::from_utf8(decode(encoded)).map_err(|_| bad("it does not decode to UTF-8"))?;
    if path.contains('\0') {
        return Err(bad("it holds a NUL"));
    }
    match rules {
        PathRules::Posix => Ok(path),
        PathRules::Windows => windows_path(&path).ok_or_else(|| bad("it has no drive letter")),
    }
}

/// The `file:` URI of an absolute path with `/` between folders.
pub fn path_to_uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len() + 16);
    uri.push_str("file://");
    if !path.starts_with('/') {
        uri.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into())
            }
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                uri.push('%');
                uri.push(DIGITS[usize::from(byte >> 4)].into());
                uri.push(DIGITS[usize::from(byte & 15)].into());
            }
        }
    }
    uri
}

/// Decodes `%XX` once; a `%` that starts none stays.
fn decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digit = |offset: usize| {
            bytes
                .get(at + offset)
                .and_then(|&byte| char::from(byte).to_digit(16))
        };
        match (bytes[at], digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}

/// `/c:/w/x` as `C:/w/x`; `None` without a drive letter.
fn windows_path(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    match path.as_bytes() {
        [b'/', drive, b':', b'/', ..] if drive.is_ascii_alphabetic() => Some(format!(
            "{}:{}",
            char::from(drive.to_ascii_uppercase()),
            &path[3..]
        )),
        _ => None,
    }
}

impl WorkspaceRoot {
    /// Admits the document that `uri` names.
    ///
    /// # Errors
    ///
    /// As [`uri_to_path`] and [`WorkspaceRoot::admit_absolute`].
    pub fn admit_uri(&self, uri: &str) -> Result<WorkspacePath, PathError> {
        let path = uri_to_path(uri, self.options().rules)?;
        self.admit_absolute(std::path::Path::new(&path))
    }

    /// The URI of `path`, for documents that no editor has named yet.
    pub fn uri(&self, path: &WorkspacePath) -> String {
        let absolute = self.absolute(path);
        match self.options().rules {
            PathRules::Posix => path_to_uri(&absolute.to_string_lossy()),
            PathRules::Windows => path_to_uri(&absolute.to_string_lossy().replace('\\', "/")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_document_has_one_path() {
        use PathRules::{Posix, Windows};
        let rows: &[(&str, PathRules, &str)] = &[
            ("file:///w/a%20b.txt", Posix, "/w/a b.txt"),
            ("file:///w/100%25.txt", Posix, "/w/100%.txt"),
            ("file:///w/%2525.txt", Posix, "/w/%25.txt"),
            ("file:///w/100%.txt", Posix, "/w/100%.txt"),
            ("file:///w/%C3%BC.txt", Posix, "/w/ü.txt"),
            ("file:///w/%c3%bc.txt", Posix, "/w/ü.txt"),
            ("file:///w/ü.txt", Posix, "/w/ü.txt"),
            ("file:///w/c%23/x.cs", Posix, "/w/c#/x.cs"),
            ("file:///w/c#/x.cs", Posix, "/w/c#/x.cs"),
            ("file:///w/a?b", Posix, "/w/a?b"),
            ("FILE:///w/x", Posix, "/w/x"),
            ("file:/w/x", Posix, "/w/x"),
            ("file://localhost/w/x", Posix, "/w/x"),
            ("file:///c%3A/w/x.txt", Posix, "/c:/w/x.txt"),
            ("file:///c%3A/w/x.txt", Windows, "C:/w/x.txt"),
            ("file:///c%3a/w/x.txt", Windows, "C:/w/x.txt"),
            ("file:///C:/w/x.txt", Windows, "C:/w/x.txt"),
            ("file:///c:/w/x.txt", Windows, "C:/w/x.txt"),
            ("file:///c:/w%5Cx.txt", Windows, "C:/w/x.txt"),
        ];
        for (uri, rules, path) in rows {
            assert_eq!(uri_to_path(uri, *rules).unwrap(), *path, "{uri}");
        }
    }

    #[test]
    fn other_documents_have_none() {
        let rows = [
            ("untitled:Untitled-1", "BAD_PATH"),
            ("http://h/w/x", "BAD_PATH"),
            ("/w/x", "BAD_PATH"),
            ("file:x", "BAD_PATH"),
            ("file://", "BAD_PATH"),
            ("", "BAD_PATH"),
            ("file:///w/%00", "BAD_PATH"),
            ("file:///w/%ff", "BAD_PATH"),
            ("file://host/share/x", "OUTSIDE_WORKSPACE"),
        ];
        for (uri, code) in rows {
            assert_eq!(
                uri_to_path(uri, PathRules::Posix).unwrap_err().code(),
                code,
                "{uri}"
            );
        }
        assert!(uri_to_path("file:///w/x", PathRules::Windows).is_err());
    }

    proptest! {
        #[test]
        fn a_path_survives_its_uri(path in "/[^\0]{0,40}") {
            prop_assert_eq!(uri_to_path(&path_to_uri(&path), PathRules::Posix).unwrap(), path);
        }

        #[test]
        fn any_text_gives_a_path_or_an_error(uri in ".{0,60}") {
            let _ = uri_to_path(&uri, PathRules::Posix);
            let _ = uri_to_path(&format!("file://{uri}"), PathRules::Windows);
        }
    }
}
