//! A tree of files in memory, for these tests.

use expect_test::expect;

use super::{Tree, check};

#[test]
fn sections_see_what_earlier_ones_made() {
    check(
        &Tree::of_text("s.txt", "alpha\nbeta\n"),
        "*** Begin Patch\n*** Update File: s.txt\n@@\n-alpha\n+ALPHA\n beta\n*** Update File: s.txt\n*** Move to: t.txt\n@@\n ALPHA\n-beta\n+BETA\n*** Update File: t.txt\n@@\n BETA\n+gamma\n*** End Patch\n",
        expect![[r#"
            s.txt: rename to t.txt
              -"alpha\n"
              -"beta\n"
              +"ALPHA\n"
              +"BETA\n"
              +"gamma\n"
        "#]],
    );
}

fn some() -> Tree {
    Tree::new(&[
        ("src.txt", b"alpha\n"),
        ("dst.txt", b"important\n"),
        ("me.txt", b"m\n"),
        ("d/x.txt", b"x\n"),
    ])
}

#[test]
fn nothing_is_moved_or_added_over_what_exists() {
    for (section, expected) in [
        (
            "*** Update File: src.txt\n*** Move to: dst.txt\n@@\n-alpha\n+beta\n",
            expect![[r#"
                EXISTS: dst.txt exists already
            "#]],
        ),
        (
            "*** Update File: me.txt\n*** Move to: ./me.txt\n@@\n-m\n+M\n",
            expect![[r#"
                me.txt: edit
                  -"m\n"
                  +"M\n"
            "#]],
        ),
        (
            "*** Add File: dst.txt\n+new\n",
            expect![[r#"
            EXISTS: dst.txt exists already
        "#]],
        ),
        (
            "*** Delete File: d\n",
            expect![[r#"
            IS_DIRECTORY: d is a folder with 1 file
        "#]],
        ),
        (
            "*** Delete File: dst.txt\n*** Add File: dst.txt\n+new\n",
            expect![[r#"
                dst.txt: edit, overwrite
                  -"important\n"
                  +"new\n"
            "#]],
        ),
        (
            "*** Add File: dst.txt/x\n+new\n",
            expect![[r#"
                NOT_DIRECTORY: dst.txt/x
            "#]],
        ),
        (
            "*** Add File: d\n+new\n",
            expect![[r#"
            IS_DIRECTORY: d is a folder with 1 file
        "#]],
        ),
        (
            "*** Add File: new/a.txt\n+new\n*** Add File: new\n+no\n",
            expect![[r#"
                IS_DIRECTORY: new is a folder with 1 file
            "#]],
        ),
        (
            "*** Update File: src.txt\n*** Move to: tmp\n*** Update File: dst.txt\n*** Move to: src.txt\n*** Update File: tmp\n*** Move to: dst.txt\n",
            expect![[r#"
                src.txt: edit, overwrite
                  -"alpha\n"
                  +"important\n"
                dst.txt: edit, overwrite
                  -"important\n"
                  +"alpha\n"
            "#]],
        ),
        (
            "*** Add File: tmp\n+x\n*** Delete File: tmp\n",
            expect![[r#"
                nothing
            "#]],
        ),
        (
            "*** Delete File: src.txt\n*** Delete File: src.txt\n",
            expect![[r#"
                NOT_FOUND: src.txt does not exist
            "#]],
        ),
    ] {
        check(
            &some(),
            &format!("*** Begin Patch\n{section}*** End Patch\n"),
            expected,
        );
    }
}

fn options_tree() -> Tree {
    Tree::new(&[
        ("f.txt", b"ORIGINAL\n"),
        ("g.txt", b"other\n"),
        ("dir/x.txt", b"x\n"),
        ("dir/sub/y.bin", b"\0"),
    ])
}

#[test]
fn file_operations_follow_their_options() {
    for (documents, expected) in [
        (
            r#"{"create": "f.txt"}"#,
            expect![[r#"
            EXISTS: f.txt exists already
        "#]],
        ),
        (
            r#"{"create": "f.txt", "options": {"ignoreIfExists": true}}"#,
            expect![[r#"
            nothing
        "#]],
        ),
        (
            r#"{"create": "f.txt", "options": {"overwrite": true}}"#,
            expect![[r#"
            f.txt: edit, overwrite
              -"ORIGINAL\n"
        "#]],
        ),
        (
            r#"{"create": "f.txt", "options": {"overwrite": true, "ignoreIfExists": true}}"#,
            expect![[r#"
                f.txt: edit, overwrite
                  -"ORIGINAL\n"
            "#]],
        ),
        (
            r#"{"rename": ["g.txt", "f.txt"]}"#,
            expect![[r#"
            EXISTS: f.txt exists already
        "#]],
        ),
        (
            r#"{"rename": ["g.txt", "f.txt"], "options": {"ignoreIfExists": true}}"#,
            expect![[r#"
                nothing
            "#]],
        ),
        (
            r#"{"rename": ["g.txt", "f.txt"], "options": {"overwrite": true}}"#,
            expect![[r#"
                g.txt: delete
                  -"other\n"
                f.txt: edit, overwrite
                  -"ORIGINAL\n"
                  +"other\n"
            "#]],
        ),
        (
            r#"{"rename": ["dir", "folder"]}"#,
            expect![[r#"
            dir/sub/y.bin: rename to folder/sub/y.bin, binary
            dir/x.txt: rename to folder/x.txt
        "#]],
        ),
        (
            r#"{"rename": ["dir", "dir/sub/dir"]}"#,
            expect![[r#"
            MALFORMED_PROPOSAL: dir: a folder cannot be moved into itself (dir/sub/dir)
        "#]],
        ),
        (
            r#"{"delete": "dir"}"#,
            expect![[r#"
            IS_DIRECTORY: dir is a folder with 2 files
        "#]],
        ),
        (
            r#"{"delete": "dir", "options": {"recursive": true}}"#,
            expect![[r#"
            dir/sub/y.bin: delete, binary
            dir/x.txt: delete
              -"x\n"
        "#]],
        ),
        (
            r#"{"delete": "nope.txt"}"#,
            expect![[r#"
            NOT_FOUND: nope.txt does not exist
        "#]],
        ),
        (
            r#"{"delete": "nope.txt", "options": {"ignoreIfNotExists": true}}"#,
            expect![[r#"
                nothing
            "#]],
        ),
        (
            r#"{"kind": "teleport", "uri": "f.txt"}, {"path": "g.txt", "version": null, "edits": [{"range": [[0, 0], [0, 5]], "newText": "OTHER"}]}"#,
            expect![[r#"
                MALFORMED_PROPOSAL: line 1: documents[0].kind: unknown kind "teleport": it is create, rename or delete
            "#]],
        ),
    ] {
        check(
            &options_tree(),
            &format!(r#"{{"encoding": "utf-16", "documents": [{documents}]}}"#),
            expected,
        );
    }
}

#[test]
fn the_order_of_document_changes_is_binding() {
    let tree = Tree::of_text("Test.scala", "class Test {\n}\n");
    let edit = |path| {
        format!(
            r#"{{"path": "{path}", "version": null, "edits": [{{"range": [[0, 6], [0, 10]], "newText": "Hi"}}]}}"#
        )
    };
    let rename = r#"{"rename": ["Test.scala", "Hi.scala"]}"#;
    for (documents, expected) in [
        (
            format!("{}, {rename}", edit("Test.scala")),
            expect![[r#"
            Test.scala: rename to Hi.scala
              -"class Test {\n"
              +"class Hi {\n"
        "#]],
        ),
        (
            format!("{rename}, {}", edit("Hi.scala")),
            expect![[r#"
            Test.scala: rename to Hi.scala
              -"class Test {\n"
              +"class Hi {\n"
        "#]],
        ),
        (
            format!("{rename}, {}", edit("Test.scala")),
            expect![[r#"
                NOT_FOUND: Test.scala does not exist
            "#]],
        ),
    ] {
        check(
            &tree,
            &format!(r#"{{"documents": [{documents}]}}"#),
            expected,
        );
    }
    check(
        &tree,
        r#"{"documentChanges": [{"textDocument": {"uri": "Test.scala", "version": null}, "edits": [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "newText": "// one\n"}]}, {"textDocument": {"uri": "Test.scala", "version": null}, "edits": [{"range": {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 10}}, "newText": "Hi"}]}]}"#,
        expect![[r#"
            Test.scala: edit
              -"class Test {\n"
              +"// one\n"
              +"class Hi {\n"
        "#]],
    );
}

#[test]
fn links_are_followed_inside_and_named() {
    let tree = Tree::new(&[
        ("docs/guide.md", b"hello\nworld\n"),
        ("README.md", b"-> docs/guide.md"),
        ("out.md", b"-> ../secret"),
        ("loop", b"-> loop"),
        ("dead", b"-> nowhere"),
    ]);
    let edit = |path| format!(r#"{{"path": "{path}", "search": "world", "replace": "there"}}"#);
    check(
        &tree,
        &edit("README.md"),
        expect![[r#"
        docs/guide.md: edit, symlink:README.md
          -"world\n"
          +"there\n"
    "#]],
    );
    check(
        &tree,
        &edit("out.md"),
        expect![[r#"
        OUTSIDE_WORKSPACE: out.md -> ../secret is a symbolic link that leads out of the workspace
    "#]],
    );
    check(
        &tree,
        &edit("loop"),
        expect![[r#"
        SYMLINK_LOOP: loop -> loop is a symbolic link in a loop
    "#]],
    );
    check(
        &tree,
        &edit("dead"),
        expect![[r#"
        NOT_FOUND: nowhere does not exist
    "#]],
    );
    check(
        &tree,
        r#"{"path": "README.md", "delete": true}"#,
        expect![[r#"
        README.md: delete, symlink
    "#]],
    );
}
