//! The environment of a client's process: what its sessions read keys from and run commands in.
//!
//! Owns: taking it once, and keeping its values out of logs.
//! Must not know: which variables matter to whom.
#![expect(
    clippy::disallowed_methods,
    reason = "the server is where the environment is read"
)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Names and values. `Debug` shows no value, since many are secrets.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Env(BTreeMap<String, String>);

impl Env {
    /// That of this process, without what is not UTF-8.
    pub fn of_process() -> Self {
        let named = std::env::vars_os().filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            Some((name, value.into_string().ok()?))
        });
        Self(named.collect())
    }

    /// All of it.
    pub fn iter(&self) -> impl Iterator<Item = (String, String)> {
        self.0
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
    }

    /// The value of `name`; an empty one counts as none.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }
}

impl From<BTreeMap<String, String>> for Env {
    fn from(named: BTreeMap<String, String>) -> Self {
        Self(named)
    }
}

impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Env({} variables)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_shown() {
        let env = Env::from(BTreeMap::from([
            ("KEY".to_owned(), "secret".to_owned()),
            ("EMPTY".to_owned(), String::new()),
        ]));
        assert_eq!((env.get("KEY"), env.get("EMPTY")), (Some("secret"), None));
        assert_eq!(format!("{env:?}"), "Env(2 variables)");
    }
}
