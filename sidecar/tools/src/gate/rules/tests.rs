//! Rules against commands, paths and hosts.
#![allow(clippy::unwrap_used)]

mod attacks;
mod other;

use std::collections::BTreeMap;

use super::*;
use crate::{CommandLine, MutationKind};
use serde_json::json;

/// An operation that runs `tokens`.
fn command(tokens: &[&str]) -> Operation {
    let arguments: Vec<String> = tokens[1..].iter().map(|&token| token.to_owned()).collect();
    Operation {
        tool: "workspace_command".into(),
        kind: MutationKind::Command,
        class: Class::Workspace,
        reads_only: false,
        arguments: json!({}),
        paths: vec![],
        hosts: vec![],
        command: Some(CommandLine {
            program: tokens[0].into(),
            resolved: format!("/usr/bin/{}", tokens[0].rsplit('/').next().unwrap()),
            revision: "aa".into(),
            arguments,
            env: BTreeMap::new(),
        }),
        base_revisions: BTreeMap::new(),
        workspace: "ws_1".into(),
        session: "se_1".into(),
        cwd: String::new(),
        env_digest: String::new(),
        summary: tokens.join(" "),
    }
}

fn rules(allow: &[&str], deny: &[&str]) -> Rules {
    let list = |lines: &[&str]| {
        let rule = |line: &&str| RuleSpec {
            command: Some(CommandSpec::Line((*line).to_owned())),
            ..RuleSpec::default()
        };
        lines.iter().map(rule).collect()
    };
    Rules::compile(&RulesSpec {
        allow: list(allow),
        deny: list(deny),
    })
    .unwrap()
}

const PLACE: Place<'static> = Place {
    root: "/home/u/project",
    git_programs: &[],
};

fn word(ruling: Ruling) -> &'static str {
    match ruling {
        Ruling::Silent => "ask",
        Ruling::Allow => "allow",
        Ruling::Deny => "deny",
    }
}

/// Judges `sh -c SCRIPT`.
fn shell(rules: &Rules, script: &str) -> Judgement {
    rules.judge(&command(&["sh", "-c", script]), &PLACE)
}

fn argv(rules: &Rules, tokens: &[&str]) -> Judgement {
    rules.judge(&command(tokens), &PLACE)
}
