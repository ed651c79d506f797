//! Paths by tables, and by an oracle on a hostile tree.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use proptest::prelude::*;

use super::lexical::{self, PathRules};
use super::*;
use crate::testing::Scratch;
use crate::{Entry, FsError};

/// The normal form, or the code of the refusal.
fn admitted(raw: &str, rules: PathRules) -> String {
    match lexical::admit(raw, rules) {
        Ok(path) => path.as_str().to_owned(),
        Err(error) => error.code().to_owned(),
    }
}

#[test]
fn text_alone_decides_what_can_be_inside() {
    let rows = [
        ("a", "a"),
        ("./a", "a"),
        ("a/./b", "a/b"),
        ("a//b", "a/b"),
        ("ok/../fine.txt", "fine.txt"),
        ("a/b/../../c", "c"),
        ("...", "..."),
        ("..a/b", "..a/b"),
        ("a..", "a.."),
        ("~tilde", "~tilde"),
        ("a~", "a~"),
        ("a b/ü.txt", "a b/ü.txt"),
        ("ab:c", "ab:c"),
        ("1:c", "1:c"),
        ("../z.txt", "OUTSIDE_WORKSPACE"),
        ("..", "OUTSIDE_WORKSPACE"),
        ("ok/../../z.txt", "OUTSIDE_WORKSPACE"),
        ("../ws/z.txt", "OUTSIDE_WORKSPACE"),
        ("../ws-evil/y.txt", "OUTSIDE_WORKSPACE"),
        ("a/../..", "OUTSIDE_WORKSPACE"),
        ("../a/", "OUTSIDE_WORKSPACE"),
        ("/etc/passwd", "OUTSIDE_WORKSPACE"),
        ("//etc/passwd", "OUTSIDE_WORKSPACE"),
        ("/", "OUTSIDE_WORKSPACE"),
        ("~", "OUTSIDE_WORKSPACE"),
        ("~/z.txt", "OUTSIDE_WORKSPACE"),
        ("~root/z.txt", "OUTSIDE_WORKSPACE"),
        ("./~/z.txt", "OUTSIDE_WORKSPACE"),
        ("a/../~/z.txt", "OUTSIDE_WORKSPACE"),
        ("C:\\z.txt", "OUTSIDE_WORKSPACE"),
        ("C:/z.txt", "OUTSIDE_WORKSPACE"),
        ("c:z.txt", "OUTSIDE_WORKSPACE"),
        ("a/../C:/z.txt", "OUTSIDE_WORKSPACE"),
        ("\\\\host\\share\\z.txt", "OUTSIDE_WORKSPACE"),
        ("\\z.txt", "OUTSIDE_WORKSPACE"),
        ("ok\\..\\..\\z.txt", "OUTSIDE_WORKSPACE"),
        ("ok/..\\..\\z.txt", "OUTSIDE_WORKSPACE"),
        ("src\\main.rs", "BAD_PATH"),
        ("", "BAD_PATH"),
        (".", "BAD_PATH"),
        ("./", "BAD_PATH"),
        ("a/..", "BAD_PATH"),
        ("a/", "BAD_PATH"),
        ("ok/z\0.txt", "BAD_PATH"),
        ("a\nb", "BAD_PATH"),
        ("a\u{1b}[2Jb", "BAD_PATH"),
    ];
    for (raw, expected) in rows {
        assert_eq!(admitted(raw, PathRules::Posix), expected, "{raw:?}");
    }
    assert_eq!(admitted(&"x".repeat(256), PathRules::Posix), "BAD_PATH");
    assert_eq!(admitted(&"x/".repeat(3000), PathRules::Posix), "BAD_PATH");
}

#[test]
fn windows_rules_know_more_separators_and_fewer_names() {
    let rows = [
        ("src\\main.rs", "src/main.rs"),
        ("ok\\..\\..\\z", "OUTSIDE_WORKSPACE"),
        ("C:\\z", "OUTSIDE_WORKSPACE"),
        ("\\\\?\\C:\\z", "OUTSIDE_WORKSPACE"),
        ("a:stream", "OUTSIDE_WORKSPACE"),
        ("a.txt:stream", "BAD_PATH"),
        ("nul", "BAD_PATH"),
        ("dir/COM1.txt", "BAD_PATH"),
        ("lpt¹", "BAD_PATH"),
        ("con .txt", "BAD_PATH"),
        ("a.", "BAD_PATH"),
        ("a ", "BAD_PATH"),
        ("what?", "BAD_PATH"),
        ("console.log", "console.log"),
        ("company", "company"),
    ];
    for (raw, expected) in rows {
        assert_eq!(admitted(raw, PathRules::Windows), expected, "{raw:?}");
    }
}

#[test]
fn folders_may_be_the_root() {
    let folder = |raw| {
        lexical::admit_folder(raw, PathRules::Posix).map(|path| path.map(|path| path.to_string()))
    };
    for raw in ["", ".", "./", "a/.."] {
        assert_eq!(folder(raw).unwrap(), None, "{raw:?}");
    }
    assert_eq!(folder("a/b/").unwrap(), Some("a/b".into()));
    assert!(folder("..").is_err());
}

#[test]
fn protection_sees_through_spelling() {
    let scratch = Scratch::with(
        &[("src/a.rs", "a\n")],
        &["secrets/**", "*.pem", "Docs/Legal", "/top.txt"],
    );
    let rows = [
        (".git", true),
        (".git/config", true),
        ("vendor/sub/.git/hooks/post-checkout", true),
        ("wt/.git", true),
        ("src/../.git/config", true),
        (".GIT/config", true),
        (".Git", true),
        (".git./config", true),
        (".git /config", true),
        (".git::$INDEX_ALLOCATION/config", true),
        ("git~1/config", true),
        ("GIT~1", true),
        (".g\u{200c}it/config", true),
        (".\u{feff}git", true),
        (".gi\u{ad}t", true),
        (".g\u{131}t", false),
        ("\u{ff0e}git/config", true),
        (".ｇｉｔ/config", true),
        (".agentic", true),
        (".agentic/journal.ndjson", true),
        (".AGENTIC/x", true),
        ("AGENTI~1/x", true),
        ("sub/.agentic/x", false),
        ("redline.toml", true),
        ("Redline.TOML", true),
        ("redline.toml.", true),
        ("sub/redline.toml", false),
        ("redline.toml.bak", false),
        (".gitignore", false),
        (".gitattributes", false),
        (".gitmodules", false),
        (".github/workflows/ci.yml", false),
        ("docs/.gitkeep", false),
        ("a.git/readme", false),
        ("git/x", false),
        ("secrets/a/b", true),
        ("SECRETS/a", true),
        ("secrets", false),
        ("my-secrets/a", false),
        ("x/y/key.pem", true),
        ("KEY.PEM", true),
        ("key.pem.txt", false),
        ("docs/legal", true),
        ("docs/legal/x/y.md", true),
        ("docs/legally", false),
        ("top.txt", true),
    ];
    for (raw, protected) in rows {
        let is_protected = scratch
            .root
            .admit(raw)
            .map(|path| scratch.root.protection(&path).is_some());
        assert_eq!(is_protected.unwrap(), protected, "{raw:?}");
        let written = scratch.root.batch().admit_write(raw);
        assert_eq!(
            matches!(written, Err(PathError::Protected { .. })),
            protected,
            "{raw:?}"
        );
    }
    let bad = WorkspaceRoot::open(
        scratch.root.path(),
        RootOptions {
            protected: vec!["a[".into()],
            ..RootOptions::default()
        },
    );
    assert_eq!(bad.unwrap_err().code(), "BAD_PATH");
}

#[test]
fn git_folders_are_known_by_content_and_by_pointer() {
    let scratch = Scratch::new(&[
        // A bare repository, whatever its name.
        ("mirror/HEAD", "ref: refs/heads/main\n"),
        ("mirror/objects/x", ""),
        ("mirror/refs/x", ""),
        // A checkout of which git's folder stands elsewhere in the workspace, not yet filled.
        ("wt/.git", "gitdir: ../stores/one/worktrees/wt\n"),
        ("stores/one/worktrees/wt/commondir", "../..\n"),
        // A checkout deeper down, whose folder is told by its content.
        ("deep/er/co/.git", "gitdir: ../../../separate\n"),
        ("separate/HEAD", "ref: refs/heads/main\n"),
        ("separate/commondir", "../x\n"),
        // It points outside: nothing of ours.
        ("other/.git", "gitdir: /somewhere/.git/worktrees/other\n"),
        ("looks/HEAD", "a file that happens to have that name\n"),
        ("src/a.rs", "a\n"),
    ]);
    let protected = [
        "mirror/config",
        "mirror/hooks/post-update",
        "stores/one/worktrees/wt/config.worktree",
        "stores/one/config",
        "stores/one/hooks/pre-commit",
        "Stores/One/hooks/pre-commit",
        "separate/config",
    ];
    let free = [
        "stores/readme",
        "stores/one-more/x",
        "looks/b",
        "src/a.rs",
        "other/x",
        "wt/x",
        "mirror.md",
    ];
    let batch = scratch.root.batch();
    for path in protected {
        assert_eq!(
            batch.admit_write(path).unwrap_err().code(),
            "PROTECTED_PATH",
            "{path}"
        );
        assert!(
            batch.place(&scratch.path(path)).is_ok(),
            "reading {path} stays allowed"
        );
    }
    for path in free {
        assert!(batch.admit_write(path).is_ok(), "{path}");
    }
}

/// A workspace with every kind of link in it.
fn linked() -> Scratch {
    let scratch = Scratch::new(&[
        ("in.txt", "x\n"),
        ("docs/guide.md", "hello\n"),
        ("file", "f\n"),
        ("a/b/c.txt", "c\n"),
    ]);
    let outside = scratch.outside().join("outside");
    std::fs::create_dir_all(outside.join("sub")).unwrap();
    std::fs::write(outside.join("secret.txt"), "keep\n").unwrap();
    let ws = scratch.root.path();
    for (link, target) in [
        ("notes", "../outside"),
        ("leaf.txt", "../outside/secret.txt"),
        ("README.md", "docs/guide.md"),
        ("inner", "a/b"),
        ("up", "a/.."),
        ("self", "self"),
        ("ping", "pong"),
        ("pong", "ping"),
        ("dangling", "nowhere"),
        ("dangling-out", "../nowhere"),
        ("chain", "chain2"),
        ("chain2", "notes"),
        ("a/back", "../.."),
    ] {
        symlink(target, ws.join(link)).unwrap();
    }
    symlink(&outside, ws.join("absolute")).unwrap();
    symlink(ws.join("docs"), ws.join("absolute-in")).unwrap();
    scratch
}

#[test]
fn links_are_never_written_through() {
    let scratch = linked();
    let batch = scratch.root.batch();
    let rows = [
        ("in.txt", ""),
        ("new.txt", ""),
        ("new/deep/x", ""),
        ("notes/secret.txt", "OUTSIDE_WORKSPACE"),
        ("notes/new.txt", "OUTSIDE_WORKSPACE"),
        ("notes/a/b/new.txt", "OUTSIDE_WORKSPACE"),
        ("notes", "OUTSIDE_WORKSPACE"),
        ("leaf.txt", "OUTSIDE_WORKSPACE"),
        ("absolute/x", "OUTSIDE_WORKSPACE"),
        ("chain/x", "OUTSIDE_WORKSPACE"),
        ("dangling-out", "OUTSIDE_WORKSPACE"),
        ("a/back/x", "OUTSIDE_WORKSPACE"),
        ("README.md", "IS_SYMLINK"),
        ("dangling", "IS_SYMLINK"),
        ("inner", "IS_SYMLINK"),
        ("inner/c.txt", "SYMLINK_REJECTED"),
        ("absolute-in/guide.md", "SYMLINK_REJECTED"),
        ("up/in.txt", "SYMLINK_REJECTED"),
        ("self", "SYMLINK_LOOP"),
        ("self/x", "SYMLINK_LOOP"),
        ("ping/x", "SYMLINK_LOOP"),
        ("file/x", "NOT_DIRECTORY"),
        ("file/x/y", "NOT_DIRECTORY"),
    ];
    for (raw, code) in rows {
        let found = batch
            .admit_write(raw)
            .err()
            .map_or("", |error| error.code());
        assert_eq!(found, code, "{raw}");
    }
    let error = batch.admit_write("README.md").unwrap_err().to_string();
    assert!(error.contains("README.md -> docs/guide.md"), "{error}");
    let error = batch.admit_write("leaf.txt").unwrap_err().to_string();
    assert!(
        !error.contains("secret"),
        "what lies outside is not told: {error}"
    );
}

#[test]
fn reading_follows_links_that_stay_inside() {
    let scratch = linked();
    let read = |raw: &str| match scratch.root.read(&scratch.path(raw)) {
        Ok(Entry::File(file)) => String::from_utf8(file.bytes).unwrap(),
        Ok(Entry::Missing) => "missing".into(),
        Ok(Entry::Directory) => "directory".into(),
        Ok(entry) => format!("{entry:?}"),
        Err(error) => error.code().into(),
    };
    let rows = [
        ("in.txt", "x\n"),
        ("README.md", "hello\n"),
        ("inner/c.txt", "c\n"),
        ("up/in.txt", "x\n"),
        ("inner", "directory"),
        ("none", "missing"),
        ("no/ne", "missing"),
        ("dangling", "missing"),
        ("notes/secret.txt", "OUTSIDE_WORKSPACE"),
        ("leaf.txt", "OUTSIDE_WORKSPACE"),
        ("absolute/secret.txt", "OUTSIDE_WORKSPACE"),
        ("chain/secret.txt", "OUTSIDE_WORKSPACE"),
        ("a/back/outside/secret.txt", "OUTSIDE_WORKSPACE"),
        ("self", "SYMLINK_LOOP"),
        ("file/x", "NOT_DIRECTORY"),
    ];
    for (raw, expected) in rows {
        assert_eq!(read(raw), expected, "{raw}");
    }
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let scratch = Scratch::new(&[("a.txt", "a\n")]);
    let fifo = scratch.on_disk("pipe");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::Mode::from_bits_truncate(0o644),
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scratch.on_disk("socket")).unwrap();
    let batch = scratch.root.batch();
    for name in ["pipe", "socket"] {
        let path = scratch.path(name);
        assert!(
            matches!(scratch.root.read(&path).unwrap(), Entry::Special { .. }),
            "{name}"
        );
        assert!(
            matches!(batch.read_to_write(&path).unwrap(), Entry::Special { .. }),
            "{name}"
        );
    }
}

#[test]
fn large_files_are_told_not_read() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("big"), "12345").unwrap();
    std::fs::write(temp.path().join("fits"), "1234").unwrap();
    let root = WorkspaceRoot::open(
        temp.path(),
        RootOptions {
            max_file: 4,
            ..RootOptions::default()
        },
    )
    .unwrap();
    let path = |raw: &str| root.admit(raw).unwrap();
    assert_eq!(
        root.read(&path("big")).unwrap(),
        Entry::TooLarge { len: 5, limit: 4 }
    );
    assert_eq!(
        root.batch().read(&path("big")).unwrap(),
        Entry::TooLarge { len: 5, limit: 4 }
    );
    assert!(matches!(root.read(&path("fits")).unwrap(), Entry::File(_)));
}

#[test]
fn absolute_paths_and_uris_are_admitted_below_the_root_alone() {
    let scratch = Scratch::new(&[("a b/ü.txt", "x\n")]);
    symlink(scratch.root.path(), scratch.outside().join("other-way")).unwrap();
    let root = &scratch.root;
    let shown = |path: &WorkspacePath| path.as_str().to_owned();
    let path = root.admit_absolute(&root.path().join("a b/ü.txt")).unwrap();
    assert_eq!(shown(&path), "a b/ü.txt");
    // Opened through a link: the same file.
    let through_link = scratch.outside().join("other-way/a b/ü.txt");
    assert_eq!(root.admit_absolute(&through_link).unwrap(), path);
    let new_through_link = scratch.outside().join("other-way/new/x.txt");
    assert_eq!(
        shown(&root.admit_absolute(&new_through_link).unwrap()),
        "new/x.txt"
    );
    assert_eq!(root.admit_uri(&root.uri(&path)).unwrap(), path);
    let raw = format!("file://{}/a b/ü.txt", root.path().display());
    assert_eq!(root.admit_uri(&raw).unwrap(), path);
    let climbing = format!("file://{}/a/..%2F..%2Fx", root.path().display());
    for outside in [
        "file:///etc/passwd",
        &climbing,
        &format!("file://{}-evil/x", root.path().display()),
    ] {
        assert_eq!(
            root.admit_uri(outside).unwrap_err().code(),
            "OUTSIDE_WORKSPACE",
            "{outside}"
        );
    }
}

/// The same folder, with names that differ in case or Unicode form alone taken for one.
fn folding(scratch: &Scratch) -> WorkspaceRoot {
    let options = RootOptions {
        folding: Folding::Always,
        ..RootOptions::default()
    };
    WorkspaceRoot::open(scratch.root.path(), options).unwrap()
}

#[test]
fn a_path_is_spelled_as_it_is_on_a_disk_that_folds_names() {
    let scratch = Scratch::new(&[
        ("README.md", "x\n"),
        ("src/caf\u{e9}.rs", "x\n"),
        ("a/x", "x\n"),
    ]);
    let batch = folding(&scratch).batch();
    let rows = [
        ("readme.md", Some("README.md")),
        ("README.md", None),
        ("README.md.", Some("README.md")),
        ("src/cafe\u{301}.rs", Some("src/caf\u{e9}.rs")),
        ("SRC/new.rs", Some("src")),
        ("src/new.rs", None),
        ("a/b/c/d", None),
        ("A/b/c/d", Some("a")),
    ];
    for (path, twin) in rows {
        assert_eq!(
            batch.collision(&scratch.path(path)).unwrap().as_deref(),
            twin,
            "{path}"
        );
    }
    // Unasked it is the disk that decides.
    let folds = scratch.on_disk("readme.md").exists();
    let found = scratch.root.batch().collision(&scratch.path("readme.md"));
    assert_eq!(found.unwrap().is_some(), folds);
}

#[test]
fn one_transaction_spells_a_path_in_one_way_where_names_are_folded() {
    let scratch = Scratch::new(&[("a/x", "x\n")]);
    let rows: [(&[&str], Option<&str>); 6] = [
        (&["a/new", "a/NEW"], Some("a/new")),
        (&["deep/er/one", "deep/ER/two"], Some("deep/er")),
        (&["caf\u{e9}", "cafe\u{301}"], Some("caf\u{e9}")),
        (&["A/y"], Some("a")),
        (&["a/x", "a/x", "b/x"], None),
        (&["new/one", "new/two"], None),
    ];
    for (paths, with) in rows {
        let add = |batch: &Batch| {
            let mut spellings = Spellings::default();
            let mut paths = paths.iter();
            paths.try_for_each(|path| spellings.add(batch, &scratch.path(path)))
        };
        let added = add(&folding(&scratch).batch());
        match (with, added) {
            (None, Ok(())) => {}
            (Some(expected), Err(PathError::Collision { with, .. })) => assert_eq!(with, expected),
            (_, other) => panic!("{paths:?}: {other:?}"),
        }
        if !scratch.on_disk("A").exists() {
            add(&scratch.root.batch()).unwrap();
        }
    }
}

#[test]
fn a_batch_holds_few_folders_open() {
    let scratch = Scratch::new(&[]);
    for folder in 0..600 {
        scratch.write(&format!("d{folder}/f"), "x");
    }
    let batch = scratch.root.batch();
    for folder in 0..600 {
        assert!(
            batch
                .admit_write(&format!("d{folder}/f"))
                .unwrap()
                .stat()
                .is_some()
        );
    }
    let prefix = scratch.root.path().join("d");
    let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let open = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let held = open
        .filter(|target| {
            target
                .to_string_lossy()
                .starts_with(&*prefix.to_string_lossy())
        })
        .count();
    assert!((1..=200).contains(&held), "{held} folders are open");
}

#[test]
fn a_folder_swapped_for_a_link_is_not_followed() {
    let scratch = linked();
    let batch = scratch.root.batch();
    assert!(batch.admit_write("a/b/c.txt").is_ok());
    std::fs::rename(scratch.on_disk("a"), scratch.on_disk("moved")).unwrap();
    symlink("../outside", scratch.on_disk("a")).unwrap();
    // The batch goes on with the folder that it holds, wherever that is now; a new one sees the link.
    let place = batch.admit_write("a/b/new.txt").unwrap();
    assert!(place.stat().is_none());
    assert_eq!(
        scratch
            .root
            .batch()
            .admit_write("a/b/c.txt")
            .unwrap_err()
            .code(),
        "OUTSIDE_WORKSPACE"
    );
}

/// What the operating system says of `path`: every link in its existing part resolved.
fn canonical(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            Component::ParentDir => drop(resolved.pop()),
            Component::Normal(name) => {
                resolved.push(name);
                if let Ok(real) = std::fs::canonicalize(&resolved) {
                    resolved = real;
                } else if let Ok(target) = std::fs::read_link(&resolved) {
                    // Dangling: where a write would land.
                    resolved.pop();
                    resolved = resolved.join(target);
                }
            }
        }
    }
    resolved
}

fn hostile_path() -> impl Strategy<Value = String> {
    let component = prop_oneof![
        4 => prop::sample::select(vec![
            "a", "b", "c.txt", "docs", "guide.md", "in.txt", "file", "notes", "leaf.txt", "inner", "up", "self", "ping",
            "dangling", "dangling-out", "chain", "absolute", "absolute-in", "back", "secret.txt", "new",
        ]).prop_map(str::to_owned),
        3 => prop::sample::select(vec!["..", ".", "", "~", "C:", "\\", "..\\..", ".git", ".GIT", ".agentic", "%2e%2e", "\u{2024}\u{2024}"])
            .prop_map(str::to_owned),
        1 => "[^/]{0,4}",
    ];
    let path = prop::collection::vec(component, 0..7).prop_map(|parts| parts.join("/"));
    prop_oneof![6 => path.clone(), 1 => path.prop_map(|path| format!("/{path}")), 2 => any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// Whatever the text: what may be written is where its text says, inside, reached through no link.
    #[test]
    fn nothing_escapes(raws in prop::collection::vec(hostile_path(), 1..12)) {
        thread_local!(static SCRATCH: Scratch = linked());
        SCRATCH.with(|scratch| {
            let batch = scratch.root.batch();
            for raw in &raws {
                let Ok(path) = scratch.root.admit(raw) else { continue };
                let said = scratch.root.path().join(path.as_str());
                prop_assert!(said.starts_with(scratch.root.path()));
                prop_assert!(path.components().all(|part| !part.is_empty() && part != "." && part != ".."));
                prop_assert_eq!(scratch.root.admit(path.as_str()).unwrap(), path.clone(), "its normal form is stable");
                if batch.place_to_write(&path).is_ok() {
                    prop_assert_eq!(canonical(&said), said.clone(), "{:?} is reached through a link", raw);
                    prop_assert!(scratch.root.protection(&path).is_none());
                }
                match scratch.root.read(&path) {
                    Ok(Entry::File(file)) => {
                        prop_assert!(canonical(&said).starts_with(scratch.root.path()), "{:?} was read outside", raw);
                        prop_assert!(file.bytes != b"keep\n");
                    }
                    Ok(_) => {}
                    Err(FsError::Path(_) | FsError::Io { .. }) => {}
                    Err(error) => prop_assert!(false, "{:?}: {}", raw, error),
                }
            }
            Ok(())
        })?;
    }

    #[test]
    fn folding_is_stable_and_never_hides_git(name in ".{0,12}", noise in "[\u{200b}-\u{200f}\u{feff}\u{ad}]{0,3}") {
        let folded = super::protect::fold(&name).into_owned();
        prop_assert_eq!(super::protect::fold(&folded), folded.as_str());
        let disguised = format!(".{noise}G{noise}iT{noise}");
        prop_assert_eq!(super::protect::fold(&disguised), ".git");
    }
}
