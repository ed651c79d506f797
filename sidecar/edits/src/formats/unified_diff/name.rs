//! File names in headers: quoting, time stamps, prefixes.

/// A line that holds two names is not longer than this; every system's paths are shorter.
const MAX_NAMES_BYTES: usize = 2 * 4096 + 16;

/// A time stamp, with the space before it, is not longer than this.
const MAX_STAMP_BYTES: usize = 64;

/// A name as a header gives it, without quotes and time stamp; `None` is `/dev/null`.
pub(super) fn read(field: &str) -> Option<String> {
    let name = match field.strip_prefix('"').and_then(unquote) {
        Some((name, _)) => name,
        None => without_stamp(field).to_owned(),
    };
    (name != "/dev/null").then_some(name)
}

/// Both names of a `diff --git` line.
///
/// Unquoted names may hold spaces: then they are the same but for their prefix, which is how git
/// itself reads them.
pub(super) fn read_git(field: &str) -> Option<(String, String)> {
    if field.len() > MAX_NAMES_BYTES {
        return None;
    }
    if let Some(rest) = field.strip_prefix('"') {
        let (old, rest) = unquote(rest)?;
        return Some((old, read(rest.trim_start())?));
    }
    if let Some(at) = field.find(" \"") {
        return Some((field[..at].to_owned(), read(&field[at + 1..])?));
    }
    if field.matches(' ').count() == 1 {
        let (old, new) = field.split_once(' ')?;
        return Some((old.to_owned(), new.to_owned()));
    }
    field
        .match_indices(' ')
        .map(|(at, _)| (&field[..at], &field[at + 1..]))
        .find(|(old, new)| {
            let (old_rest, new_rest) = (old.split_once('/'), new.split_once('/'));
            old == new || matches!((old_rest, new_rest), (Some((_, a)), Some((_, b))) if a == b)
        })
        .map(|(old, new)| (old.to_owned(), new.to_owned()))
}

/// Decodes a C-style quoted name up to its closing quote; gives what follows, too.
pub(super) fn unquote(quoted: &str) -> Option<(String, &str)> {
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'"' => {
                let name = String::from_utf8(bytes).ok()?;
                return Some((name, &quoted[at + 1..]));
            }
            b'\\' => {
                let (_, escape) = rest.next()?;
                bytes.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'0'..=b'3' => {
                        let mut value = escape - b'0';
                        for _ in 0..2 {
                            let (_, digit) = rest.next()?;
                            if !(b'0'..=b'7').contains(&digit) {
                                return None;
                            }
                            value = value * 8 + (digit - b'0');
                        }
                        value
                    }
                    other => other,
                });
            }
            other => bytes.push(other),
        }
    }
    None
}

/// Cuts the time stamp off: after a tab, or after spaces where it plainly is one.
fn without_stamp(field: &str) -> &str {
    if let Some((name, _)) = field.split_once('\t') {
        return name;
    }
    let field = field.trim_end();
    let mut from = field.len().saturating_sub(MAX_STAMP_BYTES);
    while !field.is_char_boundary(from) {
        from += 1;
    }
    for (at, _) in field[from..].match_indices(' ') {
        let at = from + at;
        let stamp = field[at..].trim_start().as_bytes();
        let date = stamp.len() >= 16
            && stamp[..10].iter().enumerate().all(|(idx, byte)| match idx {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            })
            && stamp[10] == b' '
            && stamp[13] == b':';
        if date {
            return field[..at].trim_end();
        }
    }
    field
}

/// Takes `count` leading components off; `None` when there are not so many.
pub(super) fn strip(name: &str, count: usize) -> Option<&str> {
    let mut rest = name;
    for _ in 0..count {
        rest = rest.split_once('/')?.1.trim_start_matches('/');
    }
    (!rest.is_empty()).then_some(rest)
}

/// The prefixes that git writes in front of the two sides, in any of its settings.
const PREFIXES: [&str; 6] = ["a", "b", "c", "i", "o", "w"];

/// Takes the sides' prefix off where both have one: `a/x` and `b/x`, `old/x` and `new/x`.
pub(super) fn strip_prefixes(
    old: Option<&str>,
    new: Option<&str>,
) -> (Option<String>, Option<String>) {
    let known = |name: &str| {
        name.split_once('/')
            .is_some_and(|(prefix, rest)| PREFIXES.contains(&prefix) && !rest.is_empty())
    };
    let differ_in_prefix_only = |old: &str, new: &str| {
        let (old, new) = (old.split_once('/'), new.split_once('/'));
        matches!((old, new), (Some((p, a)), Some((q, b))) if p != q && a == b && !a.is_empty())
    };
    let take = match (old, new) {
        (Some(old), Some(new)) => known(old) && known(new) || differ_in_prefix_only(old, new),
        (Some(name), None) => name.starts_with("a/") && known(name),
        (None, Some(name)) => name.starts_with("b/") && known(name),
        (None, None) => false,
    };
    let side = |name: Option<&str>| {
        name.map(|name| {
            let stripped = if take { strip(name, 1) } else { None };
            stripped.unwrap_or(name).to_owned()
        })
    };
    (side(old), side(new))
}
