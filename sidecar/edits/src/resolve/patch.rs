//! Line hunks of one text: found by content, placed in order.
//!
//! A hunk's line number is a hint that decides only when the hunk matches exactly there. The hunks
//! of a patch are in the order of the file, so where several places match a hunk, the order may
//! leave only one; where it does not, nothing is guessed.

mod anchor;
mod locate;

use self::locate::{Located, Locator, Spot};
use super::{ResolveError, edited::Edited, placeholder};
use crate::{
    lines::LineIndex,
    matching::{MatchError, Shift, TextIndex, lookalike_flags, transplant},
    proposal::{LineHunk, PatchLine},
    rung::MatchRung,
    splice::{LastNewline, Splice},
    text::BOM,
};

pub(super) fn resolve(
    hunks: &[LineHunk],
    text: &str,
    path: &str,
    literal: bool,
) -> Result<Edited, ResolveError> {
    let index = TextIndex::new(text);
    let mut locator = Locator::new(&index);
    let mut located = Vec::with_capacity(hunks.len());
    for (idx, hunk) in hunks.iter().enumerate() {
        located.push(locator.locate(hunk, path, idx + 1)?);
    }
    let spots = in_order(&located, path)?;
    let mut writer = Writer {
        lines: &index.lines,
        path,
        literal,
        splices: Vec::new(),
        flags: Vec::new(),
    };
    let mut by_place: Vec<usize> = (0..hunks.len()).collect();
    by_place.sort_by_key(|idx| {
        let line = spots[*idx].line;
        (line, line + located[*idx].n_old)
    });
    for idx in by_place {
        writer.hunk(&hunks[idx], &located[idx], spots[idx], idx + 1)?;
    }
    Ok(Edited::new(&index.lines, &writer.splices, writer.flags))
}

/// Chooses one spot for each hunk: the only choice in which they follow each other.
///
/// The first and the last of all such choices are found from either end; where they differ,
/// something is ambiguous.
fn in_order<'l>(located: &'l [Located], path: &str) -> Result<Vec<&'l Spot>, ResolveError> {
    let mut earliest = Vec::with_capacity(located.len());
    let mut end = 0;
    for hunk in located {
        match hunk.spots.iter().find(|spot| spot.line >= end) {
            Some(spot) => {
                end = spot.line + hunk.n_old;
                earliest.push(spot);
            }
            None => return out_of_order(located, path),
        }
    }
    let mut start = usize::MAX;
    for (idx, hunk) in located.iter().enumerate().rev() {
        let latest = hunk
            .spots
            .iter()
            .rfind(|spot| spot.line.saturating_add(hunk.n_old) <= start);
        match latest {
            Some(spot) if spot.line == earliest[idx].line => start = spot.line,
            _ => return Err(ambiguous(hunk, path, idx + 1)),
        }
    }
    Ok(earliest)
}

/// Hunks that do not follow each other may still have one place each, and keep clear of each
/// other.
fn out_of_order<'l>(located: &'l [Located], path: &str) -> Result<Vec<&'l Spot>, ResolveError> {
    let mut spots = Vec::with_capacity(located.len());
    for (idx, hunk) in located.iter().enumerate() {
        match &hunk.spots[..] {
            [spot] => spots.push(spot),
            _ => return Err(ambiguous(hunk, path, idx + 1)),
        }
    }
    let mut ranges: Vec<(usize, usize, usize)> = spots
        .iter()
        .zip(located)
        .enumerate()
        .map(|(idx, (spot, hunk))| (spot.line, spot.line + hunk.n_old, idx + 1))
        .collect();
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        if let [(_, end, first), (line, _, second)] = pair
            && line < end
        {
            return Err(ResolveError::Overlapping {
                path: path.to_owned(),
                first: format!("hunk {first}"),
                second: format!("hunk {second}"),
                line: line + 1,
            });
        }
    }
    Ok(spots)
}

fn ambiguous(hunk: &Located, path: &str, number: usize) -> ResolveError {
    let err = MatchError::Ambiguous {
        lines: hunk.spots.iter().map(|spot| spot.line + 1).collect(),
        tolerant: hunk.rung > MatchRung::Offset,
    };
    ResolveError::matching(path, format!("hunk {number}"), &err)
}

/// Turns hunks with their spots into replacements.
struct Writer<'a> {
    lines: &'a LineIndex<'a>,
    path: &'a str,
    literal: bool,
    splices: Vec<Splice>,
    flags: Vec<&'static str>,
}

/// Removed and added lines between two context lines.
#[derive(Default)]
struct Group<'h> {
    removed: Vec<&'h str>,
    added: Vec<&'h str>,
}

impl Writer<'_> {
    fn flag(&mut self, flag: &'static str) {
        if !self.flags.contains(&flag) {
            self.flags.push(flag);
        }
    }

    fn hunk(
        &mut self,
        hunk: &LineHunk,
        located: &Located,
        spot: &Spot,
        number: usize,
    ) -> Result<(), ResolveError> {
        match located.rung {
            MatchRung::Exact | MatchRung::Lookalike => {}
            MatchRung::Offset => self.flag("offset"),
            MatchRung::Whitespace => self.flag("inexact:whitespace"),
            MatchRung::Indentation => self.flag("inexact:indentation"),
        }
        if located.appended {
            self.flag("appended");
        }
        let mut at = spot.line;
        let mut group = Group::default();
        let n_lines = hunk.lines.len() - located.dropped;
        for (idx, line) in hunk.lines[..n_lines].iter().enumerate() {
            // The mark at the start of a file is no part of its text.
            let bare = |line: &'_ str| -> usize {
                if idx < 2 && line.starts_with(BOM) {
                    BOM.len_utf8()
                } else {
                    0
                }
            };
            match line {
                PatchLine::Context(_) => {
                    let n_removed = group.removed.len();
                    self.group(hunk, located, spot, std::mem::take(&mut group), at, number)?;
                    at += n_removed + 1;
                }
                PatchLine::Removed(line) => group.removed.push(&line[bare(line)..]),
                PatchLine::Added(line) => group.added.push(&line[bare(line)..]),
            }
        }
        self.group(hunk, located, spot, group, at, number)
    }

    /// Replaces the lines of `group`, the first of which is line `at`.
    fn group(
        &mut self,
        hunk: &LineHunk,
        located: &Located,
        spot: &Spot,
        group: Group<'_>,
        at: usize,
        number: usize,
    ) -> Result<(), ResolveError> {
        if group.removed.is_empty() && group.added.is_empty() {
            return Ok(());
        }
        let lines = self.lines;
        let end = at + group.removed.len();
        let mut added = added_text(&group, spot.shift.as_ref()).ok_or_else(|| {
            let err = MatchError::CannotShift {
                line: spot.line + 1,
            };
            ResolveError::matching(self.path, format!("hunk {number}"), &err)
        })?;
        if located.rung == MatchRung::Lookalike && !group.removed.is_empty() {
            let real = &lines.text()[lines.bytes(at..end)];
            added = self.transplanted(&group, &added, real).ok_or_else(|| {
                let err = MatchError::NoMatch {
                    nearest: None,
                    oddity: None,
                };
                ResolveError::matching(self.path, format!("hunk {number}"), &err)
            })?;
        }
        // A patch that knows of missing last newlines decides; any other leaves them as they are.
        let last_newline = match (hunk.old_lacks_newline, hunk.new_lacks_newline) {
            (_, true) => LastNewline::Unwanted,
            (true, false) => LastNewline::Wanted,
            (false, false) => LastNewline::Kept,
        };
        let splice = Splice::lines(lines, at..end, added, last_newline, located.rung);
        if !self.literal {
            let what = format!("replacement of hunk {number}");
            let splice = std::slice::from_ref(&splice);
            placeholder::check_splices(splice, lines.text(), self.path, &what)?;
        }
        self.splices.push(splice);
        Ok(())
    }

    /// The added lines in the spelling of the file; `None` where it cannot be told.
    fn transplanted(&mut self, group: &Group<'_>, added: &str, real: &str) -> Option<String> {
        let mut search = group.removed.join("\n");
        search.push('\n');
        let mut real = real.to_owned();
        if !real.ends_with('\n') {
            real.push('\n');
        }
        for flag in lookalike_flags(&search, &real) {
            self.flag(flag);
        }
        transplant(&search, added, &real).map(|text| text.replace("\r\n", "\n"))
    }
}

/// The added lines of a group as text; `None` when one cannot follow the shift.
fn added_text(group: &Group<'_>, shift: Option<&Shift>) -> Option<String> {
    let mut text = String::new();
    for line in &group.added {
        match shift {
            Some(shift) => text.push_str(&shift.apply(line)?),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    Some(text)
}
