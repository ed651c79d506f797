//! The durable form of a transaction: private types and their codec.
//!
//! ```text
//! transactions/<id>/snapshots    header line, then the texts it refers to; written once, synced once
//! transactions/<id>/log.ndjson   one checked line for each event since (see [`crate::lines`])
//! transactions/<id>/snapshots.N  the same shape, for files that the Nth event added or re-derived
//!
//! snapshots := line(header) text*
//! ```
//!
//! The header holds everything but long texts, which stand after it and are named by offset and
//! length. A hunk's lines are spans of the text before and of the text after, where they are found
//! there; so a transaction of a thousand added files holds each text once.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use redline_edits::{HunkId, HunkRecord, HunkState, OperationKind, Reads};
use serde::{Deserialize, Serialize};

use super::file::{Before, FileState};
use super::model::{Purpose, TransactionMeta};
use super::record::{Applied, SettledFile, SettledHunk};
use crate::lines::{self, LineError};

/// The version that this code writes.
pub(super) const VERSION: u32 = 1;

/// What a transaction never changes, as stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredMeta {
    id: String,
    session_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn_id: Option<String>,
    title: String,
    proposed_by: String,
    created_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rationale: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undo_of: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    redo_of: Option<String>,
}

impl From<&TransactionMeta> for StoredMeta {
    fn from(meta: &TransactionMeta) -> Self {
        let (undo_of, redo_of) = match &meta.purpose {
            Purpose::Proposal => (None, None),
            Purpose::Undo { of } => (Some(of.clone()), None),
            Purpose::Redo { of } => (None, Some(of.clone())),
        };
        Self {
            id: meta.id.clone(),
            session_id: meta.session_id.clone(),
            turn_id: meta.turn_id.clone(),
            title: meta.title.clone(),
            proposed_by: meta.proposed_by.clone(),
            created_at: meta.created_at,
            rationale: meta.rationale.clone(),
            undo_of,
            redo_of,
        }
    }
}

impl From<StoredMeta> for TransactionMeta {
    fn from(stored: StoredMeta) -> Self {
        let purpose = match (stored.undo_of, stored.redo_of) {
            (Some(of), _) => Purpose::Undo { of },
            (None, Some(of)) => Purpose::Redo { of },
            (None, None) => Purpose::Proposal,
        };
        Self {
            id: stored.id,
            session_id: stored.session_id,
            turn_id: stored.turn_id,
            title: stored.title,
            proposed_by: stored.proposed_by,
            created_at: stored.created_at,
            rationale: stored.rationale,
            purpose,
        }
    }
}

/// The header of a `snapshots` file.
#[derive(Debug, Serialize, Deserialize)]
struct StoredHeader {
    version: u32,
    /// Only in the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    meta: Option<StoredMeta>,
    files: Vec<StoredFile>,
    /// Bytes of text after the header, and their hash.
    text_len: usize,
    text_sum: String,
}

/// A text after the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Span {
    at: usize,
    len: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredKind {
    Edit,
    Create,
    Delete,
    Rename,
    SetMode,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "was")]
enum StoredBefore {
    Missing,
    Text { text: Span },
    Opaque { revision: String },
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredFile {
    path: String,
    kind: StoredKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    before: StoredBefore,
    /// The text that the hunks are anchored to, when it is not the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    anchor: Option<Span>,
    /// The text with everything in it that was pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<Span>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_state: Option<StoredState>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    bom: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    prune: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unsaved: Vec<HunkId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    undone: Vec<HunkId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    applied: Option<String>,
    hunks: Vec<StoredHunk>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredHunk {
    /// Lines of the after text that are the replacement; it is then empty in `record`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    new: Option<(usize, usize)>,
    /// The removed lines stand at the hunk's place in the anchor text, and are empty in `record`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    old: bool,
    #[serde(flatten)]
    record: HunkRecord,
}

/// The state of a file's own operation, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredState {
    Pending,
    Accepted,
    Undone,
    Rejected,
    Withdrawn,
}

impl From<&FileState> for StoredState {
    fn from(state: &FileState) -> Self {
        match state {
            // A conflict is found again on today's disk.
            FileState::Pending | FileState::Conflict { .. } => Self::Pending,
            FileState::Accepted => Self::Accepted,
            FileState::Undone => Self::Undone,
            FileState::Rejected => Self::Rejected,
            FileState::Withdrawn => Self::Withdrawn,
        }
    }
}

impl From<StoredState> for FileState {
    fn from(stored: StoredState) -> Self {
        match stored {
            StoredState::Pending => Self::Pending,
            StoredState::Accepted => Self::Accepted,
            StoredState::Undone => Self::Undone,
            StoredState::Rejected => Self::Rejected,
            StoredState::Withdrawn => Self::Withdrawn,
        }
    }
}

/// A file as the codec sees it: hunks with their lines in `anchor`.
#[derive(Debug, Clone)]
pub(super) struct PlainFile {
    pub(super) path: String,
    pub(super) operation: OperationKind,
    pub(super) before: Before,
    /// The snapshot of `hunks`.
    pub(super) anchor: Arc<str>,
    /// The text with everything in it that is pending.
    pub(super) after: Arc<str>,
    pub(super) own_state: Option<FileState>,
    pub(super) flags: Vec<String>,
    pub(super) mode: Option<u32>,
    pub(super) bom: bool,
    pub(super) prune: Vec<String>,
    pub(super) unsaved: Vec<HunkId>,
    pub(super) undone: Vec<HunkId>,
    pub(super) applied: Option<String>,
    pub(super) hunks: Vec<HunkRecord>,
}

/// A line of `log.ndjson`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub(crate) enum LogLine {
    /// `snapshots.N` holds files that were added or re-derived.
    Grown {
        snapshots: u32,
    },
    Changed {
        path: String,
        hunks: Vec<HunkRecord>,
    },
    Settled {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        receipt_id: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hunks: Vec<SettledHunk>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<SettledFile>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        applied: Vec<Applied>,
    },
    Saved {
        path: String,
        hunks: Vec<HunkId>,
    },
    Reopened {
        path: String,
        hunks: Vec<HunkId>,
    },
    Failed {
        message: String,
    },
    Undone {
        by: String,
        hunks: Vec<(String, HunkId)>,
    },
    Redone {
        hunks: Vec<(String, HunkId)>,
    },
}

/// Writes a `snapshots` file.
pub(super) fn encode(
    meta: Option<&TransactionMeta>,
    files: &[PlainFile],
) -> serde_json::Result<Vec<u8>> {
    let mut texts = Texts::default();
    let stored: Vec<StoredFile> = files
        .iter()
        .map(|file| encode_file(file, &mut texts))
        .collect();
    let header = StoredHeader {
        version: VERSION,
        meta: meta.map(StoredMeta::from),
        files: stored,
        text_len: texts.bytes.len(),
        text_sum: blake3::hash(&texts.bytes).to_hex().to_string(),
    };
    let mut bytes = Vec::with_capacity(texts.bytes.len() + files.len() * 512);
    lines::push(&mut bytes, &header)?;
    bytes.extend_from_slice(&texts.bytes);
    Ok(bytes)
}

fn encode_file(file: &PlainFile, texts: &mut Texts) -> StoredFile {
    let before = match &file.before {
        Before::Missing => StoredBefore::Missing,
        Before::Text(text) => StoredBefore::Text {
            text: texts.add(text),
        },
        Before::Opaque { revision } => StoredBefore::Opaque {
            revision: revision.clone(),
        },
    };
    let before_text = before_text(&file.before);
    let anchor = (*file.anchor != *before_text).then(|| texts.add(&file.anchor));
    let after = (file.after != file.anchor).then(|| texts.add(&file.after));
    let (kind, to, mode) = match &file.operation {
        OperationKind::Edit => (StoredKind::Edit, None, file.mode),
        OperationKind::Create => (StoredKind::Create, None, file.mode),
        OperationKind::Delete => (StoredKind::Delete, None, None),
        OperationKind::Rename { to } => (StoredKind::Rename, Some(to.clone()), file.mode),
        OperationKind::SetMode { mode } => (StoredKind::SetMode, None, Some(*mode)),
    };
    let (old_lines, new_lines) = (Lines::new(&file.anchor), Lines::new(&file.after));
    // Where a hunk's replacement stands in the text after: its place moved by what pending hunks
    // before it add and take.
    let mut moved = 0isize;
    let hunks = file
        .hunks
        .iter()
        .map(|record| encode_hunk(record, &old_lines, &new_lines, &mut moved))
        .collect();
    StoredFile {
        path: file.path.clone(),
        kind,
        to,
        mode,
        before,
        anchor,
        after,
        own_state: file.own_state.as_ref().map(StoredState::from),
        flags: file.flags.clone(),
        bom: file.bom,
        prune: file.prune.clone(),
        unsaved: file.unsaved.clone(),
        undone: file.undone.clone(),
        applied: file.applied.clone(),
        hunks,
    }
}

fn encode_hunk(
    record: &HunkRecord,
    old_lines: &Lines<'_>,
    new_lines: &Lines<'_>,
    moved: &mut isize,
) -> StoredHunk {
    let mut record = record.clone();
    let lines = record.lines.clone();
    let old = old_lines
        .get(&lines)
        .is_some_and(|text| *with_lf(text) == *record.hunk.removed);
    if old {
        record.hunk.removed.clear();
    }
    let mut new = None;
    if record.hunk.state == HunkState::Pending
        && record.reads == Reads::Removed
        && let Some(start) = lines.start.checked_add_signed(*moved)
    {
        let count = record.hunk.replacement.split_inclusive('\n').count();
        let there = new_lines.get(&(start..start + count));
        if there.is_some_and(|text| *with_lf(text) == *record.hunk.replacement) {
            new = Some((start, start + count));
            record.hunk.replacement.clear();
        }
        *moved += count as isize - lines.len() as isize;
    }
    StoredHunk { new, old, record }
}

/// Reads a `snapshots` file.
pub(super) fn decode(bytes: &[u8]) -> Result<(Option<TransactionMeta>, Vec<PlainFile>), LineError> {
    let broken = |message: &str| LineError::Shape {
        line: 1,
        message: message.to_owned(),
    };
    let end = memchr::memchr(b'\n', bytes).ok_or_else(|| broken("the header is cut off"))?;
    let header: StoredHeader = lines::parse_line(&bytes[..end], 1)?;
    if header.version != VERSION {
        return Err(broken(&format!(
            "version {} is not known here",
            header.version
        )));
    }
    let texts = &bytes[end + 1..];
    if texts.len() != header.text_len || blake3::hash(texts).to_hex().as_str() != header.text_sum {
        return Err(broken("the texts after the header are damaged"));
    }
    let texts = std::str::from_utf8(texts).map_err(|error| broken(&error.to_string()))?;
    let mut known = HashMap::new();
    let files = header
        .files
        .into_iter()
        .map(|file| decode_file(file, texts, &mut known))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| broken("a text that it names is not there"))?;
    Ok((header.meta.map(TransactionMeta::from), files))
}

fn decode_file(
    stored: StoredFile,
    texts: &str,
    known: &mut HashMap<(usize, usize), Arc<str>>,
) -> Option<PlainFile> {
    let mut text = |span: Span| -> Option<Arc<str>> {
        if let Some(text) = known.get(&(span.at, span.len)) {
            return Some(text.clone());
        }
        let text: Arc<str> = texts.get(span.at..span.at.checked_add(span.len)?)?.into();
        known.insert((span.at, span.len), text.clone());
        Some(text)
    };
    let before = match stored.before {
        StoredBefore::Missing => Before::Missing,
        StoredBefore::Text { text: span } => Before::Text(text(span)?),
        StoredBefore::Opaque { revision } => Before::Opaque { revision },
    };
    let anchor = match stored.anchor {
        Some(span) => text(span)?,
        None => before_text(&before),
    };
    let after = match stored.after {
        Some(span) => text(span)?,
        None => anchor.clone(),
    };
    let (old_lines, new_lines) = (Lines::new(&anchor), Lines::new(&after));
    let hunks = stored
        .hunks
        .into_iter()
        .map(|stored| {
            let mut record = stored.record;
            if stored.old {
                record.hunk.removed = with_lf(old_lines.get(&record.lines)?).into_owned();
            }
            if let Some((start, end)) = stored.new {
                record.hunk.replacement = with_lf(new_lines.get(&(start..end))?).into_owned();
            }
            Some(record)
        })
        .collect::<Option<Vec<_>>>()?;
    Some(PlainFile {
        path: stored.path,
        operation: match stored.kind {
            StoredKind::Edit => OperationKind::Edit,
            StoredKind::Create => OperationKind::Create,
            StoredKind::Delete => OperationKind::Delete,
            StoredKind::Rename => OperationKind::Rename { to: stored.to? },
            StoredKind::SetMode => OperationKind::SetMode { mode: stored.mode? },
        },
        before,
        anchor,
        after,
        own_state: stored.own_state.map(FileState::from),
        flags: stored.flags,
        bom: stored.bom,
        mode: stored.mode,
        prune: stored.prune,
        unsaved: stored.unsaved,
        undone: stored.undone,
        applied: stored.applied,
        hunks,
    })
}

/// The text before, empty when there was none.
pub(super) fn before_text(before: &Before) -> Arc<str> {
    match before {
        Before::Text(text) => text.clone(),
        Before::Missing | Before::Opaque { .. } => Arc::from(""),
    }
}

fn with_lf(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b"\r\n").is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n"))
}

/// A text by lines that end at LF.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Byte before each line, and after the last.
    offsets: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let mut offsets: Vec<usize> = [0].into_iter().chain(feeds).collect();
        if offsets.last().is_some_and(|last| *last < text.len()) {
            offsets.push(text.len());
        }
        Self { text, offsets }
    }

    pub(super) fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The text of `lines`; `None` when there are not so many.
    pub(super) fn get(&self, lines: &std::ops::Range<usize>) -> Option<&'a str> {
        let (start, end) = (
            *self.offsets.get(lines.start)?,
            *self.offsets.get(lines.end)?,
        );
        self.text.get(start..end)
    }
}

/// Texts gathered for the file's second half; equal ones of the same allocation stand once.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    known: HashMap<(*const u8, usize), Span>,
}

impl Texts {
    fn add(&mut self, text: &Arc<str>) -> Span {
        let key = (text.as_ptr(), text.len());
        if let Some(span) = self.known.get(&key) {
            return *span;
        }
        let span = Span {
            at: self.bytes.len(),
            len: text.len(),
        };
        self.bytes.extend_from_slice(text.as_bytes());
        self.known.insert(key, span);
        span
    }
}
