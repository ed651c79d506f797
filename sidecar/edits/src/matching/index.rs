//! Lines of a text by hash, for each way of comparing them.
//!
//! Built once for a text and only as far as it is needed: a hunk that is where its header says
//! costs a comparison and no hash.

use std::cell::OnceCell;

use super::{MAX_PLACES, error::Oddity, fold::fold_line, indentation::Shift};
use crate::{diff::line_hash, lines::LineIndex, rung::MatchRung};

/// How lines are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Content,
    TrimEnd,
    Trim,
    Fold,
}

/// The rungs of the ladder, best first.
const LADDER: [(MatchRung, Level); 4] = [
    (MatchRung::Exact, Level::Content),
    (MatchRung::Whitespace, Level::TrimEnd),
    (MatchRung::Indentation, Level::Trim),
    (MatchRung::Lookalike, Level::Fold),
];

/// Lines to find.
pub(crate) struct Pattern<'p> {
    pub(crate) lines: Vec<&'p str>,
}

impl Pattern<'_> {
    /// What makes it one that never matches, as far as its lines show that.
    pub(crate) fn oddity(&self) -> Option<Oddity> {
        let is_elided =
            |line: &&str| matches!(line.trim(), "..." | "…" | "[...]" | "// ..." | "# ...");
        let is_numbered = |line: &&str| {
            let rest = line
                .trim_start()
                .trim_start_matches(|c: char| c.is_ascii_digit());
            rest.len() < line.trim_start().len() && rest.starts_with(['|', ':', '\t', '→'])
        };
        if self.lines.iter().all(is_numbered) {
            Some(Oddity::Numbered)
        } else if self.lines.iter().any(is_elided) {
            Some(Oddity::Elided)
        } else {
            None
        }
    }
}

/// A place where a pattern matches: its first line, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    /// How the indentation there differs, on that rung.
    pub(crate) shift: Option<Shift>,
}

/// All places of a pattern on the first rung that has any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) rung: MatchRung,
    /// Ascending, at most [`MAX_PLACES`].
    pub(crate) places: Vec<Place>,
}

/// A text whose lines can be found.
pub(crate) struct TextIndex<'a> {
    pub(crate) lines: LineIndex<'a>,
    content: OnceCell<Keys>,
    trim_end: OnceCell<Keys>,
    trim: OnceCell<Keys>,
    fold: OnceCell<Keys>,
}

/// The hash of each line, and the lines of each hash.
struct Keys {
    of_line: Vec<u64>,
    /// Where each bucket of `postings` begins, and the end of the last.
    buckets: Vec<u32>,
    /// Lines by bucket, ascending within one. Other hashes may share a bucket.
    postings: Vec<u32>,
}

impl Keys {
    fn new(of_line: Vec<u64>) -> Self {
        let n_buckets = of_line.len().next_power_of_two();
        let mut buckets = vec![0_u32; n_buckets + 1];
        for key in &of_line {
            buckets[bucket(*key, n_buckets) + 1] += 1;
        }
        for idx in 1..buckets.len() {
            buckets[idx] += buckets[idx - 1];
        }
        let mut next = buckets.clone();
        let mut postings = vec![0_u32; of_line.len()];
        for (line, key) in of_line.iter().enumerate() {
            let slot = &mut next[bucket(*key, n_buckets)];
            postings[*slot as usize] = line as u32;
            *slot += 1;
        }
        Self {
            of_line,
            buckets,
            postings,
        }
    }

    /// The lines that may have this hash, ascending.
    fn candidates(&self, key: u64) -> &[u32] {
        let bucket = bucket(key, self.buckets.len() - 1);
        &self.postings[self.buckets[bucket] as usize..self.buckets[bucket + 1] as usize]
    }
}

/// `n_buckets` is a power of two.
fn bucket(key: u64, n_buckets: usize) -> usize {
    (key >> 32) as usize & (n_buckets - 1)
}

impl<'a> TextIndex<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            lines: LineIndex::new(text),
            content: OnceCell::new(),
            trim_end: OnceCell::new(),
            trim: OnceCell::new(),
            fold: OnceCell::new(),
        }
    }

    /// Whether the pattern is exactly at `line`.
    pub(crate) fn is_at(&self, pattern: &Pattern<'_>, line: usize) -> bool {
        line.saturating_add(pattern.lines.len()) <= self.lines.len()
            && pattern
                .lines
                .iter()
                .enumerate()
                .all(|(idx, expected)| self.lines.content(line + idx) == *expected)
    }

    /// All places on the first rung that has one that `accept` lets through.
    ///
    /// `accept` gets the first line; a pattern of no line matches nowhere.
    pub(crate) fn find(
        &self,
        pattern: &Pattern<'_>,
        accept: &dyn Fn(usize) -> bool,
    ) -> Option<Places> {
        LADDER.into_iter().find_map(|(rung, level)| {
            let places = self.find_at(level, pattern, accept);
            (!places.is_empty()).then_some(Places { rung, places })
        })
    }

    /// The first rung on which the pattern ends where the text ends, without any index.
    pub(crate) fn find_at_end(&self, pattern: &Pattern<'_>) -> Option<Places> {
        let line = self.lines.len().checked_sub(pattern.lines.len())?;
        LADDER.into_iter().find_map(|(rung, level)| {
            let place = self.verify(level, pattern, line)?;
            Some(Places {
                rung,
                places: vec![place],
            })
        })
    }

    /// Exact places only.
    pub(crate) fn find_exact(&self, pattern: &Pattern<'_>) -> Vec<usize> {
        self.find_at(Level::Content, pattern, &|_| true)
            .into_iter()
            .map(|place| place.line)
            .collect()
    }

    /// The lines that read like `line` when both are trimmed.
    pub(crate) fn lines_like(&self, line: &str) -> impl Iterator<Item = usize> + '_ {
        let key = key(Level::Trim, line);
        let keys = self.keys(Level::Trim);
        keys.candidates(key)
            .iter()
            .map(|line| *line as usize)
            .filter(move |line| keys.of_line[*line] == key)
    }

    fn find_at(
        &self,
        level: Level,
        pattern: &Pattern<'_>,
        accept: &dyn Fn(usize) -> bool,
    ) -> Vec<Place> {
        let Some(last_start) = self.lines.len().checked_sub(pattern.lines.len()) else {
            return Vec::new();
        };
        let keys = self.keys(level);
        let wanted: Vec<u64> = pattern.lines.iter().map(|line| key(level, line)).collect();
        let Some((rarest, hits)) = wanted
            .iter()
            .enumerate()
            .map(|(idx, key)| (idx, keys.candidates(*key)))
            .min_by_key(|(_, hits)| hits.len())
        else {
            return Vec::new();
        };
        let mut places = Vec::new();
        for hit in hits {
            let Some(start) = (*hit as usize).checked_sub(rarest) else {
                continue;
            };
            if start > last_start
                || keys.of_line[start..start + wanted.len()] != wanted[..]
                || !accept(start)
            {
                continue;
            }
            if let Some(place) = self.verify(level, pattern, start) {
                places.push(place);
                if places.len() == MAX_PLACES {
                    break;
                }
            }
        }
        places
    }

    /// Compares for real what the hashes say is equal.
    fn verify(&self, level: Level, pattern: &Pattern<'_>, start: usize) -> Option<Place> {
        let mut pairs = pattern
            .lines
            .iter()
            .enumerate()
            .map(|(idx, expected)| (*expected, self.lines.content(start + idx)));
        let shift = match level {
            Level::Content => pairs.all(|(a, b)| a == b).then_some(None),
            Level::TrimEnd => pairs
                .all(|(a, b)| a.trim_end() == b.trim_end())
                .then_some(None),
            Level::Trim => Shift::between(pairs).map(Some),
            Level::Fold => pairs
                .all(|(a, b)| fold_line(a).trim_end() == fold_line(b).trim_end())
                .then_some(None),
        }?;
        Some(Place { line: start, shift })
    }

    fn keys(&self, level: Level) -> &Keys {
        let cell = match level {
            Level::Content => &self.content,
            Level::TrimEnd => &self.trim_end,
            Level::Trim => &self.trim,
            Level::Fold => &self.fold,
        };
        cell.get_or_init(|| {
            Keys::new(
                (0..self.lines.len())
                    .map(|idx| key(level, self.lines.content(idx)))
                    .collect(),
            )
        })
    }
}

/// The hash of a line as a level sees it.
fn key(level: Level, line: &str) -> u64 {
    match level {
        Level::Content => line_hash(line.as_bytes()),
        Level::TrimEnd => line_hash(line.trim_end().as_bytes()),
        Level::Trim => line_hash(line.trim().as_bytes()),
        Level::Fold if line.is_ascii() => line_hash(line.trim_end().as_bytes()),
        Level::Fold => line_hash(fold_line(line).trim_end().as_bytes()),
    }
}
