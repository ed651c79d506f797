//! An agent's edit becomes hunks.
//!
//! The agent edited the proposed text, so the edit is the diff of that text before and after. Parts
//! that touch no hunk become new hunks. A part that touches hunks is joined with them: their base
//! lines against the new proposed lines are diffed again, nothing else is, so that splits,
//! amendments and rejections elsewhere stand.

use std::ops::Range;

use ropey::Rope;

use super::{Entry, HunkSet, evaluate::overlaps, settle::runs};
use crate::{
    MatchRung,
    diff::{LineDiff, LineEdit, diff_with_offsets},
    hunk::{ConflictInfo, Hunk, HunkId, HunkState, Origin, Provenance},
    linewise,
};

/// What a proposal did to the set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposed {
    /// New hunks.
    pub added: Vec<HunkId>,
    /// Hunks that would now do something else; their revision grew.
    pub changed: Vec<HunkId>,
    /// Hunks that the agent took back by restoring their lines.
    pub withdrawn: Vec<HunkId>,
    /// Hunks that are part of an older one now; the set knows them no more.
    pub removed: Vec<HunkId>,
    /// Amended hunks that the agent edited: conflicts now.
    pub conflicts: Vec<HunkId>,
}

impl Proposed {
    /// Whether the proposal changed nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A hunk as a part of the proposed text.
struct Piece {
    key: u32,
    /// Its base lines.
    base: Range<usize>,
    /// Its lines in the proposed text before the edit.
    proposed: Range<usize>,
    /// Holds text that the user typed: only what cuts into it touches it.
    amended: bool,
    /// Replaces a last line without LF: nothing can be inserted behind that but as a part of it.
    open_end: bool,
}

/// Edits that belong together, with the hunks that they touch.
struct Group {
    pieces: Range<usize>,
    edits: Range<usize>,
    base: Range<usize>,
    /// Lines of the proposed text before the edit.
    proposed: Range<usize>,
    /// Lines of the proposed text after the edit.
    after: Range<usize>,
}

/// A hunk to be, in lines of the base and of the proposed text.
struct Draft {
    edit: LineEdit,
    provenance: Vec<Provenance>,
    rung: MatchRung,
}

/// The texts of one proposal.
struct Texts<'a> {
    base: &'a str,
    base_offsets: Vec<usize>,
    after: &'a str,
    /// From the proposed text before the edit to the one after it.
    diff: LineDiff,
    origin: &'a Origin,
}

impl HunkSet {
    /// Takes in an agent's edit: the proposed text is to read `proposed_after`.
    ///
    /// `text` is what the set is anchored on; `ids` gives fresh ids.
    pub fn propose(
        &mut self,
        text: &Rope,
        proposed_after: &str,
        origin: &Origin,
        ids: &mut dyn FnMut() -> HunkId,
    ) -> Proposed {
        self.close_followed(text.len_bytes());
        let base = text.to_string();
        let base_offsets = linewise::line_offsets(&base);
        let pieces = self.pieces(text, &base_offsets);
        let before = String::from(self.proposed(text));
        let texts = Texts {
            diff: diff_with_offsets(&before, proposed_after),
            base: &base,
            base_offsets,
            after: proposed_after,
            origin,
        };
        let mut report = Proposed::default();
        let mut places: Vec<(u32, Range<usize>)> = Vec::new();
        let mut next_piece = 0;
        let mut groups = groups(&texts.diff.edits, &pieces);
        texts.close_end(&mut groups, &pieces);
        for group in groups {
            places.extend(
                pieces[next_piece..group.pieces.start]
                    .iter()
                    .map(|piece| (piece.key, texts.base_bytes(&piece.base))),
            );
            next_piece = group.pieces.end;
            let old = &pieces[group.pieces.clone()];
            if old.iter().any(|piece| piece.amended) {
                places.push(self.conflict_with_amendment(&texts, &group, old, &mut report));
            } else {
                places.extend(self.redraw(&texts, &group, old, ids, &mut report));
            }
        }
        places.extend(
            pieces[next_piece..]
                .iter()
                .map(|piece| (piece.key, texts.base_bytes(&piece.base))),
        );
        let is_placed: std::collections::HashSet<u32> =
            places.iter().map(|(key, _)| *key).collect();
        let others = self
            .anchors
            .iter()
            .filter(|(key, _)| !is_placed.contains(key) && self.entry(*key).is_some());
        let mut all: Vec<(u32, Range<usize>)> = others.collect();
        all.extend(places);
        self.arrange(all);
        report
    }

    /// Hunks written for the end of the text, without a last LF, get one where others came behind.
    fn close_followed(&mut self, end: usize) {
        for slot in self.touched(&(end..end)) {
            let key = self.anchors.key(slot);
            let is_open =
                |entry: &Entry| entry.is_pending() && super::is_open(&entry.hunk.replacement);
            if self.entry(key).is_some_and(is_open)
                && self.is_followed(slot)
                && let Some(entry) = self.entry_mut(key)
            {
                entry.hunk.replacement.push('\n');
                entry.hunk.revision += 1;
                if entry.hunk.replacement == entry.hunk.removed {
                    // It was to take the last LF away, which is not the last any more.
                    entry.hunk.state = HunkState::Withdrawn;
                }
            }
        }
    }

    /// The parts of the proposed text that hunks make.
    fn pieces(&self, text: &Rope, base_offsets: &[usize]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut added = 0_isize;
        for (key, range) in self.anchors.iter() {
            let Some(entry) = self.entry(key) else {
                continue;
            };
            let (is_amended, lines) = match &entry.hunk.state {
                HunkState::Pending => {
                    let change = super::change_of(&entry.hunk.replacement, range.clone(), text);
                    (
                        entry.hunk.amended.is_some(),
                        linewise::line_count(&change.text),
                    )
                }
                // Outside the proposed text, which reads the base lines there.
                HunkState::Conflict(ConflictInfo::Amended { .. }) if entry.region.is_none() => {
                    (true, linewise::line_count(&entry.hunk.removed))
                }
                HunkState::Conflict(_)
                | HunkState::Accepted { .. }
                | HunkState::Rejected
                | HunkState::Withdrawn => continue,
            };
            let base = line_at(base_offsets, range.start)..line_at(base_offsets, range.end);
            let start = base.start.saturating_add_signed(added);
            added += lines as isize - base.len() as isize;
            pieces.push(Piece {
                key,
                base,
                proposed: start..start + lines,
                amended: is_amended,
                open_end: range.end == text.len_bytes()
                    && !range.is_empty()
                    && text.byte(range.end - 1) != b'\n',
            });
        }
        pieces
    }

    /// Diffs the base lines of a group against its new proposed lines; gives the places.
    fn redraw(
        &mut self,
        texts: &Texts<'_>,
        group: &Group,
        old: &[Piece],
        ids: &mut dyn FnMut() -> HunkId,
        report: &mut Proposed,
    ) -> Vec<(u32, Range<usize>)> {
        let drafts = self.drafts(texts, group, old);
        let mut claims: Vec<(u32, Range<usize>)> = old
            .iter()
            .map(|piece| (piece.key, texts.base_bytes(&piece.base)))
            .collect();
        claims.extend(self.conflicts_under(texts, &drafts));
        // The oldest hunk chooses first, and takes the first draft that shares lines with it.
        claims.sort_unstable_by_key(|(key, _)| *key);
        let mut takers: Vec<Option<u32>> = vec![None; drafts.len()];
        let mut losers = Vec::new();
        for (key, range) in claims {
            let free = drafts.iter().zip(&takers).position(|(draft, taker)| {
                taker.is_none() && meets(&texts.base_bytes(&draft.edit.old), &range)
            });
            match free {
                Some(draft) => takers[draft] = Some(key),
                None => losers.push((key, range)),
            }
        }
        let mut places = Vec::new();
        for (key, range) in losers {
            let is_merged = drafts
                .iter()
                .any(|draft| meets(&texts.base_bytes(&draft.edit.old), &range));
            if is_merged {
                report.removed.extend(self.forget(key));
            } else if let Some(entry) = self.entry_mut(key) {
                entry.hunk.state = HunkState::Withdrawn;
                report.withdrawn.push(entry.hunk.id.clone());
                places.push((key, range));
            }
        }
        for (draft, taker) in drafts.into_iter().zip(takers) {
            let bytes = texts.base_bytes(&draft.edit.old);
            let removed = linewise::lf(&texts.base[bytes.clone()]).into_owned();
            let replacement = linewise::lf(texts.after_text(&draft.edit.new)).into_owned();
            let snapshot = draft.edit.old.clone();
            let key = match taker.and_then(|key| Some((key, self.entry_mut(key)?))) {
                Some((key, entry)) => {
                    entry.hunk = Hunk {
                        id: entry.hunk.id.clone(),
                        revision: entry.hunk.revision + 1,
                        state: HunkState::Pending,
                        removed,
                        replacement,
                        provenance: draft.provenance,
                        rung: draft.rung,
                        amended: None,
                        split_from: entry.hunk.split_from.clone(),
                    };
                    entry.snapshot = snapshot;
                    entry.taken = super::Reads::Removed;
                    entry.region = None;
                    entry.reopened = None;
                    entry.steps.clear();
                    report.changed.push(entry.hunk.id.clone());
                    key
                }
                None => {
                    let id = ids();
                    report.added.push(id.clone());
                    let hunk = Hunk {
                        id,
                        revision: 1,
                        state: HunkState::Pending,
                        removed,
                        replacement,
                        provenance: draft.provenance,
                        rung: draft.rung,
                        amended: None,
                        split_from: None,
                    };
                    self.admit(Entry::new(hunk, snapshot))
                }
            };
            places.push((key, bytes));
        }
        places.sort_by_key(|(_, range)| range.start);
        places
    }

    /// Conflicts whose lines the agent edited anew, as they stand: the new hunk takes their place.
    fn conflicts_under(&self, texts: &Texts<'_>, drafts: &[Draft]) -> Vec<(u32, Range<usize>)> {
        let mut found: Vec<(u32, Range<usize>)> = Vec::new();
        for draft in drafts {
            let bytes = texts.base_bytes(&draft.edit.old);
            for slot in self.touched(&bytes) {
                let (key, range) = (self.anchors.key(slot), self.anchors.range(slot));
                let is_conflict = self.entry(key).is_some_and(|entry| {
                    matches!(
                        entry.hunk.state,
                        HunkState::Conflict(ConflictInfo::Changed | ConflictInfo::Ambiguous)
                    )
                });
                let is_same_place = overlaps(&range, &bytes) || range == bytes;
                if is_conflict && is_same_place && !found.iter().any(|(seen, _)| *seen == key) {
                    found.push((key, range));
                }
            }
        }
        found
    }

    /// The hunks that a group comes to, with the provenance of their lines.
    fn drafts(&self, texts: &Texts<'_>, group: &Group, old: &[Piece]) -> Vec<Draft> {
        if old.is_empty() {
            let edit = LineEdit {
                old: group.base.clone(),
                new: group.after.clone(),
            };
            let provenance = texts.provenance(&edit.new, &edit.new);
            let rung = texts.rung(&edit.new);
            return vec![Draft {
                edit,
                provenance,
                rung,
            }];
        }
        let base = &texts.base[texts.base_bytes(&group.base)];
        let edits = crate::diff_lines(base, texts.after_text(&group.after));
        let sources = Sources::new(texts, group, old);
        edits
            .into_iter()
            .map(|edit| {
                let offset = |lines: &Range<usize>, by: usize| lines.start + by..lines.end + by;
                let edit = LineEdit {
                    old: offset(&edit.old, group.base.start),
                    new: offset(&edit.new, group.after.start),
                };
                self.draft(texts, edit, old, &sources)
            })
            .collect()
    }

    fn draft(&self, texts: &Texts<'_>, edit: LineEdit, old: &[Piece], sources: &Sources) -> Draft {
        let mut provenance = Vec::new();
        let mut rung = texts.rung(&edit.new);
        for (i, piece) in old.iter().enumerate() {
            let Some(entry) = self.entry(piece.key) else {
                continue;
            };
            let met = meets(&texts.base_bytes(&edit.old), &texts.base_bytes(&piece.base));
            for part in &entry.hunk.provenance {
                let kept = edit.new.clone().filter(|line| {
                    matches!(sources.of(*line), Source::Hunk { piece, line }
                        if *piece == i && part.lines.contains(line))
                });
                let kept = runs(kept.map(|line| line - edit.new.start));
                // What it wrote is gone, but the hunk is still its work too.
                let gone = (kept.is_empty() && met).then_some(0..0);
                provenance.extend(kept.into_iter().chain(gone).map(|lines| Provenance {
                    lines,
                    ..part.clone()
                }));
            }
            if met {
                rung = rung.max(entry.hunk.rung);
            }
        }
        for lines in sources.written(&edit.new) {
            provenance.extend(texts.provenance(&lines, &edit.new));
        }
        if provenance.is_empty() {
            // Drawn elsewhere than the edit was made, with the same effect.
            provenance = texts.provenance(&edit.new, &edit.new);
        }
        Draft {
            edit,
            provenance,
            rung,
        }
    }

    /// The agent edited lines that the user had amended: both texts are kept, as a conflict.
    fn conflict_with_amendment(
        &mut self,
        texts: &Texts<'_>,
        group: &Group,
        old: &[Piece],
        report: &mut Proposed,
    ) -> (u32, Range<usize>) {
        let bytes = texts.base_bytes(&group.base);
        let mine = self.mine(texts, group, old);
        let proposed = linewise::lf(texts.after_text(&group.after)).into_owned();
        let provenance = texts.provenance(&group.after, &group.after);
        let keeper = old
            .iter()
            .filter(|piece| piece.amended)
            .map(|piece| piece.key)
            .min();
        let keeper = keeper.unwrap_or(old[0].key);
        let rung = old
            .iter()
            .filter_map(|piece| Some(self.entry(piece.key)?.hunk.rung))
            .fold(texts.rung(&group.after), MatchRung::max);
        for piece in old.iter().filter(|piece| piece.key != keeper) {
            report.removed.extend(self.forget(piece.key));
        }
        if let Some(entry) = self.entry_mut(keeper) {
            let hunk = &mut entry.hunk;
            hunk.removed = linewise::lf(&texts.base[bytes.clone()]).into_owned();
            hunk.replacement = mine;
            hunk.revision += 1;
            hunk.rung = rung;
            hunk.state = HunkState::Conflict(ConflictInfo::Amended {
                proposed,
                provenance,
            });
            entry.steps.clear();
            entry.snapshot = group.base.clone();
            entry.taken = super::Reads::Removed;
            report.conflicts.push(hunk.id.clone());
        }
        (keeper, bytes)
    }

    /// The lines of a group as the user sees them: amendments and other hunks applied.
    fn mine(&self, texts: &Texts<'_>, group: &Group, old: &[Piece]) -> String {
        let mut mine = String::new();
        let mut done = group.base.start;
        for piece in old {
            let Some(entry) = self.entry(piece.key) else {
                continue;
            };
            mine.push_str(&linewise::lf(
                &texts.base[texts.base_bytes(&(done..piece.base.start))],
            ));
            mine.push_str(&entry.hunk.replacement);
            done = piece.base.end;
        }
        mine.push_str(&linewise::lf(
            &texts.base[texts.base_bytes(&(done..group.base.end))],
        ));
        mine
    }
}

impl Texts<'_> {
    fn base_bytes(&self, lines: &Range<usize>) -> Range<usize> {
        self.base_offsets[lines.start]..self.base_offsets[lines.end]
    }

    fn after_text(&self, lines: &Range<usize>) -> &str {
        &self.after[self.diff.new_offsets[lines.start]..self.diff.new_offsets[lines.end]]
    }

    /// A last line without LF can only stand where the base ends too: hunks that remove the lines
    /// between are joined.
    fn close_end(&self, groups: &mut [Group], pieces: &[Piece]) {
        let is_unfinished = !self.after.is_empty() && !self.after.ends_with('\n');
        let (Some(group), Some(last)) = (groups.last_mut(), pieces.last()) else {
            return;
        };
        let ends_text = group.after.end == self.diff.new_offsets.len() - 1;
        if is_unfinished && ends_text && group.pieces.end < pieces.len() {
            if group.pieces.is_empty() {
                group.pieces.start = group.pieces.end;
            }
            group.pieces.end = pieces.len();
            group.proposed.end = group.proposed.end.max(last.proposed.end);
            group.base = base_lines(group, pieces);
        }
    }

    /// What the origin says about `lines` of the proposed text, counted from the start of `hunk`.
    fn provenance(&self, lines: &Range<usize>, hunk: &Range<usize>) -> Vec<Provenance> {
        let origin = self.origin;
        let reason = |line: usize| {
            let spans = origin.rationales.iter().rev();
            let own = spans.into_iter().find(|(span, _)| span.contains(&line));
            own.map(|(_, reason)| reason).or(origin.rationale.as_ref())
        };
        let part = |lines: Range<usize>, rationale: Option<&String>| Provenance {
            lines: lines.start - hunk.start..lines.end - hunk.start,
            turn: origin.turn.clone(),
            transaction: origin.transaction.clone(),
            call: origin.call.clone(),
            rationale: rationale.cloned(),
        };
        if lines.is_empty() {
            // A deletion: the reason given for it, else for the line that took its place.
            let spans = origin.rationales.iter().rev();
            let own = spans
                .into_iter()
                .find(|(span, _)| span.is_empty() && span.start == lines.start);
            let why = own.map(|(_, why)| why).or_else(|| reason(lines.start));
            return vec![part(lines.clone(), why)];
        }
        let mut parts = Vec::new();
        let mut start = lines.start;
        for line in lines.clone().skip(1).chain([lines.end]) {
            if line == lines.end || reason(line) != reason(start) {
                parts.push(part(start..line, reason(start)));
                start = line;
            }
        }
        parts
    }

    /// The worst rung of `lines` of the proposed text.
    fn rung(&self, lines: &Range<usize>) -> MatchRung {
        let touches = |span: &Range<usize>| {
            overlaps(span, lines)
                || (lines.is_empty() && (span.contains(&lines.start) || span.start == lines.start))
        };
        let spans = self.origin.rungs.iter().filter(|(span, _)| touches(span));
        spans
            .map(|(_, rung)| *rung)
            .max()
            .unwrap_or(self.origin.rung)
    }
}

/// Where a line of the new proposed text comes from.
enum Source {
    Base,
    Hunk { piece: usize, line: usize },
    Written,
}

/// The sources of the lines of a group.
struct Sources {
    first: usize,
    lines: Vec<Source>,
    /// New ranges of the edits, which may be empty.
    edits: Vec<Range<usize>>,
}

impl Sources {
    fn new(texts: &Texts<'_>, group: &Group, old: &[Piece]) -> Self {
        let edits = &texts.diff.edits[group.edits.clone()];
        let mut lines = Vec::with_capacity(group.after.len());
        let mut line = group.proposed.start;
        let source = |line: usize| {
            let piece = old.iter().position(|piece| piece.proposed.contains(&line));
            piece.map_or(Source::Base, |piece| Source::Hunk {
                piece,
                line: line - old[piece].proposed.start,
            })
        };
        for edit in edits {
            lines.extend((line..edit.old.start).map(source));
            lines.extend(edit.new.clone().map(|_| Source::Written));
            line = edit.old.end;
        }
        lines.extend((line..group.proposed.end).map(source));
        Self {
            first: group.after.start,
            lines,
            edits: edits.iter().map(|edit| edit.new.clone()).collect(),
        }
    }

    fn of(&self, line: usize) -> &Source {
        self.lines.get(line - self.first).unwrap_or(&Source::Base)
    }

    /// The parts of `lines` that this edit wrote; empty ones where it only removed lines.
    fn written(&self, lines: &Range<usize>) -> Vec<Range<usize>> {
        let touching = self
            .edits
            .iter()
            .filter(|new| new.start <= lines.end && lines.start <= new.end);
        let parts = touching.map(|new| new.start.max(lines.start)..new.end.min(lines.end));
        parts.collect()
    }
}

/// Puts edits and the hunks that they touch together, in order.
fn groups(edits: &[LineEdit], pieces: &[Piece]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut first = 0;
    for (i, edit) in edits.iter().enumerate() {
        // Pieces that lie wholly before the edit, and so before all that follow.
        while first < pieces.len() && pieces[first].proposed.end < edit.old.start {
            first += 1;
        }
        let touched = touched_pieces(edit, pieces, first);
        let delta = |end: usize| {
            edits[..end]
                .last()
                .map_or(0, |last| last.new.end as isize - last.old.end as isize)
        };
        let moved =
            |line: usize, edits_before: usize| line.saturating_add_signed(delta(edits_before));
        match groups.last_mut() {
            Some(group) if !touched.is_empty() && touched.start < group.pieces.end => {
                group.pieces.end = group.pieces.end.max(touched.end);
                group.edits.end = i + 1;
                let last = &pieces[group.pieces.end - 1];
                group.proposed.end = group.proposed.end.max(last.proposed.end).max(edit.old.end);
            }
            _ => {
                let outer = &pieces[touched.clone()];
                let start = outer.first().map_or(edit.old.start, |piece| {
                    piece.proposed.start.min(edit.old.start)
                });
                let end = outer
                    .last()
                    .map_or(edit.old.end, |piece| piece.proposed.end.max(edit.old.end));
                groups.push(Group {
                    pieces: touched,
                    edits: i..i + 1,
                    base: 0..0,
                    proposed: start..end,
                    after: 0..0,
                });
            }
        }
        if let Some(group) = groups.last_mut() {
            group.base = base_lines(group, pieces);
            group.after = moved(group.proposed.start, group.edits.start)
                ..moved(group.proposed.end, group.edits.end);
        }
    }
    groups
}

/// The base lines under a group: lines outside of hunks are as far from them as in the proposal.
fn base_lines(group: &Group, pieces: &[Piece]) -> Range<usize> {
    let outer = &pieces[group.pieces.clone()];
    let after = |piece: Option<&Piece>, line: usize| {
        piece.map_or(line, |piece| piece.base.end + (line - piece.proposed.end))
    };
    let before = pieces[..group.pieces.start].last();
    let start = match outer.first() {
        Some(piece) if group.proposed.start >= piece.proposed.start => piece.base.start,
        _ => after(before, group.proposed.start),
    };
    let end = match outer.last() {
        Some(piece) => after(Some(piece), group.proposed.end),
        None => after(before, group.proposed.end),
    };
    start..end
}

/// The pieces that an edit touches, from `first` on.
///
/// An edit inside one piece touches that one alone, even at its edge. Else neighbors without an
/// unchanged line between count, unless they are amended. Where nothing is touched the range is
/// empty and says before which piece the edit lies.
fn touched_pieces(edit: &LineEdit, pieces: &[Piece], first: usize) -> Range<usize> {
    let near: Vec<usize> = (first..pieces.len())
        .take_while(|&i| pieces[i].proposed.start <= edit.old.end)
        .collect();
    let cut = |piece: &Piece| {
        overlaps(&piece.proposed, &edit.old)
            || (edit.old.is_empty()
                && piece.proposed.start < edit.old.start
                && edit.old.start < piece.proposed.end)
            || (piece.proposed.is_empty()
                && edit.old.start < piece.proposed.start
                && piece.proposed.start < edit.old.end)
    };
    let holds = |piece: &Piece| {
        piece.proposed.start <= edit.old.start && edit.old.end <= piece.proposed.end
    };
    if let Some(&inside) = near.iter().find(|&&i| cut(&pieces[i]) && holds(&pieces[i])) {
        return inside..inside + 1;
    }
    // Neighbors count up to the first that holds an amendment.
    let joins = |&&i: &&usize| !pieces[i].amended || pieces[i].open_end;
    let left: Vec<usize> = near
        .iter()
        .copied()
        .filter(|&i| !cut(&pieces[i]) && pieces[i].proposed.end <= edit.old.start)
        .collect();
    let core = first + left.len()..first + near.len();
    let right = near[left.len()..]
        .iter()
        .filter(|&&i| !cut(&pieces[i]))
        .copied()
        .collect::<Vec<usize>>();
    let core = core.start..core.end - right.len();
    let joined_left = left.iter().rev().take_while(joins).count();
    let joined_right = right.iter().take_while(joins).count();
    if edit.old.is_empty() && core.is_empty() {
        // What is added at one point joins one neighbor.
        return match (joined_left, joined_right) {
            (0, 0) => core,
            (0, _) => core.start..core.start + 1,
            _ => core.start - 1..core.start,
        };
    }
    core.start - joined_left..core.end + joined_right
}

/// Whether a hunk at `a` is about the same place as one at `b`.
fn meets(a: &Range<usize>, b: &Range<usize>) -> bool {
    overlaps(a, b) || ((a.is_empty() || b.is_empty()) && a.start <= b.end && b.start <= a.end)
}

fn line_at(offsets: &[usize], byte: usize) -> usize {
    offsets.partition_point(|offset| *offset < byte)
}
