//! A credential that cannot be printed by accident.

use std::fmt;

/// A credential. `Debug` shows only that there is one; it has no `Display` and no serialization.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a credential; surrounding white space (a newline from a file, say) is not part of it.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into().trim().to_owned())
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value, for the one header that carries it.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// The header that carries it as a bearer token; none when there is nothing in it.
    pub(crate) fn bearer(&self) -> Option<(&'static str, Self)> {
        (!self.is_empty()).then(|| ("authorization", Self(format!("Bearer {}", self.0))))
    }

    /// Returns `text` with every occurrence of the credential masked.
    ///
    /// Servers echo keys in their messages. A value too short to be a real key is left alone: it
    /// would mask ordinary words.
    pub fn mask(&self, text: &str) -> String {
        if self.0.len() < 4 {
            return text.to_owned();
        }
        text.replace(&self.0, "***")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}
