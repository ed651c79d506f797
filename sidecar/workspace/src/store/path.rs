//! Names in the durable store.

use super::StoreError;

/// A path below `.agentic`: components of letters, digits, `.`, `_` and `-` that do not start with a dot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorePath(String);

impl StorePath {
    /// Checks `path` (`/` between components).
    ///
    /// # Errors
    ///
    /// [`StoreError::BadPath`].
    pub fn new(path: impl Into<String>) -> Result<Self, StoreError> {
        let path = path.into();
        match path.split('/').find_map(problem) {
            None => Ok(Self(path)),
            Some(reason) => Err(StoreError::BadPath { path, reason }),
        }
    }

    /// `name` in this folder.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadPath`].
    pub fn join(&self, name: &str) -> Result<Self, StoreError> {
        Self::new(format!("{}/{name}", self.0))
    }

    /// The path as text, relative to `.agentic`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last component.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    pub(super) fn folder(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The folders above it, outermost first: each one's name and its path.
    pub(super) fn folders(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.match_indices('/').map(|(end, _)| {
            let path = &self.0[..end];
            (path.rsplit_once('/').map_or(path, |(_, name)| name), path)
        })
    }

    pub(super) fn with_suffix(&self, suffix: &str) -> Self {
        Self(format!("{}{suffix}", self.0))
    }
}

fn problem(component: &str) -> Option<&'static str> {
    match component.as_bytes() {
        [] => Some("a component is empty"),
        [b'.', ..] => Some("a component starts with a dot"),
        bytes if bytes.len() > 200 => Some("a component is longer than 200 bytes"),
        bytes
            if !bytes
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte)) =>
        {
            Some("a component holds another character than letters, digits, `.`, `_` and `-`")
        }
        _ => None,
    }
}
