//! Where one hunk can be.

use super::{super::ResolveError, anchor::Anchors};
use crate::{
    matching::{MatchError, Pattern, Shift, TextIndex, nearest},
    proposal::{LineHunk, PatchLine},
    rung::MatchRung,
    text::BOM,
};

/// New lines shorter than this are too common to say that they are there already.
const MIN_APPLIED_BYTES: usize = 8;

/// The possible places of one hunk.
pub(super) struct Located {
    pub(super) rung: MatchRung,
    /// Never empty, ascending.
    pub(super) spots: Vec<Spot>,
    /// Lines of the old side.
    pub(super) n_old: usize,
    /// Empty lines at the end of the hunk that turned out to be no part of it.
    pub(super) dropped: usize,
    /// Added at the end of the file for want of any place.
    pub(super) appended: bool,
}

/// A place: its first line, from 0.
#[derive(Debug)]
pub(super) struct Spot {
    pub(super) line: usize,
    pub(super) shift: Option<Shift>,
}

pub(super) struct Locator<'a> {
    index: &'a TextIndex<'a>,
    anchors: Anchors<'a>,
}

impl<'a> Locator<'a> {
    pub(super) fn new(index: &'a TextIndex<'a>) -> Self {
        Self {
            index,
            anchors: Anchors::new(index),
        }
    }

    pub(super) fn locate(
        &mut self,
        hunk: &LineHunk,
        path: &str,
        number: usize,
    ) -> Result<Located, ResolveError> {
        let failed = |err: MatchError| ResolveError::matching(path, format!("hunk {number}"), &err);
        let mut drops = vec![0];
        if hunk.loose_tail > 1 {
            drops.push(hunk.loose_tail - 1);
        }
        if hunk.loose_tail > 0 {
            drops.push(hunk.loose_tail);
        }
        let scope = match hunk.anchors.is_empty() {
            true => None,
            false => Some(self.anchors.scope(&hunk.anchors).map_err(|err| {
                ResolveError::matching(path, format!("the @@ line of hunk {number}"), &err)
            })?),
        };
        for dropped in drops {
            let old = old_side(hunk, dropped);
            // Blank lines alone, loosely written, are no context to be found by.
            if old.len() == hunk.loose_tail - dropped.min(hunk.loose_tail) {
                if old.is_empty() {
                    let line = match &scope {
                        Some(scope) => scope.only_line_after().map_err(failed)?,
                        None => self.insertion_line(hunk, path, number)?,
                    };
                    return Ok(Located {
                        rung: MatchRung::Exact,
                        spots: vec![Spot { line, shift: None }],
                        n_old: 0,
                        dropped,
                        appended: scope.is_none() && hunk.old_start.is_none() && !hunk.at_end,
                    });
                }
                continue;
            }
            let pattern = Pattern { lines: old };
            let n_old = pattern.lines.len();
            let at_end = hunk.at_end || hunk.old_lacks_newline;
            let fits = |line: usize| !at_end || line + n_old == self.index.lines.len();
            let hint = hunk
                .old_start
                .and_then(|start| start.checked_sub(1))
                .map(|line| line.min(self.index.lines.len()));
            if let Some(line) = hint.filter(|line| fits(*line) && self.index.is_at(&pattern, *line))
                && scope.is_none()
            {
                return Ok(Located {
                    rung: MatchRung::Exact,
                    spots: vec![Spot { line, shift: None }],
                    n_old,
                    dropped,
                    appended: false,
                });
            }
            let places = match &scope {
                Some(scope) => self
                    .index
                    .find(&pattern, &|line| fits(line) && scope.holds(line))
                    .or_else(|| {
                        self.index
                            .find(&pattern, &|line| fits(line) && scope.precedes(line))
                    }),
                None if at_end => self.index.find_at_end(&pattern),
                None => self.index.find(&pattern, &|_| true),
            };
            if let Some(places) = places {
                let rung = match places.rung {
                    MatchRung::Exact if hint.is_some() && scope.is_none() => MatchRung::Offset,
                    rung => rung,
                };
                return Ok(Located {
                    rung,
                    spots: places
                        .places
                        .into_iter()
                        .map(|place| Spot {
                            line: place.line,
                            shift: place.shift,
                        })
                        .collect(),
                    n_old,
                    dropped,
                    appended: false,
                });
            }
        }
        Err(failed(self.no_match(hunk)))
    }

    /// Where lines go that come without any context: after the line that the header names, else
    /// at the end of the file.
    fn insertion_line(
        &self,
        hunk: &LineHunk,
        path: &str,
        number: usize,
    ) -> Result<usize, ResolveError> {
        let n_lines = self.index.lines.len();
        match hunk.old_start {
            None => Ok(n_lines),
            Some(line) if line <= n_lines => Ok(line),
            Some(line) => Err(ResolveError::OutOfRange {
                path: path.to_owned(),
                hunk: number,
                line,
                n_lines,
            }),
        }
    }

    fn no_match(&self, hunk: &LineHunk) -> MatchError {
        let new = new_side(hunk);
        let n_bytes: usize = new.iter().map(|line| line.trim().len()).sum();
        if n_bytes >= MIN_APPLIED_BYTES
            && let [line] = self.index.find_exact(&Pattern { lines: new })[..]
        {
            return MatchError::AlreadyApplied { line: line + 1 };
        }
        let pattern = Pattern {
            lines: old_side(hunk, hunk.loose_tail),
        };
        MatchError::NoMatch {
            nearest: nearest(self.index, &pattern),
            oddity: pattern.oddity(),
        }
    }
}

fn old_side(hunk: &LineHunk, dropped: usize) -> Vec<&str> {
    side(
        &hunk.lines[..hunk.lines.len() - dropped],
        |line| match line {
            PatchLine::Context(line) | PatchLine::Removed(line) => Some(line),
            PatchLine::Added(_) => None,
        },
    )
}

fn new_side(hunk: &LineHunk) -> Vec<&str> {
    side(
        &hunk.lines[..hunk.lines.len() - hunk.loose_tail],
        |line| match line {
            PatchLine::Context(line) | PatchLine::Added(line) => Some(line),
            PatchLine::Removed(_) => None,
        },
    )
}

/// The lines of one side; the first without the mark that may start a file.
fn side<'h>(
    lines: &'h [PatchLine],
    pick: impl Fn(&'h PatchLine) -> Option<&'h String>,
) -> Vec<&'h str> {
    let mut side: Vec<&str> = lines.iter().filter_map(pick).map(String::as_str).collect();
    if let Some(first) = side.first_mut() {
        *first = first.strip_prefix(BOM).unwrap_or(first);
    }
    side
}
