#![allow(clippy::unwrap_used, clippy::expect_used)]
use std::sync::Arc;

use super::*;
use crate::testing::{Scratch, revision};

#[test]
fn publishes_and_puts_back() {
    let scratch = Scratch::new(&[("a.txt", "a\n"), ("old/gone.txt", "bye\n")]);
    let batch = scratch.root.batch();
    let area = scratch.area();
    let (a, new, gone) = (
        scratch.path("a.txt"),
        scratch.path("x/y/new.txt"),
        scratch.path("old/gone.txt"),
    );
    let stage = |path, bytes, name| Stage {
        path,
        bytes,
        name,
        mode: NewMode::Keep,
        like: None,
        over_read_only: false,
    };
    let staged = batch
        .stage(&area, &[stage(&a, b"A\n", "0"), stage(&new, b"n\n", "1")])
        .unwrap();
    assert_eq!(
        scratch.tree(),
        [("a.txt", "a\n"), ("old/gone.txt", "bye\n")].map(Scratch::pair)
    );

    let made = batch.make_folders(&new).unwrap();
    assert_eq!(made, ["x", "x/y"]);
    batch
        .publish(&area, &staged[0], Expect::Revision(&revision("a\n")))
        .unwrap();
    batch.publish(&area, &staged[1], Expect::Missing).unwrap();
    batch.remove(&area, &gone, "2", &revision("bye\n")).unwrap();
    batch.sync_changed().unwrap();
    assert_eq!(
        scratch.tree(),
        [("a.txt", "A\n"), ("x/y/new.txt", "n\n")].map(Scratch::pair)
    );

    batch.put_back(&area, &gone, "2", None).unwrap();
    batch
        .put_back(&area, &new, "1", Some(&revision("n\n")))
        .unwrap();
    batch
        .put_back(&area, &a, "0", Some(&revision("A\n")))
        .unwrap();
    assert_eq!(batch.remove_folders(&made), Vec::<String>::new());
    assert_eq!(
        scratch.tree(),
        [("a.txt", "a\n"), ("old/gone.txt", "bye\n")].map(Scratch::pair)
    );
    let _ = Arc::new(0);
}
