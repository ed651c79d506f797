//! One session: what user and agent do, and what must hold afterwards.

mod agent;
mod arriving;
mod deciding;
mod promises;
mod storing;
mod typing;

use std::{collections::HashSet, ops::Range};

use ropey::Rope;

use super::input::Input;
use crate::{Hunk, HunkId, HunkSet};

/// A text with its hunks, and what an editor would remember to undo.
#[derive(Clone)]
pub(super) struct Session {
    text: String,
    set: HunkSet,
    ids: usize,
    written: usize,
    /// Every line that the agent put into its proposals, or took from the text into what it wrote
    /// over an amendment.
    agent_lines: HashSet<String>,
    /// Inverse changes, newest last.
    undo: Vec<(Range<usize>, String)>,
    /// What was done, for the report of a failure.
    log: Vec<String>,
}

impl Drop for Session {
    #[allow(clippy::print_stderr, reason = "the report of a failed check")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.log.join("\n"));
        }
    }
}

impl Session {
    pub(super) fn new(input: &mut Input<'_>) -> Self {
        let mut text = String::new();
        for i in 0..input.below(12) {
            text += match input.below(4) {
                0 => "0",
                1 => "",
                _ => [
                    "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12",
                ][i],
            };
            text += if input.below(5) == 0 { "\r\n" } else { "\n" };
        }
        if input.below(4) == 0 && text.ends_with('\n') {
            text.pop();
        }
        Self {
            text,
            set: HunkSet::new(),
            ids: 0,
            written: 0,
            agent_lines: HashSet::new(),
            undo: Vec::new(),
            log: Vec::new(),
        }
    }

    fn rope(&self) -> Rope {
        Rope::from_str(&self.text)
    }

    /// Does one thing, then checks.
    pub(super) fn step(&mut self, op: u8, input: &mut Input<'_>) {
        let before = format!("{:?} {}", self.text, self.show());
        self.log.push(format!("op {}: {before}", op % 24));
        let known: Vec<Hunk> = self.set.iter().cloned().collect();
        let is_proposal = op % 24 < 5;
        match op % 24 {
            0..=4 => self.propose(input),
            5..=7 => {
                let (range, inserted) = self.typing(input);
                self.user_change(range, &inserted);
            }
            8 => self.reformat(input),
            9 => self.user_undo(),
            10 | 11 => self.accept(input),
            12 => self.editor_accepts(input),
            13 => self.undo_accept(input),
            14 => self.decide(input, |set, _, id| drop(set.reject(id))),
            15 => self.decide(input, |set, _, id| drop(set.withdraw(id))),
            16 => self.decide(input, |set, _, id| drop(set.reopen(id))),
            17 => self.decide(input, |set, _, id| drop(set.keep_mine(id))),
            18 => self.decide(input, |set, text, id| drop(set.propose_again(text, id))),
            19 => self.amend(input),
            20 => self.split(input),
            21 => self.select(input),
            22 => self.drift(input),
            _ => self.store(input),
        }
        if !is_proposal {
            self.check_known(&known);
        }
        self.check();
    }

    fn show(&self) -> String {
        let hunks = self.set.placed().map(|(hunk, range)| {
            let (state, old, new) = (&hunk.state, &hunk.removed, &hunk.replacement);
            format!("\n    {} {range:?} {state:?} {old:?} -> {new:?}", hunk.id)
        });
        hunks.collect()
    }

    fn chosen(&self, input: &mut Input<'_>, wanted: impl Fn(&Hunk) -> bool) -> Option<HunkId> {
        let ids: Vec<HunkId> = self
            .set
            .iter()
            .filter(|hunk| wanted(hunk))
            .map(|hunk| hunk.id.clone())
            .collect();
        input.pick(&ids).cloned()
    }

    fn pending_ids(&self, input: &mut Input<'_>) -> Vec<HunkId> {
        let bits = input.any();
        let pending = self.set.pending().enumerate();
        pending
            .filter(|(i, _)| bits >> (i % 8) & 1 == 1)
            .map(|(_, (hunk, _))| hunk.id.clone())
            .collect()
    }
}
