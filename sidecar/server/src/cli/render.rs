//! Transactions as people read them: a colored diff with its reasons.
//!
//! Owns: the lines of a transaction, a file, a hunk, a conflict. Must not know: where they go.
//! Invariant: text of a project or a model goes through [`clean`].

use super::terminal::{Paint, Style, clean, fit, wrap};
use redline_protocol::v1::{
    FileChange, Hunk, HunkState, MatchRung, OperationKind, Transaction, TransactionState,
};
use std::{fmt::Write as _, ops::Range};
use unicode_width::UnicodeWidthStr;
use words::{Words, change_in, window};

mod words;

/// Lines of a hunk shown before the rest is only counted.
const PREVIEW_LINES: usize = 40;
/// Rows of the terminal that one line of a preview may take.
const PREVIEW_ROWS: usize = 3;

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

/// How the lines of one side look.
#[derive(Debug, Clone, Copy)]
struct Side {
    sign: char,
    /// Of what both sides have, and of what only this one has.
    styles: [Style; 2],
}

/// A rendered line of a hunk.
struct Line {
    text: String,
    /// Only a part of it is shown.
    is_cut: bool,
}

impl Line {
    fn whole(text: String) -> Self {
        Self {
            text,
            is_cut: false,
        }
    }
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
                out.push_str(&self.hunk(transaction, hunk, None, Extent::Whole));
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

    /// A hunk of a transaction: its line, its reason, its diff.
    pub(crate) fn hunk(
        self,
        of: &Transaction,
        hunk: &Hunk,
        context: Option<&Context>,
        extent: Extent,
    ) -> String {
        let mut out = self.hunk_line(hunk, total(of));
        // What is said of the whole is not said again of each part.
        if let Some(rationale) = &hunk.rationale
            && of.rationale.as_ref() != Some(rationale)
        {
            out.push_str(&self.reason(rationale));
        }
        let lines = match &hunk.conflict {
            Some(conflict) => self.conflict(conflict, extent),
            None => self.diff(hunk, context, extent),
        };
        let shown = match extent {
            Extent::Preview if lines.len() > PREVIEW_LINES + 1 => PREVIEW_LINES,
            Extent::Preview | Extent::Whole => lines.len(),
        };
        for line in &lines[..shown] {
            out.push_str(&line.text);
            out.push('\n');
        }
        let more = match (lines.len() - shown, lines.iter().any(|line| line.is_cut)) {
            (0, false) => return out,
            (0, true) => "… long lines are cut (p shows all)".to_owned(),
            (more, _) => format!("… {} (p shows all)", count(more, "more line")),
        };
        self.paint.push(&mut out, Style::Dim, &more);
        out.push('\n');
        out
    }

    fn diff(self, hunk: &Hunk, context: Option<&Context>, extent: Extent) -> Vec<Line> {
        let around = |lines: &[String]| {
            let plain = lines.iter().map(|line| self.plain(' ', line, None, extent));
            plain.collect::<Vec<_>>()
        };
        let mut lines = context.map_or_else(Vec::new, |context| around(&context.before));
        lines.extend(self.changed_lines(hunk, extent));
        if hunk.no_newline_at_end {
            lines.push(Line::whole(
                self.paint
                    .text(Style::Dim, "\\ no newline at the end of the file"),
            ));
        }
        lines.extend(context.map_or_else(Vec::new, |context| around(&context.after)));
        lines
    }

    /// `@@ 12 @@ 3/4 +4 −2 · accepted · amended`, and the id.
    fn hunk_line(self, hunk: &Hunk, total: usize) -> String {
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
        let place = format!("@@ {} @@", hunk.start_line);
        let facts = facts.join(" · ");
        let mut out = self.paint.text(Style::Place, &place);
        out.push_str(&facts);
        // The id is for scripts: on a narrow terminal it goes first.
        if place.width() + facts.width() + 1 + hunk.id.width() <= self.width {
            out.push(' ');
            self.paint.push(&mut out, Style::Dim, &hunk.id);
        }
        out.push('\n');
        out
    }

    fn changed_lines(self, hunk: &Hunk, extent: Extent) -> Vec<Line> {
        let words = Words::between(&hunk.removed, &hunk.added);
        let removed = Side {
            sign: '-',
            styles: [Style::Removed, Style::RemovedWord],
        };
        let added = Side {
            sign: '+',
            styles: [Style::Added, Style::AddedWord],
        };
        let mut out = Vec::with_capacity(hunk.removed.len() + hunk.added.len());
        for (side, lines, spans, others) in [
            (removed, &hunk.removed, &words.removed, &hunk.added),
            (added, &hunk.added, &words.added, &hunk.removed),
        ] {
            for (at, (line, spans)) in lines.iter().zip(spans).enumerate() {
                let shown = match extent {
                    Extent::Whole => 0..line.len(),
                    Extent::Preview => {
                        let marked = spans.first().map(|span| span.start);
                        let change = change_in(line, marked, others.get(at));
                        window(line, change, self.preview_columns())
                    }
                };
                out.push(self.line(side, line, spans, shown));
            }
        }
        out
    }

    /// The part `window` of a line, with its words marked.
    fn line(self, side: Side, line: &str, spans: &[Range<usize>], window: Range<usize>) -> Line {
        let [plain, word] = side.styles;
        let mut out = String::new();
        let mut text = side.sign.to_string();
        if window.start > 0 {
            text.push('…');
        }
        let mut at = window.start;
        for span in spans {
            let span = span.start.max(at)..span.end.min(window.end);
            if span.is_empty() {
                continue;
            }
            text.push_str(&clean(&line[at..span.start]));
            self.paint.push(&mut out, plain, &text);
            self.paint.push(&mut out, word, &clean(&line[span.clone()]));
            text.clear();
            at = span.end;
        }
        text.push_str(&clean(&line[at..window.end]));
        if window.end < line.len() {
            text.push('…');
        }
        self.paint.push(&mut out, plain, &text);
        Line {
            text: out,
            is_cut: window.len() < line.len(),
        }
    }

    /// A line in one style, or in none.
    fn plain(self, sign: char, line: &str, style: Option<Style>, extent: Extent) -> Line {
        let window = match extent {
            Extent::Whole => 0..line.len(),
            Extent::Preview => window(line, 0, self.preview_columns()),
        };
        let is_cut = window.len() < line.len();
        let mut text = format!("{sign}{}", clean(&line[window]));
        if is_cut {
            text.push('…');
        }
        Line {
            text: style.map_or_else(|| text.clone(), |style| self.paint.text(style, &text)),
            is_cut,
        }
    }

    /// Columns of a preview's line, without its sign and the marks of a cut.
    fn preview_columns(self) -> usize {
        self.width * PREVIEW_ROWS - 3
    }

    /// The three sides of a conflict.
    fn conflict(self, conflict: &redline_protocol::v1::Conflict, extent: Extent) -> Vec<Line> {
        let why = format!("! conflict: {}", conflict.reason);
        let why = wrap(&why, "", self.width).into_iter();
        let mut out: Vec<Line> = why
            .map(|line| Line::whole(self.paint.text(Style::Warning, &line)))
            .collect();
        for (name, sign, lines, style) in [
            ("written against", ' ', &conflict.base, Style::Dim),
            ("stands there now", '-', &conflict.current, Style::Removed),
            ("proposed", '+', &conflict.proposed, Style::Added),
        ] {
            let name = self.paint.text(Style::Dim, &format!("  {name}:"));
            out.push(Line::whole(name));
            let lines = lines.iter();
            out.extend(lines.map(|line| self.plain(sign, line, Some(style), extent)));
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
        "{} · {} · +{added} −{removed}{}",
        count(files, "file"),
        count(hunks, "hunk"),
        left(transaction.files.iter().flat_map(|file| &file.hunks)),
    )
}

/// How many hunks still wait, once some of them do not.
fn left<'a>(hunks: impl Iterator<Item = &'a Hunk>) -> String {
    let is_open = |hunk: &Hunk| matches!(hunk.state, HunkState::Pending | HunkState::Conflict);
    let (open, settled) = hunks.fold((0, 0), |(open, settled), hunk| match is_open(hunk) {
        true => (open + 1, settled),
        false => (open, settled + 1),
    });
    match (open, settled) {
        (0, _) | (_, 0) => String::new(),
        (open, _) => format!(" · {open} left"),
    }
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
    let left = left(hunks.iter());
    format!("{} · +{added} −{removed}{left}", count(hunks.len(), "hunk"))
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

#[cfg(test)]
pub(crate) mod tests;
