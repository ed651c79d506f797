//! A command held against the table: which of its tokens make it run another program or write a file.

use super::known::known;
use super::{base_name, git, scripts};

/// A token that makes a command do more than its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Finding {
    /// Index of the token.
    pub(in super::super) token: usize,
    /// Index after the last token that belongs to it: a rule that spells out all of them means them.
    pub(in super::super) end: usize,
    /// What it does.
    pub(in super::super) why: &'static str,
}

pub(super) const RUNS: &str = "runs another program";
pub(super) const WRITES: &str = "writes or removes a file";

impl Finding {
    pub(super) fn new(token: usize, end: usize, why: &'static str) -> Self {
        Self { token, end, why }
    }
}

/// Calls `found` for each finding in `tokens`, whose first is the program, until it answers true.
/// `has_wild_words`: the shell will put file names in the place of a word, and a file name may read like an option.
pub(in super::super) fn findings(
    tokens: &[&str],
    has_wild_words: bool,
    found: &mut dyn FnMut(Finding) -> bool,
) -> bool {
    let Some((program, arguments)) = tokens.split_first() else {
        return false;
    };
    let name = base_name(program);
    let known = known(name);
    if known.is_runner && found(Finding::new(0, tokens.len(), RUNS)) {
        return true;
    }
    if name == "git" {
        return git::findings(tokens, found) || (has_wild_words && found(wild(tokens)));
    }
    let by_script = match name {
        "sed" | "gsed" => scripts::sed(arguments),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => scripts::awk(arguments),
        _ => special(name, arguments),
    };
    if by_script.is_some_and(|(at, why)| found(Finding::new(at + 1, at + 2, why))) {
        return true;
    }
    let Some(known) = known.options else {
        return false;
    };
    if has_wild_words && found(wild(tokens)) {
        return true;
    }
    for (at, token) in arguments.iter().enumerate() {
        if !token.starts_with('-') {
            continue;
        }
        if *token == "--" && !known.ignores_double_dash {
            return false;
        }
        let is_one = |entry: &&str| is_option(token, entry, known.valued);
        let why = if known.runs.iter().any(is_one) {
            RUNS
        } else if known.writes.iter().any(is_one) {
            WRITES
        } else {
            continue;
        };
        // Its value may be the next token.
        let end = (at + 3).min(tokens.len()).max(at + 2);
        if found(Finding::new(at + 1, end, why)) {
            return true;
        }
    }
    false
}

fn wild(tokens: &[&str]) -> Finding {
    Finding::new(
        tokens.len() - 1,
        usize::MAX,
        "has a wildcard that a file name which reads like an option may match",
    )
}

/// Whether `token` is, or holds, the option that `entry` of the table stands for.
pub(super) fn is_option(token: &str, entry: &str, valued: &str) -> bool {
    if let Some(word) = entry.strip_prefix('=') {
        return token
            .strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', ':']));
    }
    if let Some(long) = entry.strip_prefix("--") {
        let Some(given) = token.strip_prefix("--") else {
            return false;
        };
        // Most entries end here.
        if given.as_bytes().first() != long.as_bytes().first() {
            return false;
        }
        let given = given.split('=').next().unwrap_or(given);
        // Most programs take any beginning of a long option that is not another's.
        return !given.is_empty() && long.starts_with(given);
    }
    let (Some(letter), Some(cluster)) = (entry.strip_prefix('-'), token.strip_prefix('-')) else {
        return false;
    };
    if cluster.starts_with('-') {
        return false;
    }
    if letter.len() > 1 {
        return cluster == letter;
    }
    for c in cluster.chars() {
        if letter.starts_with(c) {
            return true;
        }
        if valued.contains(c) {
            return false;
        }
    }
    false
}

/// What is no option, and still not harmless.
fn special(name: &str, arguments: &[&str]) -> Option<(usize, &'static str)> {
    let position = |is: fn(&str) -> bool| arguments.iter().position(|token| is(token));
    match name {
        // `uniq IN OUT`, `xxd -r IN OUT`: the second operand is written.
        "uniq" | "guniq" | "xxd" => {
            let operands = arguments
                .iter()
                .enumerate()
                .filter(|(_, token)| !token.starts_with('-') || **token == "-");
            let second = operands.map(|(at, _)| at).nth(1)?;
            Some((second, WRITES))
        }
        "make" | "gmake" | "bmake" => Some((
            position(|token| !token.starts_with('-') && token.contains('='))?,
            RUNS,
        )),
        // A first argument without a dash is a cluster too: `tar xfI a b`.
        "tar" | "gtar" | "bsdtar" => {
            let first = arguments.first()?;
            let old_style = !first.starts_with('-') && first.contains(['I', 'F', 'P', 'g']);
            let remote = || {
                position(|token| {
                    !token.starts_with("--")
                        && token
                            .split('/')
                            .next()
                            .is_some_and(|host| host.contains(':'))
                })
            };
            if old_style {
                Some((0, RUNS))
            } else {
                Some((remote()?, RUNS))
            }
        }
        "less" | "more" | "vi" | "vim" | "nvim" | "view" | "ex" => {
            Some((position(|token| token.starts_with('+'))?, RUNS))
        }
        // `+toolchain` may be any path.
        "cargo" => Some((position(|token| token.starts_with('+'))?, RUNS)),
        // Dot commands (`.shell`, `.output`) and psql's `\!`.
        "sqlite3" | "duckdb" | "psql" | "mysql" | "mariadb" => Some((
            position(|token| token.starts_with(['.', '\\']) && token.len() > 2)?,
            RUNS,
        )),
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" | "rustc" | "ld" | "javac" | "java" => {
            Some((
                position(|token| token.starts_with(['@', '+']))?,
                "reads its options from a file",
            ))
        }
        "date" | "gdate" => {
            // `date MMDDhhmm` sets the clock.
            Some((
                position(|token| token.len() >= 8 && token.bytes().all(|c| c.is_ascii_digit()))?,
                WRITES,
            ))
        }
        _ => None,
    }
}

/// Whether setting this variable changes no more than words, colors and widths.
pub(in super::super) fn is_harmless_variable(name: &str, value: &str) -> bool {
    let is_known = matches!(
        name,
        "LANG"
            | "LANGUAGE"
            | "TZ"
            | "NO_COLOR"
            | "CLICOLOR"
            | "FORCE_COLOR"
            | "COLUMNS"
            | "LINES"
            | "TERM"
            | "CI"
    ) || name.strip_prefix("LC_").is_some_and(|category| {
        matches!(
            category,
            "ALL" | "COLLATE" | "CTYPE" | "MESSAGES" | "MONETARY" | "NUMERIC" | "TIME"
        )
    });
    // A path in some of them names a file to load.
    is_known
        && value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@' | '+'))
}
