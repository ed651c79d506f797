//! Every parser on arbitrary and on mutated input: an answer, never a panic.

use proptest::prelude::*;

use super::super::{Format, ParseOptions, detect, parse, parse_bytes};

/// Pieces that the grammars are made of, so that random inputs get past the first line.
const PIECES: &[&str] = &[
    "*** Begin Patch",
    "*** End Patch",
    "*** Add File: a",
    "*** Update File: b",
    "*** Delete File: c",
    "*** Move to: d",
    "*** End of File",
    "@@",
    "@@ fn a",
    "@@ -1,2 +1,2 @@",
    "@@ -1 +1 @@ x",
    "@@ -0,0 +1,99999999999 @@",
    "diff --git a/x b/x",
    "diff --git \"a/\\303\\251\" b/x",
    "--- a/x",
    "+++ b/x",
    "--- /dev/null",
    "+++ /dev/null",
    "rename from x",
    "rename to y",
    "copy from x",
    "new file mode 100644",
    "deleted file mode 100644",
    "old mode 100644",
    "new mode 100755",
    "GIT binary patch",
    "\\ No newline at end of file",
    "-- ",
    " ",
    "-",
    "+",
    " a",
    "-b",
    "+c",
    "",
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "------- SEARCH",
    "+++++++ REPLACE",
    "a.txt",
    "<<<<<<< HEAD",
    ">>>>>>> x",
    "```",
    "```diff",
    "{\"edits\": [",
    "{\"path\": \"a\", ",
    "\"search\": \"x\", \"replace\": \"y\"}",
    "]}",
    "[[0, 1], [0, 2]]",
    "\"range\":",
    "\r",
    "\u{FEFF}",
];

fn lines_of_pieces() -> impl Strategy<Value = String> {
    let ending = prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("")];
    prop::collection::vec((prop::sample::select(PIECES), ending), 0..40).prop_map(|lines| {
        lines
            .into_iter()
            .flat_map(|(line, end)| [line, end])
            .collect()
    })
}

/// A valid proposal of each format.
const VALID: [&str; 4] = [
    "a.txt\n<<<<<<< SEARCH\na\nb\n=======\nc\n>>>>>>> REPLACE\n",
    "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ f\n a\n-b\n+c\n\n\\ No newline at end of file\n",
    "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ x\n a\n-b\n+c\n*** End of File\n*** Add File: n\n+x\n*** End Patch\n",
    "{\"edits\": [{\"path\": \"a\", \"search\": \"x\", \"replace\": \"y\"}, {\"path\": \"b\", \"edits\": [{\"range\": [[0, 1], [2, 3]], \"newText\": \"t\"}]}]}",
];

fn check(input: &str) -> Result<(), TestCaseError> {
    detect(input);
    let n_lines = input.split('\n').count();
    for format in Format::ALL {
        match parse(format, input, &ParseOptions::default()) {
            Ok(proposal) => prop_assert!(!proposal.changes.is_empty()),
            Err(err) => {
                prop_assert!(
                    err.line >= 1 && err.line <= n_lines,
                    "{err} in {n_lines} lines"
                );
                prop_assert!(!err.message.is_empty() && !err.hint.is_empty());
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes_give_a_proposal_or_an_error(bytes: Vec<u8>) {
        let _ = parse_bytes(None, &bytes, &ParseOptions::default());
        check(&String::from_utf8_lossy(&bytes))?;
    }

    #[test]
    fn any_lines_of_the_grammars_give_a_proposal_or_an_error(input in lines_of_pieces()) {
        check(&input)?;
    }

    #[test]
    fn mutated_proposals_give_a_proposal_or_an_error(
        which in 0..VALID.len(), cut in any::<prop::sample::Index>(), dropped in 0..8_usize,
        put in prop_oneof![Just(String::new()), ".{0,3}", prop::sample::select(PIECES).prop_map(str::to_owned)],
    ) {
        let valid = VALID[which];
        let at = cut.index(valid.len());
        let end = (at + dropped).min(valid.len());
        check(&format!("{}{put}{}", &valid[..at], &valid[end..]))?;
    }

    #[test]
    fn a_cut_off_patch_is_never_taken_for_whole(cut in any::<prop::sample::Index>()) {
        for (format, valid) in [(Format::SearchReplace, VALID[0]), (Format::ApplyPatch, VALID[2]), (Format::Json, VALID[3])] {
            let at = cut.index(valid.trim_end().len());
            prop_assert!(parse(format, &valid[..at], &ParseOptions::default()).is_err());
        }
    }
}

#[test]
fn large_hostile_inputs_end() {
    let repeated = |piece: &str| piece.repeat((1 << 16) / piece.len());
    for piece in [
        "<<<<<<< SEARCH\n<<<<<<< HEAD\n=======\n",
        "<<<<<<< SEARCH\n<<<<<<<< SEARCH\n<<<<<<<<< SEARCH\n",
        "--- a\n+++ a\n@@ -1,9 +1,9 @@\n",
        "--- a\n+++ a\n@@ -1,999999 +1,999999 @@\n a\n\n\n\n",
        "@@ -1 +1 @@\n\n\n\n",
        "--- /dev/null\n+++ a\n@@ -0,0 +1,99999999 @@\n+\n",
        "diff --git a b a b a b a b a b a b a b\n",
        "*** Begin Patch\n*** Update File: a\n",
        "\n",
        " ",
        "\"",
        "{\"edits\": [",
        "[{\"path\": ",
    ] {
        let input = repeated(piece);
        check(&input).unwrap();
        check(&format!("*** Begin Patch\n*** Update File: a\n@@\n{input}")).unwrap();
        check(&format!("--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n{input}")).unwrap();
    }
    check(&format!("diff --git {}\n", "a ".repeat(1 << 15))).unwrap();
}
