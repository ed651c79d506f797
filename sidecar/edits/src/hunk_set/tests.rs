//! Hunks by tables: propose, change, decide, split, amend, store.
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

#[test]
fn typing_at_the_edges_of_a_hunk_only_moves_it() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    desk.edit("d\n", "x\nd\n");
    desk.edit("d\n", "d\ny\n");
    desk.edit("c\n", "cc\n");
    desk.check(expect![[r#"
        h1@1 4..5 pending "d\n" -> "D\n"
    "#]]);
}

#[test]
fn lines_at_the_place_of_an_insertion_are_a_conflict() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nnew\nc\nd\ne\nf\n");
    desk.edit("b\n", "b\nmine\n");
    desk.check(expect![[r#"
        h1@1 2..3 conflict "" -> "new\n" (line 3 was inserted)
    "#]]);
    desk.edit("mine\n", "");
    desk.check(expect![[r#"
        h1@1 2..2 pending "" -> "new\n"
    "#]]);
    desk.edit("b\n", "B\n");
    desk.edit("c\n", "C\n");
    desk.check(expect![[r#"
        h1@1 2..2 pending "" -> "new\n"
    "#]]);
    desk.edit("B\nC\n", "gone\n");
    desk.check(expect![[r#"
        h1@1 1..2 conflict "" -> "new\n" (line 2 changed)
    "#]]);
}

#[test]
fn deleting_what_lies_between_brings_hunks_together() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nnew\nc\nnewer\nd\ne\nf\n");
    desk.edit("c\n", "");
    desk.check(expect![[r#"
        h1@1 2..2 pending "" -> "new\n"
        h2@1 2..2 pending "" -> "newer\n"
    "#]]);
    desk.accept("h2");
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "a\nb\nnew\nnewer\nd\ne\nf\n");
}

#[test]
fn undoing_in_steps_lifts_a_conflict() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nB\nC\nd\ne\nf\n");
    desk.edit("b\n", "");
    desk.edit("c\n", "");
    desk.check(expect![[r#"
        h1@1 1..1 conflict "b\nc\n" -> "B\nC\n" (2 lines were removed at line 2)
    "#]]);
    desk.edit("d\n", "c\nd\n");
    desk.edit("c\n", "b\nc\n");
    desk.check(expect![[r#"
        h1@1 1..3 pending "b\nc\n" -> "B\nC\n"
    "#]]);
}

#[test]
fn a_formatter_that_replaces_the_file_is_no_big_change() {
    let mut desk = Desk::new("fn a() {\n  one();\n  two();\n}\nfn b() {\n  three();\n}\n");
    desk.propose("fn a() {\n  one();\n  two(2);\n}\nfn b() {\n  three();\n}\n");
    let formatted = "fn a() {\n  one();\n  two();\n}\n\nfn b() {\n    three();\n}\n";
    assert!(desk.change(0..desk.text.len_bytes(), formatted).is_empty());
    desk.check(expect![[r#"
        h1@1 2..3 pending "  two();\n" -> "  two(2);\n"
    "#]]);
    let all = "fn a() {\n    one();\n    two();\n}\n\nfn b() {\n    three();\n}\n";
    desk.change(0..desk.text.len_bytes(), all);
    desk.check(expect![[r#"
        h1@1 1..3 conflict "  two();\n" -> "  two(2);\n" (lines 2-3 changed)
    "#]]);
}

#[test]
fn windows_endings_change_nothing_and_are_kept() {
    let mut desk = Desk::new("a\r\nb\r\nc\r\n");
    desk.propose("a\nB\nB2\nc\n");
    desk.check(expect![[r#"
        h1@1 1..2 pending "b\n" -> "B\nB2\n"
    "#]]);
    let changes = desk
        .set
        .edits_for(&desk.text, &[HunkId::new("h1")])
        .unwrap();
    assert_eq!(
        changes,
        [TextChange {
            range: 3..6,
            text: "B\r\nB2\r\n".to_owned()
        }]
    );
    assert!(
        desk.change(0..desk.text.len_bytes(), "a\nb\nc\n")
            .is_empty()
    );
    desk.check(expect![[r#"
        h1@1 1..2 pending "b\n" -> "B\nB2\n"
    "#]]);
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "a\nB\nB2\nc\n");
}

#[test]
fn mixed_endings_and_a_lone_return_are_kept() {
    let mut desk = Desk::new("load 10\rload 20\r\nbeta\ngamma\r\ndelta\n");
    desk.propose("load 10\rload 20\r\nbeta\nGAMMA\ndelta\n");
    desk.accept("h1");
    assert_eq!(
        desk.text.to_string(),
        "load 10\rload 20\r\nbeta\nGAMMA\r\ndelta\n"
    );
}

#[test]
fn the_end_of_a_file_without_newline() {
    let mut desk = Desk::new("a\nb");
    desk.propose("a\nb\nc");
    desk.check(expect![[r#"
        h1@1 1..1 pending "b" -> "b\nc"
    "#]]);
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "a\nb\nc");

    let mut desk = Desk::new("a\n");
    desk.propose("a\nb");
    desk.check(expect![[r#"
        h1@1 1..1 pending "" -> "b"
    "#]]);
    // Lines typed behind need an end of the line before them.
    desk.propose("a\nb\nc\n");
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "a\nb\nc\n");
}

#[test]
fn taking_the_last_newline_away_needs_the_last_line() {
    let mut desk = Desk::new("a\nb\n");
    desk.propose("a\nb");
    desk.edit("b\n", "b\nc\n");
    desk.check(expect![[r#"
        h1@1 1..3 conflict "b\n" -> "b" (line 3 was inserted)
    "#]]);
}

#[test]
fn a_line_that_loses_its_newline_holds_up_what_follows() {
    let mut desk = Desk::new("a\nb\n");
    desk.propose("a\nb\nc\n");
    desk.edit("b\n", "b");
    desk.check(expect![[r#"
        h1@1 1..1 conflict "" -> "c\n" (line 2 changed)
    "#]]);
    desk.edit("b", "b\n");
    desk.check(expect![[r#"
        h1@1 2..2 pending "" -> "c\n"
    "#]]);
}

#[test]
fn empty_files_and_whole_files() {
    let mut desk = Desk::new("");
    desk.propose("new\nfile\n");
    desk.check(expect![[r#"
        h1@1 0..0 pending "" -> "new\nfile\n"
    "#]]);
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "new\nfile\n");
    desk.propose("");
    desk.check(expect![[r#"
        h1@1 0..2 accepted "" -> "new\nfile\n"
        h2@1 0..2 pending "new\nfile\n" -> ""
    "#]]);
    desk.accept("h2");
    assert_eq!(desk.text.to_string(), "");

    let mut desk = Desk::new("one line");
    desk.propose("another line");
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "another line");
}

#[test]
fn a_second_edit_of_the_same_lines_changes_the_hunk() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    let proposed = desk.propose("a\nb\nc\nD!\ne\nf\n");
    assert_eq!(proposed.changed, [HunkId::new("h1")]);
    desk.check(expect![[r#"
        h1@2 3..4 pending "d\n" -> "D!\n"
    "#]]);
    let hunk = desk.set.get(&HunkId::new("h1")).unwrap();
    assert_eq!(hunk.calls(), ["call1", "call2"]);
    assert_eq!(hunk.rationales(), ["why1", "why2"]);
}

#[test]
fn each_line_knows_the_call_that_wrote_it() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    desk.propose("a\nb\nc\nC2\nD\nD2\ne\nf\n");
    let hunk = desk.set.get(&HunkId::new("h1")).unwrap();
    let lines: Vec<(Range<usize>, &str)> = hunk
        .provenance
        .iter()
        .map(|part| (part.lines.clone(), part.call.as_deref().unwrap()))
        .collect();
    assert_eq!(lines, [(1..2, "call1"), (0..1, "call2"), (2..3, "call2")]);
}

#[test]
fn reasons_go_by_line_of_the_proposed_text() {
    let mut set = HunkSet::new();
    let text = Rope::from_str(ABC);
    let origin = Origin {
        turn: Some("turn1".to_owned()),
        rationale: Some("all".to_owned()),
        rationales: vec![(0..1, "first".to_owned())],
        rungs: vec![(5..6, crate::MatchRung::Whitespace)],
        ..Origin::default()
    };
    let mut ids = 0;
    set.propose(&text, "A\nb\nc\nd\ne\nF\n", &origin, &mut || {
        ids += 1;
        HunkId::new(format!("h{ids}"))
    });
    let (first, second) = (
        set.get(&HunkId::new("h1")).unwrap(),
        set.get(&HunkId::new("h2")).unwrap(),
    );
    assert_eq!(first.rationales(), ["first"]);
    assert_eq!(first.rung, crate::MatchRung::Exact);
    assert_eq!(second.rationales(), ["all"]);
    assert_eq!(second.rung, crate::MatchRung::Whitespace);
    assert_eq!(second.turn(), Some("turn1"));
}

#[test]
fn an_edit_between_two_hunks_joins_them_under_the_older_id() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    desk.propose("a\nB\nc\nD\ne\nf\n");
    let proposed = desk.propose("a\nB\nC\nD\ne\nf\n");
    assert_eq!(proposed.removed, [HunkId::new("h2")]);
    desk.check(expect![[r#"
        h1@2 1..4 pending "b\nc\nd\n" -> "B\nC\nD\n"
    "#]]);
}

#[test]
fn restoring_a_line_within_leaves_two_hunks() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nB\nC\nD\ne\nf\n");
    let proposed = desk.propose("a\nB\nc\nD\ne\nf\n");
    assert_eq!(proposed.changed, [HunkId::new("h1")]);
    assert_eq!(proposed.added, [HunkId::new("h2")]);
    desk.check(expect![[r#"
        h1@2 1..2 pending "b\n" -> "B\n"
        h2@1 3..4 pending "d\n" -> "D\n"
    "#]]);
}

#[test]
fn restoring_all_lines_withdraws_the_hunk() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    let proposed = desk.propose(ABC);
    assert_eq!(proposed.withdrawn, [HunkId::new("h1")]);
    desk.check(expect![[r#"
        h1@1 3..4 withdrawn "d\n" -> "D\n"
    "#]]);
}

#[test]
fn rejections_and_splits_survive_an_edit_elsewhere() {
    let mut desk = Desk::new(ABC);
    desk.propose("A\nB\nc\nD\ne\nf\n");
    desk.set.reject(&HunkId::new("h2")).unwrap();
    desk.split("h1");
    desk.propose("A\nB\nc\nd\ne\nF\n");
    desk.check(expect![[r#"
        h1@2 0..1 pending "a\n" -> "A\n"
        h3@2 1..2 pending "b\n" -> "B\n"
        h2@1 3..4 rejected "d\n" -> "D\n"
        h4@1 5..6 pending "f\n" -> "F\n"
    "#]]);
    // And an edit of one part leaves the other one alone.
    desk.propose("A!\nB\nc\nd\ne\nF\n");
    desk.check(expect![[r#"
        h1@3 0..1 pending "a\n" -> "A!\n"
        h3@2 1..2 pending "b\n" -> "B\n"
        h2@1 3..4 rejected "d\n" -> "D\n"
        h4@1 5..6 pending "f\n" -> "F\n"
    "#]]);
}

#[test]
fn a_new_edit_over_a_conflict_takes_its_place() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    desk.edit("d\n", "mine\n");
    let proposed = desk.propose("a\nb\nc\nMINE\ne\nf\n");
    assert_eq!(proposed.changed, [HunkId::new("h1")]);
    desk.check(expect![[r#"
        h1@2 3..4 pending "mine\n" -> "MINE\n"
    "#]]);
}

#[test]
fn splitting_goes_between_pairs_then_at_blank_lines() {
    let mut desk = Desk::new("one = 1\ntwo = 2\nthree = 3\n");
    desk.propose("one = 10\nadded = 0\ntwo = 20\nthree = 30\n");
    desk.split("h1");
    desk.check(expect![[r#"
        h1@2 0..1 pending "one = 1\n" -> "one = 10\nadded = 0\n"
        h2@2 1..3 pending "two = 2\nthree = 3\n" -> "two = 20\nthree = 30\n"
    "#]]);
    desk.split("h2");
    desk.check(expect![[r#"
        h1@2 0..1 pending "one = 1\n" -> "one = 10\nadded = 0\n"
        h2@3 1..2 pending "two = 2\n" -> "two = 20\n"
        h3@3 2..3 pending "three = 3\n" -> "three = 30\n"
    "#]]);
    let error = desk
        .set
        .split(&desk.text, &HunkId::new("h3"), &mut || HunkId::new("none"));
    assert_eq!(
        error,
        Err(HunkError::NotSplittable {
            id: HunkId::new("h3")
        })
    );

    let mut desk = Desk::new("");
    desk.propose("fn a() {}\n\nfn b() {\n    two();\n    three();\n}\n");
    desk.split("h1");
    desk.check(expect![[r#"
        h1@2 0..0 pending "" -> "fn a() {}\n\n"
        h2@2 0..0 pending "" -> "fn b() {\n    two();\n    three();\n}\n"
    "#]]);
    assert_eq!(
        desk.set.get(&HunkId::new("h2")).unwrap().split_from,
        Some(HunkId::new("h1"))
    );
    desk.accept("h2");
    desk.accept("h1");
    assert_eq!(
        desk.text.to_string(),
        "fn a() {}\n\nfn b() {\n    two();\n    three();\n}\n"
    );
}

#[test]
fn the_selection_decides_what_is_accepted() {
    let mut desk = Desk::new("a\nb\nc\nd\n");
    desk.propose("A\nB\nC\nD\n");
    assert_eq!(
        desk.select("h1", &Selection::Base(1..3)),
        Ok(HunkId::new("h2"))
    );
    desk.check(expect![[r#"
        h1@2 0..1 pending "a\n" -> "A\n"
        h2@2 1..3 pending "b\nc\n" -> "B\nC\n"
        h3@2 3..4 pending "d\n" -> "D\n"
    "#]]);
    desk.accept("h2");
    assert_eq!(desk.text.to_string(), "a\nB\nC\nd\n");
    assert_eq!(
        desk.select("h3", &Selection::Base(0..9)),
        Ok(HunkId::new("h3"))
    );
    assert_eq!(
        desk.select("h3", &Selection::Base(0..3)),
        Err(HunkError::OutsideSelection {
            id: HunkId::new("h3"),
            lines: 0..3
        })
    );

    let mut desk = Desk::new("keep\n");
    desk.propose("keep\none\ntwo\nthree\n");
    assert_eq!(
        desk.select("h1", &Selection::Added(1..2)),
        Ok(HunkId::new("h2"))
    );
    desk.accept("h2");
    assert_eq!(desk.text.to_string(), "keep\ntwo\n");
    desk.accept("h1");
    desk.accept("h3");
    assert_eq!(desk.text.to_string(), "keep\none\ntwo\nthree\n");
}

#[test]
fn an_amendment_is_accepted_and_the_agents_text_is_kept() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    let id = HunkId::new("h1");
    desk.set.amend(&desk.text, &id, "D and more").unwrap();
    let hunk = desk.set.get(&id).unwrap();
    assert_eq!((hunk.agent_text(), hunk.revision), ("D\n", 2));
    desk.accept("h1");
    assert_eq!(desk.text.to_string(), "a\nb\nc\nD and more\ne\nf\n");
    let nothing = desk.set.amend(&desk.text, &id, "d");
    assert_eq!(
        nothing,
        Err(HunkError::Settled {
            id,
            how: "accepted"
        })
    );
}

#[test]
fn amending_back_is_no_amendment() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    let id = HunkId::new("h1");
    desk.set.amend(&desk.text, &id, "other\n").unwrap();
    desk.set.amend(&desk.text, &id, "D\n").unwrap();
    assert_eq!(desk.set.get(&id).unwrap().amended, None);
    let same = desk.set.amend(&desk.text, &id, "d\n");
    assert_eq!(same, Err(HunkError::NothingLeft { id }));
}

#[test]
fn an_agents_edit_over_an_amendment_is_a_conflict() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    let id = HunkId::new("h1");
    desk.set.amend(&desk.text, &id, "mine\n").unwrap();
    let proposed = desk.propose_unchecked("a\nb\nc\nTHEIRS\ne\nf\n");
    assert_eq!(proposed.conflicts, std::slice::from_ref(&id));
    let sides = desk.set.conflict(&id, &desk.text).unwrap();
    assert_eq!(
        (
            sides.base.as_str(),
            sides.current.as_str(),
            sides.proposed.as_str()
        ),
        ("d\n", "mine\n", "THEIRS\n")
    );
    let mut other = Desk {
        text: desk.text.clone(),
        set: desk.set.clone(),
        ids: 9,
        calls: 9,
    };
    desk.set.keep_mine(&id).unwrap();
    desk.check(expect![[r#"
        h1@4 3..4 pending "d\n" -> "mine\n"
    "#]]);
    other.set.propose_again(&other.text, &id).unwrap();
    other.check(expect![[r#"
        h1@4 3..4 pending "d\n" -> "THEIRS\n"
    "#]]);
}

#[test]
fn an_edit_beside_an_amendment_leaves_it_alone() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    desk.set
        .amend(&desk.text, &HunkId::new("h1"), "mine\n")
        .unwrap();
    desk.propose("a\nb\nc\nmine\nE\nf\n");
    desk.check(expect![[r#"
        h1@2 3..4 pending "d\n" -> "mine\n"
        h2@1 4..5 pending "e\n" -> "E\n"
    "#]]);
}

#[test]
fn a_conflict_is_settled_either_way() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    let id = HunkId::new("h1");
    desk.edit("c\nd\n", "C1\nd1\nd2\n");
    let sides = desk.set.conflict(&id, &desk.text).unwrap();
    assert_eq!(sides.reason, "lines 3-5 changed");
    assert_eq!(sides.proposed, "c\nD\n");
    assert!(matches!(
        desk.set.accept(&desk.text, &id),
        Err(HunkError::Conflict { .. })
    ));
    let mut other = Desk {
        text: desk.text.clone(),
        set: desk.set.clone(),
        ids: 9,
        calls: 9,
    };
    desk.set.keep_mine(&id).unwrap();
    desk.check(expect![[r#"
        h1@2 2..5 withdrawn "d\n" -> "D\n"
    "#]]);
    // Only what stands for the hunk's own lines goes: the line above was the user's alone.
    other.set.propose_again(&other.text, &id).unwrap();
    other.check(expect![[r#"
        h1@2 3..5 pending "d1\nd2\n" -> "D\n"
    "#]]);
}

#[test]
fn undo_of_an_acceptance_reopens_even_in_pieces() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nB\nC\nd\ne\nf\n");
    desk.accept("h1");
    desk.edit("B", "b");
    desk.check(expect![[r#"
        h1@1 1..3 accepted "b\nc\n" -> "B\nC\n"
    "#]]);
    let events = desk.edit("C", "c");
    assert_eq!(
        events,
        [HunkEvent::Reopened {
            id: HunkId::new("h1")
        }]
    );
    desk.check(expect![[r#"
        h1@1 1..3 pending "b\nc\n" -> "B\nC\n"
    "#]]);
    let events = desk.edit("b\nc\n", "B\nC\n");
    assert_eq!(
        events,
        [HunkEvent::AcceptedAgain {
            id: HunkId::new("h1")
        }]
    );
    desk.check(expect![[r#"
        h1@1 1..3 accepted "b\nc\n" -> "B\nC\n"
    "#]]);
}

#[test]
fn undo_told_at_another_place_of_the_same_effect() {
    // The block that was accepted begins like the line behind it, so editors tell its removal from
    // there.
    let mut desk = Desk::new("fn a() {\n}\n\nfn c() {\n}\n");
    desk.propose("fn a() {\n}\n\nfn b() {\n}\n\nfn c() {\n}\n");
    desk.accept("h1");
    let at = desk.text.to_string().find("b() {\n}\n\nfn ").unwrap();
    let events = desk.change(at..at + "b() {\n}\n\nfn ".len(), "");
    assert_eq!(desk.text.to_string(), "fn a() {\n}\n\nfn c() {\n}\n");
    assert_eq!(
        events,
        [HunkEvent::Reopened {
            id: HunkId::new("h1")
        }]
    );

    let mut desk = Desk::new("x\nx\n");
    desk.propose("x\nx\nx\n");
    desk.accept("h1");
    let events = desk.change(0..2, "");
    assert_eq!(
        events,
        [HunkEvent::Reopened {
            id: HunkId::new("h1")
        }]
    );
}

#[test]
fn an_announced_edit_that_arrives_is_no_typing() {
    let mut desk = Desk::new(ABC);
    desk.propose("A\nb\nc\nD\ne\nF\n");
    let ids = [HunkId::new("h1"), HunkId::new("h3")];
    desk.set.expect(&ids);
    // The editor tells both as one change.
    let events = desk.change(0..desk.text.len_bytes(), "A\nb\nc\nd\ne\nF\n");
    assert_eq!(
        events,
        [
            HunkEvent::Applied {
                id: HunkId::new("h1")
            },
            HunkEvent::Applied {
                id: HunkId::new("h3")
            }
        ]
    );
    desk.check(expect![[r#"
        h1@1 0..1 accepted "a\n" -> "A\n"
        h2@1 3..4 pending "d\n" -> "D\n"
        h3@1 5..6 accepted "f\n" -> "F\n"
    "#]]);
}

#[test]
fn the_next_keystroke_may_travel_with_an_acceptance() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    desk.set.expect(&[HunkId::new("h1")]);
    let events = desk.change(0..desk.text.len_bytes(), "a\nbx\nc\nD\ne\nf\n");
    assert_eq!(
        events,
        [HunkEvent::Applied {
            id: HunkId::new("h1")
        }]
    );
}

#[test]
fn taking_back_what_was_accepted_is_no_undo() {
    let mut desk = Desk::new("a\n");
    desk.propose("a\nb\n");
    desk.accept("h1");
    desk.propose("a\n");
    desk.accept("h2");
    desk.check(expect![[r#"
        h1@1 1..1 accepted "" -> "b\n"
        h2@1 1..1 accepted "b\n" -> ""
    "#]]);
    // Undoing both, newest first.
    let events = desk.change(2..2, "b\n");
    assert_eq!(
        events,
        [HunkEvent::Reopened {
            id: HunkId::new("h2")
        }]
    );
    desk.set.reject(&HunkId::new("h2")).unwrap();
    let events = desk.change(2..4, "");
    assert_eq!(
        events,
        [HunkEvent::Reopened {
            id: HunkId::new("h1")
        }]
    );
}

#[test]
fn decisions_can_be_taken_back() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    let id = HunkId::new("h1");
    desk.set.reject(&id).unwrap();
    assert_eq!(
        desk.set.reject(&id),
        Err(HunkError::Settled {
            id: id.clone(),
            how: "rejected"
        })
    );
    assert_eq!(desk.set.proposed(&desk.text), desk.text);
    desk.edit("a\n", "");
    desk.set.reopen(&id).unwrap();
    desk.accept("h1");
    let undone = desk
        .set
        .undo_accept(&desk.text, std::slice::from_ref(&id))
        .unwrap();
    desk.text = undone.text;
    desk.check(expect![[r#"
        h1@1 2..3 pending "d\n" -> "D\n"
    "#]]);
    desk.set.reject(&id).unwrap();
    desk.edit("d\n", "other\n");
    desk.set.reopen(&id).unwrap();
    desk.check(expect![[r#"
        h1@1 2..3 conflict "d\n" -> "D\n" (line 3 changed)
    "#]]);
}

#[test]
fn a_decision_names_the_revision_that_was_shown() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    desk.propose("a\nb\nc\nDD\ne\nf\n");
    let id = HunkId::new("h1");
    let stale = desk.set.checked(&id, Some(1)).unwrap_err();
    assert_eq!(stale.code(), "STALE_HUNK");
    assert!(desk.set.checked(&id, Some(2)).is_ok());
    let unknown = desk.set.checked(&HunkId::new("h9"), None).unwrap_err();
    assert_eq!(unknown.code(), "UNKNOWN_HUNK");
    assert_eq!(unknown.to_string(), "no hunk h9 in this file");
}

#[test]
fn drift_moves_what_is_certain() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nb\nc\nD\ne\nf\n");
    desk.drift("# list\n# more\na\nb2\nc\nd\ne\nf\n");
    desk.check(expect![[r#"
        h1@1 5..6 pending "d\n" -> "D\n"
    "#]]);
    desk.drift("# list\na\nb2\nc\ncall the bank\ne\nf\n");
    desk.check(expect![[r#"
        h1@1 4..5 conflict "d\n" -> "D\n" (line 5 changed)
    "#]]);
    desk.drift(ABC);
    desk.check(expect![[r#"
        h1@1 3..4 pending "d\n" -> "D\n"
    "#]]);
}

#[test]
fn drift_that_doubles_the_block_is_a_conflict() {
    let block = "start\none\ntwo\nend\n";
    let mut desk = Desk::new(&format!("top\n{block}bottom\n"));
    desk.propose("top\nstart\none\nTWO\nend\nbottom\n");
    desk.drift(&format!("top\n{block}{block}bottom\n"));
    desk.check(expect![[r#"
        h1@1 3..4 ambiguous "two\n" -> "TWO\n" (the lines at line 4 now stand in more than one place)
    "#]]);
    desk.set
        .propose_again(&desk.text, &HunkId::new("h1"))
        .unwrap();
    assert_eq!(desk.set.pending().count(), 1);
}

#[test]
fn a_copy_elsewhere_does_not_shake_the_original() {
    let block = "start\none\ntwo\nend\n";
    let mut desk = Desk::new(&format!("top\n{block}middle\nlow\nbottom\n"));
    desk.propose("top\nstart\none\nTWO\nend\nmiddle\nlow\nbottom\n");
    desk.drift(&format!("top\n{block}middle\n{block}low\nbottom\n"));
    desk.check(expect![[r#"
        h1@1 3..4 pending "two\n" -> "TWO\n"
    "#]]);
}

#[test]
fn removing_one_of_two_equal_blocks_is_a_conflict() {
    let block = "start\none\ntwo\nend\n";
    let mut desk = Desk::new(&format!("top\n{block}{block}bottom\n"));
    desk.propose("top\nstart\none\nTWO\nend\nstart\none\ntwo\nend\nbottom\n");
    desk.drift(&format!("top\n{block}bottom\n"));
    desk.check(expect![[r#"
        h1@1 3..4 ambiguous "two\n" -> "TWO\n" (the lines at line 4 now stand in more than one place)
    "#]]);
}

#[test]
fn records_restore_what_was_decided_since() {
    let mut desk = Desk::new(ABC);
    desk.propose("A\nb\nc\nD\nE\nf\ng\n");
    let snapshot = desk.text.clone();
    desk.set.snapshot(&snapshot);
    desk.accept("h1");
    desk.set.reject(&HunkId::new("h3")).unwrap();
    desk.split("h2");
    let records = serde_json::to_string(&desk.set.records()).unwrap();
    let records = serde_json::from_str(&records).unwrap();
    let (set, text) = HunkSet::restore(&snapshot, records).unwrap();
    assert_eq!(text, desk.text);
    desk.set = set;
    desk.check(expect![[r#"
        h1@1 0..1 accepted "a\n" -> "A\n"
        h2@2 3..4 pending "d\n" -> "D\n"
        h4@2 4..5 pending "e\n" -> "E\n"
        h3@1 6..6 rejected "" -> "g\n"
    "#]]);
}

#[test]
fn records_that_do_not_fit_are_named() {
    let mut desk = Desk::new(ABC);
    desk.propose("A\nb\nc\nD\ne\nf\n");
    let mut records = desk.set.snapshot(&desk.text);
    let other = Rope::from_str("x\nb\nc\nd\ne\nf\n");
    let error = HunkSet::restore(&other, records.clone()).unwrap_err();
    assert_eq!(
        error,
        RestoreError::Mismatch {
            id: HunkId::new("h1")
        }
    );
    records[1].lines = 7..9;
    let error = HunkSet::restore(&desk.text, records.clone()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "hunk h2: lines 7..9 lie outside of its snapshot"
    );
    records[1] = records[0].clone();
    let error = HunkSet::restore(&desk.text, records).unwrap_err();
    assert_eq!(error.code(), "STORE_CORRUPT");
}

#[test]
fn hunks_are_found_by_place() {
    let mut desk = Desk::new(ABC);
    desk.propose("a\nB\nc\nd\nnew\ne\nf\nlast\n");
    let ids = |range: Range<usize>| -> Vec<String> {
        let found = desk.set.in_range(range);
        found.map(|(hunk, _)| hunk.id.to_string()).collect()
    };
    assert_eq!(ids(0..1), Vec::<String>::new());
    assert_eq!(ids(2..3), ["h1"]);
    assert_eq!(ids(4..8), ["h1", "h2"]);
    let at = |byte: usize| -> Vec<String> {
        let found = desk.set.at_line(&desk.text, byte);
        found.map(|(hunk, _)| hunk.id.to_string()).collect()
    };
    assert_eq!(at(3), ["h1"]);
    assert_eq!(at(4), Vec::<String>::new());
    assert_eq!(at(8), ["h2"]);
    assert_eq!(at(12), ["h3"]);
}
