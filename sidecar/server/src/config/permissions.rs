//! The `[permissions]` table: how much the agent may do by itself.
//!
//! ```toml
//! [permissions]
//! mode = "manual"                     # or "plan", "auto"
//! ceiling = "workspace"               # or "none", "reversible", "outside": the highest class that runs unasked
//! protected = ["*.pem", "deploy/**"]  # nothing writes these, whoever approves it
//! allow = [
//!     { command = "git log" },                                # a line of whole words, or ["git", "log"]
//!     { command = ["just", "test"], class = "workspace" },    # what you know of it counts
//!     { kind = "web", hosts = ["docs.rs", "*.python.org"] },
//!     { kind = "transaction", paths = ["docs/**"] },
//! ]
//! deny = [{ command = "git push" }, { paths = ["secrets/**"] }]
//! ```
//!
//! What a rule matches is told in `redline_tools::gate`.

use redline_tools::gate::{Ceiling, CommandSpec, Mode, Policy, RuleSpec, RulesSpec, UnknownWord};
use redline_tools::{Class, MutationKind};
use redline_workspace::WorkspaceRoot;
use std::str::FromStr;
use toml::{Spanned, de::DeArray, de::DeValue};

use super::settings::{RULE_SETTINGS, SETTINGS};
use super::{Key, Reader, Value};
use crate::failure::Failure;

/// What the user lets the agent do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions {
    /// The mode that sessions start in.
    pub mode: Option<Mode>,
    /// The highest class that runs unasked.
    pub ceiling: Option<Ceiling>,
    /// Globs of paths that nothing writes.
    pub protected: Vec<String>,
    /// Allow and deny rules.
    pub rules: RulesSpec,
}

impl Permissions {
    /// The mode that sessions start in.
    pub fn mode(&self) -> Mode {
        self.mode.unwrap_or_default()
    }

    /// The policy at the gate. A rule that makes no sense was refused when the file was read; should one be left all the same,
    /// nothing is allowed by any.
    pub fn policy(&self) -> Policy {
        let ceiling = self.ceiling.unwrap_or_default();
        Policy::new(ceiling, &self.rules).unwrap_or_else(|_| Policy {
            ceiling: Ceiling::None,
            ..Policy::default()
        })
    }
}

impl Reader<'_> {
    pub(super) fn permissions(
        &mut self,
        name: &Key<'_>,
        table: &Value<'_>,
    ) -> Result<Permissions, Failure> {
        let mut permissions = Permissions::default();
        for (key, value) in self.table(name, table)? {
            match key.get_ref().as_ref() {
                "mode" => permissions.mode = Some(self.word(key, value)?),
                "ceiling" => permissions.ceiling = Some(self.word(key, value)?),
                "protected" => permissions.protected = self.globs(key, value)?,
                "allow" => permissions.rules.allow = self.rules(key, value)?,
                "deny" => permissions.rules.deny = self.rules(key, value)?,
                _ => self.unknown("permissions.", key, SETTINGS),
            }
        }
        self.check_rules(table, &permissions.rules)?;
        Ok(permissions)
    }

    /// Compiles the rules once, for the errors.
    fn check_rules(&self, table: &Value<'_>, rules: &RulesSpec) -> Result<(), Failure> {
        let Err(error) = Policy::new(Ceiling::default(), rules) else {
            return Ok(());
        };
        let DeValue::Table(table) = table.get_ref() else {
            return Ok(());
        };
        let list = table.get(error.list).map(Spanned::get_ref);
        let at = match list {
            Some(DeValue::Array(rules)) => rules.get(error.index).map(Spanned::span),
            _ => None,
        };
        Err(self.fault(
            at.unwrap_or_default(),
            format!("permissions.{}: {}", error.list, error.message),
        ))
    }

    fn rules(&mut self, key: &Key<'_>, value: &Value<'_>) -> Result<Vec<RuleSpec>, Failure> {
        let mut rules = Vec::new();
        for rule in self.list(key, value)? {
            rules.push(self.rule(key, rule)?);
        }
        Ok(rules)
    }

    fn rule(&mut self, list: &Key<'_>, rule: &Value<'_>) -> Result<RuleSpec, Failure> {
        let DeValue::Table(table) = rule.get_ref() else {
            return Err(self.wrong_type(list, rule, "tables like { command = \"git log\" }"));
        };
        let mut spec = RuleSpec::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "tool" => spec.tool = Some(self.text(key, value)?.to_owned()),
                "kind" => spec.kind = Some(self.word::<MutationKind>(key, value)?),
                "class" => spec.class = Some(self.word::<Class>(key, value)?),
                "command" => {
                    spec.command = Some(match value.get_ref() {
                        DeValue::String(line) => CommandSpec::Line(line.to_string()),
                        _ => CommandSpec::Tokens(self.texts(key, value)?),
                    });
                }
                "paths" => spec.paths = self.texts(key, value)?,
                "hosts" => spec.hosts = self.texts(key, value)?,
                // A rule with a typing error could forbid, or allow, something else than was meant.
                name => {
                    let known = RULE_SETTINGS.iter().map(|setting| setting.key);
                    let near = super::settings::nearest(name, known)
                        .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
                    let what = format!(
                        "a rule of permissions.{} has no {name:?}{near}",
                        list.get_ref()
                    );
                    return Err(self.fault(key.span(), what));
                }
            }
        }
        Ok(spec)
    }

    fn word<T: FromStr<Err = UnknownWord>>(
        &self,
        key: &Key<'_>,
        value: &Value<'_>,
    ) -> Result<T, Failure> {
        let text = self.text(key, value)?;
        text.parse()
            .map_err(|error| self.fault(value.span(), format!("{}: {error}", key.get_ref())))
    }

    fn list<'v, 't>(
        &self,
        key: &Key<'_>,
        value: &'v Value<'t>,
    ) -> Result<&'v DeArray<'t>, Failure> {
        match value.get_ref() {
            DeValue::Array(list) => Ok(list),
            _ => Err(self.wrong_type(key, value, "a list")),
        }
    }

    /// Globs of paths, each of which parses.
    fn globs(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Vec<String>, Failure> {
        let fault = |at, error| self.fault(at, format!("permissions.protected: {error}"));
        for item in self.list(key, value)? {
            let glob = self.text(key, item)?.to_owned();
            WorkspaceRoot::check_protected(&[glob]).map_err(|error| fault(item.span(), error))?;
        }
        let globs = self.texts(key, value)?;
        WorkspaceRoot::check_protected(&globs).map_err(|error| fault(value.span(), error))?;
        Ok(globs)
    }

    fn texts(&self, key: &Key<'_>, value: &Value<'_>) -> Result<Vec<String>, Failure> {
        let list = self.list(key, value)?;
        list.iter()
            .map(|item| self.text(key, item).map(str::to_owned))
            .collect()
    }
}

#[cfg(test)]
mod tests;
