//! From the text of a proposal to its operations: the part of `redline propose` that is pure.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods
)]

use std::{collections::HashMap, fmt::Write};

use divan::{Bencher, black_box};
use redline_edits::{
    FileError, FileState, Files, Format, ParseOptions, Resolved, detect, parse, resolve,
};

fn main() {
    divan::main();
}

struct Disk(HashMap<String, String>);

impl Files for Disk {
    fn read(&self, path: &str) -> Result<FileState, FileError> {
        Ok(match self.0.get(path) {
            Some(text) => FileState::Text {
                text: text.clone(),
                bom: false,
                version: None,
            },
            None => FileState::Missing,
        })
    }
}

impl Disk {
    fn of(path: &str, text: String) -> Self {
        Self(HashMap::from([(path.to_owned(), text)]))
    }
}

fn propose(disk: &Disk, proposal: &str) -> Resolved {
    let format = detect(proposal).unwrap();
    let proposal = parse(format, proposal, &ParseOptions::default()).unwrap();
    resolve(&proposal, disk).unwrap()
}

fn line(number: usize) -> String {
    format!(
        "    let value_{number} = compute(input, {number}) + {};",
        number % 97
    )
}

fn file(n_lines: usize) -> String {
    (1..=n_lines).map(|number| line(number) + "\n").collect()
}

/// `n_hunks` hunks of three context lines around one changed line, `shift` lines off.
fn diff(n_lines: usize, n_hunks: usize, shift: usize) -> String {
    let mut diff = String::from("diff --git a/big.rs b/big.rs\n--- a/big.rs\n+++ b/big.rs\n");
    let step = n_lines / n_hunks;
    for hunk in 0..n_hunks {
        let at = hunk * step + step / 2;
        writeln!(diff, "@@ -{},7 +{},7 @@", at - 3 + shift, at - 3 + shift).unwrap();
        for number in at - 3..=at + 3 {
            if number == at {
                writeln!(diff, "-{}\n+    let changed_{number} = 0;", line(number)).unwrap();
            } else {
                writeln!(diff, " {}", line(number)).unwrap();
            }
        }
    }
    diff
}

#[divan::bench(args = [(10, 1), (10_000, 100), (50_000, 500)])]
fn unified_diff(bencher: Bencher<'_, '_>, (n_lines, n_hunks): (usize, usize)) {
    let disk = Disk::of("big.rs", file(n_lines));
    let diff = diff(n_lines, n_hunks, 0);
    bencher.bench(|| propose(&disk, black_box(&diff)));
}

#[divan::bench]
fn unified_diff_parse_only(bencher: Bencher<'_, '_>) {
    let diff = diff(50_000, 500, 0);
    bencher.bench(|| {
        parse(
            Format::UnifiedDiff,
            black_box(&diff),
            &ParseOptions::default(),
        )
    });
}

#[divan::bench]
fn unified_diff_with_wrong_line_numbers(bencher: Bencher<'_, '_>) {
    let disk = Disk::of("big.rs", file(50_000));
    let diff = diff(50_000, 500, 7);
    bencher.bench(|| propose(&disk, black_box(&diff)));
}

#[divan::bench(args = ["unified", "apply_patch"])]
fn a_thousand_added_files(bencher: Bencher<'_, '_>, format: &str) {
    let disk = Disk(HashMap::new());
    let mut proposal = String::new();
    if format != "unified" {
        proposal.push_str("*** Begin Patch\n");
    }
    for number in 0..1000 {
        if format == "unified" {
            writeln!(
                proposal,
                "diff --git a/src/f{number}.rs b/src/f{number}.rs\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/src/f{number}.rs\n@@ -0,0 +1,20 @@"
            )
            .unwrap();
        } else {
            writeln!(proposal, "*** Add File: src/f{number}.rs").unwrap();
        }
        for number in 0..20 {
            writeln!(proposal, "+{}", line(number)).unwrap();
        }
    }
    if format != "unified" {
        proposal.push_str("*** End Patch\n");
    }
    bencher.bench(|| propose(&disk, black_box(&proposal)));
}

#[divan::bench]
fn search_replace_100_in_10_000_lines(bencher: Bencher<'_, '_>) {
    let disk = Disk::of("big.rs", file(10_000));
    let mut proposal = String::new();
    for number in (50..10_000).step_by(100) {
        writeln!(
            proposal,
            "big.rs\n<<<<<<< SEARCH\n{}\n{}\n=======\n{}\n// new\n>>>>>>> REPLACE",
            line(number),
            line(number + 1),
            line(number)
        )
        .unwrap();
    }
    bencher.bench(|| propose(&disk, black_box(&proposal)));
}

#[divan::bench]
fn the_first_read_of_50_000_lines(bencher: Bencher<'_, '_>) {
    let text = file(50_000);
    bencher.bench(|| redline_edits::decode(black_box(text.as_bytes())));
}
