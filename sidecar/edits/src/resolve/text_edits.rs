//! LSP text edits of one text.
//!
//! Source: Language Server Protocol 3.17, `TextEdit[]`: all ranges refer to the same text, they do
//! not overlap, and inserts at one place keep the order of the array.

use std::ops::Range;

use ropey::Rope;

use super::{ResolveError, edited::Edited};
use crate::{
    lines::LineIndex,
    positions::{Encoding, to_byte_strict},
    proposal::TextEdit,
    rung::MatchRung,
    splice::Splice,
};

pub(super) fn resolve(
    edits: &[TextEdit],
    encoding: Encoding,
    text: &str,
    path: &str,
) -> Result<Edited, ResolveError> {
    let rope = Rope::from_str(text);
    let mut ranges: Vec<(Range<usize>, usize)> = Vec::with_capacity(edits.len());
    for (idx, edit) in edits.iter().enumerate() {
        let byte = |at| {
            to_byte_strict(&rope, at, encoding).map_err(|source| ResolveError::Position {
                path: path.to_owned(),
                edit: idx + 1,
                source,
            })
        };
        let range = byte(edit.start)?..byte(edit.end)?;
        if range.start > range.end {
            return Err(ResolveError::ReversedRange {
                path: path.to_owned(),
                edit: idx + 1,
                range: format!("{} to {}", edit.start, edit.end),
            });
        }
        ranges.push((range, idx));
    }
    // Stable, so that inserts at one place keep their order.
    ranges.sort_by_key(|(range, _)| range.start);
    let lines = LineIndex::new(text);
    for pair in ranges.windows(2) {
        let [(first, first_idx), (second, second_idx)] = pair else {
            continue;
        };
        if second.start < first.end {
            return Err(ResolveError::Overlapping {
                path: path.to_owned(),
                first: format!("edit {}", first_idx + 1),
                second: format!("edit {}", second_idx + 1),
                line: lines.line_of(second.start) + 1,
            });
        }
    }
    let splices: Vec<Splice> = ranges
        .into_iter()
        .flat_map(|(range, idx)| {
            Splice::stretch(&lines, range, &edits[idx].new_text, MatchRung::Exact)
        })
        .collect();
    Ok(Edited::new(&lines, &splices, Vec::new()))
}
