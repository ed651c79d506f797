//! The store, its seal and its lock against hostile folders.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::Duration;

use rustix::io::Errno;

use super::*;
use crate::boundary::{RootOptions, WorkspaceRoot};
use crate::testing::{Scratch, child, key};

fn path(path: &str) -> StorePath {
    StorePath::new(path).unwrap()
}

/// What is in `.agentic`, without the lock.
fn names(scratch: &Scratch) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(scratch.on_disk(".agentic"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn copy_tree(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn looking_makes_nothing_and_the_first_write_makes_all() {
    let scratch = Scratch::new(&[]);
    let store = scratch.store();
    assert_eq!(store.state().unwrap(), StoreState::Absent);
    assert_eq!(store.read(&path("plans/p/plan.md")).unwrap(), None);
    assert!(store.list(&path("transactions")).unwrap().is_empty());
    store.remove(&path("jobs/j")).unwrap();
    assert!(!scratch.on_disk(".agentic").exists());

    store.write(&path("plans/p/plan.md"), b"one").unwrap();
    store.write(&path("plans/p/plan.md"), b"two").unwrap();
    assert_eq!(
        store.read(&path("plans/p/plan.md")).unwrap().unwrap(),
        b"two"
    );
    assert_eq!(
        names(&scratch),
        [".gitignore", "lock", "plans", "seal.json"]
    );
    assert_eq!(
        std::fs::read(scratch.on_disk(".agentic/.gitignore")).unwrap(),
        b"*\n"
    );
    assert_eq!(store.state().unwrap(), StoreState::Sealed);
    let mode = |path: &str| std::fs::metadata(scratch.on_disk(path)).unwrap().mode() & 0o777;
    assert_eq!(mode(".agentic"), 0o700);
    assert_eq!(mode(".agentic/plans/p"), 0o700);
    assert_eq!(mode(".agentic/plans/p/plan.md"), 0o600);
    assert_eq!(
        store.list(&path("plans")).unwrap(),
        [("p".to_owned(), true)]
    );
    store.remove(&path("plans")).unwrap();
    assert_eq!(store.read(&path("plans/p/plan.md")).unwrap(), None);
}

#[test]
fn names_stay_in_the_store() {
    for bad in [
        "", ".", "..", "a/../b", "/a", "a//b", "a/", ".hidden", "a/.tmp", "a b", "a\\b", "ü",
        "a\0", "~",
    ] {
        assert!(
            matches!(StorePath::new(bad), Err(StoreError::BadPath { .. })),
            "{bad:?}"
        );
    }
    let path = path("transactions/tx_01/log.ndjson");
    assert_eq!(path.name(), "log.ndjson");
    assert!(path.join("..").is_err());
}

#[test]
fn a_store_that_came_with_a_clone_is_data_only() {
    let scratch = Scratch::new(&[]);
    scratch.store().write(&path("MEMORY.md"), b"mine").unwrap();
    let stranger = Store::new(scratch.root.clone(), SealKey::new([9; 32]));
    let clone = scratch.outside().join("clone");
    copy_tree(scratch.root.path(), &clone);
    let root = WorkspaceRoot::open(&clone, RootOptions::default()).unwrap();
    let cloned = Store::new(root, key());
    for store in [&stranger, &cloned] {
        assert_eq!(store.state().unwrap(), StoreState::Unsealed);
        let results = [
            store.read(&path("MEMORY.md")).map(drop),
            store.write(&path("MEMORY.md"), b"x"),
            store.append(&path("x"), b"x"),
            store.install(&path("transactions/tx_1"), &[("a", b"x")]),
            store.list(&path("transactions")).map(drop),
            store.remove(&path("MEMORY.md")),
            store.lock(Duration::ZERO, "test").map(drop),
            store.area(&path("staged")).map(drop),
        ];
        for result in results {
            assert_eq!(result.unwrap_err().code(), "STORE_UNSEALED");
        }
    }
    assert_eq!(
        std::fs::read(clone.join(".agentic/MEMORY.md")).unwrap(),
        b"mine"
    );

    // What is trusted is exactly what was shown: a name, a byte or a link more is another revision.
    let shown = cloned.revision().unwrap().unwrap();
    assert_eq!(cloned.revision().unwrap().unwrap(), shown);
    std::fs::write(clone.join(".agentic/MEMORY.md"), "mind").unwrap();
    assert_ne!(cloned.revision().unwrap().unwrap(), shown);
    std::fs::write(clone.join(".agentic/MEMORY.md"), "mine").unwrap();
    std::fs::create_dir(clone.join(".agentic/notes")).unwrap();
    assert_ne!(cloned.revision().unwrap().unwrap(), shown);
    std::fs::remove_dir(clone.join(".agentic/notes")).unwrap();
    assert_eq!(cloned.revision().unwrap().unwrap(), shown);
    std::os::unix::fs::symlink("MEMORY.md", clone.join(".agentic/link")).unwrap();
    assert_eq!(cloned.revision().unwrap_err().code(), "SYMLINK_REJECTED");
    std::fs::remove_file(clone.join(".agentic/link")).unwrap();

    // Trusted, it is used; the first user's seal stays.
    stranger.trust().unwrap();
    assert_eq!(stranger.read(&path("MEMORY.md")).unwrap().unwrap(), b"mine");
    assert_eq!(scratch.store().state().unwrap(), StoreState::Sealed);

    // Or it is moved out of the way, unread.
    assert_eq!(cloned.set_aside().unwrap(), ".agentic.unsealed");
    assert_eq!(cloned.state().unwrap(), StoreState::Absent);
    cloned.write(&path("MEMORY.md"), b"new").unwrap();
    assert_eq!(
        std::fs::read(clone.join(".agentic.unsealed/MEMORY.md")).unwrap(),
        b"mine"
    );
    assert!(matches!(cloned.set_aside(), Err(StoreError::Sealed { .. })));
}

#[test]
fn a_moved_project_keeps_its_store() {
    let scratch = Scratch::new(&[]);
    scratch.store().write(&path("MEMORY.md"), b"mine").unwrap();
    let moved = scratch.outside().join("moved");
    std::fs::rename(scratch.root.path(), &moved).unwrap();
    let root = WorkspaceRoot::open(&moved, RootOptions::default()).unwrap();
    assert_eq!(Store::new(root, key()).state().unwrap(), StoreState::Sealed);
}

#[test]
fn a_store_that_took_the_place_of_a_sealed_one_is_not_sealed() {
    let scratch = Scratch::new(&[]);
    let store = scratch.store();
    // The number of a folder that was removed is soon that of a new one; enough tries meet it.
    for _ in 0..50 {
        store.write(&path("MEMORY.md"), b"mine").unwrap();
        std::fs::remove_dir_all(scratch.on_disk(".agentic")).unwrap();
        scratch.write(".agentic/MEMORY.md", "theirs");
        assert_eq!(
            store.read(&path("MEMORY.md")).unwrap_err().code(),
            "STORE_UNSEALED"
        );
        scratch.write(".agentic/seal.json", "{}");
        assert_eq!(
            store.read(&path("MEMORY.md")).unwrap_err().code(),
            "STORE_UNSEALED"
        );
        std::fs::remove_dir_all(scratch.on_disk(".agentic")).unwrap();
    }
}

#[test]
fn a_lock_file_that_was_removed_is_no_lock() {
    let scratch = Scratch::new(&[]);
    let store = scratch.store();
    let removed = store.lock(Duration::ZERO, "removed").unwrap();
    let folder = store.open().unwrap().unwrap();
    let mut waiter = lock::Waiter::new(&store, &folder).unwrap();
    assert!(!waiter.attempt().unwrap());

    std::fs::remove_file(scratch.on_disk(".agentic/lock")).unwrap();
    let current = scratch.store().lock(Duration::ZERO, "current").unwrap();
    // The file that the waiter has open is free now, but it is not the one that `current` holds.
    drop(removed);
    assert!(!waiter.attempt().unwrap());
    drop(current);
    assert!(waiter.attempt().unwrap());
    let got = waiter.into_lock();
    let error = scratch.store().lock(Duration::ZERO, "other").unwrap_err();
    assert_eq!(error.code(), "TIMEOUT");
    drop(got);
    scratch.store().lock(Duration::ZERO, "last").unwrap();
}

#[test]
fn removing_the_lock_file_lets_no_two_waiters_in() {
    let scratch = Scratch::new(&[("counter", "0")]);
    let held = scratch.store().lock(Duration::ZERO, "held").unwrap();
    std::thread::scope(|scope| {
        let waiters: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| count_under_the_lock(&scratch)))
            .collect();
        // Some of them may wait on this file already, some on none yet: all must count all the same.
        std::fs::remove_file(scratch.on_disk(".agentic/lock")).unwrap();
        drop(held);
        for waiter in waiters {
            waiter.join().unwrap();
        }
    });
    assert_eq!(scratch.tree(), [Scratch::pair(("counter", "200"))]);
}

#[test]
fn a_forged_seal_counts_for_nothing() {
    let scratch = Scratch::new(&[]);
    scratch.store().ensure().unwrap();
    let seal = scratch.on_disk(".agentic/seal.json");
    let good = std::fs::read_to_string(&seal).unwrap();
    let forgeries = [
        String::new(),
        "{}".into(),
        "null".into(),
        "\u{0}\u{ff}".into(),
        good.replace("\"store\": \"st_", "\"store\": \"st_0"),
        good.replace("\"inode\": \"", "\"inode\": \"0")
            .replace("\"path\": \"", "\"path\": \"0"),
        "x".repeat(1 << 20),
    ];
    for forgery in forgeries {
        std::fs::write(&seal, &forgery).unwrap();
        assert_eq!(
            scratch.store().state().unwrap(),
            StoreState::Unsealed,
            "{:.80}",
            forgery
        );
    }
    std::fs::write(&seal, good).unwrap();
    assert_eq!(scratch.store().state().unwrap(), StoreState::Sealed);
}

#[test]
fn no_link_below_the_store_is_followed() {
    let outside = |scratch: &Scratch| {
        let outside = scratch.outside().join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("file"), "keep").unwrap();
        outside
    };
    // The store itself.
    let scratch = Scratch::new(&[]);
    symlink(outside(&scratch), scratch.on_disk(".agentic")).unwrap();
    let store = scratch.store();
    assert_eq!(
        store.write(&path("file"), b"gone").unwrap_err().code(),
        "SYMLINK_REJECTED"
    );
    assert_eq!(store.state().unwrap_err().code(), "SYMLINK_REJECTED");
    // A folder in it, and files.
    let scratch = Scratch::new(&[]);
    let store = scratch.store();
    store.ensure().unwrap();
    let out = outside(&scratch);
    symlink(&out, scratch.on_disk(".agentic/transactions")).unwrap();
    symlink(out.join("file"), scratch.on_disk(".agentic/MEMORY.md")).unwrap();
    symlink(out.join("file"), scratch.on_disk(".agentic/log.ndjson")).unwrap();
    for result in [
        store.read(&path("transactions/file")).map(drop),
        store.write(&path("transactions/file"), b"gone"),
        store.list(&path("transactions")).map(drop),
        store.area(&path("transactions/tx_1")).map(drop),
        store.read(&path("MEMORY.md")).map(drop),
    ] {
        assert_eq!(result.unwrap_err().code(), "SYMLINK_REJECTED");
    }
    assert!(store.append(&path("log.ndjson"), b"gone").is_err());
    // A link is replaced or removed as what it is.
    store.write(&path("MEMORY.md"), b"new").unwrap();
    store.remove(&path("transactions")).unwrap();
    assert_eq!(std::fs::read(out.join("file")).unwrap(), b"keep");
    assert!(!scratch.on_disk(".agentic/transactions").exists());
    // The lock: another file's lock would keep nobody out.
    let scratch = Scratch::new(&[]);
    let store = scratch.store();
    store.ensure().unwrap();
    std::fs::remove_file(scratch.on_disk(".agentic/lock")).unwrap();
    symlink(
        outside(&scratch).join("file"),
        scratch.on_disk(".agentic/lock"),
    )
    .unwrap();
    assert_eq!(
        store.lock(Duration::ZERO, "test").unwrap_err().code(),
        "SYMLINK_REJECTED"
    );
}

#[test]
fn impostors_of_other_kinds_are_refused() {
    let scratch = Scratch::new(&[(".agentic", "a file")]);
    assert_eq!(
        scratch.store().ensure().unwrap_err().code(),
        "NOT_DIRECTORY"
    );
    let scratch = Scratch::new(&[]);
    scratch.store().ensure().unwrap();
    let fifo = scratch.on_disk(".agentic/MEMORY.md");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::Mode::from_bits_truncate(0o600),
    )
    .unwrap();
    assert_eq!(
        scratch.store().read(&path("MEMORY.md")).unwrap_err().code(),
        "IO"
    );
}

#[test]
fn making_that_was_cut_short_is_finished() {
    for cut in 1..=12 {
        let scratch = Scratch::new(&[]);
        for effect in [Effect::Write, Effect::Fsync, Effect::Rename] {
            for file in ["", "/.gitignore", "/seal.json"] {
                scratch.faults.fail(
                    effect,
                    &format!(".agentic{file}"),
                    cut,
                    Errno::IO.raw_os_error(),
                );
            }
        }
        let first = scratch.store().write(&path("MEMORY.md"), b"x");
        for _ in 0..16 {
            if scratch.store().write(&path("MEMORY.md"), b"x").is_ok() {
                break;
            }
        }
        assert_eq!(
            scratch.store().state().unwrap(),
            StoreState::Sealed,
            "{cut}: {first:?}"
        );
        assert_eq!(
            names(&scratch),
            [".gitignore", "MEMORY.md", "lock", "seal.json"],
            "{cut}"
        );
    }
    // A kill leaves what it leaves; only what cannot mislead is taken over.
    let scratch = Scratch::new(&[
        (".agentic/.gitignore", "*\n"),
        (".agentic/lock", ""),
        (".agentic/.tmp.1.0.seal.json", "{"),
    ]);
    scratch.store().ensure().unwrap();
    for file in ["MEMORY.md", "journal.ndjson", "transactions/tx_1/state"] {
        let scratch = Scratch::new(&[(&format!(".agentic/{file}"), "x")]);
        assert_eq!(
            scratch.store().ensure().unwrap_err().code(),
            "STORE_UNSEALED",
            "{file}"
        );
    }
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    for errno in [Errno::NOSPC, Errno::ACCESS, Errno::IO] {
        for effect in [Effect::Write, Effect::Fsync, Effect::Rename] {
            let scratch = Scratch::new(&[]);
            let store = scratch.store();
            store.write(&path("notes/a.md"), b"old").unwrap();
            store.append(&path("log"), b"one\n").unwrap();
            let fault = |file: &str| {
                scratch
                    .faults
                    .fail(effect, &format!(".agentic/{file}"), 1, errno.raw_os_error())
            };
            fault("notes/a.md");
            assert_eq!(
                store.write(&path("notes/a.md"), b"new").unwrap_err().code(),
                "IO"
            );
            assert_eq!(store.read(&path("notes/a.md")).unwrap().unwrap(), b"old");
            assert_eq!(
                std::fs::read_dir(scratch.on_disk(".agentic/notes"))
                    .unwrap()
                    .count(),
                1
            );
            if effect != Effect::Rename {
                fault("log");
                assert_eq!(
                    store.append(&path("log"), b"two\n").unwrap_err().code(),
                    "IO"
                );
                assert_eq!(store.read(&path("log")).unwrap().unwrap(), b"one\n");
            }
            for file in ["tx/tx_1", "tx/tx_1/b"] {
                fault(file);
            }
            if store
                .install(&path("tx/tx_1"), &[("a", b"A"), ("b", b"B")])
                .is_err()
            {
                assert!(!scratch.on_disk(".agentic/tx/tx_1").exists());
                assert_eq!(
                    std::fs::read_dir(scratch.on_disk(".agentic/tx"))
                        .unwrap()
                        .count(),
                    0
                );
            }
            let unfinished = |name: &String| name.starts_with(temporary::PREFIX);
            assert!(!names(&scratch).iter().any(unfinished));
        }
    }
}

#[test]
fn what_a_kill_left_unfinished_is_swept_and_nothing_else() {
    const NOW: u64 = 2_000_000_000;
    let scratch = Scratch::new(&[("kept.txt", "x")]);
    scratch.store().ensure().unwrap();
    // A process that has ended, and this one.
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let (gone, alive) = (child.id(), std::process::id());
    child.wait().unwrap();
    let aged = |name: &str, secs: u64| {
        let time = std::time::UNIX_EPOCH + Duration::from_secs(NOW - secs);
        let file = std::fs::File::open(scratch.on_disk(&format!(".agentic/{name}"))).unwrap();
        file.set_modified(time).unwrap();
    };
    let file = |name: String, secs: u64| {
        scratch.write(&format!(".agentic/{name}"), "half");
        aged(&name, secs);
        name
    };
    let link = |name: &str, target: &str| {
        let target = scratch.on_disk(target);
        symlink(target, scratch.on_disk(&format!(".agentic/{name}"))).unwrap();
    };
    let day = 24 * 60 * 60;
    file(format!(".tmp.{gone}.1.state.json"), day);
    file(format!(".tmp.{gone}.2.tx_1/snapshots"), day);
    aged(&format!(".tmp.{gone}.2.tx_1"), day);

    let mut kept = vec![
        file(format!(".tmp.{gone}.3.fresh"), 10),
        file(format!(".tmp.{alive}.4.state.json"), day),
        file(".tmp.notes".to_owned(), day),
        file(format!(".tmp.{gone}.x.state.json"), day),
        format!(".tmp.{gone}.5.link"),
        format!(".tmp.{gone}.6.tx_2"),
    ];
    link(&kept[4], "kept.txt");
    std::fs::create_dir(scratch.on_disk(&format!(".agentic/{}", kept[5]))).unwrap();
    link(&format!("{}/snapshots", kept[5]), "kept.txt");
    aged(&kept[5], day);

    // Nobody is waited for when there is nothing to do.
    let held = scratch.store().lock(Duration::ZERO, "other").unwrap();
    assert_eq!(scratch.store().sweep(NOW - 2 * day).unwrap(), 0);
    drop(held);
    assert_eq!(scratch.store().sweep(NOW).unwrap(), 2);
    kept.extend([".gitignore", "lock", "seal.json"].map(str::to_owned));
    kept.sort();
    assert_eq!(names(&scratch), kept);
    assert_eq!(scratch.store().sweep(NOW).unwrap(), 0);
    assert_eq!(std::fs::read(scratch.on_disk("kept.txt")).unwrap(), b"x");
}

#[test]
fn a_folder_is_installed_whole_and_once() {
    let scratch = Scratch::new(&[]);
    let store = scratch.store();
    store
        .install(
            &path("transactions/tx_1"),
            &[("header.json", b"{}"), ("before", b"x")],
        )
        .unwrap();
    assert_eq!(
        store
            .read(&path("transactions/tx_1/before"))
            .unwrap()
            .unwrap(),
        b"x"
    );
    let again = store.install(&path("transactions/tx_1"), &[("header.json", b"other")]);
    assert_eq!(again.unwrap_err().code(), "EXISTS");
    assert_eq!(
        store
            .read(&path("transactions/tx_1/header.json"))
            .unwrap()
            .unwrap(),
        b"{}"
    );
    assert_eq!(
        store.list(&path("transactions")).unwrap(),
        [("tx_1".to_owned(), true)]
    );
}

#[test]
fn damaged_files_are_set_aside_one_after_the_other() {
    let scratch = Scratch::new(&[]);
    let store = scratch.store();
    for expected in [
        "state.json.corrupt",
        "state.json.corrupt-1",
        "state.json.corrupt-2",
    ] {
        store
            .write(&path("state.json"), expected.as_bytes())
            .unwrap();
        assert_eq!(
            store
                .set_corrupt_aside(&path("state.json"))
                .unwrap()
                .as_str(),
            expected
        );
    }
    assert_eq!(
        store.read(&path("state.json.corrupt")).unwrap().unwrap(),
        b"state.json.corrupt"
    );
    assert_eq!(
        store
            .set_corrupt_aside(&path("state.json"))
            .unwrap_err()
            .code(),
        "IO"
    );
}

#[test]
fn the_lock_keeps_others_out_and_names_its_holder() {
    let scratch = Scratch::new(&[]);
    let held = scratch
        .store()
        .lock(Duration::ZERO, "accept in nvim")
        .unwrap();
    let error = scratch
        .store()
        .lock(Duration::from_millis(20), "other")
        .unwrap_err();
    let StoreError::Locked { holder, .. } = &error else {
        panic!("{error}")
    };
    assert!(
        holder.contains("accept in nvim") && holder.contains(&std::process::id().to_string()),
        "{holder}"
    );
    drop(held);
    drop(
        scratch
            .store()
            .lock(Duration::ZERO, "a very much shorter one")
            .unwrap(),
    );
    let _held = scratch.store().lock(Duration::ZERO, "x").unwrap();
    let error = scratch
        .store()
        .lock(Duration::ZERO, "other")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("process {} (x)", std::process::id()))
            && !error.contains("shorter"),
        "{error}"
    );
}

#[test]
fn the_lock_excludes_other_processes_and_dies_with_them() {
    let scratch = Scratch::new(&[("counter", "0")]);
    scratch.store().ensure().unwrap();
    let children: Vec<_> = (0..4)
        .map(|_| child("store::tests::child_counts", &scratch))
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(scratch.tree(), [Scratch::pair(("counter", "200"))]);

    let mut holder = child("store::tests::child_holds_the_lock", &scratch);
    while !scratch.on_disk("held").exists() {
        assert!(
            holder.try_wait().unwrap().is_none(),
            "the child ended early"
        );
        std::thread::yield_now();
    }
    let error = scratch
        .store()
        .lock(Duration::ZERO, "parent")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("process {} (child)", holder.id())),
        "{error}"
    );
    holder.kill().unwrap();
    holder.wait().unwrap();
    scratch.store().lock(Duration::ZERO, "parent").unwrap();
}

/// Run in a process of its own by the test above.
#[test]
fn child_counts() {
    let Some(scratch) = Scratch::of_parent() else {
        return;
    };
    count_under_the_lock(&scratch);
}

/// Adds 50 to a counter that only the lock protects.
fn count_under_the_lock(scratch: &Scratch) {
    for _ in 0..50 {
        let _lock = scratch
            .store()
            .lock(Duration::from_secs(600), "counting")
            .unwrap();
        let counter = scratch.on_disk("counter");
        let count: u32 = std::fs::read_to_string(&counter).unwrap().parse().unwrap();
        std::fs::write(&counter, (count + 1).to_string()).unwrap();
    }
}

/// Run in a process of its own by the test above: holds the lock until it is killed.
#[test]
fn child_holds_the_lock() {
    let Some(scratch) = Scratch::of_parent() else {
        return;
    };
    let _lock = scratch.store().lock(Duration::ZERO, "child").unwrap();
    scratch.write("held", "");
    loop {
        std::thread::park();
    }
}
