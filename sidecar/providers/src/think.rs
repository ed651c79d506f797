//! Splits a leading `<think>…</think>` off the text, for servers that leave it in.
//!
//! Only a block at the very start is reasoning; a tag later on is text that the model wrote. What is
//! held back is at most a possible beginning of the tag that is waited for.

use crate::draft::Draft;
use crate::{Event, ReasoningKind};

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

#[derive(Debug, Default)]
enum State {
    /// Nothing but white space and perhaps a piece of the opening tag so far.
    #[default]
    Start,
    Inside,
    /// White space right after the closing tag is dropped.
    AfterClose,
    Text,
}

/// Stateful over the pieces of one answer.
#[derive(Debug, Default)]
pub(crate) struct Splitter {
    state: State,
    held: String,
}

impl Splitter {
    /// Takes in a piece of content.
    pub(crate) fn push(&mut self, piece: &str, draft: &mut Draft, out: &mut Vec<Event>) {
        if matches!(self.state, State::Text) {
            draft.text(piece.to_owned(), out);
            return;
        }
        self.held.push_str(piece);
        loop {
            match self.state {
                State::Start => {
                    let trimmed = self.held.trim_start();
                    if let Some(rest) = trimmed.strip_prefix(OPEN) {
                        self.held = rest.to_owned();
                        self.state = State::Inside;
                    } else if OPEN.starts_with(trimmed) {
                        return;
                    } else {
                        self.state = State::Text;
                    }
                }
                State::Inside => {
                    if let Some(at) = self.held.find(CLOSE) {
                        let rest = self.held.split_off(at);
                        reasoning(std::mem::take(&mut self.held), draft, out);
                        self.held = rest[CLOSE.len()..].to_owned();
                        self.state = State::AfterClose;
                    } else {
                        let keep = tail_that_begins(&self.held, CLOSE);
                        let tail = self.held.split_off(self.held.len() - keep);
                        reasoning(std::mem::replace(&mut self.held, tail), draft, out);
                        return;
                    }
                }
                State::AfterClose => {
                    self.held = self.held.trim_start().to_owned();
                    if self.held.is_empty() {
                        return;
                    }
                    self.state = State::Text;
                }
                State::Text => {
                    draft.text(std::mem::take(&mut self.held), out);
                    return;
                }
            }
        }
    }

    /// Ends the answer: what was held back is what it looks like.
    pub(crate) fn end(&mut self, draft: &mut Draft, out: &mut Vec<Event>) {
        let held = std::mem::take(&mut self.held);
        match std::mem::replace(&mut self.state, State::Text) {
            State::Inside => reasoning(held, draft, out),
            State::Start | State::AfterClose | State::Text => draft.text(held, out),
        }
    }
}

fn reasoning(text: String, draft: &mut Draft, out: &mut Vec<Event>) {
    draft.reasoning(ReasoningKind::Raw, text, None, out);
}

/// Length of the longest end of `text` that is a beginning of `tag`.
fn tail_that_begins(text: &str, tag: &str) -> usize {
    (1..tag.len())
        .rev()
        .find(|len| text.ends_with(&tag[..*len]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(pieces: &[&str]) -> (String, String) {
        let (mut splitter, mut draft) = (Splitter::default(), Draft::default());
        let mut out = Vec::new();
        for piece in pieces {
            splitter.push(piece, &mut draft, &mut out);
        }
        splitter.end(&mut draft, &mut out);
        let mut both = (String::new(), String::new());
        for event in out {
            match event {
                Event::Reasoning { text, .. } => both.0.push_str(&text),
                Event::Text { text } => both.1.push_str(&text),
                other => unreachable!("{other:?}"),
            }
        }
        both
    }

    #[test]
    fn only_a_leading_block_is_reasoning_however_it_is_cut() {
        let cases = [
            (
                "<think>secret a < b</think>\n\nANSWER <think> literal",
                "secret a < b",
                "ANSWER <think> literal",
            ),
            ("\n <think>a</think>b", "a", "b"),
            ("no tags", "", "no tags"),
            ("a <think>b</think>", "", "a <think>b</think>"),
            ("<thin air", "", "<thin air"),
            ("<think>never closed </thi", "never closed </thi", ""),
            ("<think></think>  x", "", "x"),
            ("  ", "", "  "),
            ("<think>é</think>ü", "é", "ü"),
        ];
        for (input, reasoning, text) in cases {
            let expected = (reasoning.to_owned(), text.to_owned());
            assert_eq!(split(&[input]), expected, "{input}");
            let mut chars: Vec<String> = input.chars().map(String::from).collect();
            let pieces: Vec<&str> = chars.iter().map(String::as_str).collect();
            assert_eq!(split(&pieces), expected, "{input}");
            chars.clear();
        }
    }

    #[test]
    fn nothing_but_a_possible_tag_is_held_back() {
        let (mut splitter, mut draft) = (Splitter::default(), Draft::default());
        let mut said = |piece: &str| {
            let mut out = Vec::new();
            splitter.push(piece, &mut draft, &mut out);
            match out.as_slice() {
                [Event::Reasoning { text, .. }] => text.clone(),
                other => unreachable!("{other:?}"),
            }
        };
        assert_eq!(said("<think>abc</"), "abc");
        assert_eq!(said("b"), "</b");
    }
}
