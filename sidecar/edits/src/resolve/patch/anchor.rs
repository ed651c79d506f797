//! `@@ fn name` lines: they narrow where a hunk can be.
//!
//! An anchor is a line of the file, whole or from its start. A hunk belongs to the scope that the
//! line opens: what is indented deeper, up to the line that closes it; in flat files with heading
//! lines (`[section]`, `# title`) up to the next heading of its kind.

use std::{cell::RefCell, collections::HashMap, ops::Range, rc::Rc};

use memchr::memmem;

use crate::matching::{MatchError, Pattern, TextIndex, nearest};

/// An anchor that is on more lines than this says nothing.
const MAX_OCCURRENCES: usize = 64;

pub(super) struct Anchors<'a> {
    index: &'a TextIndex<'a>,
    occurrences: HashMap<String, Rc<Vec<usize>>>,
    scope_ends: RefCell<HashMap<usize, usize>>,
}

/// The lines in which a hunk may begin.
pub(super) struct Scope {
    /// From the anchor's own line, which a hunk may repeat.
    ranges: Vec<Range<usize>>,
}

impl Scope {
    pub(super) fn holds(&self, line: usize) -> bool {
        self.ranges.iter().any(|range| range.contains(&line))
    }

    /// Whether an anchor is at or above `line`.
    pub(super) fn precedes(&self, line: usize) -> bool {
        self.ranges.iter().any(|range| range.start <= line)
    }

    /// The line after the anchor, where there is only one.
    pub(super) fn only_line_after(&self) -> Result<usize, MatchError> {
        match &self.ranges[..] {
            [range] => Ok(range.start + 1),
            ranges => Err(MatchError::Ambiguous {
                lines: ranges.iter().map(|range| range.start + 1).collect(),
                tolerant: false,
            }),
        }
    }
}

impl<'a> Anchors<'a> {
    pub(super) fn new(index: &'a TextIndex<'a>) -> Self {
        Self {
            index,
            occurrences: HashMap::new(),
            scope_ends: RefCell::default(),
        }
    }

    /// The scope of the last of `anchors`, each looked for in the scope of the one before.
    pub(super) fn scope(&mut self, anchors: &[String]) -> Result<Scope, MatchError> {
        let whole = 0..self.index.lines.len();
        let mut scope = Scope {
            ranges: Vec::from([whole]),
        };
        for anchor in anchors.iter().filter(|anchor| !anchor.trim().is_empty()) {
            let lines = self.occurrences(anchor);
            let inside: Vec<usize> = lines
                .iter()
                .copied()
                .filter(|line| scope.holds(*line))
                .collect();
            let inside = match inside.is_empty() {
                true => lines
                    .iter()
                    .copied()
                    .filter(|line| scope.precedes(*line))
                    .collect(),
                false => inside,
            };
            if inside.is_empty() {
                let pattern = Pattern {
                    lines: vec![anchor.as_str()],
                };
                return Err(MatchError::NoMatch {
                    nearest: nearest(self.index, &pattern),
                    oddity: None,
                });
            }
            if inside.len() > MAX_OCCURRENCES {
                return Err(MatchError::Ambiguous {
                    lines: inside.iter().map(|line| line + 1).collect(),
                    tolerant: false,
                });
            }
            scope.ranges = inside
                .into_iter()
                .map(|line| line..self.scope_end(line))
                .collect();
        }
        Ok(scope)
    }

    /// The lines that read like the anchor; else those that begin with it.
    fn occurrences(&mut self, anchor: &str) -> Rc<Vec<usize>> {
        if let Some(lines) = self.occurrences.get(anchor) {
            return Rc::clone(lines);
        }
        let lines = &self.index.lines;
        let wanted = anchor.trim();
        let mut found: Vec<usize> = self
            .index
            .lines_like(anchor)
            .filter(|line| lines.content(*line).trim() == wanted)
            .collect();
        if found.is_empty() {
            found = memmem::find_iter(lines.text().as_bytes(), wanted)
                .map(|at| (at, lines.line_of(at)))
                .filter(|(at, line)| {
                    let head = &lines.text()[lines.start(*line)..*at];
                    let next = lines.text()[at + wanted.len()..].chars().next();
                    head.trim().is_empty()
                        && next.is_none_or(|next| !next.is_alphanumeric() && next != '_')
                })
                .map(|(_, line)| line)
                .take(MAX_OCCURRENCES + 1)
                .collect();
        }
        let found = Rc::new(found);
        self.occurrences
            .insert(anchor.to_owned(), Rc::clone(&found));
        found
    }

    /// The line after the last one that belongs to what line `anchor` opens.
    fn scope_end(&self, anchor: usize) -> usize {
        if let Some(end) = self.scope_ends.borrow().get(&anchor) {
            return *end;
        }
        let end = self.find_scope_end(anchor);
        self.scope_ends.borrow_mut().insert(anchor, end);
        end
    }

    fn find_scope_end(&self, anchor: usize) -> usize {
        let lines = &self.index.lines;
        let own = lines.content(anchor);
        let own_depth = depth(own);
        let mut rest = (anchor + 1..lines.len())
            .filter(|line| !matches!(lines.content(*line).trim(), "" | "{" | "("))
            .peekable();
        let opens = rest
            .peek()
            .is_some_and(|line| depth(lines.content(*line)) > own_depth);
        if opens {
            return match rest.find(|line| depth(lines.content(*line)) <= own_depth) {
                Some(line) if closes(lines.content(line)) => line + 1,
                Some(line) => line,
                None => lines.len(),
            };
        }
        match own.trim_start().chars().next() {
            Some(mark) if !mark.is_alphanumeric() => rest
                .find(|line| {
                    let line = lines.content(*line);
                    depth(line) == own_depth && line.trim_start().starts_with(mark)
                })
                .unwrap_or(lines.len()),
            _ => lines.len(),
        }
    }
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether a line closes what an earlier one opened.
fn closes(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['}', ')', ']']) || line == "end" || line.starts_with("</")
}
