//! Paths of a proposal, as text.

use super::FileError;

/// Gives a relative path its one spelling: `/` between parts, no `.`, no `..`.
///
/// # Errors
///
/// `BAD_PATH` for an empty path, the root itself and control characters; `OUTSIDE_WORKSPACE` for
/// what leaves the root, is absolute in any system's way, or starts with `~`.
pub fn normalize_path(path: &str) -> Result<String, FileError> {
    let bad = |why: &str| {
        Err(FileError::new(
            "BAD_PATH",
            format!("{path:?} is no path of a file: {why}"),
            "name a file by its path relative to the workspace",
        ))
    };
    let outside = |why: &str| {
        Err(FileError::new(
            "OUTSIDE_WORKSPACE",
            format!("{path:?} is outside the workspace: {why}"),
            "name a file by its path relative to the workspace",
        ))
    };
    if path.is_empty() {
        return bad("it is empty");
    }
    if path.chars().any(char::is_control) {
        return bad("it holds a control character");
    }
    if path.starts_with(['/', '\\']) || path.starts_with("file:") {
        return outside("it is absolute");
    }
    let mut start = path.chars();
    if let (Some(drive), Some(':')) = (start.next(), start.next())
        && drive.is_ascii_alphabetic()
    {
        return outside("it names a drive");
    }
    if path == "~" || path.starts_with("~/") || path.starts_with("~\\") {
        return outside("~ is not expanded");
    }
    if path.contains('\\') {
        return match path.split(['/', '\\']).any(|part| part == "..") {
            true => outside("it goes up with backslashes"),
            false => bad("it holds a backslash"),
        };
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return outside("it goes above the root");
                }
            }
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return bad("it is the workspace itself");
    }
    if path.ends_with('/') {
        return bad("it ends in a slash, as only a folder's does");
    }
    Ok(parts.join("/"))
}

/// The path that a link at `link` leads to; `None` when that is not inside.
pub(super) fn join_link(link: &str, target: &str) -> Option<String> {
    let folder = link.rsplit_once('/').map_or("", |(folder, _)| folder);
    if target.starts_with('/') {
        return None;
    }
    normalize_path(format!("{folder}/{target}").trim_start_matches('/')).ok()
}

/// All folders above a path, nearest first.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(path.rsplit_once('/').map(|(folder, _)| folder), |folder| {
        folder.rsplit_once('/').map(|(above, _)| above)
    })
}
