//! Facts that a person must have been told, in whatever words.

use std::collections::BTreeSet;

/// Error kinds of the cases that one of our codes may stand for.
pub(super) fn kinds_of(code: &str) -> Vec<String> {
    let kinds: &[&str] = match code {
        "AMBIGUOUS_MATCH" => &["ambiguous"],
        "STALE_VERSION" | "STALE_HUNK" => &["stale_version"],
        "OUTSIDE_WORKSPACE" => &["path_escape"],
        "SYMLINK_REJECTED" => &["is_symlink", "path_escape"],
        "ALREADY_SETTLED" | "NOTHING_PENDING" => &["already_closed", "already_applied"],
        "ALREADY_APPLIED" => &["already_applied", "already_closed"],
        "UNKNOWN_TRANSACTION" | "UNKNOWN_HUNK" => &["not_found", "already_closed"],
        "NOT_ALLOWED" | "APPROVAL_DENIED" | "APPROVAL_REQUIRED" => &["not_allowed"],
        other => return vec![other.to_lowercase()],
    };
    kinds.iter().map(|kind| (*kind).to_owned()).collect()
}

/// Whether the reviewer saw the mark; own names are fine, the fact is not optional.
pub(super) fn has_flag(flags: &BTreeSet<String>, wanted: &str) -> bool {
    let wanted = plain(wanted);
    flags.iter().any(|flag| {
        let flag = plain(flag);
        flag == wanted
            || flag.starts_with(&format!("{wanted}:"))
            || same_fact(&wanted).contains(&flag.as_str())
    })
}

fn plain(flag: &str) -> String {
    flag.to_lowercase().replace(['-', ' '], "_")
}

fn same_fact(wanted: &str) -> &'static [&'static str] {
    match wanted {
        "inexact" => &[
            "inexact:indentation",
            "inexact:whitespace",
            "inexact:lookalike",
        ],
        "inexact:quotes" | "inexact:dashes" | "inexact:spaces" | "inexact:unicode"
        | "inexact:lookalikes" => &["inexact:lookalike"],
        "inexact:trailing_whitespace" | "inexact:line_endings" | "inexact:eol" => {
            &["inexact:whitespace"]
        }
        "inexact:indent" => &["inexact:indentation"],
        "reanchored" => &["rebased", "moved"],
        "binary" => &["binary_bytes"],
        "ansi" | "ansi_stripped" | "escapes_removed" | "control_sequences" => &["escapes"],
        "lossy" | "invalid_utf8" | "replaced" => &["not_utf8", "binary_bytes"],
        "overwrite" => &["overwrites", "replaces"],
        _ => &[],
    }
}

/// Whether what was said contains the fact.
///
/// Numbers, paths and code points have to be there as they are; a fact in words alone needs each of its words, or one that
/// means the same. `user text` and `proposed text` stand for the lines themselves.
pub(super) fn is_reported(said: &str, fact: &str) -> bool {
    let hard: Vec<&str> = words(fact).filter(|word| is_hard(word)).collect();
    if hard.is_empty() {
        let lower = said.to_lowercase();
        return words(fact).all(|word| {
            let word = word.to_lowercase();
            synonyms(&word).iter().any(|one| lower.contains(one)) || lower.contains(stem(&word))
        });
    }
    hard.iter().all(|word| says(said, word))
}

fn words(fact: &str) -> impl Iterator<Item = &str> {
    fact.split(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .map(|word| word.trim_matches(|c: char| matches!(c, '"' | '\'' | '(' | ')' | ':')))
        .filter(|word| !word.is_empty() && *word != "->")
}

/// A word that no other wording can replace.
fn is_hard(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit())
        || word.contains('/')
        || word.contains('.') && word.len() > 2
}

/// Whether the text has the word, not merely inside a longer number or name.
fn says(text: &str, word: &str) -> bool {
    let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let found = text.match_indices(word).any(|(at, _)| {
        !inside(text[..at].chars().next_back()) && !inside(text[at + word.len()..].chars().next())
    });
    found
        || match word {
            "1" => says_word(text, &["one", "once", "first", "single"]),
            "2" => says_word(text, &["two", "twice", "both"]),
            "3" => says_word(text, &["three"]),
            _ => {
                // A code point may be written another way.
                word.strip_prefix("0x").is_some_and(|hex| {
                    text.to_lowercase()
                        .contains(&format!("0x{}", hex.to_lowercase()))
                }) || word.strip_prefix("U+").is_some_and(|hex| {
                    text.to_lowercase()
                        .contains(&format!("u+{}", hex.to_lowercase()))
                })
            }
        }
}

fn says_word(text: &str, words: &[&str]) -> bool {
    let lower = text.to_lowercase();
    words.iter().any(|word| {
        lower
            .split(|c: char| !c.is_alphanumeric())
            .any(|one| one == *word)
    })
}

fn stem(word: &str) -> &str {
    // The first five letters carry the meaning: change, changed, changes.
    let end = word.char_indices().nth(5).map_or(word.len(), |(at, _)| at);
    &word[..end]
}

fn synonyms(word: &str) -> &'static [&'static str] {
    match word {
        "rolled" | "back" => &[
            "rolled back",
            "taken back",
            "restored",
            "put back",
            "undone",
            "nothing was changed",
        ],
        "user" => &["yours", "current", "you have", "now reads", "now:"],
        "text" => &["line", "reads", "current", "proposed"],
        "proposed" => &["proposal", "agent"],
        "base" => &["was written against", "before"],
        "not" | "is" | "be" | "would" | "the" | "a" | "an" | "of" | "since" | "has" | "was" => {
            &[""]
        }
        "complete" => &["incomplete", "still arriving", "unfinished", "not finished"],
        "exist" | "exists" | "does" => &[
            "no such",
            "not found",
            "does not exist",
            "exists",
            "missing",
        ],
        "version" => &["version", "revision"],
        "changed" => &["change", "differ", "edited", "no longer"],
        "dropped" => &["cut", "left out", "truncated"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_paths_have_to_be_there_words_may_differ() {
        let said = "`  tls: off` is in services.yaml at lines 3 and 6; give more context";
        assert!(is_reported(said, "lines 3 and 6"));
        assert!(!is_reported(said, "lines 3 and 7"));
        assert!(
            !is_reported("at lines 13 and 16", "lines 3 and 6"),
            "not inside other numbers"
        );
        assert!(is_reported("found twice", "2 matches"));
        assert!(is_reported(
            "byte 0xe9 at offset 14 of menu.cfg",
            "byte 0xE9 at offset 14"
        ));
        assert!(is_reported(
            "c/d.txt: no space left; everything was taken back",
            "rolled back"
        ));
        assert!(!is_reported("c/d.txt: no space left", "rolled back"));
        assert!(is_reported("the document is at version 7", "version"));
        assert!(!is_reported("conflict", "user text"));
    }

    #[test]
    fn flags_may_have_our_own_names() {
        let flags = BTreeSet::from(["inexact:lookalike".to_owned(), "offset".to_owned()]);
        assert!(has_flag(&flags, "inexact:quotes"));
        assert!(has_flag(&flags, "offset"));
        assert!(!has_flag(&flags, "reanchored"));
        assert!(!has_flag(&flags, "inexact:indentation"));
    }
}
