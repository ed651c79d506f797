//! What one path is to become: exactly what a segment found, or today's text with the segment's hunks reversed.

use std::sync::Arc;

use redline_edits::{HunkId, HunkSet, HunkState, Origin, text_revision};
use ropey::Rope;

use super::reverse::Refusal;
use super::segment::{End, Segment};
use crate::commit::Fingerprint;

/// What stands at a path today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Now {
    /// Nothing.
    Missing,
    /// A file, or an open document.
    File {
        /// The file on disk, when there is one.
        disk: Option<Fingerprint>,
        /// The text: of the open document, else of the file; none when it is not text.
        text: Option<Arc<str>>,
        /// The text is an open document's.
        open: bool,
    },
}

/// What a path is to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Nothing.
    Gone,
    /// A kept file, as it was.
    Kept {
        name: String,
        fingerprint: Fingerprint,
        /// Its text, when it is one.
        text: Option<Arc<str>>,
    },
    /// This text; mode and byte order mark as today, or the mode given.
    Text { text: Arc<str>, mode: Option<u32> },
    /// Today's content with another mode.
    Mode { mode: u32 },
}

/// Whether a file is still what a segment left.
pub(super) fn is_same(
    disk: Option<&Fingerprint>,
    text: Option<&str>,
    open: bool,
    after: &End,
    segment: &Segment,
) -> bool {
    match after {
        End::Disk(after) if !open && segment.text_after.is_none() => disk == Some(after),
        End::Disk(after) if !open && disk.is_some_and(|disk| disk.same_content(after)) => true,
        End::Disk(_) => match (&segment.text_after, text) {
            (Some(left), Some(text)) => text_revision(left) == text_revision(text),
            _ => false,
        },
        End::Document(revision) => {
            text.is_some_and(|text| text_revision(text).as_str() == revision)
        }
    }
}

/// The content before, for a path at which nothing is today.
pub(super) fn restored(segment: &Segment, before: &End) -> Target {
    match (before, &segment.kept, &segment.text_before) {
        (End::Disk(fingerprint), Some(name), text) => Target::Kept {
            name: name.clone(),
            fingerprint: fingerprint.clone(),
            text: text.clone(),
        },
        (_, _, Some(text)) => Target::Text {
            text: text.clone(),
            mode: None,
        },
        (_, _, None) => Target::Gone,
    }
}

/// The content before, for a file that is what the segment left.
pub(super) fn exact(
    segment: &Segment,
    before: &End,
    after: &End,
    disk: Option<&Fingerprint>,
    open: bool,
) -> Target {
    let (End::Disk(before), End::Disk(after)) = (before, after) else {
        let text = segment.text_before.clone().unwrap_or_else(|| Arc::from(""));
        return Target::Text { text, mode: None };
    };
    let mode = (before.mode != after.mode && disk.is_some_and(|disk| disk.mode == after.mode))
        .then_some(before.mode);
    if before.same_content(after) {
        return Target::Mode {
            mode: mode.or(disk.map(|disk| disk.mode)).unwrap_or(before.mode),
        };
    }
    let unchanged = !open && disk.is_some_and(|disk| disk.same_content(after));
    match (&segment.kept, &segment.text_before) {
        (Some(name), text) if unchanged => Target::Kept {
            name: name.clone(),
            fingerprint: Fingerprint {
                mode: mode.or(disk.map(|disk| disk.mode)).unwrap_or(before.mode),
                ..before.clone()
            },
            text: text.clone(),
        },
        (_, Some(text)) => Target::Text {
            text: text.clone(),
            mode,
        },
        (Some(name), None) => Target::Kept {
            name: name.clone(),
            fingerprint: before.clone(),
            text: None,
        },
        (None, None) => Target::Gone,
    }
}

/// Today's text with the segment's hunks reversed.
pub(super) fn merged(
    segment: &Segment,
    before: &End,
    after: &End,
    disk: Option<&Fingerprint>,
    text: Option<&str>,
) -> Result<Target, Refusal> {
    let refuse = |line, reason: &str| Refusal {
        path: segment.to.clone(),
        line,
        reason: reason.to_owned(),
    };
    let (Some(text_before), Some(text_after), Some(text)) =
        (&segment.text_before, &segment.text_after, text)
    else {
        return Err(refuse(None, "changed since"));
    };
    let mode = match (before, after) {
        (End::Disk(before), End::Disk(after)) if before.mode != after.mode => {
            if disk.is_some_and(|disk| disk.mode != after.mode) {
                return Err(refuse(None, "changed its mode since"));
            }
            Some(before.mode)
        }
        _ => None,
    };
    let today = Rope::from_str(text);
    match reverse_text(text_after, text_before, &today) {
        Ok(text) => Ok(Target::Text { text, mode }),
        Err(line) => Err(refuse(line, "changed since")),
    }
}

/// Reverses the hunks between `before` and `after` in `today`. `Err` names the first line in conflict.
fn reverse_text(after: &str, before: &str, today: &Rope) -> Result<Arc<str>, Option<usize>> {
    let left = Rope::from_str(after);
    let mut count = 0u32;
    let mut hunks = HunkSet::new();
    hunks.propose(&left, before, &Origin::default(), &mut || {
        count += 1;
        HunkId::new(format!("h_{count}"))
    });
    hunks.rebase(&left, today);
    let mut ids = Vec::new();
    for hunk in hunks.iter() {
        match &hunk.state {
            HunkState::Pending => ids.push(hunk.id.clone()),
            // It was taken back by hand already.
            HunkState::Accepted { .. } => {}
            HunkState::Conflict(_) | HunkState::Rejected | HunkState::Withdrawn => {
                let start = hunks
                    .range(&hunk.id)
                    .map_or(0, |range| range.start)
                    .min(today.len_bytes());
                return Err(Some(crate::transaction::line_of(today, start) + 1));
            }
        }
    }
    let edits = hunks.edits_for(today, &ids).map_err(|_| None)?;
    Ok(crate::commit::play(today, &edits).into())
}
