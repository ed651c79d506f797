//! A keystroke in a document of 100,000 lines: its cost with 10,000 pending hunks against its cost with 10.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use redline_edits::{HunkId, HunkSet, Origin};
use redline_tests::editor::{Document, Editor, Profile};
use redline_tests::project::Project;
use ropey::Rope;
use serde_json::json;

use crate::measure::{compare, medians_ms};

pub(crate) fn run(quick: bool) -> Result<()> {
    let lines = if quick { 2_000 } else { 100_000 };
    let many = lines / 10;
    in_the_engine(lines, many, quick);
    through_the_server(lines, many, quick)
}

fn document(lines: usize) -> String {
    (0..lines)
        .map(|n| format!("line {n} of a long document\n"))
        .collect()
}

fn hunks(text: &str, n: usize) -> (Rope, HunkSet) {
    let lines = text.lines().count();
    let every = lines / n;
    let after: String = text
        .lines()
        .enumerate()
        .map(|(at, line)| {
            if at % every == every / 2 {
                format!("{line}, changed\n")
            } else {
                format!("{line}\n")
            }
        })
        .collect();
    let rope = Rope::from_str(text);
    let mut set = HunkSet::new();
    let mut next = 0;
    let mut ids = || {
        next += 1;
        HunkId::new(format!("h_{next}"))
    };
    set.propose(&rope, &after, &Origin::default(), &mut ids);
    assert_eq!(set.len(), n);
    (rope, set)
}

/// `HunkSet::change` alone: the part that could grow with the number of hunks.
fn in_the_engine(lines: usize, many: usize, quick: bool) {
    let text = document(lines);
    let keys = if quick { 200 } else { 20_000 };
    let cost = |n: usize| -> Duration {
        let (mut rope, mut set) = hunks(&text, n);
        let mut events = Vec::new();
        let mut at = 7;
        let mut spent = Duration::ZERO;
        for key in 0..keys {
            // Here and there in the document, never against a hunk. A new line is taken out again by the next key, so
            // that the places stay where they are.
            if key % 10 != 9 {
                at = (at * 48_271) % (lines / 10);
            }
            let byte = rope.line_to_byte(at * 10 + 2) + 2;
            let before = rope.clone();
            let at_char = rope.byte_to_char(byte);
            let (range, inserted) = match key % 10 {
                8 => (byte..byte, "\n"),
                9 => (byte..byte + 1, ""),
                _ => (byte..byte, "x"),
            };
            rope.remove(at_char..at_char + range.len());
            rope.insert(at_char, inserted);
            let begun = Instant::now();
            set.change(&before, range, inserted, &rope, &mut events);
            spent += begun.elapsed();
        }
        spent / keys
    };
    let (mut few_best, mut many_best) = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        few_best = few_best.min(cost(10));
        many_best = many_best.min(cost(many));
    }
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    compare(
        &format!("keystroke, engine: {many} hunks / 10 hunks"),
        ms(many_best),
        ms(few_best),
        2.0,
    );
}

struct Typing {
    _project: Project,
    editor: Editor,
    lines: usize,
    version: i32,
    at: usize,
}

impl Typing {
    fn start(lines: usize, n: usize) -> Result<Typing> {
        let text = document(lines);
        let project = Project::with_files(&[("long.txt", &text)])?;
        let editor = project.editor(&Profile::full().with_redline())?;
        editor.open_with(
            "long.txt",
            Document {
                text: text.clone(),
                version: 1,
                dirty: false,
            },
        )?;
        let every = lines / n;
        let after: String = text
            .lines()
            .enumerate()
            .map(|(at, line)| {
                if at % every == every / 2 {
                    format!("{line}, changed\n")
                } else {
                    format!("{line}\n")
                }
            })
            .collect();
        let proposal = json!({"files": [{"path": "long.txt", "text": after}]});
        let made = editor.client.request(
            "redline/transaction/propose",
            json!({"content": proposal.to_string()}),
        )?;
        let got = made["files"][0]["hunks"].as_array().context("hunks")?.len();
        anyhow::ensure!(got == n, "{got} hunks instead of {n}");
        Ok(Typing {
            _project: project,
            editor,
            lines,
            version: 1,
            at: 7,
        })
    }

    /// Sends keystrokes, then asks for something that needs the anchors; the time of one.
    fn keys(&mut self, n: u32) -> Result<Duration> {
        let uri = self.editor.uri("long.txt");
        let begun = Instant::now();
        for _ in 0..n {
            self.at = (self.at * 48_271) % (self.lines / 10);
            self.version += 1;
            let place = json!({"line": self.at * 10 + 2, "character": 2});
            self.editor.client.notify(
                "textDocument/didChange",
                json!({"textDocument": {"uri": uri, "version": self.version},
                    "contentChanges": [{"range": {"start": place, "end": place}, "text": "x"}]}),
            )?;
        }
        self.editor.actions("long.txt", 0, 0)?;
        Ok(begun.elapsed() / n)
    }
}

/// The whole way: `didChange` over stdio, bridge, socket, hub.
fn through_the_server(lines: usize, many: usize, quick: bool) -> Result<()> {
    let mut with_many = Typing::start(lines, many)?;
    let mut with_few = Typing::start(lines, 10)?;
    let keys = if quick { 20 } else { 1_000 };
    let (ours, reference) = medians_ms(
        if quick { 1 } else { 9 },
        || with_many.keys(keys),
        || with_few.keys(keys),
    )?;
    compare(
        &format!("keystroke, through the server: {many} / 10 hunks"),
        ours,
        reference,
        2.0,
    );
    Ok(())
}
