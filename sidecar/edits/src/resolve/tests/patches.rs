//! Diffs and patches: places, counts, line endings.

use expect_test::expect;

use super::{Tree, check};

#[test]
fn an_empty_line_is_blank_context() {
    check(
        &Tree::of_text(
            "zones.ini",
            "[north]\nlat = 60\n\nlon = 24\n[south]\nlat = 60\nlon = 24\n",
        ),
        "*** Begin Patch\n*** Update File: zones.ini\n@@\n lat = 60\n\n-lon = 24\n+lon = 25\n*** End Patch\n",
        expect![[r#"
            zones.ini: edit
              -"lon = 24\n"
              +"lon = 25\n"
        "#]],
    );
}

#[test]
fn an_empty_line_between_hunks_is_no_context() {
    check(
        &Tree::of_text("a.txt", "a\nb\nc\nd\n"),
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n\n@@\n-d\n+D\n\n*** End Patch\n",
        expect![[r#"
            a.txt: edit
              -"a\n"
              +"A\n"
              -"d\n"
              +"D\n"
        "#]],
    );
}

#[test]
fn a_tolerant_match_in_two_places_is_refused() {
    check(
        &Tree::of_text(
            "port.c",
            "void open_port(int p) {\n  if (p) {\n    reset();\n    return;\n  }\n}\n\nvoid close_port(int p) {\n  while (p) {\n    if (busy(p)) {\n      reset();\n      return;\n    }\n  }\n}\n",
        ),
        "*** Begin Patch\n*** Update File: port.c\n@@\n-        reset();\n-        return;\n+        shutdown_port();\n+        return;\n*** End Patch\n",
        expect![[r#"
            AMBIGUOUS_MATCH: port.c: hunk 1 has 2 candidate places, lines 3 and 11 (not exactly, and only one may be meant)
        "#]],
    );
}

const TWO_FUNCTIONS: &str = "fn first() {\n    reset();\n}\n\nfn second() {\n    reset();\n}\n";

#[test]
fn an_anchor_line_narrows_the_place() {
    for name in ["first", "second"] {
        check(
            &Tree::of_text("a.rs", TWO_FUNCTIONS),
            &format!(
                "*** Begin Patch\n*** Update File: a.rs\n@@ fn {name}() {{\n-    reset();\n+    clear();\n*** End Patch\n"
            ),
            match name {
                "first" => expect![[r#"
                    a.rs: edit
                      -"    reset();\n"
                      +"    clear();\n"
                "#]],
                _ => expect![[r#"
                    a.rs: edit
                      -"    reset();\n"
                      +"    clear();\n"
                "#]],
            },
        );
    }
    check(
        &Tree::of_text("zones.ini", "[north]\nlon = 24\n[south]\nlon = 24\n"),
        "*** Begin Patch\n*** Update File: zones.ini\n@@ [north]\n-lon = 24\n+lon = 25\n*** End Patch\n",
        expect![[r#"
            zones.ini: edit
              -"lon = 24\n"
              +"lon = 25\n"
        "#]],
    );
    check(
        &Tree::of_text("a.rs", TWO_FUNCTIONS),
        "*** Begin Patch\n*** Update File: a.rs\n@@ fn third() {\n-    reset();\n+    clear();\n*** End Patch\n",
        expect![[r#"
            NO_MATCH: a.rs: the @@ line of hunk 1 matches no place, and nothing there resembles it
        "#]],
    );
    check(
        &Tree::of_text("a.rs", TWO_FUNCTIONS),
        "*** Begin Patch\n*** Update File: a.rs\n@@ fn second\n+    log();\n*** End Patch\n",
        expect![[r#"
            a.rs: edit
              +"    log();\n"
        "#]],
    );
}

#[test]
fn the_order_of_hunks_can_leave_one_place() {
    check(
        &Tree::of_text("a.txt", "x\nx\n"),
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+1\n@@\n-x\n+2\n*** End Patch\n",
        expect![[r#"
            a.txt: edit
              -"x\n"
              -"x\n"
              +"1\n"
              +"2\n"
        "#]],
    );
    check(
        &Tree::of_text("a.txt", "x\nx\nx\n"),
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+1\n@@\n-x\n+2\n*** End Patch\n",
        expect![[r#"
            AMBIGUOUS_MATCH: a.txt: hunk 2 has 3 matches, lines 1, 2 and 3
        "#]],
    );
    check(
        &Tree::of_text("a.txt", "a\nb\nc\n"),
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-c\n+C\n@@\n-a\n+A\n*** End Patch\n",
        expect![[r#"
            a.txt: edit
              -"a\n"
              +"A\n"
              -"c\n"
              +"C\n"
        "#]],
    );
}

#[test]
fn the_end_of_file_mark_pins_a_hunk() {
    check(
        &Tree::of_text("a.txt", "x\ny\nx\n"),
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+z\n*** End of File\n*** End Patch\n",
        expect![[r#"
            a.txt: edit
              -"x\n"
              +"z\n"
        "#]],
    );
}

#[test]
fn lines_without_context_go_to_the_end() {
    check(
        &Tree::of_text("a.txt", "x\n\ny"),
        "*** Begin Patch\n*** Update File: a.txt\n@@\n+z\n\n*** End Patch\n",
        expect![[r#"
            a.txt: edit, appended
              -"y"
              +"y\n"
              +"z"
        "#]],
    );
}

#[test]
fn line_endings_and_marks_of_the_file_stay() {
    check(
        &Tree::of_text(
            "menu.bat",
            "@echo off\r\nset A=1\r\nset B=2\r\necho %A%\r\n",
        ),
        "*** Begin Patch\n*** Update File: menu.bat\n@@\n set A=1\n-set B=2\n+set B=3\n+set C=4\n echo %A%\n*** End Patch\n",
        expect![[r#"
            menu.bat: edit
              -"set B=2\r\n"
              +"set B=3\r\n"
              +"set C=4\r\n"
        "#]],
    );
    check(
        &Tree::of_text("page.md", "\u{FEFF}# title\nbody\n"),
        "*** Begin Patch\n*** Update File: page.md\n@@\n-# title\n+# Title\n body\n*** End Patch\n",
        expect![[r##"
            page.md: edit, bom
              -"# title\n"
              +"# Title\n"
        "##]],
    );
    check(
        &Tree::of_text("page.md", "\u{FEFF}# title\nbody\n"),
        "--- a/page.md\n+++ b/page.md\n@@ -1,2 +1,2 @@\n-\u{FEFF}# title\n+\u{FEFF}# Title\n body\n",
        expect![[r##"
            page.md: edit, bom
              -"# title\n"
              +"# Title\n"
        "##]],
    );
    check(
        &Tree::of_text("strings.json", "{\n  \"a\": 1,\n  \"b\": 2\n}"),
        "*** Begin Patch\n*** Update File: strings.json\n@@\n {\n-  \"a\": 1,\n+  \"a\": 10,\n   \"b\": 2\n*** End Patch\n",
        expect![[r#"
            strings.json: edit
              -"  \"a\": 1,\n"
              +"  \"a\": 10,\n"
        "#]],
    );
    check(
        &Tree::of_text(
            "page.txt",
            "one\n\u{C}two\u{2028}still two\nthree\u{85}still three\nfour\n",
        ),
        "--- a/page.txt\n+++ b/page.txt\n@@ -3,2 +3,2 @@\n three\u{85}still three\n-four\n+FOUR\n",
        expect![[r#"
            page.txt: edit
              -"four\n"
              +"FOUR\n"
        "#]],
    );
}

#[test]
fn a_crlf_patch_fits_an_lf_file() {
    check(
        &Tree::of_text("a.txt", "a\nb\n"),
        "--- a/a.txt\r\n+++ b/a.txt\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n",
        expect![[r#"
            a.txt: edit
              -"b\n"
              +"c\n"
        "#]],
    );
}

#[test]
fn wrong_line_numbers_are_a_hint_only() {
    check(
        &Tree::of_text(
            "colors.txt",
            "red\norange\nyellow\ngreen\nblue\nindigo\nviolet\n",
        ),
        "--- a/colors.txt\n+++ b/colors.txt\n@@ -41,5 +41,5 @@\n yellow\n green\n-blue\n+navy\n indigo\n violet\n",
        expect![[r#"
            colors.txt: edit, offset, offset
              -"blue\n"
              +"navy\n"
        "#]],
    );
    check(
        &Tree::of_text("a.txt", "x\ny\nx\ny\n"),
        "--- a/a.txt\n+++ b/a.txt\n@@ -3,2 +3,2 @@\n x\n-y\n+z\n",
        expect![[r#"
            a.txt: edit
              -"y\n"
              +"z\n"
        "#]],
    );
    check(
        &Tree::of_text("a.txt", "x\ny\nx\ny\n"),
        "--- a/a.txt\n+++ b/a.txt\n@@ -2,2 +2,2 @@\n x\n-y\n+z\n",
        expect![[r#"
            AMBIGUOUS_MATCH: a.txt: hunk 1 has 2 matches, lines 1 and 3
        "#]],
    );
}

#[test]
fn wrong_counts_are_recounted() {
    check(
        &Tree::of_text("abc.txt", "a\nb\nc\nd\ne\n"),
        "--- a/abc.txt\n+++ b/abc.txt\n@@ -2,5 +2,5 @@\n b\n-c\n+C\n d\n",
        expect![[r#"
            abc.txt: edit, recounted
              -"c\n"
              +"C\n"
        "#]],
    );
    check(
        &Tree::of_text("abc.txt", "a\nb\nc\nd\ne\n"),
        "--- a/abc.txt\n+++ b/abc.txt\n@@ -1,1 +1,1 @@\n a\n-b\n+B\n@@ -4,9 +4,9 @@\n-d\n+D\n e\n",
        expect![[r#"
            abc.txt: edit, recounted
              -"b\n"
              +"B\n"
              -"d\n"
              +"D\n"
        "#]],
    );
    check(
        &Tree::of_text("abc.txt", "a\nb\nc\nd\ne\n"),
        "--- a/abc.txt\n+++ b/abc.txt\n@@ -2,5 +2,5 @@\n b\n-c\n+C",
        expect![[r#"
            INCOMPLETE: line 6: hunk 1 ends in the middle of a line (5 declared, 2 found)
        "#]],
    );
}

#[test]
fn last_newlines_follow_the_marker() {
    let with = Tree::of_text("a.txt", "a\nb\n");
    let without = Tree::of_text("a.txt", "a\nb");
    let header = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n";
    let no_newline = "\\ No newline at end of file\n";
    check(
        &with,
        &format!("{header}-b\n+c\n{no_newline}"),
        expect![[r#"
        a.txt: edit
          -"b\n"
          +"c"
    "#]],
    );
    check(
        &without,
        &format!("{header}-b\n{no_newline}+c\n"),
        expect![[r#"
        a.txt: edit
          -"b"
          +"c\n"
    "#]],
    );
    check(
        &without,
        &format!("{header}-b\n{no_newline}+c\n{no_newline}"),
        expect![[r#"
            a.txt: edit
              -"b"
              +"c"
        "#]],
    );
    check(
        &without,
        &format!("{header}-b\n+c\n"),
        expect![[r#"
        a.txt: edit
          -"b"
          +"c"
    "#]],
    );
}

#[test]
fn git_headers_say_what_happens_to_files() {
    let tree = Tree::new(&[
        ("old name.txt", b"a\nb\n"),
        ("run.sh", b"x\n"),
        ("gone", b"z\n"),
    ]);
    check(
        &tree,
        "diff --git a/old name.txt b/new name.txt\nsimilarity index 66%\nrename from old name.txt\nrename to new name.txt\nindex 1..2 100644\n--- a/old name.txt\t\n+++ b/new name.txt\t\n@@ -1,2 +1,2 @@\n a\n-b\n+c\ndiff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755\ndiff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\ndiff --git a/empty b/empty\nnew file mode 100755\nindex 0000000..e69de29\ndiff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n\\ No newline at end of file\ndiff --git a/run.sh b/copy.sh\nsimilarity index 100%\ncopy from run.sh\ncopy to copy.sh\n",
        expect![[r#"
            old name.txt: rename to new name.txt
              -"b\n"
              +"c\n"
            run.sh: mode 755
            gone: delete
              -"z\n"
            empty: create, mode 755
            new: create, mode 644
              +"n"
            copy.sh: create
              +"x\n"
        "#]],
    );
    check(
        &Tree::new(&[("café.txt", b"x\n")]),
        "diff --git \"a/caf\\303\\251.txt\" \"b/caf\\303\\251.txt\"\n--- \"a/caf\\303\\251.txt\"\n+++ \"b/caf\\303\\251.txt\"\n@@ -1 +1 @@\n-x\n+y\n",
        expect![[r#"
            café.txt: edit
              -"x\n"
              +"y\n"
        "#]],
    );
    check(
        &Tree::new(&[("x", b"x\n")]),
        "diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\nabc\n",
        expect![[r#"
            UNSUPPORTED: line 3: x is a binary patch
        "#]],
    );
    check(
        &Tree::new(&[("x", b"x\n")]),
        "diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n",
        expect![[r#"
            NOT_TEXT: line 1: x differs as a binary file
        "#]],
    );
    check(
        &Tree::new(&[("x", b"x\0\n")]),
        "diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0\nBinary files a/x and /dev/null differ\n",
        expect![[r#"
            x: delete, binary
        "#]],
    );
    check(
        &Tree::default(),
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n",
        expect![[r#"
            UNSUPPORTED: line 2: l is a symbolic link
        "#]],
    );
}

#[test]
fn a_new_file_does_not_overwrite_and_a_deleted_one_must_be_known() {
    let tree = Tree::of_text("a.txt", "a\nb\n");
    check(
        &tree,
        "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+n\n",
        expect![[r#"
        EXISTS: a.txt exists already
    "#]],
    );
    check(
        &tree,
        "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        expect![[r#"
            MALFORMED_PROPOSAL: a.txt: the patch deletes the file, but does not hold 1 of its lines
        "#]],
    );
    check(
        &tree,
        "--- a/no.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        expect![[r#"
        NOT_FOUND: no.txt does not exist
    "#]],
    );
}

#[test]
fn a_patch_that_is_applied_already_says_so() {
    check(
        &Tree::of_text("a.txt", "first line\nnew line\n"),
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n first line\n-old line\n+new line\n",
        expect![[r#"
            ALREADY_APPLIED: a.txt: hunk 1 is applied already: line 1 reads as it should afterwards
        "#]],
    );
}

#[test]
fn plain_headers_without_prefixes_or_with_stamps() {
    check(
        &Tree::of_text("src/a.txt", "a\n"),
        "--- src/a.txt\t2024-01-01 00:00:00.000000000 +0000\n+++ src/a.txt\t2024-01-02 00:00:00 +0000\n@@ -1 +1 @@\n-a\n+b\n",
        expect![[r#"
            src/a.txt: edit
              -"a\n"
              +"b\n"
        "#]],
    );
    check(
        &Tree::of_text("src/a.txt", "a\n"),
        "Here is the change:\n\n```diff\n--- src/a.txt.orig 2024-01-01 00:00:00\n+++ src/a.txt 2024-01-02 00:00:00\n@@ -1 +1 @@\n-a\n+b\n```\n\nThat is all.\n- really\n",
        expect![[r#"
            src/a.txt: edit
              -"a\n"
              +"b\n"
        "#]],
    );
    check(
        &Tree::of_text("a.txt", "a\n"),
        "--- a/a.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-a\n+b\n",
        expect![[r#"
            MALFORMED_PROPOSAL: line 1: the headers name two files, "a.txt" and "b.txt"
        "#]],
    );
}

#[test]
fn insertions_without_context_go_where_the_header_says() {
    check(
        &Tree::of_text("a.txt", "a\nb\n"),
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,0 +2 @@\n+new\n",
        expect![[r#"
            a.txt: edit
              +"new\n"
        "#]],
    );
    check(
        &Tree::of_text("a.txt", "a\nb\n"),
        "--- a/a.txt\n+++ b/a.txt\n@@ -7,0 +8 @@\n+new\n",
        expect![[r#"
            OUT_OF_RANGE: a.txt: hunk 1 adds lines after line 7, but the file has 2
        "#]],
    );
}

#[test]
fn look_alikes_in_hunks_keep_the_files_spelling() {
    check(
        &Tree::of_text("a.md", "x\nsay “hi” – now\ny\n"),
        "--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,3 @@\n x\n-say \"hi\" - now\n+say \"ho\" - now\n y\n",
        expect![[r#"
            a.md: edit, lookalike, inexact:dashes, inexact:quotes
              -"say “hi” – now\n"
              +"say “ho” – now\n"
        "#]],
    );
}
