//! Creates, deletes, renames and modes.

use expect_test::expect;

use super::{Tree, check, normalize_path};

#[test]
fn paths_have_one_spelling_or_are_refused() {
    let spelled = |path: &str| match normalize_path(path) {
        Ok(path) => path,
        Err(err) => format!("{}: {err}", err.code),
    };
    let mut seen = String::new();
    for path in [
        "a/b",
        "./a//b",
        "ok/../fine.txt",
        "../z.txt",
        "ok/../../z.txt",
        "/tmp/x",
        "../ws-evil/y",
        "C:\\z.txt",
        "c:/z",
        "\\\\host\\share\\z",
        "ok\\..\\..\\z",
        "a\\b",
        "ok/z\0.txt",
        "",
        ".",
        "~/z.txt",
        "~x",
        "a/",
        "file:///w/a",
        "...",
        "a/..b",
    ] {
        seen += &format!("{path:?} {}\n", spelled(path));
    }
    expect![[r#"
        "a/b" a/b
        "./a//b" a/b
        "ok/../fine.txt" fine.txt
        "../z.txt" OUTSIDE_WORKSPACE: "../z.txt" is outside the workspace: it goes above the root
        "ok/../../z.txt" OUTSIDE_WORKSPACE: "ok/../../z.txt" is outside the workspace: it goes above the root
        "/tmp/x" OUTSIDE_WORKSPACE: "/tmp/x" is outside the workspace: it is absolute
        "../ws-evil/y" OUTSIDE_WORKSPACE: "../ws-evil/y" is outside the workspace: it goes above the root
        "C:\\z.txt" OUTSIDE_WORKSPACE: "C:\\z.txt" is outside the workspace: it names a drive
        "c:/z" OUTSIDE_WORKSPACE: "c:/z" is outside the workspace: it names a drive
        "\\\\host\\share\\z" OUTSIDE_WORKSPACE: "\\\\host\\share\\z" is outside the workspace: it is absolute
        "ok\\..\\..\\z" OUTSIDE_WORKSPACE: "ok\\..\\..\\z" is outside the workspace: it goes up with backslashes
        "a\\b" BAD_PATH: "a\\b" is no path of a file: it holds a backslash
        "ok/z\0.txt" BAD_PATH: "ok/z\0.txt" is no path of a file: it holds a control character
        "" BAD_PATH: "" is no path of a file: it is empty
        "." BAD_PATH: "." is no path of a file: it is the workspace itself
        "~/z.txt" OUTSIDE_WORKSPACE: "~/z.txt" is outside the workspace: ~ is not expanded
        "~x" ~x
        "a/" BAD_PATH: "a/" is no path of a file: it ends in a slash, as only a folder's does
        "file:///w/a" OUTSIDE_WORKSPACE: "file:///w/a" is outside the workspace: it is absolute
        "..." ...
        "a/..b" a/..b
    "#]].assert_eq(&seen);
}

#[test]
fn a_missing_file_is_named_with_a_similar_one() {
    check(
        &Tree::of_text("src/user.service.ts", "export class UserService {}\n"),
        r#"{"edits": [{"path": "user.service.ts", "search": "UserService", "replace": "AccountService"}]}"#,
        expect![[r#"
            NOT_FOUND: user.service.ts does not exist (there is a src/user.service.ts)
        "#]],
    );
}

#[test]
fn positions_are_strict() {
    let tree = Tree::of_text("f.txt", "abcdefghij\nklm\n");
    for (edits, expected) in [
        (
            r#"[0, 0], [0, 5], "X"; [0, 3], [0, 8], "Y""#,
            expect![[r#"
            OVERLAPPING_EDITS: f.txt: edit 1 and edit 2 overlap at line 1
        "#]],
        ),
        (
            r#"[0, 0], [1, 0], "X\n"; [0, 2], [0, 4], "Y""#,
            expect![[r#"
            OVERLAPPING_EDITS: f.txt: edit 1 and edit 2 overlap at line 1
        "#]],
        ),
        (
            r#"[0, 2], [0, 8], ""; [0, 4], [0, 4], "Z""#,
            expect![[r#"
            OVERLAPPING_EDITS: f.txt: edit 1 and edit 2 overlap at line 1
        "#]],
        ),
        (
            r#"[0, 0], [0, 3], "1"; [0, 3], [0, 6], "2"; [0, 6], [0, 6], "3""#,
            expect![[r#"
            f.txt: edit
              -"abcdefghij\n"
              +"123ghij\n"
        "#]],
        ),
        (
            r#"[0, 5], [0, 2], "R""#,
            expect![[r#"
            INVALID_POSITION: f.txt: edit 1: the range 0:5 to 0:2 is reversed
        "#]],
        ),
        (
            r#"[0, 0], [0, 11], "R""#,
            expect![[r#"
            OUT_OF_RANGE: f.txt: edit 1: position 0:11 (utf-16) is out of range: line 0 has 10 columns
        "#]],
        ),
        (
            r#"[3, 0], [3, 0], "R""#,
            expect![[r#"
            OUT_OF_RANGE: f.txt: edit 1: position 3:0 is out of range: the text has 3 lines, 0 to 2
        "#]],
        ),
        (
            r#"[0, -1], [0, 0], "R""#,
            expect![[r#"
            INVALID_POSITION: line 1: documents[0].edits[0].range: -1 is no line or column
        "#]],
        ),
        (
            r#"[0, 3], [0, 3], "!"; [0, 0], [0, 0], "<"; [0, 3], [0, 3], "?""#,
            expect![[r#"
            f.txt: edit
              -"abcdefghij\n"
              +"<abc!?defghij\n"
        "#]],
        ),
        (
            r#"[0, 0], [0, 0], "the "; [0, 0], [0, 3], "finish""#,
            expect![[r#"
            f.txt: edit
              -"abcdefghij\n"
              +"the finishdefghij\n"
        "#]],
        ),
        (
            r#"[0, 0], [0, 0], "one\n"; [0, 0], [0, 0], "two\n""#,
            expect![[r#"
            f.txt: edit
              +"one\n"
              +"two\n"
        "#]],
        ),
    ] {
        let edits: Vec<String> = edits
            .split("; ")
            .map(|edit| {
                let (range, text) = edit.split_at(edit.find(", \"").unwrap());
                format!(r#"{{"range": [{range}], "newText": {}}}"#, &text[2..])
            })
            .collect();
        check(
            &tree,
            &format!(
                r#"{{"encoding": "utf-16", "documents": [{{"path": "f.txt", "version": null, "edits": [{}]}}]}}"#,
                edits.join(", ")
            ),
            expected,
        );
    }
}

#[test]
fn versions_must_be_those_of_the_open_document() {
    let tree = Tree::of_text("v.txt", "one\ntwo\n");
    let edit = |version: &str| {
        format!(
            r#"{{"documents": [{{"path": "v.txt", "version": {version}, "edits": [{{"range": [[1, 0], [1, 3]], "newText": "TWO"}}]}}]}}"#
        )
    };
    check(
        &tree.clone().open("v.txt", 7),
        &edit("7"),
        expect![[r#"
        v.txt: edit
          -"two\n"
          +"TWO\n"
    "#]],
    );
    check(
        &tree.clone().open("v.txt", 7),
        &edit("6"),
        expect![[r#"
        STALE_VERSION: v.txt: the edit was made for version 6, the open document is at version 7
    "#]],
    );
    check(
        &tree.clone().open("v.txt", 7),
        &edit("null"),
        expect![[r#"
        v.txt: edit
          -"two\n"
          +"TWO\n"
    "#]],
    );
    check(
        &tree,
        &edit("0"),
        expect![[r#"
        STALE_VERSION: v.txt: the edit was made for version 0 of an open document, and none is open
    "#]],
    );
}
