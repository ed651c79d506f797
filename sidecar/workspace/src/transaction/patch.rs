//! `diff.patch`: the proposal as a git-style unified diff, for people and other tools.
//!
//! It is written once, beside the snapshots, and never read back. Hunks keep three lines of
//! context; hunks whose context meets share a header.

use std::fmt::Write;

use redline_edits::{HunkRecord, HunkState, OperationKind, adapt_line_endings};

use super::format::{Lines, PlainFile};

const CONTEXT: usize = 3;

/// The part of one file: its change where that can be shown as text, else its header.
pub(super) fn render(file: &PlainFile) -> String {
    let mut out = String::new();
    render_into(file, &mut out);
    out
}

fn render_into(file: &PlainFile, out: &mut String) {
    let (old, new) = match &file.operation {
        OperationKind::Rename { to } => (file.path.as_str(), to.as_str()),
        OperationKind::Edit
        | OperationKind::Create
        | OperationKind::Delete
        | OperationKind::SetMode { .. } => (file.path.as_str(), file.path.as_str()),
    };
    out.push_str("diff --git ");
    push_quoted("a/", old, out);
    out.push(' ');
    push_quoted("b/", new, out);
    out.push('\n');
    let (mut has_old, mut has_new) = (true, true);
    match &file.operation {
        OperationKind::Edit => {}
        OperationKind::Create => {
            out.push_str("new file mode 100644\n");
            has_old = false;
        }
        OperationKind::Delete => {
            out.push_str("deleted file mode 100644\n");
            has_new = false;
        }
        OperationKind::Rename { .. } => {
            out.push_str("rename from ");
            push_quoted("", old, out);
            out.push_str("\nrename to ");
            push_quoted("", new, out);
            out.push('\n');
        }
        OperationKind::SetMode { mode } => {
            let _ = writeln!(out, "new mode 100{:03o}", mode & 0o777);
        }
    }
    let pending = |record: &&HunkRecord| record.hunk.state == HunkState::Pending;
    let hunks: Vec<&HunkRecord> = file.hunks.iter().filter(pending).collect();
    if hunks.is_empty() {
        return;
    }
    for (mark, prefix, path, exists) in [("--- ", "a/", old, has_old), ("+++ ", "b/", new, has_new)]
    {
        out.push_str(mark);
        if exists {
            push_quoted(prefix, path, out);
        } else {
            out.push_str("/dev/null");
        }
        out.push('\n');
    }
    let lines = Lines::new(&file.anchor);
    let mut delta = 0isize;
    let mut group: Vec<&HunkRecord> = Vec::new();
    for record in hunks {
        if group
            .last()
            .is_some_and(|last| record.lines.start > last.lines.end + 2 * CONTEXT)
        {
            delta = render_group(&group, &lines, delta, out);
            group.clear();
        }
        group.push(record);
    }
    render_group(&group, &lines, delta, out);
}

fn render_group(group: &[&HunkRecord], lines: &Lines<'_>, delta: isize, out: &mut String) -> isize {
    let (Some(first), Some(last)) = (group.first(), group.last()) else {
        return delta;
    };
    let from = first.lines.start.saturating_sub(CONTEXT);
    let to = (last.lines.end + CONTEXT).min(lines.count());
    let count = |record: &&HunkRecord| record.hunk.replacement.split_inclusive('\n').count();
    let added: usize = group.iter().map(count).sum();
    let removed: usize = group.iter().map(|record| record.lines.len()).sum();
    let (old_len, new_len) = (to - from, to - from + added - removed);
    let start = |len: usize, at: usize| if len == 0 { at } else { at + 1 };
    let _ = writeln!(
        out,
        "@@ -{},{old_len} +{},{new_len} @@",
        start(old_len, from),
        start(new_len, from.saturating_add_signed(delta)),
    );
    let text = |range: std::ops::Range<usize>| lines.get(&range).unwrap_or("");
    let mut at = from;
    for record in group {
        let range = record.lines.clone();
        push_lines(' ', text(at..range.start), out);
        push_lines('-', text(range.clone()), out);
        let before = if range.start == 0 {
            ""
        } else {
            text(range.start - 1..range.start)
        };
        let after = text(range.end..(range.end + 1).min(lines.count()));
        let added =
            adapt_line_endings(&record.hunk.replacement, text(range.clone()), before, after);
        push_lines('+', &added, out);
        at = range.end;
    }
    push_lines(' ', text(at..to), out);
    delta + added as isize - removed as isize
}

fn push_lines(mark: char, text: &str, out: &mut String) {
    for line in text.split_inclusive('\n') {
        out.push(mark);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Writes a path as git does: in quotes when a character in it would confuse a reader.
fn push_quoted(prefix: &str, path: &str, out: &mut String) {
    let plain = |byte: u8| byte >= 0x20 && byte != 0x7f && byte != b'"' && byte != b'\\';
    if path.bytes().all(plain) {
        out.push_str(prefix);
        out.push_str(path);
        return;
    }
    out.push('"');
    out.push_str(prefix);
    for byte in path.bytes() {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x20..=0x7e => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out.push('"');
}
