//! The order in which a review walks.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;
use crate::cli::render::tests::{file, hunk, transaction};

fn two_files() -> Transaction {
    transaction(vec![
        file("a", OperationKind::Edit, vec![hunk("h1", 1), hunk("h2", 5)]),
        file("b", OperationKind::Create, vec![hunk("h3", 1)]),
        file("c", OperationKind::Edit, vec![hunk("h4", 1)]),
    ])
}

fn ids(walk: &Walk, choice: Choice) -> Vec<String> {
    let (hunks, files) = walk.decided(choice, 9);
    let hunks = hunks.into_iter().map(|it| it.id);
    hunks.chain(files.into_iter().map(|it| it.path)).collect()
}

#[test]
fn a_created_file_is_decided_as_one() {
    let walk = Walk::new(&two_files());
    let items: Vec<Item> = walk.steps.iter().map(|step| step.item).collect();
    assert_eq!(
        items,
        [
            Item::Hunk { file: 0, hunk: 0 },
            Item::Hunk { file: 0, hunk: 1 },
            Item::File { file: 1 },
            Item::Hunk { file: 2, hunk: 0 },
        ]
    );
}

#[test]
fn choices_move_on_and_can_be_revised() {
    let mut walk = Walk::new(&two_files());
    walk.decide(Choice::Accept);
    walk.skip();
    assert_eq!(walk.place(), (3, 4));
    assert!(walk.back() && walk.back());
    walk.decide(Choice::Reject);
    // The second hunk was left undecided, so it is the next.
    assert_eq!(walk.place(), (2, 4));
    assert_eq!(ids(&walk, Choice::Reject), ["h1"]);
    assert!(ids(&walk, Choice::Accept).is_empty());
    walk.decide_file(Choice::Accept);
    assert_eq!(ids(&walk, Choice::Accept), ["h2"]);
    walk.decide_all(Choice::Accept);
    assert_eq!(ids(&walk, Choice::Accept), ["h2", "h4", "b"]);
    assert_eq!(walk.current(), None);
}

#[test]
fn a_conflict_is_never_accepted_along() {
    let mut transaction = two_files();
    transaction.files[0].hunks[1].state = HunkState::Conflict;
    let mut walk = Walk::new(&transaction);
    walk.decide_all(Choice::Accept);
    assert_eq!(ids(&walk, Choice::Accept), ["h1", "h4", "b"]);
    let mut walk = Walk::new(&transaction);
    walk.decide_all(Choice::Reject);
    assert_eq!(ids(&walk, Choice::Reject), ["h1", "h2", "h4", "b"]);
}

#[test]
fn choices_outlive_a_split_and_not_a_new_revision() {
    let mut transaction = two_files();
    let mut walk = Walk::new(&transaction);
    walk.decide(Choice::Accept);
    walk.decide(Choice::Accept);
    walk.decide(Choice::Reject);
    transaction.files[0].hunks[1].revision += 1;
    transaction.files[0].hunks.insert(2, hunk("h5", 7));
    walk.renew(&transaction);
    assert_eq!(ids(&walk, Choice::Accept), ["h1"]);
    assert_eq!(ids(&walk, Choice::Reject), ["b"]);
}

#[test]
fn settled_hunks_are_not_walked() {
    let mut transaction = two_files();
    for file in &mut transaction.files {
        file.state = HunkState::Accepted;
        for hunk in &mut file.hunks {
            hunk.state = HunkState::Accepted;
        }
    }
    assert!(Walk::new(&transaction).is_empty());
}

#[test]
fn context_is_shown_only_where_the_file_reads_as_the_hunk_says() {
    let base = tempfile::tempdir().unwrap();
    std::fs::write(base.path().join("a"), "1\n2\n3\r\n4\nold\n6\n").unwrap();
    let mut at = hunk("h", 5);
    at.removed = vec!["old".to_owned()];
    let found = context(base.path(), "a", &at).unwrap();
    assert_eq!(found.before, ["2", "3", "4"]);
    assert_eq!(found.after, ["6"]);
    at.removed = vec!["else".to_owned()];
    assert_eq!(context(base.path(), "a", &at), None);
    assert_eq!(context(base.path(), "missing", &at), None);
    assert_eq!(context(base.path(), "../a", &at), None);
}
