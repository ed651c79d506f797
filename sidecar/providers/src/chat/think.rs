//! Splits a leading `<think>…</think>` off the text, for servers that leave it in.
//!
//! Only a block at the very start is reasoning; a tag later on is text that the model wrote. What is
//! held back is at most a possible beginning of the tag that is waited for.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// What a piece of text turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Reasoning(String),
}

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
pub(super) struct Splitter {
    state: State,
    held: String,
}

impl Splitter {
    /// Takes in a piece of content.
    pub(super) fn push(&mut self, piece: &str, out: &mut Vec<Piece>) {
        if matches!(self.state, State::Text) {
            out.push(Piece::Text(piece.to_owned()));
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
                        reasoning(std::mem::take(&mut self.held), out);
                        self.held = rest[CLOSE.len()..].to_owned();
                        self.state = State::AfterClose;
                    } else {
                        let keep = tail_that_begins(&self.held, CLOSE);
                        let tail = self.held.split_off(self.held.len() - keep);
                        reasoning(std::mem::replace(&mut self.held, tail), out);
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
                    if !self.held.is_empty() {
                        out.push(Piece::Text(std::mem::take(&mut self.held)));
                    }
                    return;
                }
            }
        }
    }

    /// Ends the answer: what was held back is what it looks like.
    pub(super) fn end(&mut self, out: &mut Vec<Piece>) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            State::Inside => reasoning(held, out),
            State::Start | State::AfterClose | State::Text if !held.is_empty() => {
                out.push(Piece::Text(held));
            }
            State::Start | State::AfterClose | State::Text => {}
        }
        self.state = State::Text;
    }
}

fn reasoning(text: String, out: &mut Vec<Piece>) {
    if !text.is_empty() {
        out.push(Piece::Reasoning(text));
    }
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
        let mut splitter = Splitter::default();
        let mut out = Vec::new();
        for piece in pieces {
            splitter.push(piece, &mut out);
        }
        splitter.end(&mut out);
        let mut both = (String::new(), String::new());
        for piece in out {
            match piece {
                Piece::Reasoning(text) => both.0.push_str(&text),
                Piece::Text(text) => both.1.push_str(&text),
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
        let mut splitter = Splitter::default();
        let mut out = Vec::new();
        splitter.push("<think>abc</", &mut out);
        assert_eq!(out, [Piece::Reasoning("abc".to_owned())]);
        out.clear();
        splitter.push("b", &mut out);
        assert_eq!(out, [Piece::Reasoning("</b".to_owned())]);
    }
}
