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

impl Target {
    /// `text`, with everything else as today.
    pub(super) fn of_text(text: &Arc<str>) -> Self {
        Self::Text {
            text: text.clone(),
            mode: None,
        }
    }
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
        (_, _, Some(text)) => Target::of_text(text),
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
    let mode = mode_back(before, after, disk);
    if mode.is_none() && has_other_mode(before, after) && disk.is_some() {
        return Err(refuse(None, "changed its mode since"));
    }
    let today = Rope::from_str(text);
    let reversed = reverse_text(text_after, text_before, &today);
    if reversed.conflicts.is_empty() {
        let text = reversed.text;
        return Ok(Target::Text { text, mode });
    }
    Err(refuse(reversed.line, "changed since"))
}

/// The content before, for a file that somebody else changed in the same place.
pub(super) fn contested(
    segment: &Segment,
    before: &End,
    after: &End,
    disk: Option<&Fingerprint>,
) -> Target {
    match &segment.text_before {
        Some(text) => Target::Text {
            text: text.clone(),
            mode: mode_back(before, after, disk),
        },
        None => restored(segment, before),
    }
}

/// The mode before, when the segment changed it and nobody has since.
fn mode_back(before: &End, after: &End, disk: Option<&Fingerprint>) -> Option<u32> {
    let (End::Disk(before), End::Disk(after)) = (before, after) else {
        return None;
    };
    let is_ours = disk.is_none_or(|disk| disk.mode == after.mode);
    (before.mode != after.mode && is_ours).then_some(before.mode)
}

fn has_other_mode(before: &End, after: &End) -> bool {
    matches!((before, after), (End::Disk(before), End::Disk(after)) if before.mode != after.mode)
}

/// A text with the hunks of a segment reversed, as far as nobody is in their way.
pub(super) struct Reversed {
    pub(super) text: Arc<str>,
    /// Which of the hunks between `after` and `before` are in conflict, in order.
    pub(super) conflicts: Vec<usize>,
    /// 1-based line of the first of them.
    pub(super) line: Option<usize>,
}

/// Reverses the hunks between `before` and `after` in `today`.
pub(super) fn reverse_text(after: &str, before: &str, today: &Rope) -> Reversed {
    let left = Rope::from_str(after);
    let mut count = 0u32;
    let mut hunks = HunkSet::new();
    hunks.propose(&left, before, &Origin::default(), &mut || {
        count += 1;
        HunkId::new(format!("h_{count}"))
    });
    hunks.rebase(&left, today);
    let mut clean = Vec::new();
    let (mut conflicts, mut line) = (Vec::new(), None);
    for (at, (hunk, range)) in hunks.placed().enumerate() {
        match &hunk.state {
            HunkState::Pending => clean.push(hunk.id.clone()),
            // It was taken back by hand already.
            HunkState::Accepted { .. } => {}
            HunkState::Conflict(_) | HunkState::Rejected | HunkState::Withdrawn => {
                let start = range.start.min(today.len_bytes());
                line.get_or_insert_with(|| crate::transaction::line_of(today, start) + 1);
                conflicts.push(at);
            }
        }
    }
    // Of pending hunks alone there are always edits.
    let edits = hunks.edits_for(today, &clean).unwrap_or_default();
    Reversed {
        text: crate::commit::play(today, &edits).into(),
        conflicts,
        line,
    }
}
