//! The small languages that some commands take as an argument: `sed` and `awk` both run programs and write files.
//!
//! Only what is plainly harmless passes; anything else counts as running a program.

use super::screen::{RUNS, WRITES};

type Found = Option<(usize, &'static str)>;

/// The first script of a `sed` command that does more than print and replace.
pub(super) fn sed(arguments: &[&str]) -> Found {
    let mut takes_script = !arguments.iter().any(|token| {
        *token == "-e" || token.starts_with("-e") || token.starts_with("--expression")
    });
    let mut is_next = false;
    for (at, token) in arguments.iter().enumerate() {
        let script = if std::mem::take(&mut is_next) {
            Some(*token)
        } else if *token == "-e" || *token == "--expression" {
            is_next = true;
            None
        } else if let Some(script) = token.strip_prefix("--expression=") {
            Some(script)
        } else if let Some(script) = token.strip_prefix("-e") {
            Some(script)
        } else if token.starts_with('-') && token.len() > 1 {
            // `-ne script`: the last letter of a cluster.
            if !token.starts_with("--") && token.ends_with('e') {
                takes_script = false;
                is_next = true;
            }
            None
        } else if std::mem::take(&mut takes_script) {
            Some(*token)
        } else {
            None
        };
        if script.is_some_and(|script| !is_plain_sed(script)) {
            return Some((at, RUNS));
        }
    }
    None
}

/// Whether a script only has addresses, `p d q n N D P h H g G x =` and `s` without the flags `e` and `w`.
fn is_plain_sed(script: &str) -> bool {
    script
        .split([';', '\n'])
        .all(|command| is_plain_sed_command(command.trim()))
}

fn is_plain_sed_command(command: &str) -> bool {
    let Some(rest) = after_addresses(command) else {
        return false;
    };
    let mut chars = rest.trim_start_matches([' ', '!']).chars();
    match chars.next() {
        None => command.is_empty(),
        Some('s') => plain_substitution(chars.as_str()),
        Some('y') => true,
        Some('p' | 'd' | 'n' | 'N' | 'D' | 'P' | 'h' | 'H' | 'g' | 'G' | 'x' | '=' | '}' | '{') => {
            let rest = chars.as_str().trim();
            rest.is_empty() || is_plain_sed_command(rest)
        }
        Some('q' | 'Q' | 'l') => chars.as_str().trim().chars().all(|c| c.is_ascii_digit()),
        Some(_) => false,
    }
}

/// What follows `1`, `$`, `/re/`, `1,5`, `/a/,/b/`, `0~4`.
fn after_addresses(mut command: &str) -> Option<&str> {
    loop {
        let rest = match command.chars().next() {
            Some('/') => {
                let inner = &command[1..];
                let end = unescaped(inner, '/')?;
                inner[end + 1..].trim_start_matches(['I', 'M'])
            }
            Some('0'..='9' | '$') => command
                .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '$' | '~' | '+')),
            _ => return Some(command),
        };
        let rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(second) => command = second.trim_start(),
            None => return Some(rest),
        }
    }
}

fn plain_substitution(rest: &str) -> bool {
    let Some(delimiter) = rest.chars().next() else {
        return false;
    };
    let body = &rest[delimiter.len_utf8()..];
    let flags = unescaped(body, delimiter).and_then(|end| {
        let second = &body[end + delimiter.len_utf8()..];
        unescaped(second, delimiter).map(|end| &second[end + delimiter.len_utf8()..])
    });
    flags.is_some_and(|flags| {
        flags.trim().chars().all(|c| {
            c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '}' | ' ')
        })
    })
}

fn unescaped(text: &str, wanted: char) -> Option<usize> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == wanted {
            return Some(at);
        }
    }
    None
}

/// The program text of an `awk` command that may run a program or write a file.
pub(super) fn awk(arguments: &[&str]) -> Found {
    let mut skip = false;
    for (at, token) in arguments.iter().enumerate() {
        if std::mem::take(&mut skip) {
            continue;
        }
        match *token {
            "-F" | "-v" | "--field-separator" | "--assign" => skip = true,
            option if option.starts_with('-') && option.len() > 1 => {}
            program => return awk_problem(program).map(|why| (at, why)),
        }
    }
    None
}

fn awk_problem(program: &str) -> Option<&'static str> {
    // `|` also opens a pipe to a program, `>` a file; in a comparison they are asked about needlessly. `@` loads
    // extensions and calls functions by name.
    let runs = ["system", "getline", "|", "@", "ENVIRON", "PROCINFO"];
    if runs.iter().any(|word| program.contains(word)) {
        return Some(RUNS);
    }
    let writes = program
        .match_indices('>')
        .any(|(at, _)| !program[at + 1..].starts_with('=') && program.contains("print"));
    writes.then_some(WRITES)
}
