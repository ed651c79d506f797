//! Hunks by tables: one scenario each, told in the words of a user.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod arriving;
mod deciding;
mod drifting;
mod endings;
mod proposing;
mod storing;
mod typing;

use expect_test::Expect;
use ropey::Rope;

use super::*;
use crate::hunk::{HunkEvent, Origin};

/// A text, its hunks, and a count for ids.
struct Desk {
    text: Rope,
    set: HunkSet,
    ids: usize,
    calls: usize,
}

impl Desk {
    fn new(text: &str) -> Self {
        Self {
            text: Rope::from_str(text),
            set: HunkSet::new(),
            ids: 0,
            calls: 0,
        }
    }

    fn propose(&mut self, after: &str) -> Proposed {
        let proposed = self.propose_unchecked(after);
        assert_eq!(
            linewise::lf(&self.set.proposed(&self.text).to_string()),
            linewise::lf(after),
            "the proposed text is what was proposed"
        );
        proposed
    }

    fn split(&mut self, id: &str) -> Vec<HunkId> {
        let ids = &mut self.ids;
        let parts = self.set.split(&self.text, &HunkId::new(id), &mut || {
            *ids += 1;
            HunkId::new(format!("h{ids}"))
        });
        parts.unwrap()
    }

    fn select(&mut self, id: &str, lines: &Selection) -> Result<HunkId, HunkError> {
        let ids = &mut self.ids;
        self.set
            .split_at_lines(&self.text, &HunkId::new(id), lines, &mut || {
                *ids += 1;
                HunkId::new(format!("h{ids}"))
            })
    }

    fn drift(&mut self, text: &str) {
        let new = Rope::from_str(text);
        self.set.rebase(&self.text, &new);
        self.text = new;
    }

    fn propose_unchecked(&mut self, after: &str) -> Proposed {
        self.calls += 1;
        let origin = Origin {
            call: Some(format!("call{}", self.calls)),
            rationale: Some(format!("why{}", self.calls)),
            ..Origin::default()
        };
        let ids = &mut self.ids;
        self.set.propose(&self.text, after, &origin, &mut || {
            *ids += 1;
            HunkId::new(format!("h{ids}"))
        })
    }

    /// Replaces the one place that reads `old`, as one change.
    fn edit(&mut self, old: &str, new: &str) -> Vec<HunkEvent> {
        let text = self.text.to_string();
        let start = text.find(old).unwrap();
        assert_eq!(text.matches(old).count(), 1, "{old:?} is not unique");
        self.change(start..start + old.len(), new)
    }

    fn change(&mut self, range: Range<usize>, new: &str) -> Vec<HunkEvent> {
        let before = self.text.clone();
        settle::replace(
            &mut self.text,
            &TextChange {
                range: range.clone(),
                text: new.to_owned(),
            },
        );
        let mut events = Vec::new();
        self.set
            .change(&before, range, new, &self.text, &mut events);
        events
    }

    fn accept(&mut self, id: &str) -> Accepted {
        let accepted = self.set.accept(&self.text, &HunkId::new(id)).unwrap();
        self.text = accepted.text.clone();
        accepted
    }

    fn undo_accept(&mut self, id: &str) -> Result<(), HunkError> {
        let undone = self.set.undo_accept(&self.text, &[HunkId::new(id)])?;
        self.text = undone.text;
        Ok(())
    }

    /// One line per hunk: id, revision, state, lines (from zero), what it does.
    fn render(&self) -> String {
        let mut lines = String::new();
        for (hunk, range) in self.set.placed() {
            let state = match &hunk.state {
                HunkState::Pending => "pending",
                HunkState::Conflict(ConflictInfo::Changed) => "conflict",
                HunkState::Conflict(ConflictInfo::Ambiguous) => "ambiguous",
                HunkState::Conflict(ConflictInfo::Amended { .. }) => "over-amended",
                HunkState::Accepted { by_hand: true } => "by-hand",
                HunkState::Accepted { by_hand: false } => "accepted",
                HunkState::Rejected => "rejected",
                HunkState::Withdrawn => "withdrawn",
            };
            let line = |byte| self.text.byte_to_line(byte);
            lines += &format!(
                "{}@{} {}..{} {state} {:?} -> {:?}",
                hunk.id,
                hunk.revision,
                line(range.start),
                line(range.end),
                hunk.removed,
                hunk.replacement
            );
            if let Some(sides) = self.set.conflict(&hunk.id, &self.text) {
                lines += &format!(" ({})", sides.reason);
            }
            lines.push('\n');
        }
        lines
    }

    fn check(&self, expected: Expect) {
        expected.assert_eq(&self.render());
    }
}

const ABC: &str = "a\nb\nc\nd\ne\nf\n";
