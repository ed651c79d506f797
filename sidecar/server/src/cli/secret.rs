//! A secret from standard input: typed unseen on a terminal, else the first line of what is piped in.
//!
//! Owns: that nothing of it is shown, and that the terminal is as it was afterwards, whatever happens.

use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use crate::failure::Failure;

/// Longest secret that is taken, in bytes.
const LONGEST: usize = 16 << 10;

/// Reads a secret; `question` is asked on a terminal.
///
/// # Errors
///
/// `CANCELLED` for Ctrl-C, `INVALID_ARGUMENTS` for what cannot be a key. Never with what was read.
pub(crate) fn read(question: &str) -> Result<String, Failure> {
    let stdin = io::stdin();
    let bytes = match stdin.is_terminal() {
        true => typed(question)?,
        false => piped(stdin.lock())?,
    };
    let bad = |what: &str| Failure::usage(what.to_owned(), "give the key alone, on one line");
    let text = String::from_utf8(bytes).map_err(|_| bad("the key is no text"))?;
    let key = text.trim();
    if key.is_empty() {
        return Err(bad("no key was given"));
    }
    if key.len() > LONGEST || key.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(bad(
            "this cannot be a key: it is too long, or holds white space",
        ));
    }
    Ok(key.to_owned())
}

/// The first line.
fn piped(from: impl Read) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.take(LONGEST as u64 + 2)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io("reading standard input", &error))?;
    let end = bytes.iter().position(|&byte| byte == b'\n');
    bytes.truncate(end.unwrap_or(bytes.len()));
    Ok(bytes)
}

/// The terminal as it was, put back when this goes.
struct Quiet(Termios);

impl Quiet {
    fn begin() -> Result<Self, Failure> {
        let fault = |error: rustix::io::Errno| Failure::io("the terminal", &error.into());
        let stdin = io::stdin();
        let before = tcgetattr(stdin.as_fd()).map_err(fault)?;
        let mut quiet = before.clone();
        // Keys come one by one, Ctrl-C among them: a signal would leave the terminal mute.
        quiet
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(stdin.as_fd(), OptionalActions::Flush, &quiet).map_err(fault)?;
        Ok(Self(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(io::stdin().as_fd(), OptionalActions::Flush, &self.0);
    }
}

fn typed(question: &str) -> Result<Vec<u8>, Failure> {
    let quiet = Quiet::begin()?;
    let mut shown = io::stderr();
    // Who sees no question can still type.
    let _ = write!(shown, "{question}").and_then(|()| shown.flush());
    let read = keys(io::stdin().lock());
    drop(quiet);
    let _ = writeln!(shown);
    read
}

/// Takes keys up to the end of the line.
fn keys(mut from: impl Read) -> Result<Vec<u8>, Failure> {
    let mut typed = Vec::new();
    let mut key = [0];
    loop {
        let read = from
            .read(&mut key)
            .map_err(|error| Failure::io("reading the terminal", &error))?;
        if read == 0 {
            break;
        }
        match key[0] {
            b'\r' | b'\n' | 0x04 => break,
            0x03 => return Err(Failure::new("CANCELLED", "no key was taken", "")),
            0x7f | 0x08 => {
                // One character, however many bytes it has.
                while typed.pop().is_some_and(|byte: u8| byte & 0xc0 == 0x80) {}
            }
            // Ctrl-U.
            0x15 => typed.clear(),
            byte if typed.len() <= LONGEST => typed.push(byte),
            _ => {}
        }
    }
    Ok(typed)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn keys_are_taken_and_corrected_up_to_the_end_of_the_line() {
        for (typed, taken) in [
            ("sk-1\rrest", "sk-1"),
            ("sk-1", "sk-1"),
            ("ax\u{7f}b\n", "ab"),
            ("a\u{e9}\u{7f}b\n", "ab"),
            ("wrong\u{15}right\n", "right"),
            ("\u{7f}\u{7f}a\n", "a"),
        ] {
            assert_eq!(
                keys(typed.as_bytes()).unwrap(),
                taken.as_bytes(),
                "{typed:?}"
            );
        }
        assert_eq!(keys("ab\u{3}".as_bytes()).unwrap_err().code, "CANCELLED");
        assert_eq!(piped("first\nsecond\n".as_bytes()).unwrap(), b"first");
    }
}
