//! The `@@` line of a hunk.

/// Where a hunk says that it is, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) old_start: usize,
    pub(super) old_count: usize,
    pub(super) new_count: usize,
}

impl Header {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("@@ -")?;
        let (old_start, old_count, rest) = range(rest)?;
        let (_, new_count, rest) = range(rest.strip_prefix(" +")?)?;
        rest.trim_start().starts_with("@@").then_some(Self {
            old_start,
            old_count,
            new_count,
        })
    }
}

/// The old line that a hunk header names, from 1.
pub(crate) fn header_old_start(line: &str) -> Option<usize> {
    Header::parse(line).map(|header| header.old_start)
}

/// `n` or `n,n`; the count is 1 where it is not given.
fn range(text: &str) -> Option<(usize, usize, &str)> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(',') {
        Some(rest) => {
            let (count, rest) = number(rest)?;
            Some((start, count, rest))
        }
        None => Some((start, 1, rest)),
    }
}

fn number(text: &str) -> Option<(usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let value = text[..digits].parse().ok()?;
    Some((value, &text[digits..]))
}
