//! Allow and deny rules: what the user says beforehand about operations.
//!
//! A rule names any of tool, kind, command, paths and hosts; it matches an operation of which all that it names holds.
//!
//! - `command` is a list of whole tokens with which the command line begins: `["git", "log"]` matches `git log -3`, and
//!   neither `git logx` nor `./git log`. `"*"` stands for any one token.
//! - `paths` are globs from the workspace's root; one without `/` matches that name in every folder, and one that matches a
//!   folder covers what is below it.
//! - `hosts` are names, `*.example.org` for all below one, `*` for all.
//!
//! **Allow is narrow:** all paths and hosts have to match; every command of a script has to be allowed; a known option that
//! runs a program or writes a file, a variable that may change what runs, or anything that is not fully understood, and the
//! rule is silent. **Deny is wide:** any path, any host, any command that is found inside the command.

mod command;
mod list;
mod spec;

use std::fmt;

pub use spec::{CommandSpec, RuleError, RuleSpec, RulesSpec};

use super::Ruling;
use crate::{Class, Operation};
use list::List;

/// Compiled rules.
#[derive(Debug, Default)]
pub struct Rules {
    allow: List,
    deny: List,
}

/// Facts about the place where an operation would run, which no token tells.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place<'a> {
    /// Absolute path of the workspace.
    pub root: &'a str,
    /// Keys of the repository's own configuration by which git would run programs: `diff.external`.
    pub git_programs: &'a [String],
}

/// What the rules say of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// What they say.
    pub ruling: Ruling,
    /// The class that the allow rule declares for what it allows.
    pub class: Option<Class>,
    /// The rule that decided, or the allow rule that would have but for these arguments.
    pub rule: Option<String>,
    /// Why that allow rule does not hold.
    pub doubt: Option<Doubt>,
}

/// Why an allow rule does not hold for a command that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// The token that it is about.
    pub token: String,
    /// What it does.
    pub why: &'static str,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token: String = self.token.chars().take(60).collect();
        match self.token.is_empty() {
            true => f.write_str(self.why),
            false => write!(f, "`{}` {}", token.escape_debug(), self.why),
        }
    }
}

impl Rules {
    /// Compiles rules.
    ///
    /// # Errors
    ///
    /// [`RuleError`] naming the list and the place in it.
    pub fn compile(spec: &RulesSpec) -> Result<Self, RuleError> {
        Ok(Self {
            allow: List::compile("allow", &spec.allow)?,
            deny: List::compile("deny", &spec.deny)?,
        })
    }

    /// Says what the rules say. Pure. Cost: linear in the tokens, paths and hosts of the operation; the number of command
    /// rules for other programs does not matter.
    pub fn judge(&self, operation: &Operation, place: &Place<'_>) -> Judgement {
        let tokens = command::tokens(operation);
        if let Some(rule) = self.deny.forbids(operation, &tokens) {
            return Judgement {
                ruling: Ruling::Deny,
                class: None,
                rule: Some(rule.to_string()),
                doubt: None,
            };
        }
        match self.allow.allows(operation, &tokens, place) {
            Ok(Some(rule)) => Judgement {
                ruling: Ruling::Allow,
                class: rule.class,
                rule: None,
                doubt: None,
            },
            Ok(None) => Judgement::silent(),
            Err(doubt) => Judgement {
                doubt: Some(*doubt),
                ..Judgement::silent()
            },
        }
    }

    /// The rules as they were given.
    pub fn is_empty(&self) -> bool {
        self.allow.is_empty() && self.deny.is_empty()
    }
}

impl Judgement {
    fn silent() -> Self {
        Self {
            ruling: Ruling::Silent,
            class: None,
            rule: None,
            doubt: None,
        }
    }
}

#[cfg(test)]
mod tests;
