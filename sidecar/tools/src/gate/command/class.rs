//! How far a command reaches, as far as its tokens tell: an estimate for the ceiling, never a promise. What a
//! sandbox confines, it confines; without one a program that stays inside by its name may still not.

use super::known::known;
use super::screen::{RUNS, findings};
use super::{base_name, git, inner};
use crate::Class;
use crate::gate::shell;

/// What a command is taken to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEffect {
    /// How much it may lose.
    pub class: Class,
    /// Paths that it plainly writes or removes, from its own folder; those outside the workspace show in the class.
    pub writes: Vec<String>,
}

/// Estimates what a command does; `root` is the absolute path of the workspace.
pub fn effect_of(program: &str, arguments: &[String], root: &str) -> CommandEffect {
    let mut tokens = vec![program];
    tokens.extend(arguments.iter().map(String::as_str));
    let mut writes = Vec::new();
    let class = class_of(&tokens, root, 0, &mut writes);
    CommandEffect { class, writes }
}

const READERS: &[&str] = &[
    "[",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "cat",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "expand",
    "expr",
    "factor",
    "false",
    "fd",
    "fdfind",
    "fgrep",
    "file",
    "find",
    "fmt",
    "fold",
    "grep",
    "head",
    "hexdump",
    "id",
    "jq",
    "join",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "pr",
    "printenv",
    "printf",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "rg",
    "seq",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "sort",
    "stat",
    "strings",
    "sum",
    "tac",
    "tail",
    "test",
    "tr",
    "tree",
    "true",
    "tsort",
    "tty",
    "uname",
    "unexpand",
    "uniq",
    "wc",
    "which",
    "whoami",
    "xxd",
    "yq",
    "sed",
    "awk",
    "gawk",
    "mawk",
    "bat",
    "eza",
    "tokei",
    "cloc",
];

const GIT_READERS: &[&str] = &[
    "blame",
    "cat-file",
    "check-attr",
    "check-ignore",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "var",
    "version",
    "whatchanged",
];

const GIT_NETWORK: &[&str] = &[
    "clone",
    "fetch",
    "ls-remote",
    "pull",
    "push",
    "remote",
    "send-email",
    "submodule",
    "svn",
    "p4",
    "daemon",
    "bundle-uri",
    "request-pull",
    "lfs",
    "annex",
];

/// Programs that work in the folder where they are started, by what they are for. An interpreter is none of them: it is for
/// whatever the file says that it is given, as the file is when it runs by itself.
const LOCAL: &[&str] = &[
    "ant",
    "babel",
    "bazel",
    "biome",
    "black",
    "bmake",
    "c++",
    "cc",
    "chmod",
    "clang",
    "clang++",
    "clang-format",
    "clang-tidy",
    "cmake",
    "cp",
    "ctest",
    "eslint",
    "esbuild",
    "flake8",
    "g++",
    "gcc",
    "ghc",
    "gmake",
    "gofmt",
    "gradle",
    "gradlew",
    "isort",
    "jasmine",
    "javac",
    "jest",
    "just",
    "ld",
    "ln",
    "make",
    "meson",
    "mkdir",
    "mocha",
    "mv",
    "mvn",
    "mvnw",
    "mypy",
    "ninja",
    "patch",
    "prettier",
    "pylint",
    "pyright",
    "pytest",
    "rm",
    "rmdir",
    "rollup",
    "ruff",
    "rustc",
    "rustfmt",
    "shellcheck",
    "shfmt",
    "stylelint",
    "stylua",
    "swc",
    "tar",
    "tee",
    "touch",
    "truncate",
    "tsc",
    "unlink",
    "unzip",
    "vitest",
    "webpack",
    "zip",
    "zig",
    "tox",
    "nox",
    "rspec",
    "phpunit",
];

/// Programs with some subcommands that stay inside.
const LOCAL_SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "cargo",
        &[
            "bench", "build", "b", "check", "c", "clean", "clippy", "doc", "d", "fix", "fmt",
            "metadata", "nextest", "run", "r", "test", "t", "tree", "version",
        ],
    ),
    (
        "go",
        &[
            "build", "clean", "doc", "env", "fmt", "generate", "list", "run", "test", "tool",
            "version", "vet",
        ],
    ),
    (
        "npm",
        &[
            "run",
            "run-script",
            "test",
            "t",
            "tst",
            "start",
            "ls",
            "list",
            "explain",
            "pkg",
        ],
    ),
    ("pnpm", &["run", "test", "t", "start", "ls", "list", "exec"]),
    ("yarn", &["run", "test", "start", "exec"]),
    ("dotnet", &["build", "clean", "run", "test", "format"]),
    ("mix", &["compile", "format", "test"]),
    ("swift", &["build", "run", "test"]),
    ("stack", &["build", "test", "exec"]),
    ("cabal", &["build", "test", "run"]),
    ("bundle", &["exec"]),
];

/// Programs whose operands are what they write.
const WRITERS: &[&str] = &[
    "chmod", "chown", "mkdir", "mv", "rm", "rmdir", "shred", "tee", "touch", "truncate", "unlink",
];

/// Programs whose last operand is what they write.
const COPIERS: &[&str] = &["cp", "ln", "install"];

const DEPTH: usize = 4;

fn class_of(tokens: &[&str], root: &str, depth: usize, writes: &mut Vec<String>) -> Class {
    let Some((program, arguments)) = tokens.split_first() else {
        return Class::Reversible;
    };
    if let Some(script) = inner::script_of(tokens) {
        let script = shell::read(script);
        if script.doubt.is_some() || depth >= DEPTH {
            return Class::Outside;
        }
        let mut class = Class::Reversible;
        for command in &script.commands {
            if let Some(file) = &command.writes {
                writes.push(file.clone());
                let reach = if leaves(file, root) {
                    Class::Outside
                } else {
                    Class::Workspace
                };
                class = class.max(reach);
            }
            if !command.assignments.is_empty() {
                class = class.max(Class::Workspace);
            }
            let words: Vec<&str> = command
                .words
                .iter()
                .map(|word| word.text.as_str())
                .collect();
            class = class.max(class_of(&words, root, depth + 1, writes));
        }
        return class;
    }
    let name = base_name(program);
    let operands = || arguments.iter().filter(|token| !token.starts_with('-'));
    if WRITERS.contains(&name) {
        writes.extend(operands().map(|token| (*token).to_owned()));
    } else if COPIERS.contains(&name) {
        writes.extend(operands().next_back().map(|token| (*token).to_owned()));
    }
    writes.retain(|path| !leaves(path, root));

    let mut class = by_name(name, tokens);
    findings(tokens, false, &mut |finding| {
        class = class.max(if finding.why == RUNS {
            Class::Outside
        } else {
            Class::Workspace
        });
        class == Class::Outside
    });
    if program.contains('/') && leaves(program, root)
        || arguments.iter().any(|token| reaches_out(token, root))
    {
        class = Class::Outside;
    }
    class
}

/// The programs whose class is that of all their uses.
pub(super) fn by_purpose() -> impl Iterator<Item = (&'static str, Class)> {
    let readers = READERS.iter().map(|name| (*name, Class::Reversible));
    readers.chain(LOCAL.iter().map(|name| (*name, Class::Workspace)))
}

fn by_name(name: &str, tokens: &[&str]) -> Class {
    if name == "git" {
        let command = tokens
            .get(git::command_at(tokens))
            .copied()
            .unwrap_or("version");
        return if GIT_NETWORK.contains(&command) {
            Class::Outside
        } else if GIT_READERS.contains(&command) {
            Class::Reversible
        } else {
            Class::Workspace
        };
    }
    if let Some(class) = known(name).class {
        return class;
    }
    let subcommand = tokens[1..]
        .iter()
        .find(|token| !token.starts_with(['-', '+']));
    let is_local = LOCAL_SUBCOMMANDS
        .iter()
        .find(|(program, _)| *program == name)
        .is_some_and(|(_, local)| subcommand.is_some_and(|one| local.contains(one)));
    // A program that nobody here knows may reach anywhere; a rule of the user's can say that it does not.
    if is_local {
        Class::Workspace
    } else {
        Class::Outside
    }
}

/// Whether a token, or the value in it, names a place beyond the workspace or on the network.
fn reaches_out(token: &str, root: &str) -> bool {
    let value = match token.strip_prefix('-') {
        Some(option) => match option.split_once('=') {
            Some((_, value)) => value,
            None => return false,
        },
        None => token,
    };
    // Most tokens are words: they name no place at all.
    let names_a_place = value.bytes().any(|byte| matches!(byte, b'/' | b'.' | b'~'));
    names_a_place && (value.contains("://") || leaves(value, root))
}

/// Whether a path leads out of the workspace, wherever in it it starts from.
fn leaves(path: &str, root: &str) -> bool {
    if path == "/dev/null" || path.starts_with('~') {
        return path.starts_with('~');
    }
    let inside = path
        .strip_prefix(root)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    if path.starts_with('/') && inside.is_none() {
        return true;
    }
    let mut depth = 0i32;
    inside.unwrap_or(path).split('/').any(|part| {
        match part {
            "" | "." => {}
            ".." => depth -= 1,
            _ => depth += 1,
        }
        depth < 0
    })
}
