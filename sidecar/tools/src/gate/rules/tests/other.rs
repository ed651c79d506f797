//! Rules on tools, kinds, paths and hosts; rules that make no sense.

use super::*;

fn spec(value: serde_json::Value) -> RulesSpec {
    serde_json::from_value(value).unwrap()
}

fn judged(rules: serde_json::Value, operation: &Operation) -> &'static str {
    let rules = Rules::compile(&spec(rules)).unwrap();
    word(rules.judge(operation, &PLACE).ruling)
}

fn transaction(paths: &[&str]) -> Operation {
    Operation {
        tool: "workspace_commit".into(),
        kind: MutationKind::Transaction,
        paths: paths.iter().map(|&path| path.to_owned()).collect(),
        command: None,
        ..command(&["x"])
    }
}

fn web(hosts: &[&str]) -> Operation {
    Operation {
        kind: MutationKind::Web,
        hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
        ..transaction(&[])
    }
}

#[test]
fn allow_needs_every_path_and_deny_any() {
    let allow = json!({"allow": [{"paths": ["docs", "*.md"]}]});
    for (paths, expected) in [
        (&["docs/a.txt"][..], "allow"),
        (&["docs"], "allow"),
        (&["docs/a/b.txt", "x/README.md"], "allow"),
        (&["docs/a.txt", "src/a.rs"], "ask"),
        (&["docsx/a.txt"], "ask"),
        (&["src/docs/a.txt"], "allow"),
        (&["DOCS/a.txt"], "ask"),
        (&[], "ask"),
    ] {
        assert_eq!(
            judged(allow.clone(), &transaction(paths)),
            expected,
            "{paths:?}"
        );
    }
    let deny = json!({"allow": [{"kind": "transaction"}], "deny": [{"paths": ["secrets/*", "/top.txt", "a/b"]}]});
    for (paths, expected) in [
        (&["src/a.rs"][..], "allow"),
        (&["src/a.rs", "secrets/k"], "deny"),
        (&["SECRETS/k"], "deny"),
        (&["secrets/k/deep"], "deny"),
        (&["x/secrets/k"], "allow"),
        (&["a/b/c"], "deny"),
    ] {
        assert_eq!(
            judged(deny.clone(), &transaction(paths)),
            expected,
            "{paths:?}"
        );
    }
}

#[test]
fn a_rule_on_paths_alone_says_nothing_of_commands() {
    let mut touch = command(&["touch", "docs/a"]);
    touch.paths = vec!["docs/a".into()];
    assert_eq!(
        judged(json!({"allow": [{"paths": ["docs"]}]}), &touch),
        "ask"
    );
    assert_eq!(
        judged(
            json!({"allow": [{"command": "touch", "paths": ["docs"]}]}),
            &touch
        ),
        "allow"
    );
    assert_eq!(
        judged(
            json!({"allow": [{"command": "touch", "paths": ["src"]}]}),
            &touch
        ),
        "ask"
    );
    assert_eq!(
        judged(json!({"deny": [{"paths": ["docs"]}]}), &touch),
        "deny"
    );
    assert_eq!(
        judged(json!({"allow": [{"kind": "command"}]}), &touch),
        "allow"
    );
    let find = command(&["find", ".", "-delete"]);
    assert_eq!(
        judged(json!({"allow": [{"kind": "command"}]}), &find),
        "ask"
    );
}

#[test]
fn hosts_match_by_name() {
    let allow = json!({"allow": [{"kind": "web", "hosts": ["docs.rs", "*.example.org"]}]});
    for (hosts, expected) in [
        (&["docs.rs"][..], "allow"),
        (&["evil-docs.rs"], "ask"),
        (&["docs.rs.evil.net"], "ask"),
        (&["a.example.org"], "allow"),
        (&["example.org"], "ask"),
        (&["aexample.org"], "ask"),
        (&[".example.org"], "ask"),
        (&["docs.rs", "evil.net"], "ask"),
        (&[], "ask"),
    ] {
        assert_eq!(judged(allow.clone(), &web(hosts)), expected, "{hosts:?}");
    }
    let deny = json!({"allow": [{"kind": "web"}], "deny": [{"hosts": ["evil.net"]}]});
    assert_eq!(judged(deny.clone(), &web(&["docs.rs"])), "allow");
    assert_eq!(judged(deny, &web(&["docs.rs", "evil.net"])), "deny");
}

#[test]
fn an_allow_rule_may_say_how_much_is_at_stake() {
    let rules =
        json!({"allow": [{"command": "just test", "class": "workspace"}, {"command": "ls"}]});
    let rules = Rules::compile(&spec(rules)).unwrap();
    let class = |script: &str| shell(&rules, script).class;
    assert_eq!(class("just test"), Some(Class::Workspace));
    assert_eq!(class("ls"), None);
    assert_eq!(class("just test && ls"), None);
    assert_eq!(class("just test && just test"), Some(Class::Workspace));
}

#[test]
fn deny_comes_before_allow() {
    let both =
        json!({"allow": [{"tool": "workspace_commit"}], "deny": [{"tool": "workspace_commit"}]});
    assert_eq!(judged(both, &transaction(&["a"])), "deny");
}

#[test]
fn rules_that_make_no_sense_are_named() {
    for (rules, message) in [
        (
            json!({"allow": [{"command": "ls"}, {}]}),
            "rule 2 of `allow`: it names none of tool, kind, command, paths and hosts, and would match everything",
        ),
        (
            json!({"deny": [{"command": "  "}]}),
            "rule 1 of `deny`: `command` has no token",
        ),
        (
            json!({"allow": [{"command": ["ls", ""]}]}),
            "rule 1 of `allow`: `command` has an empty token",
        ),
        (
            json!({"allow": [{"command": "*"}]}),
            "rule 1 of `allow`: `command = \"*\"` would match every program; use `kind = \"command\"` to say that",
        ),
        (
            json!({"deny": [{"command": "ls", "class": "workspace"}]}),
            "rule 1 of `deny`: `class` has a meaning for allow rules only",
        ),
    ] {
        let error = Rules::compile(&spec(rules)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let error = Rules::compile(&spec(json!({"deny": [{"paths": ["a{"]}]}))).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("rule 1 of `deny`: the glob `a{` does not parse"),
        "{error}"
    );
    assert!(serde_json::from_value::<RuleSpec>(json!({"comand": "ls"})).is_err());
}
