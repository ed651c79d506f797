//! Texts that changed while nobody watched.

use expect_test::expect;

use super::*;

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
