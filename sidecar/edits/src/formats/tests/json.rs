//! JSON edits by tables.

use expect_test::expect;

use super::{Format::Json, check};

#[test]
fn shapes_of_agents() {
    for (input, expected) in [
        (
            r#"{"rationale": "why", "edits": [{"path": "a", "search": "x", "replace": "y", "rationale": "this"}]}"#,
            expect![[r#"
                because "why"
                "a" replace "x" by "y" because "this"
            "#]],
        ),
        (
            r#"[{"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": true}]"#,
            expect![[r#"
                "a" replace all "x" by "y"
            "#]],
        ),
        (
            r#"{"file_path": "a", "edits": [{"old_text": "x", "new_text": "y"}, {"oldText": "p", "newText": "q"}]}"#,
            expect![[r#"
                "a" replace "x" by "y"
                "a" replace "p" by "q"
            "#]],
        ),
        (
            r#"{"path": "a", "content": "text"}"#,
            expect![[r#"
            "a" write "text"
        "#]],
        ),
        (
            r#"{"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"}"#,
            expect![[r#"
                "a" replace "x" by "y"
            "#]],
        ),
        (
            r#"{"command": "create", "path": "a", "file_text": "x"}"#,
            expect![[r#"
                "a" write "x"
            "#]],
        ),
        (
            r#"{"command": "insert", "path": "a", "insert_line": 3, "insert_text": "x\n"}"#,
            expect![[r#"
                "a" utf-16 edits of version None 3:0-3:0 "x\n"
            "#]],
        ),
        (
            r#"{"files": [{"path": "a", "text": "t", "base_text": "b", "complete": false}, {"path": "b", "delete": true}, {"path": "c", "rename_to": "d"}, {"path": "e", "mode": "0755"}]}"#,
            expect![[r#"
                "a" write "t" against "b" incomplete
                "b" Delete { recursive: false, ignore_if_missing: false }
                "c" Rename { to: "d", overwrite: false, ignore_if_exists: false }
                "e" SetMode { mode: 493 }
            "#]],
        ),
        (
            "```json\n{\"complete\": false, \"files\": [{\"path\": \"a\", \"text\": \"t\"}]}\n```\n",
            expect![[r#"
                incomplete
                "a" write "t"
            "#]],
        ),
        (
            r#"{"patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}"#,
            expect![[r#"
                "x" patch
                  line 3 at 1 "-a" "+b"
            "#]],
        ),
        (
            r#"{"format": "apply_patch", "text": "*** Begin Patch\n*** Delete File: a\n*** End Patch\n"}"#,
            expect![[r#"
                "a" Delete { recursive: false, ignore_if_missing: false }
            "#]],
        ),
    ] {
        check(Json, input, expected);
    }
}

#[test]
fn shapes_of_language_servers() {
    for (input, expected) in [
        (
            r#"{"changes": {"file:///w/a": [{"range": {"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 2}}, "newText": "x"}], "file:///w/b": []}}"#,
            expect![[r#"
                "file:///w/a" utf-16 edits of version None 0:1-0:2 "x"
                "file:///w/b" utf-16 edits of version None
            "#]],
        ),
        (
            r#"{"label": "Rename", "edit": {"changes": {}, "documentChanges": [{"textDocument": {"uri": "file:///w/a", "version": 3}, "edits": [{"range": {"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 2}}, "newText": "x", "annotationId": "n"}]}, {"kind": "create", "uri": "file:///w/n", "options": {"ignoreIfExists": true}}, {"kind": "rename", "oldUri": "file:///w/n", "newUri": "file:///w/m"}, {"kind": "delete", "uri": "file:///w/m", "options": {"recursive": true, "ignoreIfNotExists": true}}]}}"#,
            expect![[r#"
                because "Rename"
                "file:///w/a" utf-16 edits of version Some(3) 0:1-0:2 "x"
                "file:///w/n" Create { text: "", overwrite: false, ignore_if_exists: true }
                "file:///w/n" Rename { to: "file:///w/m", overwrite: false, ignore_if_exists: false }
                "file:///w/m" Delete { recursive: true, ignore_if_missing: true }
            "#]],
        ),
        (
            r#"{"encoding": "utf-8", "documents": [{"path": "a", "version": null, "edits": [{"range": [[0, 1], [0, 2]], "newText": "x"}]}, {"create": "n"}, {"rename": ["n", "m"]}, {"delete": "m"}]}"#,
            expect![[r#"
                "a" utf-8 edits of version None 0:1-0:2 "x"
                "n" Create { text: "", overwrite: false, ignore_if_exists: false }
                "n" Rename { to: "m", overwrite: false, ignore_if_exists: false }
                "m" Delete { recursive: false, ignore_if_missing: false }
            "#]],
        ),
        (
            r#"{"textDocument": {"uri": "a", "version": 1}, "edits": [{"range": [[0, 1], [0, 4294967296]], "newText": "x"}]}"#,
            expect![[r#"
                "a" utf-16 edits of version Some(1) 0:1-0:4294967295 "x"
            "#]],
        ),
    ] {
        check(Json, input, expected);
    }
}

#[test]
fn what_is_not_understood_is_refused_by_line() {
    for (input, expected) in [
        (
            "{\"edits\": [",
            expect![[r#"
            INCOMPLETE: line 1: the JSON ends before it is complete
        "#]],
        ),
        (
            "{\"edits\": nope}",
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: this is not JSON: expected ident at line 1 column 12
        "#]],
        ),
        (
            "{\"edits\": [\n  {\"path\": \"a\"},\n  {}\n]}",
            expect![[r#"
                MALFORMED_PROPOSAL: line 2: edits[0]: there is no edit in it
            "#]],
        ),
        (
            "{\"edits\": [\n  {\"path\": \"a\", \"search\": \"x\", \"replace\": \"y\"},\n  {\"path\": \"a\",\n   \"search\": 3,\n   \"replace\": \"y\"}\n]}",
            expect![[r#"
                MALFORMED_PROPOSAL: line 4: edits[1].search: a string is expected
            "#]],
        ),
        (
            r#"{"edits": [{"path": "a", "search": "x"}]}"#,
            expect![[r#"
                MALFORMED_PROPOSAL: line 1: edits[0]: it has no "replace"
            "#]],
        ),
        (
            r#"{"path": "a", "text": "x", "delete": true}"#,
            expect![[r#"
                MALFORMED_PROPOSAL: line 1: it says several things at once
            "#]],
        ),
        (
            r#"{"path": "a", "text": null}"#,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: there is no edit in it
        "#]],
        ),
        (
            r#"{"search": "a", "replace": "b"}"#,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: it names no path
        "#]],
        ),
        (
            r#"{"documents": [{"kind": "teleport", "uri": "a"}]}"#,
            expect![[r#"
                MALFORMED_PROPOSAL: line 1: documents[0].kind: unknown kind "teleport": it is create, rename or delete
            "#]],
        ),
        (
            r#"{"documents": [{"rename": ["a"]}]}"#,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: documents[0].rename: two paths are expected
        "#]],
        ),
        (
            r#"{"encoding": "utf-7", "documents": []}"#,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: encoding: unknown position encoding "utf-7": use utf-8, utf-16 or utf-32
        "#]],
        ),
        (
            r#"{"edits": []}"#,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: there is no edit in it
        "#]],
        ),
        (
            r#"{"edits": 3}"#,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: edits: an array is expected
        "#]],
        ),
        (
            r#"[3]"#,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: [0]: an object is expected
        "#]],
        ),
        (
            r#"{"path": "a", "edits": [{"range": [[0, 1.5], [0, 2]], "newText": "x"}]}"#,
            expect![[r#"
                INVALID_POSITION: line 1: edits[0].range: 1.5 is no line or column
            "#]],
        ),
        (
            r#"{"path": "a", "edits": [{"range": [[0, 1], [0, 2]], "snippet": {"value": "$0"}}]}"#,
            expect![[r#"
                UNSUPPORTED: line 1: edits[0].snippet: a snippet is no plain text
            "#]],
        ),
        (
            r#"{"command": "undo_edit", "path": "a"}"#,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: command: unknown command "undo_edit": it is str_replace, create or insert
        "#]],
        ),
        (
            "{\n\"patch\": \"*** Begin Patch\\n*** Update File: a\\n@@\\n-x\\n\"}",
            expect![[r#"
                INCOMPLETE: line 1: line 4 of the text inside: the patch has no *** End Patch
            "#]],
        ),
        (
            r#"{"path": "a", "mode": "9"}"#,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: mode: octal permission bits such as "0755" are expected
        "#]],
        ),
    ] {
        check(Json, input, expected);
    }
    check(
        Json,
        &"[".repeat(100_000),
        expect![[r#"
        MALFORMED_PROPOSAL: line 1: this is not JSON: recursion limit exceeded at line 1 column 128
    "#]],
    );
}
