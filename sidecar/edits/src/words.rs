//! What differs within replaced lines, for display.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::diff::diff_ids;

/// Bytes that differ on each side, in order; what is shown as changed words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WordDiff {
    /// Bytes of the old text that go.
    pub old: Vec<Range<usize>>,
    /// Bytes of the new text that come.
    pub new: Vec<Range<usize>>,
}

/// More words than this on both sides together are not compared: all of it counts as changed.
const MAX_WORDS: usize = 20_000;

/// Compares two texts word by word.
///
/// Words are runs of letters, digits and underscores, runs of blanks, line endings, and single
/// other characters; ranges lie on character boundaries.
pub fn diff_words(old: &str, new: &str) -> WordDiff {
    let (old_words, new_words) = (words(old), words(new));
    if old_words.len() + new_words.len() > MAX_WORDS {
        return WordDiff {
            old: whole(old),
            new: whole(new),
        };
    }
    let mut ids = std::collections::HashMap::new();
    let mut number = |text, words: &[Range<usize>]| -> Vec<u32> {
        let text: &str = text;
        words
            .iter()
            .map(|word| {
                let next = ids.len() as u32;
                *ids.entry(text[word.clone()].to_owned()).or_insert(next)
            })
            .collect()
    };
    let old_ids = number(old, &old_words);
    let new_ids = number(new, &new_words);
    let mut diff = WordDiff::default();
    for edit in diff_ids(&old_ids, &new_ids) {
        push(&mut diff.old, &old_words, &edit.old, old);
        push(&mut diff.new, &new_words, &edit.new, new);
    }
    diff
}

fn whole(text: &str) -> Vec<Range<usize>> {
    let all = 0..text.len();
    Some(all)
        .filter(|all| !all.is_empty())
        .into_iter()
        .collect()
}

/// Adds the bytes of `edit`; changed words with only blanks between them are one range.
fn push(ranges: &mut Vec<Range<usize>>, words: &[Range<usize>], edit: &Range<usize>, text: &str) {
    let (Some(first), Some(last)) = (words.get(edit.start), words[..edit.end].last()) else {
        return;
    };
    if edit.is_empty() {
        return;
    }
    let is_blank = |gap: &str| !gap.is_empty() && gap.bytes().all(|byte| byte == b' ');
    match ranges.last_mut() {
        Some(previous) if is_blank(&text[previous.end..first.start]) => previous.end = last.end,
        _ => ranges.push(first.start..last.end),
    }
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Kind {
    Word,
    Blank,
    Other,
}

fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut previous = Kind::Other;
    for (at, c) in text.char_indices() {
        let kind = match c {
            '_' => Kind::Word,
            c if c.is_alphanumeric() => Kind::Word,
            ' ' | '\t' => Kind::Blank,
            _ => Kind::Other,
        };
        let end = at + c.len_utf8();
        match words.last_mut() {
            Some(word) if kind == previous && kind != Kind::Other => word.end = end,
            _ => words.push(at..end),
        }
        previous = kind;
    }
    words
}
