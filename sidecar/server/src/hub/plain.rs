//! What a plain client is answered when it asks what to show: diagnostics, code lenses, inlay hints.
//!
//! Owns: what of this workspace belongs to one document, and to files that nobody has open.
//! Must not know: wording and places (`lsp`), or when clients are told to ask again ([`super::show`]).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use redline_edits::OperationKind;
use redline_workspace::{FileReview, FileState, Transaction};
use tower_lsp::ls_types::{
    CodeActionOrCommand, CodeLens, Diagnostic, DocumentDiagnosticReport,
    FullDocumentDiagnosticReport, InlayHint, Range, RelatedFullDocumentDiagnosticReport,
    RelatedUnchangedDocumentDiagnosticReport, UnchangedDocumentDiagnosticReport,
};

use super::Hub;
use super::answers::uri_of;
use super::documents::Copy;
use super::event::ClientId;
use super::present::{self, Which};
use super::show::{line_length, rope_line_length};
use crate::lsp::files::{FileOperation, Kind};
use crate::lsp::outbox::Outbox;
use crate::lsp::profile::ClientProfile;
use crate::lsp::{diagnostics, lenses};

/// Most files that nobody has open and that a client is sent diagnostics of; the review document lists all.
const MAX_CLOSED: usize = 64;

/// What a client was sent of files that it has not open: a digest of each.
pub(super) type Elsewhere = BTreeMap<String, u64>;

impl Hub {
    /// Everything that stands in one copy: hunks, operations of the whole file, what waits for a yes.
    pub(super) fn diagnostics(
        &self,
        path: &str,
        copy: &Copy,
        profile: &ClientProfile,
    ) -> Vec<Diagnostic> {
        let hunks = self.hunks_of(path, copy, &Which::Open);
        let hunks = hunks
            .iter()
            .filter_map(|shown| diagnostics::diagnostic(shown, |line| line_length(copy, line)));
        let operations = self.file_operations(path);
        let approvals = self.approvals_of(copy.client);
        let plans = self.plans_of(copy.client);
        let mut all: Vec<Diagnostic> = hunks
            .chain(operations.iter().map(FileOperation::diagnostic))
            .chain(approvals.map(|approval| crate::lsp::approvals::diagnostic(&approval)))
            .chain(plans.map(|plan| crate::lsp::plans::diagnostic(&plan)))
            .collect();
        without_tags(&mut all, profile);
        all
    }

    /// Answers `textDocument/diagnostic`; `previous` is the result that the client still has.
    pub(super) fn pull_diagnostics(
        &self,
        client: ClientId,
        uri: &str,
        previous: Option<&str>,
    ) -> DocumentDiagnosticReport {
        let items = self.open_copy(client, uri).map(|(path, copy, profile)| {
            let plain = profile.is_plain();
            plain.then(|| self.diagnostics(&path, copy, profile))
        });
        let items = items.flatten().unwrap_or_default();
        let result_id = format!("{:016x}", digest_of(&items));
        if previous == Some(result_id.as_str()) {
            return RelatedUnchangedDocumentDiagnosticReport {
                related_documents: None,
                unchanged_document_diagnostic_report: UnchangedDocumentDiagnosticReport {
                    result_id,
                },
            }
            .into();
        }
        RelatedFullDocumentDiagnosticReport {
            related_documents: None,
            full_document_diagnostic_report: FullDocumentDiagnosticReport {
                result_id: Some(result_id),
                items,
            },
        }
        .into()
    }

    /// Answers `textDocument/codeLens`.
    pub(super) fn code_lenses(&self, client: ClientId, uri: &str) -> Vec<CodeLens> {
        let Some((path, copy, profile)) = self.open_copy(client, uri) else {
            return Vec::new();
        };
        if !profile.is_plain() {
            return Vec::new();
        }
        let operations = self.file_operations(&path);
        let heads = operations
            .iter()
            .flat_map(|operation| operation.actions(profile))
            .chain(self.approval_actions(client, profile));
        let heads = heads.filter_map(|action| match action {
            CodeActionOrCommand::Command(command) => Some(command),
            CodeActionOrCommand::CodeAction(action) => action.command,
        });
        let hunks = self.hunks_of(&path, copy, &Which::Open);
        let hunks = hunks.iter().flat_map(lenses::lenses);
        heads
            .map(|command| lenses::at_head(&command))
            .chain(hunks)
            .collect()
    }

    /// Answers `textDocument/inlayHint`.
    pub(super) fn inlay_hints(&self, client: ClientId, uri: &str, range: Range) -> Vec<InlayHint> {
        let Some((path, copy, profile)) = self.open_copy(client, uri) else {
            return Vec::new();
        };
        if !profile.is_plain() {
            return Vec::new();
        }
        let (first, last) = (range.start.line, range.end.line);
        let around = super::offers::line_bytes(copy, first.saturating_sub(1), last);
        self.hunks_of(&path, copy, &Which::OpenWithin(around))
            .iter()
            .filter_map(|shown| lenses::hint(shown, |line| line_length(copy, line)))
            .filter(|hint| (first..=last).contains(&hint.position.line))
            .collect()
    }

    fn open_copy(&self, client: ClientId, uri: &str) -> Option<(String, &Copy, &ClientProfile)> {
        let path = self.path_of(uri)?;
        let copy = self.documents.get(&path, client)?;
        let profile = &self.clients.get(&client)?.profile;
        Some((path, copy, profile))
    }

    /// Operations of the whole file at `path` that wait.
    pub(super) fn file_operations(&self, path: &str) -> Vec<FileOperation> {
        self.transactions
            .values()
            .filter_map(|transaction| file_operation(transaction, transaction.file(path)?))
            .collect()
    }

    /// Diagnostics of files that the client has not open, so that its list of problems leads to them.
    /// Only what differs from what was `sent` goes out.
    pub(super) fn show_closed(
        &self,
        client: ClientId,
        profile: &ClientProfile,
        outbox: &Outbox,
        sent: &mut Elsewhere,
    ) {
        let mut now: BTreeSet<&str> = BTreeSet::new();
        for transaction in self.transactions.values() {
            let waiting = transaction.files().filter(|file| !file.is_settled());
            let closed = waiting.filter(|file| self.documents.get(&file.path, client).is_none());
            // A file that does not exist yet has no page to stand on; the review document shows it.
            let existing = closed.filter(|file| file.operation != OperationKind::Create);
            let room = MAX_CLOSED.saturating_sub(now.len());
            now.extend(existing.take(room).map(|file| file.path.as_str()));
        }
        for path in &now {
            let digest = self.digest_closed(path);
            if sent.insert((*path).to_owned(), digest) != Some(digest) {
                let shown = self.closed_diagnostics(path, profile);
                outbox.diagnostics(&uri_of(&self.root, path), None, shown);
            }
        }
        sent.retain(|path, _| {
            let stays = now.contains(path.as_str());
            if !stays {
                // Of a document that was opened, what it shows itself follows.
                outbox.diagnostics(&uri_of(&self.root, path), None, Vec::new());
            }
            stays
        });
    }

    fn closed_diagnostics(&self, path: &str, profile: &ClientProfile) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = self
            .file_operations(path)
            .iter()
            .map(FileOperation::diagnostic)
            .collect();
        for transaction in self.transactions.values() {
            let Some(file) = transaction.file(path) else {
                continue;
            };
            let hunks = present::document(
                transaction,
                path,
                &file.hunks,
                &file.text,
                profile.encoding,
                &Which::Open,
            );
            let length = |line| rope_line_length(&file.text, line, profile.encoding);
            all.extend(
                hunks
                    .iter()
                    .filter_map(|shown| diagnostics::diagnostic(shown, length)),
            );
        }
        without_tags(&mut all, profile);
        all
    }

    /// Changes whenever the diagnostics of a closed file would. Costs no look at its text.
    fn digest_closed(&self, path: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        for transaction in self.transactions.values() {
            let Some(file) = transaction.file(path) else {
                continue;
            };
            transaction.id().hash(&mut hasher);
            transaction.is_incomplete().hash(&mut hasher);
            transaction.files().len().hash(&mut hasher);
            file.revision.hash(&mut hasher);
            for (hunk, range) in file.hunks.placed() {
                let open = hunk.state.is_open();
                (&hunk.id, hunk.revision, open, range.start).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

fn file_operation(transaction: &Transaction, file: &FileReview) -> Option<FileOperation> {
    let conflict = match file.operation_state()? {
        FileState::Pending => None,
        FileState::Conflict { reason } => Some(reason.clone()),
        _ => return None,
    };
    let kind = match &file.operation {
        OperationKind::Create => Kind::Create,
        OperationKind::Delete => Kind::Delete,
        OperationKind::Rename { to } => Kind::Rename { to: to.clone() },
        OperationKind::SetMode { mode } => Kind::SetMode { mode: *mode },
        OperationKind::Edit => return None,
    };
    Some(FileOperation {
        transaction_id: transaction.id().to_owned(),
        revision: transaction.revision(),
        path: file.path.clone(),
        kind,
        conflict,
        rationale: transaction.meta().rationale.clone(),
    })
}

fn without_tags(diagnostics: &mut [Diagnostic], profile: &ClientProfile) {
    if !profile.diagnostic_tags {
        for diagnostic in diagnostics {
            diagnostic.tags = None;
        }
    }
}

fn digest_of(diagnostics: &[Diagnostic]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for each in diagnostics {
        let (start, end) = (each.range.start, each.range.end);
        (start.line, start.character, end.line, end.character).hash(&mut hasher);
        each.message.hash(&mut hasher);
    }
    hasher.finish()
}
