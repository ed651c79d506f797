//! The hash: equal for the same operation, another one for any change.
#![allow(clippy::unwrap_used)]

use super::*;
use serde_json::json;

fn operation() -> Operation {
    Operation {
        tool: "workspace_command".into(),
        kind: MutationKind::Command,
        class: Class::Workspace,
        reads_only: false,
        arguments: json!({"program": "sh", "arguments": ["tool.sh"], "timeout_seconds": 60}),
        paths: vec!["out".into()],
        hosts: vec![],
        command: Some(CommandLine {
            program: "sh".into(),
            resolved: "/usr/bin/sh".into(),
            revision: "aa".into(),
            arguments: vec!["tool.sh".into()],
            env: BTreeMap::from([("A".into(), "1".into())]),
        }),
        base_revisions: BTreeMap::from([("tool.sh".into(), "bb".into())]),
        workspace: "ws_1".into(),
        session: "se_1".into(),
        cwd: String::new(),
        env_digest: "ee".into(),
        summary: "sh tool.sh".into(),
    }
}

type Change = (&'static str, fn(&mut Operation));

fn command(operation: &mut Operation) -> &mut CommandLine {
    operation.command.as_mut().unwrap()
}

#[test]
fn any_change_that_matters_makes_another_operation() {
    let changes: &[Change] = &[
        ("tool", |op| op.tool = "x".into()),
        ("kind", |op| op.kind = MutationKind::Vcs),
        ("argument", |op| op.arguments["timeout_seconds"] = json!(61)),
        ("argument's type", |op| {
            op.arguments["timeout_seconds"] = json!("60");
        }),
        ("file changed", |op| {
            op.base_revisions.insert("tool.sh".into(), "cc".into());
        }),
        ("file added", |op| {
            op.base_revisions.insert("b".into(), "missing".into());
        }),
        ("workspace", |op| op.workspace = "ws_2".into()),
        ("session", |op| op.session = "se_2".into()),
        ("cwd", |op| op.cwd = "sub".into()),
        ("env", |op| op.env_digest = "ff".into()),
        ("program", |op| command(op).program = "bash".into()),
        ("other file of that name", |op| {
            command(op).resolved = "/home/u/bin/sh".into();
        }),
        ("program rewritten", |op| command(op).revision = "dd".into()),
        ("tokens joined", |op| {
            command(op).arguments = vec!["tool.sh".into(), String::new()];
        }),
        ("own variable", |op| {
            command(op).env.insert("A".into(), "2".into());
        }),
        ("no command", |op| op.command = None),
    ];
    let first = operation().hash();
    let mut seen = std::collections::HashSet::from([first.clone()]);
    for (what, change) in changes {
        let mut changed = operation();
        change(&mut changed);
        assert!(seen.insert(changed.hash()), "{what}");
    }
    assert_eq!(operation().hash(), first);
}

#[test]
fn what_is_derived_or_only_order_makes_no_difference() {
    let first = operation().hash();
    let mut same = operation();
    same.arguments = json!({"timeout_seconds": 60, "arguments": ["tool.sh"], "program": "sh"});
    same.summary = "other words".into();
    same.class = Class::Outside;
    same.paths.clear();
    assert_eq!(same.hash(), first);
}

#[test]
fn tokens_never_run_into_each_other() {
    let with = |tokens: &[&str]| {
        let mut operation = operation();
        command(&mut operation).arguments = tokens.iter().map(|&token| token.into()).collect();
        operation.hash()
    };
    assert_ne!(with(&["a b"]), with(&["a", "b"]));
    assert_ne!(with(&["ab", ""]), with(&["a", "b"]));
    assert_ne!(with(&["a", "b", ""]), with(&["a", "b"]));
}

#[test]
fn a_stored_operation_holds_no_value_of_its_variables() {
    let mut operation = operation();
    command(&mut operation)
        .env
        .insert("TOKEN".into(), "canary-7f3a".into());
    let stored = serde_json::to_string(&operation).unwrap();
    assert!(!stored.contains("canary-7f3a"), "{stored}");
    assert!(!operation.hash().as_str().contains("canary"));
}

#[test]
fn the_digest_of_an_env_needs_the_key_and_no_order() {
    let pairs = [("A", "1"), ("B", "2")];
    let mut turned = pairs;
    turned.reverse();
    assert_eq!(env_digest(&[1; 32], pairs), env_digest(&[1; 32], turned));
    assert_ne!(env_digest(&[1; 32], pairs), env_digest(&[2; 32], pairs));
    assert_ne!(
        env_digest(&[1; 32], pairs),
        env_digest(&[1; 32], [("A", "12"), ("B", "")])
    );
}
