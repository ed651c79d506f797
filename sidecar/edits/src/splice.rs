//! One replacement in a text, with the line endings of its place.

use std::ops::Range;

use crate::{diff::diff_lines, lines::LineIndex, rung::MatchRung, text::adapt_line_endings};

/// What goes where a stretch of a text was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    /// Bytes of the text.
    pub(crate) range: Range<usize>,
    /// What goes there, with its line endings.
    pub(crate) text: String,
    pub(crate) rung: MatchRung,
}

/// What is to become of the newline at the end of the file, for lines that end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastNewline {
    /// As it is now.
    Kept,
    /// The proposal knows of it and wants it.
    Wanted,
    /// The proposal knows of it and wants none.
    Unwanted,
}

impl Splice {
    /// Replaces any stretch of text by `replacement`, line by line where it has several: lines
    /// that are the same on both sides stay as they are, with their endings.
    pub(crate) fn stretch(
        lines: &LineIndex<'_>,
        range: Range<usize>,
        replacement: &str,
        rung: MatchRung,
    ) -> Vec<Self> {
        let removed = &lines.text()[range.clone()];
        if !removed.contains('\n') {
            return vec![Self::adapted(lines, range, replacement, rung)];
        }
        let (old, new) = (LineIndex::new(removed), LineIndex::new(replacement));
        diff_lines(removed, replacement)
            .into_iter()
            .map(|edit| {
                let bytes = old.bytes(edit.old);
                let part = range.start + bytes.start..range.start + bytes.end;
                Self::adapted(lines, part, &replacement[new.bytes(edit.new)], rung)
            })
            .collect()
    }

    /// Replaces a stretch of text; endings follow those of what it replaces.
    fn adapted(
        lines: &LineIndex<'_>,
        range: Range<usize>,
        replacement: &str,
        rung: MatchRung,
    ) -> Self {
        // A replacement without line endings has none to adapt.
        let text = if replacement.contains('\n') {
            let line = lines.line_of(range.start);
            let at_start = lines.start(line) == range.start;
            let before = match line.checked_sub(1) {
                Some(previous) if at_start => lines.with_ending(previous),
                _ => "",
            };
            let text = lines.text();
            let rest_of_line = &text[range.end..lines.start(lines.line_of(range.end) + 1)];
            adapt_line_endings(replacement, &text[range.clone()], before, rest_of_line)
        } else {
            replacement.to_owned()
        };
        Self { range, text, rung }
    }

    /// Replaces the lines `range` by `added`, each line of which ends in LF.
    pub(crate) fn lines(
        lines: &LineIndex<'_>,
        range: Range<usize>,
        mut added: String,
        last_newline: LastNewline,
        rung: MatchRung,
    ) -> Self {
        let bytes = lines.bytes(range.clone());
        let ends_file = range.end >= lines.len();
        let lacks_newline = ends_file && lines.lacks_final_newline();
        let unwanted = match last_newline {
            LastNewline::Kept => lacks_newline,
            LastNewline::Wanted => false,
            LastNewline::Unwanted => ends_file,
        };
        if unwanted && added.ends_with('\n') {
            added.pop();
        }
        let line_before = |line: usize| {
            line.checked_sub(1)
                .map_or("", |line| lines.with_ending(line))
        };
        let mut text = adapt_line_endings(
            &added,
            &lines.text()[bytes.clone()],
            line_before(range.start),
            lines.with_ending(range.end),
        );
        if range.is_empty() && lacks_newline && !text.is_empty() {
            // Lines after a last line that has no newline: it gets one.
            let newline = adapt_line_endings("\n", "", line_before(range.start - 1), "");
            text.insert_str(0, &newline);
        }
        Self {
            range: bytes,
            text,
            rung,
        }
    }
}
