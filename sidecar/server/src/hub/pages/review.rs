//! The review document: everything that waits for a decision, as one diff.
//!
//! Owns: what it says, and what each of its lines is about.
//! Must not know: who has it open, or how a decision is carried out.

use redline_protocol::v1;

use crate::lsp::approvals::question;
use crate::lsp::diagnostics::one_line;
use crate::lsp::plans;

/// Longest head line of a hunk, in characters: a terminal's width.
const MAX_HEAD_CHARS: usize = 80;

/// What a line of the document is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Target {
    /// The document as a whole.
    Whole,
    Approval(Box<v1::Approval>),
    Plan(Box<v1::Plan>),
    /// A transaction, by its place in [`Review::transactions`].
    Transaction(usize),
    /// A file of a transaction, by place.
    File(usize, usize),
    /// A hunk of a file of a transaction, by place.
    Hunk(usize, usize, usize),
}

/// The document as it reads at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Review {
    pub(crate) text: String,
    /// What each line is about.
    targets: Vec<Target>,
    /// What it was made of.
    pub(crate) transactions: Vec<v1::Transaction>,
}

impl Review {
    /// What a zero-based line is about.
    pub(crate) fn target(&self, line: u32) -> &Target {
        self.targets.get(line as usize).unwrap_or(&Target::Whole)
    }

    /// The zero-based line where a transaction begins.
    pub(crate) fn line_of(&self, transaction_id: &str) -> Option<u32> {
        let wanted = self
            .transactions
            .iter()
            .position(|each| each.id == transaction_id)?;
        let at = |target: &Target| *target == Target::Transaction(wanted);
        let line = self.targets.iter().position(at)?;
        u32::try_from(line).ok()
    }
}

/// Puts the document together. Transactions that are settled are left out.
pub(crate) fn review(
    transactions: Vec<v1::Transaction>,
    approvals: Vec<v1::Approval>,
    plans: Vec<v1::Plan>,
) -> Review {
    let mut page = Page::default();
    page.head(&transactions);
    for approval in approvals {
        let line = format!("# Waits for you: {}", question(&approval));
        page.line(&line, &Target::Approval(Box::new(approval)));
    }
    for plan in plans {
        let line = format!("# Waits for you: {}", plans::question(&plan));
        page.line(&line, &Target::Plan(Box::new(plan)));
    }
    for (at, transaction) in transactions.iter().enumerate() {
        page.transaction(at, transaction);
    }
    Review {
        text: page.text,
        targets: page.targets,
        transactions,
    }
}

#[derive(Default)]
struct Page {
    text: String,
    targets: Vec<Target>,
}

impl Page {
    /// One line; what would break it or move a terminal's cursor is left out.
    fn line(&mut self, line: &str, target: &Target) {
        self.text
            .extend(line.chars().filter(|c| *c == '\t' || !c.is_control()));
        self.text.push('\n');
        self.targets.push(target.clone());
    }

    fn head(&mut self, transactions: &[v1::Transaction]) {
        let files = || transactions.iter().flat_map(|each| &each.files);
        let waiting = files().filter(|file| waits(file.state)).count();
        let (pending, conflicts) = files().fold((0, 0), |(pending, conflicts), file| {
            let own = count(file);
            (pending + own.0, conflicts + own.1)
        });
        let head = if waiting == 0 {
            "# Redline review · nothing waits for a decision".to_owned()
        } else {
            let conflicts = match conflicts {
                0 => String::new(),
                n => format!(" · {}", counted(n, "conflict")),
            };
            format!(
                "# Redline review · {} in {} pending{conflicts}",
                counted(pending, "change"),
                counted(waiting, "file"),
            )
        };
        self.line(&head, &Target::Whole);
        if waiting > 0 {
            let help = "# Decide by code actions: on a hunk, on a file's head, on a transaction's.";
            self.line(help, &Target::Whole);
        }
    }

    fn transaction(&mut self, at: usize, transaction: &v1::Transaction) {
        self.line("", &Target::Whole);
        let whole = Target::Transaction(at);
        let title = one_line(Some(&transaction.title)).unwrap_or_default();
        let head = format!("# {title} · by {}", transaction.proposed_by);
        self.line(&head, &whole);
        let why = one_line(transaction.rationale.as_deref()).filter(|why| *why != title);
        if let Some(why) = why {
            self.line(&format!("# {why}"), &whole);
        }
        let total = transaction.files.iter().map(|file| file.hunks.len()).sum();
        for (of, file) in transaction.files.iter().enumerate() {
            if waits(file.state) {
                self.file(file, total, at, of);
            }
        }
    }

    fn file(&mut self, file: &v1::FileChange, total: usize, at: usize, of: usize) {
        let target = Target::File(at, of);
        let new_path = file.new_path.as_deref().unwrap_or(&file.path);
        self.line(&format!("diff --git a/{} b/{new_path}", file.path), &target);
        let created = file.operation == v1::OperationKind::Create;
        let deleted = file.operation == v1::OperationKind::Delete;
        match file.operation {
            v1::OperationKind::Edit => {}
            v1::OperationKind::Create => self.line("new file", &target),
            v1::OperationKind::Delete => self.line("deleted file", &target),
            v1::OperationKind::Rename => {
                self.line(&format!("rename from {}", file.path), &target);
                self.line(&format!("rename to {new_path}"), &target);
            }
            v1::OperationKind::SetMode => {
                let mode = file.mode.as_deref().unwrap_or_default();
                self.line(&format!("new mode {mode}"), &target);
            }
        }
        for flag in &file.flags {
            if let Some(reason) = flag.strip_prefix("conflict:") {
                self.line(&format!("# CONFLICT · {reason}"), &target);
            }
        }
        if !file.hunks.is_empty() {
            let old = match created {
                true => "/dev/null".to_owned(),
                false => format!("a/{}", file.path),
            };
            let new = match deleted {
                true => "/dev/null".to_owned(),
                false => format!("b/{new_path}"),
            };
            self.line(&format!("--- {old}"), &target);
            self.line(&format!("+++ {new}"), &target);
        }
        let mut shift = 0_i64;
        for (place, hunk) in file.hunks.iter().enumerate() {
            if !waits(hunk.state) {
                continue;
            }
            let target = Target::Hunk(at, of, place);
            self.line(&hunk_head(hunk, total, shift), &target);
            for (sign, lines) in [("-", &hunk.removed), ("+", &hunk.added)] {
                for line in lines {
                    self.line(&format!("{sign}{line}"), &target);
                }
            }
            shift += signed(hunk.added.len()) - signed(hunk.removed.len());
        }
    }
}

/// `@@ -2,1 +2,3 @@ CONFLICT 1/4 · why`.
fn hunk_head(hunk: &v1::Hunk, total: usize, shift: i64) -> String {
    let (removed, added) = (hunk.removed.len(), hunk.added.len());
    let start = i64::from(hunk.start_line) - i64::from(removed == 0);
    let new_start = i64::from(hunk.start_line) + shift - i64::from(added == 0);
    let mut head = format!("@@ -{start},{removed} +{new_start},{added} @@ ");
    let why = match &hunk.conflict {
        Some(conflict) => {
            head.push_str("CONFLICT ");
            Some(conflict.reason.clone())
        }
        None => one_line(hunk.rationale.as_deref()),
    };
    head.push_str(&format!("{}/{total}", hunk.index));
    if hunk.amended {
        head.push_str(" amended");
    }
    if hunk.incomplete {
        head.push_str(" still arriving");
    }
    if let Some(why) = why {
        head.push_str(&format!(" · {why}"));
    }
    if head.chars().count() <= MAX_HEAD_CHARS {
        return head;
    }
    let cut: String = head.chars().take(MAX_HEAD_CHARS - 1).collect();
    format!("{cut}…")
}

pub(crate) fn waits(state: v1::HunkState) -> bool {
    matches!(state, v1::HunkState::Pending | v1::HunkState::Conflict)
}

/// What of a file is pending, and what is in conflict.
pub(crate) fn count(file: &v1::FileChange) -> (usize, usize) {
    let of = |state| file.hunks.iter().filter(|hunk| hunk.state == state).count();
    let (mut pending, mut conflicts) = (of(v1::HunkState::Pending), of(v1::HunkState::Conflict));
    if pending + conflicts == 0 {
        // An operation of the whole file.
        pending += usize::from(file.state == v1::HunkState::Pending);
        conflicts += usize::from(file.state == v1::HunkState::Conflict);
    }
    (pending, conflicts)
}

fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

fn signed(n: usize) -> i64 {
    // Counts of one file's lines stay far below the limit.
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use expect_test::expect;

    use super::*;

    fn hunk(index: u32, start_line: u32, removed: &[&str], added: &[&str]) -> v1::Hunk {
        let own = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
        v1::Hunk {
            id: format!("h_{index}"),
            revision: 1,
            state: v1::HunkState::Pending,
            index,
            start_line,
            removed: own(removed),
            added: own(added),
            no_newline_at_end: false,
            rationale: Some("Greet politely".to_owned()),
            matched: v1::MatchRung::Exact,
            amended: false,
            unsaved: false,
            incomplete: false,
            conflict: None,
        }
    }

    fn file(path: &str, operation: v1::OperationKind, hunks: Vec<v1::Hunk>) -> v1::FileChange {
        v1::FileChange {
            path: path.to_owned(),
            uri: format!("file:///w/{path}"),
            operation,
            new_path: None,
            mode: None,
            state: v1::HunkState::Pending,
            revision: 1,
            flags: Vec::new(),
            hunks,
        }
    }

    fn transaction(files: Vec<v1::FileChange>) -> v1::Transaction {
        v1::Transaction {
            id: "tx_1".to_owned(),
            revision: 1,
            state: v1::TransactionState::Pending,
            title: "Greet politely".to_owned(),
            proposed_by: "replay".to_owned(),
            created_at: 0,
            turn_id: None,
            rationale: Some("hello is \u{1b}[31mcold".to_owned()),
            files,
        }
    }

    #[test]
    fn every_line_knows_what_it_is_about() {
        let mut conflict = hunk(2, 9, &["b"], &["B"]);
        conflict.state = v1::HunkState::Conflict;
        conflict.conflict = Some(v1::Conflict {
            reason: "line 9 changed".to_owned(),
            base: Vec::new(),
            current: Vec::new(),
            proposed: Vec::new(),
        });
        let hunks = vec![hunk(1, 2, &["hello"], &["good", "day"]), conflict];
        let mut renamed = file("old.txt", v1::OperationKind::Rename, Vec::new());
        renamed.new_path = Some("new.txt".to_owned());
        let files = vec![
            file("a.txt", v1::OperationKind::Edit, hunks),
            renamed,
            file("gone.txt", v1::OperationKind::Delete, Vec::new()),
        ];
        let page = review(vec![transaction(files)], Vec::new(), Vec::new());
        expect![[r#"
            # Redline review · 3 changes in 3 files pending · 1 conflict
            # Decide by code actions: on a hunk, on a file's head, on a transaction's.

            # Greet politely · by replay
            # hello is [31mcold
            diff --git a/a.txt b/a.txt
            --- a/a.txt
            +++ b/a.txt
            @@ -2,1 +2,2 @@ 1/2 · Greet politely
            -hello
            +good
            +day
            @@ -9,1 +10,1 @@ CONFLICT 2/2 · line 9 changed
            -b
            +B
            diff --git a/old.txt b/new.txt
            rename from old.txt
            rename to new.txt
            diff --git a/gone.txt b/gone.txt
            deleted file
        "#]]
        .assert_eq(&page.text);
        assert_eq!(page.text.lines().count(), page.targets.len());
        assert_eq!(page.line_of("tx_1"), Some(3));
        assert_eq!(*page.target(5), Target::File(0, 0));
        assert_eq!(*page.target(11), Target::Hunk(0, 0, 0));
        assert_eq!(*page.target(12), Target::Hunk(0, 0, 1));
        assert_eq!(*page.target(17), Target::File(0, 1));
        assert_eq!(*page.target(99), Target::Whole);
    }

    #[test]
    fn an_empty_review_says_so() {
        let page = review(Vec::new(), Vec::new(), Vec::new());
        assert_eq!(
            page.text,
            "# Redline review · nothing waits for a decision\n"
        );
    }

    #[test]
    fn a_long_rationale_ends_at_a_terminals_width() {
        let mut long = hunk(1, 2, &["a"], &["b"]);
        long.rationale = Some("word ".repeat(40));
        let head = hunk_head(&long, 1, 0);
        assert_eq!(head.chars().count(), MAX_HEAD_CHARS);
        assert!(head.ends_with('…'));
    }
}
