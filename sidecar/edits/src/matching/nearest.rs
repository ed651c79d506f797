//! The block of a text that is most like a search that was not found.

use std::collections::HashMap;

use super::{
    error::{Nearest, clip},
    index::{Pattern, TextIndex},
};

/// Lines that occur more often than this say nothing about a place.
const MAX_OCCURRENCES: usize = 64;

/// More words of a line than this are not compared.
const MAX_WORDS: usize = 24;

/// Longer lines are compared by their head only.
const MAX_COMPARED_BYTES: usize = 2000;

/// Finds the block that shares most lines with the pattern, else the line that is most like its
/// first. Linear in text and pattern.
pub(crate) fn nearest(index: &TextIndex<'_>, pattern: &Pattern<'_>) -> Option<Nearest> {
    let start = by_lines(index, pattern).or_else(|| by_words(index, pattern))?;
    describe(index, pattern, start)
}

fn by_lines(index: &TextIndex<'_>, pattern: &Pattern<'_>) -> Option<usize> {
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (idx, line) in pattern.lines.iter().enumerate() {
        let weight = line.trim().len();
        let hits: Vec<usize> = index.lines_like(line).take(MAX_OCCURRENCES + 1).collect();
        if weight == 0 || hits.len() > MAX_OCCURRENCES {
            continue;
        }
        for hit in hits {
            if let Some(start) = hit.checked_sub(idx) {
                *votes.entry(start).or_default() += weight;
            }
        }
    }
    votes
        .into_iter()
        .max_by_key(|(start, weight)| (*weight, usize::MAX - start))
        .map(|(start, _)| start)
}

/// The block whose line is most like the longest line of the pattern, by shared words.
fn by_words(index: &TextIndex<'_>, pattern: &Pattern<'_>) -> Option<usize> {
    let (idx, wanted) = pattern
        .lines
        .iter()
        .enumerate()
        .max_by_key(|(idx, line)| (line.trim().len(), usize::MAX - idx))?;
    let wanted: Vec<&str> = words(wanted).collect();
    if wanted.is_empty() {
        return None;
    }
    let weight: usize = wanted.iter().map(|word| word.len()).sum();
    (idx..index.lines.len())
        .map(|line| {
            let shared: usize = words(index.lines.content(line))
                .filter(|word| wanted.contains(word))
                .map(str::len)
                .sum();
            (shared.min(weight), line)
        })
        .max_by_key(|(shared, line)| (*shared, usize::MAX - line))
        .filter(|(shared, _)| shared * 3 >= weight)
        .map(|(_, line)| line - idx)
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut end = line.len().min(MAX_COMPARED_BYTES);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line[..end]
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
        .take(MAX_WORDS)
}

fn describe(index: &TextIndex<'_>, pattern: &Pattern<'_>, start: usize) -> Option<Nearest> {
    let (idx, searched) = pattern.lines.iter().enumerate().find(|(idx, line)| {
        start + idx >= index.lines.len()
            || index.lines.content(start + idx).trim_end() != line.trim_end()
    })?;
    let found = (start + idx < index.lines.len()).then(|| index.lines.content(start + idx));
    let at = found.map_or(0, |found| common_prefix(found, searched));
    let code_points = found.and_then(|found| {
        let pair = (found[at..].chars().next()?, searched[at..].chars().next()?);
        let plain = |c: char| c.is_ascii_alphanumeric();
        ((!pair.0.is_ascii() || !pair.1.is_ascii()) && !plain(pair.0) | !plain(pair.1))
            .then_some(pair)
    });
    Some(Nearest {
        start: start + 1,
        differs: start + idx + 1,
        found: found.map(|found| clip(found, at)),
        searched: clip(searched, at),
        code_points,
    })
}

/// The length of the common head of two lines, at a character boundary of both.
fn common_prefix(a: &str, b: &str) -> usize {
    a.char_indices()
        .zip(b.chars())
        .find(|((_, x), y)| x != y)
        .map_or(a.len().min(b.len()), |((at, _), _)| at)
}
