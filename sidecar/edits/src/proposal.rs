//! The one normal form of every edit format: ordered changes over a tree of files.
//!
//! Owns what a proposal *says*. Where it applies is decided by [`resolve`](crate::resolve()), which
//! plays the changes in order, each on what the earlier ones made.

use crate::positions::{Encoding, LineCol};

/// What an agent proposes, in the order in which it is to be played.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proposal {
    /// The changes; later ones see what earlier ones made.
    pub changes: Vec<Change>,
    /// Why, for all of it.
    pub rationale: Option<String>,
    /// Whether the proposal is still being received as a whole. What is not complete can be shown
    /// and cannot be accepted.
    pub incomplete: bool,
    /// Takes lines such as `// ... rest unchanged ...` literally instead of refusing them.
    pub literal: bool,
}

impl Proposal {
    /// A proposal of these changes, complete and without a rationale.
    pub fn new(changes: Vec<Change>) -> Self {
        Self {
            changes,
            ..Self::default()
        }
    }
}

/// One change of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path as the proposal spells it; [`Files::admit`](crate::Files::admit) decides on it.
    pub path: String,
    /// What is to be done.
    pub kind: ChangeKind,
    /// Why, for this change.
    pub rationale: Option<String>,
    /// The mode of a file that is created, where the proposal gives one.
    pub mode: Option<u32>,
    /// What the reviewer must see about how it was read, such as `recounted`.
    pub flags: Vec<&'static str>,
}

impl Change {
    /// A change without a rationale.
    pub fn new(path: impl Into<String>, kind: ChangeKind) -> Self {
        Self {
            path: path.into(),
            kind,
            rationale: None,
            mode: None,
            flags: Vec::new(),
        }
    }

    /// Replaces the one place that reads `search`.
    pub fn replace(
        path: impl Into<String>,
        search: impl Into<String>,
        replace: impl Into<String>,
    ) -> Self {
        Self::new(
            path,
            ChangeKind::Replace {
                search: search.into(),
                replace: replace.into(),
                replace_all: false,
                whole_lines: false,
                other_readings: Vec::new(),
            },
        )
    }

    /// Gives a file this text, creating it where it is missing.
    pub fn write(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(
            path,
            ChangeKind::Write {
                text: text.into(),
                base_text: None,
                complete: true,
            },
        )
    }

    /// Makes a file that must not exist yet.
    pub fn create(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(
            path,
            ChangeKind::Create {
                text: text.into(),
                overwrite: false,
                ignore_if_exists: false,
            },
        )
    }

    /// Deletes a file.
    pub fn delete(path: impl Into<String>) -> Self {
        Self::new(
            path,
            ChangeKind::Delete {
                recursive: false,
                ignore_if_missing: false,
            },
        )
    }

    /// Renames a file or a folder onto a path that must not exist yet.
    pub fn rename(path: impl Into<String>, to: impl Into<String>) -> Self {
        Self::new(
            path,
            ChangeKind::Rename {
                to: to.into(),
                overwrite: false,
                ignore_if_exists: false,
            },
        )
    }
}

/// What a change does to its path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// Search and replace: `search` must be at exactly one place.
    Replace {
        /// The text to find; empty means "the file is missing or empty".
        search: String,
        /// What goes there, literally.
        replace: String,
        /// Replaces every match instead of asking for exactly one.
        replace_all: bool,
        /// The search is whole lines (a block format) rather than any stretch of text.
        whole_lines: bool,
        /// Further (search, replace) readings of the same block, where its dividers are ambiguous;
        /// the one that matches is meant, and two that match are an error.
        other_readings: Vec<(String, String)>,
    },
    /// Line hunks, all against the text before this change.
    Patch {
        /// In the order of the patch.
        hunks: Vec<LineHunk>,
        /// Whether the file must be gone or empty after it (the patch deletes it).
        deletes: bool,
    },
    /// The whole text of a file.
    Write {
        /// The new text.
        text: String,
        /// The text that it was written against, where the agent says so.
        base_text: Option<String>,
        /// False while the text is still being received.
        complete: bool,
    },
    /// LSP text edits: all ranges refer to the text before this change.
    TextEdits {
        /// What columns count.
        encoding: Encoding,
        /// The version of the open document that the positions were made for.
        version: Option<i32>,
        /// In array order.
        edits: Vec<TextEdit>,
    },
    /// A new file.
    Create {
        /// Its text.
        text: String,
        /// Replaces what exists; wins over `ignore_if_exists`.
        overwrite: bool,
        /// Leaves what exists as it is.
        ignore_if_exists: bool,
    },
    /// A new file with the text of this path.
    Copy {
        /// The path to make.
        to: String,
    },
    /// No such file any more.
    Delete {
        /// A folder goes with all its files.
        recursive: bool,
        /// A missing path is no error.
        ignore_if_missing: bool,
    },
    /// Another path for the same file, or for all files of a folder.
    Rename {
        /// The new path.
        to: String,
        /// Replaces what exists; wins over `ignore_if_exists`.
        overwrite: bool,
        /// Leaves both as they are when `to` exists.
        ignore_if_exists: bool,
    },
    /// Another mode, as git counts it (0o644 or 0o755).
    SetMode {
        /// Permission bits.
        mode: u32,
    },
}

/// One LSP text edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// Start of the replaced range.
    pub start: LineCol,
    /// End of the replaced range, not before its start.
    pub end: LineCol,
    /// What goes there.
    pub new_text: String,
}

/// One hunk of a patch: lines to find, and what becomes of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LineHunk {
    /// The header's first old line, from 1: a hint. `None` where there is no number.
    pub old_start: Option<usize>,
    /// Lines (`@@ fn name`) after which the place is to be looked for, outermost first.
    pub anchors: Vec<String>,
    /// Context, removed and added lines, without endings.
    pub lines: Vec<PatchLine>,
    /// How many lines at the end are wholly empty in the patch, and so may be blank context or
    /// merely the space between two hunks.
    pub loose_tail: usize,
    /// The old side ends where the file ends.
    pub at_end: bool,
    /// The old side's last line has no line ending.
    pub old_lacks_newline: bool,
    /// The new side's last line has no line ending.
    pub new_lacks_newline: bool,
    /// The line of the proposal at which it stands, from 1.
    pub line: usize,
}

/// A line of a [`LineHunk`], without its ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchLine {
    /// On both sides.
    Context(String),
    /// On the old side.
    Removed(String),
    /// On the new side.
    Added(String),
}

impl LineHunk {
    /// Adds a line of a patch by its first character; false when that is none of ours.
    pub(crate) fn push_line(&mut self, line: &str) -> bool {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let Some(sign) = line.chars().next() else {
            self.lines.push(PatchLine::Context(String::new()));
            self.loose_tail += 1;
            return true;
        };
        let rest = &line[sign.len_utf8()..];
        self.lines.push(match sign {
            ' ' => PatchLine::Context(rest.to_owned()),
            '-' => PatchLine::Removed(rest.to_owned()),
            '+' => PatchLine::Added(rest.to_owned()),
            _ => return false,
        });
        self.loose_tail = 0;
        true
    }

    /// Takes a `\ No newline at end of file` marker, which speaks of the line before it.
    pub(crate) fn mark_no_newline(&mut self) {
        match self.lines.last() {
            Some(PatchLine::Context(_)) => {
                self.old_lacks_newline = true;
                self.new_lacks_newline = true;
            }
            Some(PatchLine::Removed(_)) => self.old_lacks_newline = true,
            Some(PatchLine::Added(_)) => self.new_lacks_newline = true,
            None => {}
        }
    }

    /// Lines of the old and of the new side.
    pub(crate) fn counts(&self) -> (usize, usize) {
        self.lines
            .iter()
            .fold((0, 0), |(old, new), line| match line {
                PatchLine::Context(_) => (old + 1, new + 1),
                PatchLine::Removed(_) => (old + 1, new),
                PatchLine::Added(_) => (old, new + 1),
            })
    }

    /// Whether nothing was read into it but empty lines.
    pub(crate) fn is_blank(&self) -> bool {
        self.anchors.is_empty() && self.loose_tail == self.lines.len() && !self.at_end
    }
}
