//! Output as text that is safe to show, journal and send to a model.
//!
//! What a program writes is meant for a terminal, or for another program. Here it becomes the text that a
//! person would have seen, and what that leaves out is counted:
//!
//! - escape sequences go; a carriage return, a backspace and an erased line do what they do on a terminal, so
//!   of a progress bar its last state stays;
//! - control characters go; NUL, which separates names, shows as U+2400;
//! - bytes that are not UTF-8 show as U+FFFD;
//! - output that is mostly such bytes is binary, and only named.

use anstyle_parse::{Params, Parser, Perform, Utf8Parser};
use serde::{Deserialize, Serialize};

/// More than one byte of so many that is no text makes output binary.
const BINARY_SHARE: usize = 10;

/// How many bytes of binary output are shown, in hex.
const SHOWN_BYTES: usize = 16;

/// Output as text, and what is missing from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plain {
    /// The text. For binary output a line that says so.
    pub text: String,
    /// What is not in it.
    pub removed: Removed,
}

/// What was left out of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// Escape sequences: colours, cursor movements, titles.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub escapes: u64,
    /// Control characters.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub controls: u64,
    /// Characters that later ones on the same line replaced.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub overwritten: u64,
    /// Sequences of bytes that are not UTF-8.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_utf8: u64,
    /// Bytes of binary output.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub binary_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Removed {
    /// Whether nothing is missing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            escapes: self.escapes + other.escapes,
            controls: self.controls + other.controls,
            overwritten: self.overwritten + other.overwritten,
            not_utf8: self.not_utf8 + other.not_utf8,
            binary_bytes: self.binary_bytes + other.binary_bytes,
        }
    }
}

/// Makes text of `bytes`.
pub fn plain(bytes: &[u8]) -> Plain {
    if is_binary(bytes) {
        let shown: Vec<String> = bytes
            .iter()
            .take(SHOWN_BYTES)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        return Plain {
            text: format!(
                "[binary output, {} bytes, beginning {}]\n",
                bytes.len(),
                shown.join(" ")
            ),
            removed: Removed {
                binary_bytes: bytes.len() as u64,
                ..Removed::default()
            },
        };
    }
    let mut screen = Screen::default();
    let mut parser = Parser::<Utf8Parser>::new();
    for chunk in bytes.utf8_chunks() {
        for &byte in chunk.valid().as_bytes() {
            parser.advance(&mut screen, byte);
        }
        if !chunk.invalid().is_empty() {
            screen.print('\u{fffd}');
            screen.removed.not_utf8 += 1;
        }
    }
    screen.end_line();
    Plain {
        text: screen.text,
        removed: screen.removed,
    }
}

/// Whether too many bytes are no text. Escape sequences and line ends are text.
fn is_binary(bytes: &[u8]) -> bool {
    let mut bad = 0;
    for chunk in bytes.utf8_chunks() {
        bad += chunk.invalid().len();
        bad += chunk
            .valid()
            .bytes()
            .filter(|byte| matches!(byte, 0..=6 | 14..=26 | 28..=31))
            .count();
    }
    bad * BINARY_SHARE > bytes.len()
}

/// A terminal as far as text needs one: lines that go up and never back, and a cursor in the last one.
#[derive(Default)]
struct Screen {
    text: String,
    line: Vec<char>,
    cursor: usize,
    removed: Removed,
}

impl Screen {
    fn end_line(&mut self) {
        self.text.extend(self.line.drain(..));
        self.cursor = 0;
    }
}

impl Perform for Screen {
    fn print(&mut self, c: char) {
        if c == '\u{7f}' || ('\u{80}'..'\u{a0}').contains(&c) {
            self.removed.controls += 1;
        } else if let Some(under) = self.line.get_mut(self.cursor) {
            self.removed.overwritten += u64::from(*under != c);
            *under = c;
            self.cursor += 1;
        } else {
            self.line.push(c);
            self.cursor += 1;
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.end_line();
                self.text.push('\n');
            }
            b'\r' => self.cursor = 0,
            b'\t' => self.print('\t'),
            0x08 => self.cursor = self.cursor.saturating_sub(1),
            0 => self.print('\u{2400}'),
            _ => self.removed.controls += 1,
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _: &[u8], _: bool, action: u8) {
        self.removed.escapes += 1;
        let first = params.iter().next().and_then(|one| one.first().copied());
        // Erase in line: to its end, or all of it.
        if action == b'K' {
            let keep = match first.unwrap_or(0) {
                0 => self.cursor,
                2 => 0,
                _ => return,
            };
            let gone = self.line.len().saturating_sub(keep);
            self.removed.overwritten += gone as u64;
            self.line.truncate(keep);
            while self.line.len() < self.cursor {
                self.line.push(' ');
            }
        }
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {
        self.removed.escapes += 1;
    }

    fn osc_dispatch(&mut self, _: &[&[u8]], _: bool) {
        self.removed.escapes += 1;
    }

    fn hook(&mut self, _: &Params, _: &[u8], _: bool, _: u8) {
        self.removed.escapes += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(bytes: &[u8]) -> String {
        plain(bytes).text
    }

    #[test]
    fn text_is_left_as_it_is() {
        for whole in ["", "a\n", "naïve — ünï\n\tx", "a\nb", "\u{fffd}"] {
            let shown = plain(whole.as_bytes());
            assert_eq!(shown.text, whole);
            assert!(shown.removed.is_empty(), "{whole:?}");
        }
    }

    #[test]
    fn what_a_terminal_would_not_show_is_counted() {
        let shown = plain(b"\x1b[1;31merror\x1b[0m: x\x1b]0;title\x07\x07\n");
        assert_eq!(shown.text, "error: x\n");
        assert_eq!((shown.removed.escapes, shown.removed.controls), (3, 1));
        let shown = plain(b"a\xffb text that goes on\n");
        assert_eq!(shown.text, "a\u{fffd}b text that goes on\n");
        assert_eq!(shown.removed.not_utf8, 1);
        assert_eq!(
            text("a\u{9b}31mb".as_bytes()),
            "a31mb",
            "an 8-bit control sequence"
        );
    }

    #[test]
    fn lines_are_what_they_were_in_the_end() {
        assert_eq!(text(b"one\r\ntwo\r\n"), "one\ntwo\n");
        assert_eq!(text(b" 10%\r 55%\r100%\n"), "100%\n");
        assert_eq!(text(b"long line\rok\x1b[K\n"), "ok\n");
        assert_eq!(text(b"abc\x08\x08X\n"), "aXc\n");
        assert!(plain(b" 10%\r100%").removed.overwritten > 0);
    }

    #[test]
    fn binary_output_is_named_and_lists_of_names_are_not() {
        let elf = [0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0];
        let shown = plain(&elf);
        assert_eq!(
            shown.text,
            "[binary output, 12 bytes, beginning 7f 45 4c 46 02 01 01 00 00 00 00 00]\n"
        );
        assert_eq!(shown.removed.binary_bytes, 12);
        assert_eq!(
            text(b"src/main.rs\0src/lib.rs\0"),
            "src/main.rs\u{2400}src/lib.rs\u{2400}"
        );
    }

    proptest! {
        #[test]
        fn nothing_that_steers_a_terminal_is_left(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let shown = plain(&bytes);
            let left = shown.text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            prop_assert_eq!(left, None);
            if shown.text.as_bytes() != bytes {
                prop_assert!(!shown.removed.is_empty() || bytes.iter().any(|b| b"\r\0\x08\x1b".contains(b)));
            }
        }
    }
}
