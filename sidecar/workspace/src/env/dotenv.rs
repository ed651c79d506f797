//! A workspace's `.env`.
//!
//! ```text
//! file    := line*
//! line    := blank | "#" comment | ["export" ws] name ws "=" ws value ws ["#" comment]
//! value   := "'" anything but "'" "'"            as it stands, over several lines
//!          | '"' (escape | anything but '"') '"' over several lines; \n \r \t \" \\ \$ stand for what they do in C
//!          | text up to " #" or the end of the line, without white space around it
//! ```
//!
//! Nothing is expanded: `$NAME`, `${NAME}`, `$(command)` and backticks stand for themselves. A line that does
//! not fit is left out and named; the others count. A later line of one name wins.

use std::collections::BTreeMap;

use super::{check, is_name};
use crate::boundary::WorkspaceRoot;
use crate::read::Entry;

/// Largest file that is read.
const MAX_FILE_BYTES: usize = 1 << 20;

/// The file's name.
const FILE: &str = ".env";

/// What a `.env` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DotEnv {
    /// The variables.
    pub variables: BTreeMap<String, String>,
    /// Lines that were left out.
    pub problems: Vec<DotEnvProblem>,
    /// Whether there is one, and whether it was read.
    pub state: DotEnvState,
}

/// Whether a `.env` was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DotEnvState {
    /// There is none.
    #[default]
    Absent,
    /// It was read; this is the revision of its bytes.
    Read {
        /// blake3 of its bytes, in hex.
        revision: String,
    },
    /// It is not trusted, so nothing of it counts.
    Untrusted {
        /// blake3 of its bytes, in hex: what would be trusted.
        revision: String,
        /// The variables that it would set; their values stay unread.
        names: Vec<String>,
    },
    /// It cannot be read.
    Unreadable {
        /// Why.
        reason: String,
    },
}

/// A line that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DotEnvProblem {
    /// 1-based.
    pub line: usize,
    /// What is wrong with it; never with a value.
    pub reason: &'static str,
}

/// Reads the workspace's `.env`, if `trusted` says so of the revision of its bytes.
pub fn read_dotenv(root: &WorkspaceRoot, trusted: impl FnOnce(&str) -> bool) -> DotEnv {
    let unreadable = |reason: String| DotEnv {
        state: DotEnvState::Unreadable { reason },
        ..DotEnv::default()
    };
    let entry = match root.admit(FILE) {
        Ok(path) => root.read(&path),
        Err(error) => return unreadable(error.to_string()),
    };
    let file = match entry {
        Ok(Entry::Missing) => return DotEnv::default(),
        Ok(Entry::File(file)) if file.bytes.len() <= MAX_FILE_BYTES => file,
        Ok(Entry::File(_) | Entry::TooLarge { .. }) => {
            return unreadable("it is larger than 1 MiB".to_owned());
        }
        Ok(Entry::Directory | Entry::Symlink { .. } | Entry::Special { .. }) => {
            return unreadable("it is not a file".to_owned());
        }
        Err(error) => return unreadable(error.to_string()),
    };
    let revision = file.revision();
    if !trusted(&revision) {
        let (variables, _) = parse_dotenv(&String::from_utf8_lossy(&file.bytes));
        let names = variables.into_keys().collect();
        return DotEnv {
            state: DotEnvState::Untrusted { revision, names },
            ..DotEnv::default()
        };
    }
    match std::str::from_utf8(&file.bytes) {
        Ok(text) => {
            let (variables, problems) = parse_dotenv(text);
            DotEnv {
                variables,
                problems,
                state: DotEnvState::Read { revision },
            }
        }
        Err(_) => unreadable("it is not UTF-8".to_owned()),
    }
}

/// Parses the text of a `.env`. Total: any text gives variables and problems.
pub fn parse_dotenv(text: &str) -> (BTreeMap<String, String>, Vec<DotEnvProblem>) {
    let mut variables = BTreeMap::new();
    let mut problems = Vec::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut line = 1;
    while !rest.is_empty() {
        let (parsed, after) = parse_line(rest);
        match parsed {
            Ok(None) => {}
            Ok(Some((name, value))) => match check(name, &value) {
                Ok(()) => drop(variables.insert(name.to_owned(), value)),
                Err(error) => problems.push(DotEnvProblem {
                    line,
                    reason: error.reason,
                }),
            },
            Err(reason) => problems.push(DotEnvProblem { line, reason }),
        }
        line += rest[..rest.len() - after.len()].matches('\n').count();
        rest = after;
    }
    (variables, problems)
}

type Parsed<'a> = Result<Option<(&'a str, String)>, &'static str>;

/// One assignment, comment or blank line, and the text after it.
fn parse_line(text: &str) -> (Parsed<'_>, &str) {
    let (line, after) = text.split_once('\n').unwrap_or((text, ""));
    let start = line.trim();
    if start.is_empty() || start.starts_with('#') {
        return (Ok(None), after);
    }
    let Some((name, _)) = line.split_once('=') else {
        return (Err("there is no `=`"), after);
    };
    // The value may go on over the next lines.
    let value = text[name.len() + 1..].trim_start_matches([' ', '\t']);
    let name = name.trim();
    let name = name.strip_prefix("export").map_or(name, |rest| {
        if rest.starts_with([' ', '\t']) {
            rest.trim_start()
        } else {
            name
        }
    });
    if !is_name(name) {
        return (Err("this cannot be a name"), after);
    }
    match value.chars().next() {
        Some(quote @ ('\'' | '"')) => match quoted(&value[1..], quote) {
            Some((value, rest)) => {
                let (tail, after_value) = rest.split_once('\n').unwrap_or((rest, ""));
                let tail = tail.trim();
                if tail.is_empty() || tail.starts_with('#') {
                    (Ok(Some((name, value))), after_value)
                } else {
                    // Perhaps a quote was left open, and this one belongs to another line.
                    (Err("there is text after the closing quote"), after)
                }
            }
            None => (Err("the quote is not closed"), after),
        },
        _ => {
            let value = value.split('\n').next().unwrap_or_default();
            let comment = value
                .match_indices('#')
                .find(|(at, _)| *at == 0 || value[..*at].ends_with([' ', '\t']));
            let value = comment.map_or(value, |(at, _)| &value[..at]);
            (Ok(Some((name, value.trim().to_owned()))), after)
        }
    }
}

/// The text up to the closing quote, and what follows it.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            _ if c == quote => return Some((value, &text[at + 1..])),
            '\\' if quote == '"' => match chars.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                same @ ('"' | '\\' | '$') => value.push(same),
                other => value.extend(['\\', other]),
            },
            _ => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Scratch;
    use proptest::prelude::*;

    fn check_value(text: &str, expected: &str) {
        let (variables, problems) = parse_dotenv(text);
        assert_eq!(problems, [], "{text}");
        assert_eq!(
            variables.get("A").map(String::as_str),
            Some(expected),
            "{text}"
        );
    }

    #[test]
    fn values_are_what_they_say_and_nothing_is_expanded() {
        for (text, expected) in [
            ("A=b", "b"),
            ("  export  A = b c  # said\r\n", "b c"),
            ("exportA=x\nA=b#c", "b#c"),
            ("A=", ""),
            ("A=# nothing", ""),
            ("A='b # \\n $HOME'", "b # \\n $HOME"),
            ("A=\"b\\n\\\"c\\\" \\$D \\x\" # said", "b\n\"c\" $D \\x"),
            ("A=\"one\ntwo\"\nB=3", "one\ntwo"),
            ("A='one\ntwo'", "one\ntwo"),
            (
                "A=$(touch /tmp/x)`id`${HOME}$HOME",
                "$(touch /tmp/x)`id`${HOME}$HOME",
            ),
            ("A=first\nA=last", "last"),
            ("\u{feff}A=b=c", "b=c"),
        ] {
            check_value(text, expected);
        }
    }

    #[test]
    fn lines_that_do_not_fit_are_named_and_the_others_count() {
        let text = "GOOD=1\nnothing\n1X=2\nOPEN=\"a\nTAIL='a' b\nM=\"x\ny\"\nA-B=1\nLAST=2\n";
        let (variables, problems) = parse_dotenv(text);
        let names: Vec<&str> = variables.keys().map(String::as_str).collect();
        assert_eq!(names, ["GOOD", "LAST", "M"]);
        let lines: Vec<usize> = problems.iter().map(|problem| problem.line).collect();
        assert_eq!(lines, [2, 3, 4, 5, 8]);
    }

    #[test]
    fn one_that_is_not_trusted_is_not_read() {
        let scratch = Scratch::new(&[(".env", "A=b\n")]);
        let read = read_dotenv(&scratch.root, |_| true);
        let DotEnvState::Read { revision } = &read.state else {
            panic!("{read:?}")
        };
        let other = read_dotenv(&scratch.root, |found| found != revision);
        assert_eq!(
            other.state,
            DotEnvState::Untrusted {
                revision: revision.clone(),
                names: vec!["A".to_owned()],
            }
        );
        assert!(other.variables.is_empty());
        assert_eq!(
            read_dotenv(&Scratch::new(&[]).root, |_| true),
            DotEnv::default()
        );
    }

    proptest! {
        #[test]
        fn any_text_is_parsed(text in "[A-Z='\"\\\\#\\n $a-z`(]{0,60}") {
            let (variables, problems) = parse_dotenv(&text);
            prop_assert!(variables.len() + problems.len() <= text.matches('\n').count() + 1);
        }

        #[test]
        fn quoting_brings_every_value_back(value in "[^\\x00]{0,40}") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            check_value(&format!("A=\"{quoted}\"\n"), &value);
        }
    }
}
