//! What a path of the virtual tree holds.

use super::{EditSpan, FileState, ResolveError, edited::Edited, write::Written};
use crate::rung::MatchRung;

/// What a path holds now.
#[derive(Debug)]
pub(super) enum Node {
    Missing,
    Folder(Vec<String>),
    File(Box<File>),
}

/// A file that was there, or that the proposal made.
#[derive(Debug)]
pub(super) struct File {
    /// The path on disk before the proposal; `None` for a file that the proposal made.
    pub(super) origin: Option<String>,
    pub(super) content: Content,
    pub(super) mode: Option<u32>,
    pub(super) notes: Notes,
}

/// What a file holds.
#[derive(Debug)]
pub(super) enum Content {
    Text(TextFile),
    /// No text: it can be moved and deleted as a whole.
    Opaque(FileState),
}

/// A text and how it came to be.
#[derive(Debug, Default)]
pub(super) struct TextFile {
    /// The text before the proposal; `None` while it is the same, or for a new file.
    before: Option<String>,
    pub(super) text: String,
    pub(super) bom: bool,
    pub(super) version: Option<i32>,
    pub(super) rung: MatchRung,
    pub(super) spans: Vec<EditSpan>,
    pub(super) flags: Vec<&'static str>,
    pub(super) is_new: bool,
}

/// Reasons and flags of a path.
#[derive(Debug, Default, Clone)]
pub(super) struct Notes {
    pub(super) rationales: Vec<String>,
    pub(super) flags: Vec<String>,
}

impl Notes {
    pub(super) fn flag(&mut self, flag: impl Into<String>) {
        let flag = flag.into();
        if !self.flags.contains(&flag) {
            self.flags.push(flag);
        }
    }
}

impl TextFile {
    /// A text that was there before the proposal.
    pub(super) fn existing(text: String, bom: bool, version: Option<i32>) -> Self {
        Self {
            text,
            bom,
            version,
            ..Self::default()
        }
    }

    /// A text that the proposal makes.
    pub(super) fn new(text: &str, bom: bool) -> Self {
        Self {
            text: text.to_owned(),
            bom,
            is_new: true,
            ..Self::default()
        }
    }

    /// The text before the proposal where there was one, the text now, and its spans.
    pub(super) fn into_parts(self) -> (Option<String>, String, Vec<EditSpan>) {
        let before = match self.before {
            None if !self.is_new => Some(self.text.clone()),
            before => before,
        };
        (before, self.text, self.spans)
    }

    /// The text before the proposal, where there was one.
    pub(super) fn into_before(self) -> Option<String> {
        match self.before {
            None if !self.is_new => Some(self.text),
            before => before,
        }
    }

    pub(super) fn set_text(&mut self, text: String) {
        let previous = std::mem::replace(&mut self.text, text);
        if self.before.is_none() && !self.is_new {
            self.before = Some(previous);
        }
    }

    pub(super) fn apply(&mut self, edited: Edited, rationale: Option<&str>) {
        if edited.is_unchanged() {
            return;
        }
        self.rung = self.rung.max(edited.worst_rung());
        edited.move_spans(&mut self.spans, rationale);
        for flag in &edited.flags {
            if !self.flags.contains(flag) {
                self.flags.push(flag);
            }
        }
        self.set_text(edited.text);
    }

    /// Takes a whole new text.
    pub(super) fn rewrite(&mut self, written: Written) {
        self.spans.clear();
        for flag in written.flags {
            if !self.flags.contains(&flag) {
                self.flags.push(flag);
            }
        }
        self.set_text(written.text);
    }
}

impl Node {
    pub(super) fn existing(path: &str, content: Content) -> Self {
        Self::File(Box::new(File {
            origin: Some(path.to_owned()),
            content,
            mode: None,
            notes: Notes::default(),
        }))
    }
}

/// Why a file that is no text cannot be edited.
pub(super) fn opaque(path: &str, state: &FileState) -> ResolveError {
    let path = path.to_owned();
    match state {
        FileState::Undecodable { byte, offset } => ResolveError::Encoding {
            path,
            byte: *byte,
            offset: *offset,
        },
        FileState::TooLarge {
            size_bytes,
            limit_bytes,
        } => ResolveError::TooLarge {
            path,
            size_bytes: *size_bytes,
            limit_bytes: *limit_bytes,
        },
        FileState::Symlink { target } => ResolveError::Symlink {
            code: "IS_SYMLINK",
            path,
            target: target.clone(),
            why: "and no file",
        },
        FileState::Binary { size_bytes } => ResolveError::NotText {
            path,
            size_bytes: *size_bytes,
        },
        FileState::Missing | FileState::Text { .. } | FileState::Directory { .. } => {
            ResolveError::Unsupported {
                path,
                message: "it is no text".to_owned(),
            }
        }
    }
}
