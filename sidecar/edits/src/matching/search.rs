//! One search and its replacement, on the ladder.

use std::{borrow::Cow, ops::Range};

use memchr::memmem;

use super::{
    MAX_PLACES, MatchError,
    fold::{self, Folded},
    index::{Pattern, Place, TextIndex},
    nearest::nearest,
    transplant::transplant,
};
use crate::{
    rung::MatchRung,
    text::{BOM, normalize_line_endings},
};

/// A replacement shorter than this is too common to say that it is there already.
const MIN_APPLIED_BYTES: usize = 8;

/// What is looked for, and what goes there.
pub(crate) struct Search<'s> {
    search: Cow<'s, str>,
    replace: Cow<'s, str>,
    whole_lines: bool,
    all: bool,
}

/// A place, and what it is to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Bytes of the text.
    pub(crate) range: Range<usize>,
    /// What goes there; its line endings are not adapted yet.
    pub(crate) replacement: String,
    pub(crate) rung: MatchRung,
    pub(crate) flags: Vec<&'static str>,
}

impl<'s> Search<'s> {
    /// `search` must not be empty; `whole_lines` says that it is lines and not any stretch of
    /// text, `all` that every match is meant.
    pub(crate) fn new(search: &'s str, replace: &'s str, whole_lines: bool, all: bool) -> Self {
        let clean = |text: &'s str| normalize_line_endings(text.strip_prefix(BOM).unwrap_or(text));
        Self {
            search: clean(search),
            replace: clean(replace),
            whole_lines,
            all,
        }
    }

    /// Finds the place, or all of them.
    pub(crate) fn find(&self, index: &TextIndex<'_>) -> Result<Vec<Found>, MatchError> {
        let found = self.exact(index);
        if !found.is_empty() {
            return self.only(index, found);
        }
        let pattern = self.pattern();
        let by_lines = index.find(&pattern, &|_| true);
        if let Some(places) = &by_lines
            && places.rung != MatchRung::Lookalike
        {
            let found = self.at_places(index, &pattern, places.rung, &places.places)?;
            return self.only(index, found);
        }
        let found = self.lookalikes(index);
        if !found.is_empty() {
            return self.only(index, found);
        }
        if let Some(places) = by_lines {
            let found = self.at_places(index, &pattern, places.rung, &places.places)?;
            if !found.is_empty() {
                return self.only(index, found);
            }
        }
        Err(self.no_match(index, &pattern))
    }

    fn only(&self, index: &TextIndex<'_>, mut found: Vec<Found>) -> Result<Vec<Found>, MatchError> {
        if self.all {
            let mut end = 0;
            found.retain(|place| {
                let keep = place.range.start >= end;
                end = if keep { place.range.end } else { end };
                keep
            });
            return Ok(found);
        }
        if found.len() == 1 {
            return Ok(found);
        }
        let mut lines: Vec<usize> = found
            .iter()
            .map(|place| index.lines.line_of(place.range.start) + 1)
            .collect();
        lines.sort_unstable();
        Err(MatchError::Ambiguous {
            lines,
            tolerant: found.iter().any(|place| place.rung > MatchRung::Offset),
        })
    }

    fn pattern(&self) -> Pattern<'_> {
        let search = self.search.strip_suffix('\n').unwrap_or(&self.search);
        Pattern {
            lines: search.split('\n').collect(),
        }
    }

    fn exact(&self, index: &TextIndex<'_>) -> Vec<Found> {
        let make = |range: Range<usize>, replacement: &str| Found {
            range,
            replacement: replacement.to_owned(),
            rung: MatchRung::Exact,
            flags: Vec::new(),
        };
        if !self.whole_lines {
            return self
                .occurrences(index.lines.text(), &self.search)
                .into_iter()
                .map(|range| make(range, &self.replace))
                .collect();
        }
        let text = index.lines.text();
        let needle = self.search.strip_suffix('\n').unwrap_or(&self.search);
        let replace = self.replace.strip_suffix('\n').unwrap_or(&self.replace);
        let occurrences = self.occurrences(text, needle);
        let is_line = |range: &Range<usize>| {
            let after = &text[range.end..];
            (range.start == 0 || text[..range.start].ends_with('\n'))
                && (after.is_empty() || after.starts_with('\n') || after.starts_with("\r\n"))
        };
        let lines: Vec<Found> = occurrences
            .iter()
            .filter(|range| is_line(range))
            .map(|range| {
                let after = &text[range.end..];
                let ending = match after {
                    "" => 0,
                    after if after.starts_with('\n') => 1,
                    _ => 2,
                };
                let replacement = if ending == 0 { replace } else { &self.replace };
                make(range.start..range.end + ending, replacement)
            })
            .collect();
        if !lines.is_empty() || needle.contains('\n') || needle.trim().is_empty() {
            return lines;
        }
        // A single line of a block format may be quoted in part.
        occurrences
            .into_iter()
            .map(|range| make(range, replace))
            .collect()
    }

    /// Where `needle` is, read with LF endings; overlapping ones count unless all are meant.
    fn occurrences(&self, text: &str, needle: &str) -> Vec<Range<usize>> {
        if needle.is_empty() {
            return Vec::new();
        }
        if !needle.contains('\n') || memmem::find(text.as_bytes(), b"\r\n").is_none() {
            return self.occurrences_in(text, needle);
        }
        let dropped: Vec<usize> = memmem::find_iter(text.as_bytes(), b"\r\n")
            .enumerate()
            .map(|(idx, at)| at - idx)
            .collect();
        let original = |at: usize| at + dropped.partition_point(|lf| *lf < at);
        self.occurrences_in(&normalize_line_endings(text), needle)
            .into_iter()
            .map(|range| original(range.start)..original(range.end))
            .collect()
    }

    fn occurrences_in(&self, text: &str, needle: &str) -> Vec<Range<usize>> {
        let finder = memmem::Finder::new(needle);
        let step = if self.all { needle.len() } else { 1 };
        let limit = if self.all { usize::MAX } else { MAX_PLACES };
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(at) = text
            .as_bytes()
            .get(from..)
            .and_then(|rest| finder.find(rest))
        {
            found.push(from + at..from + at + needle.len());
            if found.len() == limit {
                break;
            }
            from += at + step;
        }
        found
    }

    fn at_places(
        &self,
        index: &TextIndex<'_>,
        pattern: &Pattern<'_>,
        rung: MatchRung,
        places: &[Place],
    ) -> Result<Vec<Found>, MatchError> {
        let mut found = Vec::with_capacity(places.len());
        for place in places {
            let mut range = index
                .lines
                .bytes(place.line..place.line + pattern.lines.len());
            let last = index
                .lines
                .with_ending(place.line + pattern.lines.len() - 1);
            let mut replacement = match &place.shift {
                Some(shift) => match shift_lines(&self.replace, shift) {
                    Some(shifted) => shifted,
                    None if places.len() > 1 => self.replace.to_string(),
                    None => {
                        return Err(MatchError::CannotShift {
                            line: place.line + 1,
                        });
                    }
                },
                None => self.replace.to_string(),
            };
            if !self.search.ends_with('\n') {
                range.end -= last.len() - last.trim_end_matches(['\r', '\n']).len();
            } else if !last.ends_with('\n') && replacement.ends_with('\n') {
                replacement.pop();
            }
            let real = &index.lines.text()[range.clone()];
            let mut flags = Vec::new();
            match rung {
                MatchRung::Whitespace => flags.push("inexact:whitespace"),
                MatchRung::Indentation => flags.push("inexact:indentation"),
                MatchRung::Lookalike => {
                    flags = fold::flags(&self.search, real);
                    let search = match real.ends_with('\n') {
                        true => &*self.search,
                        false => self.search.strip_suffix('\n').unwrap_or(&self.search),
                    };
                    match transplant(search, &replacement, real) {
                        Some(transplanted) => replacement = transplanted,
                        None => continue,
                    }
                }
                MatchRung::Exact | MatchRung::Offset => {}
            }
            found.push(Found {
                range,
                replacement,
                rung,
                flags,
            });
        }
        Ok(found)
    }

    /// Places anywhere in the text that read like the search.
    fn lookalikes(&self, index: &TextIndex<'_>) -> Vec<Found> {
        let text = index.lines.text();
        if self.whole_lines || self.search.is_ascii() && text.is_ascii() {
            return Vec::new();
        }
        let searched = Folded::new(&self.search);
        if searched.text.is_empty() {
            return Vec::new();
        }
        let folded = Folded::new(text);
        self.occurrences_in(&folded.text, &searched.text)
            .into_iter()
            .filter_map(|range| {
                let range = folded.original(range.start)?..folded.original(range.end)?;
                let real = &text[range.clone()];
                Some(Found {
                    replacement: transplant(&self.search, &self.replace, real)?,
                    rung: MatchRung::Lookalike,
                    flags: fold::flags(&self.search, real),
                    range,
                })
            })
            .collect()
    }

    fn no_match(&self, index: &TextIndex<'_>, pattern: &Pattern<'_>) -> MatchError {
        let replaced = self.replace.strip_suffix('\n').unwrap_or(&self.replace);
        if replaced.trim().len() >= MIN_APPLIED_BYTES && self.replace != self.search {
            let lines = replaced.split('\n').collect();
            if let [line] = index.find_exact(&Pattern { lines })[..] {
                return MatchError::AlreadyApplied { line: line + 1 };
            }
        }
        MatchError::NoMatch {
            nearest: nearest(index, pattern),
            elided: pattern.is_elided(),
        }
    }
}

impl Pattern<'_> {
    /// Whether a line of it stands for others.
    pub(crate) fn is_elided(&self) -> bool {
        self.lines
            .iter()
            .any(|line| matches!(line.trim(), "..." | "…" | "[...]" | "// ..." | "# ..."))
    }
}

/// Shifts every line; `None` where one is not indented enough.
pub(crate) fn shift_lines(text: &str, shift: &super::Shift) -> Option<String> {
    let mut shifted = String::with_capacity(text.len() + text.len() / 4);
    for piece in text.split_inclusive('\n') {
        match piece.strip_suffix('\n') {
            Some(line) => {
                shifted.push_str(&shift.apply(line)?);
                shifted.push('\n');
            }
            None => shifted.push_str(&shift.apply(piece)?),
        }
    }
    Some(shifted)
}
