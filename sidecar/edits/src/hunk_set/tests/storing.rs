//! To the store and back.

use expect_test::expect;

use super::*;

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
fn what_two_hunks_did_at_one_place_is_replayed_once() {
    let mut desk = Desk::new("0\na\n0\n");
    desk.propose("0\na\nX\n");
    desk.set.reject(&HunkId::new("h1")).unwrap();
    desk.propose("0\na\nX\n");
    // Which of the equal lines went cannot be told.
    desk.drift("0\na\n0\n0\n");
    desk.set.reopen(&HunkId::new("h1")).unwrap();
    let snapshot = desk.text.clone();
    desk.set.snapshot(&snapshot);
    desk.accept("h1");
    desk.check(expect![[r#"
        h1@1 2..3 accepted "0\n" -> "X\n"
        h2@1 2..3 by-hand "0\n" -> "X\n"
    "#]]);
    let (restored, text) = HunkSet::restore(&snapshot, desk.set.records()).unwrap();
    assert_eq!(text, desk.text);
    let states =
        |set: &HunkSet| -> Vec<HunkState> { set.iter().map(|hunk| hunk.state.clone()).collect() };
    assert_eq!(states(&restored), states(&desk.set));
}
