//! The parsers of edit formats, their resolution, and anchoring.

use std::collections::BTreeMap;

use redline_edits::{
    FileError, FileState, Files, Format, HunkId, HunkSet, Operation, OperationKind, Origin,
    ParseOptions, Proposal, decode, detect, parse, parse_bytes, resolve as resolve_proposal,
};
use ropey::Rope;

/// Search/replace blocks.
pub fn search_replace(data: &[u8]) {
    parsed(Format::SearchReplace, data);
}

/// Unified diffs.
pub fn unified_diff(data: &[u8]) {
    parsed(Format::UnifiedDiff, data);
}

/// The `*** Begin Patch` envelope.
pub fn apply_patch(data: &[u8]) {
    parsed(Format::ApplyPatch, data);
}

/// JSON edits.
pub fn json(data: &[u8]) {
    parsed(Format::Json, data);
}

/// Whatever it is.
pub fn detect_any(data: &[u8]) {
    let options = ParseOptions::default();
    match parse_bytes(None, data, &options) {
        Ok((format, proposal)) => {
            let decoded = decode(data).expect("what parses is text");
            assert_eq!(detect(&decoded.text), Some(format));
            well_formed(&proposal);
        }
        Err(err) => {
            let n_lines = 1 + data.iter().filter(|byte| **byte == b'\n').count();
            assert!(
                (1..=n_lines).contains(&err.line),
                "{err} in {n_lines} lines"
            );
        }
    }
}

fn parsed(format: Format, data: &[u8]) {
    let input = String::from_utf8_lossy(data);
    for strip in [None, Some(0), Some(2)] {
        match parse(format, &input, &ParseOptions { strip }) {
            Ok(proposal) => well_formed(&proposal),
            Err(err) => {
                let n_lines = input.split('\n').count();
                assert!(
                    (1..=n_lines).contains(&err.line),
                    "{err} in {n_lines} lines"
                );
                assert!(!err.code.is_empty() && !err.message.is_empty() && !err.hint.is_empty());
            }
        }
    }
}

fn well_formed(proposal: &Proposal) {
    assert!(!proposal.changes.is_empty());
    // Whatever it says, it can be played on any tree.
    for tree in [Memory::default(), Memory::with("a.txt", "a\nb\nc\n")] {
        if let Ok(resolved) = resolve_proposal(proposal, &tree) {
            check_operations(&resolved.operations, &tree);
        }
    }
}

/// A proposal played on a text: the input is the text, a NUL, and the proposal.
///
/// Every path of the proposal is taken for the one file, so that its edits meet the text.
pub fn resolve(data: &[u8]) {
    let input = String::from_utf8_lossy(data);
    let Some((text, input)) = input.split_once('\0') else {
        return;
    };
    let Some(format) = detect(input) else {
        return;
    };
    let Ok(mut proposal) = parse(format, input, &ParseOptions::default()) else {
        return;
    };
    for change in &mut proposal.changes {
        change.path = "x".to_owned();
    }
    let tree = Memory::with("x", text);
    match resolve_proposal(&proposal, &tree) {
        Ok(resolved) => check_operations(&resolved.operations, &tree),
        Err(err) => assert!(!err.code().is_empty() && !err.hint().is_empty()),
    }
}

fn check_operations(operations: &[Operation], tree: &Memory) {
    for (idx, operation) in operations.iter().enumerate() {
        assert!(
            operations[..idx]
                .iter()
                .all(|other| other.path != operation.path)
        );
        let before = tree.0.get(&operation.path);
        assert_eq!(operation.before.as_ref(), before, "{operation:?}");
        match operation.kind {
            OperationKind::Edit => assert_ne!(operation.before, operation.after),
            OperationKind::Create => assert!(before.is_none() && operation.after.is_some()),
            OperationKind::Delete => assert!(before.is_some() && operation.after.is_none()),
            OperationKind::Rename { .. } => assert!(operation.after.is_some()),
            OperationKind::SetMode { .. } => assert_eq!(operation.before, operation.after),
        }
        let n_lines = operation
            .after
            .as_deref()
            .unwrap_or_default()
            .split_inclusive('\n')
            .count();
        for span in &operation.spans {
            assert!(
                span.lines.start <= span.lines.end && span.lines.end <= n_lines,
                "{operation:?}"
            );
        }
    }
}

#[derive(Default)]
struct Memory(BTreeMap<String, String>);

impl Memory {
    fn with(path: &str, text: &str) -> Self {
        Self(BTreeMap::from([(path.to_owned(), text.to_owned())]))
    }
}

impl Files for Memory {
    fn read(&self, path: &str) -> Result<FileState, FileError> {
        Ok(match self.0.get(path) {
            Some(text) => FileState::Text {
                text: text.clone(),
                bom: false,
                version: None,
            },
            None => FileState::Missing,
        })
    }
}

/// A user and an agent at one text; each byte is a step or a part of one.
pub fn anchors(data: &[u8]) {
    let mut bytes = data.iter().copied();
    let mut next = || bytes.next();
    let mut text = Rope::from_str(&piece(next().unwrap_or(0), 12));
    let mut set = HunkSet::new();
    let mut n_ids = 0;
    let mut ids = || {
        n_ids += 1;
        HunkId::new(format!("h_{n_ids}"))
    };
    while let Some(step) = next() {
        let (a, b, c) = (
            next().unwrap_or(0),
            next().unwrap_or(0),
            next().unwrap_or(0),
        );
        match step % 8 {
            0..=2 => {
                let range = range_of(&text, a, b);
                let inserted = piece(c, 2);
                let before = text.clone();
                text = spliced(&text, range.clone(), &inserted);
                set.change(&before, range, &inserted, &text, &mut Vec::new());
            }
            3 | 4 => {
                let proposed = set.proposed(&text);
                let after = spliced(&proposed, range_of(&proposed, a, b), &piece(c, 3));
                set.propose(&text, &after.to_string(), &Origin::default(), &mut ids);
            }
            5 => {
                let id = set
                    .pending()
                    .nth(a as usize % 4)
                    .map(|(hunk, _)| hunk.id.clone());
                if let Some(id) = id {
                    text = set.accept(&text, &id).expect("a pending hunk").text;
                }
            }
            6 => {
                let id = set
                    .pending()
                    .nth(a as usize % 4)
                    .map(|(hunk, _)| hunk.id.clone());
                if let Some(id) = id {
                    set.reject(&id).expect("a pending hunk");
                }
            }
            _ => {
                let new = spliced(&text, range_of(&text, a, b), &piece(c, 3));
                set.rebase(&text, &new);
                text = new;
            }
        }
        check_set(&set, &text);
    }
    // With everything taken back, what is proposed is the text.
    let pending: Vec<HunkId> = set.pending().map(|(hunk, _)| hunk.id.clone()).collect();
    for id in &pending {
        set.reject(id).expect("a pending hunk");
    }
    assert_eq!(set.proposed(&text), text);
}

fn check_set(set: &HunkSet, text: &Rope) {
    let found = text.to_string();
    let mut end = 0;
    for (hunk, range) in set.pending() {
        assert!(
            range.start >= end && range.start <= range.end,
            "{hunk:?} at {range:?}"
        );
        end = range.end;
        let at_line = |at: usize| at == 0 || at == found.len() || found.as_bytes()[at - 1] == b'\n';
        assert!(
            at_line(range.start) && at_line(range.end),
            "{hunk:?} at {range:?}"
        );
    }
}

fn range_of(text: &Rope, a: u8, b: u8) -> std::ops::Range<usize> {
    let at = |byte: u8| byte as usize * (text.len_chars() + 1) / 256;
    let (a, b) = (at(a), at(b));
    text.char_to_byte(a.min(b))..text.char_to_byte(a.max(b))
}

fn spliced(text: &Rope, range: std::ops::Range<usize>, inserted: &str) -> Rope {
    let found = text.to_string();
    Rope::from_str(&format!(
        "{}{inserted}{}",
        &found[..range.start],
        &found[range.end..]
    ))
}

/// A small text by number: lines that are often alike.
fn piece(number: u8, max_lines: usize) -> String {
    const LINES: [&str; 8] = ["a\n", "b\n", "\n", "a", "é\r\n", "c\rd\n", "", "b\n"];
    let n_lines = number as usize % (max_lines + 1);
    (0..n_lines)
        .map(|idx| LINES[(number as usize / 3 + idx * 5) % LINES.len()])
        .collect()
}
