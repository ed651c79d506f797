//! The `[permissions]` table by examples, mistakes included.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::config::Config;
use std::path::Path;

fn parse(text: &str) -> Result<Config, Failure> {
    Config::parse(text, Path::new("/c/config.toml"))
}

#[test]
fn the_example_of_the_manual_is_read() {
    let config = parse(
        r#"
[permissions]
mode = "auto"
ceiling = "reversible"
protected = ["*.pem", "deploy/**"]
allow = [
    { command = "git log" },
    { command = ["just", "test"], class = "workspace" },
    { kind = "web", hosts = ["docs.rs"] },
]
deny = [{ command = "git push" }, { paths = ["secrets/**"], tool = "t" }]
"#,
    )
    .unwrap();
    let permissions = config.permissions;
    assert_eq!(permissions.mode(), Mode::Auto);
    assert_eq!(permissions.policy().ceiling, Ceiling::Reversible);
    assert_eq!(permissions.protected, ["*.pem", "deploy/**"]);
    let told = |rules: &[RuleSpec]| rules.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        told(&permissions.rules.allow),
        [
            "command `git log`",
            "command `just test`",
            "kind web, hosts docs.rs"
        ]
    );
    assert_eq!(permissions.rules.allow[1].class, Some(Class::Workspace));
    assert_eq!(
        told(&permissions.rules.deny),
        ["command `git push`", "tool t, paths secrets/**"]
    );
    assert!(config.warnings.is_empty());
    assert!(!permissions.policy().rules.is_empty());
}

#[test]
fn nothing_said_is_manual_up_to_the_workspace() {
    let permissions = Config::default().permissions;
    assert_eq!(
        (permissions.mode(), permissions.policy().ceiling),
        (Mode::Manual, Ceiling::Workspace)
    );
}

#[test]
fn mistakes_name_file_line_and_what_was_meant() {
    for (text, place, what) in [
        (
            "[permissions]\nmode = \"yolo\"",
            "/c/config.toml:2",
            "mode: `yolo` is none of manual, plan, auto",
        ),
        (
            "[permissions]\nceiling = 3",
            "/c/config.toml:2",
            "ceiling wants a string",
        ),
        (
            "[permissions]\nallow = {}",
            "/c/config.toml:2",
            "allow wants a list",
        ),
        (
            "[permissions]\nallow = [\"git log\"]",
            "/c/config.toml:2",
            "allow wants tables like",
        ),
        (
            "[permissions]\nallow = [\n  { command = \"ls\" },\n  { comand = \"rm\" },\n]",
            "/c/config.toml:4",
            "a rule of permissions.allow has no \"comand\"; did you mean \"command\"?",
        ),
        (
            "[permissions]\ndeny = [\n  { command = \"ls\" },\n  {},\n]",
            "/c/config.toml:4",
            "permissions.deny: it names none of tool, kind, command, paths and hosts",
        ),
        (
            "[permissions]\nallow = [{ paths = [\"a{\"] }]",
            "/c/config.toml:2",
            "permissions.allow: the glob `a{` does not parse",
        ),
        (
            "[permissions]\nallow = [{ kind = \"edit\" }]",
            "/c/config.toml:2",
            "kind: `edit` is none of transaction, command",
        ),
        (
            "[permissions]\nprotected = [1]",
            "/c/config.toml:2",
            "protected wants a string",
        ),
    ] {
        let failure = parse(text).unwrap_err();
        assert_eq!(failure.code, "INVALID_ARGUMENTS");
        assert!(
            failure.message.starts_with(place),
            "{text:?}: {}",
            failure.message
        );
        assert!(
            failure.message.contains(what),
            "{text:?}: {}",
            failure.message
        );
    }
    let config = parse("[permissions]\nmodes = \"auto\"\n").unwrap();
    assert_eq!(
        config.warnings,
        [
            "/c/config.toml:2: unknown setting \"permissions.modes\" is ignored; did you mean \"permissions.mode\"?"
        ]
    );
}
