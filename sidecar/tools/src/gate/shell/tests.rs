//! Scripts and what is read of them.
#![allow(clippy::unwrap_used)]

use super::*;
use expect_test::{Expect, expect};
use std::fmt::Write as _;

fn check(script: &str, expected: Expect) {
    let script = read(script);
    let mut told = String::new();
    for command in &script.commands {
        let mut parts: Vec<String> = command
            .assignments
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        parts.extend(command.words.iter().map(|word| {
            let mark = if word.is_pattern { "*" } else { "" };
            format!("<{}>{mark}", word.text)
        }));
        parts.extend(command.writes.iter().map(|file| format!("writes {file}")));
        writeln!(told, "{}", parts.join(" ")).unwrap();
    }
    if let Some(doubt) = script.doubt {
        writeln!(told, "doubt: {doubt}").unwrap();
    }
    expected.assert_eq(told.trim_end());
}

#[test]
fn plain_commands_have_no_doubt() {
    check("git log -3", expect!["<git> <log> <-3>"]);
    check("  ls\t-l  ", expect!["<ls> <-l>"]);
    check("", expect![""]);
    check("# only a comment; rm x", expect![""]);
    check("git log # && rm x", expect!["<git> <log>"]);
    check("echo a#b", expect!["<echo> <a#b>"]);
    check("ls src/*.rs", expect!["<ls> <src/*.rs>*"]);
    check("echo 1 $ 2", expect!["<echo> <1> <$> <2>"]);
}

#[test]
fn quotes_are_removed_and_operators_in_them_are_text() {
    check(
        "git log --grep='a && b; c' \"x | y\"",
        expect!["<git> <log> <--grep=a && b; c> <x | y>"],
    );
    check("g'i't \"lo\"g", expect!["<git> <log>"]);
    check("echo '' \"\"", expect!["<echo> <> <>"]);
    check(
        "echo '$(date)' \\$HOME \\;",
        expect!["<echo> <$(date)> <$HOME> <;>"],
    );
    check("echo \"a\\\"b\\n\"", expect![[r#"<echo> <a"b\n>"#]]);
    check("git \\\n log", expect!["<git> <log>"]);
}

#[test]
fn every_operator_separates_commands() {
    for operator in ["&&", "||", ";", "&", "|", "|&", "\n", " \n\n "] {
        let script = read(&format!("git log{operator}rm x"));
        let programs: Vec<&str> = script
            .commands
            .iter()
            .map(|command| command.words[0].text.as_str())
            .collect();
        assert_eq!(
            (programs, script.doubt),
            (vec!["git", "rm"], None),
            "{operator:?}"
        );
    }
}

#[test]
fn redirections_that_write_name_the_file() {
    check("echo hi > a", expect!["<echo> <hi> writes a"]);
    check("echo hi>>a", expect!["<echo> <hi> writes a"]);
    check("ls >| a", expect!["<ls> writes a"]);
    check("ls 2>a", expect!["<ls> writes a"]);
    check("ls &> a", expect!["<ls> writes a"]);
    check("ls >&a", expect!["<ls> writes a"]);
    check("cat <> a", expect!["<cat> writes a"]);
    check("> a", expect!["writes a"]);
    check("ls 2>&1 >/dev/null 2> /dev/null <b", expect!["<ls>"]);
    check("cat <<< word", expect!["<cat>"]);
    check(
        "ls >",
        expect![[r#"
        <ls>
        doubt: it has a redirection without a target"#]],
    );
}

#[test]
fn variables_stand_before_the_program() {
    check("A=1 B='x y' ls C=2", expect!["A=1 B=x y <ls> <C=2>"]);
    check("PATH=./bin", expect!["PATH=./bin"]);
    check("PATH+=:./bin ls", expect!["PATH=:./bin <ls>"]);
    check("1A=2", expect!["<1A=2>"]);
}

#[test]
fn what_is_more_than_words_is_a_doubt_and_its_commands_are_found() {
    check(
        "echo $(rm x) y",
        expect![[r#"
        <rm> <x>
        <echo> <> <y>
        doubt: it has a command substitution"#]],
    );
    check(
        "echo \"a $(rm x)\" y",
        expect![[r#"
        <rm> <x>
        <echo> <a > <y>
        doubt: it has a command substitution"#]],
    );
    check(
        "echo `rm x`",
        expect![[r#"
        <rm> <x>
        <echo> <>
        doubt: it has a command substitution"#]],
    );
    check(
        "cat <(rm x)",
        expect![[r#"
        <rm> <x>
        <cat>
        doubt: it has a process substitution"#]],
    );
    check(
        "{ ls; rm x; }",
        expect![[r#"
        <ls>
        <rm> <x>
        doubt: it has a keyword of the shell"#]],
    );
    check(
        "(rm x)",
        expect![[r#"
        <rm> <x>
        doubt: it has a group or a function"#]],
    );
    check(
        "if rm x; then ls; fi",
        expect![[r#"
        <rm> <x>
        <ls>
        doubt: it has a keyword of the shell"#]],
    );
    check(
        "git log {--output=x,}",
        expect![[r#"
        <git> <log> <{--output=x,}>
        doubt: it has a brace expansion"#]],
    );
    check(
        "cat <<X\nrm y\nX\nls",
        expect![[r#"
        <cat>
        <ls>
        doubt: it has a here document"#]],
    );
    check(
        "ls $HOME",
        expect![[r#"
        <ls> <$HOME>
        doubt: it has an expansion"#]],
    );
    check(
        "ls $'a'",
        expect![[r#"
        <ls> <a>
        doubt: it has a `$'…'` or `$"…"` string"#]],
    );
    check(
        "ls 'a",
        expect![[r#"
        <ls> <a>
        doubt: it has a quote without an end"#]],
    );
}

#[test]
fn any_text_is_read_to_its_end() {
    let pieces = [
        "$(", "`", "\"", "'", "(", ")", "{", "}", "<<", "<", ">", "&", "|", ";", "\n", "\\", "a",
        " ", "$", "#", "=", "\0", "é", "\u{202e}",
    ];
    // Every sequence of three, and a few that are deep.
    for a in pieces {
        for b in pieces {
            for c in pieces {
                read(&format!("{a}{b}{c}"));
            }
        }
    }
    assert!(read(&"$(".repeat(100_000)).doubt.is_some());
    assert!(read(&"`".repeat(100_000)).doubt.is_some());
    assert!(read(&"\"$(".repeat(10_000)).doubt.is_some());
}
