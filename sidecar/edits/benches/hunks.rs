//! Diffs and keystrokes at the sizes that are promised, with their references in the same run.
//!
//! First two ratios: a keystroke with 10,000 pending hunks against one with 10, and a diff of 100,000
//! lines against `git diff --no-index`. Then divan's table.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods
)]

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use divan::{Bencher, black_box};
use redline_edits::{HunkId, HunkSet, Origin, diff_lines, diff_words, merge3};
use ropey::Rope;

const LINES: usize = 100_000;

fn main() {
    if !std::env::args().any(|arg| arg == "--list" || arg == "--test") {
        keystroke_ratio();
        diff_ratio();
    }
    divan::main();
}

fn keystroke_ratio() {
    let mut few = Typist::new(10);
    let mut many = Typist::new(10_000);
    let rounds: Vec<(Duration, Duration)> = (0..21)
        .map(|_| {
            (
                time(|| few.type_keys(2_000)),
                time(|| many.type_keys(2_000)),
            )
        })
        .collect();
    let few = median(rounds.iter().map(|round| round.0)) / 2_000;
    let many = median(rounds.iter().map(|round| round.1)) / 2_000;
    report("keystroke, 10,000 hunks / 10 hunks", many, few);
}

fn diff_ratio() {
    let (old, new) = texts(1_000);
    let folder = std::env::temp_dir().join(format!("redline-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("old"), &old).unwrap();
    std::fs::write(folder.join("new"), &new).unwrap();
    let git = || {
        let status = Command::new("git")
            .args(["diff", "--no-index", "old", "new"])
            .current_dir(&folder)
            .stdout(Stdio::null())
            .status();
        assert_eq!(status.ok().and_then(|status| status.code()), Some(1));
    };
    let rounds: Vec<(Duration, Duration)> = (0..21)
        .map(|_| {
            let ours = time(|| {
                assert_eq!(diff_lines(black_box(&old), black_box(&new)).len(), 1_000);
            });
            (ours, time(git))
        })
        .collect();
    std::fs::remove_dir_all(&folder).unwrap();
    let ours = median(rounds.iter().map(|round| round.0));
    let git = median(rounds.iter().map(|round| round.1));
    report("diff of 100,000 lines, 1,000 places / git diff", ours, git);
}

fn report(what: &str, ours: Duration, reference: Duration) {
    let ratio = ours.as_secs_f64() / reference.as_secs_f64();
    println!("{what}: {ours:?} / {reference:?} = {ratio:.2}");
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let begun = Instant::now();
    black_box(work());
    begun.elapsed()
}

fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}

fn line(number: usize) -> String {
    format!(
        "    let value_{number} = compute(input, {});\n",
        number % 97
    )
}

/// Two texts of 100,000 lines that differ in `places` single lines.
fn texts(places: usize) -> (String, String) {
    let every = LINES / places;
    let old: String = (0..LINES).map(line).collect();
    let new = (0..LINES)
        .map(|number| match number % every == every / 2 {
            true => format!("    let changed_{number} = None;\n"),
            false => line(number),
        })
        .collect();
    (old, new)
}

/// Somebody who types all over a long document with pending hunks, never into one.
struct Typist {
    text: Rope,
    set: HunkSet,
    places: Vec<usize>,
    key: usize,
}

impl Typist {
    fn new(hunks: usize) -> Self {
        let (old, new) = texts(hunks);
        let text = Rope::from_str(&old);
        let mut set = HunkSet::new();
        let mut ids = 0;
        set.propose(&text, &new, &Origin::default(), &mut || {
            ids += 1;
            HunkId::new(format!("h_{ids}"))
        });
        assert_eq!(set.len(), hunks);
        // The same lines for every number of hunks, a few lines away from where they are.
        let places = (0..997).map(|i| i * 7919 % (LINES / 10) * 10 + 1).collect();
        Self {
            text,
            set,
            places,
            key: 0,
        }
    }

    /// Types a letter or a new line, then takes it out again.
    fn type_keys(&mut self, count: usize) {
        let mut events = Vec::new();
        for _ in 0..count / 2 {
            self.key += 1;
            let line = self.places[self.key % self.places.len()];
            let at = self.text.line_to_char(line) + 2;
            let inserted = if self.key.is_multiple_of(5) {
                "\n"
            } else {
                "x"
            };
            let byte = self.text.char_to_byte(at);
            let before = self.text.clone();
            self.text.insert(at, inserted);
            self.set
                .change(&before, byte..byte, inserted, &self.text, &mut events);
            let before = self.text.clone();
            self.text.remove(at..at + 1);
            self.set
                .change(&before, byte..byte + 1, "", &self.text, &mut events);
        }
        assert!(events.is_empty());
    }
}

#[divan::bench(args = [10, 100, 1_000, 10_000])]
fn keystroke(bencher: Bencher, hunks: usize) {
    let mut typist = Typist::new(hunks);
    bencher.bench_local(|| typist.type_keys(2));
}

#[divan::bench(args = [10, 10_000])]
fn clone(bencher: Bencher, hunks: usize) {
    let typist = Typist::new(hunks);
    bencher.bench_local(|| typist.set.clone());
}

#[divan::bench(args = [10, 1_000, 10_000])]
fn propose(bencher: Bencher, hunks: usize) {
    let (old, new) = texts(hunks);
    let text = Rope::from_str(&old);
    bencher.bench_local(|| {
        let mut set = HunkSet::new();
        let mut ids = 0;
        set.propose(&text, &new, &Origin::default(), &mut || {
            ids += 1;
            HunkId::new(format!("h_{ids}"))
        });
        set
    });
}

#[divan::bench(args = [10, 1_000, 10_000])]
fn accept_one(bencher: Bencher, hunks: usize) {
    let typist = Typist::new(hunks);
    let id = typist.set.iter().nth(hunks / 2).unwrap().id.clone();
    bencher
        .with_inputs(|| typist.set.clone())
        .bench_local_values(|mut set| set.accept(&typist.text, &id));
}

#[divan::bench(args = [10, 10_000])]
fn rebase(bencher: Bencher, hunks: usize) {
    let typist = Typist::new(hunks);
    let mut drifted = typist.text.clone();
    drifted.insert(0, "// license\n");
    bencher
        .with_inputs(|| typist.set.clone())
        .bench_local_values(|mut set| set.rebase(&typist.text, &drifted));
}

#[divan::bench(args = [10, 1_000, 10_000])]
fn diff(bencher: Bencher, places: usize) {
    let (old, new) = texts(places);
    bencher.bench_local(|| diff_lines(black_box(&old), black_box(&new)));
}

/// Nothing in common, everything in common in another order, few kinds of lines.
#[divan::bench(args = ["different", "shuffled", "equal", "two kinds"])]
fn diff_hostile(bencher: Bencher, kind: &str) {
    let mut state = 1_u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize
    };
    let mut text = |side: usize| -> String {
        (0..LINES)
            .map(|i| match kind {
                "different" => format!("side {side} line {i}\n"),
                "shuffled" => format!("line {}\n", random() % LINES),
                "equal" => "the same line\n".repeat(1 + usize::from(i == side * 50)),
                _ => ["a\n", "b\n"][random() % 2].to_owned(),
            })
            .collect()
    };
    let (old, new) = (text(0), text(1));
    bencher.bench_local(|| diff_lines(black_box(&old), black_box(&new)));
}

#[divan::bench]
fn words(bencher: Bencher) {
    let (old, new) = texts(1_000);
    let (old, new) = (&old[..20_000], &new[..20_000]);
    bencher.bench_local(|| diff_words(black_box(old), black_box(new)));
}

#[divan::bench]
fn merge(bencher: Bencher) {
    let (base, theirs) = texts(1_000);
    let ours = format!("// license\n{base}");
    bencher.bench_local(|| merge3(black_box(&base), black_box(&ours), black_box(&theirs)));
}
