//! Tables and properties of the three-way merge.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;

use super::*;

#[test]
fn both_sides_are_taken() {
    let merge = merge3("a\nb\nc\n", "a\nb\nC\n", "A\nb\nc\n");
    assert_eq!(merge.text().unwrap(), "A\nb\nC\n");
    let merge = merge3("a\nb\n", "a\nB\n", "a\nB\n");
    assert_eq!(merge.text().unwrap(), "a\nB\n");
}

#[test]
fn what_differs_keeps_all_sides() {
    let merge = merge3("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n");
    assert!(merge.is_conflicted());
    assert_eq!(merge.text(), None);
    assert_eq!(
        merge.parts,
        [
            MergePart::Merged("a\n".to_owned()),
            MergePart::Conflict {
                base: "b\n".to_owned(),
                ours: "mine\n".to_owned(),
                theirs: "theirs\n".to_owned(),
            },
            MergePart::Merged("c\n".to_owned()),
        ]
    );
}

#[test]
fn our_endings_are_kept() {
    let merge = merge3("a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\nB\nc\n");
    assert_eq!(merge.text().unwrap(), "a\r\nB\nc\r\n");
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(vec!["a\n", "b\n", "\n", "c\n"]), 0..12)
        .prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn one_side_alone_wins(base in text(), other in text()) {
        prop_assert_eq!(merge3(&base, &base, &other).text(), Some(other.clone()));
        prop_assert_eq!(merge3(&base, &other, &base).text(), Some(other.clone()));
        prop_assert_eq!(merge3(&base, &other, &other).text(), Some(other));
    }

    #[test]
    fn the_sides_are_all_there(base in text(), ours in text(), theirs in text()) {
        let merge = merge3(&base, &ours, &theirs);
        let swapped = merge3(&base, &theirs, &ours);
        prop_assert_eq!(merge.is_conflicted(), swapped.is_conflicted());
        if let Some(text) = merge.text() {
            prop_assert_eq!(Some(text), swapped.text());
        }
    }
}
