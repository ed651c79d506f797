//! Search under an overlay.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use std::sync::Arc;

use super::*;
use crate::list::{ListedKind, list};
use crate::testing::Scratch;

fn project() -> Scratch {
    let scratch = Scratch::new(&[
        (".gitignore", "target/\n*.log\n"),
        (".github/ci.yml", "needle in ci\n"),
        (".git/config", "needle in git\n"),
        (".agentic/MEMORY.md", "needle in the store\n"),
        ("sub/.git/HEAD", "needle in git\n"),
        (
            "src/lib.rs",
            "fn a() {}\n// Needle here\r\nfn b() {}\nlet needles = needle;\n",
        ),
        ("src/deep/er/x.rs", "needle\n"),
        ("target/out.rs", "needle ignored\n"),
        ("trace.log", "needle ignored\n"),
        ("zz.txt", "none\n"),
        ("binary", "needle\0needle\n"),
    ]);
    let outside = scratch.outside().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret.txt"), "needle outside\n").unwrap();
    std::os::unix::fs::symlink("../outside", scratch.on_disk("link")).unwrap();
    std::os::unix::fs::symlink("../outside/secret.txt", scratch.on_disk("leaf.txt")).unwrap();
    let fifo = scratch.on_disk("pipe");
    rustix::fs::mkfifoat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::Mode::from_bits_truncate(0o644),
    )
    .unwrap();
    scratch
}

fn query(pattern: &str) -> Query {
    Query {
        pattern: pattern.into(),
        limit: 100,
        ..Query::default()
    }
}

fn run(scratch: &Scratch, query: &Query, overlay: &Overlay) -> Vec<String> {
    let found = search(&scratch.root, query, overlay, 2, &AtomicBool::new(false)).unwrap();
    assert_eq!(found.unread, []);
    found
        .matches
        .iter()
        .map(|found| format!("{}:{}", found.path, found.line))
        .collect()
}

#[test]
fn finds_what_the_user_would() {
    let scratch = project();
    let none = Overlay::new();
    let all = [
        ".github/ci.yml:1",
        "src/deep/er/x.rs:1",
        "src/lib.rs:2",
        "src/lib.rs:4",
    ];
    assert_eq!(run(&scratch, &query("needle"), &none), all);
    let with = |change: &dyn Fn(&mut Query)| {
        let mut query = query("needle");
        change(&mut query);
        run(&scratch, &query, &none)
    };
    assert_eq!(
        with(&|query| query.case = Case::Sensitive),
        [".github/ci.yml:1", "src/deep/er/x.rs:1", "src/lib.rs:4"]
    );
    assert_eq!(
        with(&|query| query.pattern = "Needle".into()),
        ["src/lib.rs:2"]
    );
    assert_eq!(
        with(&|query| query.pattern = "needle.".into()),
        Vec::<String>::new()
    );
    assert_eq!(
        with(&|query| (query.regex, query.pattern) = (true, "needles? ".into())),
        [".github/ci.yml:1", "src/lib.rs:2", "src/lib.rs:4"]
    );
    assert_eq!(
        with(&|query| (query.regex, query.pattern) = (true, "here$".into())),
        ["src/lib.rs:2"],
        "before CRLF"
    );
    assert_eq!(
        with(&|query| (query.words, query.pattern) = (true, "needles".into())),
        ["src/lib.rs:4"]
    );
    assert_eq!(
        with(&|query| query.scope.globs = vec!["*.yml".into()]),
        [".github/ci.yml:1"]
    );
    assert_eq!(
        with(&|query| query.scope.globs = vec!["!*.rs".into()]),
        [".github/ci.yml:1"]
    );
    assert_eq!(
        with(&|query| query.scope.folder = Some(scratch.path("src/deep"))),
        ["src/deep/er/x.rs:1"]
    );
    assert_eq!(
        with(&|query| query.scope.ignored = true).len(),
        6,
        "ignored files too, but not our own nor git's"
    );
}

#[test]
fn rules_count_from_the_repository_or_the_workspace_downwards() {
    let scratch = Scratch::new(&[
        (".gitignore", "*.log\n"),
        ("a/x.log", "needle\n"),
        ("a/x.txt", "needle\n"),
    ]);
    std::fs::write(scratch.outside().join(".gitignore"), "*\n").unwrap();
    let mut below = query("needle");
    below.scope.folder = Some(scratch.path("a"));
    for query in [&query("needle"), &below] {
        assert_eq!(
            run(&scratch, query, &Overlay::new()),
            ["a/x.txt"].map(|path| format!("{path}:1"))
        );
    }
    // Once the folder above is a repository, its rules are the project's.
    std::fs::create_dir(scratch.outside().join(".git")).unwrap();
    assert_eq!(
        run(&scratch, &query("needle"), &Overlay::new()),
        Vec::<String>::new()
    );
}

#[test]
fn open_documents_and_proposals_win_over_the_disk() {
    let scratch = project();
    let mut overlay = Overlay::new();
    let mut set =
        |path: &str, text: Option<&str>| overlay.insert(scratch.path(path), text.map(Arc::from));
    set("src/lib.rs", Some("nothing\nneedle now\n"));
    set("src/deep/er/x.rs", None);
    set("src/new.rs", Some("needle\n"));
    set("new/also.rs", Some("needle\n"));
    set("trace.log", Some("needle open\n"));
    let found = run(&scratch, &query("needle"), &overlay);
    assert_eq!(
        found,
        [
            ".github/ci.yml:1",
            "new/also.rs:1",
            "src/lib.rs:2",
            "src/new.rs:1",
            "trace.log:1"
        ]
    );
    let mut below = query("needle");
    below.scope.folder = Some(scratch.path("src"));
    assert_eq!(
        run(&scratch, &below, &overlay),
        ["src/lib.rs:2", "src/new.rs:1"]
    );
    below.scope.globs = vec!["lib.*".into()];
    assert_eq!(run(&scratch, &below, &overlay), ["src/lib.rs:2"]);
}

#[test]
fn results_are_bounded_ordered_and_cut() {
    let scratch = Scratch::new(&[]);
    for number in 0..200 {
        scratch.write(&format!("f{number:03}.txt"), "hit\nmiss\nhit\n");
    }
    let mut query = query("hit");
    for limit in [0, 1, 7, 399, 400, 401] {
        query.limit = limit;
        for threads in [1, 4] {
            let found = search(
                &scratch.root,
                &query,
                &Overlay::new(),
                threads,
                &AtomicBool::new(false),
            )
            .unwrap();
            let expected: Vec<_> = (0..200)
                .flat_map(|n| [(format!("f{n:03}.txt"), 1), (format!("f{n:03}.txt"), 3)])
                .take(limit)
                .collect();
            let got: Vec<_> = found
                .matches
                .iter()
                .map(|found| (found.path.to_string(), found.line))
                .collect();
            assert_eq!(got, expected);
            assert_eq!(found.truncated, limit < 400, "{limit}");
        }
    }
    let cancelled = search(
        &scratch.root,
        &query,
        &Overlay::new(),
        2,
        &AtomicBool::new(true),
    )
    .unwrap();
    assert!(cancelled.cancelled && cancelled.matches.is_empty());

    let scratch = Scratch::new(&[(
        "long.csv",
        &format!(
            "{}ziel{}\n",
            "käse,🦀;".repeat(60_000),
            "käse,🦀;".repeat(60_000)
        ),
    )]);
    query.pattern = "ziel".into();
    let found = search(
        &scratch.root,
        &query,
        &Overlay::new(),
        1,
        &AtomicBool::new(false),
    )
    .unwrap();
    let hit = &found.matches[0];
    assert!(hit.text.len() <= 512 && hit.offset > 0);
    assert_eq!(&hit.text[hit.ranges[0].clone()], "ziel");
    assert!(!hit.text.contains('\u{fffd}'), "cut between characters");
}

#[test]
fn context_stands_beside_its_match() {
    let scratch = Scratch::new(&[("a", "1\n2\nhit\n4\n5\n6\nhit\n8\n")]);
    let query = Query {
        context: 1,
        ..query("hit")
    };
    let found = search(
        &scratch.root,
        &query,
        &Overlay::new(),
        1,
        &AtomicBool::new(false),
    )
    .unwrap();
    let shown: Vec<_> = found
        .matches
        .iter()
        .map(|hit| (hit.line, hit.before.join(" "), hit.after.join(" ")))
        .collect();
    assert_eq!(
        shown,
        [(3, "2".into(), "4".into()), (7, "6".into(), "8".to_owned())]
    );
}

#[test]
fn bad_input_is_told() {
    let scratch = project();
    let code = |query: &Query| {
        search(
            &scratch.root,
            query,
            &Overlay::new(),
            1,
            &AtomicBool::new(false),
        )
        .unwrap_err()
        .code()
    };
    assert_eq!(
        code(&Query {
            regex: true,
            ..query("a(")
        }),
        "INVALID_ARGUMENTS"
    );
    assert_eq!(
        code(&Query {
            regex: true,
            ..query("(a{1000}){1000}")
        }),
        "INVALID_ARGUMENTS"
    );
    assert_eq!(code(&query("")), "INVALID_ARGUMENTS");
    let scoped = |scope| Query {
        scope,
        ..query("a")
    };
    assert_eq!(
        code(&scoped(Scope {
            globs: vec!["a[".into()],
            ..Scope::default()
        })),
        "INVALID_ARGUMENTS"
    );
    for (folder, expected) in [
        ("none", "NOT_FOUND"),
        ("zz.txt", "NOT_FOUND"),
        ("link", "OUTSIDE_WORKSPACE"),
    ] {
        assert_eq!(
            code(&scoped(Scope {
                folder: Some(scratch.path(folder)),
                ..Scope::default()
            })),
            expected
        );
    }
}

#[test]
fn lists_what_the_user_would_see() {
    let scratch = project();
    let mut overlay = Overlay::new();
    overlay.insert(scratch.path("src/new.rs"), Some("x".into()));
    overlay.insert(scratch.path("zz.txt"), None);
    let run = |scope: &Scope, limit| {
        list(
            &scratch.root,
            scope,
            &overlay,
            limit,
            &AtomicBool::new(false),
        )
        .unwrap()
    };
    let show = |listing: &crate::list::Listing| -> Vec<String> {
        let mark = |kind| match kind {
            ListedKind::File => "",
            ListedKind::Directory => "/",
            ListedKind::Symlink => "@",
            ListedKind::Special => "|",
        };
        listing
            .entries
            .iter()
            .map(|entry| format!("{}{}", entry.path, mark(entry.kind)))
            .collect()
    };
    let top = Scope {
        depth: Some(1),
        ..Scope::default()
    };
    let expected = [
        ".github/",
        ".gitignore",
        "binary",
        "leaf.txt@",
        "link@",
        "pipe|",
        "src/",
        "sub/",
    ];
    assert_eq!(show(&run(&top, 100)), expected);
    let all = run(&Scope::default(), 100);
    let below: Vec<_> = show(&all)
        .into_iter()
        .filter(|path| path.starts_with("src"))
        .collect();
    assert_eq!(
        below,
        [
            "src/",
            "src/deep/",
            "src/deep/er/",
            "src/deep/er/x.rs",
            "src/lib.rs",
            "src/new.rs"
        ]
    );
    let few = run(&Scope::default(), 3);
    assert!(few.truncated && show(&few) == show(&all)[..3]);
    assert!(!run(&top, 8).truncated);
    overlay.insert(scratch.path("new/deep/x"), Some("x".into()));
    let new = Scope {
        folder: Some(scratch.path("new")),
        ..Scope::default()
    };
    let listing = list(&scratch.root, &new, &overlay, 9, &AtomicBool::new(false)).unwrap();
    assert_eq!(show(&listing), ["new/deep/x"]);
    let none = Scope {
        folder: Some(scratch.path("none")),
        ..Scope::default()
    };
    assert_eq!(
        list(&scratch.root, &none, &overlay, 9, &AtomicBool::new(false))
            .unwrap_err()
            .code(),
        "NOT_FOUND"
    );
}
