//! Unified diffs by tables.

use expect_test::expect;

use super::{super::ParseOptions, Format::UnifiedDiff, check, check_with};

#[test]
fn a_mailed_patch() {
    check(
        UnifiedDiff,
        "From 1234 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n---\n a.txt | 2 +-\n 1 file changed\n\ndiff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,2 @@ fn main()\n a\n--- sql\n-b\n+++ c\n-- \n2.39.5\n\n",
        expect![[r#"
            "a.txt" patch
              line 12 at 1 " a" "--- sql" "-b" "+++ c"
        "#]],
    );
}

#[test]
fn blank_context_lines_may_have_lost_their_space() {
    check(
        UnifiedDiff,
        "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-b\n+c\n",
        expect![[r#"
            "x" patch
              line 3 at 1 " a" " " "-b" "+c"
            "y" patch
              line 11 at 1 "-b" "+c"
        "#]],
    );
}

#[test]
fn bodies_longer_or_shorter_than_declared() {
    check(
        UnifiedDiff,
        "--- a/x\n+++ b/x\n@@ -1,9 +1,1 @@\n-a\n+b\n@@ -5 +5 @@\n-c\n+d\n e\n\n+f\n--- a/y\n+++ b/y\n@@ -1,7 +1,7 @@\n-a\n+b\n\n",
        expect![[r#"
            "x" patch
              line 3 at 1 "-a" "+b"
              line 6 at 5 "-c" "+d" " e" " " "+f", recounted
            "y" patch
              line 14 at 1 loose 1 "-a" "+b" " ", recounted
        "#]],
    );
}

#[test]
fn paths_with_options() {
    let diff = |old: &str, new: &str| format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n");
    for (old, new, expected) in [
        (
            "a/x",
            "b/x",
            expect![[r#"
            "x" patch
              line 3 at 1 "-a" "+b"
        "#]],
        ),
        (
            "i/x",
            "w/x",
            expect![[r#"
            "x" patch
              line 3 at 1 "-a" "+b"
        "#]],
        ),
        (
            "x",
            "x",
            expect![[r#"
            "x" patch
              line 3 at 1 "-a" "+b"
        "#]],
        ),
        (
            "src/x",
            "src/x",
            expect![[r#"
            "src/x" patch
              line 3 at 1 "-a" "+b"
        "#]],
        ),
        (
            "old/src/x",
            "new/src/x",
            expect![[r#"
            "src/x" patch
              line 3 at 1 "-a" "+b"
        "#]],
        ),
        (
            "x.orig",
            "x",
            expect![[r#"
            "x" patch
              line 3 at 1 "-a" "+b"
        "#]],
        ),
        (
            "a/b",
            "/dev/null",
            expect![[r#"
            "b" patch to nothing
              line 3 at 1 "-a" "+b"
        "#]],
        ),
        (
            "/dev/null",
            "b/b",
            expect![[r#"
            MALFORMED_PROPOSAL: line 3: b is new, and its hunk has lines that were there before
        "#]],
        ),
        (
            "/dev/null",
            "/dev/null",
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: this part names no file
        "#]],
        ),
        (
            "\"a/\\t\\\"q\\\"\"",
            "\"b/\\t\\\"q\\\"\"",
            expect![[r#"
            "\t\"q\"" patch
              line 3 at 1 "-a" "+b"
        "#]],
        ),
    ] {
        check(UnifiedDiff, &diff(old, new), expected);
    }
    for (strip, expected) in [
        (
            0,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: the headers name two files, "a/b/x" and "b/b/x"
        "#]],
        ),
        (
            1,
            expect![[r#"
            "b/x" patch
              line 3 at 1 "-a" "+b"
        "#]],
        ),
        (
            2,
            expect![[r#"
            "x" patch
              line 3 at 1 "-a" "+b"
        "#]],
        ),
        (
            3,
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: "a/b/x" has fewer than 3 leading components
        "#]],
        ),
    ] {
        let options = ParseOptions { strip: Some(strip) };
        check_with(&options, UnifiedDiff, &diff("a/b/x", "b/b/x"), expected);
    }
}

#[test]
fn hunk_headers_may_have_no_numbers() {
    check(
        UnifiedDiff,
        "--- a/x\n+++ b/x\n@@ ... @@\n a\n-b\n+c\n@@\n-d\n",
        expect![[r#"
            "x" patch
              line 3 " a" "-b" "+c"
              line 7 "-d"
        "#]],
    );
}

#[test]
fn a_path_is_left_before_another_file_takes_it() {
    let rename = |from: &str, to: &str| {
        format!(
            "diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n"
        )
    };
    check(
        UnifiedDiff,
        &[rename("c", "a"), rename("a", "b"), rename("b", "z")].concat(),
        expect![[r#"
            "b" Rename { to: "z", overwrite: false, ignore_if_exists: false }
            "a" Rename { to: "b", overwrite: false, ignore_if_exists: false }
            "c" Rename { to: "a", overwrite: false, ignore_if_exists: false }
        "#]],
    );
    check(
        UnifiedDiff,
        &[rename("a", "b"), rename("b", "a")].concat(),
        expect![[r#"
            "b" Rename { to: "a", overwrite: false, ignore_if_exists: false }
            "a" Rename { to: "b", overwrite: false, ignore_if_exists: false }
        "#]],
    );
    check(
        UnifiedDiff,
        "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+new\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
        expect![[r#"
            "x" patch to nothing
              line 7 at 1 "-old"
            "x" Create { text: "new\n", overwrite: false, ignore_if_exists: false }
        "#]],
    );
}

#[test]
fn malformed_diffs_are_refused_by_line() {
    for (input, expected) in [
        (
            "@@ -1 +1 @@\n-a\n+b\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: a hunk stands before any file header
        "#]],
        ),
        (
            "--- a/x\n+++ b/x\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: the diff of x has no hunk
        "#]],
        ),
        (
            "--- a/x\n+++ b/x\n@@ ... @@\n-a\n+b\n",
            expect![[r#"
                "x" patch
                  line 3 "-a" "+b"
            "#]],
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\nprose\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 3: hunk 1 has no lines (1 declared, 0 found)
        "#]],
        ),
        (
            "--- a/x",
            expect![[r#"
            INCOMPLETE: line 1: the diff ends inside a file header
        "#]],
        ),
        (
            "diff --git a/x b/x\nnew mode 777777\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 2: "777777" is no file mode
        "#]],
        ),
        (
            "diff --git a/x b/x\nrename from x\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: a rename or copy needs both its from and its to line
        "#]],
        ),
        (
            "diff --git a/x b/x\nindex 1..2\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: the diff of x has no hunk
        "#]],
        ),
        (
            "diff --git a b c d e\nindex 1..2\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: the two names of this line cannot be told apart
        "#]],
        ),
        (
            "diff --git a/s b/s\nindex 1..2 160000\n--- a/s\n+++ b/s\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n",
            expect![[r#"
                "s" patch
                  line 5 at 1 "-Subproject commit 1" "+Subproject commit 2"
            "#]],
        ),
        (
            "--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
            expect![[r#"
                MALFORMED_PROPOSAL: line 3: x is new, and its hunk has lines that were there before
            "#]],
        ),
        (
            "--- a/x\n+++ b/x\n@@ -99999999999999999999 +1 @@\n-a\n+b\n",
            expect![[r#"
                MALFORMED_PROPOSAL: line 3: "@@ -99999999999999999999 +1 @@" is no hunk header
            "#]],
        ),
        (
            "--- a/x\n+++ b/x\n@@ -18446744073709551615,18446744073709551615 +1,18446744073709551615 @@\n-a\n+b\n",
            expect![[r#"
                "x" patch
                  line 3 at 18446744073709551615 "-a" "+b", recounted
            "#]],
        ),
        (
            "--- /dev/null\n+++ b/x\n@@ -0,0 +1,18446744073709551615 @@\n+b\n",
            expect![[r#"
                "x" Create { text: "b\n", overwrite: false, ignore_if_exists: false }, recounted
            "#]],
        ),
    ] {
        check(UnifiedDiff, input, expected);
    }
}
