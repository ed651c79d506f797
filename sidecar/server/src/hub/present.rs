//! What a client is shown: transactions and hunks in wire form.
//!
//! Owns: the conversion from the domain to `redline_protocol`, placed in a given text.
//! Must not know: who is shown what, or when.
//!
//! Cost: one pass over a text for all its hunks; nothing here runs on a keystroke.

use std::collections::HashMap;

use redline_edits::OperationKind;
use redline_edits::{
    ConflictSides, Encoding, Hunk, HunkId, HunkSet, HunkState, MatchRung, to_line_col,
};
use redline_protocol::v1;
use redline_workspace::{FileReview, FileState, Receipt, Standing, Transaction, TransactionState};
use ropey::Rope;

/// The files of a transaction, each with the number of its first hunk: hunks count from 1, by file and place.
fn numbered(transaction: &Transaction) -> impl Iterator<Item = (&FileReview, u32)> {
    transaction.files().scan(1, |next, file| {
        let first = *next;
        *next += count(file.hunks.len());
        Some((file, first))
    })
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Hunks and operations of whole files that still wait for a decision, conflicts among them.
pub(crate) fn left(transaction: &Transaction) -> u32 {
    let totals = transaction.totals();
    count(totals.pending + totals.conflicts)
}

/// A transaction as it stands, with the files that `shown` picks.
pub(crate) fn transaction(
    transaction: &Transaction,
    uri_of: &dyn Fn(&str) -> String,
    shown: &dyn Fn(&str) -> bool,
) -> v1::Transaction {
    let meta = transaction.meta();
    v1::Transaction {
        id: meta.id.clone(),
        revision: transaction.revision(),
        state: state(transaction.state()),
        title: meta.title.clone(),
        proposed_by: meta.proposed_by.clone(),
        created_at: meta.created_at,
        turn_id: meta.turn_id.clone(),
        rationale: meta.rationale.clone(),
        files: numbered(transaction)
            .filter(|(file, _)| shown(&file.path))
            .map(|(file, first)| file_change(file, transaction.is_incomplete(), first, uri_of))
            .collect(),
    }
}

fn file_change(
    file: &FileReview,
    incomplete: bool,
    first: u32,
    uri_of: &dyn Fn(&str) -> String,
) -> v1::FileChange {
    let mut lines = LineCounter::new(&file.text);
    let hunks: Vec<v1::Hunk> = file
        .hunks
        .placed()
        .zip(first..)
        .map(|((each, range), index)| {
            let sides = file.hunks.conflict(&each.id, &file.text);
            let start_line = lines.line_of(range.start) + 1;
            let mut shown = hunk(each, file.standing(each), start_line, sides);
            shown.index = index;
            shown.incomplete = incomplete && each.state == HunkState::Pending;
            shown
        })
        .collect();
    let mut flags = file.flags.clone();
    if file.is_reanchored() {
        flags.push("reanchored".to_owned());
    }
    if let Some(FileState::Conflict { reason }) = file.operation_state() {
        flags.push(format!("conflict:{reason}"));
    }
    v1::FileChange {
        path: file.path.clone(),
        uri: uri_of(&file.path),
        operation: operation(&file.operation),
        new_path: file.new_path().map(str::to_owned),
        mode: match &file.operation {
            OperationKind::SetMode { mode } => Some(format!("{mode:04o}")),
            _ => None,
        },
        state: file_state(file, &hunks),
        revision: file.revision,
        flags,
        hunks,
    }
}

fn hunk(
    hunk: &Hunk,
    standing: Standing,
    start_line: u32,
    sides: Option<ConflictSides>,
) -> v1::Hunk {
    let rationales = hunk.rationales();
    v1::Hunk {
        id: hunk.id.to_string(),
        revision: hunk.revision,
        state: match standing {
            Standing::Pending => v1::HunkState::Pending,
            Standing::Conflict => v1::HunkState::Conflict,
            Standing::Accepted { .. } => v1::HunkState::Accepted,
            Standing::Undone | Standing::Rejected => v1::HunkState::Rejected,
            Standing::Withdrawn => v1::HunkState::Withdrawn,
        },
        index: 0,
        start_line,
        removed: lines(&hunk.removed),
        no_newline_at_end: !hunk.replacement.is_empty() && !hunk.replacement.ends_with('\n'),
        rationale: (!rationales.is_empty()).then(|| rationales.join("\n")),
        matched: match hunk.rung {
            MatchRung::Exact => v1::MatchRung::Exact,
            MatchRung::Offset => v1::MatchRung::Offset,
            MatchRung::Whitespace => v1::MatchRung::Whitespace,
            MatchRung::Indentation => v1::MatchRung::Indentation,
            MatchRung::Lookalike => v1::MatchRung::Lookalike,
        },
        amended: hunk.amended.is_some(),
        unsaved: matches!(standing, Standing::Accepted { unsaved: true, .. }),
        incomplete: false,
        conflict: sides.map(|sides| v1::Conflict {
            reason: sides.reason,
            base: lines(&sides.base),
            current: lines(&sides.current),
            proposed: lines(&sides.proposed),
        }),
        added: lines(&hunk.replacement),
    }
}

/// Which hunks of a copy are shown.
#[derive(Debug, Clone)]
pub(crate) enum Which {
    /// Those that wait for a decision.
    Open,
    /// Those that meet or touch these bytes and wait for a decision.
    OpenWithin(std::ops::Range<usize>),
    /// Those that wait for a decision, and those that were accepted and are not saved.
    Unsettled,
}

/// Hunks of one copy of `path`, placed in its text and in its client's encoding.
pub(crate) fn document(
    transaction: &Transaction,
    path: &str,
    set: &HunkSet,
    text: &Rope,
    encoding: Encoding,
    which: &Which,
) -> Vec<v1::DocumentHunk> {
    let total = transaction.files().map(|file| file.hunks.len()).sum();
    let file = numbered(transaction).find(|(file, _)| file.path == path);
    let is_unsaved = |id: &HunkId| file.is_some_and(|(file, _)| file.unsaved.contains(id));
    let indices: HashMap<&HunkId, u32> = file
        .map(|(file, first)| {
            file.hunks
                .iter()
                .map(|hunk| &hunk.id)
                .zip(first..)
                .collect()
        })
        .unwrap_or_default();
    let mut lines = LineCounter::new(text);
    let hunks: Vec<(&Hunk, std::ops::Range<usize>)> = match which {
        Which::OpenWithin(bytes) => set.in_range(bytes.clone()).collect(),
        Which::Open | Which::Unsettled => set.placed().collect(),
    };
    hunks
        .into_iter()
        .filter_map(|(each, range)| {
            let standing = match each.state {
                HunkState::Pending => Standing::Pending,
                HunkState::Conflict(_) => Standing::Conflict,
                HunkState::Accepted { by_hand }
                    if matches!(which, Which::Unsettled) && is_unsaved(&each.id) =>
                {
                    Standing::Accepted {
                        unsaved: true,
                        by_hand,
                    }
                }
                HunkState::Accepted { .. } | HunkState::Rejected | HunkState::Withdrawn => {
                    return None;
                }
            };
            Some((each, range, standing))
        })
        .map(|(each, range, standing)| {
            let sides = set.conflict(&each.id, text);
            let start_line = lines.line_of(range.start) + 1;
            let mut shown = hunk(each, standing, start_line, sides);
            shown.index = indices.get(&each.id).copied().unwrap_or(0);
            shown.incomplete = transaction.is_incomplete() && each.state == HunkState::Pending;
            v1::DocumentHunk {
                transaction_id: transaction.id().to_owned(),
                total: count(total),
                range: v1::Range {
                    start: position(text, range.start, encoding),
                    end: position(text, range.end, encoding),
                },
                hunk: shown,
            }
        })
        .collect()
}

fn position(text: &Rope, byte: usize, encoding: Encoding) -> v1::Position {
    let at = to_line_col(text, byte, encoding);
    v1::Position {
        line: at.line,
        character: at.character,
    }
}

/// Lines without their endings; a last piece without one counts as a line.
pub(crate) fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n')
        .map(|line| line.strip_suffix('\n').unwrap_or(line))
        .map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned())
        .collect()
}

/// Joins lines to a hunk's text again.
pub(crate) fn unlines(lines: &[String], no_newline_at_end: bool) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    if no_newline_at_end {
        text.pop();
    }
    text
}

pub(crate) fn state(state: TransactionState) -> v1::TransactionState {
    match state {
        TransactionState::Pending => v1::TransactionState::Pending,
        TransactionState::Committed => v1::TransactionState::Committed,
        TransactionState::Rejected => v1::TransactionState::Rejected,
        TransactionState::Conflicted => v1::TransactionState::Conflicted,
        TransactionState::Failed => v1::TransactionState::Failed,
        TransactionState::Undone => v1::TransactionState::Undone,
    }
}

fn operation(kind: &OperationKind) -> v1::OperationKind {
    match kind {
        OperationKind::Edit => v1::OperationKind::Edit,
        OperationKind::Create => v1::OperationKind::Create,
        OperationKind::Delete => v1::OperationKind::Delete,
        OperationKind::Rename { .. } => v1::OperationKind::Rename,
        OperationKind::SetMode { .. } => v1::OperationKind::SetMode,
    }
}

/// The file's own operation decides; without one, what is left to do among its hunks.
fn file_state(file: &FileReview, hunks: &[v1::Hunk]) -> v1::HunkState {
    match file.operation_state() {
        Some(FileState::Pending) => return v1::HunkState::Pending,
        Some(FileState::Conflict { .. }) => return v1::HunkState::Conflict,
        Some(FileState::Accepted) => return v1::HunkState::Accepted,
        Some(FileState::Undone | FileState::Rejected) => return v1::HunkState::Rejected,
        Some(FileState::Withdrawn) => return v1::HunkState::Withdrawn,
        None => {}
    }
    for wanted in [
        v1::HunkState::Conflict,
        v1::HunkState::Pending,
        v1::HunkState::Accepted,
        v1::HunkState::Rejected,
    ] {
        if hunks.iter().any(|hunk| hunk.state == wanted) {
            return wanted;
        }
    }
    v1::HunkState::Withdrawn
}

/// A receipt as clients see it.
pub(crate) fn receipt(receipt: &Receipt) -> v1::Receipt {
    v1::Receipt {
        id: receipt.id.clone(),
        transaction_id: receipt.transaction_id.clone(),
        action: receipt.action.as_str().to_owned(),
        decided_by: receipt.decided_by.clone(),
        decided_at: receipt.decided_at,
        hunks: receipt
            .shown
            .iter()
            .map(|shown| v1::HunkRef {
                id: shown.id.clone(),
                revision: Some(shown.revision),
            })
            .collect(),
        written: receipt.written().map(str::to_owned).collect(),
        unsaved: receipt.unsaved().map(str::to_owned).collect(),
        flags: receipt.flags().into_iter().map(str::to_owned).collect(),
    }
}

/// Counts line feeds once, for places that come mostly in order.
struct LineCounter<'a> {
    text: &'a Rope,
    byte: usize,
    line: u32,
}

impl<'a> LineCounter<'a> {
    fn new(text: &'a Rope) -> Self {
        Self {
            text,
            byte: 0,
            line: 0,
        }
    }

    fn line_of(&mut self, byte: usize) -> u32 {
        let byte = byte.min(self.text.len_bytes());
        if byte < self.byte {
            (self.byte, self.line) = (0, 0);
        }
        let feeds: usize = self
            .text
            .byte_slice(self.byte..byte)
            .chunks()
            .map(|chunk| memchr::memchr_iter(b'\n', chunk.as_bytes()).count())
            .sum();
        self.line += u32::try_from(feeds).unwrap_or(u32::MAX);
        self.byte = byte;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_by_line_feeds_alone() {
        let text = Rope::from_str("a\rb\nc\n\u{2028}d");
        let mut counter = LineCounter::new(&text);
        let places = [0, 3, 4, 6, 9, 0];
        let found: Vec<u32> = places.iter().map(|&byte| counter.line_of(byte)).collect();
        assert_eq!(found, [0, 0, 1, 2, 2, 0]);
    }

    #[test]
    fn lines_and_back() {
        for text in ["", "a\n", "a", "a\nb\n", "\n\nx"] {
            let bare = !text.is_empty() && !text.ends_with('\n');
            assert_eq!(unlines(&lines(text), bare), text);
        }
    }
}
