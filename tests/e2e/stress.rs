//! A hundred thousand changes, requests and cancels without waiting, from a client that also stops reading.
//!
//! The model holds the document as lines, some of them the base of a pending hunk. At the end the server's text has to equal
//! the model's byte for byte, every hunk has to stand where the model has its line, and those that were typed into have to
//! be conflicts: no other.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use libtest_mimic::Trial;
use redline_tests::editor::{Document, Profile};
use redline_tests::project::Project;
use serde_json::{Value, json};

use crate::test;

const MESSAGES: usize = 100_000;
const LINES: usize = 2_000;
/// Every such line is the base of a hunk.
const HUNK_EVERY: usize = 20;

pub(crate) fn trials() -> Vec<Trial> {
    vec![test(
        "stress::a_hundred_thousand_messages_without_waiting",
        a_hundred_thousand_messages_without_waiting,
    )]
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

struct Line {
    text: String,
    /// Number of the hunk whose base this line is.
    hunk: Option<usize>,
}

struct Model {
    lines: Vec<Line>,
    conflicts: Vec<bool>,
}

impl Model {
    fn new() -> Model {
        let lines = (0..LINES)
            .map(|n| Line {
                text: format!("line {n} of the text, é and 🦀"),
                hunk: (n % HUNK_EVERY == HUNK_EVERY / 2).then_some(n / HUNK_EVERY),
            })
            .collect();
        Model {
            lines,
            conflicts: vec![false; LINES / HUNK_EVERY],
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }

    /// One random change, as an LSP content change; columns stay in ASCII, where all encodings agree.
    fn change(&mut self, random: &mut Random) -> Value {
        let at = random.below(self.lines.len());
        let place = |line: usize, character: usize| json!({"line": line, "character": character});
        let kind = random.below(10);
        if self.lines[at].hunk.is_some() {
            // Mostly leave the base lines alone: one change in a hundred goes against one.
            if random.below(100) == 0 {
                let hunk = self.lines[at].hunk.unwrap_or(0);
                self.conflicts[hunk] = true;
                self.lines[at].text.insert(0, '!');
                return json!({"range": {"start": place(at, 0), "end": place(at, 0)}, "text": "!"});
            }
            let new = format!("new above {}", random.below(1000));
            self.lines.insert(
                at,
                Line {
                    text: new.clone(),
                    hunk: None,
                },
            );
            return json!({"range": {"start": place(at, 0), "end": place(at, 0)}, "text": format!("{new}\n")});
        }
        match kind {
            0..=4 => {
                self.lines[at].text.insert_str(0, "ab");
                json!({"range": {"start": place(at, 0), "end": place(at, 0)}, "text": "ab"})
            }
            5 | 6 => {
                let new = format!("new {}", random.below(1000));
                self.lines.insert(
                    at,
                    Line {
                        text: new.clone(),
                        hunk: None,
                    },
                );
                json!({"range": {"start": place(at, 0), "end": place(at, 0)}, "text": format!("{new}\n")})
            }
            7 | 8 if self.lines.len() > LINES / 2 && self.free(at) => {
                self.lines.remove(at);
                json!({"range": {"start": place(at, 0), "end": place(at + 1, 0)}, "text": ""})
            }
            _ => {
                let end = self.lines[at]
                    .text
                    .bytes()
                    .take(2)
                    .take_while(u8::is_ascii)
                    .count();
                self.lines[at].text.replace_range(0..end, "x");
                json!({"range": {"start": place(at, 0), "end": place(at, end)}, "text": "x"})
            }
        }
    }

    /// Whether the line may go: its neighbours keep at least one plain line between two hunks.
    fn free(&self, at: usize) -> bool {
        let plain = |line: Option<&Line>| line.is_some_and(|line| line.hunk.is_none());
        at > 0 && plain(self.lines.get(at - 1)) && plain(self.lines.get(at + 1))
    }
}

fn a_hundred_thousand_messages_without_waiting() -> Result<()> {
    let mut model = Model::new();
    let text = model.text();
    let project = Project::with_files(&[("a.txt", &text)])?;
    let editor = project.editor(&Profile::full())?;
    editor.open_with(
        "a.txt",
        Document {
            text,
            version: 1,
            dirty: false,
        },
    )?;
    let uri = editor.uri("a.txt");
    let edits: Vec<Value> = model
        .lines
        .iter()
        .filter(|line| line.hunk.is_some())
        .map(|line| json!({"path": "a.txt", "search": format!("{}\n", line.text), "replace": format!("changed: {}\n", line.text)}))
        .collect();
    let output = project
        .run_with(
            &["propose", "--json"],
            json!({"edits": edits}).to_string().as_bytes(),
        )?
        .expect_code(0)?
        .json()?;
    let id = output["transaction"]
        .as_str()
        .context("a transaction")?
        .to_owned();
    let hunks: Vec<String> = output["files"][0]["hunks"]
        .as_array()
        .context("hunks")?
        .iter()
        .filter_map(|hunk| hunk["id"].as_str().map(str::to_owned))
        .collect();
    ensure!(hunks.len() == LINES / HUNK_EVERY, "{} hunks", hunks.len());

    let mut random = Random(0x5eed_1234_abcd_0001);
    let mut version = 1;
    let mut asked = Vec::new();
    for n in 0..MESSAGES {
        if n == MESSAGES / 4 {
            editor.client.pause_reading(true);
        }
        if n == MESSAGES / 2 {
            editor.client.pause_reading(false);
        }
        match random.below(10) {
            0 => {
                let line = random.below(model.lines.len());
                asked.push(editor.client.start(
                    "textDocument/codeAction",
                    json!({"textDocument": {"uri": uri},
                        "range": {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}},
                        "context": {"diagnostics": []}}),
                )?);
            }
            1 => {
                if let Some(id) = asked.last() {
                    editor.client.notify("$/cancelRequest", json!({"id": id}))?;
                }
            }
            _ => {
                version += 1;
                let change = model.change(&mut random);
                editor.client.notify(
                    "textDocument/didChange",
                    json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [change]}),
                )?;
            }
        }
    }
    let patience = Duration::from_secs(300);
    for id in asked {
        // An answer or an error, but one of them for every request.
        let reply = editor.client.wait_reply(id, patience)?;
        if let Err(error) = reply {
            ensure!(matches!(error.code, -32800 | -32801), "{error}");
        }
    }
    let held = editor
        .client
        .start("redline/document/text", json!({"uri": uri}))?;
    let held = editor
        .client
        .wait_reply(held, patience)?
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    let held = held
        .as_str()
        .or_else(|| held["text"].as_str())
        .context("a text")?
        .to_owned();
    let wanted = model.text();
    if held != wanted {
        let line = held.lines().zip(wanted.lines()).position(|(a, b)| a != b);
        anyhow::bail!(
            "the server's text differs, first in line {line:?}: {} and {} bytes",
            held.len(),
            wanted.len()
        );
    }
    let transaction = editor
        .client
        .request("redline/transaction/get", json!({"transactionId": id}))?;
    let shown = transaction["files"][0]["hunks"]
        .as_array()
        .context("hunks")?;
    for (number, id) in hunks.iter().enumerate() {
        let hunk = shown
            .iter()
            .find(|hunk| hunk["id"] == id.as_str())
            .with_context(|| format!("hunk {number} is gone"))?;
        let at = model
            .lines
            .iter()
            .position(|line| line.hunk == Some(number))
            .context("its line")?;
        let state = if model.conflicts[number] {
            "conflict"
        } else {
            "pending"
        };
        ensure!(
            hunk["state"] == state,
            "hunk {number} should be {state}: {hunk}"
        );
        // A conflict covers its line and what was changed around it together with it.
        let first = hunk["startLine"].as_u64().unwrap_or(0) as usize;
        let lines = hunk["conflict"]["current"].as_array().map_or(1, Vec::len);
        ensure!(
            (first..first + lines).contains(&(at + 1)) && (state == "conflict" || first == at + 1),
            "hunk {number} should stand in line {}: {hunk}",
            at + 1
        );
        if state == "pending" {
            ensure!(hunk["removed"] == json!([model.lines[at].text]), "{hunk}");
        }
    }
    let conflicts = model.conflicts.iter().filter(|conflict| **conflict).count();
    ensure!(
        conflicts > 0 && conflicts < hunks.len(),
        "the run had {conflicts} conflicts: it shows nothing"
    );
    Ok(())
}
