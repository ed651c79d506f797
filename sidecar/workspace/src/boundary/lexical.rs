//! The part of the boundary that needs no disk: what the text of a path may be.
//!
//! ```text
//! admitted  = component *( "/" component )      after "." is dropped, ".." applied, "//" collapsed
//! refused   : empty, "." , NUL and control characters, a trailing "/"            -> BAD_PATH
//!             ".." beyond the root, a leading "/", "~" or drive letter, and any
//!             form that leaves once "\" is read as a separator                   -> OUTSIDE_WORKSPACE
//! ```

use std::fmt;

use super::PathError;

/// Longest path admitted, in bytes: Linux's `PATH_MAX`.
const LONGEST: usize = 4096;

/// A path inside one workspace: `/`-separated UTF-8 components, not empty, no `.` or `..`.
///
/// Holding one is the proof that the check ran: only admission by [`crate::WorkspaceRoot`] makes them.
/// It says nothing yet about what the disk holds there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath(String);

impl WorkspacePath {
    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component.
    pub fn name(&self) -> &str {
        self.split().1
    }

    /// The folder that holds it, `""` for the root.
    pub fn folder(&self) -> &str {
        self.split().0
    }

    /// Its components, outermost first.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// Whether it lies in `folder` (`""`: always) or is it.
    pub fn is_below(&self, folder: &str) -> bool {
        folder.is_empty()
            || self
                .0
                .strip_prefix(folder)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn split(&self) -> (&str, &str) {
        self.0.rsplit_once('/').unwrap_or(("", &self.0))
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which separators and prefixes paths have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRules {
    /// `/` alone separates, case counts.
    Posix,
    /// `\` separates too; drive letters, reserved names and streams exist.
    Windows,
}

impl PathRules {
    /// The rules of the platform this was built for.
    pub const NATIVE: PathRules = if cfg!(windows) {
        PathRules::Windows
    } else {
        PathRules::Posix
    };
}

/// Admits the path of a file.
pub(super) fn admit(raw: &str, rules: PathRules) -> Result<WorkspacePath, PathError> {
    let bad = |reason: &str| PathError::BadPath {
        path: raw.into(),
        reason: reason.into(),
    };
    if raw.is_empty() {
        return Err(bad("it is empty"));
    }
    if raw.ends_with('/') {
        check_containment(raw, rules)?;
        return Err(bad("it names a folder; a file is needed"));
    }
    let path = normalise(raw, rules)?;
    if path.is_empty() {
        return Err(bad("it names the workspace itself; a file is needed"));
    }
    Ok(WorkspacePath(path))
}

/// Admits the path of a folder; the workspace itself (`""`, `.`, `./`) is `None`.
pub(super) fn admit_folder(
    raw: &str,
    rules: PathRules,
) -> Result<Option<WorkspacePath>, PathError> {
    if raw.is_empty() {
        return Ok(None);
    }
    let path = normalise(raw, rules)?;
    Ok(if path.is_empty() {
        None
    } else {
        Some(WorkspacePath(path))
    })
}

fn check_containment(raw: &str, rules: PathRules) -> Result<(), PathError> {
    normalise(raw, rules).map(drop)
}

fn normalise(raw: &str, rules: PathRules) -> Result<String, PathError> {
    let bad = |reason: &str| PathError::BadPath {
        path: raw.into(),
        reason: reason.into(),
    };
    let outside = |reason: &str| PathError::Outside {
        path: raw.into(),
        reason: reason.into(),
    };
    if raw.len() > LONGEST {
        return Err(bad("it is longer than 4096 bytes"));
    }
    if raw.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
        return Err(bad("it holds a control character"));
    }
    if !raw.contains('\\') {
        return resolve(raw, rules);
    }
    // A backslash is a separator on some systems and a letter on others. Read as a separator it must not
    // leave, and then it is admitted only where it is one.
    if raw.starts_with('\\') {
        return Err(outside("it is an absolute path"));
    }
    let path = resolve(&raw.replace('\\', "/"), rules).map_err(|error| match error {
        PathError::Outside { reason, .. } => outside(&reason),
        other => other,
    })?;
    match rules {
        PathRules::Windows => Ok(path),
        PathRules::Posix => Err(bad("it holds a backslash")),
    }
}

/// Applies `.` and `..`; what goes above the root, or starts elsewhere, is outside.
fn resolve(path: &str, rules: PathRules) -> Result<String, PathError> {
    let outside = |reason: &str| PathError::Outside {
        path: path.into(),
        reason: reason.into(),
    };
    if path.starts_with('/') {
        return Err(outside("it is an absolute path"));
    }
    let first = path.split('/').next().unwrap_or_default();
    if first == "~" || (first.starts_with('~') && first.len() < path.len()) {
        return Err(outside("`~` stands for a home folder"));
    }
    if let [letter, b':', ..] = first.as_bytes()
        && letter.is_ascii_alphabetic()
    {
        return Err(outside("it starts with a drive letter"));
    }
    let mut normal = String::with_capacity(path.len());
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => match normal.rfind('/') {
                Some(slash) => normal.truncate(slash),
                None if !normal.is_empty() => normal.clear(),
                None => return Err(outside("`..` leads above the root")),
            },
            _ => {
                if component.len() > 255 {
                    return Err(PathError::BadPath {
                        path: path.into(),
                        reason: "a name in it is longer than 255 bytes".into(),
                    });
                }
                if rules == PathRules::Windows {
                    check_windows_name(path, component)?;
                }
                if !normal.is_empty() {
                    normal.push('/');
                }
                normal.push_str(component);
            }
        }
    }
    // `a/../~/x` and `a/../C:/x` only look relative once the parent is applied.
    if normal.len() != path.len()
        && (normal.starts_with('~') || normal.as_bytes().get(1) == Some(&b':'))
    {
        return resolve(&normal, rules);
    }
    Ok(normal)
}

/// Names that Windows reads as something other than a file of that name.
fn check_windows_name(path: &str, name: &str) -> Result<(), PathError> {
    let bad = |reason: &str| PathError::BadPath {
        path: path.into(),
        reason: format!("`{name}` {reason}"),
    };
    if name.contains(['<', '>', ':', '"', '|', '?', '*']) {
        return Err(bad("holds a character that names cannot have"));
    }
    if name.ends_with(['.', ' ']) {
        return Err(bad("ends in a dot or a space"));
    }
    let stem = name
        .split('.')
        .next()
        .unwrap_or_default()
        .trim_end()
        .to_ascii_uppercase();
    let is_port = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| {
            let mut rest = rest.chars();
            matches!(
                (rest.next(), rest.next()),
                (Some('0'..='9' | '¹' | '²' | '³'), None)
            )
        })
    };
    if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(&stem.as_str())
        || is_port("COM")
        || is_port("LPT")
    {
        return Err(bad("is the name of a device"));
    }
    Ok(())
}
