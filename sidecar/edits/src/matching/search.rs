//! One search and its replacement, on the ladder.

use std::{borrow::Cow, ops::Range};

use memchr::memmem;

use super::{
    MAX_PLACES, MatchError,
    fold::{self, Folded},
    indentation::Shift,
    index::{Pattern, Place, TextIndex},
    nearest::nearest,
    transplant::transplant,
};
use crate::{
    diff::diff_lines,
    lines::LineIndex,
    rung::MatchRung,
    splice::{LastNewline, Splice},
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

/// A place, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Bytes of the text that read like the search.
    pub(crate) range: Range<usize>,
    /// The changes in it, in order; lines that the search and the replacement share are in none.
    pub(crate) splices: Vec<Splice>,
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
            splices: Splice::stretch(&index.lines, range.clone(), replacement, MatchRung::Exact),
            range,
            rung: MatchRung::Exact,
            flags: Vec::new(),
        };
        if !self.whole_lines {
            return self
                .occurrences(index.lines.text(), &self.search, |_| true)
                .into_iter()
                .map(|range| make(range, &self.replace))
                .collect();
        }
        let text = index.lines.text();
        let needle = self.search.strip_suffix('\n').unwrap_or(&self.search);
        let replace = self.replace.strip_suffix('\n').unwrap_or(&self.replace);
        let is_line = |range: &Range<usize>| {
            let after = &text[range.end..];
            (range.start == 0 || text[..range.start].ends_with('\n'))
                && (after.is_empty() || after.starts_with('\n') || after.starts_with("\r\n"))
        };
        let lines: Vec<Found> = self
            .occurrences(text, needle, is_line)
            .into_iter()
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
        self.occurrences(text, needle, |_| true)
            .into_iter()
            .map(|range| make(range, replace))
            .collect()
    }

    /// Where `needle` is, read with LF endings, and `counts`; overlapping places are several
    /// unless all are meant.
    fn occurrences(
        &self,
        text: &str,
        needle: &str,
        counts: impl Fn(&Range<usize>) -> bool,
    ) -> Vec<Range<usize>> {
        if !needle.contains('\n') || memmem::find(text.as_bytes(), b"\r\n").is_none() {
            return self.occurrences_in(text, needle, counts);
        }
        let dropped: Vec<usize> = memmem::find_iter(text.as_bytes(), b"\r\n")
            .enumerate()
            .map(|(idx, at)| at - idx)
            .collect();
        let original = |at: usize| at + dropped.partition_point(|lf| *lf < at);
        let original = |range: &Range<usize>| original(range.start)..original(range.end);
        let normalized = normalize_line_endings(text);
        let found = self.occurrences_in(&normalized, needle, |range| counts(&original(range)));
        found.iter().map(original).collect()
    }

    fn occurrences_in(
        &self,
        text: &str,
        needle: &str,
        counts: impl Fn(&Range<usize>) -> bool,
    ) -> Vec<Range<usize>> {
        if needle.is_empty() {
            return Vec::new();
        }
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
            let range = from + at..from + at + needle.len();
            if counts(&range) {
                found.push(range);
                if found.len() == limit {
                    break;
                }
            }
            from += at + step;
        }
        found
    }

    /// Turns places found by whole lines into changes of whole lines.
    fn at_places(
        &self,
        index: &TextIndex<'_>,
        pattern: &Pattern<'_>,
        rung: MatchRung,
        places: &[Place],
    ) -> Result<Vec<Found>, MatchError> {
        let lines = &index.lines;
        let n_lines = pattern.lines.len();
        let search = with_last_newline(&self.search);
        let replace = with_last_newline(&self.replace);
        let mut found = Vec::with_capacity(places.len());
        for place in places {
            let range = lines.bytes(place.line..place.line + n_lines);
            let real = &lines.text()[range.clone()];
            let (splices, flags) = match rung {
                MatchRung::Lookalike => {
                    let (search, replace) = match real.ends_with('\n') {
                        true => (&*search, &*replace),
                        false => (
                            without_last_newline(&search),
                            without_last_newline(&replace),
                        ),
                    };
                    let Some(text) = transplant(search, replace, real) else {
                        continue;
                    };
                    (
                        Splice::stretch(lines, range.clone(), &text, rung),
                        fold::flags(search, real),
                    )
                }
                MatchRung::Exact
                | MatchRung::Offset
                | MatchRung::Whitespace
                | MatchRung::Indentation => {
                    let Some(shifted) = shift_lines(&replace, place.shift.as_ref()) else {
                        match places.len() {
                            1 => {
                                return Err(MatchError::CannotShift {
                                    line: place.line + 1,
                                });
                            }
                            _ => continue,
                        }
                    };
                    let new = LineIndex::new(&shifted);
                    let splices = diff_lines(&search, &replace)
                        .into_iter()
                        .map(|edit| {
                            let old = place.line + edit.old.start..place.line + edit.old.end;
                            let added = shifted[new.bytes(edit.new)].to_owned();
                            Splice::lines(lines, old, added, LastNewline::Kept, rung)
                        })
                        .collect();
                    let flag = match rung {
                        MatchRung::Whitespace => Some("inexact:whitespace"),
                        MatchRung::Indentation => Some("inexact:indentation"),
                        _ => None,
                    };
                    (splices, flag.into_iter().collect())
                }
            };
            found.push(Found {
                range,
                splices,
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
        self.occurrences_in(&folded.text, &searched.text, |_| true)
            .into_iter()
            .filter_map(|range| {
                let range = folded.original(range.start)?..folded.original(range.end)?;
                let real = &text[range.clone()];
                let replacement = transplant(&self.search, &self.replace, real)?;
                let rung = MatchRung::Lookalike;
                Some(Found {
                    splices: Splice::stretch(&index.lines, range.clone(), &replacement, rung),
                    rung,
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
            oddity: pattern.oddity(),
        }
    }
}

/// Shifts every line; `None` where one is not indented enough.
fn shift_lines(text: &str, shift: Option<&Shift>) -> Option<String> {
    let Some(shift) = shift else {
        return Some(text.to_owned());
    };
    let mut shifted = String::with_capacity(text.len() + text.len() / 4);
    for line in text.split_inclusive('\n') {
        shifted.push_str(&shift.apply(without_last_newline(line))?);
        shifted.push('\n');
    }
    Some(shifted)
}

/// Lines as a text in which the last one ends in LF, too.
fn with_last_newline(text: &str) -> Cow<'_, str> {
    match text.is_empty() || text.ends_with('\n') {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("{text}\n")),
    }
}

fn without_last_newline(text: &str) -> &str {
    text.strip_suffix('\n').unwrap_or(text)
}
