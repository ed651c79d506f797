//! The net operations: one for each path, whatever way the changes went.

use std::collections::{HashMap, HashSet};

use super::{
    EditSpan, FileState, Operation, OperationKind, ResolveError,
    node::{Content, File, Notes, TextFile},
    tree::{Played, Tree},
};
use crate::rung::MatchRung;

/// What was on disk at a path before the proposal.
struct Original {
    /// `None` when it is no text.
    text: Option<String>,
    bom: bool,
}

/// What is at a path after the proposal, or what became of a deleted file.
struct Outcome {
    origin: Option<String>,
    after: Option<String>,
    bom: bool,
    mode: Option<u32>,
    rung: MatchRung,
    spans: Vec<EditSpan>,
    notes: Notes,
}

/// Reads the net operations off a tree that has been played to its end.
///
/// A file that only moved is a rename. Where its new path held another file, or its old path
/// holds one now, no rename can say it: the paths are then edited, created and deleted by text.
pub(super) fn operations(tree: Tree<'_>) -> Result<Vec<Operation>, ResolveError> {
    let Played {
        order,
        files,
        graves,
    } = tree.into_played();
    let mut originals: HashMap<String, Original> = HashMap::new();
    let mut outcomes: HashMap<String, Outcome> = HashMap::new();
    let mut buried: HashMap<String, Notes> = HashMap::new();
    let mut moved_to: HashMap<String, String> = HashMap::new();
    for (path, file) in files {
        if let Some(origin) = file.origin.clone().filter(|origin| *origin != path) {
            moved_to.insert(origin, path.clone());
        }
        let (original, outcome) = take_apart(file, true);
        if let (Some(original), Some(origin)) = (original, &outcome.origin) {
            originals.insert(origin.clone(), original);
        }
        outcomes.insert(path, outcome);
    }
    for (origin, file) in graves {
        let (original, outcome) = take_apart(file, false);
        if let Some(original) = original {
            originals.insert(origin.clone(), original);
        }
        buried.insert(origin, outcome.notes);
    }
    // A move is a rename when both its ends are free for it.
    let renames: HashMap<String, String> = moved_to
        .into_iter()
        .filter(|(from, to)| !outcomes.contains_key(from) && !originals.contains_key(to))
        .collect();
    let renamed_to: HashSet<&String> = renames.values().collect();

    let mut operations = Vec::new();
    for path in &order {
        let original = originals.remove(path);
        let operation = match (original, renames.get(path)) {
            (Some(original), Some(to)) => outcomes
                .remove(to)
                .map(|outcome| renamed(path, to, original, outcome)),
            (original, _) if !renamed_to.contains(path) => {
                match (original, outcomes.remove(path)) {
                    (Some(original), Some(outcome)) => edited(path, original, outcome)?,
                    (Some(original), None) => {
                        let notes = buried.remove(path).unwrap_or_default();
                        Some(deleted(path, original, notes))
                    }
                    (None, Some(outcome)) => Some(created(path, outcome)?),
                    (None, None) => None,
                }
            }
            _ => None,
        };
        operations.extend(operation);
    }
    Ok(operations)
}

/// Splits a file into what was and what is; `None` for one that the proposal made.
fn take_apart(file: File, is_there: bool) -> (Option<Original>, Outcome) {
    let mut outcome = Outcome {
        origin: file.origin,
        after: None,
        bom: false,
        mode: file.mode,
        rung: MatchRung::Exact,
        spans: Vec::new(),
        notes: file.notes,
    };
    let before = match file.content {
        Content::Text(text) => {
            outcome.bom = text.bom;
            outcome.rung = text.rung;
            for flag in &text.flags {
                outcome.notes.flag(*flag);
            }
            let TextFile { bom, .. } = text;
            let before;
            if is_there {
                let (text_before, after, spans) = text.into_parts();
                before = text_before;
                outcome.after = Some(after);
                outcome.spans = spans;
            } else {
                before = text.into_before();
            }
            Original { text: before, bom }
        }
        Content::Opaque(state) => {
            outcome.notes.flag(match state {
                FileState::Symlink { .. } => "symlink",
                FileState::TooLarge { .. } => "too_large",
                _ => "binary",
            });
            Original {
                text: None,
                bom: false,
            }
        }
    };
    let original = outcome.origin.is_some().then_some(before);
    (original, outcome)
}

fn edited(
    path: &str,
    original: Original,
    mut outcome: Outcome,
) -> Result<Option<Operation>, ResolveError> {
    let in_place = outcome.origin.as_deref() == Some(path);
    if !in_place {
        if original.text.is_none() || outcome.after.is_none() {
            return Err(ResolveError::Unsupported {
                path: path.to_owned(),
                message: "a file that is no text would take another's place, or lose its own"
                    .to_owned(),
            });
        }
        outcome.notes.flag("overwrite");
    }
    let same_text = original.text == outcome.after;
    let kind = match outcome.mode {
        Some(mode) if same_text => OperationKind::SetMode { mode },
        None if same_text => return Ok(None),
        _ => OperationKind::Edit,
    };
    if original.text.as_deref().is_some_and(is_mixed) {
        outcome.notes.flag("mixed_eol");
    }
    outcome.bom = original.bom;
    Ok(Some(operation(path, kind, original.text, outcome)))
}

fn renamed(path: &str, to: &str, original: Original, outcome: Outcome) -> Operation {
    let kind = OperationKind::Rename { to: to.to_owned() };
    operation(path, kind, original.text, outcome)
}

fn created(path: &str, outcome: Outcome) -> Result<Operation, ResolveError> {
    if outcome.after.is_none() {
        return Err(ResolveError::Unsupported {
            path: path.to_owned(),
            message: "a file that is no text cannot be moved here while its old path is taken"
                .to_owned(),
        });
    }
    Ok(operation(path, OperationKind::Create, None, outcome))
}

fn deleted(path: &str, original: Original, notes: Notes) -> Operation {
    let outcome = Outcome {
        origin: None,
        after: None,
        bom: original.bom,
        mode: None,
        rung: MatchRung::Exact,
        spans: Vec::new(),
        notes,
    };
    operation(path, OperationKind::Delete, original.text, outcome)
}

fn operation(
    path: &str,
    kind: OperationKind,
    before: Option<String>,
    outcome: Outcome,
) -> Operation {
    let Notes { rationales, flags } = outcome.notes;
    Operation {
        path: path.to_owned(),
        kind,
        before,
        after: outcome.after,
        bom: outcome.bom,
        mode: outcome.mode,
        rationale: (!rationales.is_empty()).then(|| rationales.join("\n")),
        rung: outcome.rung,
        spans: outcome.spans,
        flags,
    }
}

/// Whether a text has both LF and CRLF endings.
fn is_mixed(text: &str) -> bool {
    let bytes = text.as_bytes();
    let n_crlf = memchr::memmem::find_iter(bytes, b"\r\n").count();
    n_crlf > 0 && memchr::memchr_iter(b'\n', bytes).count() != n_crlf
}
