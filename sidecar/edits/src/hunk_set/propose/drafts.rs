//! The hunks to be: what an edit of the proposed text comes to, and who wrote which lines of it.

use std::ops::Range;

use super::{
    super::{HunkSet, evaluate::overlaps, settle::runs},
    groups::{Group, Piece},
};
use crate::{
    MatchRung,
    diff::{LineDiff, LineEdit},
    hunk::{Origin, Provenance},
};

/// A hunk to be, in lines of the base and of the proposed text.
pub(super) struct Draft {
    pub(super) edit: LineEdit,
    pub(super) provenance: Vec<Provenance>,
    pub(super) rung: MatchRung,
}

/// The texts of one proposal.
pub(super) struct Texts<'a> {
    pub(super) base: &'a str,
    pub(super) base_offsets: Vec<usize>,
    pub(super) after: &'a str,
    /// From the proposed text before the edit to the one after it.
    pub(super) diff: LineDiff,
    pub(super) origin: &'a Origin,
}

impl HunkSet {
    /// The hunks that a group comes to, with the provenance of their lines.
    pub(super) fn drafts(&self, texts: &Texts<'_>, group: &Group, old: &[Piece]) -> Vec<Draft> {
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
}

impl Texts<'_> {
    pub(super) fn base_bytes(&self, lines: &Range<usize>) -> Range<usize> {
        self.base_offsets[lines.start]..self.base_offsets[lines.end]
    }

    pub(super) fn after_text(&self, lines: &Range<usize>) -> &str {
        &self.after[self.diff.new_offsets[lines.start]..self.diff.new_offsets[lines.end]]
    }

    /// What the origin says about `lines` of the proposed text, counted from the start of `hunk`.
    pub(super) fn provenance(&self, lines: &Range<usize>, hunk: &Range<usize>) -> Vec<Provenance> {
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
    pub(super) fn rung(&self, lines: &Range<usize>) -> MatchRung {
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

/// Whether a hunk at `a` is about the same place as one at `b`.
pub(super) fn meets(a: &Range<usize>, b: &Range<usize>) -> bool {
    overlaps(a, b) || ((a.is_empty() || b.is_empty()) && a.start <= b.end && b.start <= a.end)
}
