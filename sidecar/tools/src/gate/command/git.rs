//! What is known of git: a rule for `git diff` covers that subcommand with harmless options, and nothing in front of it.

use super::screen::{Finding, RUNS, WRITES};

/// Options before the subcommand that change nothing about what runs.
const HARMLESS: &[&str] = &[
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--no-lazy-fetch",
    "--no-advice",
];

/// Options before the subcommand whose value is the next token.
const VALUED: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
    "--list-cmds",
    "--exec-path",
];

/// Subcommands whose purpose is to run other programs, or to set what later ones run.
const RUNNERS: &[&str] = &[
    "bisect",
    "config",
    "credential",
    "daemon",
    "difftool",
    "filter-branch",
    "for-each-repo",
    "gui",
    "help",
    "hook",
    "instaweb",
    "interpret-trailers",
    "maintenance",
    "mergetool",
    "send-email",
    "shell",
    "submodule",
    "web--browse",
];

/// How `git config` is asked to read only.
const CONFIG_READS: &[&str] = &[
    "--get",
    "--get-all",
    "--get-regexp",
    "--list",
    "-l",
    "get",
    "list",
];

/// Options of any subcommand.
const RUN: &[&str] = &[
    "--ext-diff",
    "--textconv",
    "--filters",
    "--exec",
    "--upload-pack",
    "--receive-pack",
    "--open-files-in-pager",
    "--show-signature",
    "--verify-signatures",
    "--gpg-sign",
    "--sign",
    "--edit",
    "--edit-description",
    "--interactive",
    "--tool",
    "--extcmd",
    "--help",
    "--template",
    "--config",
    "--strategy",
    "--trailer",
    "--remote",
    "--fsmonitor",
];

const WRITE: &[&str] = &["--output", "--output-directory", "--separate-git-dir"];

/// An option that reads like an abbreviation of one above, and is none.
const NOT_MEANT: &str = "--text";

/// Letters of some subcommands that run something: an editor, a pager, a signature, a program of the user's.
fn letters_of(command: &str) -> (&'static str, &'static str) {
    match command {
        "grep" => ("O", "ABCefm"),
        "rebase" => ("xisS", "C"),
        "archive" | "format-patch" => ("o", "vn"),
        "fetch" | "pull" | "ls-remote" | "fetch-pack" => ("u", "jo"),
        "clone" => ("uc", "bjo"),
        "add" | "checkout" | "restore" | "reset" | "stash" => ("eip", "bBsmU"),
        "commit" | "revert" | "cherry-pick" => ("eS", "mCcFt"),
        "merge" => ("eSs", "mFX"),
        "tag" => ("esu", "mFn"),
        _ => ("", ""),
    }
}

/// Where the subcommand stands; the length of `tokens` when there is none.
pub(in super::super) fn command_at(tokens: &[&str]) -> usize {
    let mut at = 1;
    while let Some(token) = tokens.get(at) {
        if !token.starts_with('-') {
            return at;
        }
        at += if VALUED.contains(token) { 2 } else { 1 };
    }
    tokens.len()
}

/// NAME of a key `alias.NAME` of a configuration.
pub(in super::super) fn name_of_alias(key: &str) -> Option<&str> {
    key.strip_prefix("alias.")
}

/// See [`super::screen::findings`].
pub(super) fn findings(tokens: &[&str], found: &mut dyn FnMut(Finding) -> bool) -> bool {
    let command = command_at(tokens);
    let before = tokens.get(1..command.min(tokens.len())).unwrap_or_default();
    for (at, token) in before.iter().enumerate() {
        let is_value = at > 0 && VALUED.contains(&before[at - 1]);
        if !is_value && !HARMLESS.contains(token) {
            let why = "sets, before the subcommand, where git looks or what it runs";
            if found(Finding::new(at + 1, command.max(at + 2), why)) {
                return true;
            }
        }
    }
    let Some(name) = tokens.get(command) else {
        return false;
    };
    let reads_config = *name == "config"
        && tokens
            .get(command + 1)
            .is_some_and(|how| CONFIG_READS.contains(how));
    if RUNNERS.contains(name) && !reads_config && found(Finding::new(command, tokens.len(), RUNS)) {
        return true;
    }
    for (at, token) in tokens.iter().enumerate().skip(command + 1) {
        if *token == "--" {
            return false;
        }
        if let Some(why) = problem(name, token)
            && found(Finding::new(
                at,
                (at + 2).min(tokens.len()).max(at + 1),
                why,
            ))
        {
            return true;
        }
    }
    false
}

fn problem(command: &str, token: &str) -> Option<&'static str> {
    // A remote helper: `ext::` runs what follows it.
    if token.starts_with("ext::") || token.starts_with("fd::") {
        return Some(RUNS);
    }
    if !token.starts_with('-') {
        return None;
    }
    if token.contains('%') && token.contains("%G") {
        return Some("asks for signatures, for which git runs what is configured");
    }
    let (letters, valued) = letters_of(command);
    if !token.starts_with("--") {
        let cluster = token.chars().skip(1).take_while(|c| !valued.contains(*c));
        return cluster
            .into_iter()
            .any(|c| letters.contains(c))
            .then_some(match command {
                "archive" | "format-patch" => WRITES,
                _ => RUNS,
            });
    }
    let given = token.split('=').next().unwrap_or(token);
    if token == NOT_MEANT || given == "--" {
        return None;
    }
    // git takes any beginning of a long option that is not another's.
    let is = |list: &[&str]| list.iter().any(|entry| entry.starts_with(given));
    if is(RUN) {
        Some(RUNS)
    } else if is(WRITE) {
        Some(WRITES)
    } else {
        None
    }
}
