//! Characters that look alike, folded to one of them.
//!
//! Source: the Unicode general punctuation and space separators that editors and models swap for
//! ASCII, and canonical composition (UAX 15).

use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};

/// A text with its look-alikes folded, and the way back.
pub(super) struct Folded {
    pub(super) text: String,
    /// (folded byte, original byte) at each unit's start, ascending, with an end entry.
    map: Vec<(usize, usize)>,
}

impl Folded {
    /// Folds `text`: CRLF to LF, white space before a line ending dropped, and each character with
    /// its combining marks to its composed look-alike.
    pub(super) fn new(text: &str) -> Self {
        let mut folded = Self {
            text: String::with_capacity(text.len()),
            map: Vec::with_capacity(text.len() + 1),
        };
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            match line.strip_suffix('\n') {
                Some(content) => {
                    let content = content.strip_suffix('\r').unwrap_or(content);
                    folded.push_line(content, at);
                }
                None => folded.push_units(line, at),
            }
            at += line.len();
        }
        folded.map.push((folded.text.len(), text.len()));
        folded
    }

    /// Pushes a line that ends in LF, without what is white space at its end once it is folded.
    fn push_line(&mut self, content: &str, line_at: usize) {
        let start = self.text.len();
        self.push_units(content, line_at);
        let kept = start + self.text[start..].trim_end().len();
        self.text.truncate(kept);
        while self
            .map
            .last()
            .is_some_and(|(folded, original)| *folded >= kept && *original >= line_at)
        {
            self.map.pop();
        }
        self.map.push((kept, line_at + content.len()));
        self.text.push('\n');
    }

    fn push_units(&mut self, line: &str, line_at: usize) {
        let mut rest = line.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            self.map.push((self.text.len(), line_at + at));
            let marked = rest.peek().is_some_and(|(_, next)| is_mark(*next));
            if !marked && c.is_ascii() {
                self.text.push(c);
                continue;
            }
            let mut end = at + c.len_utf8();
            while let Some((at, mark)) = rest.next_if(|(_, next)| is_mark(*next)) {
                end = at + mark.len_utf8();
            }
            fold_unit(&line[at..end], &mut self.text);
        }
    }

    /// The folded byte of an original one, where a unit starts there.
    pub(super) fn folded(&self, original: usize) -> Option<usize> {
        self.map
            .binary_search_by_key(&original, |(_, at)| *at)
            .ok()
            .map(|idx| self.map[idx].0)
    }

    /// The original byte of a folded one, where a unit starts there.
    pub(super) fn original(&self, folded: usize) -> Option<usize> {
        self.map
            .binary_search_by_key(&folded, |(at, _)| *at)
            .ok()
            .map(|idx| self.map[idx].1)
    }
}

/// Folds one line for comparison.
pub(super) fn fold_line(line: &str) -> String {
    Folded::new(line).text
}

fn fold_unit(unit: &str, into: &mut String) {
    for c in unit.nfc() {
        match lookalike(c) {
            Some((ascii, _)) => into.push_str(ascii),
            None => into.push(c),
        }
    }
}

fn is_mark(c: char) -> bool {
    !c.is_ascii() && canonical_combining_class(c) != 0
}

/// The ASCII look-alike of a character, and the flag that a reviewer sees for it.
fn lookalike(c: char) -> Option<(&'static str, &'static str)> {
    Some(match c {
        '\u{2018}'..='\u{201B}' | '\u{2032}' | '\u{00B4}' | '\u{02BC}' => ("'", "inexact:quotes"),
        '\u{201C}'..='\u{201F}' | '\u{2033}' | '\u{00AB}' | '\u{00BB}' => ("\"", "inexact:quotes"),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' => {
            ("-", "inexact:dashes")
        }
        '\u{00A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => {
            (" ", "inexact:spaces")
        }
        '\u{200B}' | '\u{200C}' | '\u{200D}' | '\u{2060}' | '\u{00AD}' => ("", "inexact:spaces"),
        '\u{2026}' => ("...", "inexact:ellipsis"),
        _ => return None,
    })
}

/// Which kinds of look-alikes tell `a` from `b`, as flags.
pub(crate) fn flags(a: &str, b: &str) -> Vec<&'static str> {
    let mut flags = Vec::new();
    let kinds = |text: &str| {
        let mut counts: Vec<(char, &'static str)> = text
            .chars()
            .filter(|c| !c.is_ascii())
            .filter_map(|c| lookalike(c).map(|(_, flag)| (c, flag)))
            .collect();
        counts.sort_unstable();
        counts
    };
    let (a_kinds, b_kinds) = (kinds(a), kinds(b));
    for (c, flag) in a_kinds.iter().chain(&b_kinds) {
        let count = |kinds: &[(char, &str)]| kinds.iter().filter(|(other, _)| other == c).count();
        if !flags.contains(flag) && count(&a_kinds) != count(&b_kinds) {
            flags.push(*flag);
        }
    }
    if flags.is_empty() {
        flags.push("inexact:unicode");
    }
    flags
}
