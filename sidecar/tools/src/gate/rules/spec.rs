//! Rules as a configuration writes them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Class, MutationKind};

/// The two lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesSpec {
    /// What may run unasked, up to the ceiling.
    #[serde(default)]
    pub allow: Vec<RuleSpec>,
    /// What never runs.
    #[serde(default)]
    pub deny: Vec<RuleSpec>,
}

/// One rule; all that it names has to hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// Name of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Kind of mutation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<MutationKind>,
    /// First tokens of the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandSpec>,
    /// Globs of paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// Hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// For an allow rule: how much what it names can lose at most, as the user knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
}

/// Tokens, as a list or in one text that is split at white space and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandSpec {
    /// `"git log"`
    Line(String),
    /// `["git", "log"]`
    Tokens(Vec<String>),
}

impl CommandSpec {
    /// The tokens.
    pub fn tokens(&self) -> Vec<String> {
        match self {
            Self::Line(line) => line.split_whitespace().map(str::to_owned).collect(),
            Self::Tokens(tokens) => tokens.clone(),
        }
    }
}

/// A rule that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rule {} of `{list}`: {message}", index + 1)]
pub struct RuleError {
    /// `allow` or `deny`.
    pub list: &'static str,
    /// Place in the list, from 0.
    pub index: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for RuleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.tool.iter().map(|tool| format!("tool {tool}")));
        parts.extend(self.kind.iter().map(|kind| format!("kind {kind}")));
        parts.extend(
            self.command
                .iter()
                .map(|command| format!("command `{}`", command.tokens().join(" "))),
        );
        if !self.paths.is_empty() {
            parts.push(format!("paths {}", self.paths.join(", ")));
        }
        if !self.hosts.is_empty() {
            parts.push(format!("hosts {}", self.hosts.join(", ")));
        }
        f.write_str(&parts.join(", "))
    }
}
