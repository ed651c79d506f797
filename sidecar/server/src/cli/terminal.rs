//! The terminal: color, width, and text that must not command it.
//!
//! Owns: writing to stdout and stderr, styles, and making untrusted text harmless.
//! Must not know: what is said.

use super::args::When;
use serde::Serialize;
use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, BufRead, BufWriter, IsTerminal, Write},
};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The one object goes out in pieces of this size.
const OBJECT_BYTES: usize = 64 * 1024;
/// Width when there is no terminal to ask.
const DEFAULT_WIDTH: usize = 80;
/// Prose is not made wider than this.
const PROSE_WIDTH: usize = 100;

/// How a piece of text looks. Each kind is told apart by more than its color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Names of transactions and files.
    Title,
    /// Ids, and what may be skipped.
    Dim,
    /// Where a hunk lies.
    Place,
    /// Lines that go.
    Removed,
    /// The words of a line that go.
    RemovedWord,
    /// Lines that come.
    Added,
    /// The words of a line that come.
    AddedWord,
    /// What needs a person.
    Warning,
    /// Errors.
    Error,
    /// A question.
    Prompt,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Title => "1",
            Self::Dim => "2",
            Self::Place => "36",
            Self::Removed => "31",
            Self::RemovedWord => "31;7",
            Self::Added => "32",
            Self::AddedWord => "32;7",
            Self::Warning => "33",
            Self::Error => "1;31",
            Self::Prompt => "1;34",
        }
    }
}

/// Puts text in a style where color is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint(bool);

impl Paint {
    /// Colors when `on`.
    pub(crate) fn new(on: bool) -> Self {
        Self(on)
    }

    /// Whether color is used.
    pub(crate) fn is_on(self) -> bool {
        self.0
    }

    /// `text` in `style`.
    pub(crate) fn text(self, style: Style, text: &str) -> String {
        let mut out = String::with_capacity(text.len() + 12);
        self.push(&mut out, style, text);
        out
    }

    /// Appends `text` in `style`.
    pub(crate) fn push(self, out: &mut String, style: Style, text: &str) {
        if self.0 && !text.is_empty() {
            // Writing to a string does not fail.
            let _ = write!(out, "\x1b[{}m{text}\x1b[0m", style.code());
        } else {
            out.push_str(text);
        }
    }
}

/// Where the words of a command go and come from.
#[derive(Debug)]
enum Ends {
    /// The process's own stdio.
    Process,
    /// A test: what is typed, and what was printed.
    #[cfg(test)]
    Test {
        input: io::Cursor<Vec<u8>>,
        output: String,
    },
}

/// The terminal of one command.
#[derive(Debug)]
pub(crate) struct Terminal {
    /// Print exactly one JSON object on stdout; people are spoken to on stderr.
    pub(crate) json: bool,
    /// Styles of what people read.
    pub(crate) paint: Paint,
    /// Columns.
    pub(crate) width: usize,
    failed: Option<io::Error>,
    ends: Ends,
}

impl Terminal {
    /// The terminal of this process.
    pub(crate) fn of_process(json: bool, color: When) -> Self {
        // People read stderr when stdout is for a program.
        let is_terminal = if json {
            io::stderr().is_terminal()
        } else {
            io::stdout().is_terminal()
        };
        let allowed = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
            && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        let color = match color {
            When::Auto => is_terminal && allowed,
            When::Always => true,
            When::Never => false,
        };
        Self {
            json,
            paint: Paint::new(color),
            width: width(),
            failed: None,
            ends: Ends::Process,
        }
    }

    /// A terminal on which `input` is typed.
    #[cfg(test)]
    pub(crate) fn of_test(json: bool, input: &str) -> Self {
        let input = io::Cursor::new(input.as_bytes().to_vec());
        Self {
            json,
            paint: Paint::new(false),
            width: DEFAULT_WIDTH,
            failed: None,
            ends: Ends::Test {
                input,
                output: String::new(),
            },
        }
    }

    /// What was printed so far, on either stream.
    #[cfg(test)]
    pub(crate) fn printed(&self) -> &str {
        match &self.ends {
            Ends::Test { output, .. } => output,
            Ends::Process => "",
        }
    }

    /// Writes what people read.
    pub(crate) fn say(&mut self, text: &str) {
        let written = match &mut self.ends {
            Ends::Process if self.json => write_all(&mut io::stderr().lock(), text),
            Ends::Process => write_all(&mut io::stdout().lock(), text),
            #[cfg(test)]
            Ends::Test { output, .. } => {
                output.push_str(text);
                Ok(())
            }
        };
        self.note(written);
    }

    /// Writes a line on stderr: what is not the result of the command.
    pub(crate) fn aside(&mut self, line: &str) {
        // Where it cannot be said there is nobody to hear it.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }

    /// Writes the one object of `--json`.
    pub(crate) fn object(&mut self, value: &impl Serialize) {
        let written = match &mut self.ends {
            Ends::Process => {
                let mut out = BufWriter::with_capacity(OBJECT_BYTES, io::stdout().lock());
                serde_json::to_writer(&mut out, value)
                    .map_err(io::Error::from)
                    .and_then(|()| write_all(&mut out, "\n"))
            }
            #[cfg(test)]
            Ends::Test { output, .. } => serde_json::to_string(value)
                .map(|text| output.push_str(&text))
                .map_err(io::Error::from),
        };
        self.note(written);
    }

    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written
            && self.failed.is_none()
        {
            self.failed = Some(error);
        }
    }

    /// What went wrong with the output; a reader that has seen enough is nothing wrong.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        self.failed
            .take()
            .filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }

    /// Whether a person reads what is said and can answer.
    pub(crate) fn is_interactive(&self) -> bool {
        let person = io::stdin().is_terminal() && io::stdout().is_terminal();
        match self.ends {
            Ends::Process => person && !self.json,
            #[cfg(test)]
            Ends::Test { .. } => !self.json,
        }
    }

    /// Asks a question; gives the answer without its line ending, or `None` at the end of input.
    pub(crate) fn ask(&mut self, question: &str) -> Option<String> {
        self.say(&self.paint.text(Style::Prompt, question));
        let mut line = String::new();
        let read = match &mut self.ends {
            Ends::Process => io::stdin().lock().read_line(&mut line),
            #[cfg(test)]
            Ends::Test { input, .. } => input.read_line(&mut line),
        };
        let typed = matches!(self.ends, Ends::Process) && io::stdin().is_terminal();
        // What was not typed on the terminal is written down, so that a transcript reads right.
        if !typed {
            self.say(&format!("{}\n", clean(line.trim_end())));
        }
        let some = read.is_ok_and(|bytes| bytes > 0);
        some.then(|| line.trim_end_matches(['\n', '\r']).to_owned())
    }
}

fn write_all(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn width() -> usize {
    let asked = rustix::termios::tcgetwinsize(io::stdout())
        .or_else(|_| rustix::termios::tcgetwinsize(io::stderr()))
        .map(|size| usize::from(size.ws_col))
        .ok()
        .filter(|&columns| columns > 0);
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    asked.or_else(told).unwrap_or(DEFAULT_WIDTH).max(20)
}

/// `text` with everything spelled out that would command a terminal or reorder what it shows:
/// control characters but for the tab, and bidirectional and invisible marks.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_unsafe(c) => out.push(c),
            '\0'..='\x1f' => {
                out.push('^');
                // 0x00..=0x1f shifted by 0x40 is `@`, a letter or `[\]^_`.
                out.push(char::from(c as u8 + 0x40));
            }
            c => {
                let _ = write!(out, "<U+{:04X}>", c as u32);
            }
        }
    }
    Cow::Owned(out)
}

/// As [`clean`], for text of several lines.
pub(crate) fn clean_lines(text: &str) -> String {
    let lines: Vec<_> = text
        .split('\n')
        .map(|line| clean(line.trim_end_matches('\r')))
        .collect();
    lines.join("\n")
}

fn is_unsafe(c: char) -> bool {
    match c {
        '\t' => false,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    }
}

/// Wraps prose at spaces, each line after `indent`; wide characters count as two columns.
pub(crate) fn wrap(text: &str, indent: &str, width: usize) -> Vec<String> {
    let room = width
        .min(PROSE_WIDTH)
        .saturating_sub(indent.width())
        .max(10);
    let mut lines = Vec::new();
    for paragraph in clean_lines(text).lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            if !line.is_empty() && line.width() + 1 + word.width() > room {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            for c in word.chars() {
                if line.width() + c.width().unwrap_or(0) > room {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(c);
            }
        }
        lines.push(line);
    }
    lines
        .into_iter()
        .map(|line| format!("{indent}{line}"))
        .collect()
}

/// `text` cut to `width` columns, with a mark where something is left out.
pub(crate) fn fit(text: &str, width: usize) -> String {
    let text = clean(text.lines().next().unwrap_or_default());
    if text.width() <= width {
        return text.into_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let columns = c.width().unwrap_or(0);
        if used + columns + 1 > width {
            break;
        }
        used += columns;
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_command_a_terminal_is_spelled_out() {
        for (text, expected) in [
            ("plain\ttab é 漢", "plain\ttab é 漢"),
            ("\x1b[2Jgone", "^[[2Jgone"),
            ("a\rb\x07", "a^Mb^G"),
            ("del\x7f", "del<U+007F>"),
            ("x\u{202e}y", "x<U+202E>y"),
            ("\u{9b}31m", "<U+009B>31m"),
        ] {
            assert_eq!(clean(text), expected);
        }
    }

    #[test]
    fn prose_is_wrapped_by_columns() {
        assert_eq!(wrap("one two three", "| ", 13), ["| one two", "| three"]);
        assert_eq!(wrap("漢字漢字漢字漢字", "", 10), ["漢字漢字漢", "字漢字"]);
        assert_eq!(wrap("a\n\nb", "", 80), ["a", "", "b"]);
    }

    #[test]
    fn a_name_is_cut_by_columns() {
        assert_eq!(fit("漢字漢字", 5), "漢字…");
        assert_eq!(fit("short", 5), "short");
        assert_eq!(fit("two\nlines", 80), "two");
    }
}
