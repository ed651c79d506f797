//! Whole files: writes, merges, elisions.

use expect_test::expect;

use super::{Tree, check};

#[test]
fn a_stand_in_line_in_a_whole_file_is_refused() {
    let base = "import a from './a'\nimport b from './b'\nconst app = make()\napp.get('/a', a)\napp.get('/b', b)\napp.use(audit)\napp.use(limits)\nexport default app\n";
    let proposal = |line: &str| {
        serde_json::json!({"files": [{"path": "routes.js", "text": format!("import a from './a'\nimport b from './b'\nimport c from './c'\nconst app = make()\n{line}\napp.get('/c', c)\nexport default app\n")}]}).to_string()
    };
    let tree = Tree::of_text("routes.js", base);
    check(
        &tree,
        &proposal("// ... existing routes unchanged ..."),
        expect![[r#"
        PLACEHOLDER: routes.js: line 5 of the proposal (// ... existing routes unchanged ...) stands in for real lines: 4 base lines would be removed
    "#]],
    );
    check(
        &tree,
        &proposal("  ...  "),
        expect![[r#"
        PLACEHOLDER: routes.js: line 5 of the proposal (...) stands in for real lines: 4 base lines would be removed
    "#]],
    );
    check(
        &tree,
        &proposal("app.use(...more)"),
        expect![[r#"
        routes.js: edit
          +"import c from './c'\n"
          -"app.get('/a', a)\n"
          -"app.get('/b', b)\n"
          -"app.use(audit)\n"
          -"app.use(limits)\n"
          +"app.use(...more)\n"
          +"app.get('/c', c)\n"
    "#]],
    );
    check(
        &Tree::of_text("a.pyi", "def a():\n    x = 1\n    y = 2\n    return x\n"),
        r#"{"files": [{"path": "a.pyi", "text": "def a():\n    ...\n"}]}"#,
        expect![[r#"
            a.pyi: edit
              -"    x = 1\n"
              -"    y = 2\n"
              -"    return x\n"
              +"    ...\n"
        "#]],
    );
}

#[test]
fn a_whole_file_moves_onto_todays_text() {
    let tree = Tree::of_text("todo.md", "one\ntwo\nthree\ntyped but not saved\n");
    check(
        &tree,
        r#"{"files": [{"path": "todo.md", "text": "one\nTWO\nthree\n", "base_text": "one\ntwo\nthree\n"}]}"#,
        expect![[r#"
            todo.md: edit, reanchored
              -"two\n"
              +"TWO\n"
        "#]],
    );
    check(
        &tree,
        r#"{"files": [{"path": "todo.md", "text": "one\nTWO\nthree\n", "base_text": "one\nzwei\nthree\n"}]}"#,
        expect![[r#"
            CONFLICT: todo.md has changed since the proposal was made: line 2 was changed in both
        "#]],
    );
}

#[test]
fn line_endings_stay_when_the_whole_file_is_sent() {
    check(
        &Tree::of_text("a.txt", "a\r\nb\r\nc\n"),
        r#"{"path": "a.txt", "content": "a\nB\nB2\nc\n"}"#,
        expect![[r#"
            a.txt: edit, mixed_eol
              -"b\r\n"
              +"B\r\n"
              +"B2\r\n"
        "#]],
    );
    check(
        &Tree::of_text("a.txt", "\u{FEFF}a\nb\n"),
        r#"{"path": "a.txt", "content": "\ufeffa\r\nb\r\n"}"#,
        expect![[r#"
            ! no_change
        "#]],
    );
}

#[test]
fn several_files_of_every_kind() {
    let tree = Tree::new(&[
        ("a.txt", b"one\ntwo\n"),
        ("b.bin", b"\0\xFF"),
        ("c.txt", b"cc\n"),
        ("l", b"-> a.txt"),
        ("menu.cfg", b"rate = 1\n# caf\xE9 menu\n"),
    ]);
    check(
        &tree,
        r#"{"rationale": "spring cleaning", "files": [{"path": "a.txt", "text": "one\nTWO\n"}, {"path": "b.bin", "delete": true}, {"path": "c.txt", "rename_to": "sub/d.txt", "text": "dd\n"}, {"path": "e.txt", "text": "e\n", "rationale": "new"}, {"path": "l", "delete": true}]}"#,
        expect![[r#"
            a.txt: edit
              -"two\n"
              +"TWO\n"
            b.bin: delete, binary
            c.txt: rename to sub/d.txt
              -"cc\n"
              +"dd\n"
            e.txt: create
              because "new"
              +"e\n"
            l: delete, symlink
        "#]],
    );
    check(
        &tree,
        r#"{"files": [{"path": "b.bin", "text": "hello\n"}]}"#,
        expect![[r#"
        NOT_TEXT: b.bin is a binary file (2 bytes) and cannot be edited as text
    "#]],
    );
    check(
        &tree,
        r#"{"path": "menu.cfg", "search": "rate = 1", "replace": "rate = 2"}"#,
        expect![[r#"
            ENCODING: menu.cfg is not UTF-8: byte 0xE9 at offset 14
        "#]],
    );
}

#[test]
fn what_is_not_complete_is_carried_through() {
    check(
        &Tree::new(&[("a.txt", b"a1\na2\n"), ("b.txt", b"b1\nb2\nb3\nb4\n")]),
        r#"{"complete": false, "files": [{"path": "a.txt", "text": "a1\nA2\n", "complete": true}, {"path": "b.txt", "text": "b1\nB2\nb", "complete": false}]}"#,
        expect![[r#"
            ! b.txt is not complete
            a.txt: edit
              -"a2\n"
              +"A2\n"
            b.txt: edit, truncated
              -"b2\n"
              -"b3\n"
              -"b4\n"
              +"B2\n"
              +"b"
        "#]],
    );
}

#[test]
fn a_text_that_stops_in_the_middle_is_flagged() {
    check(
        &Tree::of_text("a.txt", "one\ntwo\nthree\nfour\n"),
        r#"{"path": "a.txt", "text": "one\n2\nthr"}"#,
        expect![[r#"
            a.txt: edit, truncated
              -"two\n"
              -"three\n"
              -"four\n"
              +"2\n"
              +"thr"
        "#]],
    );
    check(
        &Tree::of_text("a.txt", "one\n"),
        r#"{"path": "a.txt", "text": "one\n"}"#,
        expect![[r#"
            ! no_change
        "#]],
    );
}
