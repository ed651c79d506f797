//! Carries only what changed between a search and its replacement into a text that looks like
//! the search, so that the text keeps its own quotes, dashes and spaces.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::fold::Folded;
use crate::{diff::diff_lines, lines::LineIndex};

/// Above this many words on a side, the words between the common head and tail change as one.
const MAX_WORDS: usize = 4000;

/// Replaces in `found`, which reads like `search` when both are folded, the words by which
/// `replace` differs from `search`.
///
/// Line by line first, so that the work does not grow with what stays the same. `None` when they
/// do not read alike, or a changed word does not begin and end at the same place in both.
pub(crate) fn transplant(search: &str, replace: &str, found: &str) -> Option<String> {
    if Folded::new(search).text != Folded::new(found).text {
        return None;
    }
    let (old, new) = (LineIndex::new(search), LineIndex::new(replace));
    let target = LineIndex::new(found);
    let mut result = String::with_capacity(found.len() + replace.len());
    let mut done = 0;
    for edit in diff_lines(search, replace) {
        result.push_str(&found[target.bytes(done..edit.old.start)]);
        result.push_str(&transplant_words(
            &search[old.bytes(edit.old.clone())],
            &replace[new.bytes(edit.new)],
            &found[target.bytes(edit.old.clone())],
        )?);
        done = edit.old.end;
    }
    result.push_str(&found[target.bytes(done..target.len())]);
    Some(result)
}

fn transplant_words(search: &str, replace: &str, found: &str) -> Option<String> {
    let old: Vec<&str> = words(search);
    let new: Vec<&str> = words(replace);
    // Words are told apart by what they look like: a quote that the replacement spells like the
    // file does is no change.
    let fold = |words: &[&str]| -> Vec<String> {
        words.iter().map(|word| Folded::new(word).text).collect()
    };
    let (old_folded, new_folded) = (fold(&old), fold(&new));
    let searched = Folded::new(search);
    let target = Folded::new(found);
    let offsets: Vec<usize> = std::iter::once(0)
        .chain(old.iter().scan(0, |at, word| {
            *at += word.len();
            Some(*at)
        }))
        .collect();
    let mut result = String::with_capacity(found.len() + replace.len());
    let mut done = 0;
    for op in changes(&old_folded, &new_folded) {
        let (old_range, new_range) = (op.old_range(), op.new_range());
        let place = |word: usize| target.original(searched.folded(offsets[word])?);
        let (from, to) = (place(old_range.start)?, place(old_range.end)?);
        if from < done || to < from {
            return None;
        }
        result.push_str(&found[done..from]);
        result.extend(new[new_range].iter().copied());
        done = to;
    }
    result.push_str(&found[done..]);
    Some(result)
}

fn changes(old: &[String], new: &[String]) -> Vec<DiffOp> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..]
        .iter()
        .rev()
        .zip(new[head..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let (old_mid, new_mid) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    if old_mid.is_empty() && new_mid.is_empty() {
        return Vec::new();
    }
    if old_mid.len() > MAX_WORDS || new_mid.len() > MAX_WORDS {
        return vec![DiffOp::Replace {
            old_index: head,
            old_len: old_mid.len(),
            new_index: head,
            new_len: new_mid.len(),
        }];
    }
    capture_diff_slices(Algorithm::Myers, old_mid, new_mid)
        .into_iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| {
            let (old_range, new_range) = (op.old_range(), op.new_range());
            DiffOp::Replace {
                old_index: old_range.start + head,
                old_len: old_range.len(),
                new_index: new_range.start + head,
                new_len: new_range.len(),
            }
        })
        .collect()
}

/// Words, runs of blanks, and single other characters; joined again they are the text.
fn words(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        '\n' => 0,
        c if c.is_whitespace() => 1,
        c if c.is_alphanumeric() || c == '_' => 2,
        _ => 0,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut previous = 0;
    for (at, c) in text.char_indices() {
        let this = class(c);
        if at > start && (this == 0 || this != previous) && !is_extending(c) {
            words.push(&text[start..at]);
            start = at;
        }
        previous = this;
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

/// Combining marks stay with the character that they mark.
fn is_extending(c: char) -> bool {
    !c.is_ascii() && unicode_normalization::char::canonical_combining_class(c) != 0
}
