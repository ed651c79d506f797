//! Writing and reading `snapshots` files.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use redline_edits::{HunkRecord, HunkState, OperationKind, Reads};

use super::{
    PlainFile, Span, StoredBefore, StoredFile, StoredHeader, StoredHunk, StoredKind, StoredMeta,
    StoredState, VERSION,
};
use crate::lines::{self, LineError};
use crate::transaction::file::{Before, FileState};
use crate::transaction::model::TransactionMeta;

/// Writes a `snapshots` file.
pub(in crate::transaction) fn encode(
    meta: Option<&TransactionMeta>,
    files: Vec<PlainFile>,
) -> serde_json::Result<Vec<u8>> {
    let mut texts = Texts::default();
    let mut bytes = Vec::with_capacity(files.len() * 512);
    let stored: Vec<StoredFile> = files
        .into_iter()
        .map(|file| encode_file(file, &mut texts))
        .collect();
    let header = StoredHeader {
        version: VERSION,
        meta: meta.map(StoredMeta::from),
        files: stored,
        text_len: texts.bytes.len(),
        text_sum: blake3::hash(&texts.bytes).to_hex().to_string(),
    };
    lines::push(&mut bytes, &header)?;
    bytes.extend_from_slice(&texts.bytes);
    Ok(bytes)
}

fn encode_file(file: PlainFile, texts: &mut Texts) -> StoredFile {
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
    let (kind, to, mode) = match file.operation {
        OperationKind::Edit => (StoredKind::Edit, None, file.mode),
        OperationKind::Create => (StoredKind::Create, None, file.mode),
        OperationKind::Delete => (StoredKind::Delete, None, None),
        OperationKind::Rename { to } => (StoredKind::Rename, Some(to), file.mode),
        OperationKind::SetMode { mode } => (StoredKind::SetMode, None, Some(mode)),
    };
    let (old_lines, new_lines) = (Lines::new(&file.anchor), Lines::new(&file.after));
    // Where a hunk's replacement stands in the text after: its place moved by what pending hunks
    // before it add and take.
    let mut moved = 0isize;
    let hunks = file
        .hunks
        .into_iter()
        .map(|record| encode_hunk(record, &old_lines, &new_lines, &mut moved))
        .collect();
    StoredFile {
        path: file.path,
        kind,
        to,
        mode,
        before,
        anchor,
        after,
        own_state: file.own_state.as_ref().map(StoredState::from),
        flags: file.flags,
        bom: file.bom,
        prune: file.prune,
        unsaved: file.unsaved,
        undone: file.undone,
        exact: file.exact,
        applied: file.applied,
        hunks,
    }
}

fn encode_hunk(
    mut record: HunkRecord,
    old_lines: &Lines<'_>,
    new_lines: &Lines<'_>,
    moved: &mut isize,
) -> StoredHunk {
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
pub(in crate::transaction) fn decode(
    bytes: &[u8],
) -> Result<(Option<TransactionMeta>, Vec<PlainFile>), LineError> {
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
        exact: stored.exact,
        applied: stored.applied,
        hunks,
    })
}

/// The text before, empty when there was none.
pub(in crate::transaction) fn before_text(before: &Before) -> Arc<str> {
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
pub(in crate::transaction) struct Lines<'a> {
    text: &'a str,
    /// Byte before each line, and after the last.
    offsets: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(in crate::transaction) fn new(text: &'a str) -> Self {
        let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        let mut offsets: Vec<usize> = [0].into_iter().chain(feeds).collect();
        if offsets.last().is_some_and(|last| *last < text.len()) {
            offsets.push(text.len());
        }
        Self { text, offsets }
    }

    pub(in crate::transaction) fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The text of `lines`; `None` when there are not so many.
    pub(in crate::transaction) fn get(&self, lines: &std::ops::Range<usize>) -> Option<&'a str> {
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
