//! Edits of hunks as an editor tells them: applied, undone, in pieces.

use expect_test::expect;

use super::*;

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
fn the_halves_of_an_acceptance_are_not_taken_back_by_typing_above_it() {
    let mut desk = Desk::new("a\nold\nb\n");
    desk.propose("a\nnew\nb\n");
    desk.set.expect(&[HunkId::new("h1")]);
    desk.change(2..6, "");
    desk.change(2..2, "new\n");
    assert!(desk.change(2..2, "old\n").is_empty());
    desk.check(expect![[r#"
        h1@1 2..3 accepted "old\n" -> "new\n"
    "#]]);
}

#[test]
fn nor_once_the_acceptance_was_undone() {
    let mut desk = Desk::new("a\n\nb\n");
    desk.propose("a\nnew\nb\n");
    desk.set.expect(&[HunkId::new("h1")]);
    desk.change(2..3, "");
    desk.change(2..2, "new\n");
    desk.undo_accept("h1").unwrap();
    desk.change(2..2, "\n");
    desk.check(expect![[r#"
        h1@1 2..3 pending "\n" -> "new\n"
    "#]]);
}

#[test]
fn the_editor_undoes_an_acceptance_in_the_halves_in_which_it_came() {
    let mut desk = Desk::new("a\nold\nb\n");
    desk.propose("a\nnew\nb\n");
    desk.set.expect(&[HunkId::new("h1")]);
    desk.change(2..6, "");
    desk.change(2..2, "new\n");
    desk.change(2..6, "");
    desk.change(2..2, "old\n");
    desk.check(expect![[r#"
        h1@1 1..2 pending "old\n" -> "new\n"
    "#]]);
}

#[test]
fn the_second_half_belongs_to_the_hunk_whose_first_half_came() {
    let mut desk = Desk::new("a\nold\nb\n");
    desk.propose("a\nnew\nnew\nb\n");
    let ids = desk.split("h1");
    desk.check(expect![[r#"
        h1@2 1..2 pending "old\n" -> "new\n"
        h2@2 2..2 pending "" -> "new\n"
    "#]]);
    desk.set.expect(&ids);
    desk.change(2..6, "");
    desk.change(2..2, "new\n");
    desk.change(6..6, "new\n");
    desk.check(expect![[r#"
        h1@2 1..2 accepted "old\n" -> "new\n"
        h2@2 2..3 accepted "" -> "new\n"
    "#]]);
}

#[test]
fn a_first_half_is_not_the_whole_of_another_hunk_on_equal_lines() {
    let mut desk = Desk::new("\n0\n0\n0\nz\n");
    desk.propose("\n0\n0\n\n0\nz\n");
    desk.propose("\n0\n\n0\nz\n");
    desk.propose("\n0\n\n\nz\n");
    desk.check(expect![[r#"
        h2@1 1..2 pending "0\n" -> ""
        h1@2 3..4 pending "0\n" -> "\n\n"
    "#]]);
    desk.set.expect(&[HunkId::new("h1"), HunkId::new("h2")]);
    desk.change(5..7, "");
    desk.change(5..5, "\n\n");
    desk.change(1..3, "");
    desk.check(expect![[r#"
        h2@1 1..1 accepted "0\n" -> ""
        h1@2 2..4 accepted "0\n" -> "\n\n"
    "#]]);
}

#[test]
fn announced_edits_arrive_even_if_together_they_change_nothing() {
    let mut desk = Desk::new("0\nz\n");
    desk.propose("z\n");
    desk.set.reject(&HunkId::new("h1")).unwrap();
    desk.propose("0\n0\nz\n");
    desk.set.reopen(&HunkId::new("h1")).unwrap();
    let ids: Vec<HunkId> = desk
        .set
        .pending()
        .map(|(hunk, _)| hunk.id.clone())
        .collect();
    assert_eq!(ids.len(), 2);
    desk.set.expect(&ids);
    let events = desk.change(0..4, "0\nz\n");
    let applied = ids.into_iter().map(|id| HunkEvent::Applied { id });
    assert_eq!(events, applied.collect::<Vec<_>>());
}

#[test]
fn a_change_told_as_an_announced_edit_is_that_edit() {
    let mut desk = Desk::new("a\n\nb\n");
    desk.propose("a\nnew\nother\nb\n");
    let ids = desk.split("h1");
    desk.check(expect![[r#"
        h1@2 1..2 pending "\n" -> "new\n"
        h2@2 2..2 pending "" -> "other\n"
    "#]]);
    let amend = |desk: &mut Desk, text: &str| desk.set.amend(&desk.text, &ids[0], text);
    amend(&mut desk, "other\n\n").unwrap();
    desk.set.expect(&ids);
    // Its lines are those of the other one, and the blank line that was there.
    desk.change(2..3, "other\n\n");
    desk.check(expect![[r#"
        h1@3 1..3 accepted "\n" -> "other\n\n"
        h2@2 3..3 pending "" -> "other\n"
    "#]]);
}

#[test]
fn an_announced_edit_that_begins_like_an_undo_is_none() {
    let mut desk = Desk::new("\nz\n");
    desk.propose("new\nz\n");
    desk.change(0..3, "");
    desk.change(0..0, "\n");
    desk.check(expect![[r#"
        h1@1 0..1 pending "\n" -> "new\n"
    "#]]);
    desk.set.expect(&[HunkId::new("h1")]);
    desk.change(0..1, "");
    desk.change(0..0, "new\n");
    desk.check(expect![[r#"
        h1@1 0..1 accepted "\n" -> "new\n"
    "#]]);
}

#[test]
fn undoing_a_deletion_leaves_what_was_put_behind_it_where_a_line_can_start() {
    let mut desk = Desk::new("0\nA");
    desk.propose("0\n");
    desk.accept("h1");
    desk.propose("0\nA\n");
    desk.accept("h2");
    // As if the first were undone, and the second were pending behind a line without its ending.
    desk.change(2..4, "A");
    desk.check(expect![[r#"
        h1@1 1..1 accepted "A" -> ""
        h2@1 1..1 accepted "" -> "A\n"
    "#]]);
}
