//! Prompts that stand in a comment: `// redline: make this iterative`.
//!
//! Owns: finding one in a line, in the comment syntax of common languages, and what goes when it was sent.
//! Must not know: documents, or how a prompt is sent.

use std::ops::Range;

/// The word that makes a comment a prompt.
const WORD: &str = "redline:";

/// What begins a comment, longest first, with what ends it in the same line.
const LEADERS: &[(&str, &str)] = &[
    ("<!--", "-->"),
    ("///", ""),
    ("//!", ""),
    ("/**", "*/"),
    ("{-", "-}"),
    ("(*", "*)"),
    ("/*", "*/"),
    ("//", ""),
    ("--", ""),
    (";;;", ""),
    (";;", ""),
    (";", ""),
    ("#", ""),
    ("%", ""),
    ("!", ""),
];

/// Leaders that mean something else in most languages, by the extension of those that comment with them.
const RARE: &[(&str, &str)] = &[("vim", "\""), ("vb", "'"), ("bas", "'"), ("bat", "rem")];

/// A prompt in a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// What the user says.
    pub(crate) text: String,
    /// The bytes of the line that go with it: the comment, and the blanks before it.
    pub(crate) bytes: Range<usize>,
    /// Nothing else stands in the line, so that the whole line goes.
    pub(crate) is_alone: bool,
}

/// The prompt in `line` (without its ending) of a file with this extension.
pub(crate) fn find(line: &str, extension: &str) -> Option<Prompt> {
    // Nearly every line ends here, whatever its length.
    let word = find_ignoring_case(line, WORD)?;
    let before = line[..word].trim_end();
    let rare = RARE
        .iter()
        .filter(|(of, _)| of.eq_ignore_ascii_case(extension))
        .map(|(_, leader)| (*leader, ""));
    let (leader, closer) = LEADERS
        .iter()
        .copied()
        .chain(rare)
        .find(|(leader, _)| ends_with_ignoring_case(before, leader))?;
    let code = &before[..before.len() - leader.len()];
    // A sign in the middle of a word or an address begins no comment.
    if !code.is_empty() && !code.ends_with([' ', '\t']) {
        return None;
    }
    let rest = &line[word + WORD.len()..];
    let (said, end) = match closer {
        "" => (rest, line.len()),
        closer => match rest.find(closer) {
            Some(at) if rest[at + closer.len()..].trim().is_empty() => (&rest[..at], line.len()),
            // Code after the comment stays, and a comment that goes on in the next line is none of ours.
            _ => return None,
        },
    };
    let text = said.trim();
    if text.is_empty() {
        return None;
    }
    let code = code.trim_end();
    Some(Prompt {
        text: text.to_owned(),
        bytes: code.len()..end,
        is_alone: code.is_empty(),
    })
}

fn find_ignoring_case(text: &str, wanted: &str) -> Option<usize> {
    let (text, wanted) = (text.as_bytes(), wanted.as_bytes());
    text.windows(wanted.len())
        .position(|window| window.eq_ignore_ascii_case(wanted))
}

fn ends_with_ignoring_case(text: &str, end: &str) -> bool {
    let (text, end) = (text.as_bytes(), end.as_bytes());
    text.len() >= end.len() && text[text.len() - end.len()..].eq_ignore_ascii_case(end)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_language_has_its_own_comment() {
        let cases = [
            ("// redline: go", "rs"),
            ("    # redline: go", "py"),
            ("-- redline: go", "lua"),
            (";; redline: go", "el"),
            ("% redline: go", "tex"),
            ("/* redline: go */", "c"),
            ("<!-- redline: go -->", "html"),
            ("(* redline: go *)", "ml"),
            ("{- redline: go -}", "hs"),
            ("\" redline: go", "vim"),
            ("REM redline: go", "bat"),
            ("//redline:go", "js"),
            ("// Redline: go", "go"),
        ];
        for (line, extension) in cases {
            let found = find(line, extension).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(found.text, "go", "{line}");
            assert!(found.is_alone, "{line}");
        }
    }

    #[test]
    fn code_before_the_comment_stays() {
        let line = "let x = fib(n); // redline: make this iterative";
        let found = find(line, "rs").unwrap();
        assert_eq!(found.text, "make this iterative");
        assert_eq!(&line[..found.bytes.start], "let x = fib(n);");
        assert!(!found.is_alone);
    }

    #[test]
    fn what_is_no_prompt_is_left_alone() {
        let cases = [
            ("redline: go", "rs"),
            ("// redline:", "rs"),
            ("// see redline: go", "rs"),
            ("https://redline:8080/", "md"),
            ("\" redline: go", "rs"),
            ("/* redline: go", "c"),
            ("/* redline: go */ code();", "c"),
            ("", "rs"),
            ("ünïcode // redline", "rs"),
        ];
        for (line, extension) in cases {
            assert_eq!(find(line, extension), None, "{line}");
        }
    }
}
