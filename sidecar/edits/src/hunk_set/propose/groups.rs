//! Which hunks an edit of the proposed text touches, and what belongs together.

use std::ops::Range;

use ropey::Rope;

use super::{
    super::{HunkSet, change_of, evaluate::overlaps},
    drafts::Texts,
};
use crate::{
    diff::LineEdit,
    hunk::{ConflictInfo, HunkState},
    linewise,
};

/// A hunk as a part of the proposed text.
pub(super) struct Piece {
    pub(super) key: u32,
    /// Its base lines.
    pub(super) base: Range<usize>,
    /// Its lines in the proposed text before the edit.
    pub(super) proposed: Range<usize>,
    /// Holds text that the user typed: only what cuts into it touches it.
    pub(super) amended: bool,
    /// Replaces a last line without LF: nothing can be inserted behind that but as a part of it.
    pub(super) open_end: bool,
}

/// Edits that belong together, with the hunks that they touch.
pub(super) struct Group {
    pub(super) pieces: Range<usize>,
    pub(super) edits: Range<usize>,
    pub(super) base: Range<usize>,
    /// Lines of the proposed text before the edit.
    pub(super) proposed: Range<usize>,
    /// Lines of the proposed text after the edit.
    pub(super) after: Range<usize>,
}

impl HunkSet {
    /// The parts of the proposed text that hunks make.
    pub(super) fn pieces(&self, text: &Rope, base_offsets: &[usize]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut added = 0_isize;
        for (key, range) in self.anchors.iter() {
            let Some(entry) = self.entry(key) else {
                continue;
            };
            let (is_amended, lines) = match &entry.hunk.state {
                HunkState::Pending => {
                    let change = change_of(&entry.hunk.replacement, range.clone(), text);
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
}

impl Texts<'_> {
    /// A last line without LF can only stand where the base ends too: hunks that remove the lines
    /// between are joined.
    pub(super) fn close_end(&self, groups: &mut [Group], pieces: &[Piece]) {
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
}

/// Puts edits and the hunks that they touch together, in order.
pub(super) fn groups(edits: &[LineEdit], pieces: &[Piece]) -> Vec<Group> {
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

fn line_at(offsets: &[usize], byte: usize) -> usize {
    offsets.partition_point(|offset| *offset < byte)
}
