//! What an agent's next edit does to hunks.

use expect_test::expect;

use super::*;

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
fn an_agent_drops_what_stood_behind_a_line_that_loses_its_ending() {
    let mut desk = Desk::new("a\n0\n");
    desk.propose("a\n0\n\n");
    desk.set.reject(&HunkId::new("h1")).unwrap();
    desk.propose("a\n0");
    desk.set.reopen(&HunkId::new("h1")).unwrap();
    // Nothing is left of either.
    desk.propose("a\n0\n");
    assert_eq!(desk.set.pending().count(), 0);
}
