//! A project's own configuration, `redline.toml` at its root, under the user's.
//!
//! It came with the project, and the project may have come from anybody. So it can narrow what the user allows, and nothing
//! else; whatever would widen it waits until the user trusts the file as it is (`redline trust`).
//!
//! | setting | untrusted | trusted |
//! |---|---|---|
//! | `permissions.mode`, `permissions.ceiling` | when it is the narrower | as it says |
//! | `permissions.deny`, `permissions.protected` | added | added |
//! | `permissions.allow`, `model` | waits | added; as it says |
//! | `providers.NAME` (addresses, names of keys) | waits | added, never in the place of the user's own of that name |
//! | `servers`, `hooks`, `commands` | waits | for whoever reads them |
//! | `sidecar`, `log`, `sandbox`, `env`, `budget`, `prices` | not read | not read |
//!
//! Owns the merge, which is pure. Must not know how the file is found, or where trust is kept.

use redline_tools::gate::Mode;
use std::{collections::BTreeMap, ops::Range, path::Path};
use toml::de::DeTable;

use super::permissions::Permissions;
use super::settings::PROJECT_SETTINGS;
use super::{Config, ModelRef, ProviderConfig, Reader};
use crate::failure::Failure;

/// The file's name.
pub const PROJECT_FILE: &str = "redline.toml";

/// Tables that start programs or reach servers.
const STARTING: &[&str] = &["servers", "hooks", "commands"];

/// Tables that are the user's alone.
const USERS: &[&str] = &["env", "sandbox", "sidecar", "log", "budget", "prices"];

/// What a project's file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectConfig {
    /// Permissions.
    pub permissions: Permissions,
    /// The model that the project would have.
    pub model: Option<ModelRef>,
    /// Endpoints by name.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// Tables that start programs or reach servers, with their places.
    pub starting: Vec<Waiting>,
    /// Unknown settings, with file and line.
    pub warnings: Vec<String>,
    places: Vec<(&'static str, String)>,
    /// In the order in which the providers were read.
    provider_places: Vec<String>,
}

/// Something that the file asks for and does not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its key.
    pub key: String,
    /// `FILE:LINE`.
    pub place: String,
    /// What it would do.
    pub what: String,
}

/// What holds in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// Permissions.
    pub permissions: Permissions,
    /// The model; none means the built-in recording.
    pub model: Option<ModelRef>,
    /// Endpoints by name.
    pub providers: BTreeMap<String, ProviderConfig>,
    /// What waits for the user's trust; empty when nothing does.
    pub waiting: Vec<Waiting>,
}

impl ProjectConfig {
    /// Reads the text of a project's file, which is named in errors as `file`.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENTS` with file and line; nothing of the file holds then.
    pub fn parse(text: &str, file: &Path) -> Result<Self, Failure> {
        let mut reader = Reader::new(text, file);
        let root = DeTable::parse(text).map_err(|error| {
            reader.fault(error.span().unwrap_or_default(), error.message().to_owned())
        })?;
        let mut config = Self::default();
        for (key, value) in root.get_ref() {
            match key.get_ref().as_ref() {
                "permissions" => {
                    config.permissions = reader.permissions(key, value)?;
                    for (inner, value) in reader.table(key, value)? {
                        config.note(&reader, inner.get_ref(), value.span());
                    }
                }
                "model" => {
                    let name = reader.text(key, value)?;
                    let model = ModelRef::parse(name).ok_or_else(|| {
                        reader.fault(
                            value.span(),
                            format!("model = {name:?} is not PROVIDER/MODEL"),
                        )
                    })?;
                    config.model = Some(model);
                    config.note(&reader, "model", value.span());
                }
                "providers" => {
                    for (name, table) in reader.table(key, value)? {
                        let provider = reader.provider(name, table)?;
                        config.provider_places.push(reader.place(&name.span()));
                        config
                            .providers
                            .insert(name.get_ref().to_string(), provider);
                    }
                }
                name if STARTING.contains(&name) => config.starting.push(Waiting {
                    key: name.to_owned(),
                    place: reader.place(&key.span()),
                    what: format!("all of [{name}], which starts programs or reaches servers"),
                }),
                name if USERS.contains(&name) => {
                    let what = format!(
                        "[{name}] is yours to set, in your own configuration; a project's is not read"
                    );
                    reader.warn(&key.span(), &what);
                }
                _ => reader.unknown("", key, PROJECT_SETTINGS),
            }
        }
        config.warnings = reader.into_warnings();
        Ok(config)
    }

    /// What holds in the project, for a user with these settings; `is_trusted` when they trust the file as it is.
    pub fn under(&self, user: &Config, is_trusted: bool) -> Merged {
        let own = &self.permissions;
        let users = user;
        let user = &users.permissions;
        let mut merged = Merged {
            permissions: user.clone(),
            model: users.model.clone(),
            providers: users.providers.clone(),
            waiting: Vec::new(),
        };
        if !is_trusted {
            merged.waiting.extend(self.starting.iter().cloned());
        }
        for ((name, provider), place) in self.providers.iter().zip(&self.provider_places) {
            let mut what = match (&provider.base_url, &provider.file) {
                (Some(url), _) => format!("the endpoint {url}"),
                (None, Some(_)) => "a recording".to_owned(),
                (None, None) => "the vendor's own endpoint".to_owned(),
            };
            if let Some(variable) = &provider.api_key_env {
                what.push_str(&format!(", which is sent what {variable} holds"));
            }
            if is_trusted {
                // The user's own keys go where the user said, whatever a project calls its endpoints.
                merged
                    .providers
                    .entry(name.clone())
                    .or_insert_with(|| provider.clone());
            } else {
                merged.waiting.push(Waiting {
                    key: format!("providers.{name}"),
                    place: place.clone(),
                    what,
                });
            }
        }
        let permissions = &mut merged.permissions;
        permissions.protected.extend(own.protected.iter().cloned());
        permissions
            .rules
            .deny
            .extend(own.rules.deny.iter().cloned());
        let mut wait = |key: &'static str, what: String| {
            merged.waiting.push(Waiting {
                key: format!("{}{key}", if key == "model" { "" } else { "permissions." }),
                place: self.place_of(key),
                what,
            });
        };
        if let Some(mode) = own.mode {
            if is_trusted || width(mode) <= width(user.mode()) {
                permissions.mode = Some(mode);
            } else {
                wait("mode", format!("mode {mode} in place of {}", user.mode()));
            }
        }
        if let Some(ceiling) = own.ceiling {
            let highest = user.ceiling.unwrap_or_default();
            if is_trusted || ceiling <= highest {
                permissions.ceiling = Some(ceiling);
            } else {
                wait(
                    "ceiling",
                    format!("the ceiling {ceiling} in place of {highest}"),
                );
            }
        }
        if is_trusted {
            permissions
                .rules
                .allow
                .extend(own.rules.allow.iter().cloned());
        } else if !own.rules.allow.is_empty() {
            let rules: Vec<String> = own.rules.allow.iter().map(ToString::to_string).collect();
            wait("allow", format!("allowed unasked: {}", rules.join("; ")));
        }
        if let Some(model) = &self.model {
            if is_trusted {
                merged.model = Some(model.clone());
            } else {
                wait("model", format!("the model {model}"));
            }
        }
        merged
    }

    fn note(&mut self, reader: &Reader<'_>, key: &str, at: Range<usize>) {
        let known = ["mode", "ceiling", "allow", "model"];
        if let Some(&known) = known.iter().find(|known| **known == key) {
            self.places.push((known, reader.place(&at)));
        }
    }

    fn place_of(&self, key: &str) -> String {
        let found = self.places.iter().find(|(known, _)| *known == key);
        found.map_or_else(|| PROJECT_FILE.to_owned(), |(_, place)| place.clone())
    }
}

/// How much a mode lets through: in `plan` nothing before a plan is approved, in `manual` nothing unasked.
pub(crate) fn width(mode: Mode) -> u8 {
    match mode {
        Mode::Plan => 0,
        Mode::Manual => 1,
        Mode::Auto => 2,
    }
}

#[cfg(test)]
mod tests;
