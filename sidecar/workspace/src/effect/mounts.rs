//! Commits across mounts, in a mount namespace of their own.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::Command;

use super::*;
use crate::testing::{Scratch, in_namespace, revision};

/// Folders that are mounts of their own: one of another file system, one of the same seen twice, which no
/// rename crosses either.
#[test]
fn files_on_other_mounts_are_staged_beside_their_target() {
    let scratch = Scratch::new(&[
        ("tmpfs/.keep", ""),
        ("bound/.keep", ""),
        ("real/a.txt", "a\n"),
        ("here.txt", "h\n"),
    ]);
    match in_namespace("effect::mounts::child_commits_across_mounts", &scratch) {
        Some(status) => assert!(status.success()),
        None => assert!(
            !cfg!(target_os = "linux") || !can_unshare(),
            "namespaces work here"
        ),
    }
}

fn can_unshare() -> bool {
    Command::new("unshare")
        .args(["-rm", "true"])
        .status()
        .is_ok_and(|status| status.success())
}

/// Run in a process of its own by the test above.
#[test]
fn child_commits_across_mounts() {
    let Some(scratch) = Scratch::of_parent() else {
        return;
    };
    let mount = |arguments: &[&str]| {
        assert!(
            Command::new("mount")
                .args(arguments)
                .current_dir(scratch.root.path())
                .status()
                .unwrap()
                .success()
        );
    };
    mount(&["-t", "tmpfs", "none", "tmpfs"]);
    mount(&["--bind", "real", "bound"]);
    scratch.write("tmpfs/a.txt", "a\n");
    scratch.write("tmpfs/gone.txt", "g\n");
    let before = scratch.tree();
    let area = scratch.area();
    for folder in ["tmpfs", "bound"] {
        let batch = scratch.root.batch();
        let path = |name: &str| scratch.path(&format!("{folder}/{name}"));
        let (a, new, deep) = (path("a.txt"), path("new.txt"), path("x/y.txt"));
        let files = [
            Stage::new(&a, b"A\n", "0"),
            Stage::new(&new, b"n\n", "1"),
            Stage::new(&deep, b"y\n", "2"),
        ];
        let staged = batch.stage(&area, &files).unwrap();
        let made = batch.make_folders(&deep).unwrap();
        batch
            .publish(&area, &staged[0], Expect::Revision(&revision("a\n")))
            .unwrap();
        batch.publish(&area, &staged[1], Expect::Missing).unwrap();
        batch.publish(&area, &staged[2], Expect::Missing).unwrap();
        assert_eq!(
            std::fs::read_to_string(scratch.on_disk(a.as_str())).unwrap(),
            "A\n"
        );
        assert_eq!(
            std::fs::read_to_string(scratch.on_disk(deep.as_str())).unwrap(),
            "y\n"
        );
        batch
            .put_back(&area, &deep, "2", Some(&revision("y\n")))
            .unwrap();
        batch
            .put_back(&area, &new, "1", Some(&revision("n\n")))
            .unwrap();
        batch
            .put_back(&area, &a, "0", Some(&revision("A\n")))
            .unwrap();
        assert!(batch.remove_folders(&made).is_empty());
        assert_eq!(scratch.tree(), before, "{folder}");

        let staged = batch.stage(&area, &files).unwrap();
        for staged in &staged {
            batch.discard(&area, &staged.path, &staged.name);
        }
        assert_eq!(scratch.tree(), before, "{folder}");
    }
    let batch = scratch.root.batch();
    let gone = scratch.path("tmpfs/gone.txt");
    batch.remove(&area, &gone, "3", &revision("g\n")).unwrap();
    assert!(!scratch.on_disk("tmpfs/gone.txt").exists());
    batch.put_back(&area, &gone, "3", None).unwrap();
    assert_eq!(scratch.tree(), before);
}
