//! `*** Begin Patch` by tables.

use expect_test::expect;

use super::{Format::ApplyPatch, check};

#[test]
fn all_sections_in_a_heredoc() {
    check(
        ApplyPatch,
        "I will run:\n\napply_patch <<'EOF'\n*** Begin Patch\n*** Environment ID: x\n*** Add File: new dir/a.txt\n+one\n+\n+*** End Patch\n*** Update File: b.txt\n*** Move to: c.txt\n@@ class A\n@@ def f(self):\n context\n-old\n+new\n\n@@ -3,2 +3,2 @@ fn x()\n+tail\n*** End of File\n\n*** Delete File: d.txt\n*** End Patch\nEOF\n",
        expect![[r#"
            "new dir/a.txt" Create { text: "one\n\n*** End Patch\n", overwrite: false, ignore_if_exists: false }
            "b.txt" patch
              line 12 after "class A" after "def f(self):" loose 1 " context" "-old" "+new" " "
              line 18 at 3 at end "+tail"
            "b.txt" Rename { to: "c.txt", overwrite: false, ignore_if_exists: false }
            "d.txt" Delete { recursive: false, ignore_if_missing: false }
        "#]],
    );
}

#[test]
fn an_added_files_empty_lines_may_lack_the_sign() {
    check(
        ApplyPatch,
        "*** Begin Patch\n*** Add File: a.txt\n+one\n\n+two\n\n*** Add File: b.txt\n*** End Patch\n",
        expect![[r#"
            "a.txt" Create { text: "one\n\ntwo\n", overwrite: false, ignore_if_exists: false }
            "b.txt" Create { text: "", overwrite: false, ignore_if_exists: false }
        "#]],
    );
}

#[test]
fn a_rename_needs_no_hunk() {
    check(
        ApplyPatch,
        "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch\n*** Begin Patch\n*** Delete File: c\n*** End Patch\n",
        expect![[r#"
            "a" Rename { to: "b", overwrite: false, ignore_if_exists: false }
            "c" Delete { recursive: false, ignore_if_missing: false }
        "#]],
    );
}

#[test]
fn malformed_patches_are_refused_by_line() {
    for (body, expected) in [
        (
            "*** Update File: a\n@@\n-x\n+y\n",
            expect![[r#"
            INCOMPLETE: line 5: the patch has no *** End Patch
        "#]],
        ),
        (
            "*** Add File: a\n+x\ny\n*** End Patch\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 4: "y" is not expected here
        "#]],
        ),
        (
            "*** Update File: a\n*** End Patch\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 2: the update of a has no hunk
        "#]],
        ),
        (
            "*** Update File:\n@@\n-x\n*** End Patch\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 2: the section names no path
        "#]],
        ),
        (
            "*** Update File: a\n@@\n x\n*** End Patch\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 3: the hunk removes nothing and adds nothing
        "#]],
        ),
        (
            "*** Update File: a\n@@\n*x\n*** End Patch\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 4: "*x" is not expected here
        "#]],
        ),
        (
            "*** Replace File: a\n*** End Patch\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 2: "*** Replace File: a" is not expected here
        "#]],
        ),
        (
            "*** Update File: a\n@@\n-x\n*** Move to: b\n*** End Patch\n",
            expect![[r#"
                MALFORMED_PROPOSAL: line 5: "*** Move to: b" is not expected here
            "#]],
        ),
        (
            "*** End Patch\n",
            expect![[r#"
            MALFORMED_PROPOSAL: line 1: the patch has no section
        "#]],
        ),
    ] {
        check(ApplyPatch, &format!("*** Begin Patch\n{body}"), expected);
    }
    check(
        ApplyPatch,
        "no patch",
        expect![[r#"
        MALFORMED_PROPOSAL: line 1: there is no *** Begin Patch line
    "#]],
    );
}
