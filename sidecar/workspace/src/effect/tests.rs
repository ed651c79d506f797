//! Every effect on files, and every failure of one.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::XattrFlags;
use rustix::io::Errno;

use super::*;
use crate::testing::{Scratch, revision};
use crate::{Batch, Entry, StorePath};

fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().copied().map(Scratch::pair).collect()
}

fn mode(scratch: &Scratch, path: &str) -> u32 {
    std::fs::metadata(scratch.on_disk(path)).unwrap().mode() & 0o7777
}

fn chmod(scratch: &Scratch, path: &str, mode: u32) {
    std::fs::set_permissions(scratch.on_disk(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Names that wait in the area.
fn waiting(scratch: &Scratch, area: &Area) -> Vec<String> {
    let path = StorePath::new(area.path().trim_start_matches(".agentic/")).unwrap();
    scratch
        .store()
        .list(&path)
        .unwrap()
        .into_iter()
        .map(|(name, _)| name)
        .collect()
}

/// Stages and publishes one edit.
fn edit(
    scratch: &Scratch,
    batch: &Batch,
    area: &Area,
    path: &str,
    from: &str,
    to: &str,
) -> Result<(), FsError> {
    let path = scratch.path(path);
    let staged = batch.stage(area, &[Stage::new(&path, to.as_bytes(), "0")])?;
    batch.publish(area, &staged[0], Expect::Revision(&revision(from)))
}

#[test]
fn publishes_and_puts_back() {
    let before = [("a.txt", "a\n"), ("old/gone.txt", "bye\n")];
    let scratch = Scratch::new(&before);
    let (batch, area) = (scratch.root.batch(), scratch.area());
    let (a, new, gone) = (
        scratch.path("a.txt"),
        scratch.path("x/y/new.txt"),
        scratch.path("old/gone.txt"),
    );
    let staged = batch
        .stage(
            &area,
            &[Stage::new(&a, b"A\n", "0"), Stage::new(&new, b"n\n", "1")],
        )
        .unwrap();
    assert_eq!(scratch.tree(), pairs(&before), "staging shows nothing");

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
        pairs(&[("a.txt", "A\n"), ("x/y/new.txt", "n\n")])
    );
    assert_eq!(waiting(&scratch, &area), ["0.old", "2.old"]);

    batch.put_back(&area, &gone, "2", None).unwrap();
    batch
        .put_back(&area, &new, "1", Some(&revision("n\n")))
        .unwrap();
    batch
        .put_back(&area, &a, "0", Some(&revision("A\n")))
        .unwrap();
    assert_eq!(batch.remove_folders(&made), Vec::<String>::new());
    assert_eq!(scratch.tree(), pairs(&before));
    assert!(waiting(&scratch, &area).is_empty());
    // Once more changes nothing: recovery may run twice.
    batch.put_back(&area, &gone, "2", None).unwrap();
    batch
        .put_back(&area, &new, "1", Some(&revision("n\n")))
        .unwrap();
    assert_eq!(scratch.tree(), pairs(&before));
}

#[test]
fn putting_back_moves_the_same_file() {
    let scratch = Scratch::new(&[("a.txt", "a\n")]);
    let (batch, area, path) = (scratch.root.batch(), scratch.area(), scratch.path("a.txt"));
    let inode = std::fs::metadata(scratch.on_disk("a.txt")).unwrap().ino();
    edit(&scratch, &batch, &area, "a.txt", "a\n", "A\n").unwrap();
    batch
        .put_back(&area, &path, "0", Some(&revision("A\n")))
        .unwrap();
    assert_eq!(
        std::fs::metadata(scratch.on_disk("a.txt")).unwrap().ino(),
        inode
    );
}

#[test]
fn attributes_survive_an_edit() {
    let scratch = Scratch::new(&[("run.sh", "one\n"), ("token", "a\n"), ("old.sh", "A\n")]);
    for (path, mode) in [("run.sh", 0o755), ("token", 0o600), ("old.sh", 0o2750)] {
        chmod(&scratch, path, mode);
    }
    let name = "user.redline.test";
    let run = std::fs::File::open(scratch.on_disk("run.sh")).unwrap();
    rustix::fs::fsetxattr(&run, name, b"kept", XattrFlags::empty()).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(scratch.on_disk("token"), Some(12), Some(34)).unwrap();
    }
    let (batch, area) = (scratch.root.batch(), scratch.area());
    let (run, token, new) = (
        scratch.path("run.sh"),
        scratch.path("token"),
        scratch.path("bin/new.sh"),
    );
    let old = scratch.path("old.sh");
    let files = [
        Stage::new(&run, b"two\n", "0"),
        Stage::new(&token, b"b\n", "1"),
        Stage::new(&new, b"B\n", "2").like(&old),
    ];
    let staged = batch.stage(&area, &files).unwrap();
    assert!(staged.iter().all(|staged| staged.owner_kept));
    batch.make_folders(&new).unwrap();
    batch
        .publish(&area, &staged[0], Expect::Revision(&revision("one\n")))
        .unwrap();
    batch
        .publish(&area, &staged[1], Expect::Revision(&revision("a\n")))
        .unwrap();
    batch.publish(&area, &staged[2], Expect::Missing).unwrap();
    batch.remove(&area, &old, "3", &revision("A\n")).unwrap();
    assert_eq!(mode(&scratch, "run.sh"), 0o755);
    assert_eq!(mode(&scratch, "token"), 0o600);
    assert_eq!(mode(&scratch, "bin/new.sh"), 0o2750);
    let run = std::fs::File::open(scratch.on_disk("run.sh")).unwrap();
    let mut value = [0u8; 16];
    let len = rustix::fs::fgetxattr(&run, name, &mut value[..]).unwrap();
    assert_eq!(&value[..len], b"kept");
    if rustix::process::geteuid().is_root() {
        let metadata = std::fs::metadata(scratch.on_disk("token")).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (12, 34));
    }
}

#[test]
fn new_files_get_the_mode_that_they_should() {
    let scratch = Scratch::new(&[("plain", "")]);
    let plain = mode(&scratch, "plain");
    let (batch, area) = (scratch.root.batch(), scratch.area());
    let rows = [
        ("a", NewMode::Keep, plain),
        ("b", NewMode::Executable, plain | (plain & 0o444) >> 2),
        ("c", NewMode::Exact(0o640), 0o640),
    ];
    for (name, new_mode, expected) in rows {
        let path = scratch.path(name);
        let staged = batch
            .stage(&area, &[Stage::new(&path, b"x", name).mode(new_mode)])
            .unwrap();
        batch.publish(&area, &staged[0], Expect::Missing).unwrap();
        assert_eq!(
            (mode(&scratch, name), staged[0].mode),
            (expected, expected),
            "{name}"
        );
    }
    assert_eq!(batch.set_mode(&scratch.path("c"), 0o755).unwrap(), 0o640);
    assert_eq!(mode(&scratch, "c"), 0o755);
}

#[test]
fn a_file_in_a_folder_with_a_group_of_its_own_joins_it() {
    let scratch = Scratch::new(&[("shared/x", "x\n")]);
    std::os::unix::fs::chown(
        scratch.on_disk("shared"),
        None,
        Some(rustix::process::getegid().as_raw()),
    )
    .unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(scratch.on_disk("shared"), None, Some(34)).unwrap();
    }
    chmod(&scratch, "shared", 0o2775);
    let (batch, area, path) = (
        scratch.root.batch(),
        scratch.area(),
        scratch.path("shared/new"),
    );
    let staged = batch
        .stage(&area, &[Stage::new(&path, b"n\n", "0")])
        .unwrap();
    batch.publish(&area, &staged[0], Expect::Missing).unwrap();
    let group = |path: &str| std::fs::metadata(scratch.on_disk(path)).unwrap().gid();
    assert_eq!(group("shared/new"), group("shared"));
    assert_eq!(
        scratch.tree(),
        pairs(&[("shared/new", "n\n"), ("shared/x", "x\n")]),
        "no temporary file is left"
    );
    batch
        .put_back(&area, &path, "0", Some(&revision("n\n")))
        .unwrap();
    let staged = batch
        .stage(&area, &[Stage::new(&path, b"n\n", "0")])
        .unwrap();
    batch.discard(&area, &staged[0].path, "0");
    assert_eq!(scratch.tree(), pairs(&[("shared/x", "x\n")]));
}

#[test]
fn what_must_not_be_replaced_is_refused_before_anything_is_written() {
    let scratch = Scratch::new(&[
        ("locked.txt", "keep\n"),
        ("one", "x\n"),
        ("dir/x", "x\n"),
        ("a.txt", "a\n"),
    ]);
    chmod(&scratch, "locked.txt", 0o444);
    std::fs::hard_link(scratch.on_disk("one"), scratch.on_disk("two")).unwrap();
    let before = scratch.tree();
    let (batch, area, a) = (scratch.root.batch(), scratch.area(), scratch.path("a.txt"));
    let rows = [
        ("locked.txt", "READ_ONLY"),
        ("two", "HARD_LINKED"),
        ("dir", "IS_DIRECTORY"),
        (".git/x", "PROTECTED_PATH"),
    ];
    for (raw, code) in rows {
        let path = scratch.path(raw);
        let error = batch
            .stage(
                &area,
                &[Stage::new(&a, b"A\n", "0"), Stage::new(&path, b"x", "1")],
            )
            .unwrap_err();
        assert_eq!((error.code(), error.path()), (code, raw));
        assert!(
            waiting(&scratch, &area).is_empty(),
            "{raw}: what was staged is gone again"
        );
        let error = batch.remove(&area, &path, "1", &revision("x")).unwrap_err();
        assert!([code, "NOT_FOUND"].contains(&error.code()), "{raw}");
    }
    assert_eq!(scratch.tree(), before);
    let locked = scratch.path("locked.txt");
    let staged = batch
        .stage(
            &area,
            &[Stage::new(&locked, b"new\n", "0").over_read_only()],
        )
        .unwrap();
    batch
        .publish(&area, &staged[0], Expect::Revision(&revision("keep\n")))
        .unwrap();
    assert_eq!(mode(&scratch, "locked.txt"), 0o444);
}

#[test]
fn what_somebody_else_changed_is_left_alone() {
    let scratch = Scratch::new(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let (batch, area) = (scratch.root.batch(), scratch.area());
    let (a, b, c, d) = (
        scratch.path("a.txt"),
        scratch.path("b.txt"),
        scratch.path("c.txt"),
        scratch.path("d.txt"),
    );
    let files = [
        Stage::new(&a, b"A\n", "0"),
        Stage::new(&d, b"D\n", "1"),
        Stage::new(&c, b"C\n", "2"),
    ];
    let staged = batch.stage(&area, &files).unwrap();
    batch
        .publish(&area, &staged[2], Expect::Revision(&revision("c\n")))
        .unwrap();
    for path in ["a.txt", "b.txt", "c.txt", "d.txt"] {
        scratch.write(path, "theirs\n");
    }
    let before = scratch.tree();
    let error = batch
        .publish(&area, &staged[0], Expect::Revision(&revision("a\n")))
        .unwrap_err();
    assert_eq!(error.code(), "CONFLICT");
    assert_eq!(
        batch
            .publish(&area, &staged[1], Expect::Missing)
            .unwrap_err()
            .code(),
        "EXISTS"
    );
    assert_eq!(
        batch
            .remove(&area, &b, "3", &revision("b\n"))
            .unwrap_err()
            .code(),
        "CONFLICT"
    );
    assert_eq!(
        batch
            .rename(&b, &scratch.path("e.txt"), &revision("b\n"))
            .unwrap_err()
            .code(),
        "CONFLICT"
    );
    assert_eq!(
        batch
            .rename(&b, &d, &revision("theirs\n"))
            .unwrap_err()
            .code(),
        "EXISTS"
    );
    // A restore does not overwrite it either, and keeps what it could not bring back.
    assert_eq!(
        batch
            .put_back(&area, &c, "2", Some(&revision("C\n")))
            .unwrap_err()
            .code(),
        "CONFLICT"
    );
    assert_eq!(scratch.tree(), before);
    assert_eq!(waiting(&scratch, &area), ["0", "1", "2.old"]);
    std::fs::remove_file(scratch.on_disk("a.txt")).unwrap();
    assert!(
        batch
            .publish(&area, &staged[0], Expect::Revision(&revision("a\n")))
            .is_err()
    );
}

#[test]
fn a_link_that_took_a_files_place_is_not_written_through() {
    let scratch = Scratch::new(&[("a.txt", "a\n"), ("d/b.txt", "b\n")]);
    let outside = scratch.outside().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("a.txt"), "a\n").unwrap();
    std::fs::write(outside.join("b.txt"), "b\n").unwrap();
    let area = scratch.area();
    let batch = scratch.root.batch();
    let (a, b) = (scratch.path("a.txt"), scratch.path("d/b.txt"));
    let staged = batch
        .stage(
            &area,
            &[Stage::new(&a, b"A\n", "0"), Stage::new(&b, b"B\n", "1")],
        )
        .unwrap();
    std::fs::remove_file(scratch.on_disk("a.txt")).unwrap();
    std::os::unix::fs::symlink("../outside/a.txt", scratch.on_disk("a.txt")).unwrap();
    std::fs::rename(scratch.on_disk("d"), scratch.on_disk("moved")).unwrap();
    std::os::unix::fs::symlink("../outside", scratch.on_disk("d")).unwrap();
    let later = scratch.root.batch();
    for (staged, text) in [(&staged[0], "a\n"), (&staged[1], "b\n")] {
        let error = later
            .publish(&area, staged, Expect::Revision(&revision(text)))
            .unwrap_err();
        assert_eq!(error.code(), "OUTSIDE_WORKSPACE");
    }
    assert_eq!(
        std::fs::read_to_string(outside.join("a.txt")).unwrap(),
        "a\n"
    );
    assert_eq!(
        std::fs::read_to_string(outside.join("b.txt")).unwrap(),
        "b\n"
    );
}

#[test]
fn renames_move_and_never_replace() {
    let scratch = Scratch::new(&[("a.txt", "a\n"), ("b.txt", "b\n"), ("d/x", "x\n")]);
    let batch = scratch.root.batch();
    let to = scratch.path("new/a.txt");
    batch.make_folders(&to).unwrap();
    batch
        .rename(&scratch.path("a.txt"), &to, &revision("a\n"))
        .unwrap();
    assert_eq!(
        batch
            .rename(&to, &scratch.path("b.txt"), &revision("a\n"))
            .unwrap_err()
            .code(),
        "EXISTS"
    );
    assert_eq!(
        batch
            .rename(&scratch.path("none"), &to, &revision("a\n"))
            .unwrap_err()
            .code(),
        "NOT_FOUND"
    );
    assert_eq!(
        batch
            .rename(&scratch.path("d"), &scratch.path("e"), &revision(""))
            .unwrap_err()
            .code(),
        "IS_DIRECTORY"
    );
    batch.rename(&to, &to, &revision("a\n")).unwrap();
    batch.sync_changed().unwrap();
    assert_eq!(
        scratch.tree(),
        pairs(&[("b.txt", "b\n"), ("d/x", "x\n"), ("new/a.txt", "a\n")])
    );
}

#[test]
fn folders_that_hold_something_stay() {
    let scratch = Scratch::new(&[("src/a", "a\n")]);
    let batch = scratch.root.batch();
    assert!(
        batch
            .make_folders(&scratch.path("src/b"))
            .unwrap()
            .is_empty()
    );
    let made = batch.make_folders(&scratch.path("src/x/y/z.txt")).unwrap();
    assert_eq!(made, ["src/x", "src/x/y"]);
    scratch.write("src/x/theirs", "t\n");
    assert_eq!(batch.remove_folders(&made), ["src/x"]);
    assert_eq!(
        scratch.tree(),
        pairs(&[("src/a", "a\n"), ("src/x/theirs", "t\n")])
    );
    assert_eq!(
        batch
            .make_folders(&scratch.path("src/a/b/c"))
            .unwrap_err()
            .code(),
        "NOT_DIRECTORY"
    );
}

#[test]
fn an_injected_fault_changes_nothing() {
    let before = [("a.txt", "a\n"), ("c/d.txt", "d\n"), ("gone", "g\n")];
    let faults = [
        (Effect::Write, "c/d.txt"),
        (Effect::Fsync, "c/d.txt"),
        (Effect::Rename, "c/d.txt"),
        (Effect::Write, "new"),
        (Effect::Write, "new/x"),
        (Effect::Rename, "new/x"),
        (Effect::Remove, "gone"),
        (Effect::Fsync, "c"),
        (Effect::Fsync, ".agentic/transactions/tx_1/staged"),
    ];
    for errno in [Errno::NOSPC, Errno::ACCESS, Errno::IO] {
        for (effect, path) in faults {
            let scratch = Scratch::new(&before);
            let (batch, area) = (scratch.root.batch(), scratch.area());
            scratch.faults.fail(effect, path, 1, errno.raw_os_error());
            let error = commit(&scratch, &batch, &area).unwrap_err();
            assert_eq!(error.code(), "IO", "{effect:?} {path}");
            assert!(error.to_string().contains(path), "{error}");
            assert_eq!(scratch.tree(), pairs(&before), "{effect:?} {path}");
            assert!(!scratch.on_disk("new").exists());
            commit(&scratch, &scratch.root.batch(), &area).expect("the fault is spent");
        }
    }
}

/// A small commit over these primitives, rolled back on a failure.
fn commit(scratch: &Scratch, batch: &Batch, area: &Area) -> Result<(), FsError> {
    let (d, x, gone) = (
        scratch.path("c/d.txt"),
        scratch.path("new/x"),
        scratch.path("gone"),
    );
    let staged = batch.stage(
        area,
        &[Stage::new(&d, b"D\n", "0"), Stage::new(&x, b"x\n", "1")],
    )?;
    let mut made = Vec::new();
    let result = (|| {
        batch.publish(area, &staged[0], Expect::Revision(&revision("d\n")))?;
        made = batch.make_folders(&x)?;
        batch.publish(area, &staged[1], Expect::Missing)?;
        batch.remove(area, &gone, "2", &revision("g\n"))?;
        batch.sync_changed()
    })();
    if result.is_err() {
        batch.put_back(area, &gone, "2", None)?;
        batch.put_back(area, &x, "1", Some(&revision("x\n")))?;
        batch.put_back(area, &d, "0", Some(&revision("D\n")))?;
        batch.remove_folders(&made);
        for staged in &staged {
            batch.discard(area, &staged.path, &staged.name);
        }
    }
    result
}

#[test]
fn many_files_are_staged_in_windows() {
    let scratch = Scratch::new(&[]);
    let (batch, area) = (scratch.root.batch(), scratch.area());
    let paths: Vec<_> = (0..300)
        .map(|number| scratch.path(&format!("d{}/f{number}.txt", number % 7)))
        .collect();
    let names: Vec<_> = (0..300).map(|number| number.to_string()).collect();
    let files: Vec<_> = paths
        .iter()
        .zip(&names)
        .map(|(path, name)| Stage::new(path, name.as_bytes(), name))
        .collect();
    let staged = batch.stage(&area, &files).unwrap();
    for (path, staged) in paths.iter().zip(&staged) {
        batch.make_folders(path).unwrap();
        batch.publish(&area, staged, Expect::Missing).unwrap();
    }
    batch.sync_changed().unwrap();
    let tree = scratch.tree();
    assert_eq!(tree.len(), 300);
    assert!(
        tree.iter()
            .all(|(path, text)| path.ends_with(&format!("/f{text}.txt")))
    );
    assert!(
        matches!(batch.read(&paths[5]).unwrap(), Entry::File(file) if file.revision() == revision("5"))
    );
}
