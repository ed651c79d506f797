//! The commands that a command runs: `sudo rm`, `xargs rm`, `sh -c 'rm'`, `find -exec rm`.
//!
//! For rules that forbid. What is not found here is not let through by it: see the table for what makes an allow rule ask.

use super::known::known;
use super::{base_name, git};
use crate::gate::shell;

/// A program that runs what its arguments say: name, options with a value, operands before the command.
pub(super) type Wrapper = (&'static str, &'static [&'static str], usize);

pub(super) const WRAPPERS: &[Wrapper] = &[
    ("env", &["-u", "-C", "--unset", "--chdir"], 0),
    ("nice", &["-n", "--adjustment"], 0),
    ("ionice", &["-c", "-n", "-p", "--class", "--classdata"], 0),
    ("nohup", &[], 0),
    ("setsid", &[], 0),
    ("stdbuf", &["-i", "-o", "-e"], 0),
    ("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    ("time", &["-f", "-o", "--format", "--output"], 0),
    ("chrt", &["-T", "-P", "-D"], 1),
    ("taskset", &[], 1),
    ("flock", &["-w", "-E", "--timeout"], 1),
    (
        "sudo",
        &[
            "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R",
        ],
        0,
    ),
    ("doas", &["-u", "-C"], 0),
    ("runuser", &["-u", "-g"], 0),
    ("pkexec", &["--user"], 0),
    ("chroot", &[], 1),
    ("unshare", &[], 0),
    ("nsenter", &["-t"], 0),
    (
        "bwrap",
        &[
            "--bind",
            "--ro-bind",
            "--dev",
            "--proc",
            "--chdir",
            "--setenv",
        ],
        0,
    ),
    ("firejail", &[], 0),
    ("strace", &["-o", "-e", "-p", "-s", "-u", "-E"], 0),
    ("ltrace", &["-o", "-e", "-p", "-s", "-u"], 0),
    ("perf", &["-e", "-o", "-p"], 1),
    ("valgrind", &[], 0),
    ("watch", &["-n", "--interval"], 0),
    ("entr", &[], 0),
    ("parallel", &["-j", "-a", "--jobs"], 0),
    (
        "xargs",
        &[
            "-I",
            "-n",
            "-P",
            "-L",
            "-d",
            "-s",
            "-E",
            "-a",
            "--max-args",
            "--max-procs",
            "--replace",
        ],
        0,
    ),
    (
        "gxargs",
        &["-I", "-n", "-P", "-L", "-d", "-s", "-E", "-a"],
        0,
    ),
    ("busybox", &[], 0),
    ("toybox", &[], 0),
    ("exec", &["-a"], 0),
    ("command", &[], 0),
    ("builtin", &[], 0),
    ("coproc", &[], 0),
    ("faketime", &[], 1),
    ("systemd-run", &["-p", "--unit", "--property"], 0),
    ("npx", &["-p", "-c", "--package"], 0),
];

pub(super) const SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish"];

/// Commands inside commands that are followed.
const DEPTH: usize = 6;

/// Calls `see` with the command and with each one that is found inside it, until it answers true.
pub(in super::super) fn each_command(
    tokens: &[&str],
    see: &mut dyn FnMut(&[&str]) -> bool,
) -> bool {
    each(tokens, 0, see)
}

fn each(tokens: &[&str], depth: usize, see: &mut dyn FnMut(&[&str]) -> bool) -> bool {
    let Some(program) = tokens.first() else {
        return false;
    };
    if see(tokens) {
        return true;
    }
    if depth >= DEPTH {
        return false;
    }
    let name = base_name(program);
    if name == "git" {
        // As if the options before the subcommand were not there.
        let at = git::command_at(tokens);
        if at > 1 && at < tokens.len() {
            let mut plain = vec![*program];
            plain.extend(&tokens[at..]);
            return see(&plain);
        }
        return false;
    }
    let known = known(name);
    if let Some((_, valued, operands)) = known.wraps {
        let inner = wrapped(&tokens[1..], valued, *operands);
        return each(inner, depth + 1, see)
            || by_option(tokens, &["-S", "--split-string", "-c"], depth, see);
    }
    if known.is_shell || matches!(name, "su" | "script" | "eval") {
        return match name {
            "eval" => script(&tokens[1..].join(" "), depth, see),
            _ => by_option(tokens, &["-c", "--command"], depth, see),
        };
    }
    match name {
        "find" | "gfind" | "fd" | "fdfind" => {
            let starts = tokens.iter().enumerate().filter(|(_, token)| {
                matches!(
                    **token,
                    "-exec"
                        | "-execdir"
                        | "-ok"
                        | "-okdir"
                        | "-x"
                        | "-X"
                        | "--exec"
                        | "--exec-batch"
                )
            });
            starts
                .into_iter()
                .any(|(at, _)| each(&tokens[at + 1..], depth + 1, see))
        }
        // What it runs on the other side is forbidden as it is here.
        "ssh" => {
            let operands: Vec<&str> = tokens[1..]
                .iter()
                .filter(|token| !token.starts_with('-'))
                .copied()
                .collect();
            operands.len() > 1 && script(&operands[1..].join(" "), depth, see)
        }
        _ => false,
    }
}

/// The command that a wrapper's arguments hold.
fn wrapped<'a, 'b>(
    mut arguments: &'a [&'b str],
    valued: &[&str],
    operands: usize,
) -> &'a [&'b str] {
    let mut operands = operands;
    while let Some((first, rest)) = arguments.split_first() {
        let skip = if valued.contains(first) {
            2
        } else if first.starts_with('-') || is_assignment(first) {
            1
        } else if operands > 0 {
            operands -= 1;
            1
        } else {
            return arguments;
        };
        arguments = if skip == 1 {
            rest
        } else {
            arguments.get(2..).unwrap_or_default()
        };
    }
    arguments
}

fn is_assignment(token: &str) -> bool {
    token.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
    })
}

/// Reads the scripts that these options give.
fn by_option(
    tokens: &[&str],
    options: &[&str],
    depth: usize,
    see: &mut dyn FnMut(&[&str]) -> bool,
) -> bool {
    tokens.iter().enumerate().skip(1).any(|(at, token)| {
        let attached = options.iter().find_map(|option| {
            let rest = token.strip_prefix(option)?;
            Some(rest.strip_prefix('=').unwrap_or(rest)).filter(|rest| !rest.is_empty())
        });
        // `-ec`, `-xc`: the letter may stand in a cluster.
        let is_option = options.contains(token)
            || (token.starts_with('-') && !token.starts_with("--") && token.ends_with('c'));
        let next = is_option.then(|| tokens.get(at + 1)).flatten();
        attached.is_some_and(|text| script(text, depth, see))
            || next.is_some_and(|text| script(text, depth, see))
    })
}

fn script(text: &str, depth: usize, see: &mut dyn FnMut(&[&str]) -> bool) -> bool {
    shell::read(text).commands.iter().any(|command| {
        let words: Vec<&str> = command
            .words
            .iter()
            .map(|word| word.text.as_str())
            .collect();
        each(&words, depth + 1, see)
    })
}

/// The script of `sh -c SCRIPT`, when that is all there is to the command.
pub(in super::super) fn script_of<'a>(tokens: &[&'a str]) -> Option<&'a str> {
    match tokens {
        [shell, "-c", script] if SHELLS.contains(shell) && *shell != "fish" => Some(script),
        _ => None,
    }
}
