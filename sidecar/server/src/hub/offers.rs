//! Code actions: what is offered at a place, and which edit an offer stands for.
//!
//! Owns: the offers that clients were given as edits, so that the change that comes back is known to
//! be a decision, with what was shown.
//! Must not know: titles and literals; `lsp::actions` makes those.

use std::collections::VecDeque;

use redline_edits::{HunkId, HunkSet, HunkState, OperationKind, TextChange, to_line_col};
use tower_lsp::ls_types::{
    AnnotatedTextEdit, ChangeAnnotation, CodeAction, CodeActionOrCommand, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, Position, Range, TextDocumentEdit, TextEdit, Uri,
    WorkspaceEdit,
};

use super::Hub;
use super::documents::Copy;
use super::event::ClientId;
use super::present::Which;
use crate::failure::Failure;
use crate::lsp::actions::{self, InFile, Offer, ResolveData};
use crate::lsp::diagnostics;
use crate::lsp::profile::ClientProfile;

/// Most offers remembered; an older one still works, but counts as done by hand.
const MAX_OFFERS: usize = 64;

/// An acceptance that a client was given as an edit.
#[derive(Debug)]
struct Offered {
    client: ClientId,
    hunks: Vec<HunkId>,
}

/// The offers that are out.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    out: VecDeque<Offered>,
}

impl Offers {
    fn remember(&mut self, client: ClientId, hunks: Vec<HunkId>) {
        if self.out.len() >= MAX_OFFERS {
            self.out.pop_front();
        }
        self.out.push_back(Offered { client, hunks });
    }

    /// Whether `client` was offered to accept `hunk`.
    pub(crate) fn covers(&self, client: ClientId, hunk: &HunkId) -> bool {
        self.out
            .iter()
            .any(|offered| offered.client == client && offered.hunks.contains(hunk))
    }

    pub(crate) fn forget_client(&mut self, client: ClientId) {
        self.out.retain(|offered| offered.client != client);
    }
}

impl Hub {
    /// The actions at `range` of a client's document.
    pub(super) fn code_actions(
        &mut self,
        client: ClientId,
        uri: &str,
        range: Range,
    ) -> Vec<CodeActionOrCommand> {
        if let Some(page) = self.live_page(uri) {
            return self.page_actions(client, page, (range.start.line, range.end.line));
        }
        let Some(path) = self.path_of(uri) else {
            return Vec::new();
        };
        let Some(copy) = self.documents.get(&path, client) else {
            return Vec::new();
        };
        let Some(profile) = self.clients.get(&client).map(|each| &each.profile) else {
            return Vec::new();
        };
        let approvals = self.approval_actions(client, profile);
        let prompts = self.comment_prompts(&path, copy, (range.start.line, range.end.line));
        let lines = (range.start.line, range.end.line);
        // One line more on each side: an insertion is shown at the line before it.
        let around = line_bytes(copy, lines.0.saturating_sub(1), lines.1.saturating_add(1));
        let hunks = self.hunks_of(&path, copy, &Which::OpenWithin(around));
        let offered = std::cell::RefCell::new(Vec::new());
        let actions = actions::offer(&Offer {
            uri,
            path: &path,
            profile,
            lines,
            hunks: &hunks,
            in_file: &|id| self.in_file(id, &path, copy),
            edit: &|data| {
                let (edit, hunks) = self.edit_of(copy, &path, data).ok()?;
                offered.borrow_mut().push(hunks);
                Some(edit)
            },
            diagnostic: &|shown| {
                diagnostics::diagnostic(shown, |line| super::show::line_length(copy, line))
            },
        });
        for hunks in offered.into_inner() {
            self.offers.remember(client, hunks);
        }
        let operations = match lines.0 {
            0 => self.file_operations(&path),
            _ => Vec::new(),
        };
        let profile = self.clients.get(&client).map(|each| &each.profile);
        let operations = operations
            .iter()
            .flat_map(|operation| profile.map(|profile| operation.actions(profile)))
            .flatten();
        let prompts = prompts
            .iter()
            .filter_map(|place| Some(actions::ask_comment(place, profile?)));
        actions
            .into_iter()
            .chain(operations)
            .chain(prompts)
            .chain(approvals)
            .collect()
    }

    /// Fills in the edit of an action that was offered without one.
    pub(super) fn resolve(
        &mut self,
        client: ClientId,
        mut action: CodeAction,
        data: &ResolveData,
    ) -> Result<CodeAction, Failure> {
        let path = self.path_of(&data.uri);
        let copy = path
            .as_deref()
            .and_then(|path| self.documents.get(path, client));
        let (Some(path), Some(copy)) = (path.as_deref(), copy) else {
            return Err(Failure::new(
                "NOT_FOUND",
                format!("{} is not open here", data.uri),
                "open it, then ask for the actions again",
            ));
        };
        let (edit, hunks) = self.edit_of(copy, path, data)?;
        self.offers.remember(client, hunks);
        action.edit = Some(edit);
        Ok(action)
    }

    fn in_file(&self, id: &str, path: &str, copy: &Copy) -> Option<InFile> {
        let transaction = self.transactions.get(id)?;
        let file = transaction.file(path)?;
        let set = copy.sets.get(id)?;
        let totals = transaction.totals();
        let mut in_file = InFile {
            pending: 0,
            conflicts: 0,
            all_pending: totals.pending,
            all_conflicts: totals.conflicts,
            revision: transaction.revision(),
            edit_only: matches!(file.operation, OperationKind::Edit),
        };
        for hunk in set.iter() {
            match hunk.state {
                HunkState::Pending => in_file.pending += 1,
                HunkState::Conflict(_) => in_file.conflicts += 1,
                _ => {}
            }
        }
        Some(in_file)
    }

    /// The versioned edit that accepts what `data` names in `copy`, and the hunks it accepts.
    fn edit_of(
        &self,
        copy: &Copy,
        path: &str,
        data: &ResolveData,
    ) -> Result<(WorkspaceEdit, Vec<HunkId>), Failure> {
        let id = &data.transaction_id;
        let unknown = || {
            Failure::new(
                "UNKNOWN_TRANSACTION",
                format!("{id} has nothing in {path}"),
                "`redline status` lists what is pending",
            )
        };
        let transaction = self.transactions.get(id).ok_or_else(unknown)?;
        let set = copy.sets.get(id).ok_or_else(unknown)?;
        if transaction.is_incomplete() {
            return Err(super::decide::incomplete(transaction));
        }
        if data
            .revision
            .is_some_and(|shown| shown != transaction.revision())
        {
            return Err(stale(id));
        }
        let mut hunks = Vec::new();
        if data.hunks.is_empty() {
            hunks.extend(
                set.iter()
                    .filter(|hunk| hunk.state == HunkState::Pending)
                    .map(|hunk| hunk.id.clone()),
            );
        }
        for shown in &data.hunks {
            let hunk_id = HunkId::new(shown.id.clone());
            let hunk = set.get(&hunk_id).ok_or_else(|| stale(&shown.id))?;
            if hunk.state != HunkState::Pending
                || shown
                    .revision
                    .is_some_and(|revision| revision != hunk.revision)
            {
                return Err(stale(&shown.id));
            }
            hunks.push(hunk_id);
        }
        let changes = set
            .edits_for(&copy.rope, &hunks)
            .map_err(|error| Failure::new(error.code(), error.to_string(), error.hint()))?;
        let profile = self.clients.get(&copy.client).map(|each| &each.profile);
        let style = EditStyle {
            versioned: profile.is_none_or(|profile| profile.document_changes),
            label: profile
                .filter(|profile| profile.annotations)
                .map(|_| label_of(set, &hunks)),
        };
        Ok((workspace_edit(&[(copy, changes)], &style), hunks))
    }
}

fn stale(id: &str) -> Failure {
    Failure::new(
        "STALE_HUNK",
        format!("{id} changed since it was shown"),
        "look at it as it is now, then decide again",
    )
}

pub(super) fn line_bytes(copy: &Copy, first: u32, last: u32) -> std::ops::Range<usize> {
    let rope = &copy.rope;
    let byte = |line: u32| {
        let line = line as usize;
        if line >= rope.len_lines() {
            rope.len_bytes()
        } else {
            rope.line_to_byte(line)
        }
    };
    byte(first)..byte(last.saturating_add(1))
}

/// What a client that shows annotations calls an acceptance.
fn label_of(set: &HunkSet, hunks: &[HunkId]) -> String {
    let why = match hunks {
        [only] => set.get(only).map(|hunk| hunk.rationales().join(" ")),
        several => Some(format!("{} hunks", several.len())),
    };
    match why.filter(|why| !why.is_empty()) {
        Some(why) => format!("Redline: accept · {why}"),
        None => "Redline: accept".to_owned(),
    }
}

/// How an edit is put for one client.
#[derive(Debug, Clone)]
pub(super) struct EditStyle {
    /// With the version of each document; some clients take none.
    pub(super) versioned: bool,
    /// Named so, for a client that reads annotations of edits; never one that asks for confirmation.
    pub(super) label: Option<String>,
}

impl EditStyle {
    /// For an edit that is sent, not offered.
    pub(super) fn of(profile: &ClientProfile, label: &str) -> Self {
        Self {
            versioned: profile.document_changes,
            label: profile.annotations.then(|| label.to_owned()),
        }
    }
}

/// The one annotation of an edit.
const ANNOTATION: &str = "redline";

/// One edit over several copies of one client.
pub(super) fn workspace_edit(
    documents: &[(&Copy, Vec<TextChange>)],
    style: &EditStyle,
) -> WorkspaceEdit {
    let edits = documents.iter().filter_map(|(copy, changes)| {
        let uri: Uri = copy.uri.parse().ok()?;
        let edits: Vec<TextEdit> = changes
            .iter()
            .map(|change| TextEdit {
                range: Range::new(
                    position(copy, change.range.start),
                    position(copy, change.range.end),
                ),
                new_text: change.text.clone(),
            })
            .collect();
        Some((uri, copy.version, edits))
    });
    if !style.versioned {
        return WorkspaceEdit {
            changes: Some(edits.map(|(uri, _, edits)| (uri, edits)).collect()),
            ..WorkspaceEdit::default()
        };
    }
    let edits = edits.map(|(uri, version, edits)| TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier {
            uri,
            version: Some(version),
        },
        edits: edits
            .into_iter()
            .map(|text_edit| match style.label {
                None => OneOf::Left(text_edit),
                Some(_) => OneOf::Right(AnnotatedTextEdit {
                    text_edit,
                    annotation_id: ANNOTATION.to_owned(),
                }),
            })
            .collect(),
    });
    let annotation = style.label.clone().map(|label| ChangeAnnotation {
        label,
        needs_confirmation: Some(false),
        description: None,
    });
    WorkspaceEdit {
        document_changes: Some(DocumentChanges::Edits(edits.collect())),
        change_annotations: annotation
            .map(|annotation| [(ANNOTATION.to_owned(), annotation)].into_iter().collect()),
        ..WorkspaceEdit::default()
    }
}

fn position(copy: &Copy, byte: usize) -> Position {
    let at = to_line_col(&copy.rope, byte, copy.encoding);
    Position::new(at.line, at.character)
}
