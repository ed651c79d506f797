#![allow(clippy::unwrap_used, clippy::expect_used)]

//! Tables: one scenario each, told in the words of a user.

use expect_test::{Expect, expect};
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
        self.calls += 1;
        let origin = Origin {
            call: Some(format!("call{}", self.calls)),
            rationale: Some(format!("why{}", self.calls)),
            ..Origin::default()
        };
        let ids = &mut self.ids;
        let proposed = self.set.propose(&self.text, after, &origin, &mut || {
            *ids += 1;
            HunkId::new(format!("h{ids}"))
        });
        assert_eq!(
            linewise::lf(&self.set.proposed(&self.text).to_string()),
            linewise::lf(after),
            "the proposed text is what was proposed"
        );
        proposed
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

#[test]
fn typing_above_moves_a_hunk() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    assert!(desk.edit("a\n", "license\na\n").is_empty());
    desk.check(expect![[r#"
        h1@1 4..5 pending "d\n" -> "D\n"
    "#]]);
}

#[test]
fn typing_in_a_hunk_is_a_conflict_until_it_is_undone() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    desk.edit("d\n", "dx\n");
    desk.check(expect![[r#"
        h1@1 3..4 conflict "d\n" -> "D\n" (line 4 changed)
    "#]]);
    assert_eq!(desk.set.proposed(&desk.text), desk.text);
    let events = desk.edit("dx\n", "d\n");
    assert_eq!(
        events,
        [HunkEvent::Lifted {
            id: HunkId::new("h1")
        }]
    );
    desk.check(expect![[r#"
        h1@1 3..4 pending "d\n" -> "D\n"
    "#]]);
}

#[test]
fn the_same_edit_by_hand_accepts() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    let events = desk.edit("d", "D");
    assert_eq!(
        events,
        [HunkEvent::AcceptedByHand {
            id: HunkId::new("h1")
        }]
    );
    let events = desk.edit("D", "d");
    assert_eq!(
        events,
        [HunkEvent::Reopened {
            id: HunkId::new("h1")
        }]
    );
    let events = desk.edit("d", "D");
    assert_eq!(
        events,
        [HunkEvent::AcceptedAgain {
            id: HunkId::new("h1")
        }]
    );
}

#[test]
fn accepting_moves_what_follows() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\na2\na3\nb\nc\nD\ne\nf\n");
    desk.accept("h1");
    desk.accept("h2");
    assert_eq!(desk.text.to_string(), "a\na2\na3\nb\nc\nD\ne\nf\n");
    desk.check(expect![[r#"
        h1@1 1..3 accepted "" -> "a2\na3\n"
        h2@1 5..6 accepted "d\n" -> "D\n"
    "#]]);
}
