//! What each tool says, case by case.

use expect_test::{Expect, expect};
use redline_tools::{Envelope, ErrorCode, Status};
use serde_json::{Value, json};

use crate::run;
use crate::view::FolderView;

fn told(envelope: &Envelope) -> String {
    let error = envelope.recovery.error.as_ref();
    match error {
        Some(error) => format!("{}: {}", error.code, error.message),
        None => serde_json::to_string_pretty(&envelope.data).unwrap(),
    }
}

fn check(view: &FolderView, tool: &str, arguments: Value, expected: Expect) {
    expected.assert_eq(&told(&run(view, tool, arguments)));
}

fn project() -> FolderView {
    FolderView::new(&[
        (
            "src/a.rs",
            "fn a() {\n    one();\n}\n\nfn b() {\n    one();\n}\n",
        ),
        ("src/b.rs", "// b\r\nfn c() {}\r\n"),
        ("notes.txt", "one\ntwo\n"),
    ])
}

#[test]
fn list_shows_folders_and_what_is_pending() {
    let view = project();
    run(
        &view,
        "workspace_edit",
        json!({"edits": [{"path": "src/new.rs", "content": "x\n"}, {"path": "notes.txt", "delete": true}]}),
    );
    check(
        &view,
        "workspace_list",
        json!({"depth": 2}),
        expect![[r#"
        {
          "path": "",
          "cut": false,
          "entries": [
            "src/",
            "src/a.rs",
            "src/b.rs",
            "src/new.rs"
          ]
        }"#]],
    );
    let cut = run(
        &view,
        "workspace_list",
        json!({"path": "./src/", "limit": 1}),
    );
    assert_eq!(cut.data["cut"], true);
    assert!(cut.recovery.resume.is_some());
    assert_eq!(
        run(&view, "workspace_list", json!({"path": "nope"})).code(),
        Some(ErrorCode::NotFound)
    );
    assert_eq!(
        run(&view, "workspace_list", json!({"path": ".."})).code(),
        Some(ErrorCode::OutsideWorkspace)
    );
}

#[test]
fn readers_follow_links_that_stay_inside_and_say_where_they_lead() {
    use std::os::unix::fs::symlink;
    let view = project();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.txt"), "one\n").unwrap();
    let link = |target: &std::path::Path, name: &str| {
        symlink(target, view.path().join(name)).unwrap();
    };
    link("src".as_ref(), "code");
    link(&view.path().join("src"), "absolute");
    link("src/../notes.txt".as_ref(), "todo");
    link(outside.path(), "out");
    link("loop".as_ref(), "loop");
    link("nowhere".as_ref(), "dangling");

    for (asked, real) in [
        ("code/a.rs", "src/a.rs"),
        ("absolute/a.rs", "src/a.rs"),
        ("todo", "notes.txt"),
        ("src/a.rs", "src/a.rs"),
    ] {
        let read = run(&view, "workspace_read", json!({"path": asked}));
        assert_eq!(read.data["path"], real, "{asked}: {}", told(&read));
    }
    let listed = run(&view, "workspace_list", json!({"path": "code/"}));
    assert_eq!(listed.data["entries"], json!(["src/a.rs", "src/b.rs"]));
    let found = run(
        &view,
        "workspace_search",
        json!({"path": "code", "pattern": "one"}),
    );
    assert_eq!(found.data["count"], 2, "{}", told(&found));

    for (asked, code) in [
        ("out/secret.txt", ErrorCode::OutsideWorkspace),
        ("out", ErrorCode::OutsideWorkspace),
        ("loop", ErrorCode::SymlinkLoop),
    ] {
        let read = run(&view, "workspace_read", json!({"path": asked}));
        assert_eq!(read.code(), Some(code), "{asked}: {}", told(&read));
        let found = run(
            &view,
            "workspace_search",
            json!({"path": asked, "pattern": "one"}),
        );
        assert_eq!(found.code(), Some(code), "{asked}: {}", told(&found));
    }
    let read = run(&view, "workspace_read", json!({"path": "dangling"}));
    assert_eq!(read.code(), Some(ErrorCode::NotFound), "{}", told(&read));
}

#[test]
fn read_numbers_lines_and_says_what_is_left() {
    let view = project();
    check(
        &view,
        "workspace_read",
        json!({"path": "src/a.rs", "start_line": 2, "end_line": 3}),
        expect![[r#"
        {
          "path": "src/a.rs",
          "start_line": 2,
          "end_line": 3,
          "total_lines": 7,
          "cut": false,
          "line_endings": "lf",
          "ends_with_newline": true,
          "open_in_editor": false,
          "text": "2\t    one();\n3\t}\n"
        }"#]],
    );
    let crlf = run(
        &view,
        "workspace_read",
        json!({"path": "src/b.rs", "numbered": false}),
    );
    assert_eq!(crlf.data["text"], "// b\nfn c() {}\n");
    assert_eq!(crlf.data["line_endings"], "crlf");
    std::fs::write(view.path().join("bin"), b"\0\x01").unwrap();
    check(
        &view,
        "workspace_read",
        json!({"path": "bin"}),
        expect!["NOT_TEXT: bin is a binary file of 2 bytes"],
    );
    check(
        &view,
        "workspace_read",
        json!({"path": "src"}),
        expect!["IS_DIRECTORY: src is a folder"],
    );
    check(
        &view,
        "workspace_read",
        json!({"path": "notes.txt", "start_line": 9}),
        expect!["OUT_OF_RANGE: notes.txt has 2 lines; line 9 is beyond its end"],
    );
    assert_eq!(
        run(&view, "workspace_read", json!({"path": "gone.rs"})).code(),
        Some(ErrorCode::NotFound)
    );
    assert_eq!(
        run(&view, "workspace_read", json!({"path": "a\0b"})).code(),
        Some(ErrorCode::BadPath)
    );
}

#[test]
fn search_sees_pending_edits_and_takes_a_file_as_its_place() {
    let view = project();
    run(
        &view,
        "workspace_edit",
        json!({"edits": [{"path": "notes.txt", "search": "two", "replace": "ONE more"}]}),
    );
    check(
        &view,
        "workspace_search",
        json!({"pattern": "one"}),
        expect![[r#"
        {
          "count": 4,
          "cut": false,
          "searched_files": 3,
          "hits": [
            "notes.txt:1: one",
            "notes.txt:2: ONE more",
            "src/a.rs:2:     one();",
            "src/a.rs:6:     one();"
          ]
        }"#]],
    );
    let one = run(
        &view,
        "workspace_search",
        json!({"pattern": "one", "path": "src/a.rs", "context": 1}),
    );
    assert_eq!(one.data["count"], 2, "{}", told(&one));
    assert_eq!(
        one.data["hits"][0],
        "src/a.rs-1- fn a() {\nsrc/a.rs:2:     one();\nsrc/a.rs-3- }"
    );
    assert_eq!(
        run(
            &view,
            "workspace_search",
            json!({"pattern": "(", "regex": true})
        )
        .code(),
        Some(ErrorCode::InvalidArguments)
    );
    assert_eq!(
        run(
            &view,
            "workspace_search",
            json!({"pattern": "x", "path": "gone"})
        )
        .code(),
        Some(ErrorCode::NotFound)
    );
}

#[test]
fn edit_proposes_and_says_what_is_pending() {
    let view = project();
    let envelope = run(
        &view,
        "workspace_edit",
        json!({
            "rationale": "Rename",
            "edits": [
                {"path": "src/a.rs", "search": "fn a() {", "replace": "fn first() {", "rationale": "Say what it is"},
                {"path": "src/c.rs", "content": "fn c() {}\n"},
            ],
        }),
    );
    assert_eq!(envelope.status, Status::Ok, "{}", told(&envelope));
    assert_eq!(envelope.recovery.state, "pending");
    assert_eq!(envelope.recovery.ids["transaction"], "tx_test");
    assert_eq!(envelope.data["files"][1]["operation"], "create");
    assert_eq!(
        view.proposed("src/a.rs").unwrap().lines().next(),
        Some("fn first() {")
    );
    assert_eq!(
        view.proposals()[0].operations[0].rationale.as_deref(),
        Some("Say what it is")
    );

    let again = run(
        &view,
        "workspace_edit",
        json!({"edits": [{"path": "src/c.rs", "content": "fn c() {}\n", "overwrite": true}]}),
    );
    assert_eq!(again.recovery.state, "unchanged", "{}", told(&again));
}

#[test]
fn edit_refuses_what_it_would_have_to_guess() {
    let view = project();
    let edit = |edit: Value| run(&view, "workspace_edit", json!({ "edits": [edit] }));
    let ambiguous =
        edit(json!({"path": "src/a.rs", "search": "    one();", "replace": "    two();"}));
    assert_eq!(ambiguous.code(), Some(ErrorCode::AmbiguousMatch));
    let message = &ambiguous.recovery.error.as_ref().unwrap().message;
    assert!(message.contains('2') && message.contains('6'), "{message}");
    let cases = [
        (
            json!({"path": "src/a.rs", "search": "three();", "replace": ""}),
            ErrorCode::NoMatch,
        ),
        (
            json!({"path": "src/a.rs", "content": "x"}),
            ErrorCode::Exists,
        ),
        (
            json!({"path": "gone.rs", "delete": true}),
            ErrorCode::NotFound,
        ),
        (
            json!({"path": "../x", "content": "x"}),
            ErrorCode::OutsideWorkspace,
        ),
        (json!({"path": "src/a.rs"}), ErrorCode::InvalidArguments),
        (
            json!({"path": "src/a.rs", "replace": "x"}),
            ErrorCode::InvalidArguments,
        ),
        (
            json!({"path": "src/a.rs", "search": "x"}),
            ErrorCode::InvalidArguments,
        ),
        (
            json!({"path": "src/a.rs", "delete": true, "content": "x"}),
            ErrorCode::InvalidArguments,
        ),
    ];
    for (arguments, code) in cases {
        let envelope = edit(arguments.clone());
        assert_eq!(
            envelope.code(),
            Some(code),
            "{arguments} {}",
            told(&envelope)
        );
    }
    assert!(view.proposals().is_empty());
}

#[test]
fn edit_reads_patches_of_every_format() {
    let patches = [
        "--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
        "*** Begin Patch\n*** Update File: notes.txt\n@@\n one\n-two\n+2\n*** End Patch\n",
        "notes.txt\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n",
    ];
    for patch in patches {
        let view = project();
        let envelope = run(&view, "workspace_edit", json!({ "patch": patch }));
        assert_eq!(envelope.status, Status::Ok, "{patch}\n{}", told(&envelope));
        assert_eq!(view.proposed("notes.txt").as_deref(), Some("one\n2\n"));
    }
    let view = project();
    let prose = run(
        &view,
        "workspace_edit",
        json!({"patch": "please change it"}),
    );
    assert_eq!(prose.code(), Some(ErrorCode::MalformedProposal));
}

#[test]
fn edit_resolves_again_when_the_user_types_meanwhile() {
    let view = project();
    let mut typed = false;
    *view.before_propose.lock().unwrap() = Some(Box::new(move |folder| {
        if !std::mem::replace(&mut typed, true) {
            std::fs::write(folder.join("notes.txt"), "zero\none\ntwo\n").unwrap();
        }
    }));
    let envelope = run(
        &view,
        "workspace_edit",
        json!({"edits": [{"path": "notes.txt", "search": "two", "replace": "2"}]}),
    );
    assert_eq!(envelope.status, Status::Ok, "{}", told(&envelope));
    assert_eq!(
        view.proposed("notes.txt").as_deref(),
        Some("zero\none\n2\n")
    );
}

#[test]
fn an_unknown_tool_is_answered_with_the_known_ones() {
    let envelope = run(&project(), "write_file", json!({}));
    assert_eq!(envelope.code(), Some(ErrorCode::InvalidArguments));
    assert_eq!(envelope.data["tools"][3], "workspace_edit");
}

#[test]
fn edit_says_how_lines_were_found_that_are_not_as_written() {
    let view = project();
    // The model lost the indentation.
    let search = "fn a() {\none();\n}\n";
    let envelope = run(
        &view,
        "workspace_edit",
        json!({"edits": [
            {"path": "src/a.rs", "search": "fn b() {", "replace": "fn second() {"},
            {"path": "notes.txt", "search": "one  ", "replace": "uno"},
        ]}),
    );
    assert_eq!(envelope.status, Status::Ok, "{}", told(&envelope));
    assert_eq!(envelope.data["files"][0]["match"], "exact");
    assert_eq!(envelope.data["files"][1]["match"], "whitespace");
    assert_eq!(
        envelope.data["files"][1]["inexact"],
        json!([{"lines": "1-1", "match": "whitespace"}])
    );
    let refused = run(
        &view,
        "workspace_edit",
        json!({"edits": [{"path": "src/a.rs", "search": search, "replace": ""}]}),
    );
    assert_eq!(refused.code(), Some(ErrorCode::NoMatch));
}
