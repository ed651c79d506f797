//! One hunk becomes several.
//!
//! Removed and added lines are paired by likeness, in order. A cut goes between pairs, never
//! through one, and never where a part would be left without its line ending.

use std::ops::Range;

use ropey::Rope;

use super::{Entry, HunkSet, Reads, settle::clip};
use crate::{
    diff::diff_lines,
    hunk::{Hunk, HunkError, HunkId, Provenance},
    linewise,
};

/// Lines that a person selected, zero-based.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Lines of the text: of the hunk, those that it removes.
    Base(Range<usize>),
    /// Lines that the hunk adds, counted from its first.
    Added(Range<usize>),
}

/// A place to cut: so many removed and so many added lines lie before it.
type Cut = (usize, usize);

/// Beyond this many removed times added lines they are paired by number only.
const MAX_PAIRING: usize = 40_000;

impl HunkSet {
    /// Splits a pending hunk, as `s` does in `git add -p`; gives the ids of its parts, in order.
    ///
    /// At every unchanged line inside when there is one (an amended hunk may have some); else in
    /// two: at the blank line nearest to the middle, else between the pairs nearest to it. The first
    /// part keeps the id.
    ///
    /// # Errors
    ///
    /// [`HunkError::NotSplittable`], and as [`HunkSet::accept`].
    pub fn split(
        &mut self,
        text: &Rope,
        id: &HunkId,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<Vec<HunkId>, HunkError> {
        let key = self.pending_key(id)?;
        let Some(entry) = self.entry(key) else {
            return Err(HunkError::Unknown { id: id.clone() });
        };
        let lines = Sides::new(&entry.hunk);
        let edits = diff_lines(&entry.hunk.removed, &entry.hunk.replacement);
        let parts: Vec<(Range<usize>, Range<usize>)> = if edits.len() > 1 {
            edits.into_iter().map(|edit| (edit.old, edit.new)).collect()
        } else {
            let cuts = lines.cuts();
            let Some(cut) = lines.middle(&cuts) else {
                return Err(HunkError::NotSplittable { id: id.clone() });
            };
            lines.parts(&[cut])
        };
        Ok(self.divide(key, &parts, text, ids))
    }

    /// Makes the selected lines of a pending hunk a hunk of their own, and gives its id.
    ///
    /// With removed lines go the added lines that are paired with them, and the other way round.
    /// Where everything is selected the hunk stays whole.
    ///
    /// # Errors
    ///
    /// [`HunkError::OutsideSelection`] when no line of the hunk is selected, and as
    /// [`HunkSet::accept`].
    pub fn split_at_lines(
        &mut self,
        text: &Rope,
        id: &HunkId,
        selection: &Selection,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Result<HunkId, HunkError> {
        let key = self.pending_key(id)?;
        let Some(entry) = self.entry(key) else {
            return Err(HunkError::Unknown { id: id.clone() });
        };
        let lines = Sides::new(&entry.hunk);
        let (selected, is_base) = match selection {
            Selection::Base(selected) => {
                let first = text.byte_to_line(self.range_of(key).start);
                let count = lines.removed.len();
                if count == 0 {
                    // An insertion has its place before a line: that line selects all of it.
                    let hit = selected.contains(&first)
                        || (self.range_of(key).start == text.len_bytes()
                            && selected.end >= first
                            && !selected.is_empty());
                    return if hit {
                        Ok(id.clone())
                    } else {
                        Err(outside(id, selected))
                    };
                }
                let clamp = |line: usize| line.clamp(first, first + count) - first;
                (clamp(selected.start)..clamp(selected.end), true)
            }
            Selection::Added(selected) => {
                let count = lines.added.len();
                (selected.start.min(count)..selected.end.min(count), false)
            }
        };
        if selected.is_empty() {
            let (Selection::Base(selected) | Selection::Added(selected)) = selection;
            return Err(outside(id, selected));
        }
        let (from, to) = lines.around(&selected, is_base);
        let mut parts = lines.parts(&[from, to]);
        // An amendment may have lines that stay as they are: those are no part.
        parts.retain(|part| lines.differ(part));
        let chosen = parts
            .iter()
            .position(|part| part.0.start == from.0 && part.1.start == from.1);
        let Some(chosen) = chosen else {
            let (Selection::Base(selected) | Selection::Added(selected)) = selection;
            return Err(outside(id, selected));
        };
        let mut parts = self.divide(key, &parts, text, ids);
        Ok(parts.swap_remove(chosen))
    }

    /// Replaces a hunk by parts of it; lines between parts are unchanged ones.
    fn divide(
        &mut self,
        key: u32,
        parts: &[(Range<usize>, Range<usize>)],
        text: &Rope,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Vec<HunkId> {
        let Some(whole) = self.entry(key).cloned() else {
            return Vec::new();
        };
        if parts.len() < 2 {
            return vec![whole.hunk.id];
        }
        let mut line = 0;
        let mut byte = self.range_of(key).start;
        let mut places = Vec::with_capacity(parts.len());
        for (base, _) in parts {
            let mut walk = |to: usize| {
                while line < to {
                    byte = linewise::next_line_start(text, byte);
                    line += 1;
                }
                byte
            };
            let start = walk(base.start);
            places.push(start..walk(base.end));
        }
        let mut keys = Vec::with_capacity(parts.len());
        let mut names = Vec::with_capacity(parts.len());
        for (i, (base, added)) in parts.iter().enumerate() {
            let id = if i == 0 { whole.hunk.id.clone() } else { ids() };
            let split_from = match i {
                0 => whole.hunk.split_from.clone(),
                _ => Some(whole.hunk.id.clone()),
            };
            names.push(id.clone());
            let mut part = Entry::new(
                part_of(&whole.hunk, base, added, id, split_from),
                match &whole.taken {
                    Reads::Removed => {
                        let line = |line: usize| whole.snapshot.start + line;
                        line(base.start)..line(base.end)
                    }
                    Reads::Replacement | Reads::Overwritten | Reads::Changed { .. } => {
                        whole.snapshot.clone()
                    }
                },
            );
            part.taken = match &whole.taken {
                Reads::Changed { old, offset } => Reads::Changed {
                    old: old.clone(),
                    offset: offset + linewise::line_offsets(&whole.hunk.removed)[base.start],
                },
                // It was accepted when the snapshot was taken, as a whole.
                Reads::Replacement | Reads::Overwritten => Reads::Changed {
                    old: whole.hunk.removed.clone(),
                    offset: linewise::line_offsets(&whole.hunk.removed)[base.start],
                },
                Reads::Removed => Reads::Removed,
            };
            part.reopened = whole.reopened;
            if i == 0 {
                if let Some(entry) = self.entry_mut(key) {
                    *entry = part;
                }
                keys.push(key);
            } else {
                keys.push(self.admit(part));
            }
        }
        let mut arranged = Vec::with_capacity(self.anchors.len() + parts.len());
        for (other, range) in self.anchors.iter() {
            if other == key {
                arranged.extend(keys.iter().copied().zip(places.iter().cloned()));
            } else if self.entry(other).is_some() {
                arranged.push((other, range));
            }
        }
        self.arrange(arranged);
        names
    }
}

fn outside(id: &HunkId, lines: &Range<usize>) -> HunkError {
    HunkError::OutsideSelection {
        id: id.clone(),
        lines: lines.clone(),
    }
}

/// Lines `base` and `added` of `whole`, as a hunk.
fn part_of(
    whole: &Hunk,
    base: &Range<usize>,
    added: &Range<usize>,
    id: HunkId,
    split_from: Option<HunkId>,
) -> Hunk {
    let lines = |text: &str, range: &Range<usize>| {
        let offsets = linewise::line_offsets(text);
        text[offsets[range.start]..offsets[range.end]].to_owned()
    };
    let count = linewise::line_count(&whole.replacement);
    let clipped = clip(&whole.provenance, added);
    let mut provenance: Vec<Provenance> = clipped
        .iter()
        .zip(&whole.provenance)
        .filter(|(kept, part)| {
            !kept.lines.is_empty() || part.lines.is_empty() || count == 0 || added.is_empty()
        })
        .map(|(kept, _)| kept.clone())
        .collect();
    if provenance.is_empty() {
        // All of its lines are the user's amendment, of what these calls had written.
        provenance = clipped;
    }
    Hunk {
        id,
        revision: whole.revision + 1,
        state: whole.state.clone(),
        removed: lines(&whole.removed, base),
        replacement: lines(&whole.replacement, added),
        provenance,
        rung: whole.rung,
        // Which lines of the agent's text a part would have had cannot be told: all of it stays.
        amended: whole.amended.clone(),
        split_from,
    }
}

/// The two sides of a hunk, in lines.
struct Sides<'a> {
    removed: Vec<&'a str>,
    added: Vec<&'a str>,
}

impl<'a> Sides<'a> {
    fn new(hunk: &'a Hunk) -> Self {
        Self {
            removed: hunk.removed.split_inclusive('\n').collect(),
            added: hunk.replacement.split_inclusive('\n').collect(),
        }
    }

    /// All cuts between pairs, in order, the two ends left out.
    fn cuts(&self) -> Vec<Cut> {
        let mut cuts = Vec::new();
        let mut at = (0, 0);
        for (i, j) in pairs(&self.removed, &self.added)
            .into_iter()
            .chain([(self.removed.len(), self.added.len())])
        {
            // Unpaired removed lines go first, then unpaired added ones.
            while at.0 < i {
                at.0 += 1;
                cuts.push(at);
            }
            while at.1 < j {
                at.1 += 1;
                cuts.push(at);
            }
            at = (i + 1, j + 1);
            cuts.push(at);
        }
        cuts.retain(|cut| self.is_valid(*cut));
        cuts
    }

    /// Whether both parts do something and neither leaves a line without its ending.
    fn is_valid(&self, (i, j): Cut) -> bool {
        let ended = |line: Option<&&str>| line.is_none_or(|line| line.ends_with('\n'));
        i <= self.removed.len()
            && j <= self.added.len()
            && self.differ(&(0..i, 0..j))
            && self.differ(&(i..self.removed.len(), j..self.added.len()))
            && ended(self.removed[..i].last())
            && ended(self.added[..j].last())
    }

    /// Whether a part does something.
    fn differ(&self, (base, added): &(Range<usize>, Range<usize>)) -> bool {
        self.removed[base.clone()] != self.added[added.clone()]
    }

    /// The cut nearest to the middle, at a blank line when there is one.
    fn middle(&self, cuts: &[Cut]) -> Option<Cut> {
        let total = self.removed.len() + self.added.len();
        let distance = |cut: &Cut| (2 * (cut.0 + cut.1)).abs_diff(total);
        let is_blank = |line: Option<&&str>| line.is_some_and(|line| line.trim().is_empty());
        let after_blank = |cut: &&Cut| match self.added.is_empty() {
            true => is_blank(self.removed[..cut.0].last()),
            false => is_blank(self.added[..cut.1].last()) && cut.1 < self.added.len(),
        };
        let blank = cuts
            .iter()
            .filter(after_blank)
            .min_by_key(|cut| distance(cut));
        blank
            .or_else(|| cuts.iter().min_by_key(|cut| distance(cut)))
            .copied()
    }

    /// The cuts around selected lines of one side.
    fn around(&self, selected: &Range<usize>, is_base: bool) -> (Cut, Cut) {
        let ends = [(0, 0), (self.removed.len(), self.added.len())];
        let mut cuts = vec![ends[0]];
        cuts.extend(self.cuts());
        cuts.push(ends[1]);
        let own = |cut: &Cut| if is_base { cut.0 } else { cut.1 };
        // The tightest cuts on the selected side: what is unpaired at its edges stays outside.
        let from = cuts
            .iter()
            .rfind(|cut| own(cut) <= selected.start)
            .copied()
            .unwrap_or(ends[0]);
        let to = cuts
            .iter()
            .find(|cut| own(cut) >= selected.end)
            .copied()
            .unwrap_or(ends[1]);
        (from, to)
    }

    /// The parts between cuts, empty ones left out.
    fn parts(&self, cuts: &[Cut]) -> Vec<(Range<usize>, Range<usize>)> {
        let mut parts = Vec::new();
        let mut at = (0, 0);
        for &cut in cuts.iter().chain([&(self.removed.len(), self.added.len())]) {
            if cut != at {
                parts.push((at.0..cut.0, at.1..cut.1));
            }
            at = cut;
        }
        parts
    }
}

/// Removed lines with the added lines that most likely replace them, in order.
pub(super) fn pairs(removed: &[&str], added: &[&str]) -> Vec<(usize, usize)> {
    let (n, m) = (removed.len(), added.len());
    if n == 0 || m == 0 {
        return Vec::new();
    }
    if n == m || n * m > MAX_PAIRING {
        return (0..n.min(m)).map(|i| (i, i)).collect();
    }
    // The pairing in order with the greatest total likeness; an empty cell scores nothing.
    let width = m + 1;
    let mut best = vec![0_u32; (n + 1) * width];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let paired = best[(i + 1) * width + j + 1] + 1 + likeness(removed[i], added[j]);
            best[i * width + j] = paired
                .max(best[(i + 1) * width + j])
                .max(best[i * width + j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < n && j < m {
        let paired = best[(i + 1) * width + j + 1] + 1 + likeness(removed[i], added[j]);
        let here = best[i * width + j];
        if here == paired {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == best[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// How alike two lines are, 0 to 100: what they share at their ends, by length.
fn likeness(a: &str, b: &str) -> u32 {
    let (a, b) = (a.trim().as_bytes(), b.trim().as_bytes());
    let longer = a.len().max(b.len());
    if longer == 0 {
        return 100;
    }
    let above = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let rest = a.len().min(b.len()) - above;
    let backward = a.iter().rev().zip(b.iter().rev());
    let below = backward.take(rest).take_while(|(a, b)| a == b).count();
    ((above + below) * 100 / longer) as u32
}
