//! What typing does to hunks.

use expect_test::expect;

use super::*;

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

#[test]
fn lines_that_came_together_again_stay_together() {
    let mut desk = Desk::new("a\n0\nb\n");
    desk.propose("a\nb\n");
    desk.accept("h1");
    desk.drift("a\nx\n0\nb\n");
    let reopened = desk.edit("x\n", "");
    assert_eq!(
        reopened,
        [HunkEvent::Reopened {
            id: HunkId::new("h1")
        }]
    );
    // Above a pending hunk, whatever stood there once.
    assert!(desk.edit("a\n", "a\nx\n").is_empty());
    desk.check(expect![[r#"
        h1@1 2..3 pending "0\n" -> ""
    "#]]);
}

#[test]
fn taking_back_what_was_done_by_hand_reopens() {
    let mut desk = Desk::new("a\n0\n\n");
    desk.propose("a\n0");
    desk.change(4..5, "");
    desk.check(expect![[r#"
        h1@1 1..2 by-hand "0\n\n" -> "0"
    "#]]);
    desk.change(4..4, "\n");
    desk.check(expect![[r#"
        h1@1 1..3 pending "0\n\n" -> "0"
    "#]]);
}

#[test]
fn what_breaks_frees_its_lines_for_what_lifts() {
    let mut desk = Desk::new("0\n");
    desk.propose("X\n");
    let amend = |desk: &mut Desk| desk.set.amend(&desk.text, &HunkId::new("h1"), "mine\n");
    amend(&mut desk).unwrap();
    desk.propose_unchecked("Y\n");
    desk.edit("0\n", "00\n");
    desk.propose("Z\n");
    desk.edit("00\n", "0\n");
    desk.check(expect![[r#"
        h1@3 0..1 over-amended "0\n" -> "mine\n" (the agent edited the lines at line 1 that you had amended)
        h2@1 0..1 conflict "00\n" -> "Z\n" (line 1 changed)
    "#]]);
    // The lines are those of the amendment again, so an edit of them is one over it.
    let proposed = desk.propose_unchecked("W\n");
    assert_eq!(proposed.conflicts, [HunkId::new("h1")]);
}

#[test]
fn a_line_above_an_acceptance_that_was_undone_is_typing() {
    let mut desk = Desk::new("\n\n0\n");
    desk.propose("\n0\n");
    desk.accept("h1");
    desk.drift("0\n");
    desk.undo_accept("h1").unwrap();
    assert!(desk.change(0..0, "\n").is_empty());
    let pending = desk.set.pending().count();
    assert_eq!(pending, 1);
}

#[test]
fn what_a_formatter_may_have_moved_is_a_conflict() {
    let mut desk = Desk::new("a\n}\n}\nb\n");
    desk.propose("a\n}\nnew\n}\nb\n");
    let id = HunkId::new("h1");
    // Which of the two braces went cannot be told.
    let events = desk.change(0..desk.text.len_bytes(), "a\n}\nb\n");
    assert_eq!(events, [HunkEvent::Conflicted { id }]);
    desk.check(expect![[r#"
        h1@1 2..2 ambiguous "" -> "new\n" (the lines at line 3 now stand in more than one place)
    "#]]);
}

#[test]
fn lines_that_moved_are_no_undone_acceptance() {
    let mut desk = Desk::new("\nb\n");
    desk.propose("\nb\nnew\n");
    desk.accept("h1");
    desk.change(0..desk.text.len_bytes(), "new\n\n");
    desk.change(0..desk.text.len_bytes(), "\nb\nnew\n");
    desk.change(3..7, "");
    assert_eq!(desk.text.to_string(), "\nb\n");
    let places: Vec<Range<usize>> = desk.set.pending().map(|(_, range)| range).collect();
    assert!(places.iter().all(|place| *place == (3..3)), "{places:?}");
}
