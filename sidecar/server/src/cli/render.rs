//! Transactions as people read them: a colored diff with its reasons.
//!
//! Owns: the lines of a transaction, a file, a hunk, a conflict. Must not know: where they go.
//! Invariant: text of a project or a model goes through [`clean`].

use super::terminal::{Paint, Style, clean, fit, wrap};
use redline_protocol::v1::{
    FileChange, Hunk, HunkState, MatchRung, OperationKind, Transaction, TransactionState,
};
use std::{fmt::Write as _, ops::Range};

/// Lines of a hunk shown before the rest is only counted.
const PREVIEW_LINES: usize = 40;

/// Text around a hunk, as it stands in the file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Context {
    /// Lines before it.
    pub(crate) before: Vec<String>,
    /// Lines after it.
    pub(crate) after: Vec<String>,
}

/// How much of a hunk is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// The first lines, and how many follow.
    Preview,
}

/// Renders for one terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Renderer {
    /// Styles.
    pub(crate) paint: Paint,
    /// Columns.
    pub(crate) width: usize,
}

impl Renderer {
    /// A transaction with all of its diff.
    pub(crate) fn transaction(self, transaction: &Transaction) -> String {
        let mut out = self.heading(transaction);
        for file in &transaction.files {
            out.push('\n');
            out.push_str(&self.file(file));
            for hunk in &file.hunks {
                out.push_str(&self.hunk(hunk, total(transaction), None, Extent::Whole));
            }
        }
        out
    }

    /// Title, numbers and reason.
    pub(crate) fn heading(self, transaction: &Transaction) -> String {
        let mut out = String::new();
        let title = match transaction.title.as_str() {
            "" => &transaction.id,
            title => title,
        };
        self.paint
            .push(&mut out, Style::Title, &fit(title, self.width));
        out.push('\n');
        let state = state_of_transaction(transaction.state);
        let facts = format!(
            "{state} · {} · by {}",
            numbers(transaction),
            clean(&transaction.proposed_by)
        );
        let _ = writeln!(out, "{facts}");
        self.paint.push(&mut out, Style::Dim, &transaction.id);
        out.push('\n');
        if let Some(rationale) = &transaction.rationale {
            out.push_str(&self.reason(rationale));
        }
        out
    }

    /// Path, operation and numbers of a file.
    pub(crate) fn file(self, file: &FileChange) -> String {
        let mut name = clean(&file.path).into_owned();
        if let Some(new_path) = &file.new_path {
            let _ = write!(name, " → {}", clean(new_path));
        }
        let mut out = self.paint.text(Style::Title, &name);
        let mut facts = vec![operation(file)];
        if !file.hunks.is_empty() {
            facts.push(lines_changed(&file.hunks));
        }
        if file.state != HunkState::Pending {
            facts.push(state_of_hunk(file.state).to_owned());
        }
        facts.extend(file.flags.iter().map(|flag| clean(flag).into_owned()));
        let _ = writeln!(out, " · {}", facts.join(" · "));
        out
    }

    /// A hunk: its line, its reason, its diff.
    pub(crate) fn hunk(
        self,
        hunk: &Hunk,
        total: usize,
        context: Option<&Context>,
        extent: Extent,
    ) -> String {
        let mut out = self.hunk_line(hunk, total);
        if let Some(rationale) = &hunk.rationale {
            out.push_str(&self.reason(rationale));
        }
        if let Some(conflict) = &hunk.conflict {
            out.push_str(&self.conflict(conflict));
            return out;
        }
        let mut lines = Vec::new();
        let context = context.cloned().unwrap_or_default();
        lines.extend(
            context
                .before
                .iter()
                .map(|line| format!(" {}", clean(line))),
        );
        lines.extend(self.changed_lines(hunk));
        if hunk.no_newline_at_end {
            lines.push(
                self.paint
                    .text(Style::Dim, "\\ no newline at the end of the file"),
            );
        }
        lines.extend(context.after.iter().map(|line| format!(" {}", clean(line))));
        let shown = match extent {
            Extent::Preview if lines.len() > PREVIEW_LINES + 1 => PREVIEW_LINES,
            Extent::Preview | Extent::Whole => lines.len(),
        };
        for line in &lines[..shown] {
            out.push_str(line);
            out.push('\n');
        }
        if shown < lines.len() {
            let more = format!("… {} more lines (p shows all)", lines.len() - shown);
            self.paint.push(&mut out, Style::Dim, &more);
            out.push('\n');
        }
        out
    }

    /// `@@ 12 @@ 3/4 +4 −2 · accepted · amended`, and the id.
    fn hunk_line(self, hunk: &Hunk, total: usize) -> String {
        let mut out = self
            .paint
            .text(Style::Place, &format!("@@ {} @@", hunk.start_line));
        let mut facts = vec![format!(
            " {}/{total} +{} −{}",
            hunk.index,
            hunk.added.len(),
            hunk.removed.len()
        )];
        if hunk.state != HunkState::Pending {
            facts.push(state_of_hunk(hunk.state).to_owned());
        }
        let marks = [
            (hunk.amended, "amended"),
            (hunk.unsaved, "unsaved"),
            (hunk.incomplete, "still arriving"),
        ];
        facts.extend(
            marks
                .iter()
                .filter(|(on, _)| *on)
                .map(|(_, mark)| (*mark).to_owned()),
        );
        if let Some(rung) = rung(hunk.matched) {
            facts.push(rung.to_owned());
        }
        out.push_str(&facts.join(" · "));
        out.push(' ');
        self.paint.push(&mut out, Style::Dim, &hunk.id);
        out.push('\n');
        out
    }

    fn changed_lines(self, hunk: &Hunk) -> Vec<String> {
        let words = Words::between(&hunk.removed, &hunk.added);
        let side =
            |sign: char, lines: &[String], spans: &[Vec<Range<usize>>], styles: [Style; 2]| {
                lines
                    .iter()
                    .zip(spans)
                    .map(|(line, spans)| self.line(sign, line, spans, styles))
                    .collect::<Vec<_>>()
            };
        let mut lines = side(
            '-',
            &hunk.removed,
            &words.removed,
            [Style::Removed, Style::RemovedWord],
        );
        lines.extend(side(
            '+',
            &hunk.added,
            &words.added,
            [Style::Added, Style::AddedWord],
        ));
        lines
    }

    fn line(
        self,
        sign: char,
        line: &str,
        spans: &[Range<usize>],
        [plain, word]: [Style; 2],
    ) -> String {
        let mut out = String::new();
        let mut text = sign.to_string();
        let mut at = 0;
        for span in spans {
            text.push_str(&clean(&line[at..span.start]));
            self.paint.push(&mut out, plain, &text);
            self.paint.push(&mut out, word, &clean(&line[span.clone()]));
            text.clear();
            at = span.end;
        }
        text.push_str(&clean(&line[at..]));
        self.paint.push(&mut out, plain, &text);
        out
    }

    /// The three sides of a conflict.
    fn conflict(self, conflict: &redline_protocol::v1::Conflict) -> String {
        let mut out = String::new();
        let why = format!("! conflict: {}", conflict.reason);
        for line in wrap(&why, "", self.width) {
            self.paint.push(&mut out, Style::Warning, &line);
            out.push('\n');
        }
        for (name, sign, lines, style) in [
            ("written against", ' ', &conflict.base, Style::Dim),
            ("stands there now", '-', &conflict.current, Style::Removed),
            ("proposed", '+', &conflict.proposed, Style::Added),
        ] {
            self.paint.push(&mut out, Style::Dim, &format!("  {name}:"));
            out.push('\n');
            for line in lines {
                self.paint
                    .push(&mut out, style, &format!("{sign}{}", clean(line)));
                out.push('\n');
            }
        }
        out
    }

    fn reason(self, text: &str) -> String {
        let mut out = String::new();
        for line in wrap(text, "│ ", self.width) {
            self.paint.push(&mut out, Style::Dim, &line);
            out.push('\n');
        }
        out
    }
}

/// Hunks of a transaction.
pub(crate) fn total(transaction: &Transaction) -> usize {
    transaction.files.iter().map(|file| file.hunks.len()).sum()
}

/// `2 files · 3 hunks · +8 −3`.
pub(crate) fn numbers(transaction: &Transaction) -> String {
    let files = transaction.files.len();
    let hunks = total(transaction);
    let all = transaction.files.iter().flat_map(|file| &file.hunks);
    let (added, removed) = all.fold((0, 0), |(added, removed), hunk| {
        (added + hunk.added.len(), removed + hunk.removed.len())
    });
    format!(
        "{} · {} · +{added} −{removed}",
        count(files, "file"),
        count(hunks, "hunk")
    )
}

/// `1 hunk`, `2 hunks`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

fn lines_changed(hunks: &[Hunk]) -> String {
    let added: usize = hunks.iter().map(|hunk| hunk.added.len()).sum();
    let removed: usize = hunks.iter().map(|hunk| hunk.removed.len()).sum();
    format!("{} · +{added} −{removed}", count(hunks.len(), "hunk"))
}

fn operation(file: &FileChange) -> String {
    match file.operation {
        OperationKind::Edit => "edit".to_owned(),
        OperationKind::Create => "create".to_owned(),
        OperationKind::Delete => "delete".to_owned(),
        OperationKind::Rename => "rename".to_owned(),
        OperationKind::SetMode => match &file.mode {
            Some(mode) => format!("mode {}", clean(mode)),
            None => "mode".to_owned(),
        },
    }
}

/// The state of a transaction in words.
pub(crate) fn state_of_transaction(state: TransactionState) -> &'static str {
    match state {
        TransactionState::Pending => "pending",
        TransactionState::Committed => "committed",
        TransactionState::Rejected => "rejected",
        TransactionState::Conflicted => "conflicted",
        TransactionState::Failed => "failed",
        TransactionState::Undone => "undone",
    }
}

/// The state of a hunk in words.
pub(crate) fn state_of_hunk(state: HunkState) -> &'static str {
    match state {
        HunkState::Pending => "pending",
        HunkState::Conflict => "conflict",
        HunkState::Accepted => "accepted",
        HunkState::Rejected => "rejected",
        HunkState::Withdrawn => "withdrawn",
    }
}

/// What a reviewer must know of how the place was found; nothing when it was exact.
fn rung(matched: MatchRung) -> Option<&'static str> {
    match matched {
        MatchRung::Exact => None,
        MatchRung::Offset => Some("found at another line"),
        MatchRung::Whitespace => Some("found ignoring white space"),
        MatchRung::Indentation => Some("found at another indentation"),
        MatchRung::Lookalike => Some("found by look-alike characters"),
    }
}

/// The words of each line that differ, as byte ranges of the line.
#[derive(Debug, PartialEq, Eq)]
struct Words {
    removed: Vec<Vec<Range<usize>>>,
    added: Vec<Vec<Range<usize>>>,
}

impl Words {
    /// Compares both sides as whole texts, so that a line that moved within the hunk is seen.
    fn between(removed: &[String], added: &[String]) -> Self {
        let none = |lines: &[String]| vec![Vec::new(); lines.len()];
        if removed.is_empty() || added.is_empty() {
            return Self {
                removed: none(removed),
                added: none(added),
            };
        }
        let diff = redline_edits::diff_words(&removed.join("\n"), &added.join("\n"));
        Self {
            removed: by_line(removed, &diff.old),
            added: by_line(added, &diff.new),
        }
    }
}

/// Of a line that differs in more than this share, no words are marked: the line itself is.
const MARKED_PERCENT: usize = 70;

/// Cuts ranges of the joined lines at the lines' ends.
fn by_line(lines: &[String], ranges: &[Range<usize>]) -> Vec<Vec<Range<usize>>> {
    let mut start = 0;
    lines
        .iter()
        .map(|line| {
            let end = start + line.len();
            let cut = ranges
                .iter()
                .filter(|range| range.start < end && range.end > start)
                .map(|range| range.start.max(start) - start..range.end.min(end) - start)
                .map(|range| trim(line, range))
                .filter(|range| !range.is_empty())
                .collect::<Vec<_>>();
            start = end + 1;
            let marked: usize = cut.iter().map(ExactSizeIterator::len).sum();
            match marked * 100 > line.trim().len() * MARKED_PERCENT {
                true => Vec::new(),
                false => cut,
            }
        })
        .collect()
}

/// A mark on blanks at the ends of a change says nothing.
fn trim(line: &str, range: Range<usize>) -> Range<usize> {
    let text = &line[range.clone()];
    if text.trim().is_empty() {
        return range;
    }
    let start = range.start + (text.len() - text.trim_start().len());
    start..start + text.trim().len()
}

#[cfg(test)]
pub(crate) mod tests;
