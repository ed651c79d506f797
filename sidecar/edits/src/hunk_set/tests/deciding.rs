//! Decisions, and taking them back.

use expect_test::expect;

use super::*;

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
fn undoing_what_changed_nothing_leaves_the_lines_to_who_has_them_now() {
    let mut desk = Desk::new("a\ny\n");
    desk.propose("a\ny");
    desk.edit("y", "yy");
    desk.propose("a\nyy\nz\n");
    desk.edit("yy", "y");
    desk.accept("h1");
    desk.propose("a\nz\n");
    desk.check(expect![[r#"
        h1@1 1..2 accepted "y\n" -> "y"
        h2@2 1..2 pending "y\n" -> "z\n"
    "#]]);
    let overlap = HunkError::Overlap {
        id: HunkId::new("h1"),
        other: HunkId::new("h2"),
    };
    assert_eq!(desk.undo_accept("h1").unwrap_err(), overlap);
}

#[test]
fn no_part_of_a_split_keeps_the_lines_as_they_are() {
    let mut desk = Desk::new("a\n0\nb\n");
    desk.propose("a\nb\n");
    let id = HunkId::new("h1");
    desk.set.amend(&desk.text, &id, "!\n0\n").unwrap();
    let whole = desk.set.split(&desk.text, &id, &mut || HunkId::new("h2"));
    assert_eq!(whole, Err(HunkError::NotSplittable { id: id.clone() }));
    let whole = desk.select("h1", &Selection::Base(1..2));
    assert_eq!(whole, Ok(id));
}

#[test]
fn a_part_that_the_user_amended_is_still_its_agents() {
    let mut desk = Desk::new("a\n");
    desk.propose("a\nnew\n");
    let id = HunkId::new("h1");
    let text = desk.text.clone();
    desk.set.amend(&text, &id, "mine\nnew\n").unwrap();
    desk.split("h1");
    desk.set.amend(&text, &id, "new\n").unwrap();
    let hunk = desk.set.get(&id).unwrap();
    assert_eq!(hunk.amended, None);
    assert_eq!(hunk.calls(), ["call1"]);
}

#[test]
fn what_is_reopened_stands_where_it_is_now() {
    let mut desk = Desk::new("b\n\n\n");
    desk.propose("b\n\nA\n\n");
    let id = HunkId::new("h1");
    desk.set.reject(&id).unwrap();
    // Blank lines come and go at its place while nobody minds it.
    desk.change(3..3, "\n");
    desk.change(3..3, "\n");
    desk.change(3..4, "");
    desk.change(3..4, "");
    desk.set.reopen(&id).unwrap();
    let pending: Vec<Range<usize>> = desk.set.pending().map(|(_, range)| range).collect();
    assert_eq!((pending.len(), pending.first()), (1, Some(&(3..3))));
    // A line like those that once were there is one more.
    assert_eq!(desk.change(3..3, "\n"), [HunkEvent::Conflicted { id }]);
}
