//! The env of a session: what its commands see, where each value comes from, and which values are secrets.
//!
//! ```text
//! inherited   of the client that opened the session, reduced to names that programs need ([`is_inherited`])
//! < .env      of the workspace, when it is trusted; never expanded, never run
//! < options   of the session
//! < set, patch while it runs; taken at the next step
//! ```
//!
//! A step takes one [`EnvSnapshot`] and keeps it to its end. A snapshot knows where each value comes from, so
//! keys and base URLs are never taken from a workspace's `.env` ([`EnvSnapshot::of_user`]). A [`Masker`]
//! takes the values of secrets out of all that is kept or sent.

mod dotenv;
mod mask;
mod reduce;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use dotenv::{DotEnv, DotEnvProblem, DotEnvState, parse_dotenv, read_dotenv};
pub use mask::{MaskStream, Masker, is_secret_name};
pub use reduce::is_inherited;

/// Longest value, in bytes.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// Most variables of one layer.
const MAX_VARIABLES: usize = 4096;

/// Where a value comes from, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EnvSource {
    /// The client's own env.
    Inherited,
    /// The workspace's `.env`.
    DotEnv,
    /// The session's options.
    Options,
    /// `set_env` or `patch_env`.
    Patch,
}

/// A change that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the variable {name:?}: {reason}")]
pub struct EnvError {
    /// Its name.
    pub name: String,
    /// What is wrong; never with the value.
    pub reason: &'static str,
}

impl EnvError {
    /// The error code.
    pub fn code(&self) -> &'static str {
        "INVALID_ARGUMENTS"
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        "names are letters, digits and `_`, not starting with a digit; values are text without NUL, 64 KiB at most"
    }
}

/// The env of one session, in layers.
#[derive(Debug, Clone, Default)]
pub struct SessionEnv {
    inherited: BTreeMap<String, String>,
    dot_env: BTreeMap<String, String>,
    options: BTreeMap<String, String>,
    /// `None` takes a variable away, whatever the layers below say.
    patch: BTreeMap<String, Option<String>>,
}

impl SessionEnv {
    /// The env of a session whose client has the variables `inherited`; those that commands do not need are
    /// left out, and so are names and values that no program could be given.
    pub fn new(inherited: impl IntoIterator<Item = (String, String)>) -> Self {
        let inherited = inherited
            .into_iter()
            .filter(|(name, value)| is_inherited(name) && check(name, value).is_ok())
            .collect();
        Self {
            inherited,
            ..Self::default()
        }
    }

    /// Takes what a `.env` says, in place of what it said before.
    pub fn use_dotenv(&mut self, dot_env: &DotEnv) {
        self.dot_env = dot_env.variables.clone();
    }

    /// Sets the session's options.
    ///
    /// # Errors
    ///
    /// [`EnvError`]; nothing is changed then.
    pub fn set_options(&mut self, options: BTreeMap<String, String>) -> Result<(), EnvError> {
        check_all(options.iter().map(|(name, value)| (name, Some(value))))?;
        self.options = options;
        Ok(())
    }

    /// Replaces all that was set or patched before.
    ///
    /// # Errors
    ///
    /// [`EnvError`]; nothing is changed then.
    pub fn set_env(&mut self, variables: BTreeMap<String, String>) -> Result<(), EnvError> {
        check_all(variables.iter().map(|(name, value)| (name, Some(value))))?;
        self.patch = variables
            .into_iter()
            .map(|(name, value)| (name, Some(value)))
            .collect();
        Ok(())
    }

    /// Changes some variables; `None` takes one away.
    ///
    /// # Errors
    ///
    /// [`EnvError`]; nothing is changed then.
    pub fn patch_env(&mut self, changes: BTreeMap<String, Option<String>>) -> Result<(), EnvError> {
        check_all(changes.iter().map(|(name, value)| (name, value.as_ref())))?;
        self.patch.extend(changes);
        Ok(())
    }

    /// The env as it is now, for one step.
    pub fn snapshot(&self) -> Arc<EnvSnapshot> {
        let mut variables = BTreeMap::new();
        let layers = [
            (EnvSource::Inherited, &self.inherited),
            (EnvSource::DotEnv, &self.dot_env),
            (EnvSource::Options, &self.options),
        ];
        for (source, layer) in layers {
            for (name, value) in layer {
                variables.insert(name.clone(), (value.clone(), source));
            }
        }
        for (name, value) in &self.patch {
            match value {
                Some(value) => {
                    variables.insert(name.clone(), (value.clone(), EnvSource::Patch));
                }
                None => {
                    variables.remove(name);
                }
            }
        }
        Arc::new(EnvSnapshot::new(variables))
    }
}

/// The env of one step. Its `Debug` shows names only.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct EnvSnapshot {
    variables: BTreeMap<String, (String, EnvSource)>,
}

impl EnvSnapshot {
    fn new(variables: BTreeMap<String, (String, EnvSource)>) -> Self {
        Self { variables }
    }

    /// This env with a command's own variables over it.
    ///
    /// # Errors
    ///
    /// [`EnvError`].
    pub fn with(&self, own: &BTreeMap<String, String>) -> Result<Self, EnvError> {
        check_all(own.iter().map(|(name, value)| (name, Some(value))))?;
        let mut variables = self.variables.clone();
        for (name, value) in own {
            variables.insert(name.clone(), (value.clone(), EnvSource::Patch));
        }
        Ok(Self::new(variables))
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|(value, _)| value.as_str())
    }

    /// The value of a variable that the user gave, not the workspace's `.env`: for keys and base URLs.
    pub fn of_user(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .filter(|(_, source)| *source != EnvSource::DotEnv)
            .map(|(value, _)| value.as_str())
    }

    /// All variables in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str, EnvSource)> {
        self.variables
            .iter()
            .map(|(name, (value, source))| (name.as_str(), value.as_str(), *source))
    }
}

impl std::fmt::Debug for EnvSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

fn check_all<'a>(
    variables: impl ExactSizeIterator<Item = (&'a String, Option<&'a String>)>,
) -> Result<(), EnvError> {
    if variables.len() > MAX_VARIABLES {
        return Err(EnvError {
            name: "…".to_owned(),
            reason: "there are more than 4096",
        });
    }
    for (name, value) in variables {
        check(name, value.map_or("", String::as_str))?;
    }
    Ok(())
}

fn check(name: &str, value: &str) -> Result<(), EnvError> {
    let reason = if !is_name(name) {
        "this cannot be a name"
    } else if value.contains('\0') {
        "its value holds NUL"
    } else if value.len() > MAX_VALUE_BYTES {
        "its value is longer than 64 KiB"
    } else {
        return Ok(());
    };
    Err(EnvError {
        name: name.chars().take(80).collect(),
        reason,
    })
}

/// Letters, digits and `_`, not starting with a digit.
fn is_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() <= 256
        && name.bytes().all(is_word)
        && name
            .bytes()
            .next()
            .is_some_and(|byte| !byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn session() -> SessionEnv {
        let mut env = SessionEnv::new(map(&[
            ("PATH", "/bin"),
            ("HOME", "/h"),
            ("MY_API_KEY", "k"),
            ("A", "inherited"),
        ]));
        env.use_dotenv(&DotEnv {
            variables: map(&[("A", "file"), ("B", "file"), ("C", "file"), ("D", "file")]),
            ..DotEnv::default()
        });
        env.set_options(map(&[("B", "options"), ("C", "options")]))
            .unwrap();
        env.patch_env(BTreeMap::from([
            ("C".into(), Some("patch".into())),
            ("D".into(), None),
        ]))
        .unwrap();
        env
    }

    #[test]
    fn later_layers_win_and_say_so() {
        let now = session().snapshot();
        let seen: Vec<_> = now.iter().collect();
        assert_eq!(
            seen,
            [
                ("A", "file", EnvSource::DotEnv),
                ("B", "options", EnvSource::Options),
                ("C", "patch", EnvSource::Patch),
                ("HOME", "/h", EnvSource::Inherited),
                ("PATH", "/bin", EnvSource::Inherited),
            ]
        );
        assert_eq!(
            (now.get("A"), now.of_user("A"), now.of_user("C")),
            (Some("file"), None, Some("patch"))
        );
        assert!(!format!("{now:?}").contains("patch"), "names only");
    }

    #[test]
    fn a_snapshot_stays_as_it_was_taken() {
        let mut env = session();
        let before = env.snapshot();
        env.set_env(map(&[("E", "set")])).unwrap();
        let after = env.snapshot();
        assert_eq!((before.get("C"), before.get("E")), (Some("patch"), None));
        assert_eq!(
            (after.get("C"), after.get("D"), after.get("E")),
            (Some("options"), Some("file"), Some("set"))
        );
        assert_eq!(session().snapshot(), before);
        let own = before.with(&map(&[("PATH", "/own")])).unwrap();
        assert_eq!(
            (own.get("PATH"), own.get("C")),
            (Some("/own"), Some("patch"))
        );
    }

    #[test]
    fn what_no_program_could_be_given_is_refused_whole() {
        let mut env = session();
        let before = env.snapshot();
        let huge = "x".repeat(MAX_VALUE_BYTES + 1);
        for (name, value) in [
            ("", "x"),
            ("1A", "x"),
            ("A=B", "x"),
            ("A B", "x"),
            ("N", "a\0b"),
            ("H", huge.as_str()),
        ] {
            let error = env
                .set_env(map(&[("GOOD", "x"), (name, value)]))
                .unwrap_err();
            assert_eq!(error.code(), "INVALID_ARGUMENTS");
            assert!(!error.to_string().contains("xx"), "{error}");
        }
        assert_eq!(env.snapshot(), before);
    }
}
