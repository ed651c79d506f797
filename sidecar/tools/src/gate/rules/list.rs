//! One list of rules, indexed by the program that a rule names.

use std::borrow::Cow;
use std::collections::HashMap;

use globset::{GlobSet, GlobSetBuilder};

use super::command::{self, Line};
use super::{Doubt, Place, RuleError, RuleSpec};
use crate::gate::command::{base_name, each_command};
use crate::gate::names::{host_fits, spellings};
use crate::{Class, MutationKind, Operation};

#[derive(Debug, Default)]
pub(super) struct List {
    rules: Vec<Rule>,
    /// Rules with a command, by its first token.
    by_program: HashMap<String, Vec<usize>>,
    /// Rules with a command whose first token is `*`.
    any_program: Vec<usize>,
    /// Rules without a command.
    others: Vec<usize>,
    globs: GlobSet,
    /// The rule of each glob.
    owners: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Rule {
    spec: RuleSpec,
    tool: Option<String>,
    kind: Option<MutationKind>,
    pub(super) command: Vec<String>,
    has_paths: bool,
    hosts: Vec<String>,
    pub(super) class: Option<Class>,
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.spec.fmt(f)
    }
}

impl List {
    pub(super) fn compile(list: &'static str, specs: &[RuleSpec]) -> Result<Self, RuleError> {
        let mut compiled = Self::default();
        let mut globs = GlobSetBuilder::new();
        let is_deny = list == "deny";
        for (index, spec) in specs.iter().enumerate() {
            let fault = |message: String| RuleError {
                list,
                index,
                message,
            };
            let command = match &spec.command {
                Some(command) => checked_tokens(command.tokens()).map_err(fault)?,
                None => Vec::new(),
            };
            if spec.tool.is_none()
                && spec.kind.is_none()
                && command.is_empty()
                && spec.paths.is_empty()
                && spec.hosts.is_empty()
            {
                let what = "it names none of tool, kind, command, paths and hosts, and would match everything";
                return Err(fault(what.to_owned()));
            }
            if is_deny && spec.class.is_some() {
                return Err(fault(
                    "`class` has a meaning for allow rules only".to_owned(),
                ));
            }
            for text in &spec.paths {
                for glob in spellings(text, is_deny).map_err(fault)? {
                    globs.add(glob);
                    compiled.owners.push(index);
                }
            }
            match command.first().map(String::as_str) {
                None => compiled.others.push(index),
                Some("*") => compiled.any_program.push(index),
                Some(program) => {
                    let key = if is_deny {
                        program.to_ascii_lowercase()
                    } else {
                        program.to_owned()
                    };
                    compiled.by_program.entry(key).or_default().push(index);
                }
            }
            compiled.rules.push(Rule {
                spec: spec.clone(),
                tool: spec.tool.clone(),
                kind: spec.kind,
                command,
                has_paths: !spec.paths.is_empty(),
                hosts: spec
                    .hosts
                    .iter()
                    .map(|host| host.to_ascii_lowercase())
                    .collect(),
                class: spec.class,
            });
        }
        compiled.globs = globs.build().map_err(|error| RuleError {
            list,
            index: 0,
            message: format!("the globs are too many or too large together: {error}"),
        })?;
        Ok(compiled)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The deny rule that matches.
    pub(super) fn forbids(&self, operation: &Operation, tokens: &[&str]) -> Option<&Rule> {
        if self.rules.is_empty() {
            return None;
        }
        let matching = |path: &String| self.globs.matches(path);
        let touched: Vec<usize> = match self.owners.is_empty() {
            true => Vec::new(),
            false => operation
                .paths
                .iter()
                .flat_map(matching)
                .map(|glob| self.owners[glob])
                .collect(),
        };
        let holds = |index: usize| {
            let rule = &self.rules[index];
            rule.names(operation)
                && (!rule.has_paths || touched.contains(&index))
                && (rule.hosts.is_empty() || operation.hosts.iter().any(|host| rule.has_host(host)))
        };
        if let Some(&index) = self.others.iter().find(|&&index| holds(index)) {
            return Some(&self.rules[index]);
        }
        if tokens.is_empty() || (self.by_program.is_empty() && self.any_program.is_empty()) {
            return None;
        }
        let mut found = None;
        let mut see = |tokens: &[&str]| {
            found = found.or_else(|| {
                self.for_program(&lower(base_name(tokens[0])))
                    .find(|&index| {
                        holds(index) && command::forbids(&self.rules[index].command, tokens)
                    })
            });
            found.is_some()
        };
        if !each_command(tokens, &mut see)
            && let Some(command) = &operation.command
            && base_name(&command.resolved) != base_name(&command.program)
        {
            // The program by its other name: a link, or a name that differs in case only.
            let mut renamed = tokens.to_vec();
            renamed[0] = base_name(&command.resolved);
            each_command(&renamed, &mut see);
        }
        found.map(|index| &self.rules[index])
    }

    /// The allow rule that matches and holds. `Err` is why one that names the command does not hold.
    pub(super) fn allows(
        &self,
        operation: &Operation,
        tokens: &[&str],
        place: &Place<'_>,
    ) -> Result<Option<&Rule>, Box<Doubt>> {
        if self.rules.is_empty() {
            return Ok(None);
        }
        // For each path the rules whose globs match it.
        let owners: Vec<Vec<usize>> = match self.owners.is_empty() {
            true => Vec::new(),
            false => operation
                .paths
                .iter()
                .map(|path| self.owners_of(path))
                .collect(),
        };
        let holds = |index: &usize| {
            let has_paths = || owners.iter().all(|owners| owners.contains(index));
            self.rules[*index].covers(operation, &has_paths)
        };
        if operation.command.is_none() {
            let found = self.others.iter().find(|index| holds(index));
            return Ok(found.map(|&index| &self.rules[index]));
        }
        // What a command writes is known in part only: a rule on paths or hosts alone says nothing of commands.
        let any_command = self.others.iter().find(|&&index| {
            let rule = &self.rules[index];
            !rule.has_paths && rule.hosts.is_empty() && rule.names(operation)
        });
        let line = Line::of(operation, tokens, place);
        let rules = |program: &str| -> Vec<&Rule> {
            self.for_program(program)
                .filter(holds)
                .chain(any_command.copied())
                .map(|index| &self.rules[index])
                .collect()
        };
        line.allowed_by(&rules)
    }

    fn owners_of(&self, path: &str) -> Vec<usize> {
        self.globs
            .matches(path)
            .into_iter()
            .map(|glob| self.owners[glob])
            .collect()
    }

    fn for_program<'a>(&'a self, program: &str) -> impl Iterator<Item = usize> + use<'a> {
        let named = self.by_program.get(program).map_or(&[][..], Vec::as_slice);
        named.iter().chain(&self.any_program).copied()
    }
}

impl Rule {
    fn names(&self, operation: &Operation) -> bool {
        self.tool
            .as_ref()
            .is_none_or(|tool| *tool == operation.tool)
            && self.kind.is_none_or(|kind| kind == operation.kind)
    }

    /// Whether everything that the operation touches is what the rule names.
    fn covers(&self, operation: &Operation, has_paths: &dyn Fn() -> bool) -> bool {
        let covers_paths = !self.has_paths || (!operation.paths.is_empty() && has_paths());
        let covers_hosts = self.hosts.is_empty()
            || (!operation.hosts.is_empty()
                && operation.hosts.iter().all(|host| self.has_host(host)));
        self.names(operation) && covers_paths && covers_hosts
    }

    fn has_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|pattern| host_fits(pattern, host))
    }
}

/// In lower case; most names are.
fn lower(name: &str) -> Cow<'_, str> {
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => name.to_ascii_lowercase().into(),
        false => name.into(),
    }
}

fn checked_tokens(tokens: Vec<String>) -> Result<Vec<String>, String> {
    match tokens.first() {
        None => Err("`command` has no token".to_owned()),
        Some(_) if tokens.iter().any(String::is_empty) => {
            Err("`command` has an empty token".to_owned())
        }
        Some(first) if first == "*" && tokens.len() == 1 => Err(
            "`command = \"*\"` would match every program; use `kind = \"command\"` to say that"
                .to_owned(),
        ),
        Some(_) => Ok(tokens),
    }
}
