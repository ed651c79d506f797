//! What a plan covers: the kinds, paths, commands and hosts that it lists, and nothing else.

use redline_workspace::PlanScope;

use crate::gate::names::{PathGlobs, host_fits};
use crate::gate::{CommandSpec, Place, RuleSpec, Rules, RulesSpec, Ruling};
use crate::{ErrorCode, MutationKind, Operation, ToolError};

/// A compiled scope.
#[derive(Debug)]
pub struct Coverage {
    kinds: Vec<MutationKind>,
    paths: PathGlobs,
    /// Commands are covered as an allow rule would allow them: whole tokens, no option that runs something else.
    commands: Rules,
    hosts: Vec<String>,
}

impl Coverage {
    /// Compiles a scope.
    ///
    /// # Errors
    ///
    /// `INVALID_ARGUMENTS`, naming the glob, the command or the kind that makes no sense.
    pub fn compile(scope: &PlanScope) -> Result<Self, ToolError> {
        let wrong = |message: String| ToolError::new(ErrorCode::InvalidArguments, message);
        let kinds = scope.kinds.iter().map(|kind| kind.parse::<MutationKind>());
        let kinds = kinds
            .collect::<Result<_, _>>()
            .map_err(|error| wrong(error.to_string()))?;
        let rule = |tokens: &Vec<String>| RuleSpec {
            command: Some(CommandSpec::Tokens(tokens.clone())),
            ..RuleSpec::default()
        };
        let rules = RulesSpec {
            allow: scope.commands.iter().map(rule).collect(),
            deny: Vec::new(),
        };
        Ok(Self {
            kinds,
            paths: PathGlobs::compile(&scope.paths).map_err(wrong)?,
            commands: Rules::compile(&rules).map_err(|error| {
                wrong(format!(
                    "command {} of the plan: {}",
                    error.index + 1,
                    error.message
                ))
            })?,
            hosts: scope.hosts.clone(),
        })
    }

    /// Whether an operation is covered.
    pub fn covers(&self, operation: &Operation, place: &Place<'_>) -> bool {
        if !self.kinds.contains(&operation.kind) {
            return false;
        }
        let has_host = |host: &String| self.hosts.iter().any(|pattern| host_fits(pattern, host));
        if !operation.hosts.iter().all(has_host) {
            return false;
        }
        match operation.command {
            Some(_) => self.commands.judge(operation, place).ruling == Ruling::Allow,
            None => operation.paths.iter().all(|path| self.paths.covers(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Class, CommandLine};
    use serde_json::json;
    use std::collections::BTreeMap;

    fn operation(kind: MutationKind, paths: &[&str], hosts: &[&str], argv: &[&str]) -> Operation {
        let texts = |list: &[&str]| list.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
        Operation {
            tool: "t".into(),
            kind,
            class: Class::Reversible,
            reads_only: false,
            arguments: json!({}),
            paths: texts(paths),
            hosts: texts(hosts),
            command: argv.split_first().map(|(program, arguments)| CommandLine {
                program: (*program).to_owned(),
                resolved: format!("/usr/bin/{program}"),
                revision: String::new(),
                arguments: texts(arguments),
                env: BTreeMap::new(),
            }),
            base_revisions: BTreeMap::new(),
            workspace: "ws_1".into(),
            session: "se_1".into(),
            cwd: String::new(),
            env_digest: String::new(),
            summary: String::new(),
        }
    }

    #[test]
    fn a_plan_covers_what_it_lists_and_nothing_else() {
        let scope = PlanScope {
            kinds: vec!["transaction".into(), "command".into(), "vcs".into()],
            paths: vec!["src/**".into(), "/Cargo.toml".into()],
            commands: vec![
                vec!["cargo".into(), "test".into()],
                vec!["find".into(), ".".into()],
            ],
            hosts: vec!["docs.rs".into()],
        };
        let coverage = Coverage::compile(&scope).unwrap();
        let place = Place {
            root: "/p",
            git_programs: &[],
        };
        use MutationKind::{Agent, Command, Transaction, Vcs, Web};
        for (kind, paths, hosts, argv, expected) in [
            (Transaction, &["src/a.rs"][..], &[][..], &[][..], true),
            (Transaction, &["src/a.rs", "Cargo.toml"], &[], &[], true),
            (Transaction, &["src/a.rs", "README.md"], &[], &[], false),
            (Transaction, &["x/Cargo.toml"], &[], &[], false),
            (Command, &[], &[], &["cargo", "test", "--all"], true),
            (Command, &[], &[], &["cargo", "build"], false),
            (
                Command,
                &[],
                &[],
                &["cargo", "test", "--config", "x"],
                false,
            ),
            (Command, &[], &[], &["find", ".", "-delete"], false),
            (
                Command,
                &[],
                &[],
                &["sh", "-c", "cargo test && cargo test"],
                true,
            ),
            (Command, &[], &[], &["sh", "-c", "cargo test > x"], false),
            (Command, &["src/a.rs"], &[], &["touch", "src/a.rs"], false),
            (Vcs, &[], &[], &[], true),
            (Vcs, &["README.md"], &[], &[], false),
            (Vcs, &[], &["docs.rs"], &[], true),
            (Vcs, &[], &["evil.net"], &[], false),
            (Web, &[], &["docs.rs"], &[], false),
            (Agent, &[], &[], &[], false),
        ] {
            let operation = operation(kind, paths, hosts, argv);
            assert_eq!(
                coverage.covers(&operation, &place),
                expected,
                "{kind} {paths:?} {hosts:?} {argv:?}"
            );
        }
        let nothing = Coverage::compile(&PlanScope::default()).unwrap();
        assert!(!nothing.covers(&operation(Vcs, &[], &[], &[]), &place));
    }

    #[test]
    fn a_scope_that_makes_no_sense_is_named() {
        for (scope, message) in [
            (
                json!({"kinds": ["edit"]}),
                "`edit` is none of transaction, command, vcs, browser, web, agent",
            ),
            (
                json!({"kinds": [], "commands": [["ls"], ["*"]]}),
                "command 2 of the plan: `command = \"*\"` would match every program; use `kind = \"command\"` to say that",
            ),
        ] {
            let scope: PlanScope = serde_json::from_value(scope).unwrap();
            assert_eq!(Coverage::compile(&scope).unwrap_err().message, message);
        }
        let glob = PlanScope {
            paths: vec!["a{".into()],
            ..PlanScope::default()
        };
        assert!(
            Coverage::compile(&glob)
                .unwrap_err()
                .message
                .contains("`a{` does not parse")
        );
    }
}
